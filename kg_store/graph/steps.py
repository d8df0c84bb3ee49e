"""Finds every step that leaves sets of things: hops, and hops through mediators joined to one step;
many sets at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.index_ranges import ranges
from kg_store.terms import Hop, Mids, NodeKind, RelationId, Schema, Step, as_mids, cached_by_version

MAX_MEDIATORS = 2  # in a row; longer chains of nameless nodes are not met in practice
MAX_CACHED = 10_000  # sets of signatures; then they are all forgotten
_MANY = 500  # signatures of fewer nodes are not worth being made distinct

_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Two parallel arrays: things, and the walker at each; a walker is one set with a step that it has begun."""

    walkers: _Numbers
    mids: Mids


@dataclass(frozen=True, slots=True)
class _Hops:
    """The hops of a schema as codes, `2 * relation + inverse`: those of each signature, one signature
    after the other.
    """

    starts: _Numbers
    codes: _Numbers
    may_end: _Flags
    may_meet_mediator: _Flags
    is_mediator: _Flags
    steps: dict[int, Step] = field(default_factory=dict, repr=False)
    """A cache of steps by number."""
    steps_of: dict[frozenset[int], tuple[Step, ...]] = field(default_factory=dict, repr=False)
    """For a graph without mediators: the steps that leave a set, by the signatures of its members."""

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

    A step may also end at a mediator with a class of its own (a typed blank node). The graph is asked once for each
    hop, whatever the number of sets.
    """
    hops = _hops_of(graph.schema)
    if not hops.has_mediators:
        return [list(_hops_leaving(graph, hops, mids)) for mids in sets]
    lengths = [len(mids) for mids in sets]
    here = _Pairs(np.repeat(np.arange(len(sets)), lengths), np.concatenate([*sets, np.empty(0, np.int64)]))
    owners, begun = np.arange(len(sets)), np.zeros(len(sets), dtype=np.int64)
    found: list[tuple[_Numbers, _Numbers]] = []
    for depth in range(MAX_MEDIATORS + 1):
        walkers, codes = _leaving(graph, hops, here)
        steps = begun[walkers] * hops.base + codes + 1
        ends = hops.may_end[codes]
        # Shorter steps are filled up with zeros behind, so that numbers sort as steps do.
        found.append((owners[walkers[ends]], steps[ends] * hops.base ** (MAX_MEDIATORS - depth)))
        on = hops.may_meet_mediator[codes]
        if depth == MAX_MEDIATORS or not on.any():
            break
        here = _onto_mediators(graph, hops, here, walkers[on], codes[on])
        owners, begun = owners[walkers[on]], steps[on]
    return _by_set(found, len(sets), hops)


def ending_hops(schema: Schema) -> npt.NDArray[np.bool_]:
    """Returns, for each hop's code (`2 * relation + inverse`), whether a step may end with it."""
    return _hops_of(schema).may_end


def _hops_leaving(graph: BlindGraph, hops: _Hops, mids: Mids) -> tuple[Step, ...]:
    """The steps of one hop, from the signatures of `mids`; cached, since many sets share their signatures."""
    found = graph.signatures_of(mids)
    signatures = frozenset((np.unique(found) if len(found) > _MANY else found).tolist()) - {-1}
    steps = hops.steps_of.get(signatures)
    if steps is None:
        codes = sorted({code for each in signatures for code in hops.codes_of(each)})
        steps = tuple((Hop(RelationId(code >> 1), bool(code & 1)),) for code in codes)
        if len(hops.steps_of) >= MAX_CACHED:
            hops.steps_of.clear()
        hops.steps_of[signatures] = steps
    return steps


def _leaving(graph: BlindGraph, hops: _Hops, here: _Pairs) -> tuple[_Numbers, _Numbers]:
    """Distinct pairs of walkers and codes of the hops that leave their positions."""
    signatures = graph.signatures_of(here.mids).astype(np.int64)
    held = signatures >= 0
    kinds = len(hops.is_mediator)
    pairs = np.unique(here.walkers[held] * kinds + signatures[held])
    walkers, signatures = pairs // kinds, pairs % kinds
    lengths = hops.starts[signatures + 1] - hops.starts[signatures]
    codes = hops.codes[ranges(hops.starts[signatures], lengths)]
    leaving = np.unique(np.repeat(walkers, lengths) * hops.base + codes)
    return leaving // hops.base, leaving % hops.base


def _onto_mediators(graph: BlindGraph, hops: _Hops, here: _Pairs, walkers: _Numbers, codes: _Numbers) -> _Pairs:
    """The mediators that walker `walkers[i]` reaches by hop `codes[i]`; they belong to walker i from now on."""
    order = np.argsort(here.walkers, kind="stable")
    here = _Pairs(here.walkers[order], here.mids[order])
    firsts, lasts = (np.searchsorted(here.walkers, walkers, side=side) for side in ("left", "right"))
    on_walkers: list[_Numbers] = []
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


def _by_set(found: Sequence[tuple[_Numbers, _Numbers]], count: int, hops: _Hops) -> list[list[Step]]:
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
    mediators = [signature.kind is NodeKind.MEDIATOR for signature in schema.signatures]
    into_mediators = (s.hops for s in schema.signatures if s.kind is NodeKind.MEDIATOR)
    into_ends = (s.hops for s in schema.signatures if s.kind is not NodeKind.MEDIATOR or s.classes)
    return _Hops(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(lengths, dtype=np.int64))]),
        np.array(codes, dtype=np.int64),
        _reversed_flags(schema, into_ends),
        _reversed_flags(schema, into_mediators),
        np.array(mediators or [False], dtype=np.bool_),
    )


def _reversed_flags(schema: Schema, groups: Iterable[tuple[Hop, ...]]) -> _Flags:
    """A flag for each hop: it leads to nodes that `groups` of hops leave."""
    flags = np.zeros(max(1, 2 * len(schema.relations)), dtype=np.bool_)
    flags[[2 * hop.relation + (not hop.inverse) for hops in groups for hop in hops]] = True
    return flags
