"""PromptedReasoner: asks OpenAI-compatible endpoints; docs/reasoner_contract.md is what it speaks."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import replace

from pydantic import ValidationError

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.repair_messages import (
    BLANK,
    CUT_OFF,
    EMPTY,
    NO_ANSWER,
    NO_CHOICE_OFFERED,
    NOTHING_SHOWN,
    TEXT_UNBOUND,
    complaints_about,
)
from app.llm.endpoint.request_body import CompletesChats, Completion, body_of, checked_tokens, statics_of, text_read
from app.llm.endpoint.transport import MAX_WHITE_SPACE
from app.llm.reasoner import (
    ReasonerRefusedError,
    ReasonerUnavailableError,
    Reply,
    ReplyUnusableError,
    Retry,
    Tokens,
)
from app.llm.tasks import (
    AnswerReply,
    Candidate,
    ChooseInput,
    ChooseReply,
    ReplyT,
    StepInput,
    StepReply,
    Task,
    TaskKind,
    TaskModel,
)
from app.privacy.safe_text import Egress
from kg_store.terms import ALMOST_PSEUDONYM


class PromptedReasoner:
    """Every task is one chat completion under a JSON schema.

    `fallbacks` are asked in their order where `endpoint` rests, is out of reach or refuses. A reply that can't be
    used is asked for once more, with what was wrong. Both come back as a Retry, so that the guard and the ledger see
    them like any request. `salt_key` keeps the prefix caches of tenants apart.
    """

    def __init__(
        self,
        endpoint: CompletesChats,
        embedder: Embedder,
        fallbacks: Sequence[CompletesChats] = (),
        salt_key: bytes = b"",
    ) -> None:
        self._endpoints, self._embedder, self._salt_key = (endpoint, *fallbacks), embedder, salt_key

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return tuple(
            dict.fromkeys(data for endpoint in self._endpoints for data in statics_of(kind, endpoint.wording))
        )

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        position = self._position(task.manner.endpoint)
        return body_of(task, self._endpoints[position].wording, self._salt_of(task.manner.tenant), position)

    @property
    def longest_reply(self) -> int:
        return max(endpoint.wording.max_tokens for endpoint in self._endpoints)

    def tokens_in(self, egress: Egress) -> int:
        return self._embedder.count_tokens(text_read(egress.body))

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        endpoint = self._endpoints[egress.endpoint]
        try:
            completion = await endpoint.complete(egress.body, task.manner.tenant)
        except (ReasonerUnavailableError, ReasonerRefusedError):
            if egress.endpoint + 1 == len(self._endpoints):
                raise
            return Retry(replace(task.manner, endpoint=egress.endpoint + 1))
        except ReplyUnusableError:
            if task.manner.complaints:
                raise
            return Retry(replace(task.manner, complaints=(EMPTY,)))
        tokens = self._tokens(endpoint, egress, completion)
        try:
            return Reply(_parsed(task, completion), tokens, completion.content)
        except _MisfitError as misfit:
            return _repair(task, misfit.complaints, tokens, completion.content)

    def _position(self, first: int) -> int:
        """The first endpoint from `first` on that does not rest; `first` itself where all do."""
        ready = (at for at in range(first, len(self._endpoints)) if self._endpoints[at].is_ready)
        return next(ready, first)

    def _salt_of(self, tenant: str) -> str:
        """Tells tenants apart for nobody but us: HMAC of the tenant under a key of this service, in figures: the
        guard knows no word that it could be."""
        if not self._salt_key:
            return ""
        return str(int.from_bytes(hmac.digest(self._salt_key, tenant.encode(), "sha256"), "big"))

    def _tokens(self, endpoint: CompletesChats, egress: Egress, completion: Completion) -> Tokens:
        written = self._embedder.count_tokens(completion.content)
        tokens = checked_tokens(completion, self.tokens_in(egress), written, endpoint.wording.max_tokens)
        cost = endpoint.price.of(tokens.prompt, tokens.completion) if endpoint.price else None
        return replace(tokens, retries=completion.retries, cost=cost)


class _MisfitError(Exception):
    """A reply that can't be used; `complaints` say why, in our words."""

    def __init__(self, complaints: tuple[str, ...]) -> None:
        super().__init__()
        self.complaints = complaints


def _repair(task: Task[ReplyT], complaints: tuple[str, ...], tokens: Tokens, words: str) -> Retry:
    """Raises ReplyUnusableError where the reply was a repair itself."""
    if not task.manner.complaints:
        return Retry(replace(task.manner, complaints=complaints), tokens, words)
    unusable = ReplyUnusableError(f"{task.kind.name}: {''.join(complaints).strip()}")
    unusable.tokens, unusable.words = tokens, words
    raise unusable from None


def _parsed(task: Task[ReplyT], completion: Completion) -> ReplyT:
    """Raises _MisfitError."""
    content = _bare(completion.content)
    if not content:
        raise _MisfitError((EMPTY,))
    if completion.finish_reason == "length":
        raise _MisfitError((CUT_OFF,))
    if _blank_run(content):
        raise _MisfitError((BLANK,))
    try:
        value = task.kind.reply_model.model_validate_json(content)
    except ValidationError as error:
        raise _MisfitError(complaints_about(task.kind.reply_model, error)) from None
    complaints = broken_rules(task.input, value)
    if complaints and not task.manner.complaints:
        raise _MisfitError(complaints)
    # A repaired reply that keeps to the schema alone is handed on: what was not shown or offered is refused there.
    return value


def _blank_run(content: str) -> bool:
    plain = content.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    return " " * MAX_WHITE_SPACE in plain


def _bare(content: str) -> str:
    """The JSON alone: small models put a fence around it even under a schema, and some think aloud before it."""
    text = content.strip()
    if text.startswith("<think>"):
        text = text.partition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    return text


_WAY = re.compile(r"\bway\(\s*(\d+)\s*\)")
_PLACE = re.compile(r"\{\s*(\d+)\s*[:}]")


def broken_rules(asked: TaskModel, reply: TaskModel) -> tuple[str, ...]:
    """Complaints about a reply that fits its schema; empty when it keeps to the rules.

    A choice that was not offered is let be where another one was: strategies ignore it.
    """
    if isinstance(reply, ChooseReply) and isinstance(asked, ChooseInput):
        return _of_choices(reply.choices, asked.candidates)
    if isinstance(reply, AnswerReply):
        return _of_answer(reply.answer, reply.text, asked) if reply.sufficient else ()
    if isinstance(reply, StepReply) and isinstance(asked, StepInput):
        if reply.action == "answer":
            return _of_answer(reply.answer, reply.text, asked)
        if reply.action == "follow":
            return _of_choices(reply.choices, asked.candidates)
    return ()


def _offered(asked: TaskModel) -> set[int]:
    return {candidate.number for candidate in asked.candidates} if isinstance(asked, StepInput) else set()


def _of_choices(choices: list[int], candidates: list[Candidate]) -> tuple[str, ...]:
    offered = {candidate.number for candidate in candidates}
    return (NO_CHOICE_OFFERED,) if choices and offered and offered.isdisjoint(choices) else ()


def _of_answer(answer: list[str], text: str, asked: TaskModel) -> tuple[str, ...]:
    if not answer:
        return (NO_ANSWER,)
    shown = set(ALMOST_PSEUDONYM.findall(asked.model_dump_json()))
    named = set(ALMOST_PSEUDONYM.findall(" ".join(answer)))
    ways = {int(number) for number in _WAY.findall(" ".join(answer))}
    if not (named or ways) or not named <= shown or not ways <= _offered(asked):
        return (NOTHING_SHOWN,)
    is_bound = set(ALMOST_PSEUDONYM.findall(text)) <= shown and all(
        1 <= int(number) <= len(answer) for number in _PLACE.findall(text)
    )
    return () if is_bound else (TEXT_UNBOUND,)
