"""The tasks of a reasoner and their replies: seven of them, as pydantic models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)
from pydantic.json_schema import SkipJsonSchema

from app.llm.in_house import CasePath, HeldMeaning, VotedPaths
from app.privacy.safe_text import SafeText

TaskName = Literal["structure", "choose_relations", "name_concepts", "answer", "step", "reply", "worded_reply"]


Size = Literal["1", "2-5", "6-20", "more", ""]


class TaskModel(BaseModel):
    """Strict, so that the generated JSON schema stays inside what every endpoint enforces."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


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
    """The owner's description of a relation whose own words are withheld: `Rk3m2a` stands for them."""

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
    relations: list[str] = Field(default=[], description="further relations that functions may name, nearest first")
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    last_round: bool


class AnswerReply(TaskModel):
    """`sufficient` is the paper's flag. With it, `answer` holds expressions; the service writes the sentence."""

    thought: str
    sufficient: bool
    answer: list[str]


class SchemaStep(NamedTuple):
    """A step that things of `kind` leave by, to things of `concept` or values of the kind `value`.

    `label` is as expressions write it, `shown` with the descriptions of masked relations. It stays in the house.
    """

    kind: str
    label: str
    shown: str
    concept: str
    value: str = ""


class StepInput(TaskModel):
    """Fields that may change from round to round stand last, so that the endpoint's prefix cache keeps the rest."""

    question: str
    dialogue: list[Turn] = []
    things: list[Thing]
    evidence: list[Evidence] = Field(description="each round's facts behind those of the rounds before it")
    path: list[PathTriple] = Field(default=[], description="the concept path, where an earlier reply gave one")
    candidates: list[Candidate] = Field(description="the ways on that lie nearest to the question")
    relations: list[str] = Field(default=[], description="further relations that functions may name, nearest first")
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    hint: str = Field(default="", description="an expression that may be the meaning of the question; it may be wrong")
    further: int = Field(default=0, description="how many ways on lie further off; they come next when none fits")
    round: int = 1
    last_round: bool = Field(default=False, description="nothing can be followed any more")
    width: int = Field(default=3, description="how many choices at most")
    steps: SkipJsonSchema[tuple[SchemaStep, ...]] = Field(
        default=(), exclude=True, description="the schema, where it is small enough to be looked through; else empty"
    )
    kinds: SkipJsonSchema[tuple[Thing, ...]] = Field(default=(), exclude=True)
    own: SkipJsonSchema[dict[str, tuple[str, ...]]] = Field(
        default={}, exclude=True, description="the steps that leave what the question names"
    )
    wordings: SkipJsonSchema[dict[str, tuple[str, ...]]] = Field(
        default={}, exclude=True, description="further words of relations, by label, and by ^ and label backwards"
    )
    kind_words: SkipJsonSchema[dict[str, tuple[str, ...]]] = Field(
        default={}, exclude=True, description="further words of kinds of things"
    )
    phrases: SkipJsonSchema[tuple[str, ...]] = Field(
        default=(), exclude=True, description="each candidate in plain words, in their order"
    )
    nearest: SkipJsonSchema[tuple[int, ...]] = Field(
        default=(), exclude=True, description="numbers of candidates, nearest first; empty: in their order"
    )
    voted: SkipJsonSchema[VotedPaths | None] = Field(default=None, exclude=True)
    meant: SkipJsonSchema[HeldMeaning | None] = Field(default=None, exclude=True)
    cases: SkipJsonSchema[tuple[CasePath, ...]] = Field(default=(), exclude=True)


class StepReply(TaskModel):
    """`action` follow: `choices`; answer: `answer`, expressions; else all are empty.

    In `answer`, `way(2)` stands for what candidate 2 leads to: so a reply chooses and answers at once. No choice and
    no answer while `further` ways are left: they are shown next. `path` is the reasoner's in the service alone; one
    that is given is shown again. The service writes the sentence.
    """

    path: list[PathTriple] = []
    action: Literal["follow", "answer", "not_in_graph"]
    choices: list[int] = []
    answer: list[str] = []


class ReplyInput(TaskModel):
    """`question` is the last turn, which need not ask. `evidence` is all that the reply may state."""

    question: str
    dialogue: list[Turn] = []
    things: list[Thing]
    evidence: list[Evidence]
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    ranked: SkipJsonSchema[tuple[int, ...]] = Field(
        default=(), exclude=True, description="places in the evidence, those that matter most to the turn first"
    )
    describes: SkipJsonSchema[bool] = Field(
        default=False, exclude=True, description="the turn wants to hear about the things, and asks nothing particular"
    )


Manner = Literal["answer", "compare", "recommend", "ask_on"]


class DialogueReply(TaskModel):
    """The facts that the reply tells, by their place in the evidence from 1, in the order in which they are told; and
    how: plainly, side by side, as something to look at, or with a question behind them. The service writes it."""

    facts: list[int]
    manner: Manner = "answer"


class WordedSentence(TaskModel):
    """A sentence in pseudonyms, and the places from 1 in the evidence of the facts that it states."""

    text: str
    facts: list[int]


class WordedReply(TaskModel):
    """The reply in the model's own words, where the owner allows that. None states what the evidence does not hold."""

    sentences: list[WordedSentence]


ReplyT = TypeVar("ReplyT", bound=TaskModel)


ReplyForm = Literal["tree", "choice"]
"""The form of an answer: a tree of set operations over a closed list of words, or one entry of a numbered list."""


@dataclass(frozen=True, slots=True)
class TaskKind(Generic[ReplyT]):
    """The constant part of all tasks of one kind. `instructions` are static words of ours, from a `prompts.py`.

    `brief`: those for models that choose from a list alone; None: they get the same. `max_tokens`: of a reply.
    """

    name: TaskName
    instructions: SafeText
    reply_model: type[ReplyT]
    temperature: float = 0.0
    brief: SafeText | None = None
    max_tokens: int = 512

    def words_for(self, form: ReplyForm) -> SafeText:
        """The instructions for models that reply in `form`."""
        return self.brief if form == "choice" and self.brief is not None else self.instructions


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of one call, beside the task itself.

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
    manner: CallOptions = CallOptions()
    in_house: TaskModel | None = field(default=None, repr=False)
