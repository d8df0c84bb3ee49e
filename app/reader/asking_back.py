"""Asks back where a question has several readings of about the same worth: `Did you mean`.

Promise: what is offered depends on the question, on the schema that the asker may see and on which relations of it the
named things have; no answer is worked out for it. Each offer is read by the reader as just the expression that it
stands for, and surely.
Limit: readings whose relations make no plain English, or whose words mean something else as well, are not offered.
"""

from __future__ import annotations

from typing import Final

from app.llm.confidence import is_likely
from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import sense_of
from app.reader.meaning.read_meaning import MIN_MARGIN, ReadMeaning, read_meaning
from app.reader.plans.next_action import NextAction
from app.reader.scoring.path_scoring import PathScorer
from app.reader.sentences.question_text import QuestionWriter
from kg_store.text.labels import plain_words

MAX_OFFERED: Final = 2
MAX_TRIED: Final = 4
MAX_WORDINGS: Final = 2


def ask_back(scorer: PathScorer, given: StepInput, found: ReadMeaning | None) -> NextAction | None:
    """An action that answers nothing and offers at most two questions; None where none can be offered."""
    if found is None or _is_answered(found) or not found.is_whole or given.further:
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
    """The readings that lie as near as the best one; of equal ones the shorter first."""
    near = [each for each in (found.meaning, *found.others) if each.score > found.meaning.score - MIN_MARGIN]
    return sorted(near, key=lambda each: (-round(each.score, 2), each.silent, len(each.expression)))[:MAX_TRIED]


def _worded(scorer: PathScorer, given: StepInput, writer: QuestionWriter, meaning: Meaning) -> str:
    """A question that is surely read as `meaning`; empty where none is."""
    wordings = writer.questions(meaning.expression)[:MAX_WORDINGS]
    return next((text for text in wordings if _reads_as(scorer, given, text, meaning)), "")


def _reads_as(scorer: PathScorer, given: StepInput, text: str, meaning: Meaning) -> bool:
    """As it will be read once it is asked: by itself, without the turns before it."""
    read = read_meaning(scorer, given.model_copy(update={"question": text, "dialogue": []}))
    return (
        read is not None and _is_answered(read) and sense_of(read.meaning.expression) == sense_of(meaning.expression)
    )
