"""KindTable: the things of one kind as rows, each relation of theirs as a column: sorted, filtered and counted."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

import numpy as np

from kg_store.algebra.relation_values import ORDERED, Record, Records, Value, union_of
from kg_store.errors import UnknownColumnError
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of, kinds_of_rows, row_kind_of
from kg_store.graph.traversal import kind_of, members_of, tail_concept
from kg_store.terms import Edges, Hop, Mids, NodeKind, Schema, ValueKind, as_mids, cached_by_version
from kg_store.text.dates import PartialDate

NAME: Final = ""
"""Stands for the column of the things' own names, where a relation's label would stand."""
MAX_READ: Final = 20_000
"""The most different names or values of a column that are read to sort or search by it, which takes about a second."""
MAX_CHOICES: Final = 30
"""The most different values of a column whose rows are counted value by value. Chosen by hand."""
MAX_KEPT: Final = 200
"""The most orders of rows that are cached for one version of a graph, before the cache is emptied. Chosen by hand."""
_DIGITS: Final = re.compile(r"(\d+)")

Key = tuple[int, Decimal | int, tuple[tuple[int, int, str], ...]]


@dataclass(frozen=True, slots=True)
class Column:
    """A relation of the things of a kind; `label` as in expressions, so `^treats` is walked backwards.

    `leads_to`: the kind of its ends, empty for values. `counted`: a cell is the number of its ends and shows none of
    them, because they are many things that lead here, or have no name. `filled`: the rows that have a cell;
    `distinct`: the different ends.
    """

    label: str
    leads_to: str
    value_kind: ValueKind | None
    is_masked: bool
    counted: bool
    filled: int
    distinct: int
    hops: tuple[Hop, ...] = field(repr=False)

    @property
    def is_sortable(self) -> bool:
        return self.counted or self.distinct <= MAX_READ

    @property
    def has_choices(self) -> bool:
        """True if so few values share so many rows that rows can be chosen by value."""
        return not self.counted and 1 < self.distinct <= MAX_CHOICES and 2 * self.distinct <= self.filled


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A condition on one column: an end among `mids`, a name or value that contains `text`, or an empty cell."""

    column: str
    mids: Mids | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)


class KindTable:
    """The table of one kind of a graph, as a role sees it.

    Promise: rows, ends and counts come from `graph` and `vault` alone, so what these hide adds to none of them. It
    gives MIDs, no names. Limit: columns with more than MAX_READ different texts are neither sorted nor searched.
    """

    def __init__(self, graph: BlindGraph, vault: Records, kind: str) -> None:
        self._graph, self._vault, self._kind = graph, vault, kind
        self._members = members_of(graph, kind)
        self.is_named = kind_of(graph, self._members) is not NodeKind.MEDIATOR
        known = _columns_of(graph.schema)
        if kind not in known:
            known[kind] = tuple(self._read_columns())
        self.columns: tuple[Column, ...] = known[kind]

    @property
    def is_name_sortable(self) -> bool:
        return self.is_named and len(self._members) <= MAX_READ

    def rows(self, filters: Sequence[RowFilter] = (), sort: str | None = None, *, descending: bool = False) -> Mids:
        """Returns the things for which all `filters` are true, sorted by the column `sort`; empty cells come last.

        Without `sort` they come by name, if these are few enough. Raises UnknownColumnError.
        """
        found = self._in_order(sort, descending)
        for each in filters:
            found = found[np.isin(found, self._matching(each))]
        return found

    def choices(self, label: str, filters: Sequence[RowFilter] = ()) -> tuple[list[tuple[int, int]], int]:
        """Returns (end, rows) for each end of a column with few of them, most rows first, and the rows without any.

        Filters on the column itself are ignored. Raises UnknownColumnError.
        """
        column = self._column(label)
        if not column.has_choices:
            raise UnknownColumnError
        others = [each for each in filters if each.column != label]
        rows = as_mids(self.rows(others))
        edges = self._edges(column, rows)
        ends, counts = np.unique(edges.tails, return_counts=True)
        pairs = sorted(zip(ends.tolist(), counts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        return pairs, len(rows) - len(np.unique(edges.heads))

    def cells(self, column: Column, rows: Mids) -> dict[int, list[int]]:
        """Returns what a column has for each of `rows`; rows without anything are left out."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        edges = self._edges(column, as_mids(rows))
        for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True):
            found[head].append(tail)
        return found

    def _read_columns(self) -> Iterator[Column]:
        """Yields the columns: those that the rows have themselves, the fullest first, then those that only count."""
        schema = self._graph.schema
        hops: defaultdict[str, list[Hop]] = defaultdict(list)
        for hop in self._graph.relations_of(self._members):
            hops[schema.label(hop)].append(hop)
        columns = [self._read_column(label, tuple(same)) for label, same in hops.items()]
        backwards = self.is_named  # Rows without a name are known by what leads to them.
        yield from sorted(
            columns, key=lambda each: (each.counted, backwards and each.label.startswith("^"), -each.filled)
        )

    def _read_column(self, label: str, hops: tuple[Hop, ...]) -> Column:
        schema, first = self._graph.schema, hops[0]
        edges = union_of([self._graph.neighbours(self._members, hop) for hop in hops])
        heads, ends = np.unique(edges.heads), as_mids(edges.tails)
        kind = kind_of(self._graph, ends)
        several = first.inverse and len(edges.heads) > len(heads)
        relation = schema.relations[first.relation]
        return Column(
            label,
            "" if kind is NodeKind.VALUE else _kind_at(self._graph, ends, first),
            None if first.inverse else relation.value_kind,
            relation.mask is not None,
            several or kind is NodeKind.MEDIATOR,
            len(heads),
            len(ends),
            hops,
        )

    def _column(self, label: str) -> Column:
        for column in self.columns:
            if column.label == label:
                return column
        raise UnknownColumnError

    def _edges(self, column: Column, rows: Mids) -> Edges:
        return union_of([self._graph.neighbours(rows, hop) for hop in column.hops])

    def _in_order(self, sort: str | None, descending: bool) -> Mids:
        if sort is None:
            return self._in_order(NAME, descending) if self.is_name_sortable else self._members
        known = _orders_of(self._graph.schema)
        order = known.get((self._kind, sort, descending))
        if order is None:
            keys = self._keys(sort, descending)
            rows = self._in_order(None, descending=False).tolist() if sort != NAME else self._members.tolist()
            filled = sorted((mid for mid in rows if mid in keys), key=keys.__getitem__, reverse=descending)
            order = np.array([*filled, *(mid for mid in rows if mid not in keys)], dtype=np.int64)
            if len(known) >= MAX_KEPT:
                known.clear()
            known[self._kind, sort, descending] = order
        return order

    def _keys(self, label: str, descending: bool) -> Mapping[int, Key]:
        """Returns the key by which each row with a cell is sorted: that of its least end, or of its greatest."""
        if label == NAME:
            return {mid: _key_of(record) for mid, record in self._read(None).items()}
        column = self._column(label)
        edges = self._edges(column, self._members)
        if column.counted:
            heads, counts = np.unique(edges.heads, return_counts=True)
            return {head: (0, count, ()) for head, count in zip(heads.tolist(), counts.tolist(), strict=True)}
        of_ends = {mid: _key_of(record) for mid, record in self._read(column).items()}
        found: dict[int, Key] = {}
        for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True):
            if tail in of_ends and (head not in found or (of_ends[tail] > found[head]) == descending):
                found[head] = of_ends[tail]
        return found

    def _matching(self, condition: RowFilter) -> Mids:
        """Returns the things for which a filter is true."""
        if condition.column == NAME:
            if condition.text is None:
                raise UnknownColumnError
            return as_mids(_holding(self._read(None), condition.text))
        column = self._column(condition.column)
        edges = self._edges(column, self._members)
        if condition.mids is None and condition.text is None:
            return np.setdiff1d(self._members, edges.heads)
        if column.counted:
            raise UnknownColumnError
        held = [] if condition.text is None else _holding(self._read(column), condition.text)
        ends = as_mids(held) if condition.mids is None else condition.mids
        return as_mids(edges.heads[np.isin(edges.tails, ends)])

    def _read(self, column: Column | None) -> Mapping[int, Record]:
        """Returns the records of a column's ends, or of the things themselves. Raises UnknownColumnError."""
        if not (self.is_name_sortable if column is None else column.is_sortable):
            raise UnknownColumnError
        return self._vault.records(
            self._members if column is None else as_mids(self._edges(column, self._members).tails)
        )


def kind_sizes(graph: BlindGraph) -> Mapping[str, int]:
    """Returns the number of things of each kind, of rows without a name too; the largest kind first."""
    known = _sizes_of(graph.schema)
    if not known:
        kinds = dict.fromkeys((*kinds_of(graph.schema), *kinds_of_rows(graph.schema)))
        sizes = {kind: len(members_of(graph, kind)) for kind in kinds}
        known |= {kind: size for kind, size in sorted(sizes.items(), key=lambda each: (-each[1], each[0])) if size}
    return known


def _kind_at(graph: BlindGraph, ends: Mids, hop: Hop) -> str:
    """Returns the kind of the ends of a hop; of nameless ones that of their rows."""
    signatures = frozenset(np.unique(graph.signatures_of(ends)).tolist())
    return row_kind_of(graph.schema, signatures) or tail_concept(graph.schema, (hop,))


def _text_of(record: Record) -> str:
    return record.names[0] if record.names else record.lexical or ""


def _holding(records: Mapping[int, Record], text: str) -> list[int]:
    wanted = text.casefold()
    return [mid for mid, record in records.items() if wanted in _text_of(record).casefold()]


def _key_of(record: Record) -> Key:
    """Returns a key that sorts numbers and dates by their size, then texts, of which "Item 2" precedes "Item 10"."""
    if record.value_kind in ORDERED and record.lexical is not None:
        parsed = Value(record.lexical, record.value_kind).read_as(record.value_kind)
        if isinstance(parsed, PartialDate):
            return 0, parsed.instant, ()
        if isinstance(parsed, Decimal):
            return 0, parsed, ()
    parts = (part for part in _DIGITS.split(_text_of(record).casefold()) if part)
    return 1, 0, tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


@cached_by_version
def _sizes_of(schema: Schema) -> dict[str, int]:  # noqa: ARG001
    """Returns the cache of the sizes of a version's kinds."""
    return {}


@cached_by_version
def _columns_of(schema: Schema) -> dict[str, tuple[Column, ...]]:  # noqa: ARG001
    """Returns the cache of the columns of each kind of one version."""
    return {}


@cached_by_version
def _orders_of(schema: Schema) -> dict[tuple[str, str, bool], Mids]:  # noqa: ARG001
    """Returns the cache of the orders of rows of one version, by kind, column and direction."""
    return {}
