"""Replies measured beside attachment: writers from gold facts, from 3, 5 or 10 ranked facts, and modified tails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from evaluation.bench.question_sets import Show
from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.measures.bootstrap import Estimate, estimate
from evaluation.dialogue.measures.modified_tails import with_modified_tails
from evaluation.dialogue.measures.reply_figures import ReplyFigures, reply_figures
from evaluation.dialogue.measures.reply_questions import ReplyQuestion, ReplyQuestions
from evaluation.dialogue.measures.word_overlap import given_knowledge_f1, unigram_f1
from evaluation.dialogue.opendialkg import DialogueGraph, Triple
from evaluation.dialogue.spans import SpanExtractor
from evaluation.dialogue.writers.reply_writer import PromptStyle, ReplyRequest, ReplyWriter

FACTS: Final = (3, 5, 10)
GOLD_FACTS: Final = "gold facts"


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """`given`: the facts that the replies were written from; `questions` were asked of them."""

    writer: str
    given: str
    figures: ReplyFigures
    questions: int


@dataclass(frozen=True, slots=True)
class ModifiedRow:
    """Replies from knowledge with other tails: shared words with the gold reply, and with what was given."""

    writer: str
    unigram_f1: Estimate
    knowledge_f1: Estimate


@dataclass(slots=True)
class RepliesRun:
    """`ranked`: the facts around a turn, best first, by the turn's id; turns without are left out where facts are
    ranked."""

    turns: Sequence[GroundedTurn] = field(repr=False)
    graph: DialogueGraph = field(repr=False)
    extractor: SpanExtractor | None = None
    ranked: Mapping[str, Sequence[Triple]] = field(default_factory=dict, repr=False)
    seed: int = 0
    show: Show = lambda _title, _done, _total: None
    _questions: dict[str, list[ReplyQuestion]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        maker = ReplyQuestions(self.graph)
        self._questions = {turn.id: maker.of(turn) for turn in self.turns}

    def row(
        self, name: str, writer: ReplyWriter, facts: int | None = None, style: PromptStyle = "default"
    ) -> ReplyRow:
        """From gold facts, or from the best `facts` that were ranked."""
        turns = self.turns if facts is None else [turn for turn in self.turns if turn.id in self.ranked]
        given = turns if facts is None else [self._with_ranked(turn, facts) for turn in turns]
        what = GOLD_FACTS if facts is None else f"{facts} facts"
        self.show(f"{name}: {what}", 0, len(turns))
        replies = writer.replies_to([ReplyRequest(turn, style) for turn in given])
        questions = [question for turn in turns for question in self._questions[turn.id]]
        return ReplyRow(name, what, reply_figures(turns, replies, questions, self.extractor), len(questions))

    def modified(self, name: str, writer: ReplyWriter) -> ModifiedRow:
        given = with_modified_tails(self.turns, self.graph, self.seed)
        self.show(f"{name}: modified tails", 0, len(given))
        replies = writer.replies_to([ReplyRequest(turn) for turn in given])
        dialogues = [turn.dialogue for turn in given]
        pairs = list(zip(given, replies, strict=True))
        return ModifiedRow(
            name,
            estimate([unigram_f1(reply, turn.gold_reply) for turn, reply in pairs], dialogues),
            estimate([given_knowledge_f1(reply, turn.coming) for turn, reply in pairs], dialogues),
        )

    def _with_ranked(self, turn: GroundedTurn, facts: int) -> GroundedTurn:
        return replace(turn, so_far=(), coming=tuple(self.ranked[turn.id][:facts]))
