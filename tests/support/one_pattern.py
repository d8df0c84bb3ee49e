"""The smallest possible reader: a language with one pattern, `LABEL of THING?`, and a reasoner that answers in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from app.language.protocol import DraftChecks, Scores
from app.language.readings import (
    UNKNOWN,
    AskedForm,
    AskedOfKind,
    AskedStep,
    LikelyReadings,
    MemoryReply,
    MemoryTurn,
    ResultKind,
    SureReading,
    UnansweredQuestion,
    WordedPath,
    WrittenSentence,
)
from app.llm.in_house import AskedTime, HeldMeaning, ReadingScores
from app.llm.reasoner import Reply
from app.llm.tasks import Candidate, ReplyInput, ReplyT, SchemaStep, StepInput, StepReply, Task, TaskKind, Thing
from app.privacy.safe_text import Egress, Segment
from kg_store.algebra.expressions import ExpressionResult
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Schema

_PATTERN: Final = re.compile(r"(?P<label>.+) of (?P<thing>E\w{5})\?")


@dataclass(frozen=True, slots=True)
class SamePaths:
    """Implements ReadPaths and PathRanking: a path scores 1 if the question begins with its last label."""

    known: Sequence[WordedPath] = ()

    cosine_unit = 0.0

    def read(self, paths: Sequence[WordedPath]) -> SamePaths:
        return SamePaths(paths)

    def scores(self, question: str, topic: str, *, by_words: bool = False) -> Scores:
        return np.array([float(question.startswith(path.steps[-1])) for path in self.known])

    def nearness(self, question: str, ways: Sequence[Sequence[tuple[str, str]]]) -> Scores:
        return np.array([float(question.startswith(way[-1][0])) for way in ways])


class NothingSaid:
    """Implements SaidLabels for questions that never have more than one step."""

    is_compound = is_chain = is_measured = False

    def steps(self) -> Iterable[SchemaStep]:
        return ()


class NothingTold:
    """Implements MemoryLanguage for a language in which nobody tells anything."""

    def read_turn(self, text: str) -> MemoryTurn | None:
        return None

    def read_statement(self, text: str, *, is_asked: bool = False) -> MemoryTurn | None:
        return None

    def offered(self, reply: str) -> str:
        return ""

    def is_reply(self, text: str) -> bool:
        return False

    def declines(self, text: str) -> bool:
        return False

    def word_reply(self, reply: MemoryReply) -> str:
        return ""

    def without_recalled(self, answer: str) -> str:
        return answer


class OnePattern:
    """Implements Language with one pattern."""

    paths = SamePaths()
    memory = NothingTold()

    def read_form(self, question: str, topics: int) -> AskedForm:
        return AskedForm("things", question)

    def read_time(self, question: str, dates: Collection[str]) -> AskedTime | None:
        return None

    def two_questions(self, text: str) -> tuple[str, str] | None:
        first, joint, second = text.partition(" and ")
        return (f"{first}?", second) if joint and " of " in first and " of " in second else None

    def read_unanswered(self, question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
        words = tuple(question.partition(" of ")[0].split())
        said = {word for relation in schema.relations for word in relation.label.split()}
        return UnansweredQuestion(tuple(word for word in words if kinds and word not in said), words, "", "")

    def read_question(self, given: StepInput) -> SureReading | None:
        asked = _PATTERN.fullmatch(given.question)
        labels = {step.label for step in given.steps} | {way.path[-1] for way in given.candidates}
        if asked is None or asked["label"] not in labels:
            return None
        return SureReading(f'reach({asked["thing"]}, "{asked["label"]}")', ReadingScores("meaning", 3.0, 3.0))

    def said_labels(self, question: str, graph: BlindGraph) -> NothingSaid:
        return NothingSaid()

    def other_language(self, question: str) -> str:
        return ""

    def read_other_language(
        self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]
    ) -> HeldMeaning | None:
        return None

    def likely_readings(self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]) -> LikelyReadings:
        return LikelyReadings()

    def read_held(
        self,
        given: StepInput,
        alike: Mapping[str, Sequence[str]],
        named: Collection[int],
        result_of: Callable[[str], ExpressionResult | None],
    ) -> HeldMeaning | None:
        return None

    def result_kind(self, expression: str, graph: BlindGraph, things: Iterable[Thing]) -> ResultKind:
        return UNKNOWN

    def draft_checks(
        self, question: str, named: Collection[str], graph: BlindGraph, meant: ResultKind | None
    ) -> DraftChecks | None:
        return None

    def word_answer(self, expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
        return list(expressions), "{1}."

    def word_candidate(self, way: Candidate) -> str:
        return f"{way.path[-1]} of {way.start}"

    def word_reply(self, given: ReplyInput) -> list[WrittenSentence]:
        return [WrittenSentence(f"{f.path[-1]} of {f.start}: {f.end}.", (at,)) for at, f in enumerate(given.evidence)]

    def can_word(self, step: str) -> bool:
        return True

    def word_question(self, asked: AskedStep | AskedOfKind) -> list[str]:
        return [f"{asked.label} of {asked.thing}?"] if isinstance(asked, AskedStep) and asked.thing else []

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        return [signature.classes[0] if signature.classes else "thing" for signature in schema.signatures]


class OnePatternReasoner:
    """Implements an embedded Reasoner that answers steps by what `OnePattern` reads."""

    longest_reply = 0
    is_capable = True

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return ()

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        return Egress((Segment(task.input.model_dump_json().encode()),))

    def tokens_in(self, egress: Egress) -> int:
        return 0

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        given = cast(StepInput, task.input)
        found = OnePattern().read_question(given)
        if found is None:
            return cast(Reply[ReplyT], Reply(StepReply(path=[], action="not_in_graph", choices=[], answer=[])))
        reply = StepReply(path=[], action="answer", choices=[], answer=[found.expression])
        return cast(Reply[ReplyT], Reply(reply, scores=found.scores))
