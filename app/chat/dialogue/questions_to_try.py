"""Help after a refusal or a greeting: what was understood, and questions that the graph answers.

It is removed from turns before they are used again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from client_sdk.protocol import Message

LEAD: Final = "Questions to try:"
KNOWN: Final = "I do know "


def with_questions(sentence: str, questions: Sequence[str]) -> str:
    """Returns `sentence` followed by the questions; unchanged if there are none."""
    return f"{sentence} {LEAD} {' '.join(questions)}" if questions else sentence


def with_knowledge(sentence: str, known: Sequence[str], kind: str, relations: Sequence[str]) -> str:
    """Returns `sentence` followed by what was understood, and by what may be asked about the first of these.

    `known`: things with their kind ("Eq7f2k, a ward"); `kind`: the kind of the first, with its article.
    """
    if not known:
        return sentence
    told = f"{sentence} {KNOWN}{' and '.join(known)}."
    return f"{told} Of {kind} I can tell: {', '.join(relations)}." if relations else told


def without_questions(messages: Iterable[Message]) -> list[Message]:
    """Returns the turns without the help that `with_knowledge` and `with_questions` added; later questions never refer
    to it.
    """
    return [_bare(message) if message.role == "assistant" else message for message in messages]


def _bare(message: Message) -> Message:
    said = message.content.partition(LEAD)[0].partition(f" {KNOWN}")[0].strip()
    return message.model_copy(update={"content": said}) if said and said != message.content else message
