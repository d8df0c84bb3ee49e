"""Gives columns that hold the same things one concept: `preferred site` and `site`, `home team` and `away team`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations

from kg_store.lexicon.lexicon import in_large_lexicon
from kg_store.proposals.column_profiles import LONG_TEXT, NAME_WORDS, PLACES, Column
from kg_store.proposals.references import MIN_DISTINCT, MIN_KNOWN, MIN_KNOWN_WITHOUT_WORDS, says_a_concept
from kg_store.proposals.table_profiles import TableProfile
from kg_store.sources.table_policy import MAX_LABEL_CHARS, ColumnPolicy, TablePolicy
from kg_store.terms import ValueKind
from kg_store.text.inflection import singular

MAX_COMPARED = 500
"""Of more columns that may hold things than this, only the first ones are compared with each other."""


@dataclass(slots=True)
class _Holder:
    """A column that holds things, or texts that may be things. `kind`: the concept that its own words give."""

    file: str
    column: Column = field(repr=False)
    kind: str
    is_concept: bool
    values: AbstractSet[str] = field(repr=False)


def with_shared_concepts(
    tables: Sequence[TablePolicy], profiles: Mapping[str, TableProfile], kinds: Collection[str]
) -> list[TablePolicy]:
    """Returns the tables with one concept for all columns that hold the same things.

    `preferred site` becomes `site` if most of its values are sites of another column, and `volunteer` and `member`
    become one where most names of the shorter column stand in the other. A text column becomes a concept with them.
    `kinds`: the concepts of rows, which are no name for cells that do not refer to these.
    """
    holders = [
        holder
        for table in tables
        for name, settings in table.columns.items()
        if (holder := _holder(table, profiles[table.file].columns[name], settings)) is not None
    ][:MAX_COMPARED]
    group = {id(holder): [holder] for holder in holders}
    for one, other in combinations(holders, 2):
        if group[id(one)] is not group[id(other)] and _hold_the_same(one, other):
            group[id(one)] += group[id(other)]
            group.update((id(each), group[id(one)]) for each in group[id(other)])
    called = {
        (holder.file, holder.column.name): _name_of(group[id(holder)], kinds)
        for holder in holders
        if holder.is_concept or len(group[id(holder)]) > 1
    }
    found = []
    for table in tables:
        columns = {
            name: settings.model_copy(update={"concept": called.get((table.file, name), settings.concept)})
            for name, settings in table.columns.items()
        }
        found.append(table.model_copy(update={"columns": columns}))
    return found


def concept_of(label: str) -> str:
    """Returns the kind of the things of a column: `billing city` -> city, `publisher name` -> publisher."""
    words = label.split()
    if singular(words[-1]) in PLACES:
        return singular(words[-1])
    return " ".join(words[:-1]) if len(words) > 1 and words[-1] in NAME_WORDS else label


def _holder(table: TablePolicy, column: Column, settings: ColumnPolicy) -> _Holder | None:
    if settings.is_name:
        return None
    values = {part for part in column.parts if part} if settings.separator else column.distinct
    if settings.concept is not None:
        return _Holder(table.file, column, settings.concept, is_concept=True, values=values)
    is_text = settings.kind is ValueKind.TEXT and settings.table is None and column.has_words
    if not is_text or column.is_private_text or not LONG_TEXT.isdisjoint(column.full):
        return None
    kind = concept_of(settings.relation or column.name)
    return _Holder(table.file, column, kind, is_concept=False, values=values)


def _hold_the_same(one: _Holder, other: _Holder) -> bool:
    few, many = sorted((one, other), key=lambda each: len(each.values))
    shared = one.values & other.values
    is_one_concept = one.is_concept and other.is_concept
    if one.kind == other.kind and is_one_concept:
        return True
    if not shared or len(shared) < MIN_KNOWN * len(few.values):
        return False
    last = {each.kind.split()[-1] for each in (one, other)}
    if len(set(map(singular, last))) == 1 and (is_one_concept or one.kind == other.kind):
        return one.is_concept or other.is_concept
    if len(shared) < MIN_DISTINCT or (one.file == other.file and one.column.repeats(other.column)):
        return False  # What two columns say alike of a row, such as its name in two languages, is one text of it.
    are_most = len(shared) >= MIN_KNOWN * len(many.values)
    if _is_worded(one.kind) != _is_worded(other.kind) and are_most:
        return not all(map(str.isdecimal, shared))  # `lg` and `league`
    if not _are_names(shared):
        return False
    few_say, many_say = (says_a_concept(each.kind.split()) for each in (few, many))
    # What is sold holds all vaccines and much else, so it is no vaccine; but a volunteer is a person as members are.
    return not (few_say and many_say) if are_most else not few_say and (many_say or _are_persons(shared))


def _are_names(values: Collection[str]) -> bool:
    """Returns True for names of persons and places: ratings (good, fair) may be the same words of different things."""
    names = [value for value in values if not (_is_code(value) or all(map(in_large_lexicon, value.lower().split())))]
    return len(names) > len(values) / 2


def holds_things_of_others(column: Column, table: TableProfile, tables: Sequence[TableProfile]) -> bool:
    """Returns True if a column of another table has many names of this one, and others: it is no list of the rows.

    A shift is not called by its volunteer, who also repairs and borrows things.
    """
    columns = [each for other in tables if other is not table for each in other.columns.values()]
    for other in columns:
        shared = column.distinct & other.distinct
        is_told = len(shared) >= max(MIN_DISTINCT, MIN_KNOWN * min(len(column.distinct), len(other.distinct)))
        if is_told and len(shared) < MIN_KNOWN_WITHOUT_WORDS * len(other.distinct) and _are_names(shared):
            return True
    return False


def _is_code(value: str) -> bool:
    return value.isalnum() and value.isupper()


def _is_worded(kind: str) -> bool:
    return any(map(in_large_lexicon, kind.split()))


def _name_of(holders: Sequence[_Holder], taken: Collection[str]) -> str:
    """Returns the concept of the things of some columns: the word that these share, or one that is a concept's.

    Without either it is "person", or all their words, since `member` would not be right for volunteers.
    """
    sizes: dict[str, set[str]] = {}
    for each in holders:
        sizes.setdefault(each.kind, set()).update(each.values)
    worded = [kind for kind in sizes if _is_worded(kind)] or [*sizes]
    last = {singular(kind.split()[-1]) for kind in sizes}
    if len(sizes) > 1 and len(last) == 1 and (last <= sizes.keys() or last.isdisjoint(taken)):
        return last.pop()
    if len(worded) == 1 or len(last) == 1:
        return max(worded, key=lambda kind: len(sizes[kind]))
    heads, values = {each.split()[-1] for each in sizes if " " in each}, set[str]().union(*sizes.values())
    wide = [kind for kind in worded if len(sizes[kind]) >= MIN_KNOWN * len(values)]
    said = [kind for kind in wide if says_a_concept(kind.split()) or kind in heads]
    if said:
        return said[0]
    return "person" if _are_persons(values) else " or ".join(worded)[:MAX_LABEL_CHARS]


def _are_persons(values: Collection[str]) -> bool:
    """Returns True if most values are of two to four capitalised words without digits."""
    words = [value.split() for value in values]
    like = sum(1 < len(each) <= 4 and all(word[0].isupper() and word[1:].islower() for word in each) for each in words)
    return like > len(words) / 2
