"""Makes previews for owners: what a model would see of files, and what each column is taken for and why."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from app.chat.sealing import seal_preview
from app.graphs.previews.policy_changes import role_of, with_changes
from client_sdk.protocol import (
    ColumnRole,
    ColumnSeen,
    ColumnType,
    EntitySeen,
    Exposure,
    FactSeen,
    GraphPreview,
    MaskedWord,
    Names,
    PolicyChanges,
    PredicateSeen,
    ShownAs,
    TableSeen,
)
from kg_store.catalog import NameConcepts
from kg_store.errors import LoadError
from kg_store.formats.delimited_text import first_rows_alone
from kg_store.formats.files import PackedBounds, give_memory_back, open_bytes, require_unpacked_within
from kg_store.proposals.column_profiles import Column
from kg_store.proposals.preview import PredicateUse, Preview
from kg_store.proposals.propose import preview, read_and_propose
from kg_store.proposals.public_files import is_left_open, read_left_open
from kg_store.proposals.row_checks import check_rows
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy
from kg_store.sources.table_files import Sheet, bare_name, is_text, sheets_of, table_called
from kg_store.sources.table_policy import CLASS_NAMESPACE, RELATION_NAMESPACE, TablePolicy
from kg_store.terms import Relation, ValueView

_OF_TABLES = (RELATION_NAMESPACE, CLASS_NAMESPACE)
_VALUE_EXPOSURES: list[Exposure] = ["private", "shown", "masked"]
_THING_EXPOSURES: list[Exposure] = ["private", "masked"]
_WHY_TABLE = (
    "No column tells its rows apart, and it refers to other files: a row joins the things of those.",
    "No column tells its rows apart: each line is a thing of its own.",
    "Each row is a thing of its own.",
)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of one table that the policy maps, with their cells."""

    table: TablePolicy
    columns: dict[str, Column] = field(repr=False)
    rows: int


def columns_of(sources: Sequence[Path], policy: Policy) -> list[TableColumns]:
    """Returns every mapped table of the files, read completely. Raises LoadError."""
    sheets = [sheet for path in sources for sheet in _sheets(path, sources)]
    if len(policy.tables) == len(sheets) == 1:
        return [_read(sheets, policy.tables[0])]
    named = [(sheet, table_called(sheet.name, policy.tables)) for sheet in sheets]
    groups = ([sheet for sheet, of in named if of is table] for table in policy.tables)
    return [_read(group, table) for group, table in zip(groups, policy.tables, strict=True) if group]


def _sheets(path: Path, beside: Sequence[Path]) -> list[Sheet]:
    try:
        return sheets_of(path, beside)
    except LoadError:
        return []


def _read(sheets: Sequence[Sheet], table: TablePolicy) -> TableColumns:
    cells: dict[str, list[str]] = {}
    rows = 0
    for sheet in sheets:
        lines = sheet.lines(table)
        _, header = next(lines)
        cells |= {name: [] for name in header if name not in cells}
        for _, line in lines:
            rows += 1
            for name, cell in zip(header, line, strict=True):
                if cell:
                    cells[name].append(cell)
    return TableColumns(table, {name: Column(name, filled, rows) for name, filled in cells.items()}, rows)


def columns_seen(tables: Sequence[TableColumns], seen: Preview) -> Iterator[ColumnSeen]:
    """Yields every column in the order of the files, then every predicate of files that are not tables."""
    relations = {relation.iri: relation for relation in seen.relations}
    keyed = [each.table for each in tables if each.table.key is not None]
    for each in tables:
        for column in each.columns.values():
            yield _column(column, each, relations, keyed)
    for use in seen.predicates:
        if not use.predicate.startswith(_OF_TABLES) and not (tables and use.use in ("name", "class", "schema")):
            yield _predicate_choice(use)


def tables_seen(tables: Sequence[TableColumns], seen: Preview) -> list[TableSeen]:
    masked = {each.term for each in seen.masked if each.kind == "class"}
    return [
        TableSeen(
            file=each.table.file,
            concept=each.table.kind,
            rows=each.rows,
            links=each.table.links,
            exposure="masked" if each.table.class_iri in masked else "private",
            why=_WHY_TABLE[0 if each.table.links else 1 if each.table.key is None else 2],
        )
        for each in tables
    ]


def _column(
    column: Column, each: TableColumns, relations: Mapping[str, Relation], keyed: Sequence[TablePolicy]
) -> ColumnSeen:
    table, name = each.table, column.name
    role = cast(ColumnRole, role_of(table, name))
    settings = table.columns.get(name)
    relation = relations.get(table.relation_iri(name)) if settings is not None else None
    exposure, shown_as = _exposure(relation)
    return ColumnSeen(
        file=table.file,
        column=name,
        role=role,
        type=(settings.kind.value if settings is not None else "number") if role == "value" else None,
        unit=(settings.unit or "") if settings is not None else "",
        refers_to=(settings.table or "") if settings is not None else "",
        relation=_words(relation, settings.label(name) if settings is not None else ""),
        concept=(settings.concept or "") if settings is not None else "",
        separator=(settings.separator or "") if settings is not None else "",
        together_with=[part for names in table.names if name in names and not isinstance(names, str) for part in names
                       if part != name],
        exposure=exposure,
        shown_as=shown_as,
        why=_why(column, role, table),
        filled=len(column.cells),
        distinct=len(column.distinct),
        roles=_roles(column, table, keyed),
        exposures=_VALUE_EXPOSURES if role == "value" else _THING_EXPOSURES if settings is not None else ["private"],
    )  # fmt: skip


def _words(relation: Relation | None, own: str) -> str:
    """Returns a relation's words in prompts, or its own words if it is masked, because the owner may see them."""
    return own if relation is None or relation.mask is not None else relation.label


def _exposure(relation: Relation | None) -> tuple[Exposure, ShownAs | None]:
    if relation is None:
        return "private", None
    if relation.mask is not None:
        return "masked", None
    if relation.value_kind is None or relation.value_view in (ValueView.PSEUDONYM, ValueView.NEVER):
        return "private", None
    return "shown", cast(ShownAs, relation.value_view.value)


def _roles(column: Column, table: TablePolicy, keyed: Sequence[TablePolicy]) -> list[ColumnRole]:
    if column.name == table.key:
        return ["key"]
    roles: list[ColumnRole] = ["key"] if column.is_unique else []
    roles += ["name", "alias", "value", "concept"]
    return [*roles, *(["reference"] if keyed else []), "unused"]  # type: ignore[list-item]


def _why(column: Column, role: ColumnRole, table: TablePolicy) -> str:
    settings, figure = table.columns.get(column.name), table.figure_of(column.name)
    if figure is not None:
        return f"Its cells are figures, {figure.relation}, of the {figure.over} {figure.columns[column.name]}."
    if settings is not None and settings.is_name:
        return f"It is what the things in {settings.of} are called."
    of = f"It tells of the thing in {settings.of}, not of the row. " if settings is not None and settings.of else ""
    return of + _why_role(column, role, table)


def _why_role(column: Column, role: ColumnRole, table: TablePolicy) -> str:
    filled, distinct = len(column.cells), len(column.distinct)
    if role == "key":
        beside = " and ".join(table.key_beside)
        return (
            f"Together with {beside} it tells the rows apart."
            if beside
            else "Every row has one, and none comes twice."
        )
    if role in ("name", "alias"):
        called = "It is called so" if set(column.full) & {"name", "title", "label"} else "Its cells look like names"
        return f"{called}: {distinct:,} different ones in {filled:,} rows."
    if role == "concept":
        return f"{distinct:,} different texts in {filled:,} rows: each is a thing of its own."
    if role == "reference":
        settings = table.columns[column.name]
        of = f"cells of {settings.by} in" if settings.by is not None else "keys of"
        cells = " and ".join(("Its cells", *(f"those of {each}" for each in settings.beside)))
        return f"{cells} are {of} {settings.table}."
    if role == "unused":
        return "It is empty." if not filled else "The policy does not read it."
    if column.is_private_text:
        return "An e-mail, a phone number, an address or a link: a private text."
    kind = table.columns[column.name].kind.value
    words = {"number": "numbers", "date": "dates", "truth": "yes or no", "text": "texts"}[kind]
    return f"Its cells are {words}, {distinct:,} different ones in {filled:,} rows."


def _predicate_choice(use: PredicateUse) -> ColumnSeen:
    relation = use.relation
    exposure, shown_as = _exposure(relation)
    is_value = relation is not None and relation.value_kind is not None
    roles: dict[str, ColumnRole] = {"name": "name", "class": "class", "schema": "schema", "hidden": "unused"}
    role: ColumnRole = roles.get(use.use, "value" if is_value else "reference")
    kind = relation.value_kind.value if relation is not None and relation.value_kind is not None else None
    fixed = role in ("class", "schema")
    return ColumnSeen(
        file="",
        column=use.predicate,
        role=role,
        type=cast("ColumnType | None", kind),
        relation=relation.label if relation is not None and relation.mask is None else "",
        exposure=exposure,
        shown_as=shown_as,
        why=f"It stands in {use.triples:,} triples.",
        filled=use.triples,
        roles=[role] if fixed else [*(["reference"] if role == "reference" else ["name", "value"]), "unused"],
        exposures=["private"] if fixed or relation is None else _VALUE_EXPOSURES if is_value else _THING_EXPOSURES,
    )


MAX_PREVIEWS: Final = 2
"""The most previews at the same time: a preview takes one core and the memory of a load.

Chosen by hand for two cores.
"""
WAIT_S: Final = 20.0
"""Seconds to wait for a place: more than most previews take, and less than a browser waits. Chosen by hand."""

MAX_ROWS_SEEN: Final = 20_000
"""The rows of a text file that a preview is made of. Chosen by hand: more take seconds of a core."""
MAX_CELLS_CHECKED: Final = 4_000_000
"""The most cells of further rows that are checked against the policy. Chosen by hand: two seconds of a core."""
_FIRST_ROWS: Final = "{} has more than {:,} rows: all counts here are of its first ones. A load reads all."


def longer_than(paths: Sequence[Path], rows: int) -> list[Path]:
    """Returns those of `paths` that are text files of more than `rows` lines. Raises LoadError."""
    return [path for path in paths if is_text(path) and _has_more_lines(path, rows)]


def _has_more_lines(path: Path, rows: int) -> bool:
    lines = 0
    with open_bytes(path) as stream:
        while lines <= rows and (chunk := stream.read(1 << 20)):
            lines += max(chunk.count(b"\n"), chunk.count(b"\r"))
    return lines > rows


class PreviewBusyError(Exception):
    """Another preview of this tenant is being made, or there are too many of other tenants."""


class Turns:
    """Lets at most `most` tenants make a preview at the same time, one preview each.

    Further tenants wait at most `wait_s` seconds for their turn; a second request of a tenant is refused at once.
    """

    def __init__(self, most: int, wait_s: float) -> None:
        self._wait_s, self._places = wait_s, threading.BoundedSemaphore(most)
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, tenant: str) -> Iterator[None]:
        """Holds the turn of a tenant while the context is open. Raises PreviewBusyError."""
        with self._lock:
            if tenant in self._busy:
                raise PreviewBusyError
            self._busy.add(tenant)
        try:
            if not self._places.acquire(timeout=self._wait_s):
                raise PreviewBusyError
            try:
                yield
            finally:
                self._places.release()
        finally:
            with self._lock:
                self._busy.discard(tenant)


class Previewer:
    """Makes previews, at most MAX_PREVIEWS at the same time, because each takes the memory of a load.

    Promise: nothing is written, and the reply holds no name of an entity and no value; the sample's names are sealed
    to the caller's key. A tenant's long preview does not keep another waiting. Limit: predicates and masked classes
    are shown as in the files, so that their owner can decide about them.
    """

    def __init__(self, name_concepts: NameConcepts, packed: PackedBounds) -> None:
        self._name_concepts, self._packed = name_concepts, packed
        self._turns = Turns(MAX_PREVIEWS, WAIT_S)

    def preview(
        self,
        tenant: str,
        sources: Sequence[Path],
        policy: str | None,
        sample: int,
        public_key: str | None,
        changes: PolicyChanges | None = None,
    ) -> GraphPreview:
        """Returns the preview of files under `policy` (the proposed one if None), after `changes` to it.

        Raises PolicyError, LoadError, PreviewBusyError, BadPublicKeyError.
        """
        given = None if policy is None else Policy.from_toml(policy)
        with self._turns.of(tenant):
            try:
                return self._read(sources, given, sample, public_key, changes or PolicyChanges())
            except LoadError as error:
                # A new error, because the traceback of this one keeps all that was read.
                failed = LoadError(error.reason, error.file, error.line)
            finally:
                give_memory_back()
            raise failed

    def _read(
        self,
        sources: Sequence[Path],
        given: Policy | None,
        sample: int,
        public_key: str | None,
        changes: PolicyChanges,
    ) -> GraphPreview:
        require_unpacked_within(sources, self._packed)
        with first_rows_alone(MAX_ROWS_SEEN):
            raw, used = changed(sources, given, changes)
            told = self._made(sources, raw, used, given is None, sample, public_key)
        del raw  # Before further rows are read.
        return told.model_copy(update={"notes": [*_notes_on_rows(sources, used), *told.notes]})

    def _made(
        self,
        sources: Sequence[Path],
        raw: RawGraph,
        used: Policy,
        is_proposed: bool,
        sample: int,
        public_key: str | None,
    ) -> GraphPreview:
        seen = preview(raw, used, sample, self._name_concepts)
        tables = columns_of(sources, used)
        names = {each.pseudonym: Names(names=[each.name], total=1) for each in seen.sample}
        told = GraphPreview(
            id="p" + secrets.token_hex(12),
            policy=used.to_toml(),
            is_proposed=is_proposed,
            triples=seen.triples,
            entities=seen.entities,
            values=seen.values,
            mediators=seen.mediators,
            predicates=[_predicate(each) for each in seen.predicates],
            concepts=list(seen.concepts),
            sample=[
                EntitySeen(
                    pseudonym=each.pseudonym,
                    concept=each.concept,
                    facts=[FactSeen(relation=fact.relation, end=fact.end) for fact in each.facts],
                )
                for each in seen.sample
            ],
            notes=list(seen.notes),
            masked=[
                MaskedWord(kind=each.kind, term=each.term, word=each.word, reason=each.reason.value)
                for each in seen.masked
            ],
            columns=list(columns_seen(tables, seen)),
            tables=tables_seen(tables, seen),
        )
        return told if public_key is None else seal_preview(public_key, told, names)


def _notes_on_rows(sources: Sequence[Path], used: Policy) -> list[str]:
    """Returns what the owner should know of rows behind the first ones, from which alone the preview was made."""
    tabled = [path for path in sources if table_called(bare_name(path), used.tables) is not None]
    long = longer_than(tabled, MAX_ROWS_SEEN)
    if not long:
        return []
    widest = max(len(table.columns) for table in used.tables)
    with first_rows_alone(max(MAX_ROWS_SEEN, MAX_CELLS_CHECKED // max(1, widest))):
        notes = check_rows(long, used.tables, lambda _share: None)
    return [*(_FIRST_ROWS.format(path.name, MAX_ROWS_SEEN) for path in long), *notes]


def changed(sources: Sequence[Path], given: Policy | None, changes: PolicyChanges) -> tuple[RawGraph, Policy]:
    """Returns the triples of the files, and the given or proposed policy with the changes.

    Raises PolicyError, LoadError.
    """
    if given is None or is_left_open(given):
        raw, used = read_and_propose(sources) if given is None else read_left_open(sources, given)
        if not (changes.columns or changes.tables):
            return raw, used
    else:
        used = given
    if changes.columns or changes.tables:
        headers = {each.table.file: list(each.columns) for each in columns_of(sources, used)}
        used = with_changes(used, changes, headers)
    return read_by_policy(sources, used), used


def _predicate(use: PredicateUse) -> PredicateSeen:
    relation = use.relation
    if relation is None:
        return PredicateSeen(predicate=use.predicate, use=use.use, triples=use.triples)
    leads_to_values = relation.value_kind is not None
    return PredicateSeen(
        predicate=use.predicate,
        use=use.use,
        triples=use.triples,
        label=relation.label,
        description=relation.description,
        value_kind=relation.value_kind.value if relation.value_kind is not None else None,
        shown_as=relation.value_view.value if leads_to_values else None,
    )
