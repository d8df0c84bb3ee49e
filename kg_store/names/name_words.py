"""The words of names: those of one graph, and those that are also in the lexicon, for all graphs of a tenant together.

A word outside the lexicon never leaves anyway, so an index of names over many graphs only needs the words that the
lexicon would permit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from kg_store.errors import StoreError
from kg_store.lexicon import in_any_lexicon, in_lexicon
from kg_store.lexicon.place_adjectives import places_called
from kg_store.names.name_markup import COMMON_WORDS
from kg_store.names.name_table import ROMAN_NUMERALS, NameTable
from kg_store.names.words.word_hashes import WordHashes, hash_of, one_slip_away, pair_of
from kg_store.storage.vault import VaultRecord
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords, frequent_ordinary, is_ordinary, is_rare
from kg_store.text.fuzzy_words import NearWords
from kg_store.text.normalise import MARKS, is_letters, normalise
from kg_store.text.word_matcher import without_accents, words_of

MODALS: Final = frozenset(("will", "may", "can", "might", "must"))
"""Modal verbs, which are names in places where no verb can stand."""

_RANKS: Final = frozenset(("count",))
"""Words that open a question as orders, and that are also parts of names."""

MIN_LETTERS: Final = 3
"""The least number of letters of a word that may name somebody; shorter ones are endings and function words. By hand.
"""

SHORT_LETTERS: Final = 2
"""The length of words that are names only if they are marked. Chosen by hand."""

MAX_NAME_WORDS: Final = 6
"""A text value of at most this many words may be a name; of longer ones only capitalised words are. Chosen by hand."""

_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*)[^\w\n]*\Z")
_VERSION: Final = "3"


class NameWordsVersionError(StoreError):
    """The words were stored by another version of the service and have to be read again from the graph."""


@dataclass(frozen=True, slots=True)
class NameWords:
    """The words of names.

    `parts`: single words; `said_alone`: those of them that stand in a name, or in a text value whose words all have a
    capital ("Price"), so that one alone may call a thing; `phrases`: whole names of two or more words that are all in
    the lexicon. `hashes`: other words, which can be tested for similarity, and words of the lexicon with their
    neighbours. Promise: every name, alias and text value given to `of` is included as far as the lexicon holds its
    words, with and without accents; of long texts only capitalised words. Limit: numbers and dates are no words.
    """

    parts: frozenset[str] = field(default=frozenset(), repr=False)
    phrases: frozenset[str] = field(default=frozenset(), repr=False)
    hashes: WordHashes = field(default=WordHashes(), repr=False)
    said_alone: frozenset[str] = field(default=frozenset(), repr=False)
    first_words: frozenset[str] = field(default=frozenset(), repr=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_words", frozenset(phrase.partition(" ")[0] for phrase in self.phrases))

    @classmethod
    def of(cls, records: Iterable[VaultRecord]) -> NameWords:
        parts: set[str] = set()
        phrases: set[str] = set()
        hashes: set[int] = set()
        alone: set[str] = set()
        for record in records:
            for words in _named_in(record):
                known = [_everyday(word) for word in words]
                parts.update(form for forms in known for form in forms)
                if record.names or all(word[0].isupper() for word in words):
                    alone.update(form for forms in known for form in forms)
                hashes.update(map(hash_of, _asked_alone(words, known)))
                if len(words) > 1 and all(known):
                    phrases.add(" ".join(forms[0] for forms in known))
        named = frozenset(part for part in parts if may_name(part) or is_short_name(part))
        return cls(named, frozenset(phrases), WordHashes.of(hashes), named & alone)

    @classmethod
    def union(cls, each: Iterable[NameWords]) -> NameWords:
        graphs = list(each)
        parts = frozenset().union(*(graph.parts for graph in graphs))
        phrases = frozenset().union(*(graph.phrases for graph in graphs))
        alone = frozenset().union(*(graph.said_alone for graph in graphs))
        return cls(parts, phrases, WordHashes.union(graph.hashes for graph in graphs), alone)

    def are_neighbours(self, word: str, other: str) -> bool:
        """True if the two stand side by side in a name; `word` is in the lexicon, both are in lower case."""
        forms = (other, without_accents(other))
        return any(pair_of(without_accents(word), form) in self.hashes for form in forms)

    def has_near(self, word: str) -> bool:
        """True if a name holds `word` (letters a to z) or a word one slip away from it."""
        return any(form in self.parts or form in self.hashes for form in one_slip_away(word))

    def to_bytes(self) -> bytes:
        """Returns the words unencrypted, for the catalog, which seals them."""
        words = ("\n".join(sorted(each)) for each in (self.parts, self.phrases, self.said_alone))
        sections = (*words, self.hashes.to_text())
        return "\n\n".join((_VERSION, *sections)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> NameWords:
        """Reads what `to_bytes` wrote. Raises NameWordsVersionError on other bytes."""
        version, *sections = data.decode().split("\n\n")
        if version != _VERSION or len(sections) != 4:
            raise NameWordsVersionError("the words of the graph's names are of another version of the service")
        parts, phrases, alone = (frozenset(section.split("\n")) - {""} for section in sections[:3])
        return cls(parts, phrases, WordHashes.from_text(sections[3]), alone)


def may_name(word: str) -> bool:
    """True if a word of the lexicon that is part of a name can identify somebody; "the", "of" and single letters
    cannot.
    """
    return len(word) >= MIN_LETTERS and (word not in COMMON_WORDS or word in MODALS or word in _RANKS)


def is_short_name(word: str) -> bool:
    """True of a word of two letters that English texts rarely use: "ma", but not "up"."""
    if len(word) != SHORT_LETTERS or word in COMMON_WORDS:
        return False
    return not in_lexicon(word) or is_rare(word)


def forget_name_words() -> None:
    """Empties the cache of name words, since a graph may no longer hold them."""
    _everyday.cache_clear()


def _named_in(record: VaultRecord) -> Iterator[list[str]]:
    """The words of each name, and of each part of a text value that may be a name."""
    for name in record.names:
        yield _WORD.findall(name)
    if record.lexical is None or record.value_kind is not ValueKind.TEXT:
        return
    words = _WORD.findall(record.lexical)
    if len(words) <= MAX_NAME_WORDS:
        yield words
    else:
        yield from _capitalised(record.lexical)


def _asked_alone(words: Sequence[str], known: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The words outside the lexicon, without accents, and words of the lexicon joined with their neighbours."""
    plain = [without_accents(word.lower()) for word in words]
    tells = [any(map(may_name, forms)) for forms in known]
    yield from (word for word, forms in zip(plain, known, strict=True) if not forms)
    for (one, other), telling in zip(pairwise(plain), pairwise(tells), strict=True):
        if any(telling):
            yield pair_of(one, other)


def _capitalised(text: str) -> Iterator[list[str]]:
    """Runs of capitalised words, without the first word of a sentence."""
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


@lru_cache(maxsize=200_000)
def _everyday(word: str) -> tuple[str, ...]:
    """The forms of `word` that are in a lexicon: as written, and without accents."""
    small = word.lower()
    return tuple(form for form in dict.fromkeys((small, without_accents(small))) if in_any_lexicon(form))


_MIN_PLURAL_LENGTH = 4
_COMPARED = ("er", "est")
_MORE_EVERYDAY = frozenset("died heard became began paid ive".split())
"""Forms that the dictionary of ordinary words lacks: of verbs, and "ive" for "I've"."""

_MAX_CACHED = 100_000


class NameVocabulary:
    """The words of names as a vocabulary; words are passed as `words_of` returns them: normalised, in plain Latin
    letters.
    """

    def __init__(self, rows: NameTable, public: PublicWords) -> None:
        self.rows = rows
        self._public = public
        self._near: dict[str, dict[int, int]] = {}
        may_be_ordinary("")  # Reads the dictionary now, and not with the first question.

    def is_own(self, word: str) -> bool:
        """True of a word of the service's phrases, or a small number."""
        return self._public.is_own(word)

    def is_everyday(self, word: str) -> bool:
        """True of a word of the service's phrases, a small number, or an ordinary English word or a form of one."""
        is_compared = word.endswith(_COMPARED) and in_lexicon(word)
        return word in _MORE_EVERYDAY or self._public.is_own(word) or is_ordinary(word) or is_compared

    def is_public(self, word: str) -> bool:
        return word in _MORE_EVERYDAY or word in self._public or is_ordinary(word)

    def looks_like_name(self, text: str) -> bool:
        """True where a word of `text` is no everyday word, but letters."""
        words = (word.text for word in words_of(normalise(text).text))
        return any(is_letters(word) and len(word) > 1 and not self.is_everyday(word) for word in words)

    def near(self, word: str) -> dict[int, int]:
        """Returns name words that `word` may stand for, with the number of slips; 0 for itself."""
        found = self._near.get(word)
        if found is None:
            found = self._near[word] = self._near_words(word)
            if len(self._near) > _MAX_CACHED:
                self._near.clear()
        return found

    def _near_words(self, word: str) -> dict[int, int]:
        plural = word.endswith("s") and len(word) >= _MIN_PLURAL_LENGTH
        is_noun = self.is_everyday(word[:-1]) or bool(places_called(word[:-1]))
        plural = plural and (word not in self._public or is_noun)
        spelt = [self.rows.number_of(word), self.rows.number_of(word[:-1]) if plural else None]
        found = {number: 0 for number in spelt if number is not None}
        return found if self.is_public(word) or word in ROMAN_NUMERALS else {**self.rows.near.near(word), **found}


@cache
def may_be_ordinary(word: str) -> bool:
    """True if `word` is a slip away from a frequent English word, so that alone it is not taken for a
    misspelt name.
    """
    return bool(_frequent().near(word))


@cache
def _frequent() -> NearWords:
    return NearWords.of(frequent_ordinary())
