"""Graphs of a tenant: previews of files, loads, reports, and erasures."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from client_sdk.protocol.chat import Capsule, ErrorBody, Wire


class ProfileRisk(Wire):
    """The risk that prompts of one profile pose to entities, if the attacker knows the whole graph.

    A profile is the set of facts that a prompt shows of an entity. `expected`: the mean of 1 / (number of entities
    that match what a prompt shows). `few`: the share of prompts that fewer than k entities match. `smallest`: the
    smallest number of entities that match one.
    """

    profile: str
    prompts: int
    expected: float
    few: float
    smallest: int


class PrivacySummary(Wire):
    """Measures of a graph's privacy, taken when it is loaded: counts and fixed sentences, no word of the graph."""

    k: int
    profiles: list[ProfileRisk]
    warnings: list[str]


class SetSizes(Wire):
    """Counts the entities of a concept (null: of the graph) by the size of their anonymity set.

    The count at position i is for sets of at least `bounds[i]` entities and fewer than the next bound.
    """

    concept: str | None
    entities: int
    one_hop: list[int]
    two_hops: list[int]


class RelationUse(Wire):
    """Counts of one relation: the things that have it, and the things or distinct values that it leads to.

    `value_kind` and `shown_as` tell the kind of its values and how prompts show them.
    """

    relation: str
    subjects: int
    objects: int
    value_kind: str | None = None
    shown_as: str | None = None


class NameGaps(Wire):
    """The names that the guard lets pass, as counts and lists.

    `too_short` counts things with a name of punctuation only; `unguarded` counts things none of whose names the guard
    can hold back.
    """

    names: int
    values: int
    like_own_words: list[str] = Field(repr=False)
    like_frequent_words: list[str] = Field(repr=False)
    of_one_character: list[str] = Field(repr=False)
    too_short: int
    unguarded: int


class LexiconReport(Wire):
    """The common words that may leave in a question.

    `words` counts the English ones, `sources` does so by their source, and `taken_out` counts those removed because
    they are names. `in_names`: words that may leave although they are part of a name in the tenant's graphs.
    """

    words: int
    sources: dict[str, int]
    taken_out: int
    in_names: list[str] = Field(repr=False)


class MaskedWord(Wire):
    """A relation or class whose words are masked until the owner decides: they may be a private table cell.

    `term` is the IRI or cell, `word` the words that would be shown, `reason` why they are masked. For the graph's
    owner only.
    """

    kind: Literal["relation", "class"]
    term: str = Field(repr=False)
    word: str = Field(repr=False)
    reason: str


class GraphReport(PrivacySummary):
    """GET /admin/graphs/{name}/report, for the graph's owner.

    Its only names are public words and what `masked` holds.
    """

    graph: str
    version: str
    loaded_at: datetime
    triples: int
    entities: int
    relations: int
    hidden_relations: int
    bounds: list[int]
    whole: SetSizes
    concepts: list[SetSizes]
    rare_relations: list[RelationUse]
    value_relations: list[RelationUse]
    names: NameGaps
    lexicon: LexiconReport
    masked: list[MaskedWord] = Field(default_factory=list, repr=False)


MAX_CHANGES = 5_000

ColumnRole = Literal["key", "name", "alias", "concept", "value", "reference", "class", "schema", "unused"]
"""`key` identifies the rows; `name` is the thing's main name, `alias` another name of it.

`value`: a literal, such as a date. `concept`: each different cell is a thing, such as a city. `reference`: the cells
are keys of another file, or things. `class` and `schema` are for predicates only. `unused` columns are not read.
"""
ColumnType = Literal["number", "date", "text", "truth"]
Exposure = Literal["private", "shown", "masked"]
"""`private`: a model reads the relation's words, and a pseudonym in place of each cell.

`shown`: it reads the values too. `masked`: it reads an opaque word in place of the relation's words, and pseudonyms.
"""
ShownAs = Literal["clear", "year", "decade", "bucket"]

Text = Annotated[str, StringConstraints(max_length=2_000)]
Words = Annotated[str, StringConstraints(max_length=80)]


class ColumnSeen(Wire):
    """One column of a table, or one predicate of other files, as the policy of the preview treats it.

    `file` is the name it was sent under, `book.xlsx/Sheet` for a sheet; it is empty for a predicate, which is in
    `column`. `relation` is what a prompt reads, `concept` the kind of the things of a column with role `concept`.
    `together_with`: columns that form one name with this one. `why` gives the reason of the proposal in a sentence
    without cells. `roles` and `exposures` are those that may be chosen.
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
    """One table. `links`: its rows connect things of other files, and are no things themselves.

    `concept`: the kind of its rows as a prompt reads it. `exposure`: `masked` if a prompt shows no word of that kind.
    `why` gives the reason in a sentence.
    """

    file: str
    concept: str
    rows: int
    links: bool = False
    exposure: Literal["private", "masked"] = "private"
    why: str = ""


class ColumnChange(Wire):
    """A change to one column; fields that are None stay as they are. `file` and `column` are as in ColumnSeen.

    Role `name` makes the column the first name, and the former one an alias; role `key` replaces the key, and the
    former one becomes an alias. `reference` needs `refers_to`, unless the column has one. Role `concept` takes the
    column's name as concept if no `concept` is given.
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
    """A change to one table; fields that are None stay as they are."""

    file: Text
    concept: Words | None = None
    exposure: Literal["private", "masked"] | None = None


class PolicyChanges(Wire):
    """Changes to the policy that was given or proposed, in the order in which they apply."""

    columns: list[ColumnChange] = Field(default_factory=list, max_length=MAX_CHANGES)
    tables: list[TableChange] = Field(default_factory=list, max_length=MAX_CHANGES)


PredicateUseName = Literal["name", "class", "schema", "relation", "masked", "hidden"]


class PredicateSeen(Wire):
    """One predicate of the files as the policy treats it, and the number of its triples.

    `label` is what a prompt shows, `description` what it shows beside an opaque word. `hidden`: the relation, or its
    values, are not in the graph. `value_kind` is set if it leads to values, and `shown_as` tells how these are shown.
    """

    predicate: str
    use: PredicateUseName
    triples: int
    label: str = ""
    description: str = ""
    value_kind: str | None = None
    shown_as: str | None = None


class FactSeen(Wire):
    """A relation as a prompt shows it, and a placeholder for what it leads to, never a name or value."""

    relation: str
    end: str


class EntitySeen(Wire):
    """One entity as a model would see it. Its name is in the capsule, under its pseudonym."""

    pseudonym: str
    concept: str
    facts: list[FactSeen]


class GraphPreview(Wire):
    """Counts, predicates and a sample; `masked` lists relations and classes without words until the policy shows them.

    `policy` is the one that was used, as TOML: given or proposed, with the `changes` that were sent. A load with it
    has the result that the preview shows. `columns` and `tables` are the same policy as a list of choices.

    `capsule` holds the names of the sample, a CapsuleContent sealed to the caller's key, and opens for this sample
    only (docs/api.md).
    """

    id: str
    policy: str
    is_proposed: bool
    triples: int
    entities: int
    values: int
    mediators: int
    predicates: list[PredicateSeen]
    concepts: list[str]
    sample: list[EntitySeen] = Field(repr=False)
    notes: list[str]
    masked: list[MaskedWord] = Field(default_factory=list, repr=False)
    columns: list[ColumnSeen] = Field(default_factory=list, repr=False)
    tables: list[TableSeen] = Field(default_factory=list, repr=False)
    capsule: Capsule | None = None


class GraphSuggestions(Wire):
    """Questions made from the graph's relation words that the service was able to answer; empty if there were none."""

    questions: list[str]


JobState = Literal["queued", "running", "waiting", "done", "failed"]
"""The states of a job. `waiting`: a load that was asked to hold waits until its owner lets the new version go live."""


class GraphNames(Wire):
    """GET /graphs: the graphs that the caller may ask, those they may inspect, and the strategies offered."""

    graphs: list[str]
    inspectable: list[str] = Field(default_factory=list, description="those of them that it may look through, too")
    strategies: list[str] = Field(default=["auto"], description="the default one first")


class GraphSummary(Wire):
    """One graph as GET /admin/graphs lists it; `public_words` counts its names that are public words.

    `public`: its owner declared all its files public. `beside`: the public graphs that stand beside it.
    """

    name: str
    version: str
    triples: int
    entities: int
    values: int
    relations: int
    loaded_at: datetime
    public_words: int
    public: bool = False
    beside: list[str] = Field(default_factory=list)


class GraphList(Wire):
    """GET /admin/graphs: every graph of the caller's tenant."""

    graphs: list[GraphSummary]


class JobStatus(Wire):
    """GET /admin/jobs/{id}: `error` is set if the job failed, `graph` if it is done.

    `policy` is the proposed policy that was used, as TOML, if the load came without one. `privacy` tells what prompts
    about the graph reveal, and is set already while the job is `waiting`.
    """

    id: str
    state: JobState
    step: str = ""
    percent: float = Field(default=0.0, ge=0, le=100)
    error: ErrorBody | None = None
    graph: GraphSummary | None = None
    policy: str | None = None
    notes: list[str] = Field(default_factory=list)
    privacy: PrivacySummary | None = None


class GraphPolicy(Wire):
    """GET /admin/graphs/{name}/policy: the policy of the current version, as TOML, and the names of its roles."""

    graph: str
    policy: str
    roles: list[str]


class RefineConcepts(Wire):
    """POST /admin/graphs/{name}/concepts/refine: rename the concepts that at least `least` entities share."""

    least: int = Field(default=20, ge=2)


class ForgetThing(Wire):
    """POST /admin/graphs/{name}/forget and its plan: the thing to erase, by a name or by its id in the source.

    `choice` is one of the plan's, if several things have the name. `with_kinds`: neighbours of these concepts are
    erased too; `with_mentions`: texts of other things that contain one of its names are erased too.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(repr=False)
    choice: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}$")] | None = None
    with_kinds: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = Field(
        default_factory=list, max_length=20
    )
    with_mentions: bool = False


class ForgetChoice(Wire):
    """One of several things with a name: its kind and its relations; `arog graph forget` shows values too."""

    id: str
    concept: str
    relations: list[str]


class ForgetPlan(Wire):
    """The plan of an erasure in sentences with counts, or the things to choose from if several have the name."""

    choices: list[ForgetChoice]
    sentences: list[str] = Field(default_factory=list)


class RefineEstimate(Wire):
    """GET /admin/graphs/{name}/concepts/refine: the concepts that would be asked about, and the most it can cost.

    Nothing was sent. Not asked about: `too_rare` concepts that too few entities share, and `classed` ones, which are
    classes of the graph's own.
    """

    concepts: int
    entities: int
    too_rare: int
    classed: int
    calls: int
    prompt_tokens: int
    most_reply_tokens: int
    most_cost: float | None = None
    currency: str = ""

    @property
    def sentence(self) -> str:
        """The estimate in words."""
        money = "" if self.most_cost is None else f", {self.most_cost:.4f} {self.currency} at most"
        return (
            f"{self.concepts} concepts of {self.entities} entities: {self.calls} calls, about {self.prompt_tokens} "
            f"tokens of prompts, at most {self.most_reply_tokens} of replies{money}. Not asked about: "
            f"{self.too_rare} that fewer entities share, {self.classed} with a class of their own."
        )


class RollbackGraph(Wire):
    """POST /admin/graphs/{name}/rollback: which kept version becomes live.

    `version` is its number, or its id or at least six characters of the beginning of it.
    """

    version: str | None = Field(
        default=None, min_length=1, max_length=32, description="the one loaded before the live one by default"
    )
