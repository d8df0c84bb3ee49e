"""EmphasisMarks finds the names that a text marks; NameWords holds the lexicon's words in a graph's names.

A word outside the lexicon is never sent anyway, so an index over the names of all graphs of a tenant only needs the
words that the lexicon would permit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from string import ascii_lowercase
from typing import Final, NamedTuple

from kg_store.errors import StoreError
from kg_store.lexicon.lexicon import in_any_lexicon, in_lexicon
from kg_store.names.word_hashes import WordHashes, hash_of
from kg_store.storage.vault import VaultRecord
from kg_store.terms import ValueKind
from kg_store.text.english import is_rare, stems, zipf_frequency
from kg_store.text.normalise import MARKS, is_unspaced
from kg_store.text.words import without_accents

_MARKED_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…:]+[\"'”’»)\]]*\s+|\n+|[。！？]")
_ABBREVIATION = re.compile(
    r"\b(?:[^\W\d_]|dr|mr|mrs|ms|prof|st|sr|jr|vs|mt|ft|rev|gen|col|lt|capt|sgt|hon)\.[ \t]+$", re.I
)
_ENCLOSED = tuple(
    (marks, re.compile(pattern))
    for marks, pattern in (
        ("[", r"\[([^\[\]\n]+)\]"),
        ("«", r"«([^«»\n]+)»"),
        ("»", r"»([^«»\n]+)«"),
        ("‹", r"‹([^‹›\n]+)›"),
        ("“„”", r"[“„”]([^“”„\n]+)[“”]"),
        ("「『", r"[「『]([^「」『』\n]+)[」』]"),
        ('"', r'"([^"\n]+)"'),
        ("‘‚", r"[‘‚](?!\s)([^‘‚\n]+?)[’‘](?!\w)"),
        ("'", r"(?<!\w)'(?!\s)([^'\n]+(?:'\w[^'\n]*)*)'(?!\w)"),
        ("`", r"`([^`\n]+)`"),
    )
)
"""Patterns of what stands in quotes or brackets, each with the marks one of which opens it."""
_AROUND_CONTENT = " \t.,;:!?"

_SMALL = frozenset(
    ("a", "an", "the", "and", "or", "but", "of", "for", "from", "in", "on", "at", "by", "to", "with", "as")
)
_ASKING = """
    who whom whose what which where when why how is are was were be been am do does did has have had can could
    would shall should must that this these those there it he she they we you my your his her its our their me
    him us them
"""
_OPENING = """
    will may might not no if then than i all any each every some list name give show tell find count get compare
    ask please about into over under between after before during since until also so yes well ok okay hello hi
    thanks
"""
_ASKED = frozenset(_ASKING.split())
COMMON_WORDS = _SMALL | _ASKED | frozenset(_OPENING.split())
"""Words that open or join questions; their capital at the beginning of a sentence never marks a name."""

_HEADLINE_WORDS = 4


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str = field(repr=False)

    @property
    def is_capital(self) -> bool:
        return not self.text.islower() and any(map(str.isupper, self.text))

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class EmphasisMarks:
    """The marks of a text that show names: quotes, brackets and capitals.

    `enclosed`: the spans in quotes and brackets. A capital marks a name if it is not at the beginning of a sentence
    (unless that word or the next has more capitals) and the sentence does not use capitals everywhere.
    """

    enclosed: frozenset[tuple[int, int]]
    _text: str = field(repr=False)
    _words: Sequence[tuple[int, int]] = field(repr=False)
    _telling: frozenset[int] = field(repr=False)
    _marked: bytes = field(repr=False)
    """One byte for each character: 1 inside quotes, brackets and words whose capital marks a name."""

    @classmethod
    def of(cls, text: str) -> EmphasisMarks:
        telling = frozenset(start for sentence in _sentences(text) for start in _telling_capitals(sentence))
        words = [match.span() for match in _MARKED_WORD.finditer(text)] if telling else []
        enclosed = frozenset(_enclosed(text))
        marked = bytearray(len(text))
        for start, end in (*enclosed, *((word for word in words if word[0] in telling) if telling else ())):
            marked[start:end] = b"\x01" * (end - start)
        return cls(enclosed, text, words, telling, bytes(marked))

    @property
    def has_any(self) -> bool:
        """Returns True if anything in the text is marked as a name."""
        return bool(self.enclosed or self._telling)

    def may_mark(self, start: int, end: int) -> bool:
        """Returns False if nothing between `start` and `end` is marked as a name.

        Then `is_marked` is False for every span in between.
        """
        return self._marked.find(1, start, end) >= 0

    def is_marked(self, start: int, end: int) -> bool:
        """Returns True if the span from `start` to `end` is marked as a name.

        That is so if it is exactly the content of quotes or brackets. It is also so if a capital in it marks a name
        and all its lower-case words are function words ("of").
        """
        if (start, end) in self.enclosed:
            return True
        if not self.may_mark(start, end):
            return False
        has_telling = False
        for index in range(bisect_right(self._words, start, key=itemgetter(1)), len(self._words)):
            word = _Word(*self._words[index], self._text[slice(*self._words[index])])
            if word.start >= end:
                break
            if not word.is_capital and word.lower not in _SMALL:
                return False
            has_telling = has_telling or word.start in self._telling
        return has_telling


def _enclosed(text: str) -> set[tuple[int, int]]:
    """Returns the contents of quotes and brackets, with and without punctuation at their ends."""
    spans = set()
    for marks, pattern in _ENCLOSED:
        for match in pattern.finditer(text) if any(mark in text for mark in marks) else ():
            start, end = match.span(1)
            content = match[1]
            inner = start + len(content) - len(content.lstrip(_AROUND_CONTENT))
            spans |= {(start, end), (inner, inner + len(content.strip(_AROUND_CONTENT)))}
    return spans


def _sentences(text: str) -> Iterator[list[_Word]]:
    """Yields the words of each sentence in which a capital may mark a name: not those with one at the start alone."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviation(text, match.end())]
    for start, end in pairwise((0, *ends, len(text))):
        opening = _MARKED_WORD.search(text, start, end)
        if opening is None:
            continue
        rest = text[opening.end() : end]
        if opening[0].isupper() or (rest != rest.lower() if rest.isascii() else any(map(str.isupper, rest))):
            yield [_Word(*match.span(), match[0]) for match in _MARKED_WORD.finditer(text, start, end)]


def _is_abbreviation(text: str, end: int) -> bool:
    return _ABBREVIATION.search(text, max(0, end - 10), end) is not None


def _telling_capitals(sentence: list[_Word]) -> set[int]:
    """Returns the starts of words whose capital shows that they are names."""
    if _has_capitals_everywhere(sentence):
        return set()
    telling = {word.start for word in sentence[1:] if word.is_capital and not word.lower.startswith(("i'", "i’"))}
    first = sentence[0]
    goes_on = len(sentence) > 1 and sentence[1].is_capital and sentence[1].start == first.end + 1
    shouts = len(first.text) > 1 and first.text.isupper()
    if first.is_capital and (goes_on or shouts) and first.lower not in COMMON_WORDS:
        telling.add(first.start)
    return telling


def _has_capitals_everywhere(sentence: list[_Word]) -> bool:
    """Returns True for text in capitals, and for a headline, in which only function words are in lower case."""
    if any(is_unspaced(letter) for word in sentence if not word.text.isascii() for letter in word.text):
        return False  # In such a script, Latin words with capitals are names or foreign words.
    if len(sentence) > 1 and "".join(word.text for word in sentence).isupper():
        return True
    if not sentence[0].is_capital:
        return False
    later = [word for word in sentence[1:] if word.lower not in _SMALL and word.text[0].isalpha()]
    if not all(word.is_capital for word in later):
        return False
    return len(later) >= _HEADLINE_WORDS or any(word.lower in _ASKED for word in later)


def pair_of(word: str, other: str) -> str:
    """Returns a key for two neighbouring words, the same in either order."""
    return " ".join(sorted((word, other)))


MAX_TYPED_CHARS: Final = 64
"""The longest word whose typing errors are tried: they are 53 times as many as its letters, and as long each."""


def one_slip_away(word: str) -> Iterator[str]:
    """Yields `word` and all words with one letter removed, added, changed or swapped (letters a to z).

    A word of more than MAX_TYPED_CHARS letters is yielded alone.
    """
    yield word
    for at in range(len(word) + 1 if len(word) <= MAX_TYPED_CHARS else 0):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


MODALS: Final = frozenset(("will", "may", "can", "might", "must"))
"""Modal verbs that are names in places where no verb can stand."""

_RANKS: Final = frozenset(("count",))  # Words that open a question as commands but also occur in names.
MIN_LETTERS: Final = 3
"""The fewest letters of a word that may name somebody; shorter ones are endings and function words. Chosen by hand."""

SHORT_LETTERS: Final = 2  # The length of words that are names only if they are marked. Chosen by hand.
MAX_NAME_WORDS: Final = 6
"""A text value of at most this many words may be a name; of longer ones only capitalised words are. Chosen by hand."""

_WORD = re.compile(rf"[^\W\d_]++(?:[{MARKS}]++[^\W\d_]*+)*+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*)[^\w\n]*\Z")
TELLING_BELOW: Final = 5.0
"""A word can tell whose text it stands in if people use it less often than this (log10 of uses in 10^9 words).

Chosen by hand; "school" and "father" are above it.
"""
MAX_TEXTS_OF_A_TELLING_WORD: Final = 5
"""A word that stands in more text values of a graph than this tells of none of them. Chosen by hand."""
_VERSION: Final = "4"


class NameWordsVersionError(StoreError):
    """Raised if the words were stored by another version of the service; they have to be read again from the graph."""


@dataclass(frozen=True, slots=True)
class NameWords:
    """The words of the names of one or more graphs.

    `parts`: words of the lexicon that stand in a name. `said_alone`: those of `parts` that may mean the thing alone;
    they stand in a name, or in a text value in which every word has a capital ("Price"). `phrases`: whole names of two
    or more words that are all in the lexicon. `hashes`: words outside the lexicon, and pairs of neighbouring words.
    `telling`: words of the lexicon that few text values hold and that people do not use often ("the one with the
    cello"), with their base forms.

    Promise: every name, alias and text value given to `of` is included as far as the lexicon holds its words, with and
    without accents; of long texts only capitalised and telling words. Limit: numbers and dates are not words.
    """

    parts: frozenset[str] = field(default=frozenset(), repr=False)
    phrases: frozenset[str] = field(default=frozenset(), repr=False)
    hashes: WordHashes = field(default=WordHashes(), repr=False)
    said_alone: frozenset[str] = field(default=frozenset(), repr=False)
    telling: frozenset[str] = field(default=frozenset(), repr=False)
    first_words: frozenset[str] = field(default=frozenset(), repr=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_words", frozenset(phrase.partition(" ")[0] for phrase in self.phrases))

    @classmethod
    def of(cls, records: Iterable[VaultRecord]) -> NameWords:
        collected = CollectedWords()
        for record in records:
            collected.add(record)
        return collected.words()

    @classmethod
    def union(cls, each: Iterable[NameWords]) -> NameWords:
        graphs = list(each)
        parts = frozenset().union(*(graph.parts for graph in graphs))
        phrases = frozenset().union(*(graph.phrases for graph in graphs))
        alone = frozenset().union(*(graph.said_alone for graph in graphs))
        telling = frozenset().union(*(graph.telling for graph in graphs))
        return cls(parts, phrases, WordHashes.union(graph.hashes for graph in graphs), alone, telling)

    def are_neighbours(self, word: str, other: str) -> bool:
        """Returns True if the two words (lower case, `word` in the lexicon) stand side by side in a name."""
        forms = (other, without_accents(other))
        return any(pair_of(without_accents(word), form) in self.hashes for form in forms)

    def has(self, word: str) -> bool:
        """Returns True if a name holds `word` (letters a to z)."""
        return word in self.parts or word in self.hashes

    def has_near(self, word: str) -> bool:
        """Returns True if a name holds `word` (letters a to z) or a word one slip away from it."""
        return any(map(self.has, one_slip_away(word)))

    def tells_of_a_text(self, word: str) -> bool:
        """Returns True if `word` (lower case), or its base form, stands in `telling`."""
        return word in self.telling or any(stem in self.telling for stem in stems(word))

    def to_bytes(self) -> bytes:
        """Returns the words as unencrypted bytes; the caller encrypts them."""
        words = ("\n".join(sorted(each)) for each in (self.parts, self.phrases, self.said_alone, self.telling))
        sections = (*words, self.hashes.to_text())
        return "\n\n".join((_VERSION, *sections)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> NameWords:
        """Returns the words that `to_bytes` wrote. Raises NameWordsVersionError on other bytes."""
        version, *sections = data.decode().split("\n\n")
        if version != _VERSION or len(sections) != 5:
            raise NameWordsVersionError("the words of the graph's names are of another version of the service")
        parts, phrases, alone, telling = (frozenset(section.split("\n")) - {""} for section in sections[:4])
        return cls(parts, phrases, WordHashes.from_text(sections[4]), alone, telling)


_READ_AT_ONCE: Final = 4_000
"""The names whose words are read together, so that a word that many of them hold is read once."""


class CollectedWords:
    """Collects the words of names, record by record."""

    def __init__(self) -> None:
        self._parts: set[str] = set()
        self._phrases: set[str] = set()
        self._hashes: set[int] = set()
        self._alone: set[str] = set()
        self._told: Counter[str] = Counter()
        self._left: dict[tuple[str, ...], bool] = {}

    def add(self, record: VaultRecord) -> None:
        is_name = bool(record.names)
        self._told.update(_told_in(record))
        for words in map(tuple, _named_in(record)):
            self._left[words] = is_name or self._left.get(words, False)
        if len(self._left) >= _READ_AT_ONCE:
            self._read()

    def _read(self) -> None:
        """Reads the names that are left; most hold no word of a lexicon, and then only their words count."""
        rows, self._left = self._left, {}
        known = set[str]()
        for word in set().union(*rows):
            plain = without_accents(small := word.lower())
            if in_any_lexicon(small) or (plain is not small and in_any_lexicon(plain)):
                known.add(word)
            else:
                self._hashes.add(hash_of(plain))
        for words, is_name in rows.items():
            if not known.isdisjoint(words):
                self._read_row(words, is_name)

    def _read_row(self, words: tuple[str, ...], is_name: bool) -> None:
        read = [*map(_read, words)]
        known = [word.forms for word in read]
        self._parts.update(*known)
        if is_name or all(word[0].isupper() for word in words):
            self._alone.update(*known)
        for one, other in pairwise(read):
            if one.tells or other.tells:  # A pair such as "of the" identifies nobody.
                self._hashes.add(hash_of(pair_of(one.plain, other.plain)))
        if len(words) > 1 and all(known):
            self._phrases.add(" ".join(forms[0] for forms in known))

    def words(self) -> NameWords:
        """Returns the words, and lets go of their hashes, which take the most memory."""
        self._read()
        hashes, self._hashes = WordHashes.of(self._hashes), set()
        named = frozenset(part for part in self._parts if may_name(part) or is_short_name(part))
        few = (word for word, texts in self._told.items() if texts <= MAX_TEXTS_OF_A_TELLING_WORD)
        telling = frozenset(form for word in few for form in (word, *stems(word)) if _may_tell(form))
        return NameWords(named, frozenset(self._phrases), hashes, named & self._alone, telling)


def may_name(word: str) -> bool:
    """Returns True if a word of the lexicon that is part of a name can identify somebody; "the" cannot."""
    return len(word) >= MIN_LETTERS and (word not in COMMON_WORDS or word in MODALS or word in _RANKS)


def is_short_name(word: str) -> bool:
    """Returns True for a word of two letters that English texts rarely use: "ma", but not "up"."""
    if len(word) != SHORT_LETTERS or word in COMMON_WORDS:
        return False
    return not in_lexicon(word) or is_rare(word)


def _told_in(record: VaultRecord) -> set[str]:
    """Returns the words of a text value of several words, in lower case; those of one word are found as values."""
    if record.lexical is None or record.value_kind is not ValueKind.TEXT:
        return set()
    # Whole words between spaces only, so that an address tells nothing of "mail".
    words = {word.strip(_AROUND_CONTENT).lower() for word in record.lexical.split()}
    return {word for word in words if word.isalpha()} if len(words) > 1 else set()


def _may_tell(word: str) -> bool:
    return in_any_lexicon(word) and may_name(word) and zipf_frequency(word) < TELLING_BELOW


def forget_name_words() -> None:
    """Empties the cache of name words, because a graph may no longer hold them."""
    _read.cache_clear()


def _named_in(record: VaultRecord) -> Iterator[list[str]]:
    """Yields the words of each name, and of each part of a text value that may be a name."""
    for name in record.names:
        yield _WORD.findall(name)
    if record.lexical is None or record.value_kind is not ValueKind.TEXT:
        return
    words = _WORD.findall(record.lexical)
    if len(words) <= MAX_NAME_WORDS:
        yield words
    else:
        yield from _capitalised(record.lexical)


def _capitalised(text: str) -> Iterator[list[str]]:
    """Yields runs of capitalised words, without the first word of a sentence."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        is_name = match[0][0].isupper() and not _SENTENCE_START.search(text, max(0, match.start() - 8), match.start())
        if run and (not is_name or text[end : match.start()] not in (" ", "-")):
            yield run
            run = []
        if is_name:
            run.append(match[0])
        end = match.end()
    if run:
        yield run


class _WordOfName(NamedTuple):
    """A word of a name: without capitals and accents, and its forms in the lexicon.

    `tells`: one of the forms can identify somebody.
    """

    plain: str
    forms: tuple[str, ...]
    tells: bool

    def __repr__(self) -> str:
        return "_WordOfName()"


@lru_cache(maxsize=20_000)
def _read(word: str) -> _WordOfName:
    small = word.lower()
    plain = without_accents(small)
    forms = tuple(form for form in dict.fromkeys((small, plain)) if in_any_lexicon(form))
    return _WordOfName(plain, forms, any(map(may_name, forms)))
