"""Families 1 to 10 of cases. A case holds what is typed in each turn, and the words of it that must never be sent.

The families use word lists and graph files, and nothing of the service. The templates of names, labels, values and
relations are in `form_families.toml`.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from html import entities
from pathlib import Path
from random import Random
from typing import Literal
from urllib.parse import unquote

from evaluation.attacks.form_graphs import GraphNames, reads_as_name
from evaluation.attacks.words import (
    DIGITS,
    HARMLESS,
    LANGUAGES,
    MAX_ROMAN,
    Piece,
    date_in_words,
    given_names_of,
    in_words,
    is_everyday,
    is_in_dictionary,
    month_in,
    plain,
    roman,
    sentences,
    surnames,
    surnames_of,
    tokens,
    year_in_words,
)

Turn = tuple[Literal["user", "assistant"], str]
_TOLD = tomllib.loads(Path(__file__).with_name("form_families.toml").read_text("utf-8"))
LOOK_ALIKES: Mapping[str, str] = _TOLD["look_alikes"]
_ENDINGS: Mapping[str, Sequence[str]] = _TOLD["endings"]
_HARMLESS_MARKS: Mapping[str, Collection[str]] = {mark: words.split() for mark, words in _TOLD["harmless"].items()}
# Languages that have endings but no sentences, each with the language whose sentences are used instead.
_SPOKEN = {"cs": "pl", "fi": "en", "hu": "en", "ru": "en", "nl": "de"}
_EARLIER, _ASSISTANT = 0.1, 0.15
_FIRST, _REPLY, _LATER = "who is in the ward today", "All right.", "and where was that"
_MIN_MISTYPED, _EVERY = 5, 14
_MIN_WORDS, _MIN_LETTERS = 3, 3
_MIN_YEAR, _MAX_IN_WORDS = 1000, 999_999
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_WORD_OF_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+")
_DIRTY = re.compile(r"&#?\w+;|%[0-9A-F]{2}|<\w+>")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa", "ñ": "ny", "'": " "})
_NAMED = {chr(code): f"&{name};" for name, code in entities.name2codepoint.items() if code > 127}


@dataclass(frozen=True, slots=True)
class TypedCase:
    """A name or a value in the form in which somebody types it.

    `secrets`: the names or values in it, as the graph spells them. `harmless`: words of the form that reveal nothing,
    such as grammatical endings. `marked`: the form itself signals a name.
    """

    form: str
    text: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    harmless: frozenset[str] = field(default=frozenset(), repr=False)
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A typed name or value in the turns of a dialogue.

    `carrier`: all that is typed around the name. `marked`: something in the form or the sentence signals a name.
    """

    family: str
    typed: TypedCase
    turns: tuple[Turn, ...] = field(repr=False)
    carrier: str = field(repr=False)
    marked: bool
    language: str = "en"

    @property
    def is_small(self) -> bool:
        return self.typed.text == self.typed.text.lower()


def _put_into(family: str, typed: TypedCase, language: str, places: Sequence[str], dice: Random) -> Case:
    """Puts `typed` into a sentence: mostly the last question, at times an earlier turn of user or assistant."""
    place = dice.choice(places)
    shape = dice.choice(sentences()[language][place])
    if typed.text == typed.text.lower() and dice.random() < 0.7:
        shape = shape.lower()
    said, drawn = shape.replace("{}", typed.text), dice.random()
    turns: tuple[Turn, ...] = (("user", said),)
    if drawn < _EARLIER:
        turns = (("user", said), ("assistant", _REPLY), ("user", _LATER))
    elif drawn < _ASSISTANT:
        turns = (("user", _FIRST), ("assistant", said), ("user", _LATER))
    around = "\n".join((shape.replace("{}", " "), _FIRST, _REPLY, _LATER))
    return Case(family, typed, turns, around, place != "open" or typed.marked, language)


def _spread(forms: Sequence[TypedCase], dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields `count` of `forms` such that each kind of form comes up about equally often."""
    by_form: dict[str, list[TypedCase]] = {}
    for typed in forms:
        by_form.setdefault(typed.form, []).append(typed)
    for alike in by_form.values():
        dice.shuffle(alike)
    kinds = sorted(by_form)
    dice.shuffle(kinds)
    rounds = max(map(len, by_form.values()), default=0)
    drawn = [by_form[kind][-each] for each in range(1, rounds + 1) for kind in kinds if len(by_form[kind]) >= each]
    yield from drawn[:count]


def _written(
    table: str, texts: Mapping[str, str], secrets: Mapping[str, tuple[str, ...]], harmless: Collection[str] = ()
) -> Iterator[TypedCase]:
    """Yields a case for each row of `table` in `form_families.toml` whose secret is a key of `secrets`.

    A row holds the name of the form, its template, the key of its secret, and marks: "marked", or the names of lists
    of harmless words. `texts` fills the slots of the template.
    """
    pieces, nothing = {key: Piece(text) for key, text in texts.items()}, {**_HARMLESS_MARKS, "harmless": harmless}
    for form, template, secret, *marks in _TOLD["forms"][table]:
        if secret in secrets:
            words = frozenset(word for mark in marks for word in nothing.get(mark, ()))
            text = template.format_map(pieces)
            yield TypedCase(form.format_map(pieces), text, secrets[secret], words, "marked" in marks)


def foreign_names(others: Sequence[GraphNames], dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields names and values of the tenant's other graphs, to be typed in a question to this graph."""
    for name in [name for graph in others for name in graph.some(dice, count)]:
        words = name.split(" ")
        texts = {"name": name, "first": words[0], "last": words[-1], "before": " ".join(words[:-1])}
        parts = {key: (texts[key],) for key in ("first", "last") if reads_as_name(texts[key])}
        yield from _written("names", texts, {"name": (name,), **parts})
    for graph in others:
        for value in (*graph.dates[:count], *graph.numbers[:count]):
            yield TypedCase("a value", value, (value,))


def _names_in_texts(names: GraphNames, _language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields rare words that are capitalised inside a text value, and e-mail addresses."""
    for text in dice.sample(names.texts, min(20 * count, len(names.texts))):
        yield from _of_address(address[0]) if (address := _ADDRESS.search(text)) else _of_text(text)


def _of_text(text: str) -> Iterator[TypedCase]:
    for match in _WORD_OF_LETTERS.finditer(text):
        word, before = match[0], (text[: match.start()].split() or [""])[-1]
        # A capital inside a text marks a name, unless a dictionary has the word (as it has "Street").
        if match.start() and word[:1].isupper() and _is_rare(word):
            secrets = {"word": (word,), **({"initialled": (word,)} if before.endswith(".") else {})}
            yield from _written("texts", {"word": word, "before": before}, secrets)
    if " " in text:
        words = _WORD_OF_LETTERS.findall(text)
        rare = tuple(filter(_is_rare, words))
        common = frozenset(plain(word) for word in words if word not in rare)
        yield TypedCase("the whole text, small", text.lower(), rare, common)


def _is_rare(word: str) -> bool:
    return len(word) >= _MIN_LETTERS and not is_in_dictionary(word.lower()) and not is_everyday(word.lower())


def _of_address(address: str) -> Iterator[TypedCase]:
    local, _, host = address.lower().partition("@")
    parts = tuple(part for part in re.split(r"[\W\d_]+", local) if len(part) > _MIN_LETTERS)
    yield TypedCase("an e-mail's login", local, parts or (local,))
    yield TypedCase("an e-mail, capitals", address.upper(), parts or (local,), frozenset(re.split(r"\W+", host)))
    for part in parts:
        yield TypedCase("a part of a login", part, (part,))


def _lone_surnames(names: GraphNames, _language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields lower-case surnames from lists and this graph: bare, without accents, after a title or beside another."""
    frequent, known = surnames_of("us"), surnames()
    own = [name.lower() for name in names.last_names(dice, count)]
    listed = [dice.sample(frequent, min(count, len(frequent))), dice.sample(known, min(2 * count, len(known)))]
    for name in (*listed[0], *listed[1], *own):
        yield from _alone(name, dice)


def _alone(name: str, dice: Random) -> Iterator[TypedCase]:
    texts = {"name": name, "titled": dice.choice(_TOLD["titles"]).format(name), "other": dice.choice(surnames())}
    texts["first"] = dice.choice((*given_names_of("en"), "mark", "david", "mary", "rose", "frank", "will"))
    texts["number"] = str(dice.randrange(2, 99))
    texts["code"] = dice.choice(_TOLD["code"]).format(name)
    secrets = {"name": (name,), "both": (name, texts["other"])}
    if plain(name) != name:
        secrets["accented"] = (name,)
    if len(name) > _MIN_MISTYPED:
        at = dice.randrange(1, len(name) - 2)
        texts["mistyped"], secrets["long"] = name[:at] + name[at + 1] + name[at] + name[at + 2 :], (name,)
    if name != (spelt := name.translate(_SPELT_OUT)):
        texts["spelt"], secrets["spelt"] = spelt, (name,)
    yield from _written("surnames", texts, secrets, (texts["first"],))


def _names_at_a_start(names: GraphNames, _language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields capitalised names for places where any word has a capital, as at the start of a sentence or list item."""
    known = [_capital(name) for name in surnames()]
    chosen = [*dice.sample(known, min(count, len(known))), *map(str.capitalize, names.last_names(dice, count))]
    yield from (TypedCase("a capital", name, (name,)) for name in chosen)
    yield from (TypedCase("capitals", name.upper(), (name,)) for name in chosen)
    yield from (TypedCase("first name", name.capitalize(), (name,)) for name in names.first_names(dice, count))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _middle_words(names: GraphNames, _language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields inner words and figures of labels with three words or more, one alone or two together."""
    clean = [label for label in names.labels if not _DIRTY.search(label)]
    longer = [label for label in clean if len(_WORD.findall(label)) >= _MIN_WORDS]
    for label in dice.sample(longer, min(3 * count, len(longer))):
        words = _WORD.findall(label)
        secrets = {"rest": tuple(words[1:]), "words": tuple(words)}
        texts = {"words": " ".join(words), "rest": " ".join(words[1:]), "two": " ".join(words[1:3])}
        texts |= {"last": words[-1], "last_two": " ".join(words[-2:])}
        if inner := [word for word in words[1:-1] if len(word) >= _MIN_LETTERS]:
            texts["word"] = word = dice.choice(inner)
            secrets |= {"inner": (word,), "inner figure" if word.isdigit() else "inner word": (word,)}
        if len(words) > _MIN_WORDS:
            secrets["two"] = tuple(words[1:3])
        if re.search(r"\b(geb|née|born)\b", label):
            secrets["maiden"] = (words[-1],)
        if words[-1].isdigit():
            secrets["figure"] = (words[-1],)
        yield from _written("middles", texts, secrets)


def _dirty_labels(names: GraphNames, _language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields labels with HTML entities, percent escapes or tags, typed clean; and clean names typed with entities."""
    dirty = [label for label in names.labels if _DIRTY.search(label)]
    for label in dice.sample(dirty, min(count, len(dirty))):
        clean = re.sub(r"<[^>]*>", "", unquote(html.unescape(html.unescape(label))))
        words = _WORD.findall(clean)
        texts = {"label": label, "clean": clean, "last": words[-1], "middle": words[len(words) // 2]}
        yield from _written("cleaned", texts, {key: (text,) for key, text in texts.items()})
    for name in names.some(dice, count):
        last = (word if reads_as_name(word := name.split(" ")[-1]) else name).lower()
        texts = {"name": name.lower(), "last": last}
        texts["entities"] = "".join(_NAMED.get(sign, sign) for sign in texts["name"])
        yield from _written("dirtied", texts, {"name": (name,), "last": (last,)})


def _values_in_other_words(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields dates and numbers of the graph in words and in other digits; made-up ones if the graph has none."""
    dates = dice.sample(names.dates, min(count, len(names.dates))) or ["1960-09-08", "1987-11-23", "2003-02-28"]
    numbers = dice.sample(names.numbers, min(count, len(names.numbers))) or ["48417", "1938", "76420"]
    spoken = language if language in LANGUAGES else "en"
    for text in dates:
        yield from _of_date(date.fromisoformat(text), spoken, dice)
    for text in numbers:
        yield from _of_number(text, spoken, dice)


def _of_date(day: date, language: str, dice: Random) -> Iterator[TypedCase]:
    month, (kind, write) = month_in(language, day.month), dice.choice(sorted(DIGITS.items()))
    in_full, year = date_in_words(day, language), str(day.year)
    decade = year_in_words(day.year - day.year % 10, "en")
    ending = "th" if 4 <= day.day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    texts = {"kind": kind, "words": in_full, "month": month, "day": str(day.day), "year": year}
    texts |= {"short": f"{day.year % 100:02}", "ordinal": f"{day.day}{ending}", "English": month_in("en", day.month)}
    texts |= {"day_and_month": in_full.rpartition(month)[0] + month, "number": str(day.month)}
    texts |= {"Roman_month": roman(day.month), "Roman_year": roman(min(day.year, MAX_ROMAN))}
    texts |= {"figures": write(f"{day:%d.%m.%Y}"), "stored": write(day.isoformat()), "year_figures": write(year)}
    texts["Chinese"] = DIGITS["Chinese"](year)
    texts |= {"day_words": in_words(day.day, language), "year_words": year_in_words(day.year, language)}
    texts["decade"] = f"{decade[:-1]}ies" if decade.endswith("y") else f"{decade}s"
    secrets = {"date": (day.isoformat(),), **({"year": (year,)} if day.year >= _MIN_YEAR else {})}
    yield from _written("dates", texts, secrets)


def _of_number(text: str, language: str, dice: Random) -> Iterator[TypedCase]:
    whole, (kind, write) = int(text.partition(".")[0]), dice.choice(sorted(DIGITS.items()))
    texts = {"kind": kind, "figures": write(text), "thousand": in_words(1000, language)}
    texts["digits"] = " ".join(in_words(int(sign), language) for sign in str(whole))
    texts["mixed"] = "".join(write(sign) if dice.random() < 0.5 else sign for sign in text)
    secrets: dict[str, tuple[str, ...]] = {"number": (text,)}
    if whole <= _MAX_IN_WORDS:
        texts["words"] = words = in_words(whole, language)
        secrets |= {"spoken": (text,), "run together": (text, *tokens(words.replace(" ", "")))}
    if whole >= _MIN_YEAR:
        thousands, rest = divmod(whole, 1000)
        texts |= {"thousands": str(thousands), "rest": str(rest), "hundreds": str(rest // 100)}
        secrets["thousands"] = (text,)
    if 1 < whole <= MAX_ROMAN:
        texts["Roman"], secrets["Roman"] = roman(whole), (text,)
    yield from _written("numbers", texts, secrets)


def _look_alikes(names: GraphNames, _language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields names and last names with letters replaced by look-alikes, in each form of `LOOK_ALIKES`."""
    chosen = [name for name in names.names if plain(name).replace(" ", "").isascii()] or list(names.names)
    for name in dice.sample(chosen, min(count, len(chosen))):
        last = word if reads_as_name(word := name.split(" ")[-1]) else name
        text = dice.choice((name, name.lower(), last.lower(), last))
        for kind, template in LOOK_ALIKES.items():
            yield TypedCase(kind, template.format(Piece(text)), (text,))


def _suffixed_names(names: GraphNames, language: str, dice: Random, count: int) -> Iterator[TypedCase]:
    """Yields last names with endings and articles, as languages that inflect names write them.

    The endings are those of `language` or of another language, at random; English ones replace those of a language
    that has none in the table.
    """
    own = [name.lower() for name in names.last_names(dice, count)]
    listed = dice.sample(surnames(), count) + list(surnames_of("tr")[:count])
    forms: dict[str, list[TypedCase]] = {key: [] for key in _ENDINGS}
    for name in (*own, *listed):
        drawn = dice.choice((language, *sorted(_ENDINGS)))
        key = drawn if drawn in _ENDINGS else "en"
        for ending in _ENDINGS[key]:
            written = dice.choice((name, name, _capital(name)))
            harmless = frozenset(tokens(ending.replace("{}", " ")))
            forms[key].append(TypedCase(f"{key}: {ending}", ending.replace("{}", written), (name,), harmless, True))
    yield from dict.fromkeys(typed for every in forms.values() for typed in every)


def relation_words(local_names: Sequence[str], count: int) -> Iterator[TypedCase]:
    """Yields names of private relations as people type them: run together, in snake, kebab or camel case, or in words.

    Private relations are masked or hidden ones, and those named after a person. Their rare words come alone, too.
    """
    for local_name in list(local_names) * (1 + count // len(local_names)):
        words, rare = words_of(local_name), rare_words_of(local_name)
        texts = {"name": local_name, "words": " ".join(words), "rare": " ".join(rare)}
        texts |= {"capitals": " ".join(map(str.capitalize, words)), "plural": " ".join(f"{word}s" for word in rare)}
        secrets: dict[str, tuple[str, ...]] = {"together": ("".join(words), *rare), **({"rare": rare} if rare else {})}
        yield from _written("relations", texts, secrets, tokens(" ".join(word for word in words if word not in rare)))


def words_of(local_name: str) -> list[str]:
    return [word.lower() for word in _HUMP.findall(local_name)]


def rare_words_of(local_name: str) -> tuple[str, ...]:
    """Returns the words of a relation's name that no dictionary has."""
    return tuple(word for word in words_of(local_name) if not is_in_dictionary(word) and word not in HARMLESS)


_ANYWHERE: Sequence[str] = ("open", "marked")
_OWN: Mapping[str, Callable[[GraphNames, str, Random, int], Iterator[TypedCase]]] = {
    "2 names inside text values": _names_in_texts,
    "3 surnames alone": _lone_surnames,
    "4 capitals at a start": _names_at_a_start,
    "5 middle words of labels": _middle_words,
    "6 dirty labels": _dirty_labels,
    "7 values in words and other digits": _values_in_other_words,
    "8 look-alike letters": _look_alikes,
    "9 suffixes": _suffixed_names,
}
_PLACES: Mapping[str, Sequence[str]] = {"4": ("start",), "7": ("value",)}


def family_cases(
    names: GraphNames,
    others: Sequence[GraphNames],
    local_names: Sequence[str],
    language: str,
    dice: Random,
    count: int,
) -> Iterator[Case]:
    """Yields `count` cases of every family in one language.

    `names` is the asked graph, `others` are the tenant's other graphs, `local_names` the names of private relations.
    """
    for family, make in _OWN.items():
        yield from _cases(family, list(make(names, language, dice, count)), language, dice, count)
    yield from _cases("1 names of another graph", list(foreign_names(others, dice, count)), language, dice, count)
    forms = list(relation_words(local_names, count))
    yield from _cases("10 words of masked and hidden relations", forms, language, dice, count)


def _cases(family: str, forms: Sequence[TypedCase], language: str, dice: Random, count: int) -> Iterator[Case]:
    places = _PLACES.get(family.split(" ")[0], _ANYWHERE)
    for typed in _spread(forms, dice, count):
        spoken = language
        if family == "9 suffixes":
            ending = typed.form.partition(":")[0]
            spoken = _SPOKEN.get(ending, ending)
        yield _put_into(family, typed, spoken, places, dice)


def every_surname(dice: Random, count: int) -> Iterator[Case]:
    """Yields two cases for each listed surname: bare in small letters, and capitalised at the start of a sentence.

    At most `_EVERY * count` surnames are drawn; in a full run, `count` is so large that these are all of them.
    """
    known = surnames()
    dice.shuffle(known)
    for name in known[: _EVERY * count]:
        small, large = (
            TypedCase("each, bare", name, (name,)),
            TypedCase("each, a capital", _capital(name), (name,)),
        )
        yield _put_into("3 surnames alone", small, "en", _ANYWHERE, dice)
        yield _put_into("4 capitals at a start", large, "en", ("start",), dice)
