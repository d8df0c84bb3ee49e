"""Defines the protocol of a reader of one language: the methods that strategies and chats call.

`app.reader.english.EnglishReader` implements it for English. A reader of another language implements the same methods
and must pass the contract tests in `tests/app/language/test_contract.py`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from app.language.readings import (
    AskedForm,
    AskedOfKind,
    AskedStep,
    Contradiction,
    LikelyReadings,
    MemoryReply,
    MemoryTurn,
    ResultKind,
    SureReading,
    UnansweredQuestion,
    WordedPath,
    WrittenSentence,
)
from app.llm.in_house import AskedTime, HeldMeaning
from app.llm.tasks import AnswerInput, Candidate, ReplyInput, SchemaStep, StepInput, Thing
from kg_store.algebra.expressions import ExpressionResult
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Schema

Scores = npt.NDArray[np.floating[Any]]
"""One score for each path; the higher the score, the more of the question the path explains."""


class ReadPaths(Protocol):
    """Paths prepared for ranking. Preparation does not depend on the question, so one object serves many questions."""

    @property
    def cosine_unit(self) -> float:
        """The part of a path's score that a cosine of 1 between the path and the whole question contributes."""
        ...

    def scores(self, question: str, topic: str, *, by_words: bool = False) -> Scores:
        """Returns one score for each path, shape (paths,). `topic` is the pseudonym that the paths start from.

        `by_words`: skips embedding the whole question if its single words are enough, which is faster.
        """
        ...


class PathRanking(Protocol):
    """Ranks paths through the graph by how well their words match a question. Thread-safe."""

    def read(self, paths: Sequence[WordedPath]) -> ReadPaths:
        """Computes everything about `paths` that does not depend on a question. `paths` must not be empty."""
        ...

    def nearness(self, question: str, ways: Sequence[Sequence[tuple[str, str]]]) -> Scores:
        """Returns the likeness (cosine) of the whole question to each path, shape (paths,).

        Each entry of `ways` is one path: a (relation label, concept reached) pair for each of its steps.
        """
        ...


class SaidLabels(Protocol):
    """The relation labels of a large schema that words of one question match."""

    @property
    def is_compound(self) -> bool:
        """True if one path from one entity is not enough to answer the question."""
        ...

    @property
    def is_chain(self) -> bool:
        """True if the question needs more than one step, because separate words of it match different labels."""
        ...

    @property
    def is_measured(self) -> bool:
        """True if the question orders or compares values: it has a superlative, a comparative or a value."""
        ...

    def steps(self) -> Iterable[SchemaStep]:
        """Yields the steps, from things of any kind, whose labels are most like words of the question."""
        ...


class DraftChecks(Protocol):
    """Checks that compare a model's draft answers with one question."""

    def contradiction(self, answer: Sequence[str], shown: StepInput | AnswerInput) -> Contradiction | None:
        """Returns the first way in which the draft `answer` contradicts the question, or None if there is none.

        `answer`: expressions over the pseudonyms and candidates in the prompt input `shown`. Expressions that cannot
        be parsed are ignored.
        """
        ...


class MemoryLanguage(Protocol):
    """Reads the turns by which people tell the service facts, and words the replies. All texts hold pseudonyms."""

    def read_turn(self, text: str) -> MemoryTurn | None:
        """Returns the memory turn that `text` is; None if it is none, as a question to the graph."""
        ...

    def read_statement(self, text: str, *, is_asked: bool = False) -> MemoryTurn | None:
        """Returns the turn that tells the fact that `text` states, or says it in passing; None if it states nothing.

        `is_asked`: its asker agreed that it is kept.
        """
        ...

    def offered(self, reply: str) -> str:
        """Returns the statement that a reply offers to remember; empty if it offers none."""
        ...

    def is_reply(self, text: str) -> bool:
        """Returns True for a reply that says what was told, offers to keep a fact, or says that one is kept or not."""
        ...

    def declines(self, text: str) -> bool:
        """Returns True if a turn says no to such an offer."""
        ...

    def word_reply(self, reply: MemoryReply) -> str:
        """Returns the sentences of a reply."""
        ...

    def days_of(self, when: str, today: dt.date) -> tuple[dt.date, dt.date] | None:
        """Returns the first and the last day that the words `when` of a turn mean; None if they mean none."""
        ...

    def without_recalled(self, answer: str) -> str:
        """Returns an answer of the graph without the sentence on what was told, which stands behind it."""
        ...


class Language(Protocol):
    """Reads questions and words answers in one language. All its texts hold pseudonyms, never names."""

    @property
    def paths(self) -> PathRanking:
        """The ranking of paths through the graph."""
        ...

    @property
    def memory(self) -> MemoryLanguage:
        """The turns by which people tell the service facts."""
        ...

    # Methods that read a question.

    def read_form(self, question: str, topics: int) -> AskedForm:
        """Returns the form of answer that the question asks for; `topics` is the number of entities that it names."""
        ...

    def read_time(self, question: str, dates: Collection[str]) -> AskedTime | None:
        """Returns the time that the question asks about, or None if it names none.

        `dates`: the pseudonyms in the question that stand for dates.
        """
        ...

    def two_questions(self, text: str) -> tuple[str, str] | None:
        """Returns the two questions that a turn asks in one sentence, each as it would be asked alone; else None."""
        ...

    def read_unanswered(self, question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
        """Returns the words that may explain why a question has no answer.

        `kinds`: the concepts of `schema`; if it is empty, no word is reported as lacking.
        """
        ...

    def read_question(self, given: StepInput) -> SureReading | None:
        """Reads the whole question as one expression; returns None if no reading is certain.

        The expression uses the schema `given.steps`, or, if that is empty, the evidence and candidates of `given`.
        """
        ...

    def said_labels(self, question: str, graph: BlindGraph) -> SaidLabels:
        """Returns the relation labels of `graph` that words of the question match."""
        ...

    def read_held(
        self,
        given: StepInput,
        alike: Mapping[str, Sequence[str]],
        named: Collection[int],
        result_of: Callable[[str], ExpressionResult | None],
    ) -> HeldMeaning | None:
        """Returns the best reading whose expression has a result when it is executed.

        Returns None if there is no such reading, or if it is a single step from one entity. `alike`: for each label,
        the other labels with the same words; `named`: ids of the entities that the question names; `result_of`
        executes an expression.
        """
        ...

    def likely_readings(self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]) -> LikelyReadings:
        """Returns what the question may mean, as expressions over the schema `given.steps`, the likeliest first.

        `result_of` executes an expression. Promise: what is offered does not depend on any result.
        """
        ...

    def other_language(self, question: str) -> str:
        """Returns the language (ISO 639-1) of a question that `read_other_language` may read; else empty."""
        ...

    def read_other_language(
        self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]
    ) -> HeldMeaning | None:
        """Reads a question in another language over the schema `given.steps`; returns None if no reading is certain.

        `result_of` executes an expression.
        """
        ...

    # Methods that check a model's draft.

    def result_kind(self, expression: str, graph: BlindGraph, things: Iterable[Thing]) -> ResultKind:
        """Returns the kind of result that `expression` over `things` has, according to the schema of `graph`."""
        ...

    def draft_checks(
        self, question: str, named: Collection[str], graph: BlindGraph, meant: ResultKind | None
    ) -> DraftChecks | None:
        """Returns checks for draft answers to `question`, or None if the question cannot be checked.

        `named`: pseudonyms that the question may contain. `meant`: the kind of result of the service's own certain
        reading, or None if it has none.
        """
        ...

    # Methods that write answers and questions.

    def word_answer(self, expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
        """Returns the expressions of an answer and a sentence in which `{1}` stands for the result of the first one.

        Raises ExpressionError if an expression cannot be parsed.
        """
        ...

    def word_candidate(self, way: Candidate) -> str:
        """Returns a phrase for the things that a candidate leads to (`the patients that Eq7f2k treats`).

        Empty if no wording is certainly correct.
        """
        ...

    def word_reply(self, given: ReplyInput) -> list[WrittenSentence]:
        """Returns the sentences of a dialogue reply that states facts of `given`; empty if no fact can be stated."""
        ...

    def can_word(self, step: str) -> bool:
        """Returns True if a fact whose relation has the label `step` can be stated in a sentence."""
        ...

    def word_question(self, asked: AskedStep | AskedOfKind) -> list[str]:
        """Returns questions that ask for what `asked` describes, the plainest first; empty if none is good English."""
        ...

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        """Returns one concept for each signature, in the order of `schema.signatures`."""
        ...
