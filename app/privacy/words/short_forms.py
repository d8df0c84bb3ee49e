"""Writes in full the short forms that people type in a hurry: "whos" as "who's", "phone no" as "phone number"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from kg_store.lexicon.lexicon import kinds_of
from kg_store.text.english import zipf_frequency
from kg_store.text.quantities import Rewording

_WITHOUT_APOSTROPHE: Final = re.compile(
    r"(?<![\w'’-])(?:(what|who|where|when|how|that|there)s|((?:have|has|had|do|does|did|is|are|was|were|ca|wo|could"
    r"|would|should)n)t|(we|they|you|i)ve|(i)m)(?![\w'’-])",
    re.IGNORECASE,
)
_SHORT: Final = frozenset(
    """whats whos wheres whens hows thats theres havent hasnt hadnt dont doesnt didnt isnt arent wasnt werent cant wont
    couldnt wouldnt shouldnt weve theyve youve ive im""".split()
)
"""All that `_WITHOUT_APOSTROPHE` matches, in lower case."""

_NUMBER: Final = re.compile(
    r"\b([a-z]+) (no)\b(?=\.?\s*(?:[?!,;]|\Z|(?:of|for|on|at|is|was|to|with|in|and)\b))", re.IGNORECASE
)
MAX_NOUN_ZIPF: Final = 5.8
"""Nouns that are more frequent are other words first: "can", "will", "say". Chosen by hand."""


def in_full(text: str, words: Collection[str]) -> Iterator[Rewording]:
    """Yields a rewording for each short form in `text`, which has the `words` (in lower case).

    Those without an apostrophe get it back. A "no" is short for "number" behind a noun, where no noun follows it.
    """
    for match in () if _SHORT.isdisjoint(words) else _WITHOUT_APOSTROPHE.finditer(text):
        start = next(part for part in match.groups() if part)
        yield Rewording(*match.span(), f"{start}'{match[0][len(start) :]}")
    for match in _NUMBER.finditer(text) if "no" in words else ():
        noun = match[1].lower()
        if "n" in kinds_of(noun) and zipf_frequency(noun) < MAX_NOUN_ZIPF:
            yield Rewording(*match.span(2), "number")
