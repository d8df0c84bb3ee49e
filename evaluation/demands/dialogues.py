"""Dialogues of DailyDialog, split into those to test on and those to develop on, and the facts of ConceptNet."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from evaluation.datasets.questions import QuestionsError, read_lines
from evaluation.dialogue.dialogue_sets import MIN_SHARED_LENGTH, Triple

DIALOGUES: Final = Path("dailydialog", "dialogues.jsonl")
FACTS: Final = Path("conceptnet", "train.txt")
"""The files below the folder of the public sets."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue of two people, who take turns; it has at least two."""

    id: str
    turns: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DialoguePair:
    """A dialogue cut at one point: the turns before it, oldest first, and the turn that follows. `id` is unique."""

    id: str
    history: tuple[str, ...] = field(repr=False)
    reply: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class DialogueSplit:
    """Pairs to test on, one of each drawn dialogue, and the dialogues to develop on."""

    test: tuple[DialoguePair, ...] = field(repr=False)
    development: tuple[Dialogue, ...] = field(repr=False)


class _Row(BaseModel):
    """A line of the file; `labels_aligned` is false where its labels do not belong to its turns."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)
    id: int
    turns: tuple[str, ...]
    labels_aligned: bool


def read_dialogues(data: Path) -> list[Dialogue]:
    """Reads DailyDialog from `data`, the folder of the public sets. Raises QuestionsError.

    Dialogues with labels that do not fit, those with a single turn, and repetitions of an earlier one are left out.
    """
    rows = [row for _, row in read_lines(_existing(data / DIALOGUES), _Row)]
    first = {row.turns: row for row in reversed(rows) if row.labels_aligned and len(row.turns) > 1}
    return [Dialogue(str(row.id), row.turns) for row in rows if first.get(row.turns) is row]


def read_facts(data: Path) -> list[Triple]:
    """Reads ConceptNet's facts as head, relation, tail. Raises QuestionsError."""
    try:
        lines = _existing(data / FACTS).read_text("utf-8").splitlines()
        facts = [(head, relation, tail) for relation, head, tail in (line.split("\t") for line in lines)]
    except (OSError, ValueError):
        raise QuestionsError(
            f"{FACTS.name} can't be read: a line is relation, head and tail, with tabs between"
        ) from None
    return facts


def draw(dialogues: Sequence[Dialogue], count: int, seed: int = 0) -> DialogueSplit:
    """Draws `count` dialogues to test on, each cut at a random point; the others are for development.

    A larger count with the same seed keeps the pairs of a smaller one. The set has dialogues in several versions, so
    those that share a long utterance with a test dialogue are in neither part. Raises QuestionsError if there are
    fewer than `count`.
    """
    if count > len(dialogues):
        raise QuestionsError(f"{count} dialogues were asked for, but there are only {len(dialogues)}")
    mixed = list(dialogues)
    random.Random(seed).shuffle(mixed)  # noqa: S311  # a sample, no secret  # nosec B311
    test, rest = mixed[:count], mixed[count:]
    seen = {key for dialogue in test for key in _long_utterances(dialogue)}
    kept = (dialogue for dialogue in rest if seen.isdisjoint(_long_utterances(dialogue)))
    return DialogueSplit(tuple(_cut(dialogue, seed) for dialogue in test), tuple(kept))


def pairs_of(dialogue: Dialogue) -> Iterator[DialoguePair]:
    """Yields the dialogue cut at each point: one pair fewer than it has turns."""
    return (_pair(dialogue, at) for at in range(1, len(dialogue.turns)))


def _cut(dialogue: Dialogue, seed: int) -> DialoguePair:
    # A generator of its own: the point does not depend on how many other dialogues are drawn.
    drawn = random.Random(f"{seed} {dialogue.id}")  # noqa: S311  # a sample, no secret  # nosec B311
    return _pair(dialogue, drawn.randint(1, len(dialogue.turns) - 1))


def _pair(dialogue: Dialogue, at: int) -> DialoguePair:
    return DialoguePair(f"{dialogue.id}-{at}", dialogue.turns[:at], dialogue.turns[at])


def _long_utterances(dialogue: Dialogue) -> set[str]:
    return {turn.strip().lower() for turn in dialogue.turns if len(turn.strip()) >= MIN_SHARED_LENGTH}


def _existing(file: Path) -> Path:
    """Returns `file`. Raises QuestionsError if it is not there."""
    if not file.is_file():
        where = file.relative_to(file.parents[1]).as_posix()
        raise QuestionsError(f"{where} is not in the folder of the public sets (--data or AROG_DATA)")
    return file
