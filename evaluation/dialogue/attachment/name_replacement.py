"""Replaces names in texts: the longest first, whole words alone, in capitals or not."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Part of a longer word or name: a letter beside it, or one beyond a hyphen or an apostrophe ("Anne-Rose", "O'Rose").
# Behind it a hyphen joins where a capital follows: "Rose-Marie" is another name, "Rose-coloured" holds it.
_BEFORE = r"(?<!\w)(?<!\w-)(?<!\w['’])"
_AFTER = r"(?!\w)(?!-(?-i:[A-Z]))"


class NameReplacement:
    """Promise: no other word that contains a name is touched ("Rose" in "Rosewood"), and no replacement is replaced
    again. Limit: nicknames and misspellings stay."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._replacements = {_spelling(name): word for name, word in replacements.items() if name.strip()}
        # Longest first, or "New York" would hide inside "New York Times".
        self._names = sorted(self._replacements, key=lambda name: (-len(name), name))
        alternatives = "|".join(map(_any_spacing, self._names))
        self._pattern = re.compile(f"{_BEFORE}(?:{alternatives}){_AFTER}", re.IGNORECASE) if self._names else None

    def apply(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._replacement_of(match.group()), text)

    def _replacement_of(self, found: str) -> str:
        if (word := self._replacements.get(_spelling(found))) is not None:
            return word
        # A pattern takes letters for the same that small letters keep apart: the long s and s.
        name = next(name for name in self._names if re.fullmatch(_any_spacing(name), found, re.IGNORECASE))
        return self._replacements[name]


def _any_spacing(name: str) -> str:
    return r"\s+".join(re.escape(word) for word in name.split())


def _spelling(name: str) -> str:
    return " ".join(name.lower().split())
