"""The reply that asks which of two questions was meant, and the turn that chooses one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.privacy.safe_text import SafeDialogue

LEAD: Final = "Did you mean:"
_OR: Final = " Or: "


def did_you_mean(questions: Sequence[str]) -> str:
    """`Did you mean: Who treats X? Or: Whom does X treat?`"""
    return f"{LEAD} {_OR.join(questions)}"


def was_offered(dialogue: SafeDialogue) -> bool:
    """True of a question that the previous turn offered word for word."""
    before = dialogue.turns[-2].text if len(dialogue.turns) > 1 else ""
    offered = before.removeprefix(LEAD).split(_OR) if before.startswith(LEAD) else []
    return _folded(dialogue.question) in map(_folded, offered)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
