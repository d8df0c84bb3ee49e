"""Asks back (`Did you mean ...`) if a question has several readings that score about the same.

Promise: the offered questions depend on the question, on the part of the schema that the asker may see and on which of
its relations the named things have; no answer is computed for them. Each offered question, if asked, is read as
exactly the expression that it was made from, and with certainty.

Limit: a reading is not offered if its relations make no plain English, or if its words could mean something else.
"""

from __future__ import annotations

from typing import Final

from app.llm.confidence import is_likely
from app.llm.tasks import StepInput
from app.reader.language.question_words import PREPOSITIONS
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import sense_of
from app.reader.meaning.read_meaning import MIN_MARGIN, ReadMeaning, read_meaning
from app.reader.plans.next_action import NextAction
from app.reader.scoring.path_scoring import PathScorer
from app.reader.sentences.question_text import QuestionWriter
from kg_store.lexicon import kinds_of
from kg_store.text.labels import plain_words

# Questions offered, readings tried and wordings tried of each; few, so that asking back stays short. By hand.
MAX_OFFERED: Final = 2
MAX_TRIED: Final = 4
MAX_WORDINGS: Final = 2


def ask_back(scorer: PathScorer, given: StepInput, found: ReadMeaning | None) -> NextAction | None:
    """Returns an action that answers nothing and offers at most MAX_OFFERED questions;

    None if there is none to offer.
    """
    if found is None or _is_answered(found) or given.further or not (found.is_whole or _is_nearly_whole(given, found)):
        return None
    writer, offered = QuestionWriter(given, plain_words), list[str]()
    for meaning in _near(found) if found.is_whole else [found.meaning]:
        if question := _worded(scorer, given, writer, meaning):
            offered.append(question)
        if len(offered) == MAX_OFFERED:
            break
    return NextAction(0.0, asks_back=tuple(offered)) if offered else None


def _is_answered(found: ReadMeaning) -> bool:
    return found.is_sure and is_likely(found.scores)


def _is_nearly_whole(given: StepInput, found: ReadMeaning) -> bool:
    """True if only a verb is left of a reading that joins all that is named: "which broker offers X" asks for the
    broker of X, as far as the graph can tell. What stands behind a preposition narrows: "on skates".
    """
    if len(found.left) != 1 or "(" not in found.meaning.expression or found.margin < MIN_MARGIN:
        return False
    words = given.question.lower().replace("?", " ").split()
    before = words[words.index(found.left[0]) - 1] if found.left[0] in words[1:] else ""
    is_verb = "v" in kinds_of(found.left[0]) and before not in (*PREPOSITIONS, "the", "a", "an")
    return is_verb and found.meaning.may_be_whole


def _near(found: ReadMeaning) -> list[Meaning]:
    """The readings that score within MIN_MARGIN of the best one, best first; of equal scores the
    shorter comes first.
    """
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
