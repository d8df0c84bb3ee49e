"""The words of a text: plain forms for comparison, many patterns matched at once between word borders, and the words
that a misspelt one may stand for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Any, Final, NamedTuple

import daachorse
import numpy as np
import numpy.typing as npt
import re2
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from kg_store.errors import StoreError
from kg_store.text.normalise import MARKS, Normalised, is_letters, is_unspaced

_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:'(?:[^\W_]|[{MARKS}])+)*|&")
_LATIN_ACCENT = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_LATIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
# Marks that Arabic and Hebrew may omit, and Arabic letters that are typed for one another.
_OPTIONAL = dict.fromkeys(
    [*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x640, *range(0x64B, 0x660), 0x670]
)
_AS_TYPED = str.maketrans("أإآٱىةکی", "اااايهكي") | _OPTIONAL
_PREFIXES = re.compile("(?:و|ف)?(?:بال|كال|لل|ال|ب|ك|ل)?|[ושכ]?[הבלמש]?")
_MIN_BEHIND_PREFIX = 2
# The case endings of Russian, Ukrainian, Bulgarian and Serbian names, and the endings of their nominatives.
_CASE = re.compile("(?:ами|ями|ого|его|ому|ему|ими|ыми|ой|ою|ей|ею|ым|им|ом|ем|ам|ям|ах|ях|ых|их|[аяуюыиеоі])$")
_NOMINATIVES = ("", "а", "я", "й", "ь", "о", "ий", "ый", "ой", "ая")
_MIN_BEFORE_CASE = 3
_SHORTENED = {"st": "saint", "mt": "mount", "ft": "fort", "&": "and"}
_STRETCH = re.compile(rf"[\w'&][\w{MARKS}'& .,]*")
_NO_BREAK = re.compile(r"[ .,]{0,3}")
PLAIN_WORDS = re.compile("[a-z0-9]+(?: [a-z0-9]+)*")
"""Matches a normalised text of English letters and digits with single spaces: most names, which need no rules."""


class WordForms(NamedTuple):
    """One word of a normalised text, without a possessive 's.

    `joins`: only a space, point or comma separates it from the word before. `forms`: its spellings for comparison,
    plain Latin letters first.
    """

    start: int
    end: int
    forms: tuple[str, ...]
    joins: bool

    def __repr__(self) -> str:
        return f"WordForms({self.start}, {self.end})"  # Without the spellings, which may be a name.

    @property
    def text(self) -> str:
        return self.forms[0]


def folded_text(text: str) -> str:
    """Returns a text without differences of capitals and blanks."""
    return " ".join(text.casefold().split())


def stretches(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yields the places where a whole name may stand: runs of words separated only by a space, point, comma or &."""
    for match in _STRETCH.finditer(text, start, len(text) if end is None else end):
        yield match.start(), match.start() + len(match.group().rstrip(" ,"))


def longest_spans(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Returns the spans that remain, in order, if of overlapping ones the longest is kept, or else the leftmost.

    `length` is the length of the text.
    """
    covered, chosen = bytearray(length), list[tuple[int, int]]()
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if not any(covered[start:end]):
            covered[start:end] = b"\x01" * (end - start)
            chosen.append((start, end))
    return sorted(chosen)


def words_of(text: str, start: int = 0, end: int | None = None) -> list[WordForms]:
    """Returns the words of a normalised text, in order.

    Runs in scripts without spaces are left out and separate the words beside them, because misspellings are not
    handled in such scripts.
    """
    end = len(text) if end is None else end
    if PLAIN_WORDS.fullmatch(text, start, end):
        return _plain_words_of(text[start:end], start)
    found: list[WordForms] = []
    last = -1
    for match in _WORD.finditer(text, start, end):
        for begin, stop in (match.span(),) if match[0].isascii() else _spaced(match):
            written = text[begin:stop]
            joins = last >= 0 and (text[last:begin] == " " or _NO_BREAK.fullmatch(text, last, begin) is not None)
            last = stop if stop == match.end() else -1
            if written[-2:] == "'s":
                written, stop = written[:-2], stop - 2
            if written:
                found.append(WordForms(begin, stop, forms_of(written), joins))
    return found


def _plain_words_of(text: str, start: int) -> list[WordForms]:
    """Returns the words of a text that `PLAIN_WORDS` matches, and which begins at `start`."""
    words = text.split(" ")
    ends = list(accumulate(map(len, words), lambda end, length: end + length + 1, initial=start - 1))
    forms = [(_SHORTENED.get(word, word),) for word in words]
    return [
        WordForms(begin + 1, stop, form, begin >= start)
        for begin, stop, form in zip(ends, ends[1:], forms, strict=False)
    ]


def _spaced(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yields (start, end) of the parts of a word that are in scripts with spaces: "Müller" inside Japanese text."""
    start = match.start()
    for unspaced, run in groupby(match.group(), key=is_unspaced):
        end = start + len(list(run))
        if not unspaced:
            yield start, end
        start = end


@lru_cache(maxsize=65_536)
def forms_of(word: str) -> tuple[str, ...]:
    """Returns the spellings under which a normalised word is compared: muller and mueller for `müller`."""
    plain = word.replace("'", "")
    plain = _SHORTENED.get(plain, plain)
    if plain.isascii():
        return (plain,)
    if _is_semitic(plain):
        return (plain.translate(_AS_TYPED) or plain,)
    return tuple(dict.fromkeys((without_accents(plain), without_accents(plain.translate(_WRITTEN_OUT)))))


def plain_forms_of(name: str) -> list[str]:
    """Returns the only form (`forms_of`) of each word of a text that `PLAIN_WORDS` matches."""
    words = name.split(" ")
    return words if _SHORTENED.keys().isdisjoint(words) else [_SHORTENED.get(word, word) for word in words]


def forget_words() -> None:
    """Empties the cache of `forms_of`, which holds words of names."""
    forms_of.cache_clear()


def behind_prefixes(word: str) -> Iterator[str]:
    """Yields `word` without the articles, prepositions and "and" that Arabic and Hebrew write as part of a word.

    `word` is one of `WordForms.forms`.
    """
    if not _is_semitic(word):
        return
    for length in range(1, len(word) - _MIN_BEHIND_PREFIX + 1):
        if _PREFIXES.fullmatch(word, 0, length):
            yield word[length:]


def nominatives(word: str) -> Iterator[str]:
    """Yields the nominatives of which a Cyrillic `word` may be another grammatical case.

    `word` is one of `WordForms.forms`.
    """
    case = _CASE.search(word) if "\u0400" <= word[:1] <= "\u052f" else None
    if case and case.start() >= _MIN_BEFORE_CASE:
        yield from (word[: case.start()] + ending for ending in _NOMINATIVES)


def _is_semitic(word: str) -> bool:
    return "\u0590" <= word[:1] <= "\u07bf"


def without_accents(text: str) -> str:
    """Returns `text` with accents removed from Latin letters only; in other scripts a mark makes another letter."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text.translate(_LATIN_LETTERS))
    return unicodedata.normalize("NFC", _LATIN_ACCENT.sub("", apart))


Match = tuple[int, int, int]  # Start and end in the normalised text, and the number of the pattern.
_PRIVATE_PLANE = 0xF0000
_SEAM_WINDOW = 2_000
"""The number of characters searched after a removed one; longer names are still found after a visible border."""


@dataclass(frozen=True, slots=True)
class WordMatcher:
    """Finds many patterns in a text at once (Aho-Corasick), at the borders of words.

    Normalised text has no capitals. In text and patterns, the first letter of every word is made a capital; so the
    automaton itself skips most matches that begin inside words, which takes a tenth of the time.
    """

    _automaton: Any = field(repr=False)

    @classmethod
    def of(cls, patterns: Sequence[str]) -> WordMatcher:
        """Builds the matcher. Matches carry the position of their pattern; equal patterns match separately."""
        marked = [_mark_starts(pattern) for pattern in patterns]
        return cls(daachorse.CharwiseDoubleArrayAhoCorasick(marked))

    @classmethod
    def from_bytes(cls, data: bytes) -> WordMatcher:
        """Returns the matcher that `to_bytes` wrote. Raises StoreError on other bytes."""
        try:
            return cls(daachorse.CharwiseDoubleArrayAhoCorasick.deserialize(data))
        except ValueError:
            raise StoreError("the name index holds no valid automaton") from None

    def to_bytes(self) -> bytes:
        return bytes(self._automaton.serialize())

    def matches(self, normalised: Normalised, wanted: bytes | None = None) -> Iterator[Match]:
        """Yields every match that begins and ends at a word border, once each.

        `wanted` has one byte for each pattern; patterns with 0 are skipped.
        """
        text = normalised.text
        marked, length = _mark_starts(text), len(text)
        for start, end, pattern in self._automaton.find_overlapping(marked):
            if wanted is not None and not wanted[pattern]:
                continue
            if end < length and _is_inside_a_word(text[end - 1 : end + 1]) and end not in normalised.seams:
                continue
            if normalised.is_border(start) and _ends_word(normalised, end):
                yield start, end, pattern
        for seam in sorted(normalised.seams):
            for match in self._matches_at_seam(normalised, marked, seam):
                if wanted is None or wanted[match[2]]:
                    yield match

    def whole(self, text: str) -> Iterator[int]:
        """Yields the patterns that equal the whole `text`."""
        for start, end, pattern in self._automaton.find_overlapping(_mark_starts(text)):
            if start == 0 and end == len(text):
                yield pattern

    def _matches_at_seam(self, normalised: Normalised, marked: str, seam: int) -> Iterator[Match]:
        """Yields the matches that begin at `seam`, where an invisible character was removed.

        The character may have separated two words, so a match may begin there.
        """
        window = _mark_starts(normalised.text[seam : seam + _SEAM_WINDOW])
        if not window or window[0] == marked[seam]:
            return
        for start, end, pattern in self._automaton.find_overlapping(window):
            if start == 0 and _ends_word(normalised, seam + end):
                yield seam, seam + end, pattern


_BYTES_OF_A_WORD: Final = 8
_BITS_A_PATTERN: Final = 16
_ODD: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
"""Multipliers that each spread keys over the bits: Knuth's for 64 bits, and one of xxHash."""
_IN_PLAIN_WORDS: Final = np.array([chr(byte).isascii() and chr(byte).isalnum() for byte in range(256)])


@dataclass(frozen=True, slots=True)
class LastWords:
    """The last words of many patterns, by which most searches for a pattern that ends with some word can be left out.

    Promise: `may_hold` is True for the last word of each pattern. Limit: of other words it is True for one in fifty,
    and for all with other characters than English letters and digits.
    """

    _bits: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, texts: bytes, ends: npt.NDArray[np.int64]) -> LastWords:
        """Builds the filter of patterns that follow one another in `texts`, each up to its place in `ends`."""
        data, starts = np.frombuffer(texts, dtype=np.uint8), np.concatenate(([0], ends))[: len(ends)]
        keys, goes_on = np.zeros(len(ends), dtype=np.uint64), np.ones(len(ends), dtype=np.bool_)
        for back in range(1, _BYTES_OF_A_WORD + 1):
            goes_on &= ends - back >= starts
            letters = data[np.where(goes_on, ends - back, 0)]
            goes_on &= _IN_PLAIN_WORDS[letters]
            keys = np.where(goes_on, keys << np.uint64(8) | letters, keys)
        size = max(10, (len(ends) * _BITS_A_PATTERN).bit_length())
        bits = np.zeros(1 << size, dtype=np.bool_)
        for odd in _ODD:
            bits[keys * np.uint64(odd) >> np.uint64(64 - size)] = True
        return cls(np.packbits(bits, bitorder="little").tobytes())

    def may_hold(self, word: str) -> bool:
        """Returns False if no pattern ends with `word`, which is in lower case, between word borders."""
        if not self._bits or not (word.isascii() and word.isalnum()):
            return True
        key = int.from_bytes(word[-_BYTES_OF_A_WORD:].encode(), "little")
        size = (len(self._bits) * 8).bit_length() - 1
        places = ((key * odd & (1 << 64) - 1) >> 64 - size for odd in _ODD)
        return all(self._bits[at >> 3] >> (at & 7) & 1 for at in places)


def _is_inside_a_word(pair: str) -> bool:
    """Returns True if `pair`, a match's last character and the one behind it, are ASCII letters or digits.

    Then the match is only the beginning of a longer word. It is a cheap first test.
    """
    return pair.isalnum() and pair.isascii()


def _ends_word(normalised: Normalised, end: int) -> bool:
    if not normalised.is_border(end):
        return False
    # "don't" does not mention Don, because the ending 't, unlike 's, never follows a name.
    text = normalised.text
    return not (text.startswith("'t", end) and text[end - 1] == "n" and normalised.is_border(end + 2))


def _mark_starts(text: str) -> str:
    """Returns the text with a capital first letter in every word. Raises StoreError if its length changes."""
    marked = text.title() if text.isascii() else text.translate(_ONE_TO_ONE).title()
    if len(marked) != len(text):
        raise StoreError("a text can't be searched for names")
    return marked


class _OneToOne(dict[int, str]):
    """A translation table that keeps the length of a text when its letters are made capitals.

    A letter whose capital has several characters (ΐ) is replaced by a private character without case.
    """

    def __missing__(self, code: int) -> str:
        kept = chr(code) if len(chr(code).title()) == 1 else chr(_PRIVATE_PLANE + code)
        self[code] = kept
        return kept


_ONE_TO_ONE = _OneToOne()


MIN_LENGTH = 4
_TWO_SLIPS_FROM = 9


def slips_allowed(length: int) -> int:
    """Returns how many letters may be added, missing, changed or swapped in a word of this length."""
    if length < MIN_LENGTH:
        return 0
    return 2 if length >= _TWO_SLIPS_FROM else 1


@dataclass(frozen=True, slots=True)
class NearWords:
    """An index of words that finds those a few slips away (a slip: a letter added, missing, changed or swapped).

    It holds the words by length, each with the set of its letters as bits; one slip changes at most two bits.
    Comparing the bits of a whole vocabulary takes a fraction of a millisecond and leaves few words to compare in full.
    """

    _words: npt.NDArray[np.object_] = field(repr=False)
    _ids: npt.NDArray[np.int64] = field(repr=False)
    _letters: npt.NDArray[np.uint32] = field(repr=False)
    _starts: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, words: Sequence[str]) -> NearWords:
        """Builds the index; `near` returns positions in `words`. Words that are short or hold digits are left out."""
        kept = [at for at, word in enumerate(words) if len(word) >= MIN_LENGTH and is_letters(word)]
        kept.sort(key=lambda at: len(words[at]))
        lengths = [len(words[at]) for at in kept]
        starts = np.searchsorted(lengths, np.arange((lengths[-1] if lengths else 0) + 2))
        letters = np.fromiter((_bits(words[at]) for at in kept), dtype=np.uint32, count=len(kept))
        ids = np.array(kept, dtype=np.int64)
        spelt = np.array([words[at] for at in kept], dtype=np.object_)
        return cls(spelt, ids, letters, tuple(starts.tolist()))

    def near(self, word: str) -> dict[int, int]:
        """Returns the words within the slips that the length of `word` allows, as position -> number of slips."""
        slips = slips_allowed(len(word) + 1)
        if not slips or not is_letters(word):
            return {}
        first, last = self._start(len(word) - slips), self._start(len(word) + slips + 1)
        changed = np.bitwise_count(self._letters[first:last] ^ np.uint32(_bits(word)))
        able = np.flatnonzero(changed <= 2 * slips) + first
        words = self._words[able].tolist()
        distances = cdist((word,), words, scorer=OSA.distance, score_cutoff=slips, dtype=np.uint8)[0]
        ids = self._ids[able].tolist()
        near = np.flatnonzero(distances <= slips).tolist()
        return {ids[at]: int(distances[at]) for at in near if distances[at] <= slips_allowed(len(words[at]))}

    def _start(self, length: int) -> int:
        return self._starts[min(max(length, 0), len(self._starts) - 1)]


def _bits(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 32)
    return bits


_OPTIONS: Final = re2.Options()
# Without this, RE2 writes a bad pattern to standard error, bypassing the log's allow-list.
_OPTIONS.log_errors = False


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern, options=_OPTIONS)


def checked_pattern(pattern: str) -> str:
    """Returns the pattern. Raises ValueError if RE2 does not accept it (no look-around or back reference)."""
    try:
        _compiled(pattern)
    except (re2.error, UnicodeEncodeError):
        raise ValueError("not a regular expression of RE2 (no look-around, no back reference)") from None
    return pattern


def pattern_is_in(pattern: str, text: str) -> bool:
    """Returns True if `pattern` (from `checked_pattern`) matches anywhere in `text`."""
    return _compiled(pattern).search(text) is not None


_PSEUDONYM = re.compile(r"[EVS][a-z0-9]{5}")
_ASKED_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def is_pseudonym(word: str) -> bool:
    """Returns True for a word that has the form of a pseudonym, in any conversation."""
    return _PSEUDONYM.fullmatch(word) is not None and any(letter.isdigit() for letter in word)


def asked_words(question: str) -> str:
    """Returns the words of a question without its pseudonyms."""
    return " ".join(word for word in _ASKED_WORD.findall(question) if not is_pseudonym(word))
