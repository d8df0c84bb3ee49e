"""OpenDialKG: dialogue turns with the facts that the reply uses, the graph beside them, and a split by dialogue.

A fact is written in several ways in the files: either way round ("~" before a relation), with "_" or "-" or a blank,
in capitals or not. Gold facts have a spelling of their own there, which would tell them from all others, so that every
fact is brought to one way.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from evaluation.datasets.questions import QuestionsError

FOLDER: Final = "opendialkg"
TEST_SHARE: Final = 0.2
# A shorter one ("Yes, I have.") may be said in two dialogues.
MIN_SHARED_LENGTH: Final = 25
_INVERSE = "~"

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """`history`: speaker and text, oldest first; the set gives the last three at most. `gold`: what the reply uses."""

    id: str
    dialogue: str
    history: tuple[tuple[str, str], ...] = field(repr=False)
    gold: frozenset[Triple] = field(repr=False)
    reply: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class DialogueGraph:
    """All facts by each of their ends, once, in a fixed order."""

    facts_of: Mapping[str, tuple[Triple, ...]] = field(repr=False)
    relations: tuple[str, ...]


def read_graph(folder: Path) -> DialogueGraph:
    """Raises QuestionsError."""
    try:
        lines = (folder / "triples.tsv").read_text("utf-8").splitlines()
        triples = {_canonical(*line.split("\t")) for line in lines}
    except (OSError, TypeError, ValueError):
        raise QuestionsError(
            "triples.tsv can't be read: a line is head, relation and tail, with tabs between"
        ) from None
    return graph_of(triples)


def graph_of(triples: set[Triple]) -> DialogueGraph:
    facts_of: dict[str, list[Triple]] = defaultdict(list)
    for triple in sorted(triples):
        for entity in {triple[0], triple[2]}:
            facts_of[entity].append(triple)
    relations = tuple(sorted({relation for _, relation, _ in triples}))
    return DialogueGraph({entity: tuple(facts) for entity, facts in sorted(facts_of.items())}, relations)


def read_turns(folder: Path) -> list[DialogueTurn]:
    """Raises QuestionsError."""
    try:
        rows = [json.loads(line) for line in (folder / "val.jsonl").read_text("utf-8").splitlines()]
        dialogues = _dialogues(rows)
        return [
            DialogueTurn(
                row["id"],
                rows[first]["id"],
                tuple((speaker, text) for speaker, text in row["history"]),
                frozenset(_canonical(*fact) for fact in row["knowledge"]),
                row["response"],
            )
            for row, first in zip(rows, dialogues, strict=True)
        ]
    except (OSError, KeyError, TypeError, ValueError):
        raise QuestionsError("val.jsonl can't be read: a line has id, history, knowledge and response") from None


def split(turns: Sequence[DialogueTurn], seed: int) -> tuple[list[DialogueTurn], list[DialogueTurn]]:
    """Turns to train on and turns to test on: a fifth of the dialogues, drawn by `seed`. No dialogue is in both."""
    dialogues = sorted({turn.dialogue for turn in turns})
    random.Random(seed).shuffle(dialogues)  # noqa: S311  # a sample, no secret  # nosec B311
    held = set(dialogues[: round(len(dialogues) * TEST_SHARE)])
    return (
        [turn for turn in turns if turn.dialogue not in held],
        [turn for turn in turns if turn.dialogue in held],
    )


def _canonical(head: str, relation: str, tail: str) -> Triple:
    words = relation.removeprefix(_INVERSE).replace("_", " ").replace("-", " ").strip().lower()
    return (tail, words, head) if relation.startswith(_INVERSE) else (head, words, tail)


def _dialogues(rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """For each row the first one of its dialogue: the file does not say which belong together, and its order says
    nothing. Those that share an utterance do."""
    first = list(range(len(rows)))

    def first_of(row: int) -> int:
        while first[row] != row:
            first[row] = first[first[row]]
            row = first[row]
        return row

    said: dict[str, int] = {}
    for number, row in enumerate(rows):
        for text in _utterances(row):
            one, other = sorted((first_of(said.setdefault(text, number)), first_of(number)))
            first[other] = one
    return [first_of(number) for number in range(len(rows))]


def _utterances(row: Mapping[str, Any]) -> Iterator[str]:
    for text in (*(text for _, text in row["history"]), row["response"]):
        if len(text) >= MIN_SHARED_LENGTH:
            yield text.strip().lower()
