"""Gathers the readings of a question, whatever words they leave unread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import Meanings, sense_of
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.meaning.read_meaning import all_meanings, executed, joined, says_now
from app.reader.scoring.path_scoring import PathScorer

MAX_OF_WORDING, MAX_RANKED = 30, 60
"""Greatest number of readings that are kept of one wording of the question, and in all; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading of a question.

    `found`: the wording of the question that it reads, with all its meanings. `text`: the expression to be executed.
    `of_rows`: it was read over a schema in which nameless nodes (rows, events) are kinds of things.
    """

    meaning: Meaning
    found: Meanings
    text: str
    of_rows: bool


def candidates_of(scorer: PathScorer, given: StepInput) -> list[Candidate]:
    """Returns at most MAX_RANKED readings, each expression once, the best score first.

    A question about the present is not read by relations that may have ended.
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
    return sorted(chosen.values(), key=lambda each: -each.meaning.score)[:MAX_RANKED]


def _each_sense(found: Meanings) -> Iterator[Meaning]:
    seen: set[tuple[object, ...]] = set()
    for each in found.ranked:
        sense = sense_of(each.expression)
        if sense not in seen:
            seen.add(sense)
            yield each
