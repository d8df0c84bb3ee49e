"""The seven tasks of a reasoner and their replies, as pydantic models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field
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
    """One abstracted triple: `start` along `path` reaches `end`, one thing or one set.

    `start_concept` is left out if a thing or another fact shows it.
    """

    start: str
    start_concept: str = ""
    path: list[str]
    end: str
    end_concept: str
    size: Size = ""


class Cluster(TaskModel):
    """Things that one head reaches by one relation, described by the relations that leave them."""

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
    """`sufficient` is the paper's flag; if it is set, `answer` holds expressions, and the service
    writes the sentence.
    """

    thought: str
    sufficient: bool
    answer: list[str]


class SchemaStep(NamedTuple):
    """A step from things of `kind` to things of `concept`, or to values of the type `value`.

    `label` is as in expressions, `shown` has the descriptions of masked relations. It stays inside the service.
    """

    kind: str
    label: str
    shown: str
    concept: str
    value: str = ""


class StepInput(TaskModel):
    """The input of a step. Fields that change from round to round come last, so that the endpoint's prefix cache keeps
    the rest.
    """

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
    typed: SkipJsonSchema[str] = Field(
        default="", exclude=True, description="the question with words as typed, where no model is asked"
    )
    own_words: SkipJsonSchema[dict[str, str]] = Field(
        default={}, exclude=True, description="the names of masked relations, where no model is asked"
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
    """The reply to a step: `choices` if `action` is "follow", expressions in `answer` if it is "answer", else both are
    empty.

    In `answer`, `way(2)` stands for what candidate 2 leads to, so a reply can choose and answer at once. "follow"
    without choices asks for the `further` candidates. `path` is set by the reasoner inside the service only. The
    service writes the sentence.
    """

    path: list[PathTriple] = []
    action: Literal["follow", "answer", "not_in_graph"]
    choices: list[int] = []
    answer: list[str] = []


class ReplyInput(TaskModel):
    """The input of a dialogue reply. `question` is the last turn, which need not be a question; `evidence` is all that
    the reply may state.
    """

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
    """The facts that the reply states, as positions in the evidence counted from 1, in the order of telling.

    `manner`: plainly, side by side, as a recommendation, or followed by a question. The service writes the text.
    """

    facts: list[int]
    manner: Manner = "answer"


class WordedSentence(TaskModel):
    """A sentence in pseudonyms, and the positions (from 1) in the evidence of the facts that it states."""

    text: str
    facts: list[int]


class WordedReply(TaskModel):
    """The reply in the model's own words, if the owner allows that; it may state only what the evidence holds."""

    sentences: list[WordedSentence]


ReplyT = TypeVar("ReplyT", bound=TaskModel)


ReplyForm = Literal["tree", "choice"]
"""The form of an answer: a tree of set operations over a closed list of words, or one entry of a numbered list."""


@dataclass(frozen=True, slots=True)
class TaskKind(Generic[ReplyT]):
    """The constant part of all tasks of one kind.

    `instructions`: fixed text from a `prompts.py`; `brief`: that for models that can only choose from a list, None if
    it is the same. `max_tokens`: limit of a reply.
    """

    name: TaskName
    instructions: SafeText
    reply_model: type[ReplyT]
    temperature: float = 0.0
    brief: SafeText | None = None
    max_tokens: int = 512

    def words_for(self, form: ReplyForm) -> SafeText:
        """Returns the instructions for models that reply in `form`."""
        return self.brief if form == "choice" and self.brief is not None else self.instructions


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of one call, beside the task itself.

    `tenant` (an id) decides whose turn it is, and is never sent. `complaints`: fixed sentences on what was wrong with
    the previous reply. `endpoint`: the position of the first endpoint to try. `anonymity`, for the ledger only: the
    number of entities that match what the input shows of a thing; None if it shows none.
    """

    tenant: str = ""
    complaints: tuple[str, ...] = ()
    endpoint: int = 0
    anonymity: int | None = None


@dataclass(frozen=True, slots=True)
class Task(Generic[ReplyT]):
    """One question to a reasoner. `in_house` is read instead of `input` by a reasoner that sends nothing."""

    kind: TaskKind[ReplyT]
    input: TaskModel
    manner: CallOptions = CallOptions()
    in_house: TaskModel | None = field(default=None, repr=False)
