"""Columns and relations of files as a preview proposes them, and the changes that their owner sends back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from client_sdk.protocol.base import Wire

MAX_CHANGES = 5_000

ColumnRole = Literal["key", "name", "alias", "concept", "value", "reference", "class", "schema", "unused"]
"""`key` tells the rows apart; `name` is what people call the thing, `alias` a further name of it. `concept`: each
different cell is a thing of its own, such as a city. `reference`: the cells are keys of another file, or things.
`class` and `schema` are of predicates alone. `unused` is not read."""
ColumnType = Literal["number", "date", "text", "truth"]
Exposure = Literal["private", "shown", "masked"]
"""`private`: a model reads the words of the relation, and a pseudonym in place of each cell. `shown`: it reads the
values too. `masked`: it reads an opaque word in place of the relation's own, and pseudonyms."""
ShownAs = Literal["clear", "year", "decade", "bucket"]

Text = Annotated[str, StringConstraints(max_length=2_000)]
Words = Annotated[str, StringConstraints(max_length=80)]


class ColumnSeen(Wire):
    """One column of a table, or one predicate of other files, as the policy of the preview treats it.

    `file` as it was called when it was sent, `book.xlsx/Sheet` for a sheet; empty for a predicate, which is `column`
    then. `relation` is what a prompt reads, `concept` the kind of the things of role `concept`. `together_with`:
    columns that are one name with this one. `why` says in a sentence what the proposal went by, and holds no cell.
    `roles` and `exposures` are those that may be chosen.
    """

    file: str
    column: str
    role: ColumnRole
    type: ColumnType | None = None
    unit: str = ""
    refers_to: str = ""
    relation: str = ""
    concept: str = ""
    separator: str = ""
    together_with: list[str] = Field(default_factory=list)
    exposure: Exposure = "private"
    shown_as: ShownAs | None = None
    why: str = ""
    filled: int = 0
    distinct: int = 0
    roles: list[ColumnRole] = Field(default_factory=list)
    exposures: list[Exposure] = Field(default_factory=list)


class TableSeen(Wire):
    """One table. `links`: its rows join things of other files, and are none themselves. `concept`: the kind of its
    rows as a prompt reads it, `masked` where it reads none of it."""

    file: str
    concept: str
    rows: int
    links: bool = False
    exposure: Literal["private", "masked"] = "private"
    why: str = ""


class ColumnChange(Wire):
    """What is to be different of one column; what is None stays. `file` and `column` as in ColumnSeen.

    Role `name` makes it the first name, and the former one an alias; `key` takes the place of the former key, which is
    an alias then. `reference` needs `refers_to`, unless it has one. `concept` is called by the column where no
    `concept` is given.
    """

    file: Text = ""
    column: Text
    role: ColumnRole | None = None
    type: ColumnType | None = None
    unit: Words | None = None
    refers_to: Text | None = None
    relation: Words | None = None
    concept: Words | None = None
    separator: Annotated[str, StringConstraints(max_length=3)] | None = None
    exposure: Exposure | None = None
    shown_as: ShownAs | None = None


class TableChange(Wire):
    """What is to be different of one table."""

    file: Text
    concept: Words | None = None
    exposure: Literal["private", "masked"] | None = None


class PolicyChanges(Wire):
    """Changes to the policy that was given or proposed, in their order."""

    columns: list[ColumnChange] = Field(default_factory=list, max_length=MAX_CHANGES)
    tables: list[TableChange] = Field(default_factory=list, max_length=MAX_CHANGES)
