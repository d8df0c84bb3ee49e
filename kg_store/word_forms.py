"""The words of a text or name as they are compared inexactly: without accents, transliterated, without apostrophes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from kg_store.normalising import is_unspaced

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|&")
_LATIN_ACCENT = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_LATIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
_SHORTENED = {"st": "saint", "mt": "mount", "ft": "fort", "&": "and"}
_STRETCH = re.compile(r"[\w'&][\w'& .,]*")
_NO_BREAK = re.compile(r"[ .,]{0,3}")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a normalised text, without a possessive 's. `joins`: nothing but a space, point or comma parts
    it from the word before. `forms` are its spellings for comparison, plain Latin letters first."""

    start: int
    end: int
    forms: tuple[str, ...] = field(repr=False)
    joins: bool

    @property
    def text(self) -> str:
        return self.forms[0]


def stretches(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where names may stand as a whole: runs of words that nothing but a space, point, comma or & parts."""
    for match in _STRETCH.finditer(text, start, len(text) if end is None else end):
        yield match.start(), match.start() + len(match.group().rstrip(" ,"))


def words_of(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """The words of a normalised text in order. Words of scripts without spaces are left out: their slips are not
    known here."""
    found: list[Word] = []
    last = -1
    for match in _WORD.finditer(text, start, len(text) if end is None else end):
        begin, stop = match.span()
        written = match.group()
        if written.endswith("'s"):
            written, stop = written[:-2], stop - 2
        joins = last >= 0 and _NO_BREAK.fullmatch(text[last:begin]) is not None
        last = match.end()
        if not any(map(is_unspaced, written)):
            found.append(Word(begin, stop, forms_of(written), joins))
        else:
            last = -1
    return found


@lru_cache(maxsize=65_536)
def forms_of(word: str) -> tuple[str, ...]:
    """The spellings under which a normalised word is compared: `müller` as muller and mueller."""
    plain = word.replace("'", "")
    plain = _SHORTENED.get(plain, plain)
    if plain.isascii():
        return (plain,)
    return tuple(dict.fromkeys((without_accents(plain), without_accents(plain.translate(_WRITTEN_OUT)))))


def forget_words() -> None:
    """Empties the memory of `forms_of`: it holds words of names."""
    forms_of.cache_clear()


def without_accents(text: str) -> str:
    """Latin letters alone lose their accents: elsewhere the mark makes another letter."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text.translate(_LATIN_LETTERS))
    return unicodedata.normalize("NFC", _LATIN_ACCENT.sub("", apart))
