"""The wire types of both sides: POST /chat, what a capsule holds, errors, the ledger and administration."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

StrategyName = Literal["sets", "arog"]
Role = Literal["user", "assistant"]
ItemKind = Literal["entity", "set", "value", "number", "truth", "table"]

StageName = Literal["linking", "finding", "round", "concluding", "sealing"]
KeyRole = Literal["user", "admin"]
EndpointState = Literal["unprobed", "ready", "resting", "unreachable"]
JobState = Literal["queued", "running", "done", "failed"]

MAX_MESSAGES = 100
MAX_MESSAGE_CHARS = 8_000


class Wire(BaseModel):
    """Strict about unknown fields, and silent about input in its errors: input may hold names."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Message(Wire):
    """One turn. User turns are plain text; assistant turns travel as the service sent them, in pseudonyms."""

    role: Role
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS)]


class ChatOptions(Wire):
    """Limits of one question: W relations a round, D rounds, K relations for a concept, names to restore."""

    width: int = Field(default=3, ge=1, le=20, strict=True)
    depth: int = Field(default=3, ge=1, le=5, strict=True)
    relations_per_concept: int = Field(default=5, ge=1, le=20, strict=True)
    names: int = Field(default=50, ge=1, le=10_000, strict=True, description="names restored of one set")


class ChatRequest(Wire):
    """Ask `graph` the last message, which must be a user's. Without `public_key` there is no capsule."""

    graph: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    conversation: str | None = Field(default=None, max_length=64)
    strategy: StrategyName = "sets"
    options: ChatOptions = ChatOptions()
    public_key: str | None = Field(default=None, max_length=200, description="X25519, 32 bytes, base64url")
    stream: bool = Field(default=False, strict=True, description="server-sent events instead of one JSON reply")


class Item(Wire):
    """One part of the answer, in order. `size` is the number of members of a set, else 1."""

    pseudonym: str
    kind: ItemKind
    concept: str
    size: int = 1
    ordered: bool = False


class Fact(Wire):
    """One abstracted triple of the evidence: `head (concept), relation path, tail (concept)`.

    `cited` facts lead to the answer; the others were found on the way.
    """

    head: str
    head_concept: str
    path: list[str]
    tail: str
    tail_concept: str
    size: str = Field(default="1", description="bucket of the tail's size: 1, 2-5, 6-20, more")
    cited: bool = False


class Ambiguity(Wire):
    """A mention that fits several entities: the pseudonym that stands in the text, and what it may mean.

    `hints`: a fact for each choice by which they can be told apart, where there is a relation in which all differ.
    """

    pseudonym: str
    choices: list[str]
    hints: list[Fact] = Field(default_factory=list)


class Reading(Wire):
    """A name that the question spells otherwise: characters [start, end) of its last message were read as this."""

    pseudonym: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Usage(Wire):
    """What the question cost. Tokens are the endpoint's own count when `tokens_counted_by` says so.

    `calls` are replies, usable or not; `retries` what was sent again, and repairs. `cost` is null without prices.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_counted_by: Literal["endpoint", "wordpiece"] = "wordpiece"
    rounds: int = 0
    retries: int = 0
    over_budget: bool = Field(default=False, description="the question ended by its budget of tokens, unanswered")
    cost: float | None = Field(default=None, description="money, in `currency`")
    currency: str = ""
    milliseconds: dict[str, float] = Field(default_factory=dict, description="per stage")


class Capsule(Wire):
    """A sealed table pseudonym -> name. `sealed` is base64url of HPKE output; `suite` names the algorithms."""

    suite: Literal["DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM"] = (
        "DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM"
    )
    sealed: str


class Names(Wire):
    """What one pseudonym stands for: at most `options.names` names, and how many there are in all."""

    names: list[str]
    total: int


class CapsuleContent(Wire):
    """What a capsule holds when it is opened."""

    answer_id: str
    table: dict[str, Names]


class ChatAnswer(Wire):
    """The answer in pseudonyms. `answered` is false when the graph does not hold it, and `message` says so."""

    id: str
    conversation: str
    graph: str
    message: Message
    answered: bool
    entities: list[Item]
    evidence: list[Fact]
    grounded: bool
    ambiguous: list[Ambiguity]
    inexact: list[Reading] = Field(default_factory=list, description="names that are spelt otherwise in the graph")
    notes: list[str] = Field(default_factory=list, description="what was cut or could not be used, in words")
    usage: Usage
    capsule: Capsule | None = None


class ErrorBody(Wire):
    """Every error of the service: a code to branch on, a sentence, what to do, and an id to look up."""

    code: str
    message: str
    hint: str
    id: str


class StageEvent(Wire):
    """`stage`: what begins now; `number` says which round."""

    name: str = Field(description=", ".join(get_args(StageName)))
    number: int | None = None


class CapsuleEvent(Wire):
    """`capsule`: comes before the first text, so that names can be restored as the text arrives."""

    id: str
    conversation: str
    graph: str
    capsule: Capsule | None = None


class TextEvent(Wire):
    """`text`: the next piece of the grounded answer's text, in pseudonyms; a piece may end anywhere."""

    text: str


class EvidenceEvent(Wire):
    """`evidence`: the facts of the answer."""

    evidence: list[Fact]


class ErrorEvent(ErrorBody):
    """`error`: what an unstreamed reply would have held, and the status that it would have had. It ends a stream."""

    status: int


class LedgerRow(Wire):
    """One request to the model: what stage sent it, its bytes and SHA-256, and what the guard said.

    `payload` is what the model saw, in pseudonyms; it is null once its retention has passed.
    """

    id: str
    at: datetime
    answer: str
    conversation: str
    step: str
    size: int = Field(description="bytes of the request's body")
    digest: str = Field(description="SHA-256 of the request's body, hex")
    verdict: str = Field(description="`clear` or `blocked`")
    payload: str | None = None


class LedgerPage(Wire):
    """GET /ledger: the caller's own entries, newest first."""

    entries: list[LedgerRow]


class TracedCall(Wire):
    """One request to the model and what came back. `prompt` is its body and `reply` the model's own words, both in
    pseudonyms; null once their retention has passed, and where nothing was sent or came back.

    `outcome`: `used`, `unusable` (the reply broke its schema or its task's rules), `blocked` (the guard stopped it),
    `none` (nothing came back).
    """

    step: str
    at: datetime
    outcome: Literal["used", "unusable", "blocked", "none"]
    prompt: str | None = None
    reply: str | None = None


class TraceContent(Wire):
    """What a trace holds when it is opened: the calls in their order, and the names of all their pseudonyms.

    `names_kept` is false where the conversation has expired, or was never kept: then there is no name.
    """

    answer_id: str
    calls: list[TracedCall]
    names_kept: bool
    table: dict[str, Names]


class SealedTrace(Wire):
    """GET /trace/{id}: a TraceContent, sealed to the caller's key."""

    answer: str
    capsule: Capsule


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

    `policy` is the policy that was proposed and used, as TOML, when the load came without one.
    """

    id: str
    state: JobState
    step: str = ""
    percent: float = Field(default=0.0, ge=0, le=100)
    error: ErrorBody | None = None
    graph: GraphSummary | None = None
    policy: str | None = None
    notes: list[str] = Field(default_factory=list)


class RefineConcepts(Wire):
    """POST /admin/graphs/{name}/concepts/refine: concepts that at least so many entities share are named anew."""

    least: int = Field(default=20, ge=2)


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


class NewKey(Wire):
    """POST /admin/keys: a key for `tenant` that may ask the graphs in `grants`, and trace those in `inspect:GRAPH`."""

    tenant: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    grants: list[Annotated[str, StringConstraints(min_length=1, max_length=71)]]
    role: KeyRole = "user"
    days: float | None = Field(
        default=None, gt=0, le=3650, strict=True, description="days until it expires; null: never"
    )


class GraphNames(Wire):
    """GET /graphs: the names of the graphs that the caller may ask."""

    graphs: list[str]


class EndpointStatus(Wire):
    """One model endpoint as its last probe found it; the one of `position` 1 is asked first.

    `resting`: it failed again and again, and is not asked for some seconds. `problem` says why it can't be asked.
    """

    position: int
    state: EndpointState
    model: str = Field(default="", description="told to the operator alone")
    dialect: str = Field(default="", description="json_schema, structured_outputs, json_object or prompt")
    enforces_schema: bool = False
    streams: bool = False
    reports_usage: bool = False
    open_requests: int = 0
    problem: str = ""


class EndpointList(Wire):
    """GET /admin/endpoints, POST /admin/endpoints/probe."""

    endpoints: list[EndpointStatus]


class TokenBudget(Wire):
    """GET /admin/budget: tokens that the tenant has taken on `day` (UTC), those reserved for open calls included.

    `limit` is what it may take a day, `per_question` what one question may; null: no limit, or nobody is paid.
    """

    day: date
    used: int
    limit: int | None
    renews_at: datetime
    per_question: int | None


class Readiness(Wire):
    """GET /readyz: what is missing, in sentences; `ready` is false (and the status 503) while nothing can be asked.

    A service without a graph is ready, since graphs are loaded through it, but says so in `missing`.
    """

    ready: bool
    missing: list[str]
    reasoner: str = ""
    endpoints: list[EndpointStatus] = Field(default_factory=list)


class KeyCreated(Wire):
    """The reply to NewKey. `key` is shown this once; the service keeps its hash alone."""

    key_id: str
    key: str = Field(repr=False)
    tenant: str
    grants: list[str]
    role: KeyRole


def capsule_context(answer_id: str, conversation: str, graph: str) -> bytes:
    """HPKE `info`: binds a capsule to its answer, so that it opens nowhere else."""
    return "\n".join(("arog capsule 1", answer_id, conversation, graph)).encode()


def trace_context(answer_id: str) -> bytes:
    """HPKE `info` of a trace."""
    return "\n".join(("arog trace 1", answer_id)).encode()
