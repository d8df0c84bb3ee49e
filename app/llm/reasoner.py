"""The Reasoner: the things a model is asked, as typed tasks. Field names here are the public contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic.json_schema import SkipJsonSchema

from app.privacy.safe_text import Egress, SafeText

TaskName = Literal["structure", "choose_relations", "name_concepts", "answer", "step"]
Size = Literal["1", "2-5", "6-20", "more", ""]
"""A bucket; empty where a prompt does not tell it."""


class TaskModel(BaseModel):
    """Strict, so that the generated JSON schema stays inside what every endpoint enforces."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


# --- what tasks are made of -------------------------------------------------------------------------------


class Turn(TaskModel):
    role: Literal["user", "assistant"]
    text: str


class Thing(TaskModel):
    """A pseudonym of the question or of an earlier answer, with its concept."""

    name: str
    concept: str
    size: Size = ""


class PathTriple(TaskModel):
    """One triple of the concept path; head and tail are a pseudonym or a concept."""

    head: str
    relation: str
    tail: str


class MaskedRelation(TaskModel):
    """What the owner of the graph says of a relation whose own words are withheld: `Rk3m2a` stands for them."""

    relation: str
    means: str


class Candidate(TaskModel):
    """One way on: from `start`, along `path`, to things of kind `concept`.

    An element of `path` is a relation's words; `^` before it: walked backwards; `a|b`: through a mediator.
    """

    number: int
    start: str
    path: list[str]
    concept: str


class Evidence(TaskModel):
    """One abstracted triple: `start` along `path` gives `end`, one thing or one set.

    `start_concept` is left out where a thing or another fact has told it.
    """

    start: str
    start_concept: str = ""
    path: list[str]
    end: str
    end_concept: str
    size: Size = ""


class Cluster(TaskModel):
    """Things that hang on the same head by the same relation, described by relations that leave them."""

    number: int
    relations: list[str]


class NamedCluster(TaskModel):
    number: int
    concepts: list[str] = Field(description="one concept, or several where the relations fit several")


# --- the five tasks: inputs and replies -------------------------------------------------------------------


class StructureInput(TaskModel):
    question: str
    dialogue: list[Turn]
    things: list[Thing]


class StructureReply(TaskModel):
    thought: str
    path: list[PathTriple]
    guess: str = Field(description="an imagined answer; it is dropped when it is parsed")


class ChooseInput(TaskModel):
    question: str
    path: list[PathTriple]
    candidates: list[Candidate]
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    width: int = Field(description="how many choices at most")


class ChooseReply(TaskModel):
    choices: list[int] = Field(description="numbers of candidates, best first")


class NameInput(TaskModel):
    question: str
    clusters: list[Cluster]
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")


class NameReply(TaskModel):
    concepts: list[NamedCluster]


class AnswerInput(TaskModel):
    question: str
    dialogue: list[Turn]
    path: list[PathTriple]
    things: list[Thing]
    evidence: list[Evidence]
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    last_round: bool


class AnswerReply(TaskModel):
    """`sufficient` is the paper's flag. With it, `answer` holds expressions and `text` one sentence or two.

    In `text`, `{1}` stands for the first expression of `answer`, `{2}` for the second.
    """

    thought: str
    sufficient: bool
    answer: list[str]
    text: str


class StepInput(TaskModel):
    """What may change from round to round stands last, so that the endpoint's prefix cache keeps the rest."""

    question: str
    dialogue: list[Turn] = []
    things: list[Thing]
    evidence: list[Evidence] = Field(description="each round's facts behind those of the rounds before it")
    path: list[PathTriple] = Field(default=[], description="the concept path, where an earlier reply gave one")
    candidates: list[Candidate] = Field(description="the ways on that lie nearest to the question")
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    further: int = Field(default=0, description="how many ways on lie further off; they come next when none fits")
    round: int = 1
    last_round: bool = Field(default=False, description="nothing can be followed any more")
    width: int = Field(default=3, description="how many choices at most")


class StepReply(TaskModel):
    """`action` follow: `choices`; answer: `answer` and `text` as in AnswerReply; else all are empty.

    In `answer`, `way(2)` stands for what candidate 2 leads to: so a reply chooses and answers at once. No choice and
    no answer while `further` ways are left: they are shown next. `thought` and `path` are not asked for; a path that
    is given is shown again.
    """

    # Replies with more than was asked for are no failure: small models like to explain themselves.
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    thought: SkipJsonSchema[str] = ""
    path: SkipJsonSchema[list[PathTriple]] = []
    action: Literal["follow", "answer", "not_in_graph"]
    choices: list[int]
    answer: list[str]
    text: str

    @field_validator("thought", "path", mode="wrap")
    @classmethod
    def _is_no_reason_to_refuse(cls, given: object, parse: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """What was not asked for is taken where it has a form that we know, else left."""
        try:
            return parse(given)
        except ValidationError:
            return "" if info.field_name == "thought" else []


# --- the interface ----------------------------------------------------------------------------------------

ReplyT = TypeVar("ReplyT", bound=TaskModel)


@dataclass(frozen=True, slots=True)
class TaskKind(Generic[ReplyT]):
    """What is the same in every task of one kind. `instructions` are static words of ours, from a `prompts.py`."""

    name: TaskName
    instructions: SafeText
    reply_model: type[ReplyT]
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Manner:
    """How a task is asked, beside what it asks.

    `tenant` (an id) decides whose turn it is and is never sent. `complaints` are sentences of ours about the reply
    before this one: which field broke which rule. `endpoint` is the position of the first endpoint to try.
    `anonymity` is for the ledger alone: how many entities fit what the input shows of a thing; None: it shows none.
    """

    tenant: str = ""
    complaints: tuple[str, ...] = ()
    endpoint: int = 0
    anonymity: int | None = None


@dataclass(frozen=True, slots=True)
class Task(Generic[ReplyT]):
    """One thing a model is asked. `in_house` is what a reasoner reads in place of `input` that sends nothing."""

    kind: TaskKind[ReplyT]
    input: TaskModel
    manner: Manner = Manner()
    in_house: TaskModel | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one call took; `by_endpoint` is true when the endpoint counted the tokens itself.

    `retries` are requests that failed before it; `cost` is in the currency of the settings, None without a price.
    `odd_counts` is 1 where the endpoint's own count could not be right, so that it was counted here.
    """

    prompt: int = 0
    completion: int = 0
    by_endpoint: bool = False
    retries: int = 0
    cost: float | None = None
    odd_counts: int = 0


@dataclass(frozen=True, slots=True)
class Reply(Generic[ReplyT]):
    """A parsed reply. It is data: nothing in it is trusted, evaluated or restored unchecked.

    `words` is the reply as the model gave it, where that is not `value` itself.
    """

    value: ReplyT
    tokens: Tokens = field(default_factory=Tokens)
    words: str | None = field(default=None, repr=False)


class Reasoner(Protocol):
    """A model, or what stands in for one. Wiring hands out none that is not behind the guard."""

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        """The segments that every egress of `kind` shares: our own words, to be registered before any question."""
        ...

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        """The bytes that asking `task` would send. Pure: nothing is sent."""
        ...

    @property
    def longest_reply(self) -> int:
        """Tokens of the longest reply; 0 where asking costs nothing."""
        ...

    def tokens_in(self, egress: Egress) -> int:
        """Tokens of what a model reads of `egress`, counted here; 0 where asking costs nothing."""
        ...

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        """Sends exactly `egress` and parses the reply. Raises ReasonerError, and never guesses."""
        ...


class AsksTasks(Protocol):
    """What strategies are given: a reasoner whose every call has passed the guard (see guarded.py)."""

    def fits(self, *tasks: Task[Any]) -> bool:
        """Whether asking all of `tasks` stays within what the question may still take, longest replies included."""
        ...

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Raises ReasonerError, and BudgetUsedUp where the request might take more than is left: it is not sent."""
        ...


class ReasonerError(Exception):
    """The reasoner could not give a usable reply. Text: ids, counts, codes; never the reply's words.

    `again` is the task in another manner, where asking so may help: a request like any other, to be cleared and
    recorded. `tokens` is what the failed call took, where there was a reply; `words` is that reply, for the ledger
    alone. `status` is the endpoint's, where it gave one.
    """

    again: Task[Any] | None = None
    tokens: Tokens | None = None
    words: str | None = None
    status: int | None = None


class ReasonerUnavailable(ReasonerError):
    """Nothing answered, or not in time; asking again later may help."""


class ReasonerRefused(ReasonerError):
    """The endpoint refused the request (key, model or quota); asking again will not help."""


class ReplyUnusable(ReasonerError):
    """The reply is empty, cut off, or does not fit the schema."""
