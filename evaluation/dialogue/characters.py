"""Asks a character about its story, and judges the replies: `arog eval character`.

The questions are JSON: `{"questions": [{"text", "expect", "refuse"}]}`. A reply is right if it has one of the words of
each list in `expect`, in any case; a question with `refuse` is right if it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.characters import Character
from app.memory.episodes.narrative import episodes_of
from evaluation.datasets.questions import QuestionsError
from evaluation.tables.measures import Measure, share

MIN_RIGHT: Final = 0.8
"""16 of 20 questions."""


class StoryQuestion(BaseModel):
    """A question about a story. `expect`: lists of words of which a right reply has one each."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)
    text: str
    expect: list[list[str]] = []
    refuse: bool = False


class _Questions(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)
    questions: list[StoryQuestion]


@dataclass(frozen=True, slots=True)
class StoryOutcome:
    question: StoryQuestion
    reply: str = field(repr=False)
    is_refused: bool = False

    @property
    def is_right(self) -> bool:
        said = self.reply.casefold()
        found = all(any(word.casefold() in said for word in words) for words in self.question.expect)
        return self.is_refused if self.question.refuse else not self.is_refused and found

    @property
    def told(self) -> str:
        return f"{self.question.text}\nexpected: {self.question.expect or 'refusal'}\nreply: {self.reply}"


def read_story_questions(file: Path) -> list[StoryQuestion]:
    """Reads the questions of a story. Raises QuestionsError."""
    try:
        return _Questions.model_validate_json(file.read_bytes()).questions
    except ValidationError:
        raise QuestionsError("the file holds no questions about a story") from None


def run_character(story: str, questions: Sequence[StoryQuestion], embedder: Embedder) -> list[StoryOutcome]:
    """Asks who tells the story, who knows all of its episodes."""
    character = Character("", episodes_of(story, embedder), embedder)
    replies = [character.reply(question.text) for question in questions]
    return [
        StoryOutcome(question, reply.text, reply.is_refused)
        for question, reply in zip(questions, replies, strict=True)
    ]


def character_measures(outcomes: Sequence[StoryOutcome]) -> list[Measure]:
    told = [each for each in outcomes if not each.question.refuse]
    untold = [each for each in outcomes if each.question.refuse]
    return [
        share("questions about the story answered rightly", _right(outcomes), len(outcomes), MIN_RIGHT),
        share("of these: what the story tells", _right(told), len(told)),
        share("of these: what it does not tell, refused", _right(untold), len(untold)),
    ]


def _right(outcomes: Sequence[StoryOutcome]) -> float:
    return sum(each.is_right for each in outcomes) / max(1, len(outcomes))
