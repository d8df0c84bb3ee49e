"""The one question of a turn, without the courtesies around it."""

from __future__ import annotations

import re
from typing import Final

from app.llm.embedded.language.question_words import words_in

_END: Final = re.compile(r"(?<=[?!])\s+")
_COURTESIES: Final = frozenset(
    "hi hello hey thanks thank thx you very much so a lot please pls plz ok okay cheers sorry good morning evening "
    "afternoon names name only just them ones which one list and full in advance".split()
)


def one_question(text: str) -> str:
    """Empty where a turn asks several things."""
    asked = [part for part in _END.split(text.strip()) if not _COURTESIES.issuperset(words_in(part))]
    return asked[0] if len(asked) == 1 else ""
