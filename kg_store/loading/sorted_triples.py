"""SortedTriples: the triples of a load sorted into names, classes, schema and facts by a policy.

Also the classes of nodes, and stable terms for blank nodes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph, Term, TermIds, TermKind, literal_of, text_of, value_term
from kg_store.sources.vocabulary import OWL, RDFS
from kg_store.terms import Mids, ValueKind
from kg_store.text.labels import class_word
from kg_store.text.literals import fits

_NUMBERED_PROPERTY = re.compile(r"<(https?://[^/]+/)prop/(?:[a-z-]+/)*(P\d+)>")

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SortedTriples:
    """The triples of a load by their role. `raw` holds them after triples of inverse predicates were turned around.

    Flags for each triple of `raw`: `facts`, `names`, `types`, `subclasses`, and `labels` (all names, also those of
    schema terms). Flags for each term: `nodes` (an entity, a mediator or a value of the graph) and `schema` (only a
    predicate or a class).
    """

    raw: RawGraph
    facts: Flags
    names: Flags
    types: Flags
    labels: Flags
    subclasses: Flags
    schema: Flags
    nodes: Flags


def sort_triples(raw: RawGraph, policy: Policy) -> SortedTriples:
    """Sorts every triple by `policy`. Values for which the policy sets a kind become terms of that kind."""
    turned = turn_inverses(raw, policy.inverse_prefix)
    turned = _retype_values(turned, policy)
    kinds = turned.kinds()
    object_kinds = kinds[turned.objects]
    literal_like = (object_kinds == TermKind.LITERAL) | (object_kinds == TermKind.TEXT)
    names = _with_predicate(turned, policy.names) & literal_like
    types = _with_predicate(turned, policy.type_predicates)
    subclasses = _with_predicate(turned, policy.subclass_predicates)
    about_schema = _with_predicate(turned, policy.schema_predicates)
    ordinary = ~(names | types | subclasses | about_schema)
    schema = _schema_terms(turned, policy, kinds, ordinary, types, subclasses, about_schema)
    of_schema = schema[turned.subjects]
    facts = ordinary & ~of_schema
    # An anonymous class expression (an OWL restriction) has no word that could name a class.
    types = types & ~of_schema & (object_kinds != TermKind.BLANK)
    nodes = _marked(len(kinds), turned.subjects[facts | types | (names & ~of_schema)], turned.objects[facts])
    return SortedTriples(turned, facts, names & ~of_schema, types, names, subclasses, schema, nodes)


def _with_predicate(raw: RawGraph, predicates: tuple[str, ...]) -> Flags:
    has: Flags = np.isin(raw.predicates, [term for term in np.unique(raw.predicates) if raw.text(term) in predicates])
    return has


def _marked(size: int, *positions: TermIds) -> Flags:
    flags = np.zeros(size, dtype=bool)
    for some in positions:
        flags[some] = True
    return flags


def _schema_terms(
    raw: RawGraph,
    policy: Policy,
    kinds: npt.NDArray[np.uint8],
    ordinary: Flags,
    types: Flags,
    subclasses: Flags,
    about_schema: Flags,
) -> Flags:
    """Returns the terms that are predicates or classes and take no part in facts.

    A class that facts also describe as a thing (a species, a profession) stays a node.
    """
    size, subjects, objects = len(kinds), raw.subjects, raw.objects
    wanted = {f"<{iri}>" for iri in policy.schema_classes}
    declaring = np.fromiter((term in wanted for term in raw.terms), dtype=bool, count=size)
    declares = types & declaring[objects]
    classes = _marked(size, objects[types], subjects[subclasses], objects[subclasses])
    properties = _marked(
        size, raw.predicates, subjects[about_schema], np.array([*property_twins(raw).values()], dtype=np.int32)
    ) & (kinds == TermKind.IRI)
    candidates = classes | properties | _marked(size, subjects[declares])
    entity_like = (kinds[objects] != TermKind.LITERAL) & ~candidates[objects]
    acting = _marked(size, subjects[ordinary & entity_like], subjects[types & ~declares])
    schema: Flags = candidates & (properties | _marked(size, subjects[declares]) | ~acting)
    # The object of a node's fact is a node too. Each round only takes terms out of the schema, so this ends.
    while True:
        left = schema & ~_marked(size, objects[ordinary & ~schema[subjects]])
        if (left == schema).all():
            return schema
        schema = left


def property_twins(raw: RawGraph) -> dict[int, int]:
    """Returns, for each predicate that the sources describe under another term, the position of that term.

    Wikidata describes its predicate `prop/direct/P19` as `entity/P19`.
    """
    numbered = {
        predicate: f"<{found.group(1)}entity/{found.group(2)}>"
        for predicate in np.unique(raw.predicates).tolist()
        if (found := _NUMBERED_PROPERTY.fullmatch(raw.terms[predicate]))
    }
    wanted = set(numbered.values())
    subjects = np.unique(raw.subjects).tolist() if wanted else []
    found_terms = {raw.terms[term]: term for term in subjects if raw.terms[term] in wanted}
    return {predicate: found_terms[term] for predicate, term in numbered.items() if term in found_terms}


def turn_inverses(raw: RawGraph, prefix: str | None) -> RawGraph:
    """Returns the triples, with each one turned around whose predicate starts with `prefix`: `A ~r B` becomes `B r A`.

    Triples with a literal as object stay as they are.
    """
    if prefix is None:
        return raw
    terms, index = list(raw.terms), {term: position for position, term in enumerate(raw.terms)}
    subjects, predicates, objects = raw.subjects.copy(), raw.predicates.copy(), raw.objects.copy()
    not_literal = raw.kinds()[raw.objects] != TermKind.LITERAL
    for predicate in np.unique(raw.predicates).tolist():
        term = terms[predicate]
        if term[0] == "<" or not text_of(term).startswith(prefix) or text_of(term) == prefix:
            continue
        base = term[0] + text_of(term).removeprefix(prefix)
        if base not in index:
            index[base] = len(terms)
            terms.append(base)
        turned = (raw.predicates == predicate) & not_literal
        subjects[turned], objects[turned] = raw.objects[turned], raw.subjects[turned]
        predicates[turned] = index[base]
    return replace(raw, terms=terms, subjects=subjects, predicates=predicates, objects=objects)


def _retype_values(raw: RawGraph, policy: Policy) -> RawGraph:
    """Returns `raw` with the objects of each relation that has a `value_kind` turned into values of that kind.

    The policy sets the `value_kind`. An object that cannot be read so becomes text.
    """
    wanted = {
        predicate: settings.value_kind for predicate, settings in policy.relations.items() if settings.value_kind
    }
    if not wanted:
        return raw
    # Values that tables gave a kind are known already, so that equal values of other files become the same term.
    terms, index = list(raw.terms), {term: at for at, term in enumerate(raw.terms) if term[0] == '"'}
    objects = raw.objects.copy()
    for predicate in np.unique(raw.predicates).tolist():
        kind = wanted.get(raw.text(predicate))
        if kind is None:
            continue
        chosen = raw.predicates == predicate
        old, back = np.unique(raw.objects[chosen], return_inverse=True)
        new = []
        for position in old.tolist():
            term = _retyped(raw.terms[position], kind)
            if term != raw.terms[position] and term not in index:
                index[term] = len(terms)
                terms.append(term)
            new.append(position if term == raw.terms[position] else index[term])
        objects[chosen] = np.array(new, dtype=np.int32)[back]
    return replace(raw, terms=terms, objects=objects)


def _retyped(term: str, kind: ValueKind) -> str:
    """Returns the value term for a literal or a cell; IRIs and blank nodes are returned unchanged."""
    if term[0] in "<_":
        return term
    literal = literal_of(term)
    fitting = kind if fits(literal.lexical, kind) else ValueKind.TEXT
    return term if term[0] == '"' and literal.kind is fitting else value_term(literal.lexical, fitting)


# Classes of everything, which distinguish nothing.
_DULL = frozenset({OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource"})


@dataclass(frozen=True, slots=True)
class NodeClasses:
    """The classes of nodes.

    `set_of[term]` is the position of a term's classes in `words` and in `iris`; 0 means that it has none. `word_of`
    maps the position of a class's term to the class's word. Classes that hold everything (`owl:Thing`) are not in it.
    """

    set_of: TermIds
    words: tuple[tuple[str, ...], ...]
    iris: tuple[frozenset[str], ...] = field(repr=False)
    word_of: Mapping[int, str] = field(default_factory=dict, repr=False)

    def words_of(self, term: int) -> tuple[str, ...]:
        return self.words[int(self.set_of[term])]

    def words_by_term(self, raw: RawGraph) -> dict[str, str]:
        """Returns the word of every class in `word_of` by its IRI or cell."""
        return {raw.text(position): word for position, word in self.word_of.items()}

    def without(self, hidden: Container[str]) -> NodeClasses:
        """Returns the same classes without the words in `hidden`; a node with no other class then has none."""
        words = (tuple(word for word in each if word not in hidden) for each in self.words)
        return replace(self, words=tuple(words))

    def iris_of(self, term: int) -> frozenset[str]:
        return self.iris[int(self.set_of[term])]


def find_classes(triples: SortedTriples, policy: Policy, labels: Mapping[str, str]) -> NodeClasses:
    """Returns the classes of every node, from the type and subclass triples of the load."""
    raw, dull = triples.raw, _DULL | frozenset(policy.schema_classes)
    direct: dict[int, set[int]] = defaultdict(set)
    of_dull = [term for term in np.unique(raw.objects[triples.types]).tolist() if raw.text(term) in dull]
    telling = triples.types & ~np.isin(raw.objects, of_dull)
    for node, term in zip(raw.subjects[telling].tolist(), raw.objects[telling].tolist(), strict=True):
        direct[node].add(term)
    supers: dict[int, list[int]] = defaultdict(list)
    for triple in np.flatnonzero(triples.subclasses).tolist():
        if raw.terms[raw.objects[triple]][0] in ("<", TEXT_MARK):
            supers[int(raw.subjects[triple])].append(int(raw.objects[triple]))
    sets: dict[tuple[int, ...], int] = {(): 0}
    set_of = np.zeros(len(raw.terms), dtype=np.int32)
    for node, classes in direct.items():
        set_of[node] = sets.setdefault(tuple(sorted(classes)), len(sets))
    orders = [_ordered(classes, supers) for classes in sets]
    word_of = {
        term: class_word(raw.text(term), labels, raw.is_iri(term))
        for term in {term for order in orders for term in order}
        if raw.text(term) not in dull
    }
    words = tuple(tuple(dict.fromkeys(word_of[term] for term in order if term in word_of)) for order in orders)
    iris = tuple(frozenset(raw.text(term) for term in order) for order in orders)
    return NodeClasses(set_of, words, iris, word_of)


def _ordered(classes: tuple[int, ...], supers: Mapping[int, list[int]]) -> list[int]:
    """Returns `classes` with all superclasses, each after its subclasses; cycles are cut."""
    finished: list[int] = []
    met: set[int] = set()
    pending = [(term, False) for term in classes]
    while pending:
        term, is_done = pending.pop()
        if is_done:
            finished.append(term)
        elif term not in met:
            met.add(term)
            pending.append((term, True))
            pending.extend((above, False) for above in supers.get(term, ()))
    return finished[::-1]


_ROUNDS = 3
_Hashes = npt.NDArray[np.uint64]


def blank_terms(raw: RawGraph, kinds: npt.NDArray[np.uint8], mids: Mids) -> dict[int, Term]:
    """Returns a term for each blank node that does not depend on the order of the file.

    The term is a hash of the triples around the node. It is computed from `mids`, the keyed hashes of all other terms,
    so nobody without the key can guess it. Nodes whose hashes are still equal after three rounds are numbered in the
    order of the file.
    """
    blanks = np.flatnonzero(kinds == TermKind.BLANK)
    hashes = mids.astype(np.uint64)
    hashes[blanks] = 0
    touching = (kinds[raw.subjects] == TermKind.BLANK) | (kinds[raw.objects] == TermKind.BLANK)
    triples = np.stack((raw.subjects[touching], raw.predicates[touching], raw.objects[touching]))
    subjects, predicates, objects = np.unique(triples, axis=1)
    for _ in range(_ROUNDS):
        with np.errstate(over="ignore"):
            sums = np.zeros_like(hashes)
            relation = _mixed(hashes[predicates])
            np.add.at(sums, subjects, _mixed(hashes[objects] ^ relation))
            np.add.at(sums, objects, _mixed(hashes[subjects] + ~relation))
        hashes[blanks] = _mixed(sums[blanks])
    met: Counter[int] = Counter()
    terms: dict[int, Term] = {}
    for node in blanks.tolist():
        code = int(hashes[node])
        terms[node] = f"_:{code:016x}.{met[code]}"
        met[code] += 1
    return terms


def _mixed(numbers: _Hashes) -> _Hashes:
    """Returns the numbers hashed with splitmix64's finaliser: each input bit affects all bits of the result."""
    with np.errstate(over="ignore"):
        mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
