"""Applies an owner's changes to a policy: what a column is, what it is called, and how much of it a model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any
from urllib.parse import quote

from client_sdk.protocol import ColumnChange, PolicyChanges, TableChange
from kg_store.errors import PolicyError
from kg_store.proposals.column_profiles import KEY_WORDS, relation_words
from kg_store.sources.policy import Policy, RelationPolicy
from kg_store.sources.table_policy import CLASS_NAMESPACE, ColumnPolicy, TablePolicy
from kg_store.terms import ValueKind, ValueView

Headers = Mapping[str, Sequence[str]]
"""The columns of each table, by file name."""
Name = str | tuple[str, ...]


def with_changes(policy: Policy, changes: PolicyChanges, headers: Headers) -> Policy:
    """Returns `policy` with all changes applied in order.

    Raises PolicyError, whose text names a change by its number and quotes none of it.
    """
    for number, of_column in enumerate(changes.columns, start=1):
        policy = _checked(policy, of_column, headers, f"change {number}")
    for number, of_table in enumerate(changes.tables, start=1):
        policy = _with_table(policy, of_table, f"change {number} of tables")
    return Policy.from_toml(_tidy(policy).to_toml())


def _checked(policy: Policy, change: ColumnChange, headers: Headers, place: str) -> Policy:
    if not change.file:
        return _with_predicate(policy, change, place)
    table = _table(policy, change.file, place)
    header = list(headers.get(change.file, ()))
    if change.column not in header:
        raise PolicyError(f"{place}: the table has no such column")
    place = f"{place}, column {header.index(change.column) + 1}"
    settings = table.columns.get(change.column)
    before = table.relation_iri(change.column) if settings is not None else None
    try:
        table = _in_role(table, change, policy, place)
        policy = _replaced(policy, table)
        return _with_exposure(policy, table, change, before, place)
    except ValueError:
        raise PolicyError(f"{place}: {_LABELS}") from None


_LABELS = 'words are not empty, hold at most 80 characters, and none of " ( ) | ^'


def _table(policy: Policy, file: str, place: str) -> TablePolicy:
    found = next((table for table in policy.tables if table.file == file), None)
    if found is None:
        raise PolicyError(f"{place}: the policy maps no table of that file")
    return found


def _replaced(policy: Policy, table: TablePolicy) -> Policy:
    tables = tuple(table if each.file == table.file else each for each in policy.tables)
    return policy.model_copy(update={"tables": tables})


def _in_role(table: TablePolicy, change: ColumnChange, policy: Policy, place: str) -> TablePolicy:
    """Returns the table with the column in its new role, and with the settings of that role."""
    role, column = change.role or role_of(table, change.column), change.column
    table = _without_figure(table, column)
    if role in ("class", "schema"):
        raise PolicyError(f"{place}: a column of a table can't have this role")
    if role not in ("value", "concept", "reference"):
        return _without_relation(table, column, role, place)
    if column == table.key:
        raise PolicyError(f"{place}: this column is the key; make another column the key first")
    settings = table.columns.get(column, ColumnPolicy(relation=relation_words(column) or None))
    settings = _settings(settings, role, change, policy, place)
    names = _names_without(table.names, column)
    return _made(table, names=names, columns={**table.columns, column: settings})


def _without_figure(table: TablePolicy, column: str) -> TablePolicy:
    """Returns the table with the column as one of its own, and no more as a figure below its header's value."""
    spread = [
        each.model_copy(update={"columns": {name: value for name, value in each.columns.items() if name != column}})
        for each in table.spread
    ]
    return table.model_copy(update={"spread": tuple(each for each in spread if each.columns)})


def _settings(old: ColumnPolicy, role: str, change: ColumnChange, policy: Policy, place: str) -> ColumnPolicy:
    given = change.model_dump(include={"relation", "unit", "separator"}, exclude_none=True)
    fields = {**old.model_dump(), **{name: value or None for name, value in given.items()}}
    fields |= {"table": None, "by": None, "beside": (), "concept": None}
    fields["is_name"] = old.is_name and role == "value"
    if change.type is not None:
        fields["kind"] = ValueKind(change.type)
    if role == "reference":
        target = change.refers_to or old.table
        if target is None or _table(policy, target, place).key is None:
            raise PolicyError(f"{place}: a reference needs the file of a table with a key in `refers_to`")
        words = relation_words(change.column, KEY_WORDS)
        is_same = target == old.table
        fields |= {"table": target, "by": old.by if is_same else None, "beside": old.beside if is_same else ()}
        fields |= {"kind": ValueKind.TEXT, "unit": None, "first": None}
        fields["relation"] = change.relation or (words if role_changes(old, role) else None) or old.relation
    elif role == "concept":
        called = change.concept or old.concept or old.relation or relation_words(change.column)
        fields |= {"concept": called, "kind": ValueKind.TEXT, "unit": None, "first": None}
    elif fields["kind"] is not ValueKind.NUMBER:
        fields["unit"] = None
    return ColumnPolicy.model_validate(fields)


def role_changes(old: ColumnPolicy, role: str) -> bool:
    """True if a column with the settings `old` would change its role by becoming `role`.

    The settings give one of three roles: "reference", "concept" or "value".
    """
    return role != ("reference" if old.table is not None else "concept" if old.concept is not None else "value")


def role_of(table: TablePolicy, column: str) -> str:
    """Returns the role of a column in the words of the protocol."""
    if column == table.key:
        return "key"
    for place, name in enumerate(table.names):
        if column in _parts(name):
            return "alias" if place else "name"
    settings = table.columns.get(column)
    if settings is None:
        return "unused" if table.figure_of(column) is None else "value"
    return next(role for role in ("reference", "concept", "value") if not role_changes(settings, role))


def _without_relation(table: TablePolicy, column: str, role: str, place: str) -> TablePolicy:
    if role == role_of(table, column):
        return table
    names = _names_without(table.names, column)
    columns = {name: settings for name, settings in table.columns.items() if name != column}
    if role == "key":
        named = {None, *chain.from_iterable(map(_parts, names))}
        former = () if table.key in named else (table.key,)
        return _made(table, key=column, key_beside=(), names=(*names, *former), columns=columns)
    if column == table.key and role == "unused":
        raise PolicyError(f"{place}: this column is the key; make another column the key first")
    if role == "name":
        names = (column, *names)
    elif role == "alias":
        names = (*names, column)
    return _made(table, names=names, columns=columns)


def _names_without(names: Sequence[Name], column: str) -> tuple[Name, ...]:
    """Returns the names without one column; a name joined from two columns keeps the other."""
    left: list[Name] = []
    for name in names:
        parts = tuple(part for part in _parts(name) if part != column)
        if parts:
            left.append(parts[0] if len(parts) == 1 else parts)
    return tuple(left)


def _parts(name: Name) -> tuple[str, ...]:
    return (name,) if isinstance(name, str) else name


def _made(table: TablePolicy, **changed: object) -> TablePolicy:
    """Returns the table with changes. A column that told of things which are none any more tells of the row."""
    fields: dict[str, Any] = {**dict(table), **changed}
    columns: dict[str, ColumnPolicy] = fields["columns"]
    things = {None, *(name for name, each in columns.items() if each.concept and not (each.separator or each.of))}
    columns = {
        name: each if each.of in things else each.model_copy(update={"of": None, "is_name": False})
        for name, each in columns.items()
    }
    return TablePolicy.model_validate({**fields, "columns": columns})


def _with_exposure(policy: Policy, table: TablePolicy, change: ColumnChange, before: str | None, place: str) -> Policy:
    """Returns the policy after the owner chose how much of a column a model reads (its exposure).

    `before`: the column's relation before the change, None if it had none. Its settings also apply to the column's
    relation now, even if that has another IRI. If another column shares the relation, this one gets its own.
    """
    column = change.column
    if column not in table.columns:
        if change.exposure not in (None, "private"):
            raise PolicyError(f"{place}: keys and names are always private")
        return policy
    settings = policy.relations.get(before) if before is not None else None
    if change.exposure is not None or change.shown_as is not None:
        is_value = role_of(table, column) == "value"
        settings = _exposed(settings or RelationPolicy(), change, is_value, place)
    if settings is None:
        return policy
    iri = table.relation_iri(column)
    sharing = [(each.file, name) for each in policy.tables for name in each.columns if each.relation_iri(name) == iri]
    if any(each != (table.file, column) for each in sharing) and not table.columns[column].own:
        own = table.columns[column].model_copy(update={"own": True})
        table = _made(table, columns={**table.columns, column: own})
        policy = _replaced(policy, table)
    policy = policy.model_copy(update={"relations": {**policy.relations, table.relation_iri(column): settings}})
    concept = table.columns[column].concept
    if concept is not None and change.exposure is not None:
        # The things in a reference column have a class named after the column, so it gets the same exposure.
        return _with_class(policy, CLASS_NAMESPACE + quote(concept, safe=""), change.exposure == "masked")
    return policy


def _exposed(settings: RelationPolicy, change: ColumnChange, is_value: bool, place: str) -> RelationPolicy:
    exposure = change.exposure or "shown"
    if exposure == "shown" and not is_value:
        raise PolicyError(f"{place}: only values can be shown; things are always private")
    view = ValueView(change.shown_as or "clear") if exposure == "shown" else ValueView.PSEUDONYM
    return settings.model_copy(update={"mask": exposure == "masked", "values": view, "hide": False})


def _with_table(policy: Policy, change: TableChange, place: str) -> Policy:
    table = _table(policy, change.file, place)
    if change.concept is not None:
        try:
            table = _made(table, concept=change.concept)
        except ValueError:
            raise PolicyError(f"{place}: {_LABELS}") from None
        policy = _replaced(policy, table)
    if change.exposure is None:
        return policy
    return _with_class(policy, table.class_iri, change.exposure == "masked")


def _with_class(policy: Policy, iri: str, is_masked: bool) -> Policy:
    masked = tuple(each for each in policy.mask_classes if each != iri)
    shown = policy.show_classes
    if shown != "all":
        shown = (*(each for each in shown if each != iri), *(() if is_masked else (iri,)))
    return policy.model_copy(update={"mask_classes": (*masked, iri) if is_masked else masked, "show_classes": shown})


def _with_predicate(policy: Policy, change: ColumnChange, place: str) -> Policy:
    """Returns the policy with changes to a predicate of files that are not tables."""
    predicate, role = change.column, change.role
    if role in ("key", "alias", "concept", "class", "schema"):
        raise PolicyError(f"{place}: a relation of triples is a name, a value, a reference or unused")
    settings = policy.of(predicate)
    names = tuple(name for name in policy.names if name != predicate) if role is not None else policy.names
    if role == "name":
        policy = policy.model_copy(update={"names": (predicate, *names)})
        return policy.model_copy(update={"relations": {k: v for k, v in policy.relations.items() if k != predicate}})
    try:
        if role is not None:
            settings = settings.model_copy(update={"hide": role == "unused"})
        if change.type is not None:
            settings = settings.model_copy(update={"value_kind": ValueKind(change.type)})
        if change.relation is not None:
            settings = RelationPolicy.model_validate({**dict(settings), "label": change.relation or None})
        if change.exposure is not None or change.shown_as is not None:
            settings = _exposed(settings, change, role != "reference", place)
    except ValueError:
        raise PolicyError(f"{place}: {_LABELS}") from None
    if role is not None and not names:
        raise PolicyError(f"{place}: this is the only name; say first what else is one")
    return policy.model_copy(update={"names": names, "relations": {**policy.relations, predicate: settings}})


def _tidy(policy: Policy) -> Policy:
    """Returns the policy without settings for relations that no table uses."""
    used = {table.relation_iri(column) for table in policy.tables for column in table.columns}
    used |= {table.class_iri.replace(":class:", ":relation:") for table in policy.tables if table.links}
    relations = policy.relations.items()
    kept = {iri: each for iri, each in relations if not iri.startswith("urn:arog:relation:") or iri in used}
    return policy.model_copy(update={"relations": kept})
