"""Asks back (`Did you mean ...`) if a question has several readings that score about the same.

Promise: the offered questions depend on the question, on the part of the schema that the asker may see and on which of
its relations the named things have; no answer is computed for them. Each offered question, if asked, is read as
exactly the expression that it was made from, and with certainty.

Limit: a reading is not offered if its relations make no plain English, or if its words could mean something else.
"""

from __future__ import annotations

from typing import Final

from app.llm.confidence import confidence_of, is_likely
from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import sense_of
from app.reader.meaning.read_meaning import MIN_MARGIN, ReadMeaning, read_meaning
from app.reader.plans.next_action import NextAction
from app.reader.scoring.path_scoring import PathScorer
from app.reader.sentences.question_text import QuestionWriter
from kg_store.text.labels import plain_words

# Questions offered, readings tried and wordings tried of each; few, so that asking back stays short. By hand.
MAX_OFFERED: Final = 2
MAX_TRIED: Final = 4
MAX_WORDINGS: Final = 2
MIN_OFFERED: Final = 0.35
"""Least confidence of the nearest reading that is offered though words are left over. Chosen by hand."""


def ask_back(scorer: PathScorer, given: StepInput, found: ReadMeaning | None) -> NextAction | None:
    """Returns an action that answers nothing and offers at most MAX_OFFERED questions;

    None if there is none to offer.
    """
    if found is None or _is_answered(found) or given.further:
        return None
    writer, offered = QuestionWriter(given, plain_words), list[str]()
    for meaning in _near(found):
        if question := _worded(scorer, given, writer, meaning):
            offered.append(question)
        if len(offered) == MAX_OFFERED:
            break
    return NextAction(0.0, asks_back=tuple(offered)) if offered else None


def _is_answered(found: ReadMeaning) -> bool:
    return found.is_sure and is_likely(found.scores)


def _near(found: ReadMeaning) -> list[Meaning]:
    """The readings that may have been meant, the likeliest first.

    Those that score within MIN_MARGIN of the best one, of equal scores the shorter first; where none explains the
    whole question, those most like it.
    """
    if not found.is_whole:
        nearest = found.nearest
        return (
            list(nearest.ranked[:MAX_TRIED])
            if nearest and confidence_of(nearest.scores, doubtful_names=False) >= MIN_OFFERED
            else []
        )
    near = [each for each in (found.meaning, *found.others) if each.score > found.meaning.score - MIN_MARGIN]
    return sorted(near, key=lambda each: (-round(each.score, 2), each.silent, len(each.expression)))[:MAX_TRIED]


def _worded(scorer: PathScorer, given: StepInput, writer: QuestionWriter, meaning: Meaning) -> str:
    """Returns a question that is read as `meaning` with certainty, or an empty string if there is none."""
    wordings = writer.questions(meaning.expression)[:MAX_WORDINGS]
    return next((text for text in wordings if _reads_as(scorer, given, text, meaning)), "")


def _reads_as(scorer: PathScorer, given: StepInput, text: str, meaning: Meaning) -> bool:
    """True if `text`, asked alone and without the turns before it, is read with certainty as `meaning`."""
    read = read_meaning(scorer, given.model_copy(update={"question": text, "dialogue": []}))
    return (
        read is not None and _is_answered(read) and sense_of(read.meaning.expression) == sense_of(meaning.expression)
    )
