"""Everything beside questions and graphs: API keys, devices, the ledger, traces, ratings, and the service's state."""

from __future__ import annotations

import datetime as dt
import math
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from client_sdk.protocol.chat import (
    MAX_PUBLIC_KEY_CHARS,
    MAX_REASON_CHARS,
    PUBLIC_KEY_FORM,
    Capsule,
    Names,
    PersonSign,
    SuiteName,
    Wire,
)

KeyRole = Literal["user", "admin"]


class SignIn(Wire):
    """GET /sign-in: the OpenID provider at which persons sign in, and what a client needs to ask it for a token.

    The service takes the provider's ID token as a bearer token, in the place of an API key.
    """

    issuer: str
    client_id: str
    scopes: str = Field(description="scopes to ask for, with spaces between them")


class NewKey(Wire):
    """POST /admin/keys: a key for `tenant` that may ask the graphs in `grants`, and trace those in `inspect:GRAPH`.

    `GRAPH#ROLE` grants the part of a graph that its policy shows to that role.
    """

    tenant: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    grants: list[Annotated[str, StringConstraints(min_length=1, max_length=127)]]
    role: KeyRole = "user"
    days: float | None = Field(
        default=None, gt=0, le=3650, strict=True, description="days until it expires; null: never"
    )
    label: Annotated[str, StringConstraints(max_length=80)] = Field(
        default="", description="what to call it, for those who look after keys"
    )


class KeyCreated(Wire):
    """The reply to NewKey. `key` is the secret, shown only now; the service keeps only its hash."""

    key_id: str
    key: str = Field(repr=False)
    tenant: str
    grants: list[str]
    role: KeyRole


class KeyListed(Wire):
    """One API key as GET /admin/keys lists it, without its secret."""

    key_id: str
    role: KeyRole
    grants: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    label: str = ""
    last_used_at: datetime | None = Field(default=None, description="kept to ten minutes; null: never used")


class KeyList(Wire):
    """GET /admin/keys: keys, oldest first, including revoked ones. `own` is the id of the caller's key."""

    tenant: str
    own: str
    keys: list[KeyListed]


class NewDevice(Wire):
    """POST /devices: a public key to register. The service keeps only its fingerprint."""

    public_key: str = Field(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)


class Device(Wire):
    """One device of an API key. A revoked one stays in the list, and never gets a capsule again."""

    fingerprint: str = Field(description="SHA-256 of the public key's bytes, hex")
    suite: SuiteName
    registered_at: datetime
    revoked_at: datetime | None = None


class DeviceList(Wire):
    """GET /devices, oldest first. `required`: capsules go to registered devices only, which an admin registers."""

    key_id: str
    required: bool
    devices: list[Device]


class LedgerRow(Wire):
    """One request to the model: the stage that sent it, its size in bytes, its SHA-256, and the guard's verdict.

    `payload` is what the model saw, in pseudonyms; it is null if it is kept no longer or the caller may not see it.
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
    key_id: str = Field(default="", description="the API key that asked")
    asker: str = Field(default="", description="what that key is called, where it has a label")
    graph: str | None = Field(default=None, description="null once the conversation is no longer kept")


class LedgerPage(Wire):
    """GET /ledger: the caller's own entries, newest first; for an admin, those of the whole tenant."""

    entries: list[LedgerRow]


class LedgerCheck(Wire):
    """GET /admin/ledger/check: the state of a check of the tenant's ledger, some thousand rows a call.

    `rows` and `wrong` count the rows of all calls and the faults in them. `findings`: the first hundred faults that
    this call found. `first` and `last` are the numbers of the rows so far, `key` is the public key that its
    checkpoints are signed with, in hex. Send `cursor` with the next call; it is null after the last row, and only then
    `is_whole` may be true.
    """

    rows: int
    first: int
    last: int
    checkpoints: int
    is_whole: bool
    wrong: int
    findings: list[str]
    remarks: list[str]
    key: str
    cursor: str | None = None


class TracedCall(Wire):
    """One request to the model and its reply.

    `prompt` is the request's body, `reply` the model's words, both in pseudonyms. They are null if they are kept no
    longer, or nothing was sent or came back. `outcome`: `used`, `unusable` (the reply broke its schema or its task's
    rules), `blocked` (the guard stopped it), `none` (nothing came back). `anonymity`: the number of entities of the
    graph that match what the prompt shows of a thing, the smallest if it shows several things; null if it shows none,
    or if there is no prompt.
    """

    step: str
    at: datetime
    outcome: Literal["used", "unusable", "blocked", "none"]
    prompt: str | None = None
    reply: str | None = None
    anonymity: int | None = None


class TraceContent(Wire):
    """The content of an opened trace: the calls in order, and the names of all their pseudonyms.

    `names_kept` is false if the conversation has expired or was never stored; the trace then has no names.
    """

    answer_id: str
    calls: list[TracedCall]
    names_kept: bool
    table: dict[str, Names]


class SealedTrace(Wire):
    """GET /trace/{id}: a TraceContent, sealed to the caller's key."""

    answer: str
    capsule: Capsule


MAX_GLASS_MINUTES = 240
MIN_GLASS_REASON_CHARS = 10


class BreakGlass(Wire):
    """POST /graphs/{name}/break-glass: lifts the caller's role for some minutes. The reason is recorded, encrypted."""

    reason: Annotated[
        str,
        StringConstraints(min_length=MIN_GLASS_REASON_CHARS, max_length=MAX_REASON_CHARS, strip_whitespace=True),
    ] = Field(repr=False, description="why; tell a case by its number, and nobody by name")
    minutes: int = Field(default=30, ge=1, le=MAX_GLASS_MINUTES, strict=True)
    person: PersonSign = ""


class GlassBroken(Wire):
    """The reply to BreakGlass: the graph is shown as a whole to this key until then."""

    graph: str
    until: datetime


class ReaderDay(Wire):
    """The names and facts that one key and person read on one day; `last_hour`: names new to them in this hour."""

    day: date
    key_id: str
    person: str
    names: int
    last_hour: int
    facts: int = 0


class ReaderDays(Wire):
    """GET /admin/graphs/{name}/readers: who read how many names, newest first."""

    graph: str
    days: list[ReaderDay]


class WhoRead(Wire):
    """POST /admin/graphs/{name}/access: asks who had the names of a thing restored.

    `name`: one of its names, or its id in the source. It is sent in the body, so that no log of a proxy keeps it.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)] = Field(repr=False)


class AccessThing(Wire):
    """A thing as the access record has it: `id` stands for it in every export."""

    id: str
    concept: str


ExportForm = Literal["json", "syslog", "otlp"]


class AccessLine(Wire):
    """One entry of the access record. `count`: names, or minutes of a break-glass; `things`: whose names they were."""

    id: str
    at: datetime
    key_id: str
    event: Literal["read", "read_lifted", "break_glass", "alarm"]
    answer: str
    count: int
    person: str
    reason: str = Field(repr=False)
    things: list[str]


class AccessList(Wire):
    """The reply to WhoRead: things of that name, and the newest entries about them; `left_out`: how many are older."""

    graph: str
    things: list[AccessThing]
    entries: list[AccessLine]
    left_out: int


RatingWord = Literal["right", "wrong"]
MAX_CORRECT = 50
MAX_CORRECT_CHARS = 200

_Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CORRECT_CHARS, strip_whitespace=True)]


class AnswerRating(Wire):
    """The rating of one answer of a conversation. Only the last rating of an answer counts.

    `correct`: names or values that would have been right, for an answer that is wrong; they stay in the service.
    """

    conversation: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    answer: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    rating: RatingWord
    correct: Annotated[list[_Name], Field(max_length=MAX_CORRECT)] | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _is_of_wrong(self) -> Self:
        if self.correct and self.rating == "right":
            raise ValueError("`correct` belongs to an answer that is wrong")
        return self


class AnswerRated(Wire):
    """The result of a rating.

    `learnt`: it left a case (the question's words, and the paths that answer it), which later questions of the same
    rater use. `held`: the case waits for the graph's owner to approve it, because it contradicts an answer that was
    sure.
    """

    answer: str
    rating: RatingWord
    learnt: bool
    held: bool = False


class CaseSample(Wire):
    """A sample answer of a case: a thing of the graph, the ends of the case's paths, and those of the paths before.

    All three are pseudonyms, whose names the list's capsule holds; those of ends stand for all names together.
    """

    thing: str
    now: str
    before: str = ""


class CaseListed(Wire):
    """A case: a question's words without names, and the relation paths that answer it, learnt from a rating.

    `key_id`: the API key that rated; `used`: the number of answers that followed the case; `asked`: the question's
    words; `before`: the paths of the answer that was rated wrong; `held`: it contradicts a sure answer; `raters`: the
    number of persons who gave the same wording the same rating; `samples`: up to three sample answers, if the list was
    asked for with a public key.
    """

    id: str
    key_id: str
    made_at: dt.datetime
    approved_at: dt.datetime | None
    used: int
    asked: str = ""
    before: list[str] = Field(default_factory=list)
    paths: list[str]
    held: bool = False
    raters: int = 1
    samples: list[CaseSample] = Field(default_factory=list)


class CaseReport(Wire):
    """Counts of what the cases of a graph changed.

    `leaned`: the number of answers that followed a case; `rated_right` and `rated_wrong`: how these answers were
    rated.
    """

    graph: str
    cases: int
    approved: int
    held: int = 0
    leaned: int
    rated_right: int
    rated_wrong: int


class CaseList(Wire):
    """The cases of a graph, oldest first. `capsule` holds the names of their samples, sealed to the caller's key."""

    report: CaseReport
    cases: list[CaseListed]
    capsule: Capsule | None = None


class CaseChoice(Wire):
    """Cases by their ids, or all cases of one key."""

    ids: Annotated[list[str], Field(max_length=10_000)] | None = None
    key_id: str | None = Field(default=None, max_length=64)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.ids is None) == (self.key_id is None):
            raise ValueError("give `ids` or `key_id`")
        return self


class CasesChanged(Wire):
    """The number of cases that were approved or deleted."""

    cases: int


EndpointState = Literal["unprobed", "ready", "resting", "unreachable"]


class EndpointStatus(Wire):
    """One model endpoint as its last probe found it; the one with `position` 1 is tried first.

    `resting`: it failed repeatedly, and is not tried for some seconds. `problem` says why it can't be used.
    """

    position: int
    state: EndpointState
    model: str = Field(default="", description="shown to the operator alone")
    dialect: str = Field(default="", description="json_schema, structured_outputs, json_object or prompt")
    enforces_schema: bool = False
    streams: bool = False
    reports_usage: bool = False
    open_requests: int = 0
    problem: str = ""
    puzzles: int | None = Field(default=None, description="of five constant questions, those that it answered rightly")
    form: str = Field(
        default="", description="`tree`: it may write answers of its own; `choice`: it chooses from a list of readings"
    )
    seconds: float = Field(default=0.0, description="that such a question took")
    tokens: int = Field(default=0, description="of such a question, by the endpoint's own count; 0 where it has none")
    tokens_per_second: float = Field(default=0.0, description="of its replies")
    cost: float | None = Field(default=None, description="of such a question, in the currency of the settings")


class EndpointList(Wire):
    """GET /admin/endpoints and POST /admin/endpoints/probe: the endpoints in the order in which they are tried."""

    endpoints: list[EndpointStatus]


class TokenBudget(Wire):
    """GET /admin/budget: tokens that the tenant has used on `day` (UTC), including those reserved for open calls.

    `limit` is the most tokens a day, `per_question` the most for one question; null means no limit, or that the
    reasoner costs no tokens.
    """

    day: date
    used: int
    limit: int | None
    renews_at: datetime
    per_question: int | None
    revealed: int = Field(default=0, description="facts that the tenant's prompts have shown an endpoint on `day`")
    reveal_limit: int | None = Field(default=None, description="how many they may; null: no limit")


class Readiness(Wire):
    """GET /readyz: what is missing, in sentences.

    `ready` is false, and the status 503, while no question can be asked. A service without a graph is ready, because
    graphs are loaded through it, but `missing` says so.
    """

    ready: bool
    missing: list[str]
    reasoner: str = ""
    endpoints: list[EndpointStatus] = Field(default_factory=list)


def seconds_of(text: str | None) -> float | None:
    """Returns the seconds that a header asks to wait, or None if it is not a number from 0 up."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def retry_after_s(text: str | None, now: datetime) -> float | None:
    """Returns the seconds from `now` that a Retry-After header asks to wait; it is a number or an HTTP date.

    None if there is no such header, or it can't be read.
    """
    seconds = seconds_of(text)
    if seconds is not None or text is None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds())


class GraphVersion(Wire):
    """One version of a graph that is live or kept.

    `number` counts from 1, the oldest, so that it changes when an older one is deleted; `version` is its id. `bytes`
    is its size on disk, with its names in the database.
    """

    number: int
    version: str
    loaded_at: datetime
    triples: int
    entities: int
    relations: int
    bytes: int
    live: bool


class GraphVersions(Wire):
    """GET /admin/graphs/{name}/versions: the live version of a graph and those that are kept, the oldest first."""

    graph: str
    versions: list[GraphVersion]
