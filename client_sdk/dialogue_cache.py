"""Which dialogue a client goes on with that sends its whole history each time: found by the turns themselves."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Generic, TypeVar

from client_sdk.dialogue import Turn

ChatT = TypeVar("ChatT")

MAX_KEPT: Final = 1_000
ASKED_AGAIN: Final = 3
"""Of a history that is not known, so many of the newest answered questions are asked again, and paid for."""


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A user's turn before the question: to be asked again, or told only."""

    text: str = field(repr=False)
    ask: bool


@dataclass(frozen=True, slots=True)
class CachedDialogue(Generic[ChatT]):
    """A dialogue as it stood after its first `turns` turns, and its conversation at the service."""

    chat: ChatT
    conversation: str
    turns: int


class DialogueCache(Generic[ChatT]):
    """Dialogues as they stood after each answer, by a digest of the turns that led there; in memory alone.

    Promise: a history is answered from a dialogue whose turns it begins with, to the letter (but for space at the
    ends of a turn), and whose `topic` is the same; two that differ in a turn never meet. Limit: two whose turns are
    all the same can't be told apart. The `most` that were used last are kept. Threads may share it.
    """

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[bytes, CachedDialogue[ChatT]] = OrderedDict()

    def find(self, topic: str, turns: Sequence[Turn]) -> CachedDialogue[ChatT] | None:
        """The dialogue after the longest beginning of `turns` that is known."""
        with self._lock:
            known = [key for key in _keys(topic, turns) if key in self._kept]
            if not known:
                return None
            self._kept.move_to_end(known[-1])
            return self._kept[known[-1]]

    def keep(self, topic: str, turns: Sequence[Turn], chat: ChatT, conversation: str) -> None:
        """`chat` has come to the end of `turns`; what it becomes later must not change it."""
        *_, key = _keys(topic, turns)
        with self._lock:
            self._kept[key] = CachedDialogue(chat, conversation, len(turns))
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """The service has no such conversation any more."""
        with self._lock:
            for key in [key for key, kept in self._kept.items() if kept.conversation == conversation]:
                del self._kept[key]


def earlier(turns: Sequence[Turn]) -> Iterator[EarlierTurn]:
    """The user's turns of a history that is not known. Answers are left out: restored text is never sent back."""
    answered = [
        at for at, (turn, after) in enumerate(pairwise(turns)) if (turn.role, after.role) == ("user", "assistant")
    ]
    again = set(answered[-ASKED_AGAIN:])
    for at, turn in enumerate(turns):
        if turn.role == "user":
            yield EarlierTurn(turn.text, at in again)


def _keys(topic: str, turns: Sequence[Turn]) -> Iterator[bytes]:
    """One digest for each beginning of `turns`, the shortest first."""
    key = hashlib.sha256(topic.encode()).digest()
    for turn in turns:
        text = turn.text.replace("\r\n", "\n").strip()
        key = hashlib.sha256(key + turn.role.encode() + b"\0" + text.encode("utf-8", "surrogatepass")).digest()
        yield key
