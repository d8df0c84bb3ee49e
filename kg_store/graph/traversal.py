"""Walks over a BlindGraph: steps, also through mediators, whole paths, and the paths that a concept's entities
share.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_store.graph.adjacency import Flags, Longs, distinct_pairs, ranges, running_total
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import nameless_kinds
from kg_store.terms import (
    NO_MIDS,
    Edges,
    Hop,
    Mids,
    NodeKind,
    Path,
    RelationId,
    Schema,
    SignatureId,
    Step,
    as_mids,
    cached_by_version,
)

MAX_MEDIATORS = 2  # The most mediators in a row; longer chains do not occur in practice.
MAX_CACHED_SETS = 10_000  # The most sets of signatures in the cache before it is emptied.
_MANY_SIGNATURES = 500  # For fewer nodes, making their signatures distinct takes longer than it saves.


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Parallel arrays of walkers and their nodes. A walker is one set of nodes with one step that it has begun."""

    walkers: Longs
    mids: Mids


@dataclass(frozen=True, slots=True)
class _Hops:
    """The hops of a schema, coded as `2 * relation + inverse`, those of one signature after those of the other.

    Flags by hop code: `may_end` (a step may end after the hop), `may_meet_mediator` (the hop may lead to a mediator).
    Flag by signature: `is_mediator`.
    """

    starts: Longs
    codes: Longs
    may_end: Flags
    may_meet_mediator: Flags
    is_mediator: Flags
    steps: dict[int, Step] = field(default_factory=dict, repr=False)
    """A cache of steps by their number."""
    steps_of: dict[frozenset[int], tuple[Step, ...]] = field(default_factory=dict, repr=False)
    """A cache for graphs without mediators: the steps that leave a set of nodes, by the signatures of its members."""

    @property
    def base(self) -> int:
        return len(self.may_end) + 1

    def codes_of(self, signature: int) -> list[int]:
        return self.codes[self.starts[signature] : self.starts[signature + 1]].tolist()  # type: ignore[no-any-return]

    @property
    def has_mediators(self) -> bool:
        return bool(self.is_mediator.any())


def steps_from_each(graph: BlindGraph, sets: Sequence[Mids]) -> list[list[Step]]:
    """Returns, for each of `sets`, every step that leaves at least one of its members, sorted.

    A step may also end at a mediator that has a class (a typed blank node). The graph is asked once for each hop,
    whatever the number of sets.
    """
    hops = _hops_of(graph.schema)
    if not hops.has_mediators:
        return [list(_hops_leaving(graph, hops, mids)) for mids in sets]
    lengths = [len(mids) for mids in sets]
    here = _Pairs(np.repeat(np.arange(len(sets)), lengths), np.concatenate([*sets, np.empty(0, np.int64)]))
    owners, begun = np.arange(len(sets)), np.zeros(len(sets), dtype=np.int64)
    found: list[tuple[Longs, Longs]] = []
    for depth in range(MAX_MEDIATORS + 1):
        walkers, codes = _leaving(graph, hops, here)
        steps = begun[walkers] * hops.base + codes + 1
        ends = hops.may_end[codes]
        # Shorter steps are padded with zeros at their end, so that numbers sort in the order of steps.
        found.append((owners[walkers[ends]], steps[ends] * hops.base ** (MAX_MEDIATORS - depth)))
        on = hops.may_meet_mediator[codes]
        if depth == MAX_MEDIATORS or not on.any():
            break
        here = _onto_mediators(graph, hops, here, walkers[on], codes[on])
        owners, begun = owners[walkers[on]], steps[on]
    return _by_set(found, len(sets), hops)


def ending_hops(schema: Schema) -> npt.NDArray[np.bool_]:
    """Returns, for each hop code (`2 * relation + inverse`), True if a step may end with it."""
    return _hops_of(schema).may_end


def _hops_leaving(graph: BlindGraph, hops: _Hops, mids: Mids) -> tuple[Step, ...]:
    """Returns the steps of a single hop that leave `mids`.

    They are cached by the signatures of `mids`, because many sets of nodes have the same signatures.
    """
    found = graph.signatures_of(mids)
    signatures = frozenset((np.unique(found) if len(found) > _MANY_SIGNATURES else found).tolist()) - {-1}
    steps = hops.steps_of.get(signatures)
    if steps is None:
        codes = sorted({code for each in signatures for code in hops.codes_of(each)})
        steps = tuple((Hop(RelationId(code >> 1), bool(code & 1)),) for code in codes)
        if len(hops.steps_of) >= MAX_CACHED_SETS:
            hops.steps_of.clear()
        hops.steps_of[signatures] = steps
    return steps


def _leaving(graph: BlindGraph, hops: _Hops, here: _Pairs) -> tuple[Longs, Longs]:
    """Returns (walkers, codes): each walker with the code of each hop that leaves one of its nodes, once each.

    A walker is one set of nodes with one step that it has begun.
    """
    signatures = graph.signatures_of(here.mids).astype(np.int64)
    held = signatures >= 0
    kinds = len(hops.is_mediator)
    pairs = np.unique(here.walkers[held] * kinds + signatures[held])
    walkers, signatures = pairs // kinds, pairs % kinds
    lengths = hops.starts[signatures + 1] - hops.starts[signatures]
    codes = hops.codes[ranges(hops.starts[signatures], lengths)]
    leaving = np.unique(np.repeat(walkers, lengths) * hops.base + codes)
    return leaving // hops.base, leaving % hops.base


def _onto_mediators(graph: BlindGraph, hops: _Hops, here: _Pairs, walkers: Longs, codes: Longs) -> _Pairs:
    """Returns the mediators that hop `codes[i]` reaches from the nodes of walker `walkers[i]`, for every i.

    In the result, i itself is the number of their walker.
    """
    order = np.argsort(here.walkers, kind="stable")
    here = _Pairs(here.walkers[order], here.mids[order])
    firsts, lasts = (np.searchsorted(here.walkers, walkers, side=side) for side in ("left", "right"))
    on_walkers: list[Longs] = []
    on_mids: list[Mids] = []
    for code in np.unique(codes).tolist():
        of_hop = np.flatnonzero(codes == code)
        lengths = lasts[of_hop] - firsts[of_hop]
        heads, walker = here.mids[ranges(firsts[of_hop], lengths)], np.repeat(of_hop, lengths)
        edges = graph.neighbours(as_mids(heads), Hop(RelationId(code >> 1), bool(code & 1)))
        starts = np.searchsorted(edges.heads, heads, side="left")
        counts = np.searchsorted(edges.heads, heads, side="right") - starts
        on_walkers.append(np.repeat(walker, counts))
        on_mids.append(edges.tails[ranges(starts, counts)])
    on = _Pairs(np.concatenate(on_walkers), np.concatenate(on_mids))
    signatures = graph.signatures_of(on.mids)
    keep = (signatures >= 0) & hops.is_mediator[signatures]
    return _Pairs(on.walkers[keep], on.mids[keep])


def _by_set(found: Sequence[tuple[Longs, Longs]], count: int, hops: _Hops) -> list[list[Step]]:
    steps: list[list[Step]] = [[] for _ in range(count)]
    owners = np.concatenate([owner for owner, _ in found])
    numbers = np.concatenate([number for _, number in found])
    order = np.lexsort((numbers, owners))
    known = hops.steps
    for owner, number in zip(owners[order].tolist(), numbers[order].tolist(), strict=True):
        step = known.get(number)
        if step is None:
            step = known[number] = _step_of(number, hops.base)
        steps[owner].append(step)
    return steps


def _step_of(number: int, base: int) -> Step:
    codes = []
    while number:
        number, digit = divmod(number, base)
        if digit:
            codes.append(digit - 1)
    return tuple(Hop(RelationId(code >> 1), bool(code & 1)) for code in reversed(codes))


@cached_by_version
def _hops_of(schema: Schema) -> _Hops:
    lengths = [len(signature.hops) for signature in schema.signatures]
    codes = [2 * hop.relation + hop.inverse for signature in schema.signatures for hop in signature.hops]
    into_mediators = (s.hops for s in schema.signatures if s.kind is NodeKind.MEDIATOR)
    into_ends = (s.hops for s in schema.signatures if s.kind is not NodeKind.MEDIATOR or s.classes)
    return _Hops(
        running_total(np.array(lengths, dtype=np.int64)),
        np.array(codes, dtype=np.int64),
        _reversed_flags(schema, into_ends),
        _reversed_flags(schema, into_mediators),
        mediator_flags(schema),
    )


def _reversed_flags(schema: Schema, groups: Iterable[tuple[Hop, ...]]) -> Flags:
    """Returns a flag for each hop code: True if a hop in `groups` is the same relation walked the other way.

    Nodes with such a hop are where the flagged hop can lead to.
    """
    flags = np.zeros(max(1, 2 * len(schema.relations)), dtype=np.bool_)
    flags[[2 * hop.relation + (not hop.inverse) for hops in groups for hop in hops]] = True
    return flags


_MOST_TOLD = 4
_MANY = 50  # Up to this number of nodes, counting their signatures one by one is faster.


def steps_from(graph: BlindGraph, mids: Mids) -> list[Step]:
    """Returns every step that leaves at least one of `mids`."""
    return steps_from_each(graph, [mids])[0]


def walk(graph: BlindGraph, mids: Mids, path: Path) -> Edges:
    """Returns the pairs of the last step of all walks along `path` from `mids`, without a limit.

    A pair is (node before the last step, node at its end); for a path of one step, (one of `mids`, end).
    """
    edges = Edges(mids, mids)
    for step in path:
        edges = _take(graph, as_mids(edges.tails), step)
    return edges


def walk_each(graph: BlindGraph, mids: Mids, step: Step) -> Edges:
    """Returns the (start, end) pairs that `step` joins, once for each mediator before its last hop.

    Two prescriptions of the same dose are two pairs, so that an average counts both.
    """
    return _take(graph, mids, step, joined=join_each)


def reached(graph: BlindGraph, mids: Mids, path: Path) -> Mids:
    """Returns the nodes at the end of `path`, each once."""
    return as_mids(walk(graph, mids, path).tails)


def named_of(graph: BlindGraph, mids: Mids) -> Mids:
    """Returns those of `mids` that are not mediators: a mediator has no name that an answer could give."""
    signatures = graph.signatures_of(mids)
    return mids[(signatures < 0) | ~mediator_flags(graph.schema)[signatures]]


def relations_to(graph: BlindGraph, mids: Sequence[int]) -> set[tuple[str, str]]:
    """Returns (label, concept where it begins) of every relation that leads to one of `mids`.

    Masked relations are left out.
    """
    schema, hops = graph.schema, graph.relations_of(as_mids(mids)) if mids else ()
    shown = [hop for hop in hops if hop.inverse and schema.relations[hop.relation].mask is None]
    return {(schema.relations[hop.relation].label, tail_concept(schema, (hop,))) for hop in shown}


def concept_of(graph: BlindGraph, mids: Mids) -> str:
    """Returns the most frequent concept of `mids`.

    The second one is appended, after a comma, if at least a third of `mids` have it.
    """
    signatures = graph.signatures_of(mids)
    if len(signatures) <= _MANY:
        return _commonest(Counter(_concept(graph.schema, signature) for signature in signatures.tolist()))
    counts: Counter[str] = Counter()
    for signature, count in zip(*np.unique(signatures, return_counts=True), strict=True):
        counts[_concept(graph.schema, int(signature))] += int(count)
    return _commonest(counts)


def are_of_one_concept(graph: BlindGraph, mids: Mids) -> bool:
    """Returns True if all of `mids` have the same concept."""
    signatures = np.unique(graph.signatures_of(mids)).tolist()
    return len({_concept(graph.schema, signature) for signature in signatures}) == 1


def tail_concept(schema: Schema, step: Step) -> str:
    """Returns the concept of the nodes that `step` leads to: that of all nodes of the graph, not of a single start.

    So it tells nothing about one individual. It is `thing` if the schema does not say.
    """
    return tail_concepts(schema).get(step[-1], "thing")


def leads_to_values(schema: Schema, step: Step) -> bool:
    """Returns True if `step` ends at literals."""
    hop = step[-1]
    return not hop.inverse and schema.relations[hop.relation].value_kind is not None


def kind_of(graph: BlindGraph, mids: Mids) -> NodeKind:
    """Returns the kind (entity, mediator or value) of the first of `mids`; ENTITY if there is none.

    All members of a set have the same kind.
    """
    signature = int(graph.signatures_of(mids[:1])[0]) if len(mids) else -1
    return graph.schema.signatures[signature].kind if signature >= 0 else NodeKind.ENTITY


def members_of(graph: BlindGraph, concept: str) -> Mids:
    """Returns all nodes of a concept or class, or of a kind of nameless nodes."""
    ids = nameless_kinds(graph.schema).get(concept) or _signatures_of(graph.schema).get(concept, [])
    return graph.members(ids) if ids else NO_MIDS


def _take(graph: BlindGraph, heads: Mids, step: Step, joined: Callable[[Edges, Edges], Edges] | None = None) -> Edges:
    """Returns the (start, end) pairs of one step, without those that lead back to their start through a mediator.

    `joined` combines the pairs before the last mediator with those after it; by default each pair comes once
    (`_join`).
    """
    edges = graph.neighbours(heads, step[0])
    for at, hop in enumerate(step[1:], start=2):
        middle = _mediators_in(graph, as_mids(edges.tails))
        join = joined if joined and at == len(step) else _join
        edges = join(edges, graph.neighbours(middle, hop))
    if len(step) > 1:
        # A step through a mediator also leads back to its start: through a marriage, one would be one's own spouse.
        keep = edges.heads != edges.tails
        edges = Edges(edges.heads[keep], edges.tails[keep])
    return edges


def _join(first: Edges, second: Edges) -> Edges:
    """Returns the distinct pairs (a, c) with (a, b) in `first` and (b, c) in `second`, which is sorted by head."""
    pairs = join_each(first, second)
    return distinct_pairs(pairs.heads, pairs.tails)


def join_each(first: Edges, second: Edges) -> Edges:
    """Returns the pairs of `_join`, once for each b."""
    starts = np.searchsorted(second.heads, first.tails, side="left")
    lengths = np.searchsorted(second.heads, first.tails, side="right") - starts
    return Edges(np.repeat(first.heads, lengths), second.tails[ranges(starts, lengths)])


def _mediators_in(graph: BlindGraph, mids: Mids) -> Mids:
    signatures = graph.signatures_of(mids)
    return mids[(signatures >= 0) & mediator_flags(graph.schema)[signatures]]


@cached_by_version
def mediator_flags(schema: Schema) -> Flags:
    """Returns a flag for each signature: True if its nodes are mediators."""
    flags = [signature.kind is NodeKind.MEDIATOR for signature in schema.signatures]
    return np.array(flags or [False], dtype=np.bool_)


@cached_by_version
def tail_concepts(schema: Schema) -> dict[Hop, str]:
    """Returns, for each hop, the concepts that it leads to, joined by commas, the most frequent first.

    A class of the graph is listed even if few of the nodes are of it: the doctors among the patients at an address.
    """
    counts: dict[Hop, Counter[str]] = defaultdict(Counter)
    for signature in schema.signatures:
        for hop in signature.hops:
            counts[hop.reversed()][_concept(schema, signature.id)] += signature.size
    classes = frozenset(each for signature in schema.signatures for each in signature.classes)
    return {hop: _with_classes(_commonest(concepts), concepts, classes) for hop, concepts in counts.items()}


def _with_classes(commonest: str, counts: Counter[str], classes: frozenset[str]) -> str:
    told = commonest.split(", ")
    further = [concept for concept, _ in counts.most_common() if concept in classes and concept not in told]
    return ", ".join([*told, *further][:_MOST_TOLD])


@cached_by_version
def _signatures_of(schema: Schema) -> dict[str, list[SignatureId]]:
    """Returns the signatures of each concept and of each class.

    Nameless nodes are none of a concept that named things have: rows of a table `jabs` are no jabs.
    """
    found: dict[str, list[SignatureId]] = defaultdict(list)
    named = {str(schema.concepts[each.id]) for each in schema.signatures if each.kind is NodeKind.ENTITY}
    rows = {at for kind, ids in nameless_kinds(schema).items() if kind not in named for at in ids}
    for signature in schema.signatures:
        if signature.id in rows and str(schema.concepts[signature.id]) in named:
            continue
        for concept in {str(schema.concepts[signature.id]), *signature.classes}:
            found[concept].append(signature.id)
    return dict(found)


def _concept(schema: Schema, signature: int) -> str:
    return str(schema.concepts[signature]) if signature >= 0 else "thing"


def _commonest(counts: Counter[str]) -> str:
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    kept = [concept for concept, count in ranked[:2] if count * 3 >= total]
    return ", ".join(kept) if kept else (ranked[0][0] if ranked else "thing")


MAX_STEPS_WALKED: Final = 2_000
"""The most nodes of a concept from which paths are walked, an evenly spaced sample of more. Chosen by hand."""

MIN_SHARE: Final = 0.01
"""The smallest share of a concept's nodes that must have a step for it to count; a rarer one may identify them.

Chosen on the sets in docs/evaluation.md.
"""

MAX_PATHS: Final = 1_500
"""The most paths of one concept; if those of three steps exceed it, only shorter ones count. Chosen by hand."""

MAX_CACHED_CONCEPTS: Final = 2_000
"""The greatest number of concepts with cached paths in one schema, before the cache is emptied. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class ConceptScope:
    """All nodes that `path` reaches from all nodes of `concept` (several concepts are joined by commas)."""

    concept: str
    path: Path = ()

    def along(self, path: Path) -> ConceptScope:
        return ConceptScope(self.concept, (*self.path, *path))


@dataclass(frozen=True, slots=True, eq=False)
class ConceptPaths:
    """The paths that leave a concept, shorter ones first; none of at most `whole` steps is missing."""

    paths: tuple[Path, ...]
    whole: int


def paths_of(graph: BlindGraph, kin: ConceptScope, longest: int) -> ConceptPaths:
    """Returns the paths of at most `longest` steps that leave the nodes of `kin`; computed once for each version."""
    known = _known(graph.schema)
    found = known.get((kin, longest))
    if found is None:
        found = _paths_of(graph, kin, longest)
        if len(known) >= MAX_CACHED_CONCEPTS:
            known.clear()
        known[kin, longest] = found
    return found


def is_worked_out(graph: BlindGraph, kin: ConceptScope, longest: int) -> bool:
    """Returns True if the result of `paths_of` is cached."""
    return (kin, longest) in _known(graph.schema)


def everything_of(graph: BlindGraph, kin: ConceptScope) -> Mids:
    """Returns all nodes of the concepts in `kin.concept`; the path of `kin` is ignored."""
    members = [members_of(graph, concept) for concept in kin.concept.split(", ")]
    return np.unique(np.concatenate(members)) if members else NO_MIDS


def _paths_of(graph: BlindGraph, kin: ConceptScope, longest: int) -> ConceptPaths:
    start = _spread(reached(graph, _spread(everything_of(graph, kin)), kin.path))
    level: list[tuple[Path, Mids]] = [((), start)]
    paths: list[Path] = []
    for length in range(longest):
        longer: list[tuple[Path, Mids]] = []
        for path, mids in level:
            longer += [((*path, step), tails) for step, tails in _common_steps(graph, mids)]
            if len(paths) + len(longer) > MAX_PATHS and length:
                return ConceptPaths(tuple(paths), length)
        paths += [path for path, _ in longer]
        level = [(path, tails) for path, tails in longer if not leads_to_values(graph.schema, path[-1])]
    return ConceptPaths(tuple(paths), longest)


def _common_steps(graph: BlindGraph, mids: Mids) -> list[tuple[Step, Mids]]:
    """Returns the steps that at least MIN_SHARE of `mids` have, with the nodes that each reaches."""
    least = MIN_SHARE * len(mids)
    found = []
    for step in steps_from(graph, mids):
        edges = walk(graph, mids, (step,))
        if len(np.unique(edges.heads)) >= least:
            found.append((step, _spread(as_mids(edges.tails))))
    return found


def _spread(mids: Mids) -> Mids:
    if len(mids) <= MAX_STEPS_WALKED:
        return mids
    return mids[np.linspace(0, len(mids) - 1, MAX_STEPS_WALKED).astype(np.int64)]


@cached_by_version
def _known(schema: Schema) -> dict[tuple[ConceptScope, int], ConceptPaths]:  # noqa: ARG001
    """Returns the cache of the paths that have been computed for one version."""
    return {}
