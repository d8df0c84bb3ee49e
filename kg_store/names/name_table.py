"""NameTable: the names of a graph as rows of words, found by word, by joined letters, or by initials."""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import accumulate, chain
from string import ascii_lowercase
from typing import Any

import numpy as np
import numpy.typing as npt

from kg_store.errors import FormatTooNewError, StoreError
from kg_store.lexicon.lexicon import in_lexicon, places_called
from kg_store.terms import Mids
from kg_store.text.english import PublicWords, frequent_ordinary, is_ordinary
from kg_store.text.normalise import is_letters, normalise
from kg_store.text.words import PLAIN_WORDS, NearWords, WordForms, plain_forms_of, words_of

Numbers = npt.NDArray[np.int32]
_NO_ROWS = np.empty(0, dtype=np.int32)

SMALL_WORDS = frozenset(
    ("a", "an", "the", "of", "and", "in", "at", "on", "for", "de", "la", "le", "der", "von", "van")
)
ROMAN_NUMERALS = frozenset("ii iii iv vi vii viii ix xi xii xiii xiv xv xvi".split())
"""Numbers of kings and the like. One is never a misspelling of another, and an initial does not stand for one."""

_SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv", "phd", "md", "inc", "ltd", "llc", "corp", "co", "company"))
_TELL_NOTHING = SMALL_WORDS | _SUFFIXES | frozenset(ascii_lowercase)
_MIN_JOINED_LENGTH = 5
_MIN_STEM_LENGTH = 4
_OF_NAMES = ("ism", "s", "")
_OF_A_PLACE = ("ists", "ist", "ians", "ian", "ans", "an", "ns", "n", "ese", "ish", "ic", "is")
_VOWELS = "aeiouy"


@dataclass(frozen=True, slots=True)
class NameRow:
    """One name of the table.

    `words`: the numbers of its words; `spelt`: the words themselves. `needed`: flags for the words that a mention
    cannot leave out; "the", "Jr.", initials and text in parentheses can be left out.
    """

    words: tuple[int, ...] = field(repr=False)
    spelt: tuple[str, ...] = field(repr=False)
    needed: tuple[bool, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RowPlaces:
    """The words of several rows (names), one after another; those of row i stand from begins[i] to ends[i]."""

    words: Numbers = field(repr=False)
    needed: npt.NDArray[np.bool_] = field(repr=False)
    begins: npt.NDArray[np.int64] = field(repr=False)
    lengths: npt.NDArray[np.int64] = field(repr=False)

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        return self.begins + self.lengths


@dataclass(frozen=True, slots=True)
class NameTable:
    """The names of one graph version as rows in arrays; a name takes about 70 bytes."""

    words: tuple[str, ...] = field(repr=False)
    _initials: npt.NDArray[np.uint8] = field(repr=False)
    _number_of: dict[str, int] = field(repr=False)
    _flat: Numbers = field(repr=False)
    _needed: npt.NDArray[np.bool_] = field(repr=False)
    _ends: Numbers = field(repr=False)
    _held_by: Numbers = field(repr=False)
    _held_ends: Numbers = field(repr=False)
    _mids: Mids = field(repr=False)
    _mid_ends: Numbers = field(repr=False)
    _key_hashes: Mids = field(repr=False)
    _key_rows: Numbers = field(repr=False)
    _key_numbers: memoryview = field(init=False, repr=False)
    """The hashes as a memoryview, because reading single numbers from it is much faster than from a numpy array."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_key_numbers", self._key_hashes.data)

    @classmethod
    def of(cls, names: Iterable[tuple[str, tuple[int, ...]]]) -> NameTable:
        """Builds the table. `names` are normalised, each with the nodes of that name."""
        number_of: defaultdict[str, int] = defaultdict()
        number_of.default_factory = number_of.__len__  # A word that is met for the first time gets the next number.
        rows: dict[tuple[int, ...], tuple[tuple[bool, ...], tuple[int, ...]]] = {}
        hashed, counts = bytearray(), array("i")
        for name, mids in names:
            for spelt, needed in _variants(name):
                numbers = tuple(map(number_of.__getitem__, spelt))
                row = rows.get(numbers)
                if row is None:
                    keys = _keys_of(spelt)
                    counts.append(len(keys))
                    hashed += _digests_of(keys)
                rows[numbers] = (needed, mids) if row is None else (row[0], (*row[1], *mids))
        words = tuple(number_of)
        flat = _numbers(chain.from_iterable(rows))
        owner = np.repeat(np.arange(len(rows), dtype=np.int32), [*map(len, rows)])
        hashes, keyed = _hashes_in(hashed), np.repeat(np.arange(len(rows), dtype=np.int32), counts)
        order = np.lexsort((keyed, hashes))
        mids_of_rows = [sorted(set(mids)) if len(mids) > 1 else mids for _, mids in rows.values()]
        return cls(
            words, _initials_of(words), dict(number_of), flat,
            np.fromiter(chain.from_iterable(needed for needed, _ in rows.values()), dtype=np.bool_),
            _numbers(accumulate(map(len, rows))), owner[np.lexsort((owner, flat))],
            np.cumsum(np.bincount(flat, minlength=len(words))).astype(np.int32),
            np.fromiter(chain.from_iterable(mids_of_rows), dtype=np.int64),
            _numbers(accumulate(map(len, mids_of_rows))),
            hashes[order], keyed[order],
        )  # fmt: skip

    def sections(self) -> list[bytes]:
        """Returns the table as unencrypted bytes. The name index includes them, and its caller encrypts it."""
        arrays = (getattr(self, name) for name, _ in _ARRAYS)
        return ["\n".join(self.words).encode(), *(array.tobytes() for array in arrays)]

    @classmethod
    def of_sections(cls, sections: Sequence[memoryview]) -> NameTable:
        """Returns the table that `sections` wrote. Raises StoreError on other bytes."""
        if len(sections) != 1 + len(_ARRAYS):
            raise StoreError("the name index has the wrong number of sections")
        joined = bytes(sections[0]).decode()
        words = tuple(joined.split("\n")) if joined else ()
        try:
            paired = zip(sections[1:], _ARRAYS, strict=True)
            arrays: list[npt.NDArray[Any]] = [np.frombuffer(each, kind).copy() for each, (_, kind) in paired]
        except ValueError:
            raise StoreError("the name index has sections of broken length") from None
        flat, needed, ends, held_by, held_ends, mids, mid_ends, hashes, keyed = arrays
        in_step = ((flat, needed), (flat, held_by), (ends, mid_ends), (hashes, keyed), (held_ends, words))
        if any(len(one) != len(other) for one, other in in_step):
            raise StoreError("the name index has sections of different lengths")
        number_of = {word: number for number, word in enumerate(words)}
        return cls(
            words, _initials_of(words), number_of,
            flat, needed, ends, held_by, held_ends, mids, mid_ends, hashes, keyed,
        )  # fmt: skip

    def number_of(self, word: str) -> int | None:
        return self._number_of.get(word)

    def row(self, at: int) -> NameRow:
        start, end = int(self._ends[at - 1]) if at else 0, int(self._ends[at])
        words = self._flat[start:end].tolist()
        return NameRow(
            tuple(words), tuple(self.words[word] for word in words), tuple(self._needed[start:end].tolist())
        )

    def mids(self, at: int) -> tuple[int, ...]:
        start = int(self._mid_ends[at - 1]) if at else 0
        return tuple(self._mids[start : int(self._mid_ends[at])].tolist())

    def with_word(self, word: int) -> Numbers:
        """Returns the rows (names) that hold the word, ascending."""
        start = int(self._held_ends[word - 1]) if word else 0
        return self._held_by[start : int(self._held_ends[word])]

    def mids_of(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Returns every node that has one of the names in `rows`, ascending."""
        if len(rows) == 1:
            return tuple(sorted(self.mids(rows[0])))
        at = np.asarray(rows, dtype=np.int64)
        return tuple(np.unique(self._mids[_positions(self._mid_ends, at)[0]]).tolist())

    def places(self, rows: Numbers) -> RowPlaces:
        """Returns the words of `rows`, which must not be empty."""
        positions, begins, lengths = _positions(self._ends, rows)
        return RowPlaces(self._flat[positions], self._needed[positions], begins, lengths)

    def shares(self, places: RowPlaces, words: Numbers) -> npt.NDArray[np.float64]:
        """Returns for each row (name) in `places` the share of its words that is among `words`."""
        shared = np.add.reduceat(self.are_among(places.words, words), places.begins, dtype=np.int64)
        return np.asarray(shared / places.lengths, dtype=np.float64)

    def are_among(self, words: Numbers, some: Numbers) -> npt.NDArray[np.bool_]:
        """Returns for each of `words` True if it is one of `some`."""
        is_one = np.zeros(len(self.words), dtype=np.bool_)
        is_one[some] = True
        return np.asarray(is_one[words])

    def begin_with(self, words: Numbers, letter: str) -> npt.NDArray[np.bool_]:
        """Returns for each of `words` True if it begins with `letter`.

        A word that begins with certain other letters also gives True, since only the lowest byte of a letter is
        compared.
        """
        return np.asarray(self._initials[words] == ord(letter) % 256)

    def longer(self, words: Sequence[str]) -> Numbers:
        """Returns the rows that begin or end with `words` and have more words.

        Words that a mention may leave out ("the", "Jr.") do not count.
        """
        known = [self._number_of.get(word, -1) for word in words if word not in SMALL_WORDS]
        typed = np.array([self._number_of.get(word, -1) for word in words], dtype=np.int32)
        if not known or (typed < 0).any():
            return _NO_ROWS
        rows = np.unique(self.with_word(known[0]))
        places = self.places(rows)
        numbers = np.arange(len(places.words))
        first = np.minimum.reduceat(np.where(places.needed, numbers, len(numbers)), places.begins)
        last = np.maximum.reduceat(np.where(places.needed, numbers, -1), places.begins)
        has_more = last - first >= len(typed)
        rows, first, last = rows[has_more], first[has_more], last[has_more]
        each = np.arange(len(typed))
        begins = (places.words[first[:, None] + each] == typed).all(axis=1)
        ends = (places.words[last[:, None] - len(typed) + 1 + each] == typed).all(axis=1)
        found: Numbers = rows[begins | ends]
        return found

    def joined(self, words: Sequence[str]) -> list[int]:
        """Returns the rows (names) that equal `words` with spaces in other places: John Smith for `johnsmith`."""
        return self._of_key("=" + "".join(words))

    def reordered(self, words: Sequence[str]) -> list[int]:
        """Returns the rows (names) that consist of `words` in any order."""
        if len(words) < 2 or not all(map(self._number_of.__contains__, words)):
            return []
        return self._of_key("/" + " ".join(sorted(words)))

    def abbreviated(self, word: str) -> list[int]:
        """Returns the rows (names) of three or more words whose initials are `word`."""
        return self._of_key("." + word)

    def of_adjective(self, word: str) -> list[int]:
        """Returns the rows (names) of one word that `word` is an adjective of, by its ending: Jamaican -> Jamaica."""
        stems = (word.removesuffix(ending).rstrip(_VOWELS) for ending in _OF_A_PLACE if word.endswith(ending))
        long_enough = dict.fromkeys(stem for stem in stems if len(stem) >= _MIN_STEM_LENGTH)
        return list(dict.fromkeys(row for stem in long_enough for row in self._of_key("~" + stem)))

    def _of_key(self, key: str) -> list[int]:
        code = _hash_of(key)
        first = bisect_left(self._key_numbers, code)
        last = first
        while last < len(self._key_numbers) and self._key_numbers[last] == code:
            last += 1
        return self._key_rows[first:last].tolist()  # type: ignore[no-any-return]


_ARRAYS = (
    ("_flat", np.int32), ("_needed", np.bool_), ("_ends", np.int32), ("_held_by", np.int32), ("_held_ends", np.int32),
    ("_mids", np.int64), ("_mid_ends", np.int32), ("_key_hashes", np.int64), ("_key_rows", np.int32),
)  # fmt: skip


def _positions(ends: Numbers, rows: Numbers | Mids) -> tuple[Mids, Mids, Mids]:
    """Returns (positions, begins, lengths) of the entries of `rows`, in a flat array of all rows.

    `ends[i]` is the end of row i in the flat array. The entries of `rows[j]` are at the `lengths[j]` positions from
    `positions[begins[j]]` on.
    """
    starts = np.where(rows > 0, ends[rows - 1], 0).astype(np.int64)
    lengths = ends[rows] - starts
    begins = np.cumsum(lengths) - lengths
    return np.repeat(starts - begins, lengths) + np.arange(lengths.sum()), begins, lengths


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int32)


def _initials_of(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    return np.fromiter((ord(word[0]) % 256 for word in words), dtype=np.uint8, count=len(words))


def _hash_of(key: str) -> int:
    """Returns a hash below 2**62 that is the same in every process."""
    return int(_hashes_in(_digests_of([key]))[0])


def _hashes_in(digests: bytes | bytearray) -> Mids:
    return (np.frombuffer(digests, dtype=">u8") >> 2).astype(np.int64)


def _digests_of(keys: Sequence[str]) -> bytes:
    return b"".join([blake2b(key.encode(), digest_size=8).digest() for key in keys])


def _variants(name: str) -> Iterable[tuple[Sequence[str], tuple[bool, ...]]]:
    """Returns (words, `needed` flags) for each way to write a name.

    The ways are: in Latin letters; transliterated, if that differs (mueller); and a single uncommon word in
    parentheses, alone.
    """
    if PLAIN_WORDS.fullmatch(name) is None:
        return _other_variants(name)
    plain = plain_forms_of(name)
    is_told = _TELL_NOTHING.isdisjoint(plain)
    telling = (True,) * len(plain) if is_told else tuple(map(_tells, plain))
    return ((plain, telling if True in telling else (True,) * len(plain)),)


def _other_variants(name: str) -> Iterator[tuple[Sequence[str], tuple[bool, ...]]]:
    words = words_of(name)
    if not words:
        return
    # The position of an opening parenthesis; at the beginning of a name it does not mark an addition.
    opened = name.find("(") if name.find("(") > 0 else len(name)
    alias = [word.text for word in words if word.start >= opened]
    if len(alias) == 1 and len(alias[0]) > 2 and not is_ordinary(alias[0]) and len(words) > 1:
        yield (alias[0],), (True,)
    for form in (0, -1):
        spelt = tuple(word.forms[form] for word in words)
        needed = tuple(_is_needed(text, word, opened) for text, word in zip(spelt, words, strict=True))
        yield spelt, needed if any(needed) else (True,) * len(spelt)
        if all(len(word.forms) == 1 for word in words):
            return


def _is_needed(text: str, word: WordForms, opened: int) -> bool:
    """Returns True for a word that a mention cannot leave out, such as a digit: `ward 1` is not the ward."""
    return _tells(text) and word.start < opened


def _tells(word: str) -> bool:
    """Returns True unless `word` is small, a suffix such as "Jr." or a single letter."""
    return not (word in _TELL_NOTHING or (len(word) == 1 and not word.isdigit()))


def _keys_of(words: Sequence[str]) -> list[str]:
    joined, count = "".join(words), len(words)
    keys = ["=" + joined] if len(joined) >= _MIN_JOINED_LENGTH else []
    if 2 <= count <= 4:
        keys.append("/" + " ".join(sorted(words)))
    if count >= 3:
        telling = words if SMALL_WORDS.isdisjoint(words) else [word for word in words if word not in SMALL_WORDS]
        if len(telling) >= 3:
            keys.append("." + "".join([word[0] for word in telling]))
        if 3 <= len(telling) < count:
            keys.append("." + "".join([word[0] for word in words]))
    if count == 1 and joined.isalpha():
        stems = (joined.removesuffix(ending).rstrip(_VOWELS) for ending in _OF_NAMES)
        keys += {"~" + stem for stem in stems if len(stem) >= _MIN_STEM_LENGTH}
    return keys


_MIN_PLURAL_LENGTH = 4
_COMPARED = ("er", "est")
_MORE_EVERYDAY = frozenset("died heard became began paid ive".split())
"""Forms that the dictionary of ordinary words lacks: verb forms, and "ive" for "I've"."""

_MAX_CACHED = 100_000


class NameVocabulary:
    """The words of a graph's names as a vocabulary; words are passed in the form of `words_of`."""

    def __init__(self, rows: NameTable, public: PublicWords) -> None:
        self.rows = rows
        self.public = public
        self._near: dict[str, dict[int, int]] = {}
        self._spelt = NearWords.of(rows.words)
        self._everyday: set[str] = set()
        may_be_ordinary("")  # Loads the dictionary now instead of during the first question.

    def is_everyday(self, word: str) -> bool:
        """Returns True for a word of the service's phrases, a small number, or an ordinary English word (any form)."""
        if word in self._everyday:
            return True
        is_compared = word.endswith(_COMPARED) and in_lexicon(word)
        if not (word in _MORE_EVERYDAY or self.public.is_own(word) or is_ordinary(word) or is_compared):
            return False
        if word.isascii() and word.isalpha():  # No others are cached, because digits may be somebody's number.
            if len(self._everyday) >= _MAX_CACHED:
                self._everyday.clear()
            self._everyday.add(word)
        return True

    def is_dull(self, word: str) -> bool:
        """Returns True for an everyday word of English letters that was met before; False says nothing."""
        return word in self._everyday

    def is_public(self, word: str) -> bool:
        return word in _MORE_EVERYDAY or word in self.public or is_ordinary(word)

    def looks_like_name(self, text: str) -> bool:
        """Returns True if a word of `text` consists of letters and is not an everyday word."""
        if text in self._everyday or (text.isascii() and text.lower() in self._everyday):
            return False  # Mostly so, and such words need no normalising.
        words = (word.text for word in words_of(normalise(text).text))
        return any(is_letters(word) and len(word) > 1 and not self.is_everyday(word) for word in words)

    def near(self, word: str) -> dict[int, int]:
        """Returns the name words that `word` may stand for, each with its number of slips; 0 for itself."""
        if word in self._near:
            return self._near[word]
        is_plural = word.endswith("s") and len(word) >= _MIN_PLURAL_LENGTH
        if is_plural and word in self.public:
            is_plural = self.is_everyday(word[:-1]) or bool(places_called(word[:-1]))
        spelt = [self.rows.number_of(word), self.rows.number_of(word[:-1]) if is_plural else None]
        found = {number: 0 for number in spelt if number is not None}
        if not self.is_public(word) and word not in ROMAN_NUMERALS:
            found = {**self._spelt.near(word), **found}
        if len(self._near) >= _MAX_CACHED:
            self._near.clear()
        self._near[word] = found
        return found


@cache
def may_be_ordinary(word: str) -> bool:
    """Returns True if `word` is a frequent English word or one slip away from one.

    Alone, such a word does not count as a misspelt name.
    """
    return bool(_frequent().near(word))


@cache
def _frequent() -> NearWords:
    return NearWords.of(frequent_ordinary())


_MAGIC = b"AROGNAM1"
_LENGTH = struct.Struct("<Q")


def pack(sections: Sequence[bytes | memoryview]) -> bytes:
    """Returns the sections as bytes, each after its length and padded to 8 bytes so that arrays stay aligned."""
    parts = [_MAGIC, _LENGTH.pack(len(sections))]
    for section in sections:
        data = bytes(section)
        parts += [_LENGTH.pack(len(data)), data, bytes(-len(data) % 8)]
    return b"".join(parts)


def unpack(data: bytes) -> list[memoryview]:
    """Returns the sections of `pack` without copying. Raises FormatTooNewError or StoreError."""
    if data[: len(_MAGIC)] != _MAGIC:
        raise FormatTooNewError("the name index was written by another format version")
    view, position = memoryview(data), len(_MAGIC) + _LENGTH.size
    sections = []
    for _ in range(_number_at(data, len(_MAGIC))):
        length = _number_at(data, position)
        start, end = position + _LENGTH.size, position + _LENGTH.size + length
        if end > len(data):
            raise StoreError("the name index is cut off")
        sections.append(view[start:end])
        position = end + -length % 8
    return sections


def packed_numbers(values: Iterable[int]) -> memoryview:
    """Returns signed 64-bit numbers as a read-only buffer. Raises StoreError on a big-endian machine."""
    if sys.byteorder != "little":
        raise StoreError("name indexes are written on little-endian machines only")
    return memoryview(array("q", values)).toreadonly()


def _number_at(data: bytes, position: int) -> int:
    if position + _LENGTH.size > len(data):
        raise StoreError("the name index is cut off")
    return int(_LENGTH.unpack_from(data, position)[0])
