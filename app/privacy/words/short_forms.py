"""Writes in full the short forms that people type in a hurry: "whos" as "who's", "phone no" as "phone number"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from kg_store.lexicon.lexicon import kinds_of
from kg_store.text.english import zipf_frequency
from kg_store.text.quantities import Rewording
from kg_store.text.words import is_pseudonym

_SHORT: Final = frozenset(
    """whats whos wheres whens hows thats theres havent hasnt hadnt dont doesnt didnt isnt arent wasnt werent cant wont
    couldnt wouldnt shouldnt weve theyve youve ive im""".split()
)
_WITHOUT_APOSTROPHE: Final = re.compile(rf"(?<![\w'’-])({'|'.join(sorted(_SHORT))})(?![\w'’-])", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"\b([a-z]+) (no)\b(?=\.?\s*(?:[?!,;]|\Z|(?:of|for|on|at|is|was|to|with|in|and)\b|([\w/-]*\d[\w/-]*)))",
    re.IGNORECASE,
)
MAX_NOUN_ZIPF: Final = 5.8
"""Nouns that are more frequent are other words first: "can", "will", "say". Chosen by hand."""


def in_full(text: str, words: Collection[str]) -> Iterator[Rewording]:
    """Yields a rewording for each short form in `text`, which has the `words` (in lower case).

    Those without an apostrophe get it back. A "no" is short for "number" behind a noun, where no noun follows it but
    maybe a code with a digit: "member no M-170".
    """
    for match in () if _SHORT.isdisjoint(words) else _WITHOUT_APOSTROPHE.finditer(text):
        ending = 2 if match[0].lower().endswith("ve") else 1
        yield Rewording(*match.span(), f"{match[0][:-ending]}'{match[0][-ending:]}")
    for match in _NUMBER.finditer(text) if "no" in words else ():
        noun = match[1].lower()
        if match[3] and is_pseudonym(match[3]):
            continue  # It stands for a name, which may have no digit.
        if "n" in kinds_of(noun) and zipf_frequency(noun) < MAX_NOUN_ZIPF:
            yield Rewording(*match.span(2), "number")
