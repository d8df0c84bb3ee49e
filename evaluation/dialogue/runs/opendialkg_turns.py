"""The turns of OpenDialKG that are measured, in a fixed order, and the names in their texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evaluation.dialogue.attachment.identifiers import types_of
from evaluation.dialogue.grounded_turns import GroundedTurn, grounded_turns
from evaluation.dialogue.mentions import ExactNames
from evaluation.dialogue.opendialkg import FOLDER, DialogueGraph, read_turns, split
from evaluation.dialogue.training_set import SPLIT_SEED


def read_test_turns(data: Path, limit: int | None = None) -> list[GroundedTurn]:
    """Those of the dialogues that nothing was trained on; `limit` at most, dialogue by dialogue. Raises
    QuestionsError."""
    turns = read_turns(data / FOLDER)
    _, test = split(turns, SPLIT_SEED)
    found = sorted(grounded_turns(test, among=turns), key=lambda turn: (turn.dialogue, turn.id))
    return found[:limit]


def names_in(graph: DialogueGraph) -> Callable[[str], list[str]]:
    """Finds the names of the graph in a text, as they are written there."""
    names = ExactNames(graph.facts_of)

    def find(text: str) -> list[str]:
        return [text[mention.start : mention.end] for mention in names.find(text) if mention.is_name]

    return find


def kinds_in(graph: DialogueGraph) -> dict[str, str]:
    """Kinds of all things of the graph, by their names in small letters."""
    facts = (fact for name, facts in graph.facts_of.items() for fact in facts if fact[0] == name)
    return {name.lower(): kind for name, kind in types_of(facts).items()}
