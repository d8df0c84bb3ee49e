"""Lexicon: the words that may leave in questions about one graph, and which of them are parts of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from kg_store.graph.schema import phrases_of
from kg_store.lexicon.lexicon import (
    in_any_lexicon,
    in_lexicon,
    in_lexicon_of,
    languages,
    languages_of,
    languages_of_rarer,
    words_of_language,
)
from kg_store.names.name_words import NameWords, is_short_name
from kg_store.sources.policy import Policy
from kg_store.sources.triple_files import words_of
from kg_store.terms import Schema, ValueKind, cached_by_version
from kg_store.text.english import PublicWords, stems
from kg_store.text.normalise import MARKS
from kg_store.text.quantities import DAYS, Unit, unit_called_alone, unit_of_label, units_called
from kg_store.text.relative_dates import relative_dates_in

WORD: Final = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:['’ʼ＇][^\W_](?:[^\W_]|[{MARKS}])*)*")
"""Matches a word, together with endings after apostrophes; digits count as letters."""

_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]++(?:'[A-Za-z0-9]++)*+")

APOSTROPHES: Final = "'’ʼ＇"


CONTRACTIONS: Final = frozenset(("s", "t", "re", "ve", "ll", "d", "m"))
APOSTROPHE: Final = re.compile(rf"[{APOSTROPHES}]")
_MIN_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words that may leave in questions about one graph.

    `public`: words of the graph's shown schema and of the service's templates; `names`: words of names in all graphs
    of the tenant. Promise: a word that `permits` accepts is a common word of a language, or of a shown schema.
    Condition: words are passed in lower case, as typed. Limit: a common word may still be somebody's name.
    """

    public: PublicWords = field(repr=False)
    names: NameWords = field(repr=False)
    schema: frozenset[str] = field(default=frozenset(), repr=False)
    """Words of shown relations and concepts, from `schema_words`."""

    units: frozenset[Unit] = field(default=frozenset(), repr=False)
    """Units of the values of shown relations, from `schema_units`."""

    periods: frozenset[str] = field(default=frozenset(), repr=False)
    """Parts of the shown schema's words that look like relative dates, from `schema_periods`."""

    def permits(self, word: str, language: str = "") -> bool:
        """True if `word` may leave in a text of the language (ISO 639-1). English words always may."""
        base, *endings = _parts_of(word)
        if endings and not CONTRACTIONS.issuperset(endings):
            return False
        return in_lexicon(base) or self._is_shown(base) or (bool(language) and in_lexicon_of(language, base))

    def permits_in_any_language(self, word: str) -> bool:
        """True if `word` may leave in some language; for the guard, which does not know the text's language."""
        return in_any_lexicon(word) or self.permits(word) or in_any_lexicon(base_of(word))

    def is_own(self, word: str) -> bool:
        """True if `word` is a word of the shown schema: a common noun of the graph, even if it is also a name."""
        return base_of(word) in self.schema

    def names_somebody(self, word: str) -> bool:
        """True if `word`, or its base form, is part of a name in the tenant's graphs.

        "Don't" does not count as "Don".
        """
        base, *endings = _parts_of(word)
        if endings[:1] == ["t"]:
            return False
        return base in self.names.parts or any(stem in self.names.parts for stem in stems(base))

    def may_be_short_name(self, word: str) -> bool:
        """True if `word` is a two-letter word that counts as a name when it is marked as one.

        It is no English word, or it is part of a name of the tenant.
        """
        return is_short_name(word) and (word in self.names.parts or not in_lexicon(word))

    def stand_in_one_name(self, word: str, other: str) -> bool:
        """True if `word`, or its base form, stands next to `other` in a name of the tenant's graphs."""
        base = base_of(word)
        return any(self.names.are_neighbours(form, other) for form in (base, *stems(base)))

    def _is_shown(self, base: str) -> bool:
        return self.public.is_own(base) or any(self.public.is_own(stem) for stem in stems(base))


def words_in(text: str) -> Iterator[re.Match[str]]:
    """Yields every match of WORD in `text`; ASCII text takes a faster pattern."""
    return (_ASCII_WORD if text.isascii() else WORD).finditer(text)


@cached_by_version
def schema_words(schema: Schema) -> frozenset[str]:
    return frozenset(word for phrase in phrases_of(schema) for word in WORD.findall(phrase.replace("_", " ").lower()))


@cached_by_version
def schema_units(schema: Schema) -> frozenset[Unit]:
    """Returns the units of measure of shown relations ("weight kg", "minutes"), and days where dates may differ."""
    shown = [relation for relation in schema.relations if relation.mask is None]
    units = {unit_of_label(each.label) for each in shown}
    units |= {unit_called_alone(each.label) for each in shown if each.value_kind is ValueKind.NUMBER}
    dates = {each.id for each in shown if each.value_kind is ValueKind.DATE}
    if any(len(dates & {hop.relation for hop in each.hops if not hop.inverse}) > 1 for each in schema.signatures):
        units |= {*units_called(DAYS)}
    return frozenset(unit for unit in units if unit is not None)


def column_units(schema: Schema, policy: Policy) -> frozenset[Unit]:
    """Returns the units that the policy gives columns of shown relations, whose labels may lack them."""
    shown = {relation.label for relation in schema.relations if relation.mask is None}
    columns = [column for table in policy.tables for column in table.columns.values() if column.relation in shown]
    units = (unit_called_alone(column.unit) for column in columns if column.unit)
    return frozenset(unit for unit in units if unit is not None)


@cached_by_version
def schema_periods(schema: Schema) -> frozenset[str]:
    """Returns the parts of the schema's words that look like relative dates: "last year" of "revenue last year"."""
    return frozenset(part for phrase in phrases_of(schema) for part in relative_dates_in(phrase.replace("_", " ")))


def base_of(word: str) -> str:
    """Returns `word` up to its first apostrophe."""
    return word.partition("'")[0] if word.isascii() else APOSTROPHE.split(word, maxsplit=1)[0]


def _parts_of(word: str) -> list[str]:
    """Returns the parts of `word` between its apostrophes."""
    return word.split("'") if word.isascii() else APOSTROPHE.split(word)


def is_common(name: str) -> bool:
    """Returns True if all words of a text are common ones, so that it hardly is the name of a person or place."""
    words = words_of(name)
    return bool(words) and all(map(in_lexicon, words)) and not re.search(r"\d", name)


def language_of(words: Iterable[str]) -> str:
    """Returns the language (ISO 639-1) that knows most of `words` (lower case).

    Empty if they are mostly English, too few, or less than a third are known.
    """
    told = Counter(words)
    bases: Counter[str] = Counter()
    for word, times in told.items():
        bases[base_of(word)] += times
    if bases.total() < _MIN_WORDS or all(map(in_lexicon, bases)):
        return ""
    counts = dict.fromkeys(languages(), 0)
    for base, times in bases.items():
        for code in (*languages_of(base), *(() if in_lexicon(base) else languages_of_rarer(base))):
            counts[code] += times
    best = max(counts, key=lambda code: counts[code])
    # Many languages share short words, so only words that the other language lacks count for English.
    english = _times(bases, filter(in_lexicon, bases.keys() - words_of_language(best)))
    return best if counts[best] > english and counts[best] * 3 >= bases.total() else ""


def _times(counts: Counter[str], words: Iterable[str]) -> int:
    return sum(counts[word] for word in words)
