"""Lexicon: the words that may leave in what is asked of one graph, and which of them are a part of somebody's name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final
from unicodedata import category

from kg_store.graph.schema import phrases_of
from kg_store.lexicon import in_any_lexicon, in_lexicon, words_of_language
from kg_store.lexicon.lexicon import languages
from kg_store.names.name_words import NameWords, is_short_name
from kg_store.terms import Schema, cached_by_version
from kg_store.text.english import PublicWords, stems
from kg_store.text.normalise import MARKS
from kg_store.text.numbers.relative_dates import relative_dates_in
from kg_store.text.numbers.units import Unit, unit_of_label

WORD: Final = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:['’ʼ＇][^\W_](?:[^\W_]|[{MARKS}])*)*")
"""A word with the endings behind its apostrophes; digits are letters here."""

_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]++(?:'[A-Za-z0-9]++)*+")

APOSTROPHES: Final = "'’ʼ＇"


def _ranges_of_symbols() -> str:
    def is_symbol(code: int) -> bool:
        kind = category(chr(code))
        return kind in ("So", "Sk", "Sm", "Co") or (kind == "Cn" and code in _PICTURES)

    runs = groupby(enumerate(filter(is_symbol, range(0x80, _PICTURES.stop))), key=lambda pair: pair[1] - pair[0])
    ends = ([code for _, code in run] for _, run in runs)
    return "".join(re.escape(chr(run[0])) + "-" + re.escape(chr(run[-1])) for run in ends)


_PICTURES = range(0x1F000, 0x1FC00)
SYMBOLS: Final = re.compile(f"[{_ranges_of_symbols()}\U000f0000-\U0010ffff]+")
"""Characters beyond ASCII that are neither of words nor punctuation, a space, or a currency's sign."""

CONTRACTIONS: Final = frozenset(("s", "t", "re", "ve", "ll", "d", "m"))
APOSTROPHE: Final = re.compile(rf"[{APOSTROPHES}]")
_MIN_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`public` are the own words of the asked graph's shown schema and of our templates; `names` those of all graphs
    of the tenant.

    Promise: a word that `permits` lets pass is a common word of a language, or schema that is shown. Condition: it is
    asked of words in small letters, as they were typed. Limit: a common word may be somebody's name all the same.
    """

    public: PublicWords = field(repr=False)
    names: NameWords = field(repr=False)
    schema: frozenset[str] = field(default=frozenset(), repr=False)
    """Words of shown relations and concepts, as `schema_words` gives them."""

    units: frozenset[Unit] = field(default=frozenset(), repr=False)
    """Units of the values of shown relations, as `schema_units` gives them."""

    periods: frozenset[str] = field(default=frozenset(), repr=False)
    """Words of the shown schema that sound like dates said by today, as `schema_periods` gives them."""

    def permits(self, word: str, language: str = "") -> bool:
        """Says whether `word` may leave, in a text of that language (ISO 639-1) besides English."""
        base, *endings = APOSTROPHE.split(word)
        if endings and not CONTRACTIONS.issuperset(endings):
            return False
        return in_lexicon(base) or self._is_shown(base) or (bool(language) and base in words_of_language(language))

    def permits_in_any_language(self, word: str) -> bool:
        """As the guard asks, which does not know the text's language."""
        return in_any_lexicon(word) or self.permits(word) or in_any_lexicon(base_of(word))

    def is_own(self, word: str) -> bool:
        """Says whether `word` itself is one of the shown schema: a common noun of the graph, whoever is called so."""
        return base_of(word) in self.schema

    def names_somebody(self, word: str) -> bool:
        """Says whether `word`, or what it is a form of, is a part of a name of the tenant; Don't is no Don."""
        base, *endings = APOSTROPHE.split(word)
        if endings[:1] == ["t"]:
            return False
        return base in self.names.parts or any(stem in self.names.parts for stem in stems(base))

    def may_be_short_name(self, word: str) -> bool:
        """Says whether `word`, of two letters, is a name where it is marked: a word of another language, which may
        be anybody's, or a rare one of English that is a part of a name of the tenant's."""
        return is_short_name(word) and (word in self.names.parts or not in_lexicon(word))

    def stand_in_one_name(self, word: str, other: str) -> bool:
        """Says whether `word`, or what it is a form of, stands beside `other` in a name of the tenant's graphs."""
        base = base_of(word)
        return any(self.names.are_neighbours(form, other) for form in (base, *stems(base)))

    def _is_shown(self, base: str) -> bool:
        return self.public.is_own(base) or any(self.public.is_own(stem) for stem in stems(base))


def words_in(text: str) -> Iterator[re.Match[str]]:
    """Every word of `text` (`WORD`); text in ASCII alone is read several times as fast."""
    return (_ASCII_WORD if text.isascii() else WORD).finditer(text)


@cached_by_version
def schema_words(schema: Schema) -> frozenset[str]:
    return frozenset(word for phrase in phrases_of(schema) for word in WORD.findall(phrase.replace("_", " ").lower()))


@cached_by_version
def schema_units(schema: Schema) -> frozenset[Unit]:
    """The units that the labels of shown relations end with."""
    labels = (relation.label for relation in schema.relations if relation.mask is None)
    return frozenset(unit for label in labels if (unit := unit_of_label(label)) is not None)


@cached_by_version
def schema_periods(schema: Schema) -> frozenset[str]:
    """ "Last year", of a relation "revenue last year": a part of its words, and no date."""
    return frozenset(part for phrase in phrases_of(schema) for part in relative_dates_in(phrase.replace("_", " ")))


def base_of(word: str) -> str:
    """`word` without what stands behind an apostrophe."""
    return word.partition("'")[0] if word.isascii() else APOSTROPHE.split(word, maxsplit=1)[0]


def language_of(words: Iterable[str]) -> str:
    """The language other than English that has more of `words`, in small letters, than English has of the others;
    empty where none has a third of them, or there are few."""
    told = Counter(words)
    bases: Counter[str] = Counter()
    for word, times in told.items():
        bases[base_of(word)] += times
    if bases.total() < _MIN_WORDS or all(map(in_lexicon, bases)):
        return ""
    counts = {code: _times(bases, bases.keys() & words_of_language(code)) for code in languages()}
    best = max(counts, key=lambda code: counts[code])
    # Short words are of many languages: what English alone has tells that it is English.
    english = _times(bases, filter(in_lexicon, bases.keys() - words_of_language(best)))
    return best if counts[best] > english and counts[best] * 3 >= bases.total() else ""


def _times(counts: Counter[str], words: Iterable[str]) -> int:
    return sum(counts[word] for word in words)
