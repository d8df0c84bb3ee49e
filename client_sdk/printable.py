"""Text of others made fit to show: names come from data, and may steer a terminal or turn a line around."""

from __future__ import annotations

import unicodedata

_DIRECTION_CHANGERS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """`text` without control characters but line ends and tabs, and without those that change its direction."""
    return "".join(letter for letter in text if letter in "\n\t" or _is_harmless(letter))


def _is_harmless(letter: str) -> bool:
    return unicodedata.category(letter) not in ("Cc", "Cs") and letter not in _DIRECTION_CHANGERS
