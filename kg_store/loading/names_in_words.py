"""Finds names and values of a graph in the words that its schema would show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Final

import numpy as np

from kg_store.lexicon.lexicon import in_lexicon
from kg_store.loading.classes import NodeClasses
from kg_store.loading.node_names import Names
from kg_store.loading.sorted_triples import SortedTriples
from kg_store.loading.value_exposure import MAX_LINKABLE_CHARS
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TermKind
from kg_store.text.english import is_ordinary
from kg_store.text.inflection import singular_phrase
from kg_store.text.labels import local_name, readable

_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "professor", "doctor", "sir", "madam", "miss"})
_BEFORE_SOMEBODY: Final = frozenset({"by", "of", "with", "from", "for", "to"})
MAX_WORDS_OF_A_PERSON: Final = 3
# Digits stay: patient17 is not called patient.
_SPELLED = re.compile(r"[^\W_]+")
# Words of columns and properties that stand in no dictionary and name nobody.
_TECHNICAL = frozenset(
    {"altlabel", "api", "bic", "birthdate", "bmi", "ceo", "cfo", "cms", "ct", "dna", "dob", "dx", "ecg", "eeg"}
    | {"ehr", "eur", "fax", "firstname", "fullname", "gdp", "gps", "gtin", "iban", "icd", "ids", "imdb", "img", "imo"}
    | {"ip", "isbn", "isin", "issn", "kg", "lastname", "lat", "lei", "mbox", "mg", "middlename", "mri", "nr", "pdf"}
    | {"postcode", "rna", "rx", "sha", "sku", "ssn", "swift", "tel", "timestamp", "uri", "usd", "uuid", "vat", "vin"}
    | {"xml", "zip"}
    | set("sqm sqft sqkm sqyd cbm mph kph kmh kwh mwh kw ghz mhz dpi rpm mmhg bpm ml ltr kcal kj lbs oz".split())
    | set("pct qty pcs yrs num desc addr acct uom ccy jpy inr cny nok sek dkk pln czk".split())
    | set("est etd tbd hq crm erp kpi ebit rma mpn upc asin gln".split())
)


@dataclass(frozen=True, slots=True)
class WordsToShow:
    """A relation or class that nobody has decided on; `position` is that of its term, `uses` its facts or things."""

    position: int
    term: str = field(repr=False)
    word: str = field(repr=False)
    words: list[str] = field(repr=False)
    uses: int
    is_declared: bool


UNITS_WITH_DIGITS: Final = frozenset("m2 m3 cm2 cm3 km2 mm2 mm3 ft2 ft3 co2 no2 o2 so2 h2o pm10".split())
"""Units and measured things, as columns are called by: no cell."""


def is_common(word: str) -> bool:
    # Words that are names as well (ward, king) pass where no name of the graph holds them.
    return in_lexicon(word) or word in _TECHNICAL or word in UNITS_WITH_DIGITS or is_ordinary(word)


class NamesOfGraph:
    """Finds names and text values in the words of relations and classes, in one pass over the graph."""

    def __init__(
        self,
        triples: SortedTriples,
        policy: Policy,
        named: Names,
        classes: NodeClasses,
        candidates: Sequence[WordsToShow],
    ) -> None:
        runs = {run for each in candidates for run in _runs(each.words)}
        doubtful = {word for each in candidates for word in _doubtful(each.words)}
        somebody = {word for each in candidates for word in _after_prepositions(each.words)}
        self._whole: dict[str, set[int]] = defaultdict(set)
        self._parts: dict[str, set[int]] = defaultdict(set)
        self._surnames: dict[str, set[int]] = defaultdict(set)
        for node, text, is_name in _texts(triples, named, policy.local_part_names):
            words = _SPELLED.findall(readable(text.replace("-", " ")).lower())
            # The file "summer rivers.csv" makes things of the class "summer river".
            for spelled in {" ".join(words), singular_phrase(words)} & runs if words else ():
                self._whole[spelled].add(node)
            for word in doubtful.intersection(words) if is_name and doubtful else ():
                # Wards are called wards: what a thing is of its class tells of nobody.
                if word not in classes.words_of(node):
                    self._parts[word].add(node)
            if is_name and words and words[-1] in somebody and _may_be_person(words):
                self._surnames[words[-1]].add(node)

    def hold(self, each: WordsToShow, shown: Container[int] = ()) -> bool:
        """True where the words are or hold a name or text value of another thing than themselves; the names of
        `shown` nodes count for nothing."""
        nodes = [self._whole.get(run, ()) for run in _runs(each.words)]
        nodes += [self._parts.get(word, ()) for word in _doubtful(each.words)]
        nodes += [self._surnames.get(word, ()) for word in _after_prepositions(each.words)]
        return any(node != each.position and node not in shown for node in chain.from_iterable(nodes))


def _doubtful(words: Sequence[str]) -> Iterator[str]:
    """Words that are a part of a name where the graph has it so: those outside the lexicon, and behind a title."""
    for before, word in pairwise(("", *words)):
        if before in _TITLES or not (in_lexicon(word) or word in _TECHNICAL):
            yield word


def _after_prepositions(words: Sequence[str]) -> Iterator[str]:
    """The last word, where it stands as somebody may: "told by price", "enemies of bishop"."""
    if len(words) > 1 and words[-2] in _BEFORE_SOMEBODY:
        yield words[-1]


def _may_be_person(words: Sequence[str]) -> bool:
    """True of "Jane Price" and false of "Social Work": common words alone name nobody."""
    return 1 < len(words) <= MAX_WORDS_OF_A_PERSON and not in_lexicon(words[0])


def _runs(words: Sequence[str]) -> Iterator[str]:
    """The whole, and every run of two words and more."""
    yield " ".join(words)
    for first in range(len(words)):
        for end in range(first + 2, len(words) + 1):
            yield " ".join(words[first:end])


def _texts(triples: SortedTriples, named: Names, has_local_names: bool) -> Iterator[tuple[int, str, bool]]:
    """Names of nodes, given or by their local part, and short text values: with the node, and whether it is a name."""
    raw, kinds = triples.raw, triples.raw.kinds()
    for node in np.flatnonzero(triples.nodes).tolist():
        if kinds[node] == TermKind.LITERAL:
            lexical = raw.literal(node).lexical
            if len(lexical) <= MAX_LINKABLE_CHARS:
                yield node, lexical, False
            continue
        yield from ((node, text, True) for text in named.get(node, ()))
        if kinds[node] == TermKind.TEXT:
            yield node, raw.text(node), True
        elif kinds[node] == TermKind.IRI and has_local_names:
            yield node, local_name(raw.text(node)), True
