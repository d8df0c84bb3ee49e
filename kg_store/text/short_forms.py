"""Writes in full the short forms that people type in a hurry: "whos" as "who's", "phone no" as "phone number"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kg_store.text.inflection import may_be_noun
from kg_store.text.quantities import Rewording

_WITHOUT_APOSTROPHE: Final = re.compile(
    r"(?<![\w'’-])(?:(what|who|where|when|how|that|there)s|((?:have|has|had|do|does|did|is|are|was|were|could|would"
    r"|should)n)t|(we|they|you|i)ve|(i)m)(?![\w'’-])",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?<=[A-Za-z] )no(?=\.?\s*(?:[?!,;]|\Z|(?:of|for|on|at|is|was|to|with|in|and)\b))", re.IGNORECASE
)
_LAST_WORD: Final = re.compile(r"[A-Za-z]+(?= \Z)")
_NO_NOUNS: Final = frozenset(
    "a an and answer any are been but can could did do does had has have if in is it me may of on or say says said so "
    "than that the them then there they to us was we were what which who will with would yes you".split()
)
"""Words before a "no" that denies, though some of them may be nouns too: "is there no", "yes or no"."""


def in_full(text: str) -> Iterator[Rewording]:
    """Yields a rewording for each short form in `text`.

    Those without an apostrophe get it back. A "no" is short for "number" behind a noun, where no noun follows it.
    """
    for match in _WITHOUT_APOSTROPHE.finditer(text):
        start = next(part for part in match.groups() if part)
        yield Rewording(*match.span(), f"{start}'{match[0][len(start) :]}")
    for match in _NUMBER.finditer(text):
        before = _LAST_WORD.search(text, 0, match.start())
        if before is not None and before[0].lower() not in _NO_NOUNS and may_be_noun(before[0].lower()):
            yield Rewording(*match.span(), "number")
