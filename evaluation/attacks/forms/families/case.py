"""One case: what is typed in which turns, and what of it must never be sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from evaluation.attacks.forms.corpus.sentences import Sentence

Role = Literal["user", "assistant"]
Turn = tuple[Role, str]
Family = Literal[
    "1 names of another graph",
    "2 names inside text values",
    "3 surnames alone",
    "4 capitals at a start",
    "5 middle words of labels",
    "6 dirty labels",
    "7 values in words and other digits",
    "8 look-alike letters",
    "9 suffixes",
    "10 words of masked and hidden relations",
]


@dataclass(frozen=True, slots=True)
class TypedCase:
    """A name or a value as somebody types it.

    `secrets`: what it says, in the graph's own spelling; `harmless`: words of the form that say nothing, as endings
    do; `marked`: the form itself speaks for a name.
    """

    form: str
    text: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    harmless: frozenset[str] = field(default=frozenset(), repr=False)
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """`carrier` is all that is typed around the name; `marked`: something in it speaks for a name."""

    family: Family
    typed: TypedCase
    turns: tuple[Turn, ...] = field(repr=False)
    carrier: str = field(repr=False)
    marked: bool
    language: str = "en"

    @property
    def is_small(self) -> bool:
        return self.typed.text == self.typed.text.lower()


def put_into(family: Family, typed: TypedCase, sentence: Sentence, dice: Random) -> Case:
    """The case of `typed` in a sentence: mostly the question itself, at times an earlier turn of either side."""
    shape = sentence.text.lower() if typed.text == typed.text.lower() and dice.random() < 0.7 else sentence.text
    said = shape.replace("{}", typed.text)
    turns: Sequence[Turn] = (("user", said),)
    drawn = dice.random()
    if drawn < _EARLIER:
        turns = (("user", said), ("assistant", _REPLY), ("user", _LATER))
    elif drawn < _ASSISTANT:
        turns = (("user", _FIRST), ("assistant", said), ("user", _LATER))
    around = shape.replace("{}", " ")
    return Case(
        family, typed, tuple(turns), "\n".join((around, *_OURS)), sentence.marked or typed.marked, sentence.language
    )


_EARLIER, _ASSISTANT = 0.1, 0.15
_FIRST, _REPLY, _LATER = "who is in the ward today", "All right.", "and where was that"
_OURS = (_FIRST, _REPLY, _LATER)


def spread(forms: Sequence[TypedCase], dice: Random, count: int) -> Iterator[TypedCase]:
    """`count` of `forms`, each kind of form about as often as every other."""
    by_form: dict[str, list[TypedCase]] = {}
    for typed in forms:
        by_form.setdefault(typed.form, []).append(typed)
    for alike in by_form.values():
        dice.shuffle(alike)
    kinds = sorted(by_form)
    dice.shuffle(kinds)
    given = 0
    while given < count and by_form:
        for kind in [kind for kind in kinds if kind in by_form]:
            yield by_form[kind].pop()
            given += 1
            if not by_form[kind]:
                del by_form[kind]
            if given >= count:
                return
