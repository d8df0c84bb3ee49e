"""Families 1, 3 and 4: names of another graph, surnames alone, and capitals where every word has one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from evaluation.attacks.forms.corpus.graph_names import GraphNames, reads_as_name
from evaluation.attacks.forms.corpus.people import given_names_of, surnames, surnames_of
from evaluation.attacks.forms.corpus.plain_letters import plain
from evaluation.attacks.forms.corpus.sentences import sentence
from evaluation.attacks.forms.families.case import Case, TypedCase, put_into, spread

_MIN_MISTYPED, _EVERY = 5, 14
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa", "ñ": "ny", "'": " "})
_CODE = (
    "name={};", "{{'name': '{}'}}", "SELECT * WHERE name = '{}'", "@{}", "#{}", "{}.pdf", "C:\\{}\\a.txt", "<{}>",
    "`{}`", "**{}**", "|{}|", "{}@x.example", "x.example/{}", "name: {}\n", "--{}", "${}", "{}()", "/{}",
)  # fmt: skip
_CODE_WORDS = frozenset("name select where pdf c txt x example clinic a".split())
_TITLED = ("mr {}", "dr. {}", "frau {}", "señora {}", "herr {}", "mrs. {}")


def foreign_names(others: Sequence[GraphNames], language: str, dice: Random, count: int) -> Iterator[Case]:
    """Names of the tenant's other graphs, asked of this one."""
    names = [name for graph in others for name in graph.some(dice, count)]
    values = [value for graph in others for value in (*graph.dates[:count], *graph.numbers[:count])]
    forms = [form for name in names for form in _forms_of(name)]
    forms += [TypedCase("a value", value, (value,)) for value in values]
    for typed in spread(forms, dice, count):
        yield put_into("1 names of another graph", typed, sentence(language, ("open", "marked"), dice), dice)


def _forms_of(name: str) -> Iterator[TypedCase]:
    small, words = name.lower(), name.split(" ")
    yield TypedCase("whole, small", small, (name,))
    yield TypedCase("whole, as it is", name, (name,))
    yield TypedCase("whole, capitals", name.upper(), (name,))
    if reads_as_name(words[0]):
        yield TypedCase("first name, small", words[0].lower(), (words[0],))
    if reads_as_name(words[-1]):
        yield TypedCase("last name, small", words[-1].lower(), (words[-1],))
        yield TypedCase(
            "initial and last name, small", f"{words[0][0]}. {words[-1]}".lower(), (words[-1],), marked=True
        )
    yield TypedCase("last name first, small", f"{words[-1]}, {' '.join(words[:-1])}".lower(), (name,), marked=True)
    yield TypedCase("run together, small", small.replace(" ", ""), (name,))
    yield TypedCase("underscores, small", small.replace(" ", "_"), (name,))
    yield TypedCase("the other way round, small", " ".join(reversed(words)).lower(), (name,))
    yield TypedCase("an e-mail", f"{'.'.join(words).lower()}@clinic.example", (name,), _CODE_WORDS, marked=True)


def lone_surnames(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Surnames of no graph or of this one, in small letters: bare, without accents, after a title, beside another."""
    frequent, known = surnames_of("us"), surnames()
    own = [name.lower() for name in names.last_names(dice, count)]
    chosen = [*dice.sample(frequent, min(count, len(frequent))), *dice.sample(known, min(2 * count, len(known))), *own]
    for typed in spread([form for name in chosen for form in _alone(name, dice)], dice, count):
        yield put_into("3 surnames alone", typed, sentence(language, ("open", "marked"), dice), dice)


def _alone(name: str, dice: Random) -> Iterator[TypedCase]:
    yield TypedCase("bare", name, (name,))
    if plain(name) != name:
        yield TypedCase("without accents", plain(name), (name,))
    yield TypedCase("in brackets", f"({name})", (name,), marked=True)
    yield TypedCase("after a title", dice.choice(_TITLED).format(name), (name,), marked=True)
    other = dice.choice(surnames())
    yield TypedCase("beside another", f"{name} and {other}", (name, other), marked=True)
    first = dice.choice((*given_names_of("en"), "mark", "david", "mary", "rose", "frank", "will"))
    yield TypedCase("with a first name", f"{first} {name}", (name,), frozenset((first,)), marked=True)
    yield TypedCase("with a first name behind", f"{name}, {first}", (name,), frozenset((first,)), marked=True)
    yield TypedCase("hyphenated", f"{name}-{other}", (name, other), marked=True)
    yield TypedCase("run together", f"{name}{other}", (name, other), marked=True)
    yield TypedCase("in odd capitals", name[0] + name[1:].upper(), (name,))
    yield TypedCase("with a figure behind", f"{name}{dice.randrange(2, 99)}", (name,))
    yield TypedCase("in code", dice.choice(_CODE).format(name), (name,), _CODE_WORDS, True)
    if len(name) > _MIN_MISTYPED:
        at = dice.randrange(1, len(name) - 2)
        yield TypedCase("mistyped", name[:at] + name[at + 1] + name[at] + name[at + 2 :], (name,))
    if name != (spelt := name.translate(_SPELT_OUT)):
        yield TypedCase("umlauts spelt out", spelt, (name,))


def every_surname(dice: Random, count: int) -> Iterator[Case]:
    """The lists' surnames one by one, bare in small letters and with a capital at a start; all in a whole run."""
    known = surnames()
    dice.shuffle(known)
    for name in known[: _EVERY * count]:
        small, capital = TypedCase("each, bare", name, (name,)), TypedCase("each, a capital", _capital(name), (name,))
        yield put_into("3 surnames alone", small, sentence("en", ("open", "marked"), dice), dice)
        yield put_into("4 capitals at a start", capital, sentence("en", ("start",), dice), dice)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def names_at_a_start(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[Case]:
    """Names and surnames with a capital where every word would have one: of a sentence, a line, an item of a list."""
    known = list(map(_capital, surnames()))
    chosen = [*dice.sample(known, min(count, len(known))), *map(str.capitalize, names.last_names(dice, count))]
    forms = [TypedCase("a capital", name, (name,)) for name in chosen]
    forms += [TypedCase("capitals", name.upper(), (name,)) for name in chosen]
    forms += [TypedCase("first name", name.capitalize(), (name,)) for name in names.first_names(dice, count)]
    for typed in spread(forms, dice, count):
        yield put_into("4 capitals at a start", typed, sentence(language, ("start",), dice), dice)
