"""Questions that a graph answers, told behind a refusal or a greeting, and taken out again before turns travel on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from client_sdk.protocol import Message

LEAD: Final = "Questions to try:"


def with_questions(sentence: str, questions: Sequence[str]) -> str:
    """`sentence` with the questions behind it; as it is where there are none."""
    return f"{sentence} {LEAD} {' '.join(questions)}" if questions else sentence


def without_questions(messages: Iterable[Message]) -> list[Message]:
    """The turns of a dialogue without what `with_questions` told: no later question leans on that, and no model needs
    it."""
    return [
        message.model_copy(update={"content": message.content.partition(LEAD)[0].strip() or message.content})
        if message.role == "assistant" and LEAD in message.content
        else message
        for message in messages
    ]
