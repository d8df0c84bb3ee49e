"""PromptedReasoner: asks OpenAI-compatible endpoints, as described in docs/reasoner_contract.md."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import replace

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.repair_messages import EMPTY
from app.llm.endpoint.reply_reader import MisfitError, read_reply
from app.llm.endpoint.request_body import CompletesChats, Completion, body_of, checked_tokens, statics_of, text_read
from app.llm.reasoner import (
    ReasonerRefusedError,
    ReasonerUnavailableError,
    Reply,
    ReplyUnusableError,
    Retry,
    Tokens,
)
from app.llm.tasks import ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress


class PromptedReasoner:
    """Makes one chat completion under a JSON schema for each task.

    `fallbacks` are asked in order if `endpoint` rests, is out of reach or refuses. A reply that cannot be used is
    asked for once more, with the reason. Both come back as a Retry, so that the guard and the ledger see them like any
    request. `salt_key` separates the prefix caches of tenants.
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

    @property
    def is_capable(self) -> bool:
        return self._endpoints[self._position(0)].wording.dialect.form == "tree"

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
            return Reply(read_reply(task, completion), tokens, completion.content)
        except MisfitError as misfit:
            return _repair(task, misfit.complaint, tokens, completion.content)

    def _position(self, first: int) -> int:
        """The first endpoint from position `first` on that does not rest; `first` if all do."""
        ready = (at for at in range(first, len(self._endpoints)) if self._endpoints[at].is_ready)
        return next(ready, first)

    def _salt_of(self, tenant: str) -> str:
        """An identifier of the tenant that only this service can compute: an HMAC under its key, in digits, so that
        the guard never takes it for a word.
        """
        if not self._salt_key:
            return ""
        return str(int.from_bytes(hmac.digest(self._salt_key, tenant.encode(), "sha256"), "big"))

    def _tokens(self, endpoint: CompletesChats, egress: Egress, completion: Completion) -> Tokens:
        written = self._embedder.count_tokens(completion.content)
        tokens = checked_tokens(completion, self.tokens_in(egress), written, endpoint.wording.max_tokens)
        cost = endpoint.price.of(tokens.prompt, tokens.completion) if endpoint.price else None
        return replace(tokens, retries=completion.retries, cost=cost)


def _repair(task: Task[ReplyT], complaint: str, tokens: Tokens, words: str) -> Retry:
    """A request to repair the reply. Raises ReplyUnusableError if the reply was already a repair."""
    if not task.manner.complaints:
        return Retry(replace(task.manner, complaints=(complaint,)), tokens, words)
    unusable = ReplyUnusableError(f"{task.kind.name}: {complaint.strip()}")
    unusable.tokens, unusable.words = tokens, words
    raise unusable from None
