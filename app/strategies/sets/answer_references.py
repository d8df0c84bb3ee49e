"""Resolves answers that name a candidate by its number: `way(3)` means everything that candidate 3 leads to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# Text in quotes is a relation's label and must stay as it is.
_WAY = re.compile(r'"[^"]*"|\bway\(\s*(\d{1,4})\s*\)')


def numbers_in(expressions: Sequence[str]) -> list[int]:
    """Returns the numbers of the candidates in `expressions`, each once."""
    found = (match[1] for expression in expressions for match in _WAY.finditer(expression))
    return list(dict.fromkeys(int(number) for number in found if number))


def filled(expression: str, pseudonym_of: Callable[[int], str | None]) -> str:
    """Returns `expression` with a pseudonym for each candidate; one without a pseudonym stays and will not parse."""

    def replace(match: re.Match[str]) -> str:
        return (pseudonym_of(int(match[1])) if match[1] else None) or match[0]

    return _WAY.sub(replace, expression)
