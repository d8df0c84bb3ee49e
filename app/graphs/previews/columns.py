"""The columns and predicates of files as choices for their owner: what each is taken for, why, and what else it may
be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from app.graphs.previews.policy_changes import role_of
from client_sdk.protocol import ColumnRole, ColumnSeen, ColumnType, Exposure, ShownAs, TableSeen
from kg_store.errors import LoadError
from kg_store.proposals.column_profiles import Column
from kg_store.proposals.predicate_uses import PredicateUse
from kg_store.proposals.preview import Preview
from kg_store.sources.policy import Policy
from kg_store.sources.sheets import Sheet, sheets_of
from kg_store.sources.table_files import table_called
from kg_store.sources.table_policy import CLASS_NAMESPACE, RELATION_NAMESPACE, TablePolicy
from kg_store.terms import Relation, ValueView

_OF_TABLES = (RELATION_NAMESPACE, CLASS_NAMESPACE)
_VALUE_EXPOSURES: list[Exposure] = ["private", "shown", "masked"]
_THING_EXPOSURES: list[Exposure] = ["private", "masked"]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of one table that the policy maps, with their cells."""

    table: TablePolicy
    columns: dict[str, Column] = field(repr=False)
    rows: int


def columns_of(sources: Sequence[Path], policy: Policy) -> list[TableColumns]:
    """Returns every mapped table of the files, read completely. Raises LoadError."""
    sheets = [sheet for path in sources for sheet in _sheets(path)]
    if len(policy.tables) == len(sheets) == 1:
        return [_read(sheets, policy.tables[0])]
    named = [(sheet, table_called(sheet.name, policy.tables)) for sheet in sheets]
    groups = ([sheet for sheet, of in named if of is table] for table in policy.tables)
    return [_read(group, table) for group, table in zip(groups, policy.tables, strict=True) if group]


def _sheets(path: Path) -> list[Sheet]:
    try:
        return sheets_of(path)
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
    """Yields every column in the order of the files, then every predicate of other files."""
    relations = {relation.iri: relation for relation in seen.relations}
    keyed = [each.table for each in tables if each.table.key is not None]
    for each in tables:
        for column in each.columns.values():
            yield _column(column, each, relations, keyed)
    for use in seen.predicates:
        if not use.predicate.startswith(_OF_TABLES) and not (tables and use.use in ("name", "class", "schema")):
            yield _predicate(use)


def tables_seen(tables: Sequence[TableColumns], seen: Preview) -> list[TableSeen]:
    masked = {each.term for each in seen.masked if each.kind == "class"}
    return [
        TableSeen(
            file=each.table.file,
            concept=each.table.kind,
            rows=each.rows,
            links=each.table.links,
            exposure="masked" if each.table.class_iri in masked else "private",
            why=_why_table(each.table),
        )
        for each in tables
    ]


def _why_table(table: TablePolicy) -> str:
    if table.links:
        return "No column tells its rows apart, and it refers to other files: a row joins the things of those."
    if table.key is None:
        return "No column tells its rows apart: each line is a thing of its own."
    return "Each row is a thing of its own."


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
        type=settings.kind.value if settings is not None and role == "value" else None,
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
    """The words of a relation in prompts; its own words if it is masked, because the owner may see them."""
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
    filled, distinct = len(column.cells), len(column.distinct)
    if role == "key":
        return "Every row has one, and none comes twice."
    if role in ("name", "alias"):
        called = "It is called so" if set(column.full) & {"name", "title", "label"} else "Its cells look like names"
        return f"{called}: {distinct:,} different ones in {filled:,} rows."
    if role == "concept":
        return f"{distinct:,} different texts in {filled:,} rows: each is a thing of its own."
    if role == "reference":
        settings = table.columns[column.name]
        of = f"cells of {settings.by} in" if settings.by is not None else "keys of"
        return f"Its cells are {of} {settings.table}."
    if role == "unused":
        return "It is empty." if not filled else "The policy does not read it."
    return _why_value(column, table, distinct, filled)


def _why_value(column: Column, table: TablePolicy, distinct: int, filled: int) -> str:
    if column.is_private_text:
        return "An e-mail, a phone number, an address or a link: a private text."
    kind = table.columns[column.name].kind.value
    words = {"number": "numbers", "date": "dates", "truth": "yes or no", "text": "texts"}[kind]
    return f"Its cells are {words}, {distinct:,} different ones in {filled:,} rows."


def _predicate(use: PredicateUse) -> ColumnSeen:
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
        roles=[role] if fixed else _roles_of_predicate(role),
        exposures=["private"] if fixed or relation is None else _VALUE_EXPOSURES if is_value else _THING_EXPOSURES,
    )


def _roles_of_predicate(role: ColumnRole) -> list[ColumnRole]:
    if role == "reference":
        return ["reference", "unused"]
    return ["name", "value", "unused"]
