"""The protocol of a reader of one language: all that strategies and chats ask of one.

`app.reader.english.EnglishReader` is one. Another one is made by writing these methods; the contract that it must hold
is `tests/app/language/test_contract.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from app.language.readings import (
    AskedForm,
    AskedOfKind,
    AskedStep,
    Contradiction,
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
"""One number a path, higher for a path that says more of the question."""


class ReadPaths(Protocol):
    """Paths with all that ranking knows of them before a question comes; to be kept for many questions."""

    @property
    def cosine_unit(self) -> float:
        """The part of a score that one cosine of the whole question makes, among these paths."""
        ...

    def scores(self, question: str, topic: str, *, by_words: bool = False) -> Scores:
        """One score a path, shape (paths,); `topic` is the pseudonym that the paths start from.

        `by_words`: the whole question is not embedded where single words tell enough, which is quicker.
        """
        ...


class PathRanking(Protocol):
    """Ranks paths through the graph by how well they say what a question asks. Thread-safe."""

    def read(self, paths: Sequence[WordedPath]) -> ReadPaths:
        """Works out what no question changes; `paths` holds one at least."""
        ...

    def nearness(self, question: str, ways: Sequence[Sequence[tuple[str, str]]]) -> Scores:
        """The likeness of the whole question to each way, shape (ways,); a way is a label and a concept a step."""
        ...


class SaidLabels(Protocol):
    """The labels of a large schema that words of one question say."""

    @property
    def is_compound(self) -> bool:
        """True where one path from one thing can't be all that is asked."""
        ...

    @property
    def is_chain(self) -> bool:
        """True where one step can't be all that is asked."""
        ...

    @property
    def is_measured(self) -> bool:
        """True where it asks for the first, for more, or for what lies between two years."""
        ...

    def steps(self) -> Iterable[SchemaStep]:
        """The steps of any kind whose labels lie nearest to words of the question."""
        ...


class DraftChecks(Protocol):
    """The checks of a model's drafts against one question."""

    def contradiction(self, answer: Sequence[str], shown: StepInput | AnswerInput) -> Contradiction | None:
        """The first way in which `answer`, expressions over what its prompt `shown` holds, contradicts the question.

        None where there is none; expressions that can't be read are let be.
        """
        ...


class Language(Protocol):
    """Reads questions and words answers in one language. Every text that it gets or gives has pseudonyms, no names."""

    @property
    def paths(self) -> PathRanking:
        """The ranking of paths."""
        ...

    # To understand a question.

    def read_form(self, question: str, topics: int) -> AskedForm:
        """The form of answer that is asked for; `topics` counts the things that the question names."""
        ...

    def read_time(self, question: str, dates: Collection[str]) -> AskedTime | None:
        """The time that is asked about, `dates` being the pseudonyms of dates in it; None where none is."""
        ...

    def read_unanswered(self, question: str, schema: Schema, kinds: tuple[str, ...]) -> UnansweredQuestion:
        """Why a question may have no answer; `kinds` are the concepts of `schema`, without any nothing is lacking."""
        ...

    def read_question(self, given: StepInput) -> SureReading | None:
        """The whole question as one expression: over the kinds of `given.steps`, or where there are none, over the
        facts and ways that `given` shows. None where no reading is sure."""
        ...

    def said_labels(self, question: str, graph: BlindGraph) -> SaidLabels:
        """The labels of the schema of `graph` that words of the question say."""
        ...

    def read_held(
        self,
        given: StepInput,
        alike: Mapping[str, Sequence[str]],
        named: Collection[int],
        result_of: Callable[[str], ExpressionResult | None],
    ) -> HeldMeaning | None:
        """The best reading that gives something when it is executed.

        `alike`: the labels of the same words as each label; `named`: ids of what the question names; `result_of`
        executes an expression. None without such a reading, and where it is a single step from one thing.
        """
        ...

    # To check what a model drafted.

    def result_kind(self, expression: str, graph: BlindGraph, things: Iterable[Thing]) -> ResultKind:
        """The kind of what `expression` over `things` gives, by the schema of `graph`."""
        ...

    def draft_checks(
        self, question: str, named: Collection[str], graph: BlindGraph, meant: ResultKind | None
    ) -> DraftChecks | None:
        """Checks of drafts for `question`, which may name the pseudonyms `named`; `meant`: the kind of answer that the
        service's own sure reading gives. None where the question can't be checked."""
        ...

    # To word answers and questions.

    def word_answer(self, expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
        """The parts of an answer and its sentence; `{1}` stands for the first part. Raises ExpressionError."""
        ...

    def word_candidate(self, way: Candidate) -> str:
        """The things that a way leads to (`the patients that Eq7f2k treats`); empty without certain words."""
        ...

    def word_reply(self, given: ReplyInput) -> list[WrittenSentence]:
        """A reply in dialogue from the facts of `given`; empty where no fact can be said."""
        ...

    def can_word(self, step: str) -> bool:
        """True where a fact by the step `step` (a label) can be said in a sentence."""
        ...

    def word_question(self, asked: AskedStep | AskedOfKind) -> list[str]:
        """Ways to ask this, the plainest first; none where it can't be said in good words."""
        ...

    def name_concepts(self, schema: Schema) -> Sequence[str]:
        """One concept per signature, in the order of `schema.signatures`."""
        ...
