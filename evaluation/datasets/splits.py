"""Questions in two halves by hash: the same halves in every run, whatever else is in the set."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

from evaluation.checks.metrics import comparable
from evaluation.datasets.questions import Question


def half_of_wording(wording: str) -> Literal["seen", "unseen"]:
    """Which half of the wordings this one is in; `wording` has X in place of its topic.

    Rules are written by looking at the seen half alone, so that the other tells how they do on what nobody saw.
    """
    return "seen" if _first_byte(wording) < 128 else "unseen"


def split_by_topic(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """(train, test): no topic entity is in both, in this set or in another that is split so too.

    Raises ValueError for a question without exactly one topic entity: it could be in both halves.
    """
    if any(len(question.topic_entities) != 1 for question in questions):
        raise ValueError("a question without exactly one topic entity can't be put in a half")
    trained = [_first_byte(comparable(question.topic_entities[0])) < 128 for question in questions]
    train = [question for question, here in zip(questions, trained, strict=True) if here]
    test = [question for question, here in zip(questions, trained, strict=True) if not here]
    return train, test


def halves_of_topics(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Two halves without a common topic; questions with topics of both, or without one, are in neither."""
    halves: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        sides = {_first_byte(comparable(topic)) < 128 for topic in question.topic_entities}
        if len(sides) == 1:
            halves[0 if True in sides else 1].append(question)
    return halves


def _first_byte(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]
