"""Questions that a reply should answer, as SURGE derives them from dialogue, gold reply and graph (Kang et al., 2023).

A fact joins something of the history with something of the gold reply; whatever the graph lets stand in the place of
the latter is acceptable (section 4 and appendix E.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluation.dialogue.grounded_turns import GroundedTurn, is_said
from evaluation.dialogue.mentions import ExactNames
from evaluation.dialogue.opendialkg import DialogueGraph, Triple
from evaluation.dialogue.spans import UNKNOWN, SpanQuestion


@dataclass(frozen=True, slots=True)
class ReplyQuestion:
    """One end of a fact and its relation; `acceptable`: the ends that the graph has on the other side."""

    turn: str
    dialogue: str
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool
    acceptable: tuple[str, ...] = field(repr=False)

    def span(self, context: str) -> SpanQuestion:
        head, tail = (UNKNOWN, self.known) if self.unknown_is_head else (self.known, UNKNOWN)
        return SpanQuestion(context, head, self.relation, tail)


class ReplyQuestions:
    """Makes the questions of turns over one graph."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph = graph
        self._names = ExactNames(graph.facts_of)

    def of(self, turn: GroundedTurn) -> list[ReplyQuestion]:
        """None where history and gold reply have no fact in common; a turn's gold facts are facts of the graph."""
        history = " ".join(text for _, text in turn.history)
        spoken, replied = self._named(history), self._named(turn.gold_reply)
        asked = {
            (known, relation, is_head)
            for known in spoken
            for triple in self._graph.facts_of[known]
            for relation, other, is_head in _sides(triple, known)
            if other in replied and other != known
        }
        asked |= {
            (known, relation, is_head)
            for triple in turn.coming
            for known in (triple[0], triple[2])
            for relation, other, is_head in _sides(triple, known)
            if is_said(known, history) and not is_said(other, history)
        }
        return [self._question(turn, *each) for each in sorted(asked)]

    def _named(self, text: str) -> set[str]:
        return {name for mention in self._names.find(text) if mention.is_name for name in mention.names}

    def _question(self, turn: GroundedTurn, known: str, relation: str, is_head: bool) -> ReplyQuestion:
        facts: Sequence[Triple] = (*self._graph.facts_of.get(known, ()), *turn.coming)
        fills = {
            other
            for fact in facts
            for words, other, head in _sides(fact, known)
            if (words, head) == (relation, is_head)
        }
        return ReplyQuestion(turn.id, turn.dialogue, known, relation, is_head, tuple(sorted(fills)))


def _sides(triple: Triple, known: str) -> list[tuple[str, str, bool]]:
    """Relation, other end, and True where that is the head; both where a thing is joined with itself."""
    head, relation, tail = triple
    return [
        *([(relation, tail, False)] if head == known else []),
        *([(relation, head, True)] if tail == known else []),
    ]
