"""Anonymity: counts the entities among which one that a prompt shows is hidden, and finds rare relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kg_store.errors import StoreError
from kg_store.graph.adjacency import (
    Adjacency,
    Flags,
    Longs,
    Sums,
    differs,
    distinct_rows,
    lengths_between,
    number_sets,
    ranges,
    running_total,
    sums_between,
    weights_of,
)
from kg_store.graph.traversal import MAX_MEDIATORS, ending_hops, mediator_flags
from kg_store.terms import NodeKind, Schema, ValueKind, ValueView, as_mids

_NOTHING: Longs = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The nodes that each step of each node leads to, in groups that are sorted into kinds.

    A group: all nodes that one step of one node (its owner) leads to. A kind: all groups of one step whose nodes have
    the same step sets (a step set: all steps that leave a node). `owners` and `kinds` have one row for each group.
    Kind n belongs to step `kind_steps[n]`, and its nodes have the step sets `reached[starts[n]:starts[n + 1]]`.
    """

    owners: Longs
    kinds: Longs
    kind_steps: Longs
    reached: Longs = field(repr=False)
    starts: Longs = field(repr=False)


class PathSets:
    """Finds which nodes have the same paths of two steps, and how many entities have each such path.

    It compares step sets (a step set: all steps that leave a node) instead of nodes, because there are fewer. `set_of`
    is the number of each node's step set. Step set n is `steps[firsts[n]:firsts[n] + lengths[n]]`; its steps are
    numbers below `count`. `concept_of` is the number of each node's concept, -1 for nodes that are not entities.
    """

    def __init__(
        self, concept_of: Longs, set_of: Longs, steps: Longs, firsts: Longs, lengths: Longs, count: int
    ) -> None:
        self._concept_of, self._set_of, self._count = concept_of, set_of, max(1, count)
        self._steps, self._firsts, self._lengths = steps, firsts, lengths
        self._concepts = int(concept_of.max(initial=0)) + 1
        self._rows: list[tuple[npt.NDArray[np.int32], ...]] = []

    def add(self, owners: Longs, steps: Longs, tails: Longs) -> None:
        """Adds rows (owner, step, tail). One call gets all rows of an owner, and owners ascend from call to call."""
        rows = distinct_rows(owners, steps, self._set_of[tails])
        self._rows.append(tuple(part.astype(np.int32) for part in rows))

    def found(self, most_rows: int) -> tuple[Longs, Mapping[int, int]]:
        """Returns for each node a number that is equal for nodes with the same set of paths, and a tally of the paths.

        The tally maps n to the number of (concept, path) pairs that exactly n entities have. About `most_rows` paths
        are held in memory at once.
        """
        groups = self._groups()
        by_step, by_second = weights_of(self._count), weights_of(self._count)
        sums = np.zeros((2, len(groups.kind_steps)), dtype=np.uint64)
        pairs, counts = self._pairs(groups)
        having: Counter[int] = Counter()
        begun = _NOTHING, _NOTHING
        costs = running_total(self._lengths[groups.reached])[groups.starts]
        for first, last in _runs(costs[:-1] // most_rows):
            seconds, starts = self._seconds(groups, first, last)
            # A kind's weight is its step's weight times the sum of the weights of the steps that may follow.
            sums[:, first:last] = (
                sums_between(by_second[:, seconds], starts) * by_step[:, groups.kind_steps[first:last]]
            )
            here = slice(*np.searchsorted(pairs, (first * self._concepts, last * self._concepts)).tolist())
            added = self._paths_of(groups, pairs[here], counts[here], seconds, starts, first)
            keys, held = _added_up(*(np.concatenate(each) for each in zip(begun, added, strict=True)))
            # The next kinds may have the same step as the last one, so the counts of its paths are not final yet.
            open_from = groups.kind_steps[last] if last < len(groups.kind_steps) else self._count
            done = int(np.searchsorted(keys, open_from * self._concepts * self._count))
            having.update(_tally(held[:done]))
            begun = keys[done:], held[done:]
        return self._of_things(groups, sums), having

    def _groups(self) -> _Groups:
        nothing = tuple(_NOTHING.astype(np.int32) for _ in range(3))
        owners, steps, sets = (
            np.concatenate(part).astype(np.int64) for part in zip(nothing, *self._rows, strict=True)
        )
        self._rows = []
        starts = np.append(np.flatnonzero(differs(owners, steps)), len(sets))[: len(sets) + 1]
        owners, steps = owners[starts[:-1]], steps[starts[:-1]]
        kinds, examples = number_sets(sums_between(weights_of(len(self._firsts))[:, sets], starts), steps)
        lengths = starts[examples + 1] - starts[examples]
        return _Groups(owners, kinds, steps[examples], sets[ranges(starts[examples], lengths)], running_total(lengths))

    def _pairs(self, groups: _Groups) -> tuple[Longs, Longs]:
        """Returns (pairs, counts): each (kind of group, concept) as one number, and how many entities have both."""
        concepts = self._concept_of[groups.owners]
        named = concepts >= 0
        return np.unique(groups.kinds[named] * self._concepts + concepts[named], return_counts=True)

    def _seconds(self, groups: _Groups, first: int, last: int) -> tuple[Longs, Longs]:
        """Returns (steps, starts) for the kinds from `first` to before `last`: the second steps of paths.

        The steps that can follow kind `first + i` are `steps[starts[i]:starts[i + 1]]`.
        """
        reached = groups.reached[groups.starts[first] : groups.starts[last]]
        widths = lengths_between(groups.starts[first : last + 1])
        of_kind = np.repeat(np.repeat(np.arange(last - first), widths), self._lengths[reached])
        seconds = self._steps[ranges(self._firsts[reached], self._lengths[reached])]
        if (widths > 1).any():
            keys = as_mids(of_kind * self._count + seconds)
            of_kind, seconds = keys // self._count, keys % self._count
        return seconds, np.searchsorted(of_kind, np.arange(last - first + 1))

    def _paths_of(
        self, groups: _Groups, pairs: Longs, counts: Longs, seconds: Longs, starts: Longs, first: int
    ) -> tuple[Longs, Longs]:
        """Returns (paths, counts): each (first step, concept, second step) as a number, and its number of entities.

        A path may occur several times; its counts have to be added up.
        """
        kinds, concepts = pairs // self._concepts, pairs % self._concepts
        lengths = starts[kinds - first + 1] - starts[kinds - first]
        begins = (groups.kind_steps[kinds] * self._concepts + concepts) * self._count
        keys = np.repeat(begins, lengths) + seconds[ranges(starts[kinds - first], lengths)]
        return keys, np.repeat(counts, lengths)

    def _of_things(self, groups: _Groups, sums: Sums) -> Longs:
        starts = np.append(np.flatnonzero(differs(groups.owners)), len(groups.owners))[: len(groups.owners) + 1]
        of_things = np.zeros((2, len(self._set_of)), dtype=np.uint64)
        of_things[:, groups.owners[starts[:-1]]] = sums_between(sums[:, groups.kinds], starts)
        return number_sets(of_things)[0]


def _added_up(keys: Longs, counts: Longs) -> tuple[Longs, Longs]:
    """Returns each key once, ascending, with the sum of its counts."""
    order = np.argsort(keys)
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(differs(keys))
    return keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts


def _tally(values: Longs) -> dict[int, int]:
    """Returns how many times each value occurs."""
    found, times = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), times.tolist(), strict=True))


def _runs(lots: Longs) -> Iterator[tuple[int, int]]:
    """Yields (begin, end) of each run of equal values: (0, 2), (2, 3) for [7, 7, 9]."""
    yield from pairwise([*np.flatnonzero(differs(lots)).tolist(), len(lots)])


MAX_ROWS = 1_000_000  # Rows held in memory at once; the steps of one node always stay together.
MAX_STEPS = 200_000_000


@dataclass(frozen=True, slots=True)
class StepSets:
    """The steps around each entity, one row for each.

    `concepts` are positions in `names`. Two entities with the same number in `one_hop` have the same set of steps;
    with the same number in `two_hops`, the same set of paths of two steps. `having_step` maps n to the number of
    (concept, step) pairs that exactly n entities have; `having_path` does so for paths of two.
    """

    names: tuple[str, ...] = field(repr=False)
    concepts: Longs = field(repr=False)
    one_hop: Longs = field(repr=False)
    two_hops: Longs = field(repr=False)
    having_step: Mapping[int, int] = field(repr=False)
    having_path: Mapping[int, int] = field(repr=False)


def find_step_sets(adjacency: Adjacency, schema: Schema) -> StepSets:
    """Returns the steps and the paths of two steps around each entity.

    A step is a hop, or several hops through mediators that do not lead back to where they began, as in
    `traversal.walk`. Memory grows with the number of steps and MAX_ROWS, not with the number of paths. Raises
    StoreError if there are more than MAX_STEPS (node, step, end) rows.
    """
    steps = _Steps(adjacency, schema)
    entities, concepts, names = _concepts(adjacency, schema)
    concept_of = np.full(len(adjacency.mids), -1, dtype=np.int64)
    concept_of[entities] = concepts
    owners, numbers = steps.of_all()
    known, ids = np.unique(numbers, return_inverse=True)
    starts = np.searchsorted(owners, np.arange(len(adjacency.mids) + 1))
    one_hop, examples = number_sets(sums_between(weights_of(len(known))[:, ids], starts))
    of_entity = concept_of[owners] >= 0
    having = concept_of[owners[of_entity]] * max(1, len(known)) + ids[of_entity]
    paths = PathSets(concept_of, one_hop, ids, starts[examples], lengths_between(starts)[examples], len(known))
    for some_owners, some_numbers, tails in steps.rows():
        paths.add(some_owners, np.searchsorted(known, some_numbers), tails)
    two_hops, having_path = paths.found(MAX_ROWS)
    having_step = _tally(np.unique(having, return_counts=True)[1])
    return StepSets(names, concepts, one_hop[entities], two_hops[entities], having_step, having_path)


class _Steps:
    """The steps of a graph as rows: the node where a step begins (owner), the step's number, and its end."""

    def __init__(self, adjacency: Adjacency, schema: Schema) -> None:
        self._is_mediator: Flags = mediator_flags(schema)[adjacency.signatures]
        self._may_end = ending_hops(schema)
        reached = [
            any(self._may_end[2 * hop.relation + (not hop.inverse)] for hop in s.hops) for s in schema.signatures
        ]
        self._is_reached = np.array(reached or [False])[adjacency.signatures]
        self._starts = adjacency.target_starts[adjacency.group_starts].astype(np.int64)
        self._tails = adjacency.targets
        self._base = 2 * len(schema.relations) + 1
        self._hops = adjacency.hops_of_targets()

    def of_all(self) -> tuple[Longs, Longs]:
        """Returns (owners, step numbers): each node where a step may begin, with each of its steps, once, in order."""
        found = [(_NOTHING, _NOTHING)]
        for owners, numbers, _ in self.rows():
            known, ids = np.unique(numbers, return_inverse=True)
            keys = as_mids(owners * max(1, len(known)) + ids)
            if len(keys):
                found.append((keys // len(known), known[keys % len(known)]))
        all_owners, all_numbers = zip(*found, strict=True)
        return np.concatenate(all_owners), np.concatenate(all_numbers)

    def rows(self) -> Iterator[tuple[Longs, Longs, Longs]]:
        """Yields (owners, step numbers, ends) in pieces of about MAX_ROWS rows; all rows of a node are in one piece.

        Raises StoreError if there are more than MAX_STEPS rows.
        """
        costs = np.cumsum(self._costs())
        if costs[-1:].sum() > MAX_STEPS:
            raise StoreError(
                f"more than {MAX_STEPS:,} pairs of things are joined by a step: its mediators join too many"
            )
        for first, last in _runs(costs // MAX_ROWS):
            yield self._leaving(np.flatnonzero(self._is_reached[first:last]) + first)

    def _costs(self) -> Longs:
        """Returns, for each node, the number of rows (step, end) that begin there.

        The rows of the mediators that its steps run through are counted too.
        """
        of_depth = lengths_between(self._starts)
        costs = of_depth.copy()
        on = self._is_mediator[self._tails]
        for _ in range(MAX_MEDIATORS if on.any() else 0):
            running = running_total(np.where(on, of_depth[self._tails], 0))
            of_depth = running[self._starts[1:]] - running[self._starts[:-1]]
            costs += of_depth
        return costs

    def _leaving(self, begins: Longs) -> tuple[Longs, Longs, Longs]:
        found: list[tuple[Longs, Longs, Longs]] = []
        owners, nodes, begun = begins, begins, np.zeros(len(begins), dtype=np.int64)
        for depth in range(MAX_MEDIATORS + 1):
            lengths = self._starts[nodes + 1] - self._starts[nodes]
            places = ranges(self._starts[nodes], lengths)
            owners, tails = np.repeat(owners, lengths), self._tails[places].astype(np.int64)
            hops = self._hops[places]
            numbers = np.repeat(begun, lengths) * self._base + hops + 1
            # A step through a mediator would lead back to its own start; `traversal.walk` drops these pairs too.
            ends = self._may_end[hops] & (owners != tails) if depth else self._may_end[hops]
            found.append((owners[ends], numbers[ends], tails[ends]))
            on = self._is_mediator[tails]
            if not on.any():
                break
            owners, nodes, begun = owners[on], tails[on], numbers[on]
        whole = [np.concatenate(part) for part in zip(*found, strict=True)]
        return whole[0], whole[1], whole[2]


def _concepts(adjacency: Adjacency, schema: Schema) -> tuple[Longs, Longs, tuple[str, ...]]:
    names = sorted({str(concept) for concept in schema.concepts})
    place = {name: position for position, name in enumerate(names)}
    of_signature = np.array([place[str(concept)] for concept in schema.concepts] or [0], dtype=np.int64)
    kinds = np.array([signature.kind is NodeKind.ENTITY for signature in schema.signatures] or [False])
    entities = np.flatnonzero(kinds[adjacency.signatures])
    return entities, of_signature[adjacency.signatures[entities]], tuple(names)


DEFAULT_K = 20  # An anonymity set with fewer entities counts as small.


@dataclass(frozen=True, slots=True)
class ProfileRisk:
    """The re-identification risk of prompts of one profile, which is the set of facts that they show of an entity.

    `expected` is the mean over all prompts of 1 / (number of entities that fit the prompt): the chance that somebody
    who knows the whole graph names the right entity. `few` is the share of prompts that fewer than k entities fit,
    `smallest` the smallest number that fits one. The profiles `path of one` and `path of two` have a prompt for each
    pair of an entity and a path that leaves it; the others have one prompt for each entity.
    """

    profile: str
    prompts: int
    expected: float
    few: float
    smallest: int


@dataclass(frozen=True, slots=True)
class ConceptSets:
    """The entities of a concept (None: of all), counted by the size of their anonymity sets.

    There is one count for each of `Anonymity.bounds`.
    """

    concept: str | None
    entities: int
    one_hop: tuple[int, ...]
    two_hops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RelationUse:
    """The number of nodes that have a relation, and of the nodes (or distinct values) that it leads to."""

    label: str
    subjects: int
    objects: int
    value_kind: ValueKind | None
    value_view: ValueView


@dataclass(frozen=True, slots=True)
class Anonymity:
    """The anonymity report of a graph; it holds counts and words of the schema only.

    `bounds`: the sizes at which the bars of the histograms begin: with (1, 2, 5), bars for sets of 1, 2 to 4, 5 or
    more.
    """

    k: int
    entities: int
    bounds: tuple[int, ...]
    profiles: tuple[ProfileRisk, ...]
    whole: ConceptSets
    concepts: tuple[ConceptSets, ...]
    relations: tuple[RelationUse, ...]

    @property
    def rare(self) -> tuple[RelationUse, ...]:
        """The relations with fewer than k subjects, and those that lead to fewer than k entities."""
        return tuple(
            each
            for each in self.relations
            if each.subjects < self.k or (each.value_kind is None and each.objects < self.k)
        )

    def profile(self, name: str) -> ProfileRisk:
        return next(each for each in self.profiles if each.profile == name)


def measure_anonymity(adjacency: Adjacency, schema: Schema, k: int = DEFAULT_K) -> Anonymity:
    """Measures the anonymity sets of all entities.

    An entity's anonymity set is all entities of its concept with the same set of steps (one hop) or of paths of two
    steps (two hops). Raises StoreError if there are too many steps (`find_step_sets`).
    """
    found = find_step_sets(adjacency, schema)
    bounds = tuple(sorted({1, 2, 5, k, 5 * k, 50 * k}))
    one_hop, two_hops = (_set_sizes(found.concepts, sets) for sets in (found.one_hop, found.two_hops))
    of_concept = np.bincount(found.concepts, minlength=len(found.names))[found.concepts]
    profiles = (
        _of_entities("concept", of_concept, k),
        _of_paths("path of one", found.having_step, k),
        _of_paths("path of two", found.having_path, k),
        _of_entities("relations", one_hop, k),
        _of_entities("paths of two", two_hops, k),
    )
    return Anonymity(
        k,
        len(found.concepts),
        bounds,
        profiles,
        ConceptSets(None, len(found.concepts), _histogram(one_hop, bounds), _histogram(two_hops, bounds)),
        _by_concept(found, one_hop, two_hops, bounds),
        tuple(_uses(adjacency, schema)),
    )


def _set_sizes(concepts: Longs, sets: Longs) -> Longs:
    """Returns for each entity how many entities, itself included, have its concept and its number in `sets`."""
    keys = concepts * (int(sets.max(initial=0)) + 1) + sets
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sizes: Longs = counts[place].astype(np.int64)
    return sizes


def _of_entities(profile: str, sizes: Longs, k: int) -> ProfileRisk:
    if not len(sizes):
        return ProfileRisk(profile, 0, 0.0, 0.0, 0)
    return ProfileRisk(profile, len(sizes), float(np.mean(1 / sizes)), float(np.mean(sizes < k)), int(sizes.min()))


def _of_paths(profile: str, having: Mapping[int, int], k: int) -> ProfileRisk:
    """Returns the risk of a profile whose prompts show one path of one entity each.

    `having` maps n to the number of paths that exactly n entities have. A path that n entities have makes n prompts;
    each of these prompts names the right entity with a chance of 1/n.
    """
    prompts = sum(entities * paths for entities, paths in having.items())
    if not prompts:
        return ProfileRisk(profile, 0, 0.0, 0.0, 0)
    few = sum(entities * paths for entities, paths in having.items() if entities < k)
    return ProfileRisk(profile, prompts, sum(having.values()) / prompts, few / prompts, min(having))


def _histogram(sizes: Longs, bounds: tuple[int, ...]) -> tuple[int, ...]:
    places = np.searchsorted(bounds, sizes, side="right") - 1
    return tuple(np.bincount(places, minlength=len(bounds)).tolist())


def _by_concept(found: StepSets, one_hop: Longs, two_hops: Longs, bounds: tuple[int, ...]) -> tuple[ConceptSets, ...]:
    """Returns the histograms of each concept, the largest concept first."""
    order = np.argsort(found.concepts, kind="stable")
    starts = np.searchsorted(found.concepts[order], np.arange(len(found.names) + 1)).tolist()
    rows = []
    for place, name in enumerate(found.names):
        of_concept = order[starts[place] : starts[place + 1]]
        if len(of_concept):
            bars = (_histogram(sizes[of_concept], bounds) for sizes in (one_hop, two_hops))
            rows.append(ConceptSets(name, len(of_concept), *bars))
    return tuple(sorted(rows, key=lambda row: (-row.entities, row.concept or "")))


def _uses(adjacency: Adjacency, schema: Schema) -> Iterator[RelationUse]:
    sizes = lengths_between(adjacency.member_starts)
    owners = np.repeat(np.arange(len(schema.signatures)), lengths_between(adjacency.hop_starts))
    having = np.bincount(adjacency.hops, weights=sizes[owners], minlength=2 * len(schema.relations)).astype(np.int64)
    for each in schema.relations:
        subjects, objects = having[2 * each.id : 2 * each.id + 2].tolist()
        yield RelationUse(each.label, subjects, objects, each.value_kind, each.value_view)
