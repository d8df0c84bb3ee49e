"""Regular expressions written by owners of graphs, matched by RE2 in time linear in the text, whatever the pattern."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2

_OPTIONS: Final = re2.Options()
# Otherwise RE2 would write the pattern to standard error, past the log's allow-list.
_OPTIONS.log_errors = False


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern, options=_OPTIONS)


def checked(pattern: str) -> str:
    """Returns the pattern. Raises ValueError if RE2 does not accept it, which supports no look-around or back
    reference.
    """
    try:
        _compiled(pattern)
    except (re2.error, UnicodeEncodeError):
        raise ValueError("not a regular expression of RE2 (no look-around, no back reference)") from None
    return pattern


def is_in(pattern: str, text: str) -> bool:
    """True if a checked pattern matches anywhere in `text`."""
    return _compiled(pattern).search(text) is not None
