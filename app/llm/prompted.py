"""PromptedReasoner: asks an OpenAI-compatible endpoint; docs/reasoner_contract.md is what it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from app.llm.embedder import Embedder
from app.llm.reasoner import Reply, ReplyT, ReplyUnusable, Task, TaskKind, Tokens
from app.llm.wire import body_of, statics_of
from app.privacy.safe_text import Egress

MAX_WHITE_SPACE = 64  # in a row: constrained decoding that will never end


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint gave back for one body. Token counts are None where it reports none."""

    content: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None


class CompletesChats(Protocol):
    """An endpoint that takes the body of a chat completion as bytes."""

    @property
    def model(self) -> str: ...

    async def complete(self, body: bytes) -> Completion:
        """Sends exactly `body`. Raises ReasonerUnavailable, ReasonerRefused, ReplyUnusable."""
        ...


class PromptedReasoner:
    """Every task is one chat completion under a JSON schema; an unusable reply is asked for once more."""

    def __init__(self, endpoint: CompletesChats, embedder: Embedder) -> None:
        self._endpoint, self._embedder = endpoint, embedder

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return statics_of(kind, self._endpoint.model)

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        return body_of(task, self._endpoint.model)

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        try:
            return await self._once(task, egress)
        except ReplyUnusable:
            # The same bytes again: they were cleared, and nothing of the bad reply may travel back.
            return await self._once(task, egress)

    async def _once(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        completion = await self._endpoint.complete(egress.body)
        content = completion.content
        if completion.finish_reason == "length" or not content.strip() or " " * MAX_WHITE_SPACE in _blank(content):
            raise ReplyUnusable(f"{task.kind.name}: the reply is empty or was cut off")
        try:
            value = task.kind.reply_model.model_validate_json(_unfenced(content))
        except ValidationError as error:
            fields = {".".join(str(part) for part in each["loc"]) for each in error.errors(include_input=False)}
            known = sorted(fields & set(task.kind.reply_model.model_fields))
            raise ReplyUnusable(f"{task.kind.name}: the reply does not fit its schema; fields: {known}") from None
        return Reply(value, self._tokens(egress, completion))

    def _tokens(self, egress: Egress, completion: Completion) -> Tokens:
        if completion.prompt_tokens is not None and completion.completion_tokens is not None:
            return Tokens(completion.prompt_tokens, completion.completion_tokens, by_endpoint=True)
        count = self._embedder.count_tokens
        return Tokens(count(egress.body.decode()), count(completion.content), by_endpoint=False)


def _blank(content: str) -> str:
    return content.replace("\n", " ").replace("\t", " ").replace("\r", " ")


def _unfenced(content: str) -> str:
    """Small models put a fence around the JSON even under a schema."""
    text = content.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```")
    return text
