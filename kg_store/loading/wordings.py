"""Further words of relations and classes, from the policy and the sources; and a search for names in such words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import Final

import numpy as np

from kg_store.graph.schema import holds_any
from kg_store.lexicon.lexicon import common_words, in_large_lexicon, in_lexicon, kinds_of
from kg_store.loading.node_names import Names, speaks_of_schema
from kg_store.loading.relations import MAX_LINKABLE_CHARS
from kg_store.loading.sorted_triples import Flags, NodeClasses, SortedTriples, property_twins
from kg_store.names.name_words import may_name
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TermKind
from kg_store.sources.triple_files import words_of
from kg_store.sources.vocabulary import NAME_PREDICATES, RDFS
from kg_store.terms import Relation
from kg_store.text.english import is_ordinary
from kg_store.text.inflection import regular_plural, singular, singular_phrase
from kg_store.text.labels import clean, is_short_label, local_name, readable_lines, readable_relation

_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "professor", "doctor", "sir", "madam", "miss"})
MAX_WORDS_OF_A_PERSON: Final = 3
MIN_SURNAME_LETTERS: Final = 4
"""A name that begins with a common word is one of a person if its last word has so many letters. Chosen by hand."""
MIN_PEOPLE: Final = 0.6
"""A kind is one of people if at least this share of its names look like those of persons. Chosen by hand."""
MIN_SHARED, MIN_SHARE_OF_KIND = 3, 0.2
"""A word in this many names, and this share of the names, of one kind tells the kind of a thing. Chosen by hand."""
MAX_BY_CHANCE: Final = 40
"""Where names hold more different common words than this, some are words of the schema by chance (among thousands of
artists one is called Place, and one Birth): such a word then counts only where a name may stand. Chosen by hand.
"""
_BEFORE_SOMEBODY: Final = frozenset({"by", "of", "with", "from", "for", "to"})
MAX_OWN_SHARE: Final = 0.5
"""People of whom at most this share is called like their kind may have given it their name. Chosen by hand."""
_TITLED_WORDS: Final = re.compile(r"[^\W\d_a-z][^\W\d_]+(?: [^\W\d_a-z][^\W\d_]+){1,3}")
# With digits, so that patient17 does not become patient.
_SPELLED = re.compile(r"[^\W_]+")
# Words of columns and properties that are in no dictionary and name nobody.
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
    """The words of a relation or class, to be checked for names.

    `position`: the number of its term; `term`: its IRI or cell; `uses`: the number of its facts (or, for a class,
    nodes). `is_declared`: the sources describe it as schema. `is_class`: it is no relation. `is_public`: only files of
    a public graph have it.
    """

    position: int
    term: str = field(repr=False)
    word: str = field(repr=False)
    words: list[str] = field(repr=False)
    uses: int
    is_declared: bool
    is_class: bool = False
    is_public: bool = False


UNITS_WITH_DIGITS: Final = frozenset("m2 m3 cm2 cm3 km2 mm2 mm3 ft2 ft3 co2 no2 o2 so2 h2o pm10".split())
"""Units and measured substances that occur in names of columns; their digits do not make them table cells."""


def is_common(word: str) -> bool:
    # Words that may also be names (ward, king) pass here; NamesOfGraph checks them against the graph.
    return in_large_lexicon(word) or word in _TECHNICAL or word in UNITS_WITH_DIGITS or is_ordinary(word)


class NamesOfGraph:
    """Finds names and text values of the graph in the words of relations and classes, in one pass over the texts."""

    def __init__(self, texts: Sequence[TextOfNode], classes: NodeClasses, candidates: Sequence[WordsToShow]) -> None:
        """`candidates`: all relations and classes that `among` is asked about."""
        runs = {run for each in candidates for run in _runs(each.words)}
        vocabulary = {word for run in runs for word in run.split(" ")}
        self._parts = PartsOfNames(_parts_of(candidates))
        self._whole: dict[str, set[int]] = defaultdict(set)
        groups = classes.set_of.tolist()
        for node, words, kind in texts if candidates else ():
            # The file "summer rivers.csv" gives its rows the class "summer river". The singular changes one word, so
            # the first or the last of several words has to stand in a run as it is.
            spellings: tuple[str, ...] = ()
            if len(words) == 1:
                spellings = words[0], singular(words[0])
            elif words and (words[0] in vocabulary or words[-1] in vocabulary):
                spellings = " ".join(words), singular_phrase(words)
            for spelled in spellings:
                if spelled in runs:
                    self._whole[spelled].add(node)
            self._parts.add(node, words, kind, groups[node], classes.words[groups[node]])

    def among(self, candidates: Sequence[WordsToShow]) -> NamesInWords:
        """Returns the names in the words of some of the candidates, which are shown beside one another."""
        words = _parts_of(candidates)
        doubtful = {word for each in candidates for word in _doubtful(each.words)}
        told = {word for each in candidates for word in _after_prepositions(each.words)}
        some, of_people = (self._parts.found(words, doubtful, told, with_single=each) for each in (True, False))
        return NamesInWords(self._whole, some, of_people)


@dataclass(frozen=True, slots=True)
class NamesInWords:
    """The nodes of which the words of relations and classes may speak: by a whole text, by a part of a name, and by a
    part of a person's name.
    """

    whole: Mapping[str, set[int]] = field(repr=False)
    parts: Mapping[str, set[int]] = field(repr=False)
    parts_of_people: Mapping[str, set[int]] = field(repr=False)

    def hold(self, each: WordsToShow, shown: Container[int] = (), bare: Flags | None = None) -> bool:
        """Returns True if the words equal or contain a name or text value of some node, or a part of a name.

        Nodes in `shown` do not count, nor does the relation or class itself if it is a node, nor what is flagged in
        `bare` and called just so.
        """
        whole = {node for run in _runs(each.words) for node in self.whole.get(run, ())}
        # A value may be called like a class, or its last word: "client", where somebody's role is told.
        told = each.words[-1:] if each.is_class else ()
        nodes = whole.union(
            *((self.parts_of_people if word in told else self.parts).get(word, ()) for word in each.words)
        )
        named = {node for node in whole if bare is not None and bare[node]}
        return any(node != each.position and node not in shown for node in nodes - named)


def _parts_of(candidates: Sequence[WordsToShow]) -> set[str]:
    """Returns the words of relations and classes that may be parts of names."""
    doubtful = {word for each in candidates for word in _doubtful(each.words)}
    words = {word for each in candidates for word in each.words}
    return {word for word in words if word in doubtful or _may_name(word)}


class PartsOfNames:
    """Finds which words of the schema are parts of names, or are text values of one word.

    A part of a name counts if the name looks like a person's ("Jane Price"), or if most names of its kind do ("Summer
    Rivers", among patients). A word does not count if the kind of the thing is called so (wards are called "ward
    ..."), or if it stands in many names of one kind ("Kestrel Wing", "Heron Wing").
    """

    def __init__(self, words: Iterable[str]) -> None:
        """Prepares a search for `words`, those of the schema, in the singular and in the plural."""
        self._lexicon = common_words()
        self._common, self._common_alone = set[str](), set[str]()
        self._wanted: dict[str, set[str]] = defaultdict(set)
        for word in words:
            for form in (word, regular_plural(word), singular(word)):
                self._wanted[form].add(word)
        self._names: dict[int, int] = defaultdict(int)
        self._people: dict[int, int] = defaultdict(int)
        self._seen: dict[tuple[int, str], SeenWord] = defaultdict(SeenWord)

    def add(self, node: int, words: Sequence[str], kind: TextKind, group: int, own: Container[str]) -> None:
        """Adds a text of a node. `group`: a number for the node's classes; `own`: the words of these classes."""
        plain = words[1:] if words and words[0] in _TITLES else words
        is_short = 1 < len(plain) <= MAX_WORDS_OF_A_PERSON and all(word.isalpha() for word in plain)
        is_short = is_short and _BEFORE_SOMEBODY.isdisjoint(plain)  # "Commons of Hooge" is nobody.
        is_person = is_short and plain[0] not in self._lexicon
        has_surname = is_short and kind is _NAME and self._has_a_surname(plain)
        if kind is _NAME:
            self._names[group] += 1
            self._people[group] += is_person
        if is_person or len(words) == 1:
            common = self._common if is_person else self._common_alone
            if len(common) <= MAX_BY_CHANCE:
                common.update([word for word in words if word in self._lexicon])
        if self._wanted.keys().isdisjoint(words) or (kind is _VALUE and len(words) > 1):
            return
        for word in words:
            for wanted in self._wanted.get(word, ()):
                seen = self._seen[group, wanted]
                seen.is_own |= wanted in own or word in own
                seen.all.add(node)
                if is_person or (has_surname and word != words[-1]):
                    seen.of_people.add(node)
                elif len(words) == 1:
                    seen.single.add(node)

    def _has_a_surname(self, words: Sequence[str]) -> bool:
        """Returns True if the last word is no common word, and long enough for a surname: "June Hargreave"."""
        return len(words[-1]) >= MIN_SURNAME_LETTERS and words[-1] not in self._lexicon

    def found(
        self, words: Container[str], doubtful: Container[str], told: Container[str], *, with_single: bool
    ) -> Mapping[str, set[int]]:
        """Returns the nodes that each of `words` speaks of; one in `doubtful` counts wherever it stands in a name.

        `told`: those that stand where a name may stand, behind a preposition at the end ("told by price").
        `with_single`: names and values of one word count, which many a thing has that is no person.
        """
        nodes: dict[str, set[int]] = defaultdict(set)
        for (group, word), seen in self._seen.items():
            if word not in words:
                continue
            names = self._names[group]
            are_people = names > 0 and self._people[group] >= MIN_PEOPLE * names
            if seen.is_own and not (are_people and len(seen.all) <= MAX_OWN_SHARE * names):
                continue
            is_of_kind = len(seen.all) >= MIN_SHARED and len(seen.all) >= MIN_SHARE_OF_KIND * names
            counts_people = len(self._common) <= MAX_BY_CHANCE or word in told
            if word in doubtful or (are_people and counts_people and not is_of_kind):
                nodes[word] |= seen.all
            elif not is_of_kind:
                counts_single = with_single and len(self._common_alone) <= MAX_BY_CHANCE
                nodes[word] |= (seen.of_people if counts_people else set()) | (seen.single if counts_single else set())
        return nodes


@dataclass(slots=True)
class SeenWord:
    """A word of the schema in texts of things of one kind.

    `all`: the things; `of_people`: those whose name looks like a person's; `single`: those of which it is the whole
    text. `is_own`: the kind is called so.
    """

    all: set[int] = field(default_factory=set)
    of_people: set[int] = field(default_factory=set)
    single: set[int] = field(default_factory=set)
    is_own: bool = False


def _may_name(word: str) -> bool:
    """Returns False for words such as "of" and "too", which are neither nouns, verbs nor adjectives."""
    kinds = kinds_of(word)
    return not in_lexicon(word) or (may_name(word) if not kinds else not set("nva").isdisjoint(kinds))


def _doubtful(words: Sequence[str]) -> Iterator[str]:
    """Yields the words that may be part of a name: those outside the lexicon, and those after a title."""
    for before, word in pairwise(("", *words)):
        if before in _TITLES or not (in_lexicon(word) or word in _TECHNICAL):
            yield word


def _after_prepositions(words: Sequence[str]) -> Iterator[str]:
    """Yields the last word if it follows a preposition, as a name may: "told by price", "enemies of bishop"."""
    if len(words) > 1 and words[-2] in _BEFORE_SOMEBODY:
        yield words[-1]


def _runs(words: Sequence[str]) -> Iterator[str]:
    """Yields all the words together, and every run of at least two of them."""
    yield " ".join(words)
    for first in range(len(words)):
        for end in range(first + 2, len(words) + 1):
            yield " ".join(words[first:end])


class TextKind(Enum):
    """The part of a text for its node: a given name, the last part of the IRI, or the value that the node is.

    TITLED: a value of a few words that all have a capital, as names of people have ("Ivy Rosenthal").
    """

    NAME = "name"
    LOCAL = "local name"
    VALUE = "value"
    TITLED = "titled value"


_NAME, _LOCAL, _VALUE, _TITLED = TextKind
"""Looked up once, because that takes Python 3.11 longer than all else that is done with a text."""

TextOfNode = tuple[int, list[str], TextKind]
"""A node, the words of one of its texts in lower case, and the part that the text plays for the node."""


def texts_of_nodes(triples: SortedTriples, named: Names, has_local_names: bool) -> list[TextOfNode]:
    """Returns the words of names of nodes, given or local, and of short text values."""
    found = [*_texts_of_nodes(triples, named, has_local_names)]
    # All texts are made readable at once, each on a line of its own.
    lines = readable_lines("\n".join(text.replace("-", " ").replace("\n", " ") for _, text, _ in found)).lower()
    rows = zip(found, lines.split("\n"), strict=True)
    return [(node, _SPELLED.findall(line), kind) for (node, _, kind), line in rows] if found else []


def _texts_of_nodes(
    triples: SortedTriples, named: Names, has_local_names: bool
) -> Iterator[tuple[int, str, TextKind]]:
    raw, kinds = triples.raw, triples.raw.kinds()
    nodes = np.flatnonzero(triples.nodes)
    literal, cell, iri = TermKind.LITERAL, TermKind.TEXT, TermKind.IRI
    for node, kind in zip(nodes.tolist(), kinds[nodes].tolist(), strict=True):
        if kind == literal:
            lexical = raw.text(node)
            if len(lexical) <= MAX_LINKABLE_CHARS:
                yield node, lexical, _TITLED if _TITLED_WORDS.fullmatch(lexical) else _VALUE
            continue
        for text in named.get(node, ()):
            yield node, text, _NAME
        if kind == cell:
            yield node, raw.text(node), _NAME
        elif kind == iri and has_local_names:
            yield node, local_name(raw.text(node)), _LOCAL


MAX_FROM_SOURCES: Final = 12
"""The most further words from the sources for one relation or class."""
MAX_COMMENT_CHARS: Final = 2_000
_OF_COMMENTS: Final = frozenset(
    "before after since until under over above below first last "
    "that this these those which what whose whom with from into been being have has each every only also such when "
    "where while their they them than then there here about between through other another some many most more less "
    "somebody something someone anything used using based given made called known recorded stored kept contain "
    "describe describes indicate indicates denote denotes represent represents refer refers specify specifies relate "
    "relates property relation relationship value entity subject object instance resource thing field attribute "
    "information data example note optional required usually always never should must will would could".split()
)
"""Words that comments use often and questions do not."""
MIN_HINT_LETTERS: Final = 4
# Matches words in small letters; beside a capital, a digit or a sign, a word may be part of a name.
_SMALL: Final = re.compile(r"(?<![\w'’-])[a-z]+(?![\w'’-])")
_COMMENT: Final = RDFS + "comment"
# Matches digits, or a capital after a word in small letters: "home of Quarrel".
_MAY_NAME: Final = re.compile(r"\d|\b[a-z]+ (?:.* )?[A-Z]")

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Wordings:
    """The further words of one load: other ways to ask for a relation or class than the word that is shown.

    `of_sources`: such words from the sources, by the IRI or cell of the relation or class. `hints`: for each relation,
    the single words of its comments that no other relation's comments have.
    """

    policy: Policy = field(repr=False)
    of_sources: Words = field(repr=False)
    hints: Words = field(repr=False)

    def of_relation(self, predicate: str) -> tuple[str, ...]:
        """Returns the further words of a relation, shown or not: the owner's, then those of the sources."""
        return _each_once((*self.policy.of(predicate).words, *self.of_sources.get(predicate, ())))

    def of_class(self, term: str, word: str) -> tuple[str, ...]:
        """Returns the further words of a class; the policy may list it by its IRI (`term`) or by its `word`."""
        return _each_once((*self._of_owner(term, word), *self.of_sources.get(term, ())))

    def relations(self, shown: Iterable[Relation], unsaid: Iterable[tuple[str, ...]]) -> tuple[Relation, ...]:
        """Returns the relations `shown` with their further words; masked ones get none.

        Words of the sources are dropped if they hold words of masked or hidden relations (`unsaid`); words of the
        owner that do so are refused elsewhere (`refuse_telling`).
        """
        unsaid, found = tuple(unsaid), []
        for each in shown:
            own, label = self.policy.of(each.iri).words, f" {each.label}".casefold()
            words = (text for text in self.of_relation(each.iri) if text in own or not holds_any(text, unsaid))
            # Relations that share a label got a word in front of it; the shared part would not tell them apart.
            kept = tuple(text for text in words if not label.endswith(f" {text}".casefold()))
            hints = tuple(word for word in self.hints.get(each.iri, ()) if not holds_any(word, unsaid))
            found.append(each if each.mask is not None else replace(each, words=kept, hints=hints))
        return tuple(found)

    def kinds(
        self, classes: Mapping[str, str], hidden: Container[str], unsaid: Iterable[tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """Returns the further words of each class by the class's word; classes in `hidden` are left out.

        `classes`: the word of each class, by its IRI or cell. `unsaid`: the real words of masked and hidden relations
        and classes; words of the sources that contain them are left out. Names in the policy that are no class are
        included, since a concept may be called so.
        """
        unsaid = tuple(unsaid)
        found: dict[str, tuple[str, ...]] = {}
        for term, word in classes.items():
            own = self._of_owner(term, word)
            kept = (text for text in self.of_class(term, word) if text in own or not holds_any(text, unsaid))
            if word not in hidden:
                found[word] = _each_once((*found.get(word, ()), *(text for text in kept if text.casefold() != word)))
        known = {*classes, *classes.values()}
        found |= {kind: told.words for kind, told in self.policy.classes.items() if kind not in known}
        return {kind: words for kind, words in found.items() if words}

    def _of_owner(self, term: str, word: str) -> list[str]:
        told = (self.policy.classes[each].words for each in (term, word) if each in self.policy.classes)
        return [text for words in told for text in words]


@dataclass(frozen=True, slots=True)
class SpokenWords:
    """Further words of the sources for relations and classes, and single words that tell of a relation (hints)."""

    words: list[WordsToShow] = field(repr=False)
    hints: list[WordsToShow] = field(repr=False)


def find_spoken(triples: SortedTriples, policy: Policy, classes: NodeClasses) -> SpokenWords:
    """Returns the words of the sources of which `find_wordings` keeps those that hold no name.

    The sources give labels beside the one that is shown, alternative labels, comments of a few words, and local names,
    in English or without a language. They are common English words without digits or inner capitals. If the policy
    sets a `label`, the relation gets none.
    """
    labels = ((subject, text) for subject, _, text in _texts(triples) if is_short_label(text))
    said = [each for each in (*labels, *_local(triples, classes)) if not _MAY_NAME.search(each[1])]
    return SpokenWords(*(_candidates(triples, policy, each) for each in (said, _telling(triples))))


def find_wordings(triples: SortedTriples, policy: Policy, spoken: SpokenWords, names: NamesOfGraph) -> Wordings:
    """Returns the further words of relations and classes from the policy and the sources.

    Promise: a word of the sources that is kept equals no name or text value of this graph.
    """
    held = names.among([*spoken.words, *spoken.hints])
    words, hints = ([each for each in some if not held.hold(each)] for some in (spoken.words, spoken.hints))
    return Wordings(policy, _by_term(triples, words), _by_term(triples, hints))


def _candidates(triples: SortedTriples, policy: Policy, said: Iterable[tuple[int, str]]) -> list[WordsToShow]:
    """Returns those of the texts `said` that consist of common words.

    A relation for which the policy sets a label gets none.
    """
    found = [
        WordsToShow(position, triples.raw.text(position), text, words_of(text), 0, is_declared=True)
        for position, text in dict.fromkeys(said)
        if policy.of(triples.raw.text(position)).label is None
    ]
    return [each for each in found if each.words and all(map(is_common, each.words))]


def _by_term(triples: SortedTriples, kept: Iterable[WordsToShow]) -> Words:
    found: dict[str, tuple[str, ...]] = {}
    for each in kept:
        found[each.term] = (*found.get(each.term, ()), each.word)[:MAX_FROM_SOURCES]
    for predicate, twin in property_twins(triples.raw).items():
        own, told = triples.raw.text(predicate), triples.raw.text(twin)
        if told in found:
            found[own] = _each_once((*found.get(own, ()), *found[told]))
    return found


def _telling(triples: SortedTriples) -> Iterator[tuple[int, str]]:
    """Yields (relation, word) for the lower-case words that only the long comments of this one relation have."""
    is_relation = {*np.unique(triples.raw.predicates).tolist(), *property_twins(triples.raw).values()}
    said: defaultdict[int, set[str]] = defaultdict(set)
    for subject, is_comment, text in _texts(triples):
        if is_comment and subject in is_relation and not is_short_label(text):
            small = _SMALL.findall(text[:1].lower() + text[1:MAX_COMMENT_CHARS])
            said[subject] |= {singular(word) for word in small if len(word) >= MIN_HINT_LETTERS} - _OF_COMMENTS
    used = Counter(word for words in said.values() for word in words)
    for subject, words in said.items():
        yield from ((subject, word) for word in sorted(words) if used[word] == 1)


def _texts(triples: SortedTriples) -> Iterator[tuple[int, bool, str]]:
    """Yields the labels and comments of relations and classes as (subject, True for a comment, text)."""
    raw, kinds = triples.raw, triples.raw.kinds()
    wanted = {*NAME_PREDICATES, _COMMENT}
    telling = [each for each in np.unique(raw.predicates).tolist() if raw.text(each) in wanted]
    is_literal = (kinds[raw.objects] == TermKind.LITERAL) | (kinds[raw.objects] == TermKind.TEXT)
    of_schema = np.isin(raw.predicates, telling) & speaks_of_schema(triples) & is_literal
    for triple in np.flatnonzero(of_schema).tolist():
        literal = raw.literal(raw.objects[triple])
        text = clean(literal.lexical.rstrip(" ."))
        if not literal.language or literal.language.startswith("en"):
            yield int(raw.subjects[triple]), raw.text(raw.predicates[triple]) == _COMMENT, text


def _local(triples: SortedTriples, classes: NodeClasses) -> Iterator[tuple[int, str]]:
    """Yields the local names of relations and classes with the positions of their terms."""
    raw = triples.raw
    for position in (*np.unique(raw.predicates[triples.facts]).tolist(), *classes.word_of):
        text = readable_relation(raw.text(position), raw.is_iri(position))
        if raw.is_iri(position) and is_short_label(text):
            yield position, text


def _each_once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple({word.casefold(): word for word in reversed(tuple(words))}.values())[::-1]
