"""The parts that Chat and AsyncChat share: the dialogue, its settings, and other dialogues that begin with it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar, Unpack

from pydantic import ValidationError

from client_sdk.answers.answer import Answer, RateAnswer
from client_sdk.crypto.key_file import load_or_create_key
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue, Turn, bad_request
from client_sdk.options import AskOptions, ChatOptions
from client_sdk.protocol import AnswerRating, RatingWord, StrategyName
from client_sdk.transport.address import TIMEOUT_S, checked_key, checked_url, settings_from_env
from client_sdk.transport.flow import RetryPolicy
from client_sdk.transport.waiting import OnWait, log_wait

HttpT = TypeVar("HttpT")
DriverT = TypeVar("DriverT")
LockT = TypeVar("LockT")


class ChatBase(Generic[HttpT, DriverT, LockT]):
    """A dialogue with one graph. Who derives from it says who leads it over a connection, and who waits for a turn."""

    _driver_of: ClassVar[Callable[..., Any]]
    _lock_of: ClassVar[Callable[..., Any]]
    _driver: DriverT
    _turns: LockT

    def __init__(
        self,
        url: str,
        api_key: str,
        graph: str,
        *,
        strategy: StrategyName = "auto",
        key: KeyPair | None = None,
        timeout_s: float = TIMEOUT_S,
        connect_timeout_s: float = 10.0,
        retries: int = 5,
        connect_retries: int = 1,
        plain_http: bool = False,
        restore_names: bool = True,
        on_wait: OnWait = log_wait,
        http: HttpT | None = None,
        **options: Unpack[AskOptions],
    ) -> None:
        url, api_key = checked_url(url, plain_http), checked_key(api_key)
        self._dialogue = Dialogue(graph, (key or load_or_create_key()) if restore_names else None, strategy, options)
        self._patience = RetryPolicy(timeout_s, retries, connect_retries, connect_timeout_s)
        self._driver = self._driver_of(url, api_key, http, on_wait)
        self._turns = self._lock_of()

    @classmethod
    def from_env(cls, *, http: HttpT | None = None, **options: Unpack[ChatOptions]) -> Self:
        """Reads AROG_API_KEY, AROG_URL (http://127.0.0.1:8000) and AROG_GRAPH (demo). Raises NotConfiguredError."""
        return cls(*settings_from_env(os.environ), http=http, **options)

    @property
    def graph(self) -> str:
        """The graph that is asked."""
        return self._dialogue.graph

    @property
    def last_answer(self) -> Answer | None:
        """The newest answer of this dialogue."""
        return self._dialogue.last_answer

    @property
    def history(self) -> list[Turn]:
        """The turns so far as the user saw them, names restored."""
        return self._dialogue.shown

    def fork(self, *told: str) -> Self:
        """Another dialogue that begins with the turns of this one, in the same conversation: names keep their
        pseudonyms. `told` are turns of the user's that it has besides, which nobody answers.

        The two ask one after the other, and share a connection, which either one closes. Raises BadRequestError and
        TooLargeError.
        """
        other = copy.copy(self)
        other._dialogue = self._dialogue.fork()
        for text in told:
            other._dialogue.tell(text)
        return other

    def anew(self) -> Self:
        """Another dialogue with the same settings and connection, in a conversation of its own. Neither waits for the
        other."""
        other = copy.copy(self)
        other._dialogue, other._turns = self._dialogue.fork(), self._lock_of()
        other._dialogue.reset()
        return other

    def _ratable(self, answer: Answer, rate: RateAnswer) -> Answer:
        """`answer`, which can be rated here."""
        return replace(answer, rate_by=rate)

    def _rating_of(self, answer: Answer, rating: RatingWord, correct: Sequence[str] | None) -> AnswerRating:
        """Raises BadRequestError, which says which field is not right and never what it held."""
        names = [correct] if isinstance(correct, str) else list(correct or ())
        try:
            return AnswerRating(
                conversation=answer.conversation, answer=answer.id, rating=rating, correct=names or None
            )
        except ValidationError as problem:
            raise bad_request(problem) from None

    def _within(self, timeout_s: float | None) -> RetryPolicy:
        return self._patience if timeout_s is None else replace(self._patience, timeout_s=timeout_s)
