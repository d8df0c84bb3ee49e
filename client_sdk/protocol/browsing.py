"""Looks at the things of a graph: a kind's things as a table, things of a name, and one thing with its facts."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from client_sdk.protocol.chat import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, Capsule, Wire

MAX_FILTERS = 20
Searched = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Label = Annotated[str, StringConstraints(max_length=2_000)]


class BrowseRequest(Wire):
    """A look at a graph: the things with a name, or one thing by its pseudonym in a conversation.

    It is sent as a body because addresses are written to logs. `conversation` is that of an answer or of an earlier
    reply; without it a new one begins.
    """

    public_key: str = Field(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)
    conversation: str | None = Field(default=None, max_length=64)
    search: Searched | None = Field(default=None, repr=False)
    thing: str | None = Field(default=None, max_length=32)
    offset: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.search is None) == (self.thing is None):
            raise ValueError("give one of search and thing")
        return self


class ExcerptThing(Wire):
    """One thing or value. Its name is in the capsule, under its pseudonym."""

    pseudonym: str
    concept: str
    is_value: bool = False


class ExcerptFact(Wire):
    """A relation of the thing, and the first of the `total` things that it leads to.

    `inverse`: the relation points to the thing.
    """

    relation: str
    inverse: bool
    ends: list[ExcerptThing]
    total: int


class GraphExcerpt(Wire):
    """A page of things, or one thing with its facts. The capsule opens for this excerpt only (docs/api.md)."""

    id: str
    graph: str
    conversation: str
    total: int
    things: list[ExcerptThing]
    facts: list[ExcerptFact]
    capsule: Capsule | None = None


class TableFilter(Wire):
    """A condition on a column of a table: its cells have the thing or value of a pseudonym, hold a text, or are empty.

    `column` is a TableColumn's; the empty text stands for the things' own names, which takes `contains` alone.
    """

    column: Label
    value: str | None = Field(default=None, max_length=32)
    contains: Searched | None = Field(default=None, repr=False)
    is_empty: Literal[True] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if sum(each is not None for each in (self.value, self.contains, self.is_empty)) != 1:
            raise ValueError("give one of value, contains and is_empty")
        return self


class TableRequest(Wire):
    """A look at the kinds of a graph, and at a page of the things of `kind` as a table, if one is given.

    `sort`: the column to sort by; the empty text stands for the things' own names. `choices_of`: a column whose
    values are to be counted among the rows that the other filters leave. `conversation` as in BrowseRequest.
    """

    public_key: str = Field(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)
    conversation: str | None = Field(default=None, max_length=64)
    kind: Label | None = None
    sort: Label | None = None
    descending: bool = False
    filters: list[TableFilter] = Field(default_factory=list, max_length=MAX_FILTERS)
    choices_of: Label | None = None
    offset: int = Field(default=0, ge=0)


class KindCount(Wire):
    """A kind and the number of its things. Own words of a masked kind are in the capsule, under `kind`."""

    kind: str
    things: int


class TableColumn(Wire):
    """A relation of the things of a kind. `column` is its words; with `^` before them it points to the things.

    Own words of a masked relation are in the capsule, under its opaque word. `leads_to`: the kind of what it leads to,
    empty for values. `counted`: a cell is only the number of things. `filled`: the rows with a cell, whatever the
    filters; `distinct`: the different things or values in it.
    """

    column: str
    leads_to: str
    value_kind: str | None = None
    masked: bool = False
    counted: bool = False
    filled: int
    distinct: int
    sortable: bool = True
    has_choices: bool = False


class TableCell(Wire):
    """The cell of one thing in one column: the first of `total` things or values."""

    ends: list[ExcerptThing]
    total: int


class TableRow(Wire):
    """One thing, and its cells in the order of the columns."""

    thing: ExcerptThing
    cells: list[TableCell]


class TableChoice(Wire):
    """A thing or value of a column, and the number of rows that have it. `value` is null for rows that have none."""

    value: ExcerptThing | None
    rows: int


class GraphTable(Wire):
    """The kinds of a graph, the most frequent first, and a page of the things of one kind.

    `total`: the rows that the filters leave, of which the page begins at `offset`. `named`: the things have names;
    `sortable`: the table can be sorted and searched by these. `withheld`: rows of this page that the budget of the
    day or hour leaves out. The capsule opens for this table only (docs/api.md).
    """

    id: str
    graph: str
    conversation: str
    kinds: list[KindCount]
    kind: str | None = None
    named: bool = True
    sortable: bool = True
    columns: list[TableColumn] = Field(default_factory=list)
    rows: list[TableRow] = Field(default_factory=list)
    total: int = 0
    offset: int = 0
    withheld: int = 0
    choices: list[TableChoice] = Field(default_factory=list)
    capsule: Capsule | None = None
