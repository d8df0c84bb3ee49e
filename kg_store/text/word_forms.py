"""The words of a text or name as they are compared inexactly: without accents, transliterated, without apostrophes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from kg_store.text.normalise import MARKS, is_unspaced

_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:'(?:[^\W_]|[{MARKS}])+)*|&")
_LATIN_ACCENT = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_LATIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
# Marks and strokes that Arabic and Hebrew may leave out, and letters that are typed for one another.
_OPTIONAL = dict.fromkeys(
    [*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x640, *range(0x64B, 0x660), 0x670]
)
_AS_TYPED = str.maketrans("أإآٱىةکی", "اااايهكي") | _OPTIONAL
_PREFIXES = re.compile("(?:و|ف)?(?:بال|كال|لل|ال|ب|ك|ل)?|[ושכ]?[הבלמש]?")
_MIN_BEHIND_PREFIX = 2
# Cases of Russian, Ukrainian, Bulgarian and Serbian names, and what they may be the case of.
_CASE = re.compile("(?:ами|ями|ого|его|ому|ему|ими|ыми|ой|ою|ей|ею|ым|им|ом|ем|ам|ям|ах|ях|ых|их|[аяуюыиеоі])$")
_NOMINATIVES = ("", "а", "я", "й", "ь", "о", "ий", "ый", "ой", "ая")
_MIN_BEFORE_CASE = 3
_SHORTENED = {"st": "saint", "mt": "mount", "ft": "fort", "&": "and"}
_STRETCH = re.compile(rf"[\w'&][\w{MARKS}'& .,]*")
_NO_BREAK = re.compile(r"[ .,]{0,3}")


@dataclass(frozen=True, slots=True)
class WordForms:
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
    """The places where names may stand as a whole: runs of words that nothing but a space, point, comma or & parts."""
    for match in _STRETCH.finditer(text, start, len(text) if end is None else end):
        yield match.start(), match.start() + len(match.group().rstrip(" ,"))


def words_of(text: str, start: int = 0, end: int | None = None) -> list[WordForms]:
    """The words of a normalised text in order. Runs of scripts without spaces are left out, and part the words beside
    them: their slips are not known here."""
    found: list[WordForms] = []
    last = -1
    for match in _WORD.finditer(text, start, len(text) if end is None else end):
        for begin, stop in _spaced(match):
            written = text[begin:stop]
            joins = last >= 0 and _NO_BREAK.fullmatch(text[last:begin]) is not None
            last = stop if stop == match.end() else -1
            if written.endswith("'s"):
                written, stop = written[:-2], stop - 2
            if written:
                found.append(WordForms(begin, stop, forms_of(written), joins))
    return found


def _spaced(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """The runs of a word whose script writes spaces: Müller in a Japanese sentence is a word of its own."""
    if match.group().isascii():
        yield match.span()
        return
    start = match.start()
    for unspaced, run in groupby(match.group(), key=is_unspaced):
        end = start + len(list(run))
        if not unspaced:
            yield start, end
        start = end


@lru_cache(maxsize=65_536)
def forms_of(word: str) -> tuple[str, ...]:
    """The spellings under which a normalised word is compared: `müller` as muller and mueller."""
    plain = word.replace("'", "")
    plain = _SHORTENED.get(plain, plain)
    if plain.isascii():
        return (plain,)
    if _is_semitic(plain):
        return (plain.translate(_AS_TYPED) or plain,)
    return tuple(dict.fromkeys((without_accents(plain), without_accents(plain.translate(_WRITTEN_OUT)))))


def forget_words() -> None:
    """Empties the memory of `forms_of`: it holds words of names."""
    forms_of.cache_clear()


def behind_prefixes(word: str) -> Iterator[str]:
    """`word` (a form) without the articles, prepositions and "and" that Arabic and Hebrew write in front of it."""
    if not _is_semitic(word):
        return
    for length in range(1, len(word) - _MIN_BEHIND_PREFIX + 1):
        if _PREFIXES.fullmatch(word, 0, length):
            yield word[length:]


def nominatives(word: str) -> Iterator[str]:
    """The words that a Cyrillic `word` (a form) may be a case of."""
    case = _CASE.search(word) if "\u0400" <= word[:1] <= "\u052f" else None
    if case and case.start() >= _MIN_BEFORE_CASE:
        yield from (word[: case.start()] + ending for ending in _NOMINATIVES)


def _is_semitic(word: str) -> bool:
    return "\u0590" <= word[:1] <= "\u07bf"


def without_accents(text: str) -> str:
    """Latin letters alone lose their accents: elsewhere the mark makes another letter."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text.translate(_LATIN_LETTERS))
    return unicodedata.normalize("NFC", _LATIN_ACCENT.sub("", apart))
