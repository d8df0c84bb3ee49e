"""Words drafts of answers, checks a model's draft against the question, and reads the question without a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, cast

from app.egress.disclosure import Profile
from app.language.protocol import DraftChecks, Language
from app.language.readings import Contradiction, ResultKind, schema_steps
from app.llm.endpoint.closed_schemas import labels_in
from app.llm.in_house import OfferedReading, ReadingScores
from app.llm.tasks import AnswerInput, AnswerReply, Evidence, ReplyT, StepInput, StepReply, Task, TaskModel
from app.strategies.base import Draft, OwnReading, StrategyInput
from app.strategies.retrieval import NodeSet, show_things, steps_shown
from app.strategies.shown_schema import labels_within
from app.strategies.start import declares_kinds, own_steps, whole_kinds
from kg_store.algebra.expressions import (
    Call,
    Expression,
    ExpressionResult,
    Name,
    parse,
    walked_along,
    with_joined_steps,
    written,
)
from kg_store.errors import ExpressionError
from kg_store.terms import ALMOST_PSEUDONYM, ValueKind
from kg_store.text.labels import words_of_kinds, words_of_steps

PLAIN: Final = "The answer is {1}."
ResultOf = Callable[[str], ExpressionResult | None]


def draft_of(language: Language, expressions: Sequence[str], shown: StepInput) -> Draft:
    """Returns a draft that puts `expressions` into a sentence; `shown` holds the facts and candidates that they use.

    Promise: the text is made only of the service's fixed wordings and of relation labels, concepts and pseudonyms of
    `shown`; no word of it is a model's.
    """
    is_number_of = len(expressions) == 2 and expressions[0] == f"count({expressions[1]})"
    if len(expressions) > 1 and not (is_number_of or expressions[1].startswith("count(")):
        said = ", ".join(f"{{{number}}}" for number in range(1, len(expressions) + 1))
        return Draft(tuple(expressions), PLAIN.replace("{1}", said))
    try:
        parts, text = language.word_answer(expressions, shown)
    except ExpressionError:
        # The expression cannot be parsed. Executing it later fails for the same reason, and reports the error.
        return Draft(tuple(expressions), PLAIN)
    return Draft(tuple(parts), text)


_NOT_SHOWN: Final = ", so its answer is not shown."
REFUSALS: Final[Mapping[Contradiction, str]] = {
    Contradiction.TRUTH: f"The question asks for yes or no, and the model did not give one{_NOT_SHOWN}",
    Contradiction.NUMBER: f"The question asks for a number, and the model did not give one{_NOT_SHOWN}",
    Contradiction.THINGS: f"The question asks for things or values, and the model counted them{_NOT_SHOWN}",
    Contradiction.KIND: f"The model answered with another kind of thing than was asked for{_NOT_SHOWN}",
    Contradiction.NEGATION: f"The question leaves something out, and the model did not{_NOT_SHOWN}",
    Contradiction.ADDED: f"The model left something out that the question does not leave out{_NOT_SHOWN}",
    Contradiction.VALUE: f"The model did not compare all that the question names{_NOT_SHOWN}",
    Contradiction.ALL: f"The question asks about all of them, and the model looked at some{_NOT_SHOWN}",
    Contradiction.NAMED: f"The model answered with what the question itself names{_NOT_SHOWN}",
    Contradiction.UNUSED: f"The model used nothing of what the question names{_NOT_SHOWN}",
}
"""The sentences that tell the asker why a draft is refused, one for each way in which it can contradict the question.
"""
NOT_TIED: Final = f"The model put things together that nothing in the graph connects{_NOT_SHOWN}"
TIED_TWICE: Final = f"The model did not say how things are connected, and several answers are possible{_NOT_SHOWN}"


UNREAD: Final = (
    "A word of the question stands where the graph has dates or numbers, so I give no answer. Please write a date "
    "with its year, or a number in figures."
)


class DraftError(Exception):
    """A draft can't be carried out as it stands; the error's text says why, for the asker."""


def with_ties(expression: Expression, labels: Sequence[str], result_of: ResultOf) -> Expression:
    """Returns `expression` with each `having(A, B)` as a filter by the only relation of `labels` that ties A to B.

    Relations that keep the same members of A count as one. Raises DraftError if no relation fits, or several.
    """
    if isinstance(expression, Name):
        return expression
    operands = tuple(with_ties(each, labels, result_of) for each in expression.operands)
    if expression.function != "having" or expression.words:
        return Call(expression.function, operands, expression.words)
    filters = [Call("filter", operands, (label, "=")) for label in labels]
    tied = [(found.mids, each) for each in filters if (found := result_of(written(each))) is not None]
    if len({frozenset(mids) for mids, _ in tied}) != 1:
        raise DraftError(TIED_TWICE if tied else NOT_TIED)
    return tied[0][1]


def compares_text(expression: Expression, texts: Collection[str], kinds: Mapping[str, ValueKind | None]) -> bool:
    """Returns True if a filter compares dates or numbers with one of the pseudonyms `texts`.

    `kinds`: the kind of the values of each relation, by its label.
    """
    if isinstance(expression, Name):
        return False
    if expression.function == "filter" and len(expression.operands) > 1:
        kind, value = kinds.get(expression.words[0].rpartition("|")[2]), expression.operands[1]
        if kind in (ValueKind.DATE, ValueKind.NUMBER) and isinstance(value, Name) and value.pseudonym in texts:
            return True
    return any(compares_text(each, texts, kinds) for each in expression.operands)


@dataclass(slots=True)
class CheckedDrafts:
    """Asks the reasoner for draft answers to one question, and checks each draft against the question.

    `meant`: the kind of result that the question asks for. `refusal`: why the last draft is refused, else empty.
    `read`: the service's own reading of the question, if a model is asked. `own`: the reading that belongs to the last
    reply; `asks_back`: the readings that this reply offers.
    """

    inquiry: StrategyInput
    meant: ResultKind | None = None
    refusal: str = ""
    read: OwnReading | None = None
    own: OwnReading | None = None
    asks_back: tuple[OfferedReading, ...] = ()
    _checks: DraftChecks | None = field(default=None, init=False)

    async def ask(self, task: Task[ReplyT]) -> ReplyT:
        """Returns the reply to `task`, and sets `refusal` if it is a model's draft that contradicts the question.

        The model is not asked again after a refusal. Raises the reasoner's errors.
        """
        reply = await self.inquiry.reasoner.ask(task)
        self.own = OwnReading(reply.scores) if reply.scores else self.read
        self.asks_back = reply.asks_back
        found, given, value, self.refusal = None, task.input, reply.value, ""
        if isinstance(given, StepInput) and isinstance(value, StepReply) and given.graph:
            try:
                texts = {thing.name for thing in given.things if thing.concept == ValueKind.TEXT}
                value = cast(ReplyT, self._in_steps_of_graph(value, texts))
            except DraftError as error:
                self.refusal = str(error)
                return value
        answer = _answer_of(value)
        checks = self._of_question() if reply.is_of_model and answer else None
        if checks is not None and isinstance(given, StepInput | AnswerInput):
            found = checks.contradiction(answer, given)
        self.refusal = REFUSALS[found] if found is not None else ""
        return value

    def _in_steps_of_graph(self, reply: StepReply, texts: Collection[str]) -> StepReply:
        """Returns the reply with what it left open or wrote in two steps as steps of the graph.

        Raises DraftError, also if it compares dates or numbers with one of the pseudonyms `texts`: "in April" without
        a year is no date, and a count of 0 would be wrong.
        """
        try:
            trees = [parse(each) for each in reply.answer]
        except ExpressionError:
            return reply
        labels, result_of = labels_within(self.inquiry), cache(self.inquiry.result_of)
        settled = [with_joined_steps(with_ties(each, labels, result_of), labels) for each in trees]
        kinds = {each.label: each.value_kind for each in self.inquiry.graph.schema.relations}
        if any(compares_text(each, texts, kinds) for each in settled):
            raise DraftError(UNREAD)
        return reply if settled == trees else reply.model_copy(update={"answer": list(map(written, settled))})

    def _of_question(self) -> DraftChecks | None:
        dialogue, graph = self.inquiry.dialogue, self.inquiry.graph
        if self._checks is None and declares_kinds(graph.schema):
            topics = {topic.pseudonym for topic in dialogue.topics if topic.newest and not topic.doubtful}
            self._checks = self.inquiry.language.draft_checks(str(dialogue.question), topics, graph, self.meant)
        return self._checks


def _answer_of(reply: TaskModel) -> Sequence[str]:
    if isinstance(reply, StepReply):
        return reply.answer if reply.action == "answer" else ()
    return reply.answer if isinstance(reply, AnswerReply) and reply.sufficient else ()


_LABEL: Final = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class QuestionMeaning:
    """The meaning of a question as the service itself read it.

    `expression` is over pseudonyms; `gives` is the kind of its result, None if unknown.
    """

    expression: str
    gives: ResultKind | None
    scores: ReadingScores

    @property
    def own(self) -> OwnReading:
        """This meaning as an `OwnReading`, the form that is stored with the answer beside a model's draft."""
        return OwnReading(self.scores, self.expression)

    @property
    def labels(self) -> list[str]:
        """The labels of the relations in the expression, without the sign for their direction."""
        said = (part for label in _LABEL.findall(self.expression) for part in label.split("|"))
        return [label.lstrip("^") for label in said]

    def hint_for(self, given: StepInput) -> str:
        """Returns the expression in the terms of the prompt `given`: its sets, and `way(n)` for candidate n.

        Empty if the expression uses a thing or a relation that the prompt does not show.
        """
        text = self.expression
        for fact in sorted(given.evidence, key=lambda each: -len(each.path)):
            text = text.replace(walked_along(fact.start, fact.path), fact.end)
        for way in () if given.graph else sorted(given.candidates, key=lambda each: -len(each.path)):
            text = text.replace(walked_along(way.start, way.path), f"way({way.number})")
        shown = {each.name for each in given.things} | {each.end for each in given.evidence}
        steps = {*steps_shown(given.evidence, given.candidates), *given.relations, *labels_in(given.graph)}
        said = {part for label in _LABEL.findall(text) if label not in steps for part in label.split("|")}
        is_shown = set(ALMOST_PSEUDONYM.findall(text)) <= shown and said <= steps
        return text if is_shown else ""


async def meaning_of(inquiry: StrategyInput, places: Sequence[NodeSet]) -> QuestionMeaning | None:
    """Returns the meaning that the service itself reads in the question, as a hint and check for a model.

    None if no model is asked, the graph declares no kinds, or the reading is not sure.
    """
    is_asked = inquiry.reasoner.is_model and declares_kinds(inquiry.graph.schema)
    return await asyncio.to_thread(_read, inquiry, places) if is_asked else None


def _read(inquiry: StrategyInput, places: Sequence[NodeSet]) -> QuestionMeaning | None:
    steps, kinds = schema_steps(inquiry.graph), whole_kinds(inquiry)
    things = show_things(inquiry, places)
    # If prompts show only what a thing's kind has, each thing is taken to have all steps of its kind.
    of_kinds = {
        each.name: tuple(step.label for step in steps if step.kind in each.concept.split(", ")) for each in things
    }
    given = StepInput(
        question=inquiry.dialogue.question,
        things=things,
        evidence=[],
        candidates=[],
        steps=steps,
        kinds=kinds,
        own=own_steps(inquiry, places) if inquiry.profile is Profile.OPEN else of_kinds,
        wordings=dict(words_of_steps(inquiry.graph.schema)),
        kind_words=dict(words_of_kinds(inquiry.graph.schema)),
    )
    found = inquiry.language.read_question(given)
    if found is None:
        return None
    gives = inquiry.language.result_kind(found.expression, inquiry.graph, [*things, *kinds])
    return QuestionMeaning(found.expression, gives, found.scores)


def read_prompt(language: Language, given: StepInput) -> QuestionMeaning | None:
    """Returns the meaning of a question over a graph without declared kinds, read from the prompt `given` alone.

    None if no reading fits.
    """
    # Stand-in names for the candidates' sets. They equal no pseudonym, because those hold no three zeros in a row.
    ways = {f"S000{way.number:02}": way for way in given.candidates}
    walked = [
        Evidence(start=way.start, path=way.path, end=name, end_concept=way.concept) for name, way in ways.items()
    ]
    shown = given.model_copy(update={"evidence": [*given.evidence, *walked], "candidates": [], "last_round": True})
    found = language.read_question(shown)
    if found is None:
        return None
    text = found.expression
    for name, way in ways.items():
        text = text.replace(name, walked_along(way.start, way.path))
    return QuestionMeaning(text, None, found.scores)
