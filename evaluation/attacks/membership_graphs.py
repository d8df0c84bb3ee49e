"""Draws the graphs of the membership attack: made-up people and texts, half of each drawn for a graph of their own."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import app.demo

SEED = 6
# Who has the role sees towns, and nobody who lives in them.
ROLE = "towns"
CLOSED_POLICY = (
    'names = ["http://www.w3.org/2000/01/rdf-schema#label"]\n'
    f'[roles.{ROLE}]\nshow_relations = ["urn:closed:twinnedWith"]\n'
)
NOTED_POLICY = 'names = ["http://www.w3.org/2000/01/rdf-schema#label"]\n[relations."urn:noted:note"]\nhide = true\n'


@dataclass(frozen=True, slots=True)
class MembershipSplit:
    """Names that are in a graph, and as many that are not, in the order in which they were drawn."""

    inside: Sequence[str] = field(repr=False)
    outside: Sequence[str] = field(repr=False)

    @property
    def everything(self) -> list[str]:
        return [*self.inside, *self.outside]


def sample_people(count: int) -> MembershipSplit:
    """Invented names of people, half of them for the closed graph."""
    words = tomllib.loads(Path(app.demo.__file__).with_name("clinic_words.toml").read_text("utf-8"))
    dice = random.Random(SEED)  # noqa: S311  # invented names, no secret depends on it  # nosec B311
    every = [f"{first} {family}" for first, family in product((*words["women"], *words["men"]), words["families"])]
    names = dice.sample(every, count)
    return MembershipSplit(names[: count // 2], names[count // 2 :])


def sample_texts(count: int) -> MembershipSplit:
    """Two words of no language each, half of them for a hidden relation."""
    dice = random.Random(SEED)  # noqa: S311  # invented, as above  # nosec B311
    syllables = [a + b for a, b in product("bdfgklmnprstvz", "aeiou")]
    words = ["".join(dice.choices(syllables, k=4)) for _ in range(2 * count)]
    texts = [f"{one} {other}" for one, other in zip(words[::2], words[1::2], strict=True)]
    return MembershipSplit(texts[: count // 2], texts[count // 2 :])


def closed_graph(people: Sequence[str]) -> Iterator[str]:
    """Turtle: each person lives in one of five towns, which are twinned."""
    yield "@prefix : <urn:closed:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    for number in range(5):
        yield f':town{number} rdfs:label "Closedtown{chr(97 + number)}" ; :twinnedWith :town{(number + 1) % 5} .'
    for number, name in enumerate(people):
        yield f':person{number} rdfs:label "{name}" ; :livesIn :town{number % 5} .'


def noted_graph(texts: Sequence[str]) -> Iterator[str]:
    """Turtle: cases, each with a note and the day on which it was filed."""
    yield "@prefix : <urn:noted:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    for number, text in enumerate(texts):
        yield f':case{number} rdfs:label "Casefile{number}" ; :note "{text}" ; :filed "2026-01-{1 + number % 28:02}" .'
