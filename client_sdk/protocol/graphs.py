"""Graphs of a tenant: files before they are loaded, loads, reports, looks at their things, and what is forgotten."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from client_sdk.protocol.chat import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, Capsule, ErrorBody, Wire


class ProfileRisk(Wire):
    """The risk that prompts of one kind pose to entities, against whoever knows the whole graph.

    `expected`: the mean of 1 / (entities that fit what a prompt shows). `few`: the share of prompts that fewer than
    k entities fit. `smallest`: the fewest that fit one.
    """

    profile: str
    prompts: int
    expected: float
    few: float
    smallest: int


class PrivacySummary(Wire):
    """Measures of a graph's privacy, taken at its load: counts and sentences of ours, no word of the graph."""

    k: int
    profiles: list[ProfileRisk]
    warnings: list[str]


class SetSizes(Wire):
    """Counts the entities of a concept (null: of the graph) with an anonymity set of at least `bounds[i]`, and less
    than the next bound."""

    concept: str | None
    entities: int
    one_hop: list[int]
    two_hops: list[int]


class RelationUse(Wire):
    """Counts of one relation: things that have it, things or distinct values it leads to; and how those are shown."""

    relation: str
    subjects: int
    objects: int
    value_kind: str | None = None
    shown_as: str | None = None


class NameGaps(Wire):
    """Names that the guard lets pass. `too_short` counts things with a name of punctuation alone, `unguarded` those
    of whose names it can hold back none."""

    names: int
    values: int
    like_own_words: list[str] = Field(repr=False)
    like_frequent_words: list[str] = Field(repr=False)
    of_one_character: list[str] = Field(repr=False)
    too_short: int
    unguarded: int


class LexiconReport(Wire):
    """The common words that may leave in a question: how many English ones there are by their source, how many were
    taken out since they are names, and those that are a part of a name of the tenant's graphs all the same."""

    words: int
    sources: dict[str, int]
    taken_out: int
    in_names: list[str] = Field(repr=False)


class MaskedWord(Wire):
    """A relation or class that shows no words, because nobody has decided on it and its words may be a cell of the
    sources: its IRI or cell, what it would be called, and why. For the graph's owner alone."""

    kind: Literal["relation", "class"]
    term: str = Field(repr=False)
    word: str = Field(repr=False)
    reason: str


class GraphReport(PrivacySummary):
    """GET /admin/graphs/{name}/report: for the graph's owner. Its only names are those that are public words, and what
    `masked` holds."""

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
    """The change of one column; what is None stays. `file` and `column` as in ColumnSeen.

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
    """The change of one table; what is None stays."""

    file: Text
    concept: Words | None = None
    exposure: Literal["private", "masked"] | None = None


class PolicyChanges(Wire):
    """Changes to the policy that was given or proposed, in their order."""

    columns: list[ColumnChange] = Field(default_factory=list, max_length=MAX_CHANGES)
    tables: list[TableChange] = Field(default_factory=list, max_length=MAX_CHANGES)


PredicateUseName = Literal["name", "class", "schema", "relation", "masked", "hidden"]


class PredicateSeen(Wire):
    """One predicate of the files as the policy treats it, and the number of triples it stands in.

    `label` is what a prompt shows, `description` what it shows beside an opaque word. `hidden`: the relation is not
    in the graph, or its values are not. `value_kind` where it leads to values, and how those are `shown_as`.
    """

    predicate: str
    use: PredicateUseName
    triples: int
    label: str = ""
    description: str = ""
    value_kind: str | None = None
    shown_as: str | None = None


class FactSeen(Wire):
    """`relation` as a prompt shows it, and what stands at its end: a placeholder, never a name or value."""

    relation: str
    end: str


class EntitySeen(Wire):
    """One entity as a model would see it; its name is in the capsule, under the pseudonym."""

    pseudonym: str
    concept: str
    facts: list[FactSeen]


class GraphPreview(Wire):
    """Counts, predicates and a sample; `masked` lists what shows no words until the policy says that it may.

    `policy` is the one that was used, as TOML: proposed where none was given, with the `changes` that were sent. A
    load with it does what the preview shows. `columns` and `tables` are the same policy as a list of choices.

    `capsule` holds the names of the sample, a CapsuleContent sealed to the caller's key, and opens for this sample
    alone (docs/api.md).
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
    """Questions that were made of the graph's relation words and answered inside the service; none where none were."""

    questions: list[str]


class ConceptCount(Wire):
    """A concept and the number of things of it."""

    concept: str
    things: int


class GraphOutline(Wire):
    """The concepts of a graph, the most frequent first, and the words of its relations."""

    graph: str
    concepts: list[ConceptCount]
    relations: list[str]


class BrowseRequest(Wire):
    """A look at a graph: the things of a concept, those of a name, or one thing by its pseudonym in a conversation.

    It is a body and no address, for addresses are written to logs. `conversation` is an answer's, or that of an
    earlier reply; without it a new one is begun.
    """

    public_key: str = Field(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)
    conversation: str | None = Field(default=None, max_length=64)
    concept: str | None = Field(default=None, max_length=200)
    search: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(default=None, repr=False)
    thing: str | None = Field(default=None, max_length=32)
    offset: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if sum(each is not None for each in (self.concept, self.search, self.thing)) != 1:
            raise ValueError("give one of concept, search and thing")
        return self


class ExcerptThing(Wire):
    """One thing or value; its name is in the capsule, under the pseudonym."""

    pseudonym: str
    concept: str
    is_value: bool = False


class ExcerptFact(Wire):
    """A relation of the thing and what it leads to, the first of `total`; `inverse`: it leads here from them."""

    relation: str
    inverse: bool
    ends: list[ExcerptThing]
    total: int


class GraphExcerpt(Wire):
    """A page of things, or one thing with its facts; the capsule opens for this excerpt alone (docs/api.md)."""

    id: str
    graph: str
    conversation: str
    total: int
    things: list[ExcerptThing]
    facts: list[ExcerptFact]
    capsule: Capsule | None = None


JobState = Literal["queued", "running", "waiting", "done", "failed"]
"""`waiting`: for its owner's word that the new version may go live; only a load that was asked to hold does so."""


class GraphNames(Wire):
    """GET /graphs: the names of the graphs that the caller may ask, and the strategies that the service offers."""

    graphs: list[str]
    inspectable: list[str] = Field(default_factory=list, description="those of them that it may look through, too")
    strategies: list[str] = Field(default=["auto"], description="the default one first")


class GraphSummary(Wire):
    """One graph as GET /admin/graphs lists it; `public_words` counts its names that are public words."""

    name: str
    version: str
    triples: int
    entities: int
    values: int
    relations: int
    loaded_at: datetime
    public_words: int


class GraphList(Wire):
    """GET /admin/graphs: every graph of the caller's tenant."""

    graphs: list[GraphSummary]


class JobStatus(Wire):
    """GET /admin/jobs/{id}: `error` is set when the job failed, `graph` when it is done.

    `policy` is the policy that was proposed and used, as TOML, when the load came without one; `privacy` what prompts
    about the graph will tell, already while the job is `waiting`.
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
    """POST /admin/graphs/{name}/concepts/refine: concepts that at least so many entities share are named anew."""

    least: int = Field(default=20, ge=2)


class ForgetThing(Wire):
    """POST /admin/graphs/{name}/forget, and its plan: what is to be taken out of a graph, by a name of it.

    Or by its id in the source. `choice` is one of the plan's, where several things have the name. `with_kinds`:
    neighbours of these concepts go too; `with_mentions`: texts of others go too in which one of its names stands.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(repr=False)
    choice: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}$")] | None = None
    with_kinds: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = Field(
        default_factory=list, max_length=20
    )
    with_mentions: bool = False


class ForgetChoice(Wire):
    """One of several things of a name: its kind, and the relations it has; `arog graph forget` shows values, too."""

    id: str
    concept: str
    relations: list[str]


class ForgetPlan(Wire):
    """The plan of an erasure, in sentences with counts; or, where the name is several things', what to choose from."""

    choices: list[ForgetChoice]
    sentences: list[str] = Field(default_factory=list)


class RefineEstimate(Wire):
    """GET /admin/graphs/{name}/concepts/refine: what it would ask about, and take at most. Nothing was sent.

    `too_rare` concepts fewer entities share, `classed` ones are classes of the graph's own: neither is asked about.
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
        """All of it in words."""
        money = "" if self.most_cost is None else f", {self.most_cost:.4f} {self.currency} at most"
        return (
            f"{self.concepts} concepts of {self.entities} entities: {self.calls} calls, about {self.prompt_tokens} "
            f"tokens of prompts, at most {self.most_reply_tokens} of replies{money}. Not asked about: "
            f"{self.too_rare} that fewer entities share, {self.classed} with a class of their own."
        )
