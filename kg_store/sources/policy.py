"""Policy: which predicates are names, what may be shown, which nodes are mediators. It is written as a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, Self
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    model_validator,
)

from kg_store.errors import PolicyError
from kg_store.formats.files import Encoding
from kg_store.sources.raw_graph import MAX_PREDICATE_CHARS
from kg_store.sources.vocabulary import (
    NAME_PREDICATES,
    RDF,
    RDFS,
    SCHEMA_CLASSES,
    SCHEMA_PREDICATES,
    SUBCLASS_PREDICATES,
)
from kg_store.terms import ValueKind, ValueView
from kg_store.text.labels import MAX_LABEL_WORDS, clean_label, is_short_label, readable
from kg_store.text.notation import DecimalMark, FirstPart, Notation
from kg_store.text.words import checked_pattern

MAX_LABEL_CHARS = 80
MAX_COLUMN_CHARS = 200
MAX_PLACE = 100
RELATION_NAMESPACE = "urn:arog:relation:"
CLASS_NAMESPACE = "urn:arog:class:"
Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS), AfterValidator(clean_label)]
Column = Annotated[str, Field(min_length=1, max_length=MAX_COLUMN_CHARS)]
Marks = tuple[Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARS)], ...]


class PolicyPart(BaseModel):
    """Base class of all parts of a policy. Unknown fields are refused; validation errors do not quote the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    def lines(self, heading: str = "") -> list[str]:
        """Returns its settings as lines of TOML below `heading`.

        Defaults are left out, and so are parts that have a heading of their own.
        """
        fields = type(self).model_fields.items()
        told = [(name, getattr(self, name), info.get_default(call_default_factory=True)) for name, info in fields]
        plain = [(name, value) for name, value, default in told if value != default and not _has_headings(value)]
        return ["", heading, *(f"{name} = {toml(value)}" for name, value in plain)]


def _has_headings(value: object) -> bool:
    first = next(iter(value), None) if isinstance(value, tuple) else value
    return isinstance(first, dict | PolicyPart)


class ColumnPolicy(PolicyPart):
    """The settings of one column, which becomes a relation.

    `table`: the table that the cells refer to, by its keys, or by the cells of its column `by`. `concept`: each
    different cell is an entity of that kind. Without these two, cells are values of `kind`. `relation`: the relation's
    label; default: the column's name. `separator` separates several values in one cell. `unit`: the unit of numbers.
    `decimal`: the mark before decimals; default: as each cell shows. `first`: the part that dates like 05/03/1980
    begin with. `serial`: whole numbers are dates, the days that a spreadsheet counts from 1900. `own`: the relation
    belongs to this table alone, so that its settings do not apply to other tables. `empty`: cells that mean that
    nothing is known, in addition to those of the table. `beside`: columns whose cells, behind this one's, are what the
    key of `table` is made of. `of`: the column of things that the cells tell of, in place of the row: the `email` of
    the customer of an order. `is_name`: such a cell is what the thing is called.
    """

    relation: Label | None = None
    kind: ValueKind = ValueKind.TEXT
    table: Column | None = None
    by: Column | None = None
    beside: tuple[Column, ...] = ()
    concept: Label | None = None
    unit: Label | None = None
    decimal: DecimalMark | None = None
    first: FirstPart | None = None
    serial: StrictBool = False
    separator: Annotated[str, Field(min_length=1, max_length=3)] | None = None
    own: StrictBool = False
    empty: Marks = ()
    of: Column | None = None
    is_name: StrictBool = False

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if self.table is not None and self.concept is not None:
            raise ValueError("a column has a table or a concept, not both")
        if self.by is not None and self.table is None:
            raise ValueError("`by` is a column of a table, which is not given")
        if self.beside and (self.table is None or self.by is not None or self.separator is not None):
            raise ValueError("`beside` needs a `table`, and no `by` or `separator`")
        if self.is_name and (self.of is None or self.concept is not None or self.table is not None):
            raise ValueError("`is_name` needs `of`, the column of the things that are called so, and no other thing")
        return self

    def label(self, column: str) -> str:
        """Returns the label of the column's relation."""
        return self.relation or readable(column).lower()


class TablePolicy(PolicyPart):
    """A table in which each row is an entity.

    `names`: columns, or lists of columns that together form one name; the best first. Without a `key`, a row joins the
    entities that its columns refer to. A file belongs to the table with its name, or else to the only table whose
    columns are in its header. A sheet of a workbook is called `book.xlsx/Sheet`. `*` in a name stands for anything:
    the files of `orders-*.csv` are one table.

    `header_row`: the line of the header, if titles stand above it; 0 if there is none. `empty`: cells that mean that
    nothing is known, such as `NULL`. `things`: each row is an entity although it has no key. `key_beside`: columns
    that only together with `key` tell the rows apart. `totals`: a last row that holds the sums of those above is left
    out. `part`: a further column, which holds what the first `*` in `file` stands for. `parts`: if given, `*` stands
    for these alone.
    """

    file: Column
    key: Column | None = None
    key_beside: tuple[Column, ...] = ()
    concept: Label | None = None
    names: tuple[Column | Annotated[tuple[Column, ...], Field(min_length=2)], ...] = ()
    delimiter: Literal[",", ";", "\t", "|"] | None = None
    encoding: Encoding = "utf-8"
    header_row: Annotated[int, Field(ge=0)] | None = None
    empty: Marks = ()
    things: StrictBool = False
    totals: StrictBool = False
    part: Column | None = None
    parts: Marks = ()
    columns: dict[Column, ColumnPolicy] = {}

    @model_validator(mode="after")
    def _tells_of_things(self) -> Self:
        for settings in self.columns.values():
            of = self.columns.get(settings.of) if settings.of is not None else None
            if settings.of is not None and (of is None or of.concept is None or of.of is not None or of.separator):
                raise ValueError("`of` names a column of this table that has a `concept`, and no `separator` or `of`")
        return self

    def telling_of(self, column: str) -> dict[str, ColumnPolicy]:
        """Returns the columns that tell of the things of `column`, with their settings."""
        return {name: settings for name, settings in self.columns.items() if settings.of == column}

    def has(self, name: str) -> bool:
        """Returns True if the file or sheet of that name belongs to this table by its name."""
        found = pattern_of(self.file).fullmatch(name) if self.is_pattern else None
        return name == self.file or (found is not None and (not self.parts or found[1] in self.parts))

    def part_of(self, name: str) -> str:
        """Returns what the first `*` in `file` stands for in the name of a file or sheet, as words."""
        found = pattern_of(self.file).fullmatch(name) if self.is_pattern else None
        return " ".join(found[1].replace("_", " ").split()) if found is not None else ""

    @property
    def is_pattern(self) -> bool:
        """True if files of several names may belong to the table; such a file may lack some of its columns."""
        return "*" in self.file

    def used(self) -> dict[str, str]:
        """Returns each column that the table uses, with its role: `the key`, `name 1`, `column 2`."""
        used = dict.fromkeys((self.key, *self.key_beside), "the key") if self.key is not None else {}
        for number, name in enumerate(self.names, start=1):
            for part in (name,) if isinstance(name, str) else name:
                used.setdefault(part, f"name {number}")
        for number, (column, settings) in enumerate(self.columns.items(), start=1):
            for part in (column, *settings.beside):
                used.setdefault(part, f"column {number}")
        return used

    def key_of(self, row: Mapping[str, str]) -> str:
        """Returns the key of a row; empty if a part of it is. To be called if the table has a key."""
        return joined_key([row[column] for column in (self.key or "", *self.key_beside)])

    def filled(self, row: Mapping[str, str], column: str) -> str:
        """Returns the cell of a column; empty if it means that nothing is known."""
        cell, settings = row[column], self.columns.get(column)
        marks = (*self.empty, *settings.empty) if settings is not None else self.empty
        return "" if cell in marks else cell

    def references(self) -> list[str]:
        """Returns the columns whose cells refer to rows of a table, in order."""
        return [column for column, settings in self.columns.items() if settings.table is not None]

    @property
    def links(self) -> bool:
        """True if each row joins entities instead of being one: no key, but columns that refer to tables."""
        return self.key is None and not self.things and bool(self.references())

    @property
    def kind(self) -> str:
        """The kind of thing that a row is, in words: the concept, or the file's name."""
        return self.concept or stem_of(self.file)

    @property
    def class_iri(self) -> str:
        return CLASS_NAMESPACE + quote(self.kind, safe="")

    def relation_iri(self, column: str) -> str:
        """Returns the predicate of a column; columns with the same label share it, unless one is `own`."""
        settings = self.columns[column]
        owner = quote(stem_of(self.file), safe="") + "/" if settings.own else ""
        return f"{RELATION_NAMESPACE}{owner}{quote(settings.label(column), safe='')}"


def joined_key(parts: Sequence[str]) -> str:
    """Returns the cells of several columns as one key; empty if one of them is."""
    return " / ".join(parts) if all(parts) else ""


@cache
def pattern_of(file: str) -> re.Pattern[str]:
    """Returns a pattern of the file names that a table's `file` stands for."""
    return re.compile("([^/]*)".join(map(re.escape, file.split("*"))))


def stem_of(file: str) -> str:
    """Returns the name of a table's file without folder and ending: `book.xlsx/Sheet` -> `Sheet`."""
    last = file.rsplit("/", 1)[-1]
    return (last.rpartition(".")[0] or last) if "/" not in file else last


def _three_places(places: tuple[int, int, int]) -> tuple[int, int, int]:
    if len(set(places)) < len(places):
        raise ValueError("head, relation and tail are three different columns")
    return places


Place = Annotated[int, Field(ge=1, le=MAX_PLACE)]


class TriplesPolicy(PolicyPart):
    """A text file whose lines are triples. Without `file` it applies to every text file that belongs to no table.

    `columns`: the positions of head, relation and tail, counted from 1. `header`: the first line is a header.
    """

    file: Column | None = None
    columns: Annotated[tuple[Place, Place, Place], AfterValidator(_three_places)] = (1, 2, 3)
    header: StrictBool = False


def toml(value: object) -> str:
    """Returns a string, number, truth value or list as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda mark: f"\\u{ord(mark.group()):04x}", escaped) + '"'


_DEEP_KEY = re.compile(r"""(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){64}""")
"""Matches a dotted key of 64 or more parts; keys of a policy have at most three."""


Description = Annotated[str, Field(max_length=200), AfterValidator(clean_label)]
Predicate = Annotated[str, Field(min_length=1, max_length=MAX_PREDICATE_CHARS)]
MAX_WORDS = 50


def _spoken(word: str) -> str:
    if not is_short_label(word):
        raise ValueError(f"a way to ask is of one to {MAX_LABEL_WORDS} words and ends without a point")
    return word


Words = Annotated[tuple[Annotated[Label, AfterValidator(_spoken)], ...], Field(max_length=MAX_WORDS)]


class RelationPolicy(PolicyPart):
    """The settings of one predicate.

    `hide` keeps the relation out of the graph; `values` says how literals are shown. `mask`: a model sees an opaque
    word instead of the relation's label, and `description` if there is one. If no other setting than `value_kind` and
    `words` is given, the load decides on masking, by the relation's words and its frequency. `linkable`: a question
    may name the value to find its subjects; the default is true for numbers, dates and text of at most 60 characters.
    `words`: further ways to ask for the relation; those of a masked or hidden relation are guarded like its label.
    """

    label: Label | None = None
    inverse_label: Label | None = None
    words: Words = ()
    hide: StrictBool = False
    mask: StrictBool | None = None
    description: Description | None = None
    value_kind: ValueKind | None = None
    values: ValueView = ValueView.PSEUDONYM
    linkable: StrictBool | None = None

    @model_validator(mode="after")
    def _a_description_is_of_a_mask(self) -> Self:
        if self.description is not None and not self.mask:
            raise ValueError("a description stands in the place of a masked relation's words: set mask = true too")
        return self

    @property
    def decides(self) -> bool:
        """True if these settings say how the relation is shown; the load then does not decide on masking it.

        `value_kind` and `words` alone do not count, since a proposal sets `value_kind` too.
        """
        return self.mask is not None or self.model_copy(update={"value_kind": None, "words": ()}) != _PLAIN


class ClassPolicy(PolicyPart):
    """The settings of one class or concept. `words`: further ways to ask for things of that kind."""

    words: Words = ()


class MediatorPolicy(PolicyPart):
    """The settings of mediators: nodes without a name that only join others.

    `pattern`: a regular expression (RE2) that matches their IRI or text.
    """

    blank_nodes: StrictBool = True
    pattern: Annotated[str, Field(max_length=200), AfterValidator(checked_pattern)] | None = None
    classes: tuple[Predicate, ...] = ()


class BudgetPolicy(PolicyPart):
    """The names and facts of this graph that one person may read on a day, in place of the service's own limits."""

    names_per_day: Annotated[StrictInt, Field(ge=1)] | None = None
    facts_per_day: Annotated[StrictInt, Field(ge=1)] | None = None


class RolePolicy(PolicyPart):
    """The part of a graph that a role may see, by relations (predicate or label) and concepts (or classes).

    If a `show_...` list is given, everything else is withheld; everything in a `withhold_...` list is withheld too.
    """

    show_relations: tuple[Predicate, ...] | None = None
    withhold_relations: tuple[Predicate, ...] = ()
    show_concepts: tuple[Label, ...] | None = None
    withhold_concepts: tuple[Label, ...] = ()


Shown = Literal["all"] | tuple[Predicate, ...]
RoleName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


class Policy(PolicyPart):
    """The policy of a graph. By default everything is private: values that it does not mention are never shown in
    clear.

    `inverse_prefix`: a predicate that starts with it is the inverse of the predicate in the rest of its text
    (`~is-a`). `show_relations`, `show_classes`: predicates, classes or their words that are always shown, or "all".
    `mask_classes`: classes whose words are masked. `skip`: names of files that are not read. `words`: words that may
    be sent in questions about this graph, besides common words and the schema. `classes`: settings of classes and
    concepts, by IRI or word. `budget`: how much of the graph one person may read on a day.
    """

    names: tuple[Predicate, ...] = NAME_PREDICATES
    composite_names: tuple[Annotated[tuple[Predicate, ...], Field(min_length=2)], ...] = ()
    local_part_names: StrictBool = True
    types: Literal["concept", "hide"] = "concept"
    type_predicates: tuple[Predicate, ...] = (RDF + "type",)
    subclass_predicates: tuple[Predicate, ...] = SUBCLASS_PREDICATES
    schema_predicates: tuple[Predicate, ...] = SCHEMA_PREDICATES
    schema_classes: tuple[Predicate, ...] = SCHEMA_CLASSES
    inverse_prefix: Annotated[str, Field(min_length=1, max_length=8)] | None = None
    mediators: MediatorPolicy = MediatorPolicy()
    show_relations: Shown = ()
    show_classes: Shown = ()
    mask_classes: tuple[Predicate, ...] = ()
    words: tuple[Label, ...] = ()
    skip: tuple[Predicate, ...] = ()
    relations: dict[Predicate, RelationPolicy] = Field(default_factory=dict)
    classes: dict[Predicate, ClassPolicy] = Field(default_factory=dict)
    tables: tuple[TablePolicy, ...] = ()
    triples: tuple[TriplesPolicy, ...] = ()
    roles: dict[RoleName, RolePolicy] = Field(default_factory=dict)
    budget: BudgetPolicy = BudgetPolicy()

    @model_validator(mode="after")
    def _tables_can_name(self) -> Self:
        if self.tables and not {RDFS + "label"} <= set(self.names):
            raise ValueError("with tables, names must hold " + RDFS + "label: it is where their names go")
        if len({table.file for table in self.tables}) < len(self.tables):
            raise ValueError("two tables have the same file")
        if len({each.file for each in self.triples}) < len(self.triples):
            raise ValueError("two lists of triples have the same file")
        return self

    @staticmethod
    def from_toml(text: str) -> Policy:
        """Returns the policy in a TOML text.

        Raises PolicyError, which names the field and what is allowed there, and never quotes the file.
        """
        if deep := _DEEP_KEY.search(text):
            # The parser needs quadratic time for such a key: minutes for 40 KB.
            raise PolicyError(f"policy: a key with too many parts, line {text.count(chr(10), 0, deep.start()) + 1}")
        try:
            parsed = tomllib.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            line = re.search(r"at line (\d+)", str(error))
            raise PolicyError(f"policy: not valid TOML{f', line {line.group(1)}' if line else ''}") from None
        try:
            return Policy.model_validate(parsed)
        except ValidationError as error:
            raise PolicyError("policy: " + "; ".join(_sentences(error))) from None

    def to_toml(self) -> str:
        """Returns the policy as TOML, without settings that equal the default."""
        parts = [
            self.mediators.lines("[mediators]"),
            self.budget.lines("[budget]"),
            *(settings.lines(f"[relations.{toml(predicate)}]") for predicate, settings in self.relations.items()),
            *(told.lines(f"[classes.{toml(kind)}]") for kind, told in self.classes.items()),
        ]
        lines = [*self.lines(), *(line for part in parts if len(part) > 2 for line in part)]
        for name, role in self.roles.items():
            # A role without rules sees everything, but its heading must be written.
            lines += role.lines(f"[roles.{toml(name)}]")
        for each in self.triples:
            lines += each.lines("[[triples]]")
        for table in self.tables:
            lines += table.lines("[[tables]]")
            for column, of_column in table.columns.items():
                lines += of_column.lines(f"[tables.columns.{toml(column)}]")
        return "\n".join(lines).lstrip("\n") + "\n"

    def of(self, predicate: str) -> RelationPolicy:
        return self.relations.get(predicate, _PLAIN)

    def mentioned(self) -> frozenset[str]:
        """Returns every predicate that this policy mentions and the default policy does not."""
        composites = (predicate for parts in self.composite_names for predicate in parts)
        return frozenset({*self.names, *composites, *self.type_predicates, *self.relations}) - _BUILT_IN


_PLAIN = RelationPolicy()
_DEFAULT = Policy()
_BUILT_IN = frozenset({*NAME_PREDICATES, *_DEFAULT.type_predicates})
_PARTS = (Policy, RelationPolicy, ClassPolicy, MediatorPolicy, RolePolicy, TablePolicy, TriplesPolicy, ColumnPolicy)
_FIELDS = frozenset(field for part in _PARTS for field in part.model_fields)


def _sentences(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        unknown = problem["type"] == "extra_forbidden"
        place = problem["loc"][:-1] if unknown else problem["loc"]
        where = ".".join(str(part) if part in _FIELDS else "?" for part in place) or "top level"
        rule = problem["msg"].replace("tuple", "list")
        what = f"unknown field; allowed: {', '.join(_allowed(place))}" if unknown else rule
        yield f"{where}: {what}"


def _allowed(place: Sequence[int | str]) -> Iterable[str]:
    holder: dict[object, type[PolicyPart]] = {
        "mediators": MediatorPolicy,
        "relations": RelationPolicy,
        "classes": ClassPolicy,
        "roles": RolePolicy,
        "tables": ColumnPolicy if "columns" in place else TablePolicy,
        "triples": TriplesPolicy,
    }
    return (holder.get(place[0], Policy) if place else Policy).model_fields


def notation_of(policy: Policy) -> Notation:
    """Returns the notation of the tables of a graph; a part on which their columns differ is None."""
    columns = [column for table in policy.tables for column in table.columns.values()]
    numbers = {column.decimal for column in columns if column.kind is ValueKind.NUMBER}
    firsts = {column.first for column in columns if column.first is not None}
    comma: DecimalMark | None = "," if "," in numbers else None
    return Notation(comma, firsts.pop() if len(firsts) == 1 else None)
