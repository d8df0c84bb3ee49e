"""Anonymity: among how many entities one is hidden whom a prompt shows, and what of the schema is rare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kg_store.anonymity.array_sets import Numbers, lengths_between
from kg_store.anonymity.relation_sets import StepSets, find_step_sets
from kg_store.graph.adjacency import Adjacency
from kg_store.terms import Hop, Relation, Schema, ValueKind, ValueView

DEFAULT_K = 20
"""Fewer entities than this are few."""


@dataclass(frozen=True, slots=True)
class ProfileRisk:
    """The facts of an entity that prompts of one profile show.

    `expected` is the mean of 1 / (entities that fit what the prompt shows) over `prompts`: the chance that somebody
    who knows the whole graph names the right one. `few` is the share of prompts that fewer than k entities fit,
    `smallest` the fewest that fit one. For `path of one` and `path of two` there is a prompt for each pair of an
    entity and a path that leaves it, else one for each entity.
    """

    profile: str
    prompts: int
    expected: float
    few: float
    smallest: int


@dataclass(frozen=True, slots=True)
class ConceptSets:
    """Entities of a concept (None: of all) by the size of their anonymity set, in step with `Anonymity.bounds`."""

    concept: str | None
    entities: int
    one_hop: tuple[int, ...]
    two_hops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RelationUse:
    """The number of things that have a relation, and of others (or distinct values) that it leads to."""

    label: str
    subjects: int
    objects: int
    value_kind: ValueKind | None
    value_view: ValueView


@dataclass(frozen=True, slots=True)
class Anonymity:
    """`bounds` are the smallest sizes of the histograms' bars. Holds counts and words of the schema alone."""

    k: int
    entities: int
    bounds: tuple[int, ...]
    profiles: tuple[ProfileRisk, ...]
    whole: ConceptSets
    concepts: tuple[ConceptSets, ...]
    relations: tuple[RelationUse, ...]

    @property
    def rare(self) -> tuple[RelationUse, ...]:
        """Relations with fewer than k subjects, and those that lead to fewer than k entities."""
        return tuple(
            each for each in self.relations if each.subjects < self.k or (_is_ours(each) and each.objects < self.k)
        )

    def profile(self, name: str) -> ProfileRisk:
        return next(each for each in self.profiles if each.profile == name)


def measure_anonymity(adjacency: Adjacency, schema: Schema, k: int = DEFAULT_K) -> Anonymity:
    """An entity's anonymity set: all entities of its concept with the same set of steps (one hop), or of paths of
    two (two hops). StoreError where there are too many steps to find them (`find_step_sets`)."""
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


def _set_sizes(concepts: Numbers, sets: Numbers) -> Numbers:
    """For each entity how many are of its concept and set, itself among them."""
    keys = concepts * (int(sets.max(initial=0)) + 1) + sets
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sizes: Numbers = counts[place].astype(np.int64)
    return sizes


def _of_entities(profile: str, sizes: Numbers, k: int) -> ProfileRisk:
    if not len(sizes):
        return ProfileRisk(profile, 0, 0.0, 0.0, 0)
    return ProfileRisk(profile, len(sizes), float(np.mean(1 / sizes)), float(np.mean(sizes < k)), int(sizes.min()))


def _of_paths(profile: str, having: Mapping[int, int], k: int) -> ProfileRisk:
    """`having`: how many paths just so many entities have. A path that n have is in n prompts, each with 1/n."""
    prompts = sum(entities * paths for entities, paths in having.items())
    if not prompts:
        return ProfileRisk(profile, 0, 0.0, 0.0, 0)
    few = sum(entities * paths for entities, paths in having.items() if entities < k)
    return ProfileRisk(profile, prompts, sum(having.values()) / prompts, few / prompts, min(having))


def _histogram(sizes: Numbers, bounds: tuple[int, ...]) -> tuple[int, ...]:
    places = np.searchsorted(bounds, sizes, side="right") - 1
    return tuple(np.bincount(places, minlength=len(bounds)).tolist())


def _by_concept(
    found: StepSets, one_hop: Numbers, two_hops: Numbers, bounds: tuple[int, ...]
) -> tuple[ConceptSets, ...]:
    """The largest concepts first."""
    order = np.argsort(found.concepts, kind="stable")
    starts = np.searchsorted(found.concepts[order], np.arange(len(found.names) + 1)).tolist()
    rows = []
    for place, name in enumerate(found.names):
        of_concept = order[starts[place] : starts[place + 1]]
        if len(of_concept):
            bars = (_histogram(sizes[of_concept], bounds) for sizes in (one_hop, two_hops))
            rows.append(ConceptSets(name, len(of_concept), *bars))
    return tuple(sorted(rows, key=lambda row: (-row.entities, row.concept or "")))


def _uses(adjacency: Adjacency, schema: Schema) -> list[RelationUse]:
    sizes = lengths_between(adjacency.member_starts)
    owners = np.repeat(np.arange(len(schema.signatures)), lengths_between(adjacency.hop_starts))
    having = np.bincount(adjacency.hops, weights=sizes[owners], minlength=2 * len(schema.relations)).astype(np.int64)
    return [_use(relation, having) for relation in schema.relations]


def _use(relation: Relation, having: Numbers) -> RelationUse:
    subjects, objects = (
        int(having[2 * hop.relation + hop.inverse]) for hop in (Hop(relation.id), Hop(relation.id, True))
    )
    return RelationUse(relation.label, subjects, objects, relation.value_kind, relation.value_view)


def _is_ours(use: RelationUse) -> bool:
    """True where it leads to things that questions may be about."""
    return use.value_kind is None
