"""Follows the relations of an expression and compares the values that they lead to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Final, Protocol

import numpy as np

from kg_store.algebra.expressions import MINUS, THEN, TIMES
from kg_store.errors import ExpressionError
from kg_store.graph.adjacency import distinct_pairs
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, join_each, walk, walk_each
from kg_store.terms import NO_MIDS, Edges, Hop, Mids, NodeKind, Step, ValueKind, as_mids
from kg_store.text.dates import PartialDate, Precision, YearlyDate, days_between, is_yearly
from kg_store.text.literals import Parsed, date_in_name, named_date, parse_value, read_asked

ORDERED = (ValueKind.NUMBER, ValueKind.DATE)
MIN_DATED: Final = 0.5
"""Names are read as dates if at least this share of them are dates. Chosen by hand; not fitted."""
MAX_LOOKED_AT: Final = 20  # The number of names that are tried before all are read. Chosen by hand.


class Record(Protocol):
    """The fields of a vault record that the algebra reads. A vault record has the names and the value of one node."""

    @property
    def kind(self) -> NodeKind: ...
    @property
    def value_kind(self) -> ValueKind | None: ...
    @property
    def lexical(self) -> str | None: ...
    @property
    def names(self) -> tuple[str, ...]: ...


class Records(Protocol):
    """The part of the vault that the algebra needs: it gives the records of nodes."""

    def records(self, mids: Sequence[int] | Mids) -> Mapping[int, Record]:
        """Returns the records of those `mids` that the vault holds."""
        ...


@dataclass(frozen=True, slots=True)
class Value:
    """The text of a literal and its kind.

    `kind` is None if a user typed the text; it is then read as the other side's kind.
    """

    lexical: str = field(repr=False)
    kind: ValueKind | None

    @property
    def year(self) -> int | None:
        """The year of a date; None for other values."""
        date = self.read_as(ValueKind.DATE) if self.kind is ValueKind.DATE else None
        return date.year if isinstance(date, PartialDate) else None

    def is_yearly(self) -> bool:
        """Returns True for a date without a year, which only a user can type."""
        return self.kind is None and is_yearly(self.lexical)

    def read_as(self, kind: ValueKind) -> Parsed | YearlyDate | None:
        """Returns the value read as `kind`; None if that is impossible."""
        read = read_asked if self.kind is None else parse_value
        try:
            return read(self.lexical, kind)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Measures:
    """The (entity, value) pairs whose values are numbers or dates; `keys` has the number or instant of each value."""

    kind: ValueKind | None
    pairs: tuple[tuple[int, int], ...] = field(repr=False)
    keys: Mapping[int, Decimal] = field(repr=False)

    def by_entity(self) -> dict[int, list[Decimal]]:
        found: defaultdict[int, list[Decimal]] = defaultdict(list)
        for entity, value in self.pairs:
            found[entity].append(self.keys[value])
        return dict(found)


class RelationValues:
    """Reads relations by their labels, and values from the vault in batches."""

    def __init__(self, graph: BlindGraph, vault: Records) -> None:
        self._graph, self._vault = graph, vault
        hops: defaultdict[str, list[Hop]] = defaultdict(list)
        for relation in graph.schema.relations:
            for hop in (Hop(relation.id), Hop(relation.id, inverse=True)):
                hops[graph.schema.label(hop)].append(hop)
        self._hops = dict(hops)

    def parts_of(self, label: str, word: str) -> list[str]:
        """Returns the relations that `word` (THEN, MINUS or TIMES) joins in `label`: one, if it joins none."""
        return [label] if label in self._hops else label.split(f" {word} ")

    def sides_of(self, label: str) -> tuple[str, str, str] | None:
        """Returns (MINUS or TIMES, first relation, second) of a number worked out of two; None of any other label."""
        for word in (MINUS, TIMES):
            if len(sides := self.parts_of(label, word)) == 2:
                return word, sides[0], sides[1]
        return None

    def ordered_kind(self, label: str) -> ValueKind | None:
        """Returns the kind of most values that the relations called `label` lead to, if it is numbers or dates."""
        label = self.parts_of(label, THEN)[-1]
        relations, last = self._graph.schema.relations, [step[-1] for step in self._steps(label)]
        kinds = {None if hop.inverse else relations[hop.relation].value_kind for hop in last}
        return next((kind for kind in ORDERED if kind in kinds), None)

    def edges(self, mids: Mids, label: str) -> Edges:
        """Returns a pair (member of `mids`, node) for each node that a relation called `label` leads to.

        Several relations with that label count as one.
        """
        first, *later = self.parts_of(label, THEN)
        if later:
            joined = self._chained(mids, first, later)
            return distinct_pairs(joined.heads, joined.tails)
        return union_of([walk(self._graph, mids, (step,)) for step in self._steps(label)])

    def texts_among_things(self, mids: Mids) -> Mids:
        """Returns the values among `mids` if things are most of them; else none.

        Such values are cells of references that lead to no row: "Base store" where others name a person.
        """
        kinds = np.array([each.kind is NodeKind.VALUE for each in self._graph.schema.signatures], dtype=bool)
        signatures = self._graph.signatures_of(mids)
        are_values = kinds[signatures] & (signatures >= 0) if len(kinds) else np.zeros(len(mids), dtype=bool)
        return mids[are_values] if np.count_nonzero(are_values) * 2 < len(mids) else NO_MIDS

    def measures_of(self, mids: Mids, label: str) -> Measures:
        """Returns the numbers or dates that `mids` have by the relation `label`.

        A value counts once for each node in between by which the relation reaches it. Differences are numbers.
        """
        if sides := self.sides_of(label):
            return self._worked_out(mids, *sides)
        first, *later = self.parts_of(label, THEN)
        if later:
            return self.measures(self._chained(mids, first, later))
        steps = self._steps(label)
        return self.measures(walk_each(self._graph, mids, steps[0]) if len(steps) == 1 else self.edges(mids, label))

    def _chained(self, mids: Mids, first: str, later: Sequence[str]) -> Edges:
        """Returns the (start, end) pairs of several relations in a row, once for each node before the last one."""
        edges = self.edges(mids, first)
        for at, label in enumerate(later, start=1):
            onward = self.edges(as_mids(edges.tails), label)
            edges = join_each(edges, distinct_pairs(onward.heads, onward.tails))
            if at < len(later):
                edges = distinct_pairs(edges.heads, edges.tails)
        return edges

    def _worked_out(self, mids: Mids, word: str, first: str, second: str) -> Measures:
        """Returns for each entity its value of `first` less, or times, that of `second`; less, for dates, in days.

        Entities without exactly one value on each side are left out, as are dates without a day. Raises
        ExpressionError if there are no two numbers and no two dates of one entity.
        """
        sides = [self._single_values(mids, label) for label in (first, second)]
        both = [(entity, sides[0][entity], sides[1][entity]) for entity in sides[0] if entity in sides[1]]
        of_two = _difference if word == MINUS else _product
        keys = {entity: found for entity, one, other in both if (found := of_two(one, other)) is not None}
        if both and not keys:
            raise ExpressionError("a difference takes two numbers or two dates, a product two numbers")
        return Measures(ValueKind.NUMBER, tuple((entity, entity) for entity in keys), keys)

    def _single_values(self, mids: Mids, label: str) -> dict[int, Value]:
        """Returns the value that each of `mids` has by the relation `label`, for those that have exactly one."""
        edges = self.edges(mids, label)
        values, heads = self.values_or_dates(edges.tails), Counter(edges.heads.tolist())
        pairs = zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)
        return {head: values[tail] for head, tail in pairs if heads[head] == 1 and tail in values}

    def matching(self, mids: Mids, first: str, operator: str, second: str) -> list[int]:
        """Returns those of `mids` of which something that `first` leads to compares so with something of `second`.

        For `!=`, those that have both, with nothing in common. Raises ExpressionError if nothing has an order.
        """
        edges = [self.edges(mids, label) for label in (first, second)]
        values = self.values_or_dates(edges[0].tails) | self.values_or_dates(edges[1].tails)
        lefts, rights = map(_tails_by_head, edges)
        verdicts = {
            head: [_matches(operator, left, rights[head], values) for left in tails]
            for head, tails in lefts.items()
            if head in rights
        }
        if verdicts and all(each is None for found in verdicts.values() for each in found):
            raise ExpressionError("the values of these two relations have no order in common")
        joined = all if operator == "!=" else any
        return [head for head, found in verdicts.items() if joined(map(bool, found))]

    def kinds(self, mids: Mids) -> tuple[str, ...]:
        """Returns the names of the classes that most of `mids` have; empty if the graph has none."""
        concept = concept_of(self._graph, mids) if len(mids) else ""
        return tuple(concept.split(", ")) if concept not in ("", "thing") else ()

    def values(self, mids: Mids) -> dict[int, Value]:
        """Returns the literals among `mids`."""
        return _values(self._records(mids))

    def values_or_dates(self, mids: Mids) -> dict[int, Value]:
        """Returns the literals among `mids`; if there are none, the dates found in the names of entities.

        Plain triple files do not distinguish a date from a name. Names are read as dates only if most of them are
        dates, or all contain one: a single film called "2012" does not make films dates.
        """
        records = self._records(mids)
        return _values(records) or _dates(records)

    def _records(self, mids: Mids) -> Mapping[int, Record]:
        return self._vault.records(np.unique(mids)) if len(mids) else {}

    def measures(self, edges: Edges) -> Measures:
        """Returns those `edges` whose tail is a number; if there are none, those whose tail is a date or named by one.

        Malformed values are left out. Raises ExpressionError if there are tails but none is a number or date.
        """
        values = self.values_or_dates(edges.tails)
        for kind in ORDERED:
            keys = _keys(values, kind)
            if keys:
                pairs = zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)
                return Measures(kind, tuple(pair for pair in pairs if pair[1] in keys), keys)
        if len(edges.tails):
            raise ExpressionError("that leads to no numbers and no dates: only those have an order")
        return Measures(None, (), {})

    def _steps(self, label: str) -> list[Step]:
        whole = self._hops.get(label)
        if whole:
            return [(hop,) for hop in whole]
        steps: list[Step] = [()]
        for part in label.split("|"):
            steps = [(*step, hop) for step in steps for hop in self._hops.get(part.strip(), ())]
        if not steps:
            raise ExpressionError("unknown relation: use the words in double quotes as the evidence shows them")
        return steps


def _tails_by_head(edges: Edges) -> dict[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True):
        found[head].append(tail)
    return dict(found)


def _matches(operator: str, left: int, rights: Sequence[int], values: Mapping[int, Value]) -> bool | None:
    """Returns True if `left` compares so with one of `rights`, for `!=` if with none; None without a common order."""
    others = [values[right] for right in rights if right in values]
    if operator in ("=", "!="):
        is_equal = left in rights or (left in values and bool(compared("=", values[left], others)))
        return is_equal == (operator == "=")
    return compared(operator, values[left], others) if left in values else None


def union_of(parts: Sequence[Edges]) -> Edges:
    """Returns all pairs of `parts`, each once."""
    if len(parts) == 1:
        return parts[0]
    return distinct_pairs(
        np.concatenate([each.heads for each in parts]), np.concatenate([each.tails for each in parts])
    )


def _values(records: Mapping[int, Record]) -> dict[int, Value]:
    return {
        mid: Value(record.lexical, record.value_kind or ValueKind.TEXT)
        for mid, record in records.items()
        if record.kind is NodeKind.VALUE and record.lexical is not None
    }


def _dates(records: Mapping[int, Record]) -> dict[int, Value]:
    names = {mid: each.names[0] for mid, each in records.items() if each.kind is NodeKind.ENTITY and each.names}
    for date_of, share in ((named_date, MIN_DATED), (date_in_name, 1)):
        least = share * len(records)
        if any(map(date_of, islice(names.values(), MAX_LOOKED_AT))):
            dates = {mid: date for mid, name in names.items() if (date := date_of(name)) is not None}
            if len(dates) >= least:
                return {mid: Value(date, ValueKind.DATE) for mid, date in dates.items()}
    return {}


def compared(operator: str, left: Value, others: Iterable[Value]) -> bool | None:
    """Returns True if `left` compares so with at least one of `others`; for `!=`, if it differs from all of them.

    Returns None if no two values can be compared. Numbers and dates have an order, dates at the precision that both
    share; texts and truth values are only equal or different.
    """
    kind = left.kind or ValueKind.TEXT
    mine = left.read_as(kind)
    if mine is None:
        return None
    signs = [_sign(mine, theirs) for theirs in (other.read_as(kind) for other in others) if theirs is not None]
    if operator in ("=", "!="):
        return (0 in signs) == (operator == "=")
    if kind not in ORDERED or not signs:
        return None
    return any({"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator] for sign in signs)


def of_their_year(typed: Iterable[Value], values: Iterable[Value]) -> list[Value]:
    """Returns what a question compares in order, with the year of a date without one taken from `values`.

    Raises ExpressionError if such a date could be of several years.
    """
    found: list[Value] = []
    for each in typed:
        read = each.read_as(ValueKind.DATE) if each.kind is None else None
        if not isinstance(read, YearlyDate):
            found.append(each)
            continue
        dates = (value.read_as(ValueKind.DATE) for value in values if value.kind is ValueKind.DATE)
        dated = read.among([date for date in dates if isinstance(date, PartialDate)])
        if dated is None:
            raise ExpressionError("a date without a year could be of several years")
        found.append(Value(dated.lexical, None))
    return found


def _sign(mine: Parsed | YearlyDate, theirs: Parsed | YearlyDate) -> int:
    if isinstance(mine, PartialDate) and isinstance(theirs, PartialDate):
        return mine.compare(theirs)
    if isinstance(mine, PartialDate) and isinstance(theirs, YearlyDate):
        return theirs.compare(mine)
    if isinstance(mine, Decimal) and isinstance(theirs, Decimal):
        return (mine > theirs) - (mine < theirs)
    return 0 if mine == theirs else 1


def _difference(first: Value, second: Value) -> Decimal | None:
    """Returns the difference of two numbers, or of two dates in days; None for anything else."""
    one, other = (each.read_as(each.kind) if each.kind in ORDERED else None for each in (first, second))
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one - other
    if isinstance(one, PartialDate) and isinstance(other, PartialDate):
        shared = min(one.precision, other.precision)
        return days_between(other, one) if shared >= Precision.DAY else None
    return None


def _product(first: Value, second: Value) -> Decimal | None:
    one, other = (each.read_as(each.kind) if each.kind is ValueKind.NUMBER else None for each in (first, second))
    return one * other if isinstance(one, Decimal) and isinstance(other, Decimal) else None


def _keys(values: Mapping[int, Value], kind: ValueKind) -> dict[int, Decimal]:
    keys: dict[int, Decimal] = {}
    for mid, value in values.items():
        parsed = value.read_as(kind) if value.kind is kind else None
        if isinstance(parsed, PartialDate):
            keys[mid] = parsed.instant
        elif isinstance(parsed, Decimal):
            keys[mid] = parsed
    return keys
