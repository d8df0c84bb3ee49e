"""Ratings that are typed as commands, `/right` and `/wrong ANSWER`, and the sentences that reply to them."""

from __future__ import annotations

import re
from typing import Final

from client_sdk.protocol import MAX_CORRECT, MAX_CORRECT_CHARS, AnswerRated, RatingWord

NOTHING_TO_RATE: Final = "There is no answer here that can be rated."
_COMMAND: Final = re.compile(r"/(right|wrong)(?:\s+(.*))?", re.DOTALL)


def typed_rating(text: str) -> tuple[RatingWord, list[str]] | None:
    """The rating that a message is, with the right answers that it names; None for every other message."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None:
        return None
    if found[1] == "wrong":
        return "wrong", right_answers(found[2] or "")
    return None if found[2] else ("right", [])


def right_answers(text: str) -> list[str]:
    """The names of a text with semicolons between them."""
    return [name for part in text.split(";") if (name := part.strip()[:MAX_CORRECT_CHARS])][:MAX_CORRECT]


def rated_sentence(told: AnswerRated, corrected: bool) -> str:
    """The reply to a rating; `corrected`: with the right answer."""
    if told.rating == "right":
        return "Thank you: similar questions will lean on this." if told.learnt else "Thank you: noted as right."
    if not corrected:
        return "Thank you: noted as wrong."
    if told.held:
        return (
            "Thank you: noted as wrong. The owner of the graph will look at your answer before anything leans on it."
        )
    if told.learnt:
        return "Thank you: noted as wrong, and similar questions will lean on the way to the right answer."
    return "Thank you: noted as wrong. The graph shows no short way to the answer that you gave."
