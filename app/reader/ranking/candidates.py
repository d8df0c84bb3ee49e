"""Gathers the readings of a question that have a result in the graph, whatever words they leave unread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import Meanings, sense_of
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.meaning.read_meaning import all_meanings, executed, joined, says_now
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import ExpressionResult

MAX_OF_WORDING, MAX_EXECUTED = 30, 60
"""Greatest number of readings that are kept of one wording of the question, and that are executed; by hand."""

ResultOf = Callable[[str], ExpressionResult | None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading of a question, with its result in the graph.

    `found`: the wording of the question that it reads, with all its meanings. `text`: the expression that was
    executed. `of_rows`: it was read over a schema in which nameless nodes (rows, events) are kinds of things.
    """

    meaning: Meaning
    found: Meanings
    text: str
    of_rows: bool
    result: ExpressionResult | None = None


def candidates_of(scorer: PathScorer, given: StepInput, result_of: ResultOf) -> list[Candidate]:
    """Returns the readings that have a result, each expression once, the best score first.

    `result_of` executes an expression; it returns None if there is no result. A question about the present is not read
    by relations that may have ended.
    """
    labels, now = {step.label for step in given.steps}, says_now(given.question)
    chosen: dict[str, Candidate] = {}
    for found, of_rows in all_meanings(scorer, given):
        for meaning in islice(_each_sense(found), MAX_OF_WORDING):
            if now and found.graph.may_be_over(LABEL.findall(meaning.expression)):
                continue
            text = executed(scorer, given, joined(meaning.expression, labels) if of_rows else meaning.expression)
            known = chosen.get(text)
            if known is None or known.meaning.score < meaning.score:
                chosen[text] = Candidate(meaning, found, text, of_rows)
    ranked = sorted(chosen.values(), key=lambda each: -each.meaning.score)[:MAX_EXECUTED]
    return [replace(each, result=result) for each in ranked if (result := result_of(each.text)) is not None]


def _each_sense(found: Meanings) -> Iterator[Meaning]:
    seen: set[tuple[object, ...]] = set()
    for each in found.ranked:
        sense = sense_of(each.expression)
        if sense not in seen:
            seen.add(sense)
            yield each
