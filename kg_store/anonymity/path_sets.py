"""PathSets: of every thing the set of paths of two steps, found from what its steps lead to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kg_store.anonymity.array_sets import (
    Numbers,
    Sums,
    added_up,
    differs,
    distinct,
    lengths_between,
    number_pairs,
    number_sets,
    running_total,
    stretches,
    sums_between,
    tally,
    weights_of,
)
from kg_store.graph.index_ranges import ranges

_Small = npt.NDArray[np.int32]
_NOTHING: Numbers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Groups:
    """A group is what one step of one thing leads to; a kind is all groups of one step that lead to the same.

    Kinds are sorted by step; kind n leads to the sets of steps `reached[starts[n]:starts[n + 1]]`.
    """

    owners: Numbers
    kinds: Numbers
    kind_steps: Numbers
    reached: Numbers = field(repr=False)
    starts: Numbers = field(repr=False)


class PathSets:
    """Counts what a step leads to by its own set of steps: there are fewer of those than of things.

    `set_of` numbers each thing's set of steps; set n is `steps[firsts[n]:firsts[n] + lengths[n]]`, numbers below
    `count`. `concept_of` is -1 for what is no entity.
    """

    def __init__(
        self, concept_of: Numbers, set_of: Numbers, steps: Numbers, firsts: Numbers, lengths: Numbers, count: int
    ) -> None:
        self._concept_of, self._set_of, self._count = concept_of, set_of, max(1, count)
        self._steps, self._firsts, self._lengths = steps, firsts, lengths
        self._concepts = int(concept_of.max(initial=0)) + 1
        self._rows: list[tuple[_Small, ...]] = []

    def add(self, owners: Numbers, steps: Numbers, tails: Numbers) -> None:
        """Takes in rows: all those of some owners, who are greater than those before."""
        sets = self._set_of[tails]
        order = np.lexsort((sets, steps, owners))
        rows = [owners[order], steps[order], sets[order]]
        fresh = differs(rows[0]) | differs(rows[1]) | differs(rows[2])
        self._rows.append(tuple(part[fresh].astype(np.int32) for part in rows))

    def found(self, most_rows: int) -> tuple[Numbers, Mapping[int, int]]:
        """The number of each thing's set of paths; and how many pairs of concept and path just so many entities have.

        About `most_rows` paths are worked on at once.
        """
        groups = self._groups()
        by_step, by_second = weights_of(self._count), weights_of(self._count)
        sums = np.zeros((2, len(groups.kind_steps)), dtype=np.uint64)
        pairs, counts = self._pairs(groups)
        having: Counter[int] = Counter()
        begun = _NOTHING, _NOTHING
        costs = running_total(self._lengths[groups.reached])[groups.starts]
        for first, last in stretches(costs[:-1] // most_rows):
            seconds, starts = self._seconds(groups, first, last)
            # A sum of products: the step's number times the sum of those that follow it.
            sums[:, first:last] = (
                sums_between(by_second[:, seconds], starts) * by_step[:, groups.kind_steps[first:last]]
            )
            here = slice(*np.searchsorted(pairs, (first * self._concepts, last * self._concepts)).tolist())
            added = self._paths_of(groups, pairs[here], counts[here], seconds, starts, first)
            keys, held = added_up(*(np.concatenate(each) for each in zip(begun, added, strict=True)))
            # The next kinds may have the last step too: its paths are not counted to their end.
            open_from = groups.kind_steps[last] if last < len(groups.kind_steps) else self._count
            done = int(np.searchsorted(keys, open_from * self._concepts * self._count))
            having.update(tally(held[:done]))
            begun = keys[done:], held[done:]
        return self._of_things(groups, sums), having

    def _groups(self) -> _Groups:
        nothing = tuple(_NOTHING.astype(np.int32) for _ in range(3))
        owners, steps, sets = (
            np.concatenate(part).astype(np.int64) for part in zip(nothing, *self._rows, strict=True)
        )
        self._rows = []
        starts = np.append(np.flatnonzero(differs(owners) | differs(steps)), len(sets))[: len(sets) + 1]
        owners, steps = owners[starts[:-1]], steps[starts[:-1]]
        kinds, examples = number_pairs(steps, sums_between(weights_of(len(self._firsts))[:, sets], starts))
        lengths = starts[examples + 1] - starts[examples]
        return _Groups(owners, kinds, steps[examples], sets[ranges(starts[examples], lengths)], running_total(lengths))

    def _pairs(self, groups: _Groups) -> tuple[Numbers, Numbers]:
        """Kinds with the concepts of the entities that have them, as one number, and how many those are."""
        concepts = self._concept_of[groups.owners]
        named = concepts >= 0
        return np.unique(groups.kinds[named] * self._concepts + concepts[named], return_counts=True)

    def _seconds(self, groups: _Groups, first: int, last: int) -> tuple[Numbers, Numbers]:
        """The steps that go on from where kinds lead, each once a kind, and where those of each kind start."""
        reached = groups.reached[groups.starts[first] : groups.starts[last]]
        widths = lengths_between(groups.starts[first : last + 1])
        of_kind = np.repeat(np.repeat(np.arange(last - first), widths), self._lengths[reached])
        seconds = self._steps[ranges(self._firsts[reached], self._lengths[reached])]
        if (widths > 1).any():
            keys = distinct(of_kind * self._count + seconds)
            of_kind, seconds = keys // self._count, keys % self._count
        return seconds, np.searchsorted(of_kind, np.arange(last - first + 1))

    def _paths_of(
        self, groups: _Groups, pairs: Numbers, counts: Numbers, seconds: Numbers, starts: Numbers, first: int
    ) -> tuple[Numbers, Numbers]:
        """Step, concept and second step as one number, with how many entities it is said of; some come twice."""
        kinds, concepts = pairs // self._concepts, pairs % self._concepts
        lengths = starts[kinds - first + 1] - starts[kinds - first]
        begins = (groups.kind_steps[kinds] * self._concepts + concepts) * self._count
        keys = np.repeat(begins, lengths) + seconds[ranges(starts[kinds - first], lengths)]
        return keys, np.repeat(counts, lengths)

    def _of_things(self, groups: _Groups, sums: Sums) -> Numbers:
        starts = np.append(np.flatnonzero(differs(groups.owners)), len(groups.owners))[: len(groups.owners) + 1]
        of_things = np.zeros((2, len(self._set_of)), dtype=np.uint64)
        of_things[:, groups.owners[starts[:-1]]] = sums_between(sums[:, groups.kinds], starts)
        return number_sets(of_things)[0]
