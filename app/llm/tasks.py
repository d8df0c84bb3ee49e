"""Defines the eight tasks of a reasoner and their replies, as pydantic models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from app.llm.in_house import CasePath, HeldMeaning, VotedPaths
from app.privacy.safe_text import SafeText

TaskName = Literal[
    "structure", "choose_relations", "name_concepts", "answer", "step", "reply", "worded_reply", "demands"
]


Size = Literal["1", "2-5", "6-20", "more", ""]


class TaskModel(BaseModel):
    """Base of all inputs and replies of tasks; unknown fields are refused, and errors do not quote input."""

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
    """One triple of a question's concept path; head and tail are each a pseudonym or a concept.

    A concept path leads from what is known to what is asked: (Eq7f2k, "works at", clinic), (clinic, "located in",
    city).
    """

    head: str
    relation: str
    tail: str


class MaskedRelation(TaskModel):
    """A relation whose label is withheld: `relation` is the word that stands for it (`Rk3m2a`), `means` the owner's
    description of it."""

    relation: str
    means: str


class Candidate(TaskModel):
    """A numbered path that can be followed: from the pseudonym `start`, along `path`, to things of kind `concept`.

    Each element of `path` is a relation's label; with `^` before it, it is walked backwards; `a|b` passes a nameless
    node.
    """

    number: int
    start: str
    path: list[str]
    concept: str


class Evidence(TaskModel):
    """One fact: from the pseudonym `start`, along `path`, one reaches `end`, which is one thing, value or set.

    `start_concept` is left out if a thing or another fact shows it.
    """

    start: str
    start_concept: str = ""
    path: list[str]
    end: str
    end_concept: str
    size: Size = ""


class Cluster(TaskModel):
    """A numbered group of things that one path leads to, such as all patients of one doctor.

    `relations`: some of the relations that these things have, from which a model tells what kind of things they are.
    """

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
    """The reply to `answer`: `sufficient` is true if the evidence holds the answer.

    Then `answer` holds expressions, from whose results the service writes the sentence.
    """

    thought: str
    sufficient: bool
    answer: list[str]


class SchemaStep(NamedTuple):
    """A step of the schema: from things of `kind` to things of `concept`, or to values of the type `value`.

    `label`: the step as expressions name it. `shown`: the same with the owner's descriptions of masked relations. It
    stays inside the service. `is_one`: the step leads from each thing to one other at most, so that nothing can be
    counted by it. `is_sort`: all things have the step, and it leads to a few ends, such as "yes" and "no". `twin`: the
    label of another step that leads from all things with this one to the same too, and from further things.
    """

    kind: str
    label: str
    shown: str
    concept: str
    value: str = ""
    is_one: bool = False
    is_sort: bool = False
    twin: str = ""


LEADS_TO = ": "
"""Stands between a relation and what it leads to, in a line of `StepInput.graph`."""


class PublicTerm(TaskModel):
    """A term of a public graph: the pseudonym `name` stands for the words `means`; `kind`: its kind, if it is shown.

    Only such an entry may show a term of a public graph; no word of a text passes because a public graph has it.
    """

    name: str
    means: str
    kind: str = ""


class StepInput(TaskModel):
    """The input of a step, one round of a question.

    Fields that change from round to round come last, so that the endpoint's prefix cache keeps the rest.
    """

    graph: dict[str, list[str]] = Field(
        default={},
        description="the schema, or the part near the question: the relations of each kind, and what they lead to",
    )
    public_terms: list[PublicTerm] = Field(
        default=[], description="public things and values near the question, by name, which an answer may use"
    )
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
    row_steps: SkipJsonSchema[tuple[SchemaStep, ...]] = Field(
        default=(), exclude=True, description="the schema with nameless nodes as kinds; empty without such"
    )
    row_kinds: SkipJsonSchema[tuple[Thing, ...]] = Field(default=(), exclude=True)
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
    likely: SkipJsonSchema[tuple[str, ...]] = Field(
        default=(), exclude=True, description="what the question may mean, as expressions, the likeliest first"
    )
    is_doubted: SkipJsonSchema[bool] = Field(
        default=False, exclude=True, description="the words decide for a reading that is not likely"
    )
    cases: SkipJsonSchema[tuple[CasePath, ...]] = Field(default=(), exclude=True)

    @property
    def relations_of_graph(self) -> list[tuple[str, str]]:
        """Each relation that `graph` shows, with what it leads to."""
        parts = (line.rpartition(LEADS_TO) for lines in self.graph.values() for line in lines)
        return [(label, end) for label, _, end in parts]


class StepReply(TaskModel):
    """The reply to a step.

    If `action` is "follow", `choices` holds numbers of candidates; without any, it asks for the `further` candidates.
    If it is "answer", `answer` holds expressions, in which `way(2)` stands for all that candidate 2 leads to; the
    service writes the sentence. Only the embedded reasoner sets `path`.
    """

    path: list[PathTriple] = []
    action: Literal["follow", "answer", "not_in_graph"]
    choices: list[int] = []
    answer: list[str] = []


class ReplyInput(TaskModel):
    """The input of a reply in dialogue.

    `question`: the last turn, which need not be a question. `evidence`: all facts that the reply may state.
    """

    question: str
    dialogue: list[Turn] = []
    things: list[Thing]
    evidence: list[Evidence]
    masked_relations: list[MaskedRelation] = Field(default=[], description="what is said of masked ones among them")
    public_terms: list[PublicTerm] = Field(default=[], description="the stand-ins whose words are public")
    ranked: SkipJsonSchema[tuple[int, ...]] = Field(
        default=(), exclude=True, description="places in the evidence, those that matter most to the turn first"
    )
    describes: SkipJsonSchema[bool] = Field(
        default=False, exclude=True, description="the turn wants to hear about the things, and asks nothing particular"
    )


Manner = Literal["answer", "compare", "recommend", "ask_on"]


class DialogueReply(TaskModel):
    """A reply in dialogue as a choice of facts: positions in the evidence, counted from 1, in the order of telling.

    `manner`: "answer" tells them plainly, "compare" side by side, "recommend" as a recommendation, and "ask_on" with a
    question after them. The service writes the text.
    """

    facts: list[int]
    manner: Manner = "answer"


class WordedSentence(TaskModel):
    """A sentence in pseudonyms, and the positions (from 1) in the evidence of the facts that it states."""

    text: str
    facts: list[int]


class WordedReply(TaskModel):
    """A reply in dialogue in the model's own words, if the owner allows that; it states only facts of the evidence."""

    sentences: list[WordedSentence]


class DemandsInput(TaskModel):
    """A dialogue of which the knowledge is asked that its next turn needs; `question`: the last turn."""

    question: str
    dialogue: list[Turn] = []


class DemandList(TaskModel):
    """Terms of one kind, and the thought behind them."""

    thought: str
    terms: list[str]


class DemandsReply(TaskModel):
    """The knowledge that a reply needs, revised (DCRAG, section 3.2).

    `explicit` queries are said in the dialogue and `implicit` ones meant; `maintained` topics go on in the reply and
    `extended` ones are new. Only terms that a public graph has are used.
    """

    explicit: DemandList
    implicit: DemandList
    maintained: DemandList
    extended: DemandList


ReplyT = TypeVar("ReplyT", bound=TaskModel)


ReplyForm = Literal["tree", "choice"]
"""The form of a model's answer: the words of an expression ("tree"), or an entry of a numbered list ("choice")."""


@dataclass(frozen=True, slots=True)
class TaskKind(Generic[ReplyT]):
    """The constant part of all tasks of one kind.

    `instructions`: fixed text from a `prompts.py`. `brief`: the text for models that can only choose from a list, None
    if it is the same. `max_tokens`: the greatest number of tokens of a reply. `asks_again`: a reply that can't be used
    is asked for once more.
    """

    name: TaskName
    instructions: SafeText
    reply_model: type[ReplyT]
    temperature: float = 0.0
    brief: SafeText | None = None
    max_tokens: int = 512
    asks_again: bool = True

    def words_for(self, form: ReplyForm) -> SafeText:
        """Returns the instructions for models that reply in `form`."""
        return self.brief if form == "choice" and self.brief is not None else self.instructions


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Options of one call, beside the task itself.

    `tenant`: the id by which tenants take turns in the queue; it is never sent. `complaints`: fixed sentences on what
    was wrong with the last reply; `quoted`: words of that reply behind them, only of those that its request shows.
    `endpoint`: the position of the first endpoint to try. `anonymity`, for the ledger only: the number of entities
    that match what the input shows of a thing; None if it shows none.
    """

    tenant: str = ""
    complaints: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    endpoint: int = 0
    anonymity: int | None = None


@dataclass(frozen=True, slots=True)
class Task(Generic[ReplyT]):
    """One task for a reasoner. `in_house`: a fuller input that the embedded reasoner reads in place of `input`."""

    kind: TaskKind[ReplyT]
    input: TaskModel
    manner: CallOptions = CallOptions()
    in_house: TaskModel | None = field(default=None, repr=False)
