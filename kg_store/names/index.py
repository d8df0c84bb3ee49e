"""NameIndex: finds every name, alias and protected value of one graph version in any text at once."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Literal, NamedTuple

import numpy as np

from kg_store.errors import StoreError
from kg_store.lexicon.lexicon import PlaceAdjectives, places_called
from kg_store.names.fuzzy_search import Fits, InexactHit, InexactNames, IsName, MayHold
from kg_store.names.name_table import NameTable, pack, packed_numbers, unpack
from kg_store.storage.vault import VisibilityFilter
from kg_store.terms import Mids, ValueKind
from kg_store.text.english import PublicWords, is_ordinary
from kg_store.text.literals import canonical
from kg_store.text.normalise import MARKS, Normalised, is_unspaced, is_word_character, normalise
from kg_store.text.words import PLAIN_WORDS, LastWords, WordMatcher, without_accents, words_of

EntryKind = Literal["name", "value"]
_Groups = dict[tuple[str, int], int | list[int]]
"""The MIDs of each spelling with its flags. Most have one, for which a list would take more memory than all else."""


class NameEntry(NamedTuple):
    """One spelling of one node. `linkable`: the linker replaces its mentions; `protected`: the guard blocks it."""

    mid: int
    text: str
    kind: EntryKind
    value_kind: ValueKind | None
    linkable: bool
    protected: bool

    def __repr__(self) -> str:
        return f"NameEntry({self.mid})"  # Without the text, which is a name or a value.


@dataclass(frozen=True, slots=True)
class NameHit:
    """A match between word borders: its span, all nodes with this spelling, and its normalised text."""

    start: int
    end: int
    mids: tuple[int, ...]
    kind: EntryKind
    value_kind: ValueKind | None
    public: bool
    linkable: bool
    protected: bool
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class NameReport:
    """The counts of spellings, and the names that the guard cannot block.

    `names` and `values` count distinct spellings. `public_words`: the names that equal public words. `too_short`: the
    nodes with a spelling of punctuation only, which is not searched. `unguarded`: the number of nodes that have no
    other names than such spellings and public words.
    """

    names: int
    values: int
    public_words: tuple[str, ...]
    too_short: tuple[int, ...]
    unguarded: int


AROUND_NAMES = " \"«»‹›'"
_POINT = re.compile(r"[.,](?= |$)")
_INSIDE_NAMES = re.compile(r"(?<=\w)[^\w\s]+(?=\w| \w)|(?<=\w )[^\w\s]+(?=\w)")
_SIGNS = re.compile(rf"[^\w\s'{MARKS}]+")
_APOSTROPHE = re.compile(r"(?<=\w) ?'(?=\w)")
_SAINT = "saint "
_MIN_BARE_LENGTH = 5  # With fewer letters a name without its punctuation (E.T.) could be any word.
_SHORTEST_UNSPACED, _LONGEST_SPREAD = 2, 8
"""Lengths in characters: the shortest part of a name that counts alone, and the longest name typed letter by letter.
"""


def stands_in(name: str, text: str) -> bool:
    """Returns True if `name` occurs between word borders in `text`; both are normalised."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        begins = start == 0 or not (is_word_character(name[0]) and is_word_character(text[start - 1]))
        if begins and (end == len(text) or not (is_word_character(name[-1]) and is_word_character(text[end]))):
            return True
        start = text.find(name, start + 1)
    return False


def can_be_found(pattern: str) -> bool:
    """Returns False if `pattern` is only punctuation, which every JSON text is full of."""
    return pattern[:1].isalnum() or any(is_word_character(c) or unicodedata.category(c) == "So" for c in pattern)


def spellings_of(pattern: str) -> list[str]:
    """Returns the normalised name `pattern` and its other spellings.

    Examples: without points ("michael j fox"), without accents ("zoe muller"), "child 's play", "a k" for "a.k.".
    """
    if PLAIN_WORDS.fullmatch(pattern) and not pattern.startswith(_SAINT):
        return [pattern]
    plain = _POINT.sub("", pattern).strip(AROUND_NAMES)
    typed = dict.fromkeys((pattern, plain, without_accents(pattern), without_accents(plain)))
    typed |= dict.fromkeys(_without_signs(spelling) for spelling in tuple(typed))
    typed |= dict.fromkeys(_APOSTROPHE.sub(mark, spelling) for spelling in tuple(typed) for mark in ("'", " '", " "))
    bare = _INSIDE_NAMES.sub("", without_accents(pattern.replace("&", "and"))).strip()
    if pattern.startswith(_SAINT):
        typed |= dict.fromkeys(("st. " + pattern[6:], "st " + without_accents(pattern[6:])))
    typed |= dict.fromkeys(_unspaced_spellings(pattern))
    if bare.isascii() and len(bare) >= _MIN_BARE_LENGTH and (" " in bare or not is_ordinary(bare)):
        typed[bare] = None
    return [spelling for spelling in typed if spelling == pattern or can_be_found(spelling)]


def _unspaced_spellings(pattern: str) -> Iterator[str]:
    """Yields further spellings of a name in a script without spaces: joined, letter by letter, and its parts.

    They are needed because inexact search leaves such scripts out.
    """
    parts = pattern.split(" ")
    if not all(part and all(map(is_unspaced, part)) for part in parts):
        return
    if len(parts) > 1:
        yield "".join(parts)
        yield from (part for part in parts if len(part) >= _SHORTEST_UNSPACED)
    if len(pattern) <= _LONGEST_SPREAD:
        yield " ".join("".join(parts))


def _without_signs(spelling: str) -> str:
    """Returns the spelling with spaces for signs between letters; unchanged if that leaves one word, or no letters."""
    apart = " ".join(_SIGNS.sub(" ", spelling).split())
    return apart if " " in apart and any(map(str.isalpha, apart)) else spelling


_KINDS: tuple[ValueKind | None, ...] = (None, ValueKind.NUMBER, ValueKind.DATE, ValueKind.TEXT, ValueKind.TRUTH)
_VALUE, _KIND_SHIFT, _KIND_MASK = 1, 1, 7
_LINKABLE, _PROTECTED, _PUBLIC, _KEY = 16, 32, 64, 128
_TEXT_VALUE = _VALUE | _KINDS.index(ValueKind.TEXT) << _KIND_SHIFT | _LINKABLE
MAX_VALUE_WORDS, MAX_PLACES = 6, 1_000
"""A value of more words is a note; a text that stands in more places says too little. Chosen by hand."""
_SECRET = bytes(flags & (_PROTECTED | _PUBLIC) == _PROTECTED for flags in range(256))
"""A table that maps the flags of a spelling to 1 if the guard blocks it, else 0."""

_KEY_MARK = "\x01"  # The first character of keys. Normalising removes it from texts, so no text matches a key.
_SECTIONS = 7  # The number of sections of a name index before those of its rows.
_NOT = re.compile(r"(?<=n)['’]t\b", re.IGNORECASE)  # The "t" of "don't", which does not mention Don.


@dataclass(frozen=True, slots=True)
class NameIndex:
    """Finds the names and values of a graph version in texts. Immutable and thread-safe.

    Promise: `find` misses no indexed spelling between word borders, in the forms of `normalise`. Condition: the text
    is as a reader sees it (escapes undone). A Latin name is found without its accents too. Not promised: spellings
    with other letters or accents.
    """

    # Plain buffers, because reading one number from them takes half the time of a numpy array.
    _matcher: WordMatcher = field(repr=False)
    _texts: bytes = field(repr=False)
    _text_ends: memoryview = field(repr=False)
    _flags: bytes = field(repr=False)
    _mids: memoryview = field(repr=False)
    _mid_ends: memoryview = field(repr=False)
    _too_short: memoryview = field(repr=False)
    _rows: NameTable | None = field(default=None, repr=False)
    _inexact: InexactNames | None = field(default=None, repr=False)
    _secret: bytes = field(default=b"", repr=False)
    _last_words: LastWords = field(default=LastWords(), repr=False)
    _adjectives: PlaceAdjectives = field(default=PlaceAdjectives(), repr=False)  # Shared, since it is immutable.

    @classmethod
    def build(cls, entries: Iterable[NameEntry]) -> NameIndex:
        """Builds the index. Spellings that are equal once normalised are stored once."""
        spellings = Spellings()
        for entry in entries:
            spellings.add(entry)
        return spellings.index()

    @classmethod
    def _of_groups(cls, groups: _Groups, too_short: set[int]) -> NameIndex:
        # The automaton first, since building it takes more memory than all else.
        matcher = WordMatcher.of([text for text, _ in groups])
        texts = [text.encode() for text, _ in groups]
        mids = [sorted(set(group)) if isinstance(group, list) else (group,) for group in groups.values()]
        return cls(
            matcher,
            b"".join(texts),
            packed_numbers(accumulate(map(len, texts))),
            bytes(flags for _, flags in groups),
            packed_numbers(chain.from_iterable(mids)),
            packed_numbers(accumulate(map(len, mids))),
            packed_numbers(sorted(too_short)),
        )

    def without(self, mids: Collection[int]) -> NameIndex:
        """Returns the index without these nodes; `with_public` has to be called again."""
        groups: _Groups = {}
        for pattern, text in enumerate(self._all_texts()):
            left = [mid for mid in self._mids_of(pattern) if mid not in mids]
            if left:
                groups[text, self._flags[pattern] & ~_PUBLIC] = left
        return self._of_groups(groups, set(self._too_short) - set(mids))

    def to_bytes(self) -> bytes:
        """Returns the index as unencrypted bytes; the caller encrypts them."""
        numbers = (self._text_ends, self._mids, self._mid_ends, self._too_short)
        rows = self._rows or NameTable.of(self._names())
        return pack([self._matcher.to_bytes(), self._texts, self._flags, *numbers, *rows.sections()])

    @classmethod
    def from_bytes(cls, data: bytes) -> NameIndex:
        """Returns the index that `to_bytes` wrote, as a copy. Raises FormatTooNewError or StoreError."""
        sections = unpack(data)
        if len(sections) < _SECTIONS:
            raise StoreError("the name index has the wrong number of sections")
        texts, flags = (bytes(section) for section in sections[1:3])
        ends, mids, mid_ends, too_short = (memoryview(bytes(each)).cast("q") for each in sections[3:_SECTIONS])
        if not len(ends) == len(flags) == len(mid_ends):
            raise StoreError("the name index has sections of different lengths")
        # If the data has no rows, `with_public` makes them.
        rows = NameTable.of_sections(sections[_SECTIONS:]) if len(sections) > _SECTIONS else None
        matcher = WordMatcher.from_bytes(bytes(sections[0]))
        return cls(matcher, texts, ends, flags, mids, mid_ends, too_short, _rows=rows)

    def marked(self, words: PublicWords) -> NameIndex:
        """Returns the index with each spelling marked as public that `words` holds, or that is a single character.

        It is for storing: `with_public` makes it one that also finds inexact names.
        """
        pairs = zip(self._all_texts(), self._flags, strict=True)
        public = ((len(text) == 1 or text in words, flags) for text, flags in pairs)
        marked = bytes(flags | _PUBLIC if is_public else flags & ~_PUBLIC for is_public, flags in public)
        return replace(self, _flags=marked)

    def with_public(self, words: PublicWords) -> NameIndex:
        """Returns the index with public spellings marked, which the guard lets pass; it finds inexact names too."""
        marked, rows = self.marked(words)._flags, self._rows or NameTable.of(self._names())
        return replace(
            self, _flags=marked, _rows=rows, _inexact=InexactNames(rows, words), _secret=marked.translate(_SECRET),
            _last_words=LastWords.of(self._texts, np.asarray(self._text_ends)),
            _adjectives=PlaceAdjectives.of(lambda text: any(True for _ in self._matcher.whole(text)), words.is_own),
        )  # fmt: skip

    def find(self, text: str) -> list[NameHit]:
        """Returns every match, also overlapping ones, by start, then the longest first."""
        normalised = normalise(text)
        hits = [self._hit(normalised, *match) for match in self._matcher.matches(normalised)]
        return sorted(hits, key=lambda hit: (hit.start, -hit.end))

    def find_at_ends(self, texts: Sequence[str]) -> list[tuple[int, NameHit]]:
        """Returns (position in `texts`, match) for every match up to the end of its text, by text, then by start.

        All are searched in one pass. Condition: each text begins and ends with a letter, a digit or an underscore.
        """
        if not texts:
            return []
        ends = list(accumulate(len(text) + 1 for text in texts))
        number_of = {end - 1: number for number, end in enumerate(ends)}
        normalised = normalise("\n".join(texts))
        found: list[tuple[int, NameHit]] = []
        for match in self._matcher.matches(normalised):
            number = number_of.get(normalised.span(*match[:2])[1])
            if number is None:
                continue
            hit, first = self._hit(normalised, *match), ends[number] - 1 - len(texts[number])
            # A match that begins earlier stands in two texts.
            if hit.start >= first:
                found.append((number, replace(hit, start=hit.start - first, end=hit.end - first)))
        return sorted(found, key=lambda each: (each[0], each[1].start))

    def may_end_with(self, word: str) -> bool:
        """Returns False if no name or value ends with `word`, which is in lower case; it asks no automaton."""
        return self._last_words.may_hold(word)

    def find_secret(self, text: str) -> list[NameHit]:
        """Returns the matches that the guard blocks: those of protected names and values that are not public words."""
        normalised = normalise(text)
        wanted = self._secret or self._flags.translate(_SECRET)
        hits = [self._hit(normalised, *match) for match in self._matcher.matches(normalised, wanted)]
        return self.secret_among(hits, text)

    def secret_among(self, hits: Iterable[NameHit], text: str) -> list[NameHit]:
        """Returns the same as `find_secret`, from what `find` returned for `text`."""
        able = [hit for hit in (*hits, *self.find_adjectives(text)) if hit.protected and not hit.public]
        return sorted(able, key=lambda hit: (hit.start, -hit.end))

    def find_adjectives(self, text: str) -> list[NameHit]:
        """Returns the places whose adjectives occur in `text`, by their names and text values: France for "French"."""
        said = self._adjectives.said_in(text)
        return [replace(hit, start=start, end=end) for start, end, names in said for hit in self._places(names)]

    def _places(self, names: Iterable[str]) -> Iterator[NameHit]:
        for name in names:
            whole = (hit for hit in self.find(name) if hit.start == 0 and hit.end == len(name))
            yield from (hit for hit in whole if hit.kind == "name" or hit.value_kind is ValueKind.TEXT)

    def find_inexact(
        self,
        text: str,
        skip: Collection[str] = (),
        is_name: IsName | None = None,
        may_hold: MayHold | None = None,
        fits: Fits | None = None,
    ) -> list[InexactHit]:
        """Returns names in inexact forms, including exact ones; nothing before `with_public` was called."""
        hits = [] if self._inexact is None else self._inexact.find(text, skip, is_name, may_hold, fits)
        return [hit for hit in hits if not _NOT.match(text, hit.end)]

    def holding(self, names: Iterable[str]) -> set[int]:
        """Returns the nodes with a spelling that equals one of `names` or contains it between word borders."""
        wanted = [name for text in names if (name := normalise(text).text.strip(AROUND_NAMES))]
        found: set[int] = set()
        for pattern, text in enumerate(self._all_texts()):
            if any(name in text and stands_in(name, text) for name in wanted):
                found.update(self._mids_of(pattern))
        return found

    def named(self, text: str) -> tuple[int, ...]:
        """Returns the nodes with the name `text` in any spelling that `spellings_of` covers; values have no name."""
        hits = [hit for hit in self.find(text.strip()) if hit.kind == "name" and len(text.strip()) == hit.end]
        return tuple(sorted({mid for hit in hits if hit.start == 0 for mid in hit.mids}))

    def places_called(self, text: str) -> Mids:
        """Returns the nodes named like the place that `text` is an adjective or short name of, ascending."""
        return np.array(sorted({mid for name in places_called(text) for mid in self.named(name)}), dtype=np.int64)

    def longer_names(self, text: str) -> Mids:
        """Returns the nodes, ascending, whose name has more words than `text` and begins or ends with them."""
        words = [word.text for word in words_of(normalise(text).text)]
        rows = self._rows.longer(words).tolist() if self._rows else []
        return np.array(self._rows.mids_of(rows) if self._rows and rows else (), dtype=np.int64)

    def text_values(self, text: str) -> list[int]:
        """Returns the linkable text values that are spelt like `text`."""
        hits = [hit for hit in self.find(text) if hit.value_kind is ValueKind.TEXT and hit.linkable]
        return sorted({mid for hit in hits if hit.start == 0 and hit.end == len(text) for mid in hit.mids})

    def value_with(self, text: str, holds: VisibilityFilter) -> tuple[int, ...]:
        """Returns the nodes of the only short text value that `holds` leaves and that has `text` as some of its words.

        Empty if several different values have them, if none has, or if too many spellings hold the letters.
        """
        wanted = normalise(text).text.strip(AROUND_NAMES)
        said, found, at = wanted.encode(), set[tuple[int, ...]](), -1
        for _ in range(MAX_PLACES):
            at = self._texts.find(said, at + 1) if said else -1
            if at < 0:
                return found.pop() if len(found) == 1 else ()
            pattern = bisect_right(self._text_ends, at)
            kind = self._flags[pattern] & (_KEY | _KIND_MASK << _KIND_SHIFT | _VALUE | _LINKABLE)
            if kind == _TEXT_VALUE and at + len(said) <= self._text_ends[pattern]:
                whole = self._text(pattern)
                is_meant = whole.count(" ") < MAX_VALUE_WORDS and stands_in(wanted, whole)
                if is_meant and (mids := holds(self._mids_of(pattern))):
                    found.add(mids)
        return ()

    def looks_like_name(self, text: str) -> bool:
        """Returns True if a word of `text` is neither in the dictionary nor in the service's phrases."""
        return self._inexact is not None and self._inexact.words.looks_like_name(text)

    def is_own(self, text: str) -> bool:
        """Returns True if `text`, in lower case, is in the service's phrases or the shown schema."""
        return self._inexact is not None and self._inexact.words.public.is_own(text)

    def mids_of_value(self, kind: ValueKind, lexical: str) -> tuple[int, ...]:
        """Returns the linkable values equal to a number or date in any notation; empty if there is none."""
        try:
            key = _key(kind, canonical(lexical, kind))
        except ValueError:
            return ()
        patterns = (pattern for pattern in self._matcher.whole(key) if self._flags[pattern] & _KEY)
        return tuple(sorted({mid for pattern in patterns for mid in self._mids_of(pattern)}))

    def report(self) -> NameReport:
        """Returns the report for the graph's owner; it holds public words and MIDs, and no other spelling."""
        spellings = [flags for flags in self._flags if not flags & _KEY]
        values = sum(flags & _VALUE for flags in spellings)
        public = {self._text(pattern) for pattern, flags in enumerate(self._flags) if flags & _PUBLIC}
        names = len(spellings) - values
        return NameReport(names, values, tuple(sorted(public)), tuple(self._too_short), self._unguarded())

    def _unguarded(self) -> int:
        """Returns the number of nodes that have names, none of which the guard blocks."""
        flags = np.frombuffer(self._flags, dtype=np.uint8)
        of_mids = np.repeat(flags, np.diff(np.asarray(self._mid_ends), prepend=0))
        mids, is_name = np.asarray(self._mids), of_mids & (_VALUE | _KEY) == 0
        named = np.union1d(mids[is_name], np.asarray(self._too_short))
        return len(np.setdiff1d(named, mids[is_name & (of_mids & (_PROTECTED | _PUBLIC) == _PROTECTED)]))

    def _hit(self, normalised: Normalised, start: int, end: int, pattern: int) -> NameHit:
        flags = self._flags[pattern]
        first, last = normalised.span(start, end)
        return NameHit(
            first,
            last,
            self._mids_of(pattern),
            "value" if flags & _VALUE else "name",
            _KINDS[flags >> _KIND_SHIFT & _KIND_MASK],
            bool(flags & _PUBLIC),
            bool(flags & _LINKABLE),
            bool(flags & _PROTECTED),
            normalised.text[start:end],
        )

    def _mids_of(self, pattern: int) -> tuple[int, ...]:
        start = self._mid_ends[pattern - 1] if pattern else 0
        return tuple(self._mids[start : self._mid_ends[pattern]])

    def _names(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yields the protected names with their nodes, for inexact search; values are found by their meaning."""
        starts = chain((0,), self._mid_ends)
        for text, flags, start, end in zip(self._all_texts(), self._flags, starts, self._mid_ends, strict=False):
            if flags & (_VALUE | _KEY | _PROTECTED) == _PROTECTED:
                yield text, tuple(self._mids[start:end])

    def _text(self, pattern: int) -> str:
        return self._texts[self._text_ends[pattern - 1] if pattern else 0 : self._text_ends[pattern]].decode()

    def _all_texts(self) -> Iterator[str]:
        start = 0
        for end in self._text_ends:
            yield self._texts[start:end].decode()
            start = end


class Spellings:
    """Collects the spellings of a graph's names and values, entry by entry; `index` makes the NameIndex of them."""

    def __init__(self) -> None:
        self._groups: _Groups = {}
        self._too_short: set[int] = set()

    def add(self, entry: NameEntry) -> None:
        flags = _flags_of(entry)
        if self._add(entry.mid, entry.text, flags) and flags & _VALUE:
            for key in _keys_of(entry):
                self._put((key, flags | _KEY), entry.mid)

    def add_name(self, mid: int, name: str) -> None:
        """Adds a name that the linker replaces and the guard blocks."""
        self._add(mid, name, _LINKABLE | _PROTECTED)

    def _add(self, mid: int, text: str, flags: int) -> bool:
        """Adds the spellings of `text`; returns False if it has none."""
        pattern = text.lower()
        if text.isascii() and PLAIN_WORDS.fullmatch(pattern) and not pattern.startswith(_SAINT):
            self._put((pattern, flags), mid)  # Most names: nothing else to do.
            return True
        pattern = normalise(text).text.strip(AROUND_NAMES)
        if not can_be_found(pattern):
            self._too_short.add(mid)
            return False
        for spelling in spellings_of(pattern):
            self._put((spelling, flags), mid)
        return True

    def _put(self, spelling: tuple[str, int], mid: int) -> None:
        held = self._groups.setdefault(spelling, mid)
        if isinstance(held, list):
            held.append(mid)
        elif held != mid:
            self._groups[spelling] = [held, mid]

    def index(self) -> NameIndex:
        return NameIndex._of_groups(self._groups, self._too_short)


def _flags_of(entry: NameEntry) -> int:
    flags = _KINDS.index(entry.value_kind) << _KIND_SHIFT
    flags |= _VALUE if entry.kind == "value" else 0
    return flags | (_LINKABLE if entry.linkable else 0) | (_PROTECTED if entry.protected else 0)


def _keys_of(entry: NameEntry) -> Iterator[str]:
    """Yields the key by which a number or date is found by meaning: 12 March 2020 is 2020-03-12."""
    if entry.kind != "value" or not entry.linkable or entry.value_kind not in (ValueKind.NUMBER, ValueKind.DATE):
        return
    try:
        yield _key(entry.value_kind, canonical(entry.text, entry.value_kind))
    except ValueError:
        return  # A malformed number is still found as text.


def _key(kind: ValueKind, lexical: str) -> str:
    return f"{_KEY_MARK}{kind} {lexical}"
