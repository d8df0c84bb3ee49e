"""load_graph: turns triples and a policy into relations, MIDs, adjacency arrays, vault records and name entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from kg_store.errors import LoadError
from kg_store.graph.adjacency import KINDS, Adjacency, Facts, Nodes, build_adjacency
from kg_store.graph.schema import placeholder
from kg_store.loading.default_masks import (
    default_masks,
    find_undecided,
    hidden_classes,
    mids_of_classes,
    notes_of,
    unsaid_classes,
    with_masks,
)
from kg_store.loading.node_names import (
    Names,
    find_mediators,
    given_names,
    labels_by_language,
    labels_of,
    local_aliases,
    local_names,
    undone,
    with_spellings,
)
from kg_store.loading.relations import KINDS as VALUE_KINDS
from kg_store.loading.relations import Relations, ValueExposure, find_relations, find_showing, value_kinds
from kg_store.loading.sorted_triples import NodeClasses, SortedTriples, blank_terms, find_classes, sort_triples
from kg_store.loading.wordings import NamesOfGraph, Wordings, find_spoken, find_wordings, texts_of_nodes
from kg_store.names.index import NameEntry
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph, TermKind
from kg_store.storage.master_key import mids_of, refuse_collisions
from kg_store.storage.vault import VaultRecord
from kg_store.storage.version_reports import MaskedTerm
from kg_store.terms import Edges, Mid, Mids, NodeKind, Relation, Schema, Signature, ValueKind, as_mids

ALL_PUBLIC: Final = "all its files are public, by the word of its owner: a model may read its names"
_VALUE, _MEDIATOR = NodeKind.VALUE, NodeKind.MEDIATOR
"""Looked up once: Python 3.11 takes longer over a member of an enumeration than over all else of a node."""


class LoadedNode(NamedTuple):
    """The vault record of one node, with the settings for its texts.

    `linkable`: the linker finds the node's value in questions; `protected`: the guard blocks the value. Names always
    are both.
    """

    mid: int
    record: VaultRecord
    linkable: bool
    protected: bool
    also: tuple[str, ...] = ()
    """Further texts that the guard blocks like the node's value."""

    def __repr__(self) -> str:
        return f"LoadedNode({self.mid})"  # Without the record, which holds names and values.

    def entries(self) -> Iterator[NameEntry]:
        """Yields the entries of this node for the name index."""
        for name in self.record.names:
            yield NameEntry(self.mid, name, "name", None, True, True)
        yield from self.values()

    def values(self) -> list[NameEntry]:
        """Returns the entries of this node's text for the name index; none if it is no value."""
        lexical, kind = self.record.lexical, self.record.value_kind
        if lexical is None or not lexical.strip():
            return []
        texts = dict.fromkeys((lexical, undone(lexical), *self.also))
        return [NameEntry(self.mid, text, "value", kind, self.linkable, self.protected) for text in texts]


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """The result of one load, in memory.

    Secret are `nodes()`, which streams names and values, and `unsaid` and `masked`; the other fields hold no secret.
    """

    relations: tuple[Relation, ...]
    signatures: tuple[Signature, ...]
    adjacency: Adjacency = field(repr=False)
    facts: int
    counts: dict[NodeKind, int]
    notes: tuple[str, ...]
    nodes: Callable[[], Iterator[LoadedNode]] = field(repr=False)
    unseen: Edges = field(repr=False)
    """The (subject, object) pairs of facts whose relations the policy hides."""
    unsaid: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """The real words of each masked or hidden relation and class."""
    masked: tuple[MaskedTerm, ...] = ()
    """Masked classes, and the relations and classes that are masked by default because nobody decided on them."""
    kind_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further words of classes, and of the concepts that the policy names."""
    is_public: bool = False
    """True if the owner declared all files public."""
    public_nodes: Mids = field(default_factory=lambda: as_mids(()), repr=False)
    """The nodes of which only public files tell, ascending; none unless public files are joined to private ones."""


def load_graph(
    raw: RawGraph, policy: Policy, mid_key: bytes, progress: Callable[[float], None] = lambda _done: None
) -> LoadedGraph:
    """Applies `policy` to `raw`. Raises LoadError if nothing is left, or if two MIDs collide."""
    triples = sort_triples(raw, policy)
    progress(0.2)
    kinds = triples.raw.kinds()
    labels = labels_of(triples, policy)
    classes = find_classes(triples, policy, labels)
    codes = value_kinds(triples, kinds)
    named = with_spellings(given_names(triples, policy))
    masked, wordings = _words_of_schema(triples, policy, labels, classes, named)
    policy = with_masks(policy, masked)
    relations = find_relations(triples, policy, labels, codes, mid_key, wordings.of_relation)
    unsaid = {**relations.unsaid, **unsaid_classes(masked, mid_key, wordings)}
    progress(0.5)
    mediators = find_mediators(triples, policy, kinds, classes, named)
    showing = find_showing(triples, policy, relations, kinds, codes)
    mids = _mids(triples, kinds, mid_key)
    progress(0.8)
    node_kinds = np.where(mediators, 2, np.where(kinds == TermKind.LITERAL, 1, 0)).astype(np.uint8)
    shown = classes.without(hidden_classes(masked))
    adjacency, signatures, counts = _adjacency(triples, relations, shown, showing, mids, node_kinds, policy)
    source = _NodeSource(triples, policy, classes, named, showing, mids, node_kinds, codes, unsaid)
    progress(1.0)
    return LoadedGraph(
        wordings.relations(relations.shown, unsaid.values()),
        _with_masked(signatures, adjacency, classes, mids, mids_of_classes(masked, mid_key)),
        adjacency,
        len(adjacency.targets) // 2,
        counts,
        (*raw.notes, *_notes_on_policy(triples, policy, relations, classes), *notes_of(masked)),
        source.nodes,
        _unseen(triples, relations, mids),
        tuple(unsaid.values()),
        masked,
        wordings.kinds(classes.words_by_term(triples.raw), hidden_classes(masked), unsaid.values()),
        raw.is_public,
        _public_nodes(triples, mids),
    )


def _words_of_schema(
    triples: SortedTriples, policy: Policy, labels: Mapping[str, str], classes: NodeClasses, named: Names
) -> tuple[tuple[MaskedTerm, ...], Wordings]:
    """Returns the masked relations and classes, and the further words of all; names are looked for once in both."""
    undecided, spoken = find_undecided(triples, policy, labels, classes), find_spoken(triples, policy, classes)
    asked = (*undecided.relations, *undecided.kinds, *spoken.words, *spoken.hints)
    names = NamesOfGraph(texts_of_nodes(triples, named, policy.local_part_names), classes, asked)
    masked = default_masks(triples, policy, classes, undecided, names)
    return masked, find_wordings(triples, with_masks(policy, masked), spoken, names)


def placeholder_schema(loaded: LoadedGraph) -> Schema:
    """Returns the schema of a load before its concepts are named."""
    concepts = tuple(map(placeholder, loaded.signatures))
    return Schema(loaded.relations, loaded.signatures, concepts, loaded.kind_words)


def _unseen(triples: SortedTriples, relations: Relations, mids: Mids) -> Edges:
    raw = triples.raw
    hidden = triples.facts & (relations.id_of[raw.predicates] < 0)
    pairs = np.unique(np.stack([mids[raw.subjects[hidden]], mids[raw.objects[hidden]]]), axis=1)
    return Edges(pairs[0], pairs[1])


def _public_nodes(triples: SortedTriples, mids: Mids) -> Mids:
    raw, first = triples.raw, triples.raw.private_triples
    if first is None:
        return as_mids(())
    private = np.concatenate([raw.subjects[:first], raw.predicates[:first], raw.objects[:first]])
    is_public = triples.nodes.copy()
    is_public[private] = False
    return np.unique(mids[is_public])


def _mids(triples: SortedTriples, kinds: npt.NDArray[np.uint8], mid_key: bytes) -> Mids:
    """Returns, for each term in order, its MID if it is a node, else 0."""
    terms = triples.raw.terms
    mids = mids_of(mid_key, terms)
    blanks = blank_terms(triples.raw, kinds, mids)
    if blanks:
        mids[list(blanks)] = mids_of(mid_key, blanks.values())
    refuse_collisions(mids[triples.nodes])
    return mids


def _adjacency(
    triples: SortedTriples,
    relations: Relations,
    classes: NodeClasses,
    showing: ValueExposure,
    mids: Mids,
    node_kinds: npt.NDArray[np.uint8],
    policy: Policy,
) -> tuple[Adjacency, tuple[Signature, ...], dict[NodeKind, int]]:
    raw = triples.raw
    held = np.flatnonzero(triples.nodes & ~showing.hidden)
    require_nodes(triples, len(held))
    held = held[np.argsort(mids[held])]
    place = np.full(len(raw.terms), -1, dtype=np.int32)
    place[held] = np.arange(len(held), dtype=np.int32)
    relation = relations.id_of[raw.predicates]
    shown = triples.facts & (relation >= 0)
    facts = Facts(place[raw.subjects[shown]], relation[shown], place[raw.objects[shown]])
    sets = classes.set_of[held] if policy.types == "concept" else np.zeros(len(held), dtype=np.int32)
    nodes = Nodes(mids[held], node_kinds[held], sets, classes.words)
    adjacency, signatures = build_adjacency(nodes, facts, len(relations.shown))
    counts = np.bincount(nodes.kinds, minlength=len(KINDS)).tolist()
    return adjacency, signatures, dict(zip(KINDS, counts, strict=True))


def _with_masked(
    signatures: tuple[Signature, ...],
    adjacency: Adjacency,
    classes: NodeClasses,
    mids: Mids,
    masked: Mapping[str, Mid],
) -> tuple[Signature, ...]:
    """Returns `signatures`, each with the masked classes that all of its nodes have.

    `mids` has the MID of every term; `masked` maps the word of a masked class to its MID.
    """
    if not masked:
        return signatures
    order = np.argsort(mids, kind="stable")
    sets = classes.set_of[order[np.searchsorted(mids[order], adjacency.mids)]]
    common: dict[int, frozenset[Mid]] = {}
    for signature, of in np.unique(np.stack([adjacency.signatures, sets]), axis=1).T.tolist():
        found = frozenset(masked[word] for word in classes.words[of] if word in masked)
        common[signature] = common.get(signature, found) & found
    return tuple(replace(each, masked=tuple(sorted(common.get(each.id, ())))) for each in signatures)


@dataclass(frozen=True, slots=True)
class _NodeSource:
    """The nodes of a load. `classes` has masked ones too: names may use their words, since names are secret anyway."""

    triples: SortedTriples
    policy: Policy
    classes: NodeClasses
    named: Names
    showing: ValueExposure
    mids: Mids
    node_kinds: npt.NDArray[np.uint8]
    codes: npt.NDArray[np.uint8]
    unsaid: Mapping[Mid, tuple[str, ...]]

    def nodes(self) -> Iterator[LoadedNode]:
        """Yields every node with its record, ordered by MID, so that the database does not show the order of the file.

        Among them are the real words of masked and hidden relations and classes, so that the guard blocks them like
        values.
        """
        return merge(self._nodes(), self._unsaid(), key=attrgetter("mid")) if self.unsaid else self._nodes()

    def _nodes(self) -> Iterator[LoadedNode]:
        local, labels = self._local_names(), labels_by_language(self.triples, self.policy)
        terms = np.flatnonzero(self.triples.nodes)
        terms = terms[np.argsort(self.mids[terms])]
        showing, groups = self.showing, self.classes.set_of
        flags = (showing.linkable[terms], showing.protected[terms])
        columns = (terms, self.mids[terms], self.node_kinds[terms], groups[terms], *flags)
        class_words = [next(iter(words), "") for words in self.classes.words]
        for term, mid, kind, group, linkable, protected in zip(*(each.tolist() for each in columns), strict=True):
            record = self._record(term, KINDS[kind], local, labels.get(term, ()), class_words[group])
            yield LoadedNode(mid, record, linkable, protected)

    def _unsaid(self) -> Iterator[LoadedNode]:
        for mid, (best, *further) in sorted(self.unsaid.items()):
            record = VaultRecord(NodeKind.VALUE, (), ValueKind.TEXT, best, hidden=True)
            yield LoadedNode(mid, record, linkable=False, protected=True, also=tuple(further))

    def _record(
        self, term: int, kind: NodeKind, local: Names, labels: tuple[tuple[str, str], ...], word: str
    ) -> VaultRecord:
        if kind is _VALUE:
            lexical = self.triples.raw.text(term)
            value_kind = VALUE_KINDS[self.codes[term]]
            return VaultRecord(kind, (), value_kind, lexical, bool(self.showing.hidden[term]))
        if kind is _MEDIATOR:
            return VaultRecord(kind)
        names = self.named.get(term)
        if names is None:
            return VaultRecord(kind, local.get(term, ()))
        # An answer may only show names that the guard knows as names.
        labels = tuple([(language, label) for language, label in labels if label in names])
        if self.policy.local_part_names:
            aliases = local_aliases(self.triples.raw.terms[term], word)
            names += tuple([alias for alias in aliases if alias and alias not in names])
        return VaultRecord(kind, names, labels=labels)

    def _local_names(self) -> Names:
        if not self.policy.local_part_names:
            return {}
        entities = self.triples.nodes & (self.node_kinds == KINDS.index(NodeKind.ENTITY))
        terms = self.triples.raw.terms
        chosen = [t for t in np.flatnonzero(entities).tolist() if t not in self.named and terms[t][0] != "_"]
        return with_spellings(local_names({t: terms[t] for t in chosen}, {t: self._word(t) for t in chosen}))

    def _word(self, term: int) -> str:
        return next(iter(self.classes.words_of(term)), "")


def _notes_on_policy(
    triples: SortedTriples, policy: Policy, relations: Relations, classes: NodeClasses
) -> Iterator[str]:
    if triples.raw.is_public:
        yield ALL_PUBLIC
    predicates = {triples.raw.text(term) for term in np.unique(triples.raw.predicates)}
    if missing := len(policy.mentioned() - predicates):
        yield f"{missing} predicates of the policy occur in no source"
    known = {word for each in relations.shown for word in (each.iri, each.label)}
    known |= {*classes.word_of.values(), *chain.from_iterable(classes.iris)}
    listed = [words for words in (policy.show_relations, policy.show_classes) if words != "all"]
    if missing := len(set(chain.from_iterable(listed)) - known):
        yield f"{missing} words that the policy shows are no relation or class of the sources"


MAX_RELATIONS_OF_FEW = 30
"""Up to this number of relations, a graph may have more relations than entities, as small graphs do."""
MIN_USES = 2
"""The mean number of facts of a relation above which many relations are a wide table, not cells. Chosen by hand."""

NO_INDIVIDUALS = (
    "these files hold an ontology, classes and properties, and no individual: load them together with a file of things"
)
NOTHING = "nothing but names and schema is left to load; look at the policy"
NO_FACTS = (
    "no entity has a fact: there are names and kinds, and no relation or value is left; look at the policy, and at "
    "columns or relations that are not read"
)
TOO_MANY_RELATIONS = (
    "there are more relations than entities, so cells were taken for relations: say in the policy with [[tables]] or "
    "[[triples]] which columns are what"
)


def require_nodes(triples: SortedTriples, count: int) -> None:
    """Raises LoadError if no node is left."""
    if not count:
        raise LoadError(NO_INDIVIDUALS if np.any(triples.schema[triples.raw.subjects]) else NOTHING)


def nonsense_of(entities: int, facts: int, relations: int) -> str | None:
    """Returns the reason why nothing could be asked of a graph with these counts; None if something can."""
    if not entities:
        return NOTHING
    if not facts:
        return NO_FACTS
    are_cells = relations > max(entities, MAX_RELATIONS_OF_FEW) and facts < MIN_USES * relations
    return TOO_MANY_RELATIONS if are_cells else None
