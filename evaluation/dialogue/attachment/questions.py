"""Questions of LLM-KAT: one for each triple of the coming turn, one of whose ends is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluation.dialogue.grounded_turns import GroundedTurn, is_said
from evaluation.dialogue.opendialkg import Triple
from evaluation.dialogue.spans import UNKNOWN, SpanQuestion

ContextKind = Literal["turn", "reply"]
"""`turn`: the last utterance of the history and the reply, as the authors' code does; `reply`: the reply alone."""


@dataclass(frozen=True, slots=True)
class AttachmentQuestion:
    """`acceptable`: what the coming triples let stand for the unknown."""

    turn: str
    dialogue: str
    span: SpanQuestion = field(repr=False)
    acceptable: tuple[str, ...] = field(repr=False)


def questions_of(turn: GroundedTurn, reply: str, context: ContextKind = "turn") -> list[AttachmentQuestion]:
    text = f"{turn.history[-1][1]} {reply}" if context == "turn" and turn.history else reply
    asked = [_with_unknown(triple, end) for triple, end in unknown_ends(turn)]
    return [
        AttachmentQuestion(
            turn.id,
            turn.dialogue,
            SpanQuestion(text, head, relation, tail),
            tuple(sorted(_fills(turn.coming, (head, relation, tail)))),
        )
        for head, relation, tail in asked
    ]


def unknown_ends(turn: GroundedTurn) -> list[tuple[Triple, Literal["head", "tail"]]]:
    """Each coming triple, and which of its ends the reply is to bring.

    The published walks begin with what was spoken of, and the question is for where each step leads. The triples here
    have lost that direction: so it is the end that neither the history nor an earlier triple has named, and the tail
    where that does not tell.
    """
    history = " ".join(text for _, text in turn.history)
    known = {name for triple in turn.coming for name in (triple[0], triple[2]) if is_said(name, history)}
    found: list[tuple[Triple, Literal["head", "tail"]]] = []
    left = list(turn.coming)
    while left:
        at = next((at for at, (head, _, tail) in enumerate(left) if (head in known) != (tail in known)), 0)
        triple = left.pop(at)
        is_head = triple[2] in known and triple[0] not in known
        found.append((triple, "head" if is_head else "tail"))
        known |= {triple[0], triple[2]}
    return sorted(found)


def _with_unknown(triple: Triple, end: Literal["head", "tail"]) -> Triple:
    head, relation, tail = triple
    return (UNKNOWN, relation, tail) if end == "head" else (head, relation, UNKNOWN)


def _fills(triples: Sequence[Triple], asked: Triple) -> set[str]:
    head, relation, tail = asked
    if head == UNKNOWN:
        return {each[0] for each in triples if each[1:] == (relation, tail)}
    return {each[2] for each in triples if each[:2] == (head, relation)}
