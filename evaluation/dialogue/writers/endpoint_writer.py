"""EndpointWriter: replies of a model behind an endpoint. For public data, or for pseudonyms alone."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.dialogue.writers.chat_client import CompletesPrompts, Tell
from evaluation.dialogue.writers.prompts import reply_prompt
from evaluation.dialogue.writers.reply_writer import ReplyRequest


class EndpointWriter:
    """Asks for one reply a call, as LLM-KAT does."""

    def __init__(self, chat: CompletesPrompts, tell: Tell = lambda _done, _total: None) -> None:
        self._chat, self._tell = chat, tell

    def replies_to(self, batch: Sequence[ReplyRequest]) -> list[str]:
        prompts = [reply_prompt(request.turn, request.style) for request in batch]
        return [reply or "" for reply in self._chat.complete(prompts, self._tell)]
