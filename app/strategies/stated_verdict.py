"""The yes or no that the sentence of a draft states in words of its own."""

from __future__ import annotations

import re
from typing import Final

_YES: Final = frozenset("yes yeah yep yup correct true indeed right ja oui si sí sì sim tak da".split())
_NO: Final = frozenset("no nope incorrect false nein non nee nej não nie".split())
_DENIAL: Final = re.compile(
    r"\b(?:no|not|none|never|nobody|nothing|neither|cannot|nicht|kein\w*|pas|aucun\w*)\b|n['’]t\b", re.IGNORECASE
)
_FIRST: Final = re.compile(r"[^\w{]*(\w+)(\W|$)")
_PART: Final = re.compile(r"\{\s*\d+\s*[:}]")


def stated_verdict(text: str, is_denied: bool) -> bool | None:
    """None where `text` leaves it to `{1}`, or nothing can be told.

    `is_denied`: the question or the expression leaves something out, so that a "not" in `text` may be theirs.
    """
    first = _FIRST.match(text)
    if first is None:
        return None
    word, ends = first[1].casefold(), first[2] in ("", ",", ".", ":", ";", "!", "—", "-")
    if word in _YES:
        return True
    if word in _NO and (ends or not is_denied):
        return False
    if is_denied:
        return None
    if _DENIAL.search(text):
        return False
    return None if _PART.search(text) else True
