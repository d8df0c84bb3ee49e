"""Builds the body of a chat completion: static text around one JSON block with the task's input."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product, zip_longest
from typing import Any, Final, Literal, Protocol, cast, get_args

from app.llm.endpoint.answer_words import MAX_WORDS
from app.llm.endpoint.closed_schemas import (
    Hole,
    SchemaPart,
    list_of_choices,
    marked_schema,
    open_schema,
    parts_of,
    values_of,
)
from app.llm.reasoner import Tokens
from app.llm.tasks import (
    Candidate,
    Evidence,
    PublicTerm,
    ReplyForm,
    ReplyT,
    Size,
    StepInput,
    Task,
    TaskKind,
    TaskModel,
    Thing,
)
from app.privacy.safe_text import Egress, Segment
from kg_store.algebra.expressions import FUNCTIONS

SchemaMode = Literal["json_schema", "structured_outputs", "object_schema", "json_object", "prompt"]
MODES: tuple[SchemaMode, ...] = ("json_schema", "structured_outputs", "object_schema", "json_object", "prompt")
ENFORCING: tuple[SchemaMode, ...] = ("json_schema", "structured_outputs", "object_schema")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form in which an endpoint takes requests.

    `mode`: the place of the schema. `json_schema`: in `response_format`; `structured_outputs`: in vLLM's own field;
    `object_schema`: beside `json_object`, as llama-cpp-python takes it; `json_object`: in the instructions, where the
    endpoint enforces only JSON; `prompt`: in the instructions, where it enforces nothing. `is_plain`: False for models
    that take `max_completion_tokens` and neither temperature nor seed. `form`: "tree" (words of an expression), or
    "choice" for models that can only choose from a list.
    """

    mode: SchemaMode = "json_schema"
    streams: bool = False
    is_plain: bool = True
    form: ReplyForm = "tree"


DEFAULT = Dialect()


def schema_fields(dialect: Dialect, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a body that hold the schema `name` outside of the messages; empty if it is in them."""
    if dialect.mode == "json_schema":
        return {
            "response_format": {
                "type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema},
            }
        }  # fmt: skip
    if dialect.mode == "structured_outputs":
        return {"structured_outputs": {"json": {"title": name, **schema}}}
    if dialect.mode == "object_schema":
        return {"response_format": {"type": "json_object", "schema": schema}}
    return {"response_format": {"type": "json_object"}} if dialect.mode == "json_object" else {}


def schema_words(dialect: Dialect, name: str, schema: dict[str, Any]) -> str:
    """Returns the schema as text for the instructions; empty for endpoints that enforce it."""
    if dialect.mode in ENFORCING:
        return ""
    text = json.dumps(schema, separators=(",", ":"))
    return f"\n\nReply with one JSON object and nothing else. Its JSON schema, named `{name}`:\n{text}"


def limit_fields(dialect: Dialect, temperature: float, seed: int | None, max_tokens: int) -> dict[str, Any]:
    """Returns the fields that limit the length and the randomness of a reply."""
    if not dialect.is_plain:
        return {"max_completion_tokens": max_tokens}
    seeded = {} if seed is None else {"seed": seed}
    return {"temperature": temperature, **seeded, "max_tokens": max_tokens}


def stream_fields(dialect: Dialect) -> dict[str, Any]:
    """Returns the fields that ask for a streamed reply, which can be ended early if it goes wrong."""
    return {"stream": True, "stream_options": {"include_usage": True}} if dialect.streams else {}


EMPTY: Final = "It had no content. "
CUT_OFF: Final = "It was cut off at its longest: be brief. "
BLANK: Final = "It held white space without end. "
NO_JSON: Final = "It was not one JSON object. "
MISFIT: Final = "It did not keep to the schema. "
NOT_OFFERED: Final = "It held what the input does not offer. "

LONG: Final = f"Its answer had more than {MAX_WORDS} words. "
READ: Final = "This is how it was read, with ? for or behind each word that is not offered: "
MISSING: Final = {
    "s": "A stand-in or a function is missing at the ?: ",
    "r": "A relation is missing at the ?: ",
    "o": "A sign such as < is missing at the ?: ",
    "d": "The word ascending or descending is missing at the ?: ",
    "": "Nothing more fits behind the ?: ",
}
"""Sentences on the first word of an answer that does not fit, for each kind of argument that had to stand there."""

COMPLAINTS: Final = (EMPTY, CUT_OFF, BLANK, NO_JSON, MISFIT, NOT_OFFERED, LONG, READ, *MISSING.values())


_TIGHT: Final = (",", ":")
_ON: Final = " > "
_IS: Final = ": "
_WAY: Final = re.compile(r"way\((\d+)\): ")
_SIZES: Final = tuple(size for size in get_args(Size) if size)


def step_text(given: StepInput) -> str:
    """Returns the input of a step as JSON text, in which each thing, fact and candidate is one line of text.

    Fields with their default value are left out. Where the whole schema is shown, the candidates are not: they are
    for models that choose from a list.
    """
    shown = given.model_dump(exclude_defaults=True, exclude={"things", "evidence", "candidates", "public_terms"})
    lines = {
        "public_terms": _terms_by_kind(given.public_terms),
        "things": [f"{thing.name}{_IS}{_sized(thing.concept, thing.size)}" for thing in given.things],
        "evidence": [_fact_line(fact) for fact in given.evidence],
        "candidates": [] if given.graph else [_way_line(way) for way in given.candidates],
    }
    ordered = {name: lines.get(name, shown.get(name)) for name in type(given).model_fields}
    return json.dumps(
        {name: each for name, each in ordered.items() if each or name == "question"},
        ensure_ascii=False,
        separators=_TIGHT,
    )


def read_step(text: str) -> StepInput:
    """Returns the input from the text that `step_text` returned for it. Raises ValueError."""
    shown: dict[str, Any] = json.loads(text)
    read = {"things": _thing, "evidence": _fact, "candidates": _way}
    terms = shown.get("public_terms", {}).items()
    return StepInput.model_validate(
        shown
        | {name: [make(line) for line in shown.get(name, ())] for name, make in read.items()}
        | {"public_terms": [_public_term(kind, line) for kind, lines in terms for line in lines]}
    )


def _sized(concept: str, size: str) -> str:
    return f"{concept}, {size}" if size else concept


def _fact_line(fact: Evidence) -> str:
    start = f"{fact.start} ({fact.start_concept})" if fact.start_concept else fact.start
    return f"{_ON.join([start, *fact.path, fact.end])}{_IS}{_sized(fact.end_concept, fact.size)}"


def _way_line(way: Candidate) -> str:
    return f"way({way.number}){_IS}{_ON.join([way.start, *way.path])}{_IS}{way.concept}"


def _thing(line: str) -> Thing:
    name, _, concept = line.partition(_IS)
    concept, size = _parted(concept)
    return Thing(name=name, concept=concept, size=size)


def _terms_by_kind(terms: Sequence[PublicTerm]) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for term in terms:
        lines.setdefault(term.kind, []).append(f"{term.name}{_IS}{term.means}")
    return lines


def _public_term(kind: str, line: str) -> PublicTerm:
    name, _, means = line.partition(_IS)
    return PublicTerm(name=name, kind=kind, means=means)


def _fact(line: str) -> Evidence:
    walked, _, concept = line.rpartition(_IS)
    start, *path, end = walked.split(_ON)
    start, _, kind = start.partition(" (")
    concept, size = _parted(concept)
    return Evidence(
        start=start, start_concept=kind.removesuffix(")"), path=path, end=end, end_concept=concept, size=size
    )


def _way(line: str) -> Candidate:
    found = _WAY.match(line)
    if found is None:
        raise ValueError("a candidate begins with its number")
    walked, _, concept = line[found.end() :].rpartition(_IS)
    start, *path = walked.split(_ON)
    return Candidate(number=int(found[1]), start=start, path=path, concept=concept)


def _parted(concept: str) -> tuple[str, Size]:
    kind, comma, size = concept.rpartition(", ")
    return (kind, cast(Size, size)) if comma and size in _SIZES else (concept, "")


_SALT, _COMPLAINTS, _INPUT = "\x01", "\x02", "\x03"  # Marks for insertions: characters that no static text holds.
_TERM = "\x05"  # The mark for the words of a public term in an input.
_MARKS = re.compile(r"\\u000([123])")
_BEFORE_COMPLAINTS = "\n\nYour last reply to this can't be used. "
_AFTER_COMPLAINTS = "\nReply once more, with one JSON object that keeps to its schema."


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """The part that all bodies for one endpoint have in common.

    `max_tokens`: the greatest number of tokens of a reply. `is_salted`: bodies hold a salt for each tenant, because
    the endpoint would share its prefix cache between tenants.
    """

    model: str
    dialect: Dialect = DEFAULT
    max_tokens: int = 1_024
    seed: int | None = None
    is_salted: bool = False


def body_of(task: Task[ReplyT], wording: RequestTemplate, salt: str = "", endpoint: int = 0) -> Egress:
    """Returns the bytes of one request, in segments. The input is JSON within a JSON string, so it is escaped twice.

    Constant text comes first, so that the endpoint's prefix cache can keep it; a complaint about the last reply comes
    last. `salt`: that of the tenant. `endpoint`: the position of the endpoint that it is sent to.
    """
    form, values = wording.dialect.form, values_of(task.input)
    segments: list[Segment] = []
    for part in _frame_of(task.kind, wording, form, bool(task.manner.complaints)):
        if isinstance(part, Hole):
            segments.append(Segment(part.filled(values).encode()))
        elif part == _SALT:
            segments.append(Segment(_escaped(salt)))
        elif part == _INPUT:
            segments += _input_segments(task.input, form)
        elif part == _COMPLAINTS:
            segments += _told(task.manner.complaints, task.manner.quoted)
        else:
            segments.append(_static(part.encode()))
    return Egress(tuple(segment for segment in segments if segment.data), endpoint)


def input_text(given: TaskModel, form: ReplyForm) -> str:
    """Returns the input as JSON text; for a model that chooses from a list, candidates are that list in words."""
    # Fields with their default value are left out, because they say nothing and cost tokens.
    if not isinstance(given, StepInput):
        return given.model_dump_json(exclude_defaults=True)
    if form == "tree":
        return step_text(given)
    shown = given.model_dump(include=_BESIDE_CHOICES, exclude_defaults=True)
    return json.dumps(shown | {"choices": list_of_choices(given)}, ensure_ascii=False, separators=(",", ":"))


def _input_segments(given: TaskModel, form: ReplyForm) -> list[Segment]:
    """Returns the input as segments: the words of each public term are one of their own, which the guard checks."""
    terms = given.public_terms if isinstance(given, StepInput) else []
    if not isinstance(given, StepInput) or not terms or form != "tree":
        return [Segment(_escaped(input_text(given, form)))]
    marked = [term.model_copy(update={"means": _TERM}) for term in terms]
    text = step_text(given.model_copy(update={"public_terms": marked}))
    # The kinds stand before the terms and are words of the schema, which hold no such mark.
    parts = [Segment(_escaped(part)) for part in text.split(json.dumps(_TERM)[1:-1], len(terms))]
    words = [Segment(_escaped(json.dumps(term.means, ensure_ascii=False)[1:-1]), public=True) for term in terms]
    return [segment for pair in zip_longest(parts, words) for segment in pair if segment is not None]


def text_read(body: bytes) -> str:
    """Returns the text of a body that the model reads: the messages, and a schema that is outside of them."""
    request = json.loads(body)
    format_ = request.get("response_format", {})
    schema = format_.get("json_schema", {}).get("schema") or format_.get("schema")
    schema = schema or request.get("structured_outputs", {}).get("json")
    texts = [message["content"] for message in request["messages"]]
    return "\n".join([*texts, json.dumps(schema, separators=(",", ":"))] if schema else texts)


def statics_of(kind: TaskKind[Any], wording: RequestTemplate) -> tuple[bytes, ...]:
    """Returns every static segment that the body of a task of `kind` may have, in any dialect."""
    segments: list[bytes] = []
    for dialect, form, is_repair in product(_DIALECTS, FORMS, (False, True)):
        frame = _frame_of(kind, replace(wording, dialect=replace(dialect, form=form)), form, is_repair)
        segments += [part.encode() for part in frame if isinstance(part, str) and part not in _ALL_MARKS]
    segments += (segment.data for segment in _told(COMPLAINTS, tuple(FUNCTIONS)))
    return tuple(dict.fromkeys(segment for segment in segments if segment))


@lru_cache(maxsize=1_024)
def _frame_of(
    kind: TaskKind[Any], wording: RequestTemplate, form: ReplyForm, is_repair: bool
) -> tuple[SchemaPart, ...]:
    """Returns the parts of a body in order: static text, marks for insertions, and the holes of the schema."""
    dialect = wording.dialect
    schema = marked_schema(kind.name, form)
    words = str(kind.words_for(form)) + schema_words(dialect, kind.name, open_schema(kind.name, form))
    body: dict[str, Any] = {
        "model": wording.model,
        **({"cache_salt": _SALT} if wording.is_salted else {}),
        **limit_fields(dialect, kind.temperature, wording.seed, most_tokens(kind, wording, form)),
        **stream_fields(dialect),
        "messages": [
            {"role": "system", "content": words},
            {"role": "user", "content": f"```json\n{_INPUT}\n```{_COMPLAINTS if is_repair else ''}"},
        ],
        **schema_fields(dialect, kind.name, schema),
    }
    parts: list[SchemaPart] = []
    for part in parts_of(json.dumps(body, separators=(",", ":"))):
        if isinstance(part, Hole):
            parts.append(part)
        else:
            pieces = _MARKS.split(part)
            parts += [chr(int(piece)) if at % 2 else piece for at, piece in enumerate(pieces)]
    return tuple(parts)


def most_tokens(kind: TaskKind[Any], wording: RequestTemplate, form: ReplyForm) -> int:
    """Returns the limit of tokens for a reply: that of the task, or the template's if no schema is enforced."""
    is_closed = wording.dialect.mode in ENFORCING and wording.dialect.is_plain
    if not is_closed:
        return wording.max_tokens
    return min(CHOICE_TOKENS if form == "choice" and kind.name == "step" else kind.max_tokens, wording.max_tokens)


def _told(complaints: tuple[str, ...], quoted: Sequence[str] = ()) -> list[Segment]:
    """Returns the complaints about the last reply as segments of a body; empty if there are none.

    Each fixed sentence is a segment of its own, because the guard skips the sentences that it knows as static text. It
    reads what is `quoted` from the reply, but for the names of functions, since one of them ("max") may be a name. The
    bars keep it from reading two words as one name.
    """
    if not complaints:
        return []
    ours = [_static(_escaped(each)) for each in (_BEFORE_COMPLAINTS, *complaints)]
    read = [_static(_QUOTED[each]) if each in _QUOTED else Segment(_escaped(f"{each} | ")) for each in quoted]
    return [*ours, *read, _static(_escaped(_AFTER_COMPLAINTS))]


def _static(data: bytes) -> Segment:
    return Segment(data, static=True)


def _escaped(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


_QUOTED: Final = {name: _escaped(f"{name} (function) | ") for name in FUNCTIONS}
FORMS: Final[tuple[ReplyForm, ...]] = get_args(ReplyForm)
CHOICE_TOKENS: Final = 24
_ALL_MARKS: Final = frozenset({_SALT, _COMPLAINTS, _INPUT})
_BESIDE_CHOICES: Final = {"question", "dialogue", "things", "masked_relations"}
_DIALECTS = tuple(
    Dialect(mode, streams, plain) for mode in MODES for streams in (False, True) for plain in (True, False)
)


@dataclass(frozen=True, slots=True)
class Completion:
    """An endpoint's reply to one body.

    Token counts are as the endpoint reports them, unchecked; None if it reports none. `has_odd_usage`: a reported
    count was not a whole number. `retries`: the number of requests that failed before this one.
    """

    content: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    retries: int = 0
    has_odd_usage: bool = False
    is_streamed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Price:
    """The prices of a million tokens of prompts and of replies, in the currency of the settings."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


class CompletesChats(Protocol):
    """An endpoint that takes the body of a chat completion as bytes."""

    @property
    def wording(self) -> RequestTemplate:
        """The template of the bodies that this endpoint takes; a probe of it may change the template."""
        ...

    @property
    def price(self) -> Price | None: ...

    @property
    def is_ready(self) -> bool:
        """False while no request is sent, because too many have failed."""
        ...

    async def complete(self, body: bytes, tenant: str = "") -> Completion:
        """Sends exactly `body` when it is the turn of `tenant`.

        Raises ReasonerUnavailableError, ReasonerRefusedError, ReplyUnusableError.
        """
        ...


MAX_TIMES_OURS: Final = 2
"""A reported prompt may have at most this many times the tokens that the service counts, since tokenisers differ.
Chosen by hand."""

MAX_FRAME_TOKENS: Final = 256
"""The greatest number of tokens that a chat template and a schema in another form may add to a prompt. Chosen by hand.
"""


_WORD_OR_SIGN: Final = re.compile(r"[A-Za-z0-9][^\s!-/:-@\[-`{-~]*|[!-/:-@\[-`{-~]")


def least_tokens(text: str) -> int:
    """Returns the number of words and signs; the tokenizer in the box makes at least so many tokens of a text."""
    return len(_WORD_OR_SIGN.findall(text))


def plausible_tokens(completion: Completion, prompt_tokens: int, max_tokens: int) -> Tokens | None:
    """Returns the endpoint's token counts if both are there and plausible, else None (see `checked_tokens`)."""
    prompt, written = completion.prompt_tokens, completion.completion_tokens
    if prompt is None or written is None or _is_odd(completion, prompt_tokens, max_tokens):
        return None
    return Tokens(prompt, written, by_endpoint=True)


def checked_tokens(completion: Completion, prompt_tokens: int, written_tokens: int, max_tokens: int) -> Tokens:
    """Returns the endpoint's token counts if both are plausible, else the service's own; adds no retries and no price.

    `prompt_tokens` and `written_tokens`: the service's counts. `max_tokens`: the limit in the request. Promise:
    whatever the endpoint reports, neither count is negative; that of the prompt is at most MAX_TIMES_OURS times the
    service's plus MAX_FRAME_TOKENS, that of the reply at most `max_tokens`. Limit: too low counts are believed.
    """
    if plausible := plausible_tokens(completion, prompt_tokens, max_tokens):
        return plausible
    is_odd = _is_odd(completion, prompt_tokens, max_tokens)
    return Tokens(prompt_tokens, min(written_tokens, max_tokens), odd_counts=int(is_odd))


def _is_odd(completion: Completion, prompt_tokens: int, max_tokens: int) -> bool:
    most = prompt_tokens * MAX_TIMES_OURS + MAX_FRAME_TOKENS
    within = _is_within(completion.prompt_tokens, most) and _is_within(completion.completion_tokens, max_tokens)
    return completion.has_odd_usage or not within


def _is_within(reported: int | None, most: int) -> bool:
    """Returns True if a count is from 0 to `most`, or missing, since many endpoints report none."""
    return reported is None or 0 <= reported <= most
