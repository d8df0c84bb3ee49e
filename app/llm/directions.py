"""In which direction a question walks a relation, told by grammar: "films directed by X" walks `directed by` back."""

from __future__ import annotations

from app.llm.question_words import Usage
from app.llm.wording import HopWords, Voice

_WAYS: dict[tuple[Usage, Voice], int] = {
    (Usage.SUBJECT, "passive"): -1, (Usage.SUBJECT, "active"): 1,
    (Usage.OBJECT, "passive"): 1, (Usage.OBJECT, "active"): -1,
    (Usage.UNDERGOES, "noun"): 1, (Usage.UNDERGOES, "passive"): 1, (Usage.UNDERGOES, "active"): 1,
    (Usage.HOLDER, "noun"): 1, (Usage.HOLDER, "passive"): 1,
    (Usage.FILLER, "noun"): -1, (Usage.FILLER, "passive"): -1,
}  # fmt: skip


def way_of(hop: HopWords, usages: frozenset[Usage], by_verb: bool) -> float:
    """1 where a word that is used so walks `hop` in its direction, -1 against it, 0 where grammar does not say.

    `by_verb`: the word and the relation name the same doing (direct, `directed by`).
    """
    said = [_of_noun(usage, by_verb) if hop.voice == "noun" else _WAYS.get((usage, hop.voice), 0) for usage in usages]
    ways = [way * (-1 if hop.inverse else 1) for way in said if way]
    return float(max(ways)) if ways else 0.0


def _of_noun(usage: Usage, by_verb: bool) -> int:
    """What has an agent has something done to it (a film, its director); what has anything else does it."""
    if usage is Usage.SUBJECT:
        return -1 if by_verb else 1
    if usage is Usage.OBJECT:
        return 1 if by_verb else 0
    return _WAYS.get((usage, "noun"), 0)
