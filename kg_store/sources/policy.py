"""Policy: which predicates are names, what may be shown, which nodes are mediators. It is written as a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
    model_validator,
)

from kg_store.errors import PolicyError
from kg_store.sources.raw_graph import MAX_PREDICATE_CHARS
from kg_store.sources.table_policy import (
    MAX_PLACE,
    Column,
    ColumnPolicy,
    Label,
    PolicyPart,
    TablePolicy,
    toml,
)
from kg_store.sources.vocabulary import (
    NAME_PREDICATES,
    RDF,
    RDFS,
    SCHEMA_CLASSES,
    SCHEMA_PREDICATES,
    SUBCLASS_PREDICATES,
)
from kg_store.terms import ValueKind, ValueView
from kg_store.text.labels import MAX_LABEL_WORDS, clean_label, is_short_label
from kg_store.text.notation import DecimalMark, Notation
from kg_store.text.words import checked_pattern


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


BY_LABEL: Final = "label"
Origin = Annotated[str, Field(max_length=200)]


def _without_gz(file: str) -> str:
    return file.removesuffix(".gz")


class PublicPolicy(PolicyPart):
    """The files of a public graph, such as a database of drugs; if all files are public, so is the whole graph.

    `files`: their names; all others are private. `bridges`: for each kind of private things that stand in the public
    files too, how they are found there: by their `label`, or by the value of a relation that both have (`atc code`).
    `source` and `licence`: where the files are from, and what allows their use, for people who see a fact of them.
    """

    files: tuple[Annotated[Predicate, AfterValidator(_without_gz)], ...] = ()
    bridges: dict[Label, Predicate] = Field(default_factory=dict)
    source: Origin = ""
    licence: Origin = ""

    @model_validator(mode="after")
    def _bridges_lead_somewhere(self) -> Self:
        if not self.files and (self.bridges or self.source or self.licence):
            raise ValueError("this table is about public files: add `files`")
        return self


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
    concepts, by IRI or word. `memory`: people may have the service remember what they tell of the graph. `budget`: how
    much of the graph one person may read on a day. `public`: the files of a public graph beside this one.
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
    memory: StrictBool = True
    relations: dict[Predicate, RelationPolicy] = Field(default_factory=dict)
    classes: dict[Predicate, ClassPolicy] = Field(default_factory=dict)
    tables: tuple[TablePolicy, ...] = ()
    triples: tuple[TriplesPolicy, ...] = ()
    roles: dict[RoleName, RolePolicy] = Field(default_factory=dict)
    budget: BudgetPolicy = BudgetPolicy()
    public: PublicPolicy = PublicPolicy()

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
            self.public.lines("[public]"),
            ["", "[public.bridges]", *(f"{toml(kind)} = {toml(by)}" for kind, by in self.public.bridges.items())],
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
            for spread in table.spread:
                values = (f"{toml(column)} = {toml(value)}" for column, value in spread.columns.items())
                lines += [*spread.lines("[[tables.spread]]"), "", "[tables.spread.columns]", *values]
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
_PARTS = (
    Policy,
    RelationPolicy,
    ClassPolicy,
    MediatorPolicy,
    RolePolicy,
    PublicPolicy,
    TablePolicy,
    TriplesPolicy,
    ColumnPolicy,
)
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
