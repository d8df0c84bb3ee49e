"""Texts in which pseudonyms stand for things: recognises pseudonyms, and removes them."""

from __future__ import annotations

import re

_PSEUDONYM = re.compile(r"[EVS][a-z0-9]{5}")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def is_pseudonym(word: str) -> bool:
    """True of a word that has the form of a pseudonym, in any conversation."""
    return _PSEUDONYM.fullmatch(word) is not None and any(letter.isdigit() for letter in word)


def asked_words(question: str) -> str:
    """Returns the words of a question without its pseudonyms."""
    return " ".join(word for word in _WORD.findall(question) if not is_pseudonym(word))
