"""POST /chat: the question, the answer in pseudonyms, the events of a stream, and the capsule with the names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError


class Wire(BaseModel):
    """The base of all wire types.

    Unknown fields are refused; errors leave the input out, because it may contain names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


# A capsule's suite is that of the caller's public key, which is recognised by its length.
SuiteName = Literal[
    "DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM", "MLKEM768-X25519,HKDF-SHA256,ChaCha20Poly1305"
]
X25519_SUITE: Final = "DHKEM(X25519,HKDF-SHA256),HKDF-SHA256,AES-128-GCM"
HYBRID_SUITE: Final = "MLKEM768-X25519,HKDF-SHA256,ChaCha20Poly1305"
MAX_PUBLIC_KEY_CHARS = 1_640
PUBLIC_KEY_FORM = "base64url of X25519 (32 bytes), or of ML-KEM-768 and X25519 (1,184 and 32 bytes)"


class Capsule(Wire):
    """A sealed table pseudonym -> name. `sealed` is base64url of HPKE output; `suite` names the algorithms."""

    suite: SuiteName = X25519_SUITE
    sealed: str


class Names(Wire):
    """The names that one pseudonym stands for, at most `options.names` of them; `total` counts all."""

    names: list[str]
    total: int


class CapsuleContent(Wire):
    """The content of an opened capsule."""

    answer_id: str
    table: dict[str, Names]


StrategyName = Literal["auto", "sets", "arog", "dialogue", "demands"]
"""`auto` chooses for each turn: `sets` for a question to the graph, `dialogue` for talk about its things, `demands`
for open talk where a public graph stands beside."""
Role = Literal["user", "assistant"]

MAX_MESSAGES = 100
MAX_MESSAGE_CHARS = 8_000


class Message(Wire):
    """One turn. User turns are plain text; assistant turns are sent back as the service sent them, in pseudonyms."""

    role: Role
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS)]


_LANGUAGE_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"
_MAX_LANGUAGE_TAG_CHARS = 35


def _as_language_tag(text: str) -> str:
    if len(text) <= _MAX_LANGUAGE_TAG_CHARS and re.fullmatch(_LANGUAGE_TAG, text):
        return text
    raise PydanticCustomError("language_tag", "Give a language by its tag, as en, de or pt-BR")


LanguageTag = Annotated[
    str,
    AfterValidator(_as_language_tag),
    Field(json_schema_extra={"pattern": _LANGUAGE_TAG, "maxLength": _MAX_LANGUAGE_TAG_CHARS}),
]
"""A language as a BCP 47 tag: `de`, `pt-BR`."""


MAX_REASON_CHARS = 300
PersonSign = Annotated[
    str,
    Field(
        max_length=64,
        pattern=r"^[A-Za-z0-9_-]*$",
        repr=False,
        description="who asks, where several share a key: a sign that stands for one of them, and no name. What one "
        "person rates changes no answer of another's",
    ),
]


MAX_BESIDE: Final = 4
MAX_LOOKED_FOR: Final = 12
GraphName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


class ChatOptions(Wire):
    """Options of one question: W relations a round, D rounds, K relations for a concept, and names to restore.

    Also the `language` of the names, the number of questions to suggest, the `person` who asks, and why, and the
    public graphs `beside` the asked one.
    """

    width: int = Field(default=3, ge=1, le=20, strict=True)
    depth: int = Field(default=3, ge=1, le=5, strict=True)
    relations_per_concept: int = Field(default=5, ge=1, le=20, strict=True)
    names: int = Field(default=50, ge=1, le=10_000, strict=True, description="names restored of one set")
    language: LanguageTag | None = Field(
        default=None,
        description="names in this language, where things have labels in it; else that of the names in the question",
    )
    suggestions: int = Field(
        default=3, ge=0, le=3, strict=True, description="questions to go on with; each takes a little time to check"
    )
    person: PersonSign = ""
    reason: str = Field(
        default="",
        max_length=MAX_REASON_CHARS,
        repr=False,
        description="why the question is asked: kept, encrypted, in the access record if the answer restores names",
    )
    beside: list[GraphName] | None = Field(
        default=None,
        max_length=MAX_BESIDE,
        description="public graphs that stand beside the asked one, which this key may ask too; by default those that "
        "the owner put there",
    )
    looked_for: list[Annotated[str, StringConstraints(min_length=1, max_length=60)]] | None = Field(
        default=None,
        max_length=MAX_LOOKED_FOR,
        repr=False,
        description="everyday words that public facts are looked for by, in place of those that the service works "
        "out; only for a reply from public graphs",
    )


class ChatRequest(Wire):
    """A question to `graph`: the last message, which must be the user's. Without `public_key` there is no capsule."""

    graph: GraphName
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    conversation: str | None = Field(default=None, max_length=64)
    strategy: StrategyName = "auto"
    options: ChatOptions = ChatOptions()
    public_key: str | None = Field(default=None, max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)
    stream: bool = Field(default=False, strict=True, description="server-sent events instead of one JSON reply")


ItemKind = Literal["entity", "set", "value", "number", "truth", "table"]


class Item(Wire):
    """One part of the answer, in order. `size` is the number of members of a set, 1 for anything else."""

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
    tail_count: int | None = Field(default=None, description="how many things the tail is; null: not known")
    public: str = Field(
        default="", description="the public graph that the fact is of, with source and licence; empty: the asked one"
    )


def chains(facts: Iterable[Fact]) -> list[list[Fact]]:
    """Returns the facts in runs in which each fact begins where the one before ends."""
    runs: list[list[Fact]] = []
    for fact in facts:
        run = next((each for each in runs if each[-1].tail == fact.head), None)
        if run is None:
            runs.append([fact])
        else:
            run.append(fact)
    return runs


class Understood(Wire):
    """One thing of the graph that the question was understood to name."""

    pseudonym: str
    concept: str


class Ambiguity(Wire):
    """A mention that fits several entities: its pseudonym in the text, and the entities that it may mean.

    `hints`: one fact for each choice that tells them apart, if there is a relation in which all differ.
    """

    pseudonym: str
    choices: list[str]
    hints: list[Fact] = Field(default_factory=list)


class Reading(Wire):
    """A name that the question spells differently from the graph, at characters [start, end) of the question."""

    pseudonym: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Sentence(Wire):
    """One sentence of the answer, in pseudonyms.

    `facts` are positions in `evidence`, from 0, of the facts that support it; empty if it states no fact. `restated`:
    the service's own words about these facts, in place of a statement of the model that was removed.
    """

    text: str
    facts: list[int] = Field(default_factory=list)
    restated: bool = False


class Usage(Wire):
    """The cost of the question. `tokens_counted_by` tells whether the endpoint counted the tokens or the service.

    `calls` counts replies, usable or not; `retries` counts requests sent again, and repairs. `cost` is null if no
    prices are set.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_counted_by: Literal["endpoint", "wordpiece"] = "wordpiece"
    rounds: int = 0
    retries: int = 0
    odd_counts: int = Field(
        default=0, description="replies whose own count of tokens could not be right; they were counted by the service"
    )
    over_budget: bool = Field(default=False, description="the question ended by its budget of tokens, unanswered")
    cost: float | None = Field(default=None, description="money, in `currency`")
    currency: str = ""
    anonymity: int | None = Field(
        default=None,
        description="how many entities of the graph, at the least, match what one of the question's prompts showed of "
        "a thing; null where none was shown, or nothing left the service",
    )
    withheld: int = Field(
        default=0,
        description="prompts that were not sent, since too few entities match; the service took these steps itself, "
        "or ended the question",
    )
    attachment: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="the share of the facts that the model's reply stated which the evidence carries; null where no "
        "reply was checked sentence by sentence",
    )
    left_out: list[str] = Field(
        default_factory=list,
        description="what the search left out and why, in words: for whoever looks into an answer",
    )
    milliseconds: dict[str, float] = Field(
        default_factory=dict, description="per stage; where replies keep a pace, `total` in its steps"
    )


class ChatAnswer(Wire):
    """The answer in pseudonyms. `answered` is false if the graph does not hold the answer; `message` then says so.

    `confidence` is the chance that the answer is right, as measured on questions with known answers. It is independent
    of `grounded`, which means that everything the answer names is in the evidence.
    """

    id: str
    conversation: str
    graph: str
    message: Message
    answered: bool
    entities: list[Item]
    evidence: list[Fact]
    grounded: bool = Field(
        description="all that the answer speaks of was found in the graph on the way; it does not say that the "
        "question was understood rightly: that is `confidence`"
    )
    confidence: float | None = Field(
        default=None,
        ge=0.01,
        le=0.99,
        description="the chance that the answer is right, by the scores of how the question was read; null where "
        "nothing was answered, or nothing measures it",
    )
    ambiguous: list[Ambiguity]
    inexact: list[Reading] = Field(default_factory=list, description="names that are spelt otherwise in the graph")
    notes: list[str] = Field(default_factory=list, description="what could not be used of the question, in words")
    worked_out: list[str] = Field(
        default_factory=list, description="how the answer was worked out from its evidence or from all of a kind"
    )
    understood: list[Understood] = Field(
        default_factory=list, description="what the question was understood to name, where there is no answer"
    )
    did_you_mean: list[str] = Field(
        default_factory=list,
        max_length=3,
        description="questions that may have been meant, where none is surely: each can be asked as it stands",
    )
    looked_for: list[str] = Field(
        default_factory=list,
        description="pseudonyms of the public terms that facts were looked for by; `options.looked_for` takes others",
    )
    turn: str = Field(
        default="",
        description="the kind of the last turn: `question`, `tell` (wants to hear about a thing), `talk` or `neither`",
    )
    strategy: str = Field(default="", description="the strategy that answered: where `auto` was asked for, its choice")
    sentences: list[Sentence] = Field(
        default_factory=list, description="the sentences of a reply in dialogue, each with the facts that carry it"
    )
    removed: int = Field(
        default=0,
        ge=0,
        description="statements that were taken out of the reply, since the graph does not hold them; those in whose "
        "place a `restated` sentence says what the graph holds are not counted",
    )
    suggestions: list[str] = Field(
        default_factory=list,
        max_length=3,
        description="questions to go on with: each was answered by the graph before it was shown, and can be asked as "
        "it stands",
    )
    usage: Usage
    capsule: Capsule | None = None


class ErrorBody(Wire):
    """Every error of the service: a code for programs, a sentence, what to do, and an id to look up in the log."""

    code: str
    message: str
    hint: str
    id: str


StageName = Literal["linking", "finding", "round", "concluding", "suggesting", "sealing"]


class StageEvent(Wire):
    """Event `stage`: the stage that begins now; `number` is the round, if it is one."""

    name: str = Field(description=", ".join(get_args(StageName)))
    number: int | None = None


class TextEvent(Wire):
    """Event `text`: the next piece of the grounded answer's text, in pseudonyms; a piece may end anywhere.

    The names come with the whole answer, which is the last event: they open for that text only.
    """

    text: str


class EvidenceEvent(Wire):
    """Event `evidence`: the facts of the answer."""

    evidence: list[Fact]


class ErrorEvent(ErrorBody):
    """Event `error`, the last of its stream: the error and the status that a reply without a stream would have had."""

    status: int
