"""Names in egress: ask questions with names in every form of `names.toml` and scan every byte sent for them.

The forms are written independently of the code that finds names in the service.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from random import Random

from client_sdk.protocol import StrategyName
from evaluation.attacks.targets import (
    AML,
    OPENLY,
    TITLES,
    AttackTarget,
    AttackTargets,
    Attempted,
    Turn,
    as_typed,
    dice_of,
    load_text,
    sent_by,
)
from evaluation.attacks.words import Piece
from evaluation.bench.bench import ReasonerName
from evaluation.bench.question_sets import DEMO, PQ_3H
from evaluation.checks.leak_scan import LeakScanner, texts_in, words_of
from evaluation.datasets.questions import QueryPlan, Question
from evaluation.tables.linking import CARRIERS, SLIPS
from kg_store.catalog import PrivateGraph
from kg_store.names.name_table import may_be_ordinary
from kg_store.terms import NodeKind
from kg_store.text.english import is_ordinary

QUESTIONS, MIN_TRIES = 2_600, 2_000
MAX_BLOCKED, FOUND_WITHOUT_ANONYMISER = 0.03, 0.98
GRAPH, AS_IT_IS = "peoples", "as the sets ask"
# Each strategy with the reasoner that it is asked with; all of them get the same questions.
_ROADS: Mapping[StrategyName, ReasonerName] = {"sets": "embedded", "arog": "scripted", "dialogue": "scripted"}
_MIN_WORD_LENGTH, _MIN_OTHER_LETTERS, _MIN_FIGURES, _MIN_MISTYPED_ALONE_LENGTH = 3, 2, 3, 6
_FOREIGN_SHARE = 0.1
_CASED_SLIPS = ("letters swapped", "letter dropped", "letter doubled", "wrong key", "two slips", "accents")
_TOLD = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))
_NAMES = _TOLD["names"]
_OURS, _PARTICLES = frozenset(_TOLD["ours"].split()), frozenset(_TOLD["particles"].split())
SCRIPTS: dict[str, Sequence[str]] = _NAMES["scripts"]


@dataclass(frozen=True, slots=True)
class FormInput:
    """The material of a form: a name of the graph, another name, and a random generator."""

    name: str = field(repr=False)
    other: str = field(repr=False)
    dice: Random = field(repr=False)

    def __getitem__(self, key: str) -> Piece:
        """Returns a text for a template.

        Keys: `name`, `first`, `last`, the same of the other name (`other`, `other_first`, `other_last`), and
        `any_case` for `name` with each letter large or small at random.
        """
        if key == "any_case":
            letters = (letter.upper() if self.dice.random() < 0.5 else letter.lower() for letter in self.name)
            return Piece("".join(letters))
        words = (self.other if key.startswith("other") else self.name).split(" ")
        return Piece({"first": words[0], "last": words[-1]}.get(key.removeprefix("other_"), " ".join(words)))

    @property
    def is_alphabetic(self) -> bool:
        """Returns True for names in Latin, Greek, Cyrillic or Armenian letters, which have capitals and initials."""
        return all(letter < "\u0590" or letter == "’" for letter in self.name)


Write = Callable[[FormInput], Sequence[str]]
"""Returns the turns to type, of which the last is put into a sentence; empty if the form does not fit the name."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to type a name.

    `listed` is false for forms that docs/privacy.md promises to replace only if they have a capital; in small letters
    those are counted apart. `whole`: the form fits names of any number of words.
    """

    group: str
    kind: str
    write: Write = field(repr=False)
    listed: bool = True
    whole: bool = False

    def small(self, listed: bool = True) -> Form:
        """Returns this form with the names in small letters."""

        def write(given: FormInput) -> Sequence[str]:
            return self.write(FormInput(given.name.lower(), given.other.lower(), given.dice))

        return replace(self, kind=f"{self.kind}, small", write=write, listed=listed)


def _forms(group: str, kind: str, way: str, *turns: str) -> Iterator[Form]:
    """Yields the forms of one row of `names.toml`, where the values of `way` are explained."""
    way, listed = way.removeprefix("unlisted "), not way.startswith("unlisted ")

    def write(given: FormInput) -> Sequence[str]:
        fits = way != "pair" or given.is_alphabetic
        return tuple(turn.format_map(given) for turn in turns) if fits else ()

    form = Form(group, kind, write, listed, whole=way in ("whole", "both"))
    if way != "small":
        yield form
    if way != "whole":
        yield replace(form.small(listed), kind=kind) if way == "small" else form.small(listed)


def _slips() -> Iterator[Form]:
    for slip in SLIPS:
        if slip.kind.startswith(_CASED_SLIPS):

            def write(given: FormInput, apply: Callable[[str, Random], str] = slip.apply) -> Sequence[str]:
                typed = apply(given.name, given.dice) if given.is_alphabetic else given.name
                alone_and_short = " " not in typed and len(typed) < _MIN_MISTYPED_ALONE_LENGTH
                return (typed,) if typed != given.name and not alone_and_short else ()

            form = Form("typos", slip.kind, write, whole=True)
            yield from (form, form.small(slip.kind != "two slips"))


def _in_script(kind: str, scripts: str, template: str, unlisted: str = "") -> Form:
    """Returns a form for names in other scripts, as their languages write them; it fits names of `scripts` only."""
    known = {name for script in _TOLD["kinds_of_scripts"].get(scripts, [scripts]) for name in SCRIPTS[script]}

    def write(given: FormInput) -> Sequence[str]:
        return (template.format_map(given),) if given.name in known else ()

    return Form("other scripts", kind, write, not unlisted, whole=True)


FORMS: Sequence[Form] = (
    *_slips(),
    *(form for group, rows in _TOLD["forms"].items() for row in rows for form in _forms(group, *row)),
)
OTHER_SCRIPTS: Sequence[Form] = tuple(_in_script(*row) for row in _TOLD["other_scripts"])


def peoples() -> str:
    """Returns a graph in Turtle of some 160 people and fifteen places with shared and nested names in many scripts."""
    pairs = zip(cycle(_NAMES["first"].split()), cycle(_NAMES["last"].split()), strict=False)
    # Twenty first and seventeen last names: everybody shares both with others. Some of them are everyday words.
    latin = [f"{first} {last}" for first, last in islice(pairs, 120)]
    people, places = [*latin, *(name for names in SCRIPTS.values() for name in names)], _NAMES["nested"]
    quoted = {name: json.dumps(name, ensure_ascii=False) for name in (*people, *places)}
    lines = [
        f":c{at} rdfs:label {quoted[name]} ; :locatedIn :c{(at + 1) % len(places)} ." for at, name in enumerate(places)
    ]
    for at, name in enumerate(people):
        alias = _NAMES["spelt_in_latin"].get(name)
        more = f' skos:altLabel "{alias}" ;' if alias else ""
        lines.append(
            f":p{at} rdfs:label {quoted[name]} ;{more} :livesIn :c{at % len(places)} ; "
            f":treatedBy :p{(at * 7 + 3) % len(people)} ; :hasChild :p{(at * 5 + 1) % len(people)} ."
        )
    return "\n".join((_NAMES["prefixes"], *lines, ""))


@dataclass(frozen=True, slots=True)
class PlantedQuestion:
    """One question of the corpus: the last of `turns`.

    `planted` maps each text that must not be sent, folded as the scanner folds it, to whether the question writes it
    in small letters.
    """

    form: Form
    turns: tuple[str, ...] = field(repr=False)
    planted: Mapping[str, bool] = field(repr=False)
    plan: QueryPlan | None = None


def ask_as_it_is(questions: Sequence[Question], dice: Random, count: int) -> list[PlantedQuestion]:
    """Draws questions of a set, as people asked them; the names of their topics are planted."""
    form, made = Form(AS_IT_IS, AS_IT_IS, lambda given: (given.name,)), []
    able = [question for question in questions if question.topic_entities and len(question.texts) == 1]
    for question in dice.sample(able, min(count, len(able))):
        planted: dict[str, bool] = {}
        for topic in question.topic_entities:
            name = topic.replace("_", " ")
            written = name if name in question.texts[0] else name.lower()
            planted |= _planted((written,), FormInput(written, written, dice))
        made.append(PlantedQuestion(form, question.texts, planted, question.plan))
    return made


def ask_in_every_form(
    names: Sequence[str], dice: Random, count: int, forms: Sequence[Form] = FORMS
) -> list[PlantedQuestion]:
    """Returns `count` questions, spread evenly over `forms`, each with a name that fits the form."""
    pairs = [name for name in names if _is_first_and_last(name.casefold().split(" "))]
    made: list[PlantedQuestion] = []
    for form in cycle(dice.sample(forms, len(forms))):
        if pool := names if form.whole else pairs:
            given = FormInput(dice.choice(pool), dice.choice(names), dice)
            made += [_asked(form, given, pieces)] if (pieces := form.write(given)) else []
        if len(made) >= count:
            break
    return made


def _is_first_and_last(words: Sequence[str]) -> bool:
    """Returns True for two words neither of which is a particle, an abbreviation or a Roman number."""
    return len(words) == 2 and all(
        len(word) >= 2 and set(word) - set("ivx") and word not in _PARTICLES and word[-1] != "." for word in words
    )


def _asked(form: Form, given: FormInput, pieces: Sequence[str]) -> PlantedQuestion:
    carrier = given.dice.choice(_TOLD["foreign"] if given.dice.random() < _FOREIGN_SHARE else CARRIERS)
    *earlier, last = pieces
    if last == last.lower() and given.dice.random() < 0.5:
        carrier = carrier.lower()
    return PlantedQuestion(form, (*earlier, carrier.replace("{}", last)), _planted(pieces, given))


def _planted(pieces: Sequence[str], given: FormInput) -> dict[str, bool]:
    """Returns the texts that must not be sent, each with whether it is written in small letters.

    They are the written names and every word of them.
    """
    capital: dict[str, bool] = {}
    phrases: list[list[str]] = [[word.folded for word in words_of(name)] for name in (given.name, given.other)]
    for text in (text for piece in pieces for text in texts_in(json.dumps(piece).encode())):
        words = words_of(text)
        for word in words:
            capital[word.folded] = capital.get(word.folded, False) or word.plain != word.plain.lower()
        phrases += [[word.folded] for word in words]
        # Words of the form itself are cut off at both ends.
        telling = [at for at, word in enumerate(words) if word.folded not in _OURS]
        phrases += [[word.folded for word in words[telling[0] : telling[-1] + 1]]] if telling else []
    told = filter(_tells, phrases)
    return {" ".join(words): not any(capital.get(word, False) for word in words if len(word) > 1) for words in told}


def _tells(words: Sequence[str]) -> bool:
    """Returns True if the words say enough to be a name.

    Letters are counted over all words, since the scanner takes each sign of a script without spaces for a word.
    """
    letters = "".join(word for word in words if word not in _OURS)
    return len(set(letters)) > 1 and len(letters) >= (_MIN_WORD_LENGTH if letters.isascii() else _MIN_OTHER_LETTERS)


def _dated(form: str) -> Callable[[str], str]:
    return lambda text: f"{dt.date.fromisoformat(text):{form}}"


def _grouped(point: str, comma: str) -> Callable[[str], str]:
    def write(text: str) -> str:
        whole, _, rest = text.partition(".")
        return f"{int(whole):,}".replace(",", point) + (comma + rest if rest else "")

    return write


_VALUES: Mapping[str, Mapping[str, Callable[[str], str]]] = {
    r"\d{4}-\d{2}-\d{2}": {
        "date": str,
        "date in words": _dated("%d %B %Y"),
        "American date": _dated("%B %d, %Y"),
        "date with points": _dated("%d.%m.%Y"),
        "date with slashes": _dated("%m/%d/%Y"),
        "short date": _dated("%d/%m/%y"),
    },
    r"\d{4,}(?:\.\d+)?": {
        "number": str,
        "number with commas": _grouped(",", "."),
        "with points": _grouped(".", ","),
    },
    r"\+?[\d ()./-]{7,}": {
        "code": str,
        "code without signs": lambda text: re.sub(r"\D", "", text),
        "code with spaces": lambda text: re.sub(r"\D+", " ", text).strip(),
        "code with points": lambda text: re.sub(r"\D+", ".", text).strip("."),
    },
    r"[^\s@]+@[^\s@]+\.[a-z]+": {
        "e-mail": str,
        "e-mail in capitals": str.upper,
        "e-mail in brackets": lambda text: f"<{text}>",
    },
}
"""Patterns of dates, numbers, telephone numbers and e-mail addresses, each with the forms to write it in."""


def ask_for_values(secrets: Iterable[str], dice: Random, count: int) -> list[PlantedQuestion]:
    """Returns `count` questions with values, spread evenly over kinds and forms; none if the graph has no values."""
    ordered, made = sorted(secrets), []
    forms = [
        (Form("values", kind, lambda given: (given.name,)), write, values)
        for pattern, written in _VALUES.items()
        if (values := [value for value in ordered if re.fullmatch(pattern, value)])
        for kind, write in written.items()
    ]
    for _, (form, write, values) in zip(range(count), cycle(forms), strict=False):
        text = write(dice.choice(values))
        words = [word.folded for word in words_of(text)]
        planted = {word: False for word in words if len(word) >= _MIN_FIGURES and any(map(str.isdigit, word))}
        turn = dice.choice(_TOLD["values"]).replace("{}", text)
        made.append(PlantedQuestion(form, (turn,), {" ".join(words): False, **planted}))
    return made


@dataclass(frozen=True, slots=True)
class NameTrial:
    """The findings in the bytes that one question sent, and in the same question as typed.

    `leaked`: names, and words of names, that were sent. `limits`: those written in small letters that docs/privacy.md
    does not promise to replace. `public`: names that are public words, which may be sent. `found_as_typed`: the
    scanner finds the name in the question as typed. `sent`: False if no request was sent, because the question names
    nothing of the graph.
    """

    asked: PlantedQuestion
    blocked: bool
    leaked: frozenset[str] = field(repr=False)
    limits: frozenset[str] = field(repr=False)
    public: frozenset[str] = field(repr=False)
    found_as_typed: bool
    strategy: StrategyName = "sets"
    sent: bool = True


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the bytes sent for a question.

    `names` are the names of the graph, folded; `public` are its public words.
    """

    scanner: LeakScanner
    names: Collection[str] = field(repr=False)
    public: Container[str] = field(repr=False)

    def tried(self, asked: PlantedQuestion, blocked: bool, sent: Sequence[bytes], typed: bytes) -> NameTrial:
        found, control = self.scanner.scan(sent), self.scanner.scan([typed])
        seen = {phrase for phrase in found.leaks if phrase in asked.planted}
        limits = {phrase for phrase in seen if asked.planted[phrase] and self._is_limit(asked, phrase)}
        public = frozenset(phrase for phrase in found.public_words if phrase in asked.planted)
        as_typed = any(phrase in asked.planted for phrase in (*control.leaks, *control.public_words))
        return NameTrial(asked, blocked, frozenset(seen - limits), frozenset(limits), public, as_typed)

    def _is_limit(self, asked: PlantedQuestion, phrase: str) -> bool:
        """Returns True for unlisted forms, and for everyday words and their misspellings that are not a whole name."""
        if not asked.form.listed:
            return True
        return phrase not in self.names and all(map(self._is_everyday, phrase.split(" ")))

    def _is_everyday(self, word: str) -> bool:
        return len(word) < _MIN_WORD_LENGTH or word in self.public or is_ordinary(word) or may_be_ordinary(word)


async def names_in_egress(targets: AttackTargets) -> list[Attempted]:
    """Tries all forms on the demo and a generated graph, and on PathQuestion and `aml.ttl` if there is data."""
    sources = [*targets.among(DEMO, PQ_3H, AML), GRAPH]
    count = targets.at_most(QUESTIONS) // len(sources)
    tried: list[NameTrial] = []
    for strategy, reasoner in _ROADS.items():
        for source in sources:
            opened = DEMO if source == GRAPH else source
            target = await targets.open(opened, reasoner, OPENLY if strategy == "dialogue" else {})
            if source == GRAPH:
                target = replace(target, loaded=load_text(target.bench, f"{GRAPH}.ttl", peoples()), questions=[])
            progress = targets.counter(f"names, {TITLES.get(source, source)}, {strategy}", count)
            tried += await _try_all(target, strategy, _corpus(target, count), progress)
    return lines(tried, targets.at_most(MIN_TRIES))


def _corpus(target: AttackTarget, count: int) -> list[PlantedQuestion]:
    dice, graph = dice_of(0), target.bench.graph(target.loaded)
    made = ask_as_it_is(target.questions, dice, count // 10)
    made += ask_for_values(target.loaded.secrets, dice, count // 10)
    if target.loaded.graph == GRAPH:
        foreign = [name for names in SCRIPTS.values() for name in names]
        made += ask_in_every_form(foreign, dice, count // 3, OTHER_SCRIPTS)
    return [*made, *ask_in_every_form(_names_of(graph, dice), dice, count - len(made))]


def _names_of(graph: PrivateGraph, dice: Random) -> list[str]:
    """Returns the names of entities without digits (which transactions and streets have).

    Half of those stored in small letters are given capitals, as people write names.
    """
    entities = [each.id for each in graph.blind.schema.signatures if each.kind is NodeKind.ENTITY]
    records = graph.vault.records(graph.blind.members(entities).tolist()).values()
    names = {name.replace("_", " ") for record in records for name in record.names if len(name) >= _MIN_WORD_LENGTH}
    found = sorted(name for name in names if not any(map(str.isdigit, name)))
    return [name.title() if name == name.lower() and dice.random() < 0.5 else name for name in found]


async def _try_all(
    target: AttackTarget, strategy: StrategyName, questions: Sequence[PlantedQuestion], progress: Callable[[int], None]
) -> list[NameTrial]:
    """Asks one question after the other, each in a conversation of its own."""
    planted = {phrase for asked in questions for phrase in asked.planted}
    names = {" ".join(word.folded for word in words_of(name)) for name in target.loaded.secrets}
    several = frozenset(name for name in names if " " in name)
    judge = Judge(target.bench.scanner(target.loaded, planted), several, target.bench.graph(target.loaded).public)
    found = []
    for done, asked in enumerate(questions):
        if target.endpoint is not None:
            target.endpoint.expect(asked.plan, asked.turns[-1])
        turns: list[Turn] = []
        for text in asked.turns:
            turns += [("user", text), ("assistant", "All right.")]
        turns.pop()
        sent, blocked = await sent_by(target.bench, target.loaded.graph, turns, strategy, target.victim)
        tried = judge.tried(asked, blocked, sent, as_typed(target.bench, turns))
        found.append(replace(tried, strategy=strategy, sent=bool(sent)))
        progress(done)
    return found


def lines(tried: Sequence[NameTrial], least: int) -> list[Attempted]:
    """Returns a line for each group of forms and for each strategy, then lines for all questions together.

    The line "all" fails with fewer than `least` questions.
    """

    def line(name: str, chosen: Sequence[NameTrial], note: str = "", **more: int) -> Attempted:
        blocked, limits = sum(each.blocked for each in chosen), sum(bool(each.limits) for each in chosen)
        public = sum(bool(each.public) for each in chosen)
        told = note or f"{blocked} blocked, {limits} not promised, {public} public words"
        return Attempted.of(f"names in egress, {name}", (bool(each.leaked) for each in chosen), note=told, **more)

    found = []
    for group in sorted({each.asked.form.group for each in tried}):
        found.append(line(group, [each for each in tried if each.asked.form.group == group]))
    for strategy in dict.fromkeys(each.strategy for each in tried):
        own = [each for each in tried if each.strategy == strategy]
        found.append(line(f"sent by {strategy}", [each for each in own if each.sent], f"of {len(own)} questions"))
    as_typed = (each.found_as_typed for each in tried if each.asked.form.group != AS_IT_IS)
    not_promised = "names in egress, everyday words and unlisted forms in small letters (not promised)"
    return [
        *found,
        line("all", tried, least=least),
        Attempted.of("names in egress, questions blocked", (each.blocked for each in tried), most=MAX_BLOCKED),
        Attempted.of(not_promised, (bool(each.limits) for each in tried), most=1.0),
        Attempted.of("names in egress, public words", (bool(each.public) for each in tried), most=1.0),
        Attempted.of(
            "names found in the same questions as they were typed", as_typed, control=FOUND_WITHOUT_ANONYMISER
        ),
    ]
