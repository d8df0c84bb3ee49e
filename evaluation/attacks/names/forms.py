"""Names as people type them, form by form (`forms.toml`), and a made-up graph of names that are hard to find.

Nothing here is shared with what reads names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from random import Random

from evaluation.attacks.forms.corpus.writing import Piece
from evaluation.tables.linking import SLIPS

GRAPH = "peoples"
_MIN_MISTYPED_ALONE_LENGTH = 6
_CASED_SLIPS = frozenset(("letters swapped", "letter dropped", "letter doubled", "wrong key", "two slips"))
TOLD = tomllib.loads(Path(__file__).with_name("forms.toml").read_text("utf-8"))
_NAMES = TOLD["names"]
SCRIPTS: dict[str, Sequence[str]] = _NAMES["scripts"]


@dataclass(frozen=True, slots=True)
class FormInput:
    """The material for a form: a name of the graph, another one, and a random generator."""

    name: str = field(repr=False)
    other: str = field(repr=False)
    dice: Random = field(repr=False)

    def __getitem__(self, key: str) -> Piece:
        """A text of a template: `name`, `first` and `last`, `other`, `other_first` and `other_last`, `any_case`."""
        if key == "any_case":
            return Piece("".join(map(self._any_case, self.name)))
        words = (self.other if key.startswith("other") else self.name).split(" ")
        return Piece({"first": words[0], "last": words[-1]}.get(key.removeprefix("other_"), " ".join(words)))

    def _any_case(self, letter: str) -> str:
        return letter.upper() if self.dice.random() < 0.5 else letter.lower()

    @property
    def small(self) -> FormInput:
        return FormInput(self.name.lower(), self.other.lower(), self.dice)

    @property
    def is_alphabetic(self) -> bool:
        """Of Latin letters, or of Greek, Cyrillic or Armenian, which have initials and capitals, too."""
        return all(letter < "\u0590" or letter == "’" for letter in self.name)


Write = Callable[[FormInput], Sequence[str]]
"""One turn or several; the last is put into a sentence. None at all where the form does not fit the name."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to type a name. `listed` is false for forms of which docs/privacy.md says that they go only where they
    have a capital: in small letters they are counted apart. `whole`: fits names of any number of words."""

    group: str
    kind: str
    write: Write = field(repr=False)
    listed: bool = True
    whole: bool = False


def _of_small(write: Write) -> Write:
    return lambda given: write(given.small)


def _forms(group: str, kind: str, way: str, *turns: str) -> Iterator[Form]:
    """The forms of one row of the file, which says what its `way` means."""
    way, listed = way.removeprefix("unlisted "), not way.startswith("unlisted ")
    whole = way in ("whole", "both")

    def write(given: FormInput) -> Sequence[str]:
        fits = way != "pair" or given.is_alphabetic
        return tuple(turn.format_map(given) for turn in turns) if fits else ()

    if way != "small":
        yield Form(group, kind, write, listed, whole)
    if way != "whole":
        yield Form(group, kind if way == "small" else f"{kind}, small", _of_small(write), listed, whole)


def _slips() -> Iterator[Form]:
    for slip in SLIPS:
        if slip.kind in _CASED_SLIPS or slip.kind.startswith("accents"):

            def write(given: FormInput, apply: Callable[[str, Random], str] = slip.apply) -> Sequence[str]:
                typed = apply(given.name, given.dice) if given.is_alphabetic else given.name
                alone_and_short = " " not in typed and len(typed) < _MIN_MISTYPED_ALONE_LENGTH
                return (typed,) if typed != given.name and not alone_and_short else ()

            yield Form("typos", slip.kind, write, whole=True)
            yield Form("typos", f"{slip.kind}, small", _of_small(write), slip.kind != "two slips", whole=True)


def _in_script(kind: str, scripts: str, template: str, unlisted: str = "") -> Form:
    """Names of other scripts as their languages write them."""
    known = {name for script in TOLD["kinds_of_scripts"].get(scripts, [scripts]) for name in SCRIPTS[script]}

    def write(given: FormInput) -> Sequence[str]:
        return (template.format_map(given),) if given.name in known else ()

    return Form("other scripts", kind, write, not unlisted, whole=True)


FORMS: Sequence[Form] = (
    *_slips(),
    *(form for group, rows in TOLD["forms"].items() for row in rows for form in _forms(group, *row)),
)
OTHER_SCRIPTS: Sequence[Form] = tuple(_in_script(*row) for row in TOLD["other_scripts"])


def peoples() -> str:
    """As Turtle some 160 people and fifteen places, whose names are shared, nested in one another, of many scripts."""
    pairs = zip(cycle(_NAMES["first"].split()), cycle(_NAMES["last"].split()), strict=False)
    # Twenty first and seventeen last names: everybody shares both with others; everyday words are among them.
    latin = [f"{first} {last}" for first, last in islice(pairs, 120)]
    people, places = [*latin, *(name for names in SCRIPTS.values() for name in names)], _NAMES["nested"]
    lines = [
        f":c{at} rdfs:label {_quoted(name)} ; :locatedIn :c{(at + 1) % len(places)} ."
        for at, name in enumerate(places)
    ]
    for at, name in enumerate(people):
        alias = _NAMES["spelt_in_latin"].get(name)
        more = f" skos:altLabel {_quoted(alias)} ;" if alias else ""
        lines.append(
            f":p{at} rdfs:label {_quoted(name)} ;{more} :livesIn :c{at % len(places)} ; "
            f":treatedBy :p{(at * 7 + 3) % len(people)} ; :hasChild :p{(at * 5 + 1) % len(people)} ."
        )
    return "\n".join((_NAMES["prefixes"], *lines, ""))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'
