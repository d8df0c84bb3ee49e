"""Help behind a refusal or a greeting: what is known, and questions that the graph answers.

It is taken out again before turns travel on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from client_sdk.protocol import Message

LEAD: Final = "Questions to try:"
KNOWN: Final = "I do know "


def with_questions(sentence: str, questions: Sequence[str]) -> str:
    """`sentence` with the questions behind it; as it is where there are none."""
    return f"{sentence} {LEAD} {' '.join(questions)}" if questions else sentence


def with_knowledge(sentence: str, known: Sequence[str], kind: str, relations: Sequence[str]) -> str:
    """`sentence` with what the question named and was understood, and what may be asked of the first of that.

    `known`: things with their kind ("Eq7f2k, a ward"); `kind`: that of the first, with its article.
    """
    if not known:
        return sentence
    told = f"{sentence} {KNOWN}{' and '.join(known)}."
    return f"{told} Of {kind} I can tell: {', '.join(relations)}." if relations else told


def without_questions(messages: Iterable[Message]) -> list[Message]:
    """The turns of a dialogue without what `with_knowledge` and `with_questions` told: no later question leans on
    that, and no model needs it."""
    return [_bare(message) if message.role == "assistant" else message for message in messages]


def _bare(message: Message) -> Message:
    said = message.content.partition(LEAD)[0].partition(f" {KNOWN}")[0].strip()
    return message.model_copy(update={"content": said}) if said and said != message.content else message
