"""Proposes `[[tables]]` for files with a header in which each row is an entity or a link, not a triple."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from kg_store.errors import LoadError
from kg_store.formats.json_records import PARENT, refers_to_parent
from kg_store.lexicon.lexicon import in_large_lexicon
from kg_store.proposals.column_profiles import (
    KEY_WORDS,
    NAME_WORDS,
    Column,
    any_alike,
    relation_words,
    unit_of,
)
from kg_store.proposals.described_things import with_described_things
from kg_store.proposals.key_pairs import find_pair_targets, with_pairs
from kg_store.proposals.references import find_named_target, find_target, with_links, with_referred_keys
from kg_store.proposals.shared_concepts import concept_of, holds_things_of_others, with_shared_concepts
from kg_store.proposals.sheet_groups import groups_of
from kg_store.proposals.table_profiles import (
    TableProfile,
    called_by_keys,
    find_names,
    is_called_by_kind,
    is_called_name,
    row_noun,
)
from kg_store.proposals.table_reading import NO_HEADER, profile_of, sheets_in
from kg_store.sources.policy import ClassPolicy
from kg_store.sources.table_files import (
    BOOK_ENDINGS,
    Sheet,
)
from kg_store.sources.table_policy import ColumnPolicy, TablePolicy, as_label
from kg_store.terms import ValueKind
from kg_store.text.inflection import singular
from kg_store.text.quantities import MONEY, units_called

MIN_LISTED = 2
"""The least number of rows of each list below a heading, on average, if they are things and no details of it."""
MIN_ASKED_CHARS, MAX_ASKED_CHARS = 3, 24
"""The length of keys, on average, that people ask for or by: an IBAN has 22, a UUID 36. Chosen by hand."""
_OF_PROGRAMS = (["id"], ["key"], ["uuid"], ["guid"], ["pk"], ["oid"])
_SUMS = (
    "the last row of {} holds the sums of the rows above it, and counts as one of them: say `totals = true` in its "
    "[[tables]] to leave it out"
)
_IN_PARTS = (
    "{} files or sheets of the same columns were read as one table, {}, with what differs in their names as its "
    "column `{}`: one with a [[tables]] of its own is apart"
)
_SHEETS = "their names are not read, so if these say a year or the like, give each sheet a column that says it too"
_SAME_NAME = "another file of this name has other columns: give one of them another name"


@dataclass(frozen=True, slots=True)
class ProposedTables:
    """The proposed policies for the tables of some files.

    `unread`: the error of each file of which nothing could be read. `notes`: sentences on single broken sheets in
    files whose other sheets were read.
    """

    tables: tuple[TablePolicy, ...]
    unread: Mapping[Path, LoadError]
    notes: tuple[str, ...]


def propose_tables(paths: Sequence[Path], without_header: Collection[Path] = ()) -> ProposedTables:
    """Returns a policy for each table in `paths`; a text file that is no table gets none.

    In the files `without_header`, every line is a row.
    """
    sheets, broken = list[Sheet](), list[tuple[Path, LoadError]]()
    for path in paths:
        try:
            sheets += sheets_in(path, paths)
        except LoadError as error:
            broken.append((path, error))
    found: dict[str, tuple[TableProfile, set[Path]]] = {}
    for group in groups_of(sheets):
        has_none = any(sheet.path in without_header for sheet in group.sheets)
        profile, paths_read, errors = profile_of(group, NO_HEADER if has_none else None)
        broken += errors
        if profile is not None and group.file in found:
            broken += ((sheet.path, LoadError(_SAME_NAME, sheet.name)) for sheet in group.sheets)
        elif profile is not None:
            found[group.file] = profile, paths_read
    profiled = with_referred_keys([profile for profile, _ in found.values()])
    tables = with_pairs(with_links(called_by_keys(profiled)))
    certain = [table for table in tables if table.is_certain or _joins(table, tables)]
    mappings = [mapping for table in certain if (mapping := _mapping(table, certain)) is not None]
    profiles = {table.file: table for table in certain}
    mappings = [_apart(each, profiles, mappings) for each in mappings]
    mappings = with_shared_concepts(mappings, profiles, {str(each.concept) for each in mappings})
    mappings = [*_rows_apart(mappings)]
    read = set[Path]().union(*(paths for _, paths in found.values()))
    unread = {path: error for path, error in reversed(broken) if path not in read}
    notes = [f"NOT READ: {error}" for path, error in broken if path in read]
    notes += [_SUMS.format(table.file) for table in certain if table.totals is None]
    notes += [
        _IN_PARTS.format(len(table.columns[table.part].distinct), table.file, table.part)
        for table in certain
        if table.part is not None
    ]
    notes += _sheets_alike(certain)
    return ProposedTables(tuple(mappings), unread, tuple(notes))


def _sheets_alike(tables: Sequence[TableProfile]) -> Iterator[str]:
    """Yields a sentence for each workbook with several sheets of the same columns, such as one for each year."""
    alike = Counter((table.file.partition("/")[0], frozenset(table.columns)) for table in tables)
    for (file, _), count in alike.items():
        if count > 1 and file.lower().endswith(BOOK_ENDINGS):
            yield f"{count} sheets of {file} have the same columns: {_SHEETS}"


def _apart(table: TablePolicy, profiles: Mapping[str, TableProfile], tables: Sequence[TablePolicy]) -> TablePolicy:
    """Returns the table of the one record that holds lists, called by its name's column if a list has its concept.

    The record of the file `camps_2025.json` is no camp where its list `camps` holds these.
    """
    inner = {each.concept for each in tables if each.file.startswith(f"{table.file}/")}
    if profiles[table.file].rows != 1 or str(table.concept).split()[-1] not in inner:
        return table
    called = next((as_label(relation_words(name)) for name in table.names if isinstance(name, str)), "")
    return table.model_copy(update={"concept": called if called not in inner | NAME_WORDS | {""} else "file"})


def _rows_apart(tables: Sequence[TablePolicy]) -> Iterator[TablePolicy]:
    """Yields the tables; relations of rows that join things, which are also relations of things, are these rows' own.

    Or else the employees of a department would include the rows of a job history that name it.
    """
    of_things = {table.relation_iri(name) for table in tables if not table.links for name in table.columns}
    for table in tables:
        shared = [name for name in table.columns if table.links and table.relation_iri(name) in of_things]
        own = {name: table.columns[name].model_copy(update={"own": True}) for name in shared}
        yield table.model_copy(update={"columns": table.columns | own})


def words_for_rows(tables: Iterable[TablePolicy]) -> dict[str, ClassPolicy]:
    """Returns settings by concept with a further word for rows: `ticket` for jobs whose key is called `Ticket`."""
    tables = list(tables)
    known = {each.concept for each in tables}
    known |= {settings.concept for each in tables for settings in each.columns.values() if settings.concept}
    found: dict[str, ClassPolicy] = {}
    for table in tables:
        is_date = table.key in table.columns and table.columns[str(table.key)].kind is ValueKind.DATE
        words = () if is_date else row_noun(table.key or "")
        said = " ".join(words)
        if words and said not in known and not any_alike(words[-1:], str(table.concept).split()):
            found.setdefault(str(table.concept), ClassPolicy(words=(said,)))
    return found


def _joins(table: TableProfile, tables: Sequence[TableProfile]) -> bool:
    """Returns True if the first line is a header: columns below it hold keys of other tables, and it holds none.

    Two such columns are needed, or one that is called like the other table's key.
    """
    targets = [(column, find_target(column, table, tables)) for column in table.columns.values()]
    found = [(column, other) for column, other in targets if other is not None and other is not table]
    is_same = any(column.name == other.key for column, other in found)
    return (is_same or len(found) >= 2) and all(column.name not in other.keys for column, other in found)


Referred = tuple[TableProfile, str | None]
"""The table that a column refers to, and the column there whose cells its own are, if not the key."""


def _references(
    table: TableProfile, tables: Sequence[TableProfile]
) -> tuple[dict[str, Referred], dict[str, dict[str, object]]]:
    """Returns the columns that refer to tables, those by keys first, and the settings of those of several columns."""
    found = {name: find_target(column, table, tables) for name, column in table.columns.items() if name != table.key}
    pairs = find_pair_targets(table, tables)
    found |= {name: target for name, (target, _) in pairs.items()}
    targets: dict[str, Referred] = {name: (target, None) for name, target in found.items() if target is not None}
    for name, column in table.columns.items():
        if name not in targets and (told := find_named_target(column, table, tables)) is not None:
            targets[name] = told
    return targets, {name: {"beside": others, "separator": None} for name, (_, others) in pairs.items()}


def _mapping(table: TableProfile, tables: Sequence[TableProfile]) -> TablePolicy | None:
    targets, beside = _references(table, tables)
    key, of_targets = table.key, {name: of for name, (of, _) in targets.items()}
    # Rows that refer by a key, or from within a record, join things and are none.
    is_link = any(by is None or refers_to_parent(table.file, name) for name, (_, by) in targets.items())
    has_names = table.entry is None and (key is not None or not is_link)
    names = find_names(table, frozenset(targets) | _no_names(table, tables)) if has_names else []
    columns = _columns(table, targets, names)
    columns = {name: settings.model_copy(update=beside.get(name, {})) for name, settings in columns.items()}
    columns = _as_people_call_them(table, columns, {other.concept for other in tables})
    columns = with_described_things(table, columns, {*targets, *_parts_of(names), table.key or "", *table.key_beside})
    if table.entry is not None and table.entry not in targets:
        columns[table.entry] = ColumnPolicy(relation=as_label(table.concept), concept=as_label(table.concept))
    if key is None:
        columns = _as_link(table, of_targets, columns)
    if key is None and not columns and not names:
        return None
    marks = {name: tuple(mark for mark in table.columns[name].empty if mark not in table.empty) for name in columns}
    columns = {name: settings.model_copy(update={"empty": marks[name]}) for name, settings in columns.items()}
    found_in = {} if table.encoding is None else {"encoding": table.encoding}
    return TablePolicy(
        file=table.file,
        key=key,
        key_beside=table.key_beside,
        concept=as_label(f"{table.concept} {table.part}" if table.entry is not None else table.concept) or "thing",
        names=tuple(names),
        **found_in,
        header_row=table.header_row,
        empty=table.empty,
        totals=table.totals is True,
        part=table.part,
        parts=table.parts,
        things=_are_things(table, [*of_targets.values()], tables) or (key is None and bool(table.spread)),
        columns=columns,
        spread=table.spread,
    )


def _parts_of(names: Sequence[str | tuple[str, ...]]) -> set[str]:
    return {part for name in names for part in ((name,) if isinstance(name, str) else name)}


def _no_names(table: TableProfile, tables: Sequence[TableProfile]) -> frozenset[str]:
    """Returns the columns without a word for names that hold names of other things than the rows.

    A column called like the rows, such as `Driver` among drivers, names these if each cell stands there once.
    """
    others = (each for each in table.columns.values() if each.name != table.key and not is_called_name(each))
    unsaid = (each for each in others if not (each.is_unique and is_called_by_kind(each, table)))
    likely = (each for each in unsaid if each.looks_like_names)
    return frozenset(each.name for each in likely if holds_things_of_others(each, table, tables))


def _columns(
    table: TableProfile,
    targets: Mapping[str, tuple[TableProfile, str | None]],
    names: Sequence[str | tuple[str, ...]],
) -> dict[str, ColumnPolicy]:
    """Returns the settings of the columns that say something beside the key and the names.

    `targets`: the table that a column refers to, and the column there whose cells its own are, if not the key.
    """
    taken = {*_parts_of(names), table.key}
    parents = {name for name in table.columns if refers_to_parent(table.file, name)}
    taken |= parents - targets.keys()
    taken -= set(_asked_keys(table, names))
    columns = {
        name: _column(
            column, *targets.get(name, (None, None)), is_parent=name in parents, is_part_of_key=name == table.key
        )
        for name, column in table.columns.items()
        if name not in taken and column.cells
    }
    if table.key in columns and not table.key_beside and columns[table.key].kind is ValueKind.NUMBER:
        # Nobody adds up numbers that tell rows apart.
        columns[table.key] = ColumnPolicy(relation=columns[table.key].relation)
    columns = _called_by_targets(table, {name: of for name, (of, _) in targets.items()}, columns)
    return {name: _beside_its_name(name, settings, table, columns) for name, settings in columns.items()}


def _called_by_targets(
    table: TableProfile, targets: Mapping[str, TableProfile], columns: Mapping[str, ColumnPolicy]
) -> dict[str, ColumnPolicy]:
    """Returns the columns; a reference whose header has no word that people know is called by what it leads to.

    Two columns that lead to one table keep their own words, or they would be one relation.
    """
    counts = Counter(of.file for of in targets.values())
    said = {name: " ".join(table.words_of(table.columns[name])) for name in targets}
    unsaid = {name: of for name, of in targets.items() if not any(map(in_large_lexicon, said[name].split()))}
    called = {name: of.concept for name, of in unsaid.items() if of.concept_words and counts[of.file] == 1}
    return {
        name: settings.model_copy(update={"relation": as_label(called[name])} if name in called else {})
        for name, settings in columns.items()
    }


def _are_things(table: TableProfile, targets: Sequence[TableProfile], tables: Sequence[TableProfile]) -> bool:
    """Returns True for the rows of a list below a mere heading: a record that holds a name, and the list.

    Two files `{"name": "Cup 2018", "matches": [...]}` hold matches, and each match is a thing.
    """
    holder = next((other for other in tables if other.file == table.file.rpartition("/")[0]), None)
    if table.key is not None or holder is None or not refers_to_parent(table.file, PARENT):
        return False
    is_heading = len(holder.columns) == 1 and table.rows >= MIN_LISTED * holder.rows
    return is_heading and bool(targets) and all(target is holder for target in targets)


def _asked_keys(table: TableProfile, names: Sequence[str | tuple[str, ...]]) -> list[str]:
    """Returns the key if people ask for it: a member number, an ISBN, the code in an ear tag. Empty otherwise.

    A bare `id` and short numbers are a program's own. A column that tells rows apart only beside another one says
    something of its own, and so does a date.
    """
    key = table.columns.get(table.key or "")
    if key is not None and (table.key_beside or key.kind is ValueKind.DATE):
        return [key.name]
    if key is None or key.name in names or key.full in _OF_PROGRAMS or table.header_row == NO_HEADER:
        return []
    count, chars = len(key.cells), sum(map(len, key.cells))
    return [key.name] if count and MIN_ASKED_CHARS * count <= chars <= MAX_ASKED_CHARS * count else []


def _as_link(
    table: TableProfile, targets: Mapping[str, TableProfile], columns: Mapping[str, ColumnPolicy]
) -> dict[str, ColumnPolicy]:
    """Returns the columns of a table whose rows join things, with relations named after its file.

    In `person_worksAt_firm` a person "works at" a firm. In `bill_subjects` the column `title` is called `subjects`.
    """
    found = dict(columns)
    words = list(table.concept_words)
    if len(targets) == 2:
        (_, first), (name, second) = targets.items()
        start, end = len(first.concept_words), len(words) - len(second.concept_words)
        if tuple(words[:start]) == first.concept_words and tuple(words[end:]) == second.concept_words and end > start:
            found[name] = found[name].model_copy(update={"relation": as_label(" ".join(words[start:end]))})
    said = {word for target in targets.values() for word in target.concept_words}
    rest = " ".join(word for word in words if word not in said)
    for name, settings in columns.items():
        if name not in targets and targets and rest not in ("", table.concept) and settings.relation in NAME_WORDS:
            is_text = settings.concept is None and settings.kind is ValueKind.TEXT
            concept = as_label(rest) if is_text else settings.concept
            found[name] = settings.model_copy(update={"relation": as_label(rest), "concept": concept})
    return found


def _beside_its_name(
    name: str, settings: ColumnPolicy, table: TableProfile, columns: Mapping[str, ColumnPolicy]
) -> ColumnPolicy:
    """Returns the settings of an id column, without a concept if another column names the same thing.

    For example, `author id` beside `author name` makes no second author.
    """
    column = table.columns[name]
    if settings.concept is None or not column.is_called_key:
        return settings
    rest = [word for word in column.full if word not in KEY_WORDS]
    others = (table.columns[each].full for each, of in columns.items() if of.concept is not None and each != name)
    is_named = rest and any([word for word in each if word not in NAME_WORDS] == rest for each in others)
    return settings.model_copy(update={"concept": None}) if is_named else settings


def _as_people_call_them(
    table: TableProfile, columns: Mapping[str, ColumnPolicy], kinds: Collection[str]
) -> dict[str, ColumnPolicy]:
    """Returns columns of things and dates without words for keys, and numbered columns of things as one relation.

    `awardID` holds awards, `yearID` years, `team1` and `team2` teams. A word that names a kind of row, or that another
    column has, is no name for cells that only stand for it.
    """
    found = dict(columns)
    for name, settings in columns.items():
        is_named = settings.table is None and table.header_row != NO_HEADER
        if not is_named or (settings.concept is None and settings.kind is not ValueKind.DATE):
            continue
        words = [word for word in relation_words(name, KEY_WORDS).split() if not word.isdecimal()]
        words = [re.sub(r"(?<=[^\W\d_]{3})\d$", "", word) if settings.concept is not None else word for word in words]
        label = as_label(" ".join(words))
        others = {each.relation for other, each in columns.items() if other != name and each.concept is None}
        taken = others | {" ".join(table.columns[other].full) for other in columns if other != name}
        if label in ("", settings.relation, *taken) or (settings.concept is not None and concept_of(label) in kinds):
            continue
        concept = None if settings.concept is None else concept_of(label)
        found[name] = settings.model_copy(update={"relation": label, "concept": concept})
    return found


_QUANTITIES: Final = {
    "mass": "weight", "length": "length", "area": "area", "volume": "volume", "time": "duration", "days": "duration",
    "months": "duration", MONEY: "amount",
}  # fmt: skip
"""The quantity that a unit of each kind measures."""


def _quantity_of(column: Column) -> tuple[str, str] | None:
    """Returns the quantity and the unit of a column of numbers whose name is nothing but a unit: weight and kilos for
    `Kg`; else None. Capitals ("HA") and a single letter ("L") may be short for anything.
    """
    name = column.name.strip()
    is_short = name.isalpha() and (name.isupper() or len(name) == 1)
    found = {} if is_short else {unit.kind: unit.word for unit in units_called(name)}
    if column.kind is not ValueKind.NUMBER or len(found) != 1:
        return None
    ((kind, word),) = found.items()
    return _QUANTITIES[kind], word


def _column(
    column: Column, target: TableProfile | None, by: str | None, *, is_parent: bool, is_part_of_key: bool = False
) -> ColumnPolicy:
    separator = column.separator
    if target is not None:
        label = as_label(relation_words(column.name, KEY_WORDS)) or as_label(target.concept) or "related to"
        if (label in KEY_WORDS | NAME_WORDS or is_parent) and target.concept_words:
            label = as_label(target.concept)
        return ColumnPolicy(relation=label, table=target.file, by=by, separator=separator)
    label, unit = _quantity_of(column) or (as_label(relation_words(column.name)) or "related to", unit_of(column.name))
    if separator is not None:
        column = replace(column, cells=column.parts, rows=len(column.parts))
    kind = column.kind
    if (
        not is_part_of_key
        and kind is ValueKind.TEXT
        and (column.is_concept or (separator is not None and column.comes_again))
    ):
        concept = concept_of(label)
        if separator is not None:
            *before, last = concept.split()
            concept = " ".join((*before, singular(last)))
        return ColumnPolicy(relation=label, concept=concept, separator=separator)
    return ColumnPolicy(
        relation=label,
        kind=kind,
        unit=unit if kind is ValueKind.NUMBER else None,
        decimal=column.decimal if kind is ValueKind.NUMBER else None,
        first=column.first_of_date if kind is ValueKind.DATE else None,
        serial=column.is_serial and kind is ValueKind.DATE,
        separator=separator,
    )
