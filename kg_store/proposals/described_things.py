"""Finds columns that tell of a thing in another column: the `customer_email` of orders is that of the customer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from kg_store.proposals.column_profiles import KEY_WORDS, NAME_WORDS, Column, relation_words
from kg_store.proposals.references import MAX_CHANCE
from kg_store.proposals.shared_concepts import concept_of
from kg_store.proposals.table_profiles import TableProfile
from kg_store.sources.table_policy import ColumnPolicy, as_label
from kg_store.terms import ValueKind

MAX_UNLIKE: Final = 0.02
"""The greatest share of things with different cells in a column that tells of them. Chosen by hand."""


def with_described_things(
    table: TableProfile, columns: Mapping[str, ColumnPolicy], taken: Collection[str]
) -> dict[str, ColumnPolicy]:
    """Returns the columns; those that tell of the things of another one say so (`of`).

    They begin with the same words as a column of names or ids (`customer_name`, `customer_id`, or `customer` alone),
    and have one cell for each of these, in more rows than chance explains. The things are those of the names, unless
    one name belongs to several ids. `taken`: columns that are keys, names or references of the rows.
    """
    found = dict(columns)
    free = {name: table.columns[name] for name in columns if name not in taken and len(table.columns[name].full) > 0}
    for prefix, group in _groups(free, table.concept_words):
        anchor, name = _anchor(prefix, group)
        if (
            anchor is None
            or anchor.separator is not None
            or any(each.name not in found or found[each.name].of for each in group)
        ):
            continue
        told = [each for each in group if each is not anchor and is_determined(each, anchor)]
        if not told:
            continue
        label = as_label(" ".join(prefix))
        kept = found[anchor.name]
        found[anchor.name] = ColumnPolicy(relation=label, concept=concept_of(label), empty=kept.empty)
        labels = {settings.label(other) for other, settings in found.items()}
        for each in told:
            rest = as_label(" ".join(each.full[len(prefix) :]))
            is_code = KEY_WORDS.issuperset(rest.split())
            relation = as_label(relation_words(each.name)) if is_code or rest in labels else rest
            changed = {"of": anchor.name, "relation": relation, "is_name": each is name}
            changed |= {"concept": None} if is_code or each is name else {}
            found[each.name] = found[each.name].model_copy(update=changed)
    return found


def _groups(columns: Mapping[str, Column], row: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[Column]]]:
    """Yields columns whose headers begin with the same words, the longest beginnings first; not those of the rows."""
    beginnings = {tuple(each.full[:end]) for each in columns.values() for end in range(1, len(each.full) + 1)}
    for prefix in sorted(beginnings, key=lambda words: (-len(words), words)):
        group = [each for each in columns.values() if tuple(each.full[: len(prefix)]) == prefix]
        if len(group) > 1 and not set(prefix) <= {*row, *KEY_WORDS, *NAME_WORDS}:
            yield prefix, group


def _anchor(prefix: Sequence[str], group: Sequence[Column]) -> tuple[Column | None, Column | None]:
    """Returns the column by which the things are told apart, and the one that names them if that is another."""
    rests = {each.name: set(each.full[len(prefix) :]) for each in group}
    ids = [each for each in group if rests[each.name] and rests[each.name] <= KEY_WORDS]
    named = [each for each in group if rests[each.name] <= NAME_WORDS and each.kind is ValueKind.TEXT]
    by_id, name = (next(iter(each), None) for each in (ids, named))
    if name is None or by_id is None:
        return (name if name is not None and name.has_words else None), None
    if is_determined(by_id, name):
        return name, None
    return (by_id, name) if is_determined(name, by_id) else (None, None)


def is_determined(column: Column, by: Column) -> bool:
    """Returns True if rows with the same cell of `by` have the same of `column`, in more rows than chance explains."""
    pairs = zip(by.lines, column.lines, strict=True)
    rows = sorted(
        (each, cell) for each, cell in pairs if each not in ("", *by.empty) and cell not in ("", *column.empty)
    )
    cells = [[cell for _, cell in each] for _, each in groupby(rows, key=lambda row: row[0])]
    unlike = sum(len(set(each)) > 1 for each in cells)
    again = sum(len(each) - len(set(each)) for each in cells)
    chance = sum((count / len(rows)) ** 2 for count in Counter(cell for _, cell in rows).values())
    return bool(rows) and unlike <= MAX_UNLIKE * len(cells) and chance**again <= MAX_CHANCE
