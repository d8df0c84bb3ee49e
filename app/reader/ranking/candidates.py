"""Gathers the readings of a question, whatever words they leave unread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from app.llm.confidence import is_likely
from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import Meanings, sense_of
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.meaning.read_meaning import all_meanings, executed, joined, read_with_others, says_now
from app.reader.scoring.path_scoring import PathScorer

MAX_OF_WORDING, MAX_RANKED = 30, 60
"""Greatest number of readings that are kept of one wording of the question, and in all; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading of a question.

    `found`: the wording of the question that it reads, with all its meanings. `text`: the expression to be executed.
    `of_rows`: it was read over a schema in which nameless nodes (rows, events) are kinds of things. `is_sure`: the
    words decide for it.
    """

    meaning: Meaning
    found: Meanings
    text: str
    of_rows: bool
    is_sure: bool


def candidates_of(scorer: PathScorer, given: StepInput) -> list[Candidate]:
    """Returns at most MAX_RANKED readings, each expression once, the best score first.

    If the words decide for a reading, they are those whose steps are said by words; else also those with steps that
    are only like the whole question. A question about the present is not read by relations that may have ended.
    """
    labels, now = {step.label for step in given.steps}, says_now(given.question)
    read, tried = read_with_others(scorer, given)
    is_read = read is not None and read.is_sure and is_likely(read.scores)
    sure = executed(scorer, given, read.meaning.expression) if read is not None and is_read else ""
    chosen: dict[str, Candidate] = {}
    for found, of_rows in tried if sure else all_meanings(scorer, given):
        for meaning in islice(_each_sense(found), MAX_OF_WORDING):
            text = executed(scorer, given, joined(meaning.expression, labels) if of_rows else meaning.expression)
            if now and text != sure and found.graph.may_be_over(LABEL.findall(meaning.expression)):
                continue
            known = chosen.get(text)
            if known is None or known.meaning.score < meaning.score:
                chosen[text] = Candidate(meaning, found, text, of_rows, text == sure)
    return sorted(chosen.values(), key=lambda each: -each.meaning.score)[:MAX_RANKED]


def _each_sense(found: Meanings) -> Iterator[Meaning]:
    seen: set[tuple[object, ...]] = set()
    for each in found.ranked:
        sense = sense_of(each.expression)
        if sense not in seen:
            seen.add(sense)
            yield each
