"""One dialogue as the SDK keeps it, without I/O; and a cache for clients that send their whole history."""

from __future__ import annotations

import copy
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Generic, TypeVar

from pydantic import ValidationError

from client_sdk.answers.answer import Answer, open_answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.errors import BadAnswerError, BadRequestError, TooLargeError
from client_sdk.protocol import (
    MAX_MESSAGE_CHARS,
    MAX_MESSAGES,
    ChatAnswer,
    ChatOptions,
    ChatRequest,
    Message,
    Role,
    SealedTrace,
)
from client_sdk.streaming import AnswerReader
from client_sdk.trace import Trace, open_sealed_trace

_PERSON_CHARS: Final = 32


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as the user saw it, names restored."""

    role: Role
    text: str = field(repr=False)


class Dialogue:
    """The turns so far. Those of the service are kept twice: as they came, to send back, and restored, to show.

    Without a `key` no names are restored, so both are the same.
    """

    def __init__(self, graph: str, key: KeyPair | None, strategy: str, options: Mapping[str, object]) -> None:
        self._graph, self._key, self._strategy, self._options = graph, key, strategy, dict(options)
        self.reset()
        # Reports bad settings now instead of at the first question.
        self.request("Are these settings valid?", None, {})

    def reset(self) -> None:
        """Begins a new dialogue, in a new conversation with new pseudonyms."""
        self._messages: list[Message] = []
        self._shown: list[Turn] = []
        self._conversation: str | None = None
        self.last_answer: Answer | None = None

    def fork(self) -> Dialogue:
        """Returns another dialogue that begins with the turns of this one, in the same conversation."""
        other = copy.copy(self)
        other._messages, other._shown = list(self._messages), list(self._shown)
        return other

    def tell(self, text: str) -> None:
        """Adds a turn of the user that nobody answers; the next question may refer to it.

        Raises BadRequestError and TooLargeError.
        """
        _check_length(text)
        self._messages.append(Message(role="user", content=text))
        self._shown.append(Turn("user", text))

    @property
    def graph(self) -> str:
        return self._graph

    @property
    def shown(self) -> list[Turn]:
        return list(self._shown)

    def request(
        self, question: str, strategy: str | None, options: Mapping[str, object], stream: bool = False
    ) -> ChatRequest:
        """Returns the request that would ask `question` now; changes nothing.

        Raises BadRequestError and TooLargeError.
        """
        _check_length(question)
        try:
            return ChatRequest(
                graph=self._graph,
                # The newest turns that fit; an even number, because they mostly come in pairs that a user begins.
                messages=[*self._messages[-(MAX_MESSAGES - 2) :], Message(role="user", content=question)],
                conversation=self._conversation,
                strategy=strategy or self._strategy,
                options=_options({**self._options, **options}),
                public_key=self._key.public_text if self._key else None,
                stream=stream,
            )
        except ValidationError as problem:
            raise bad_request(problem) from None

    @property
    def public_key(self) -> str:
        """The public key that capsules are sealed to, as text. Raises BadRequestError if the dialogue has no key."""
        return self._own_key().public_text

    @property
    def key(self) -> KeyPair | None:
        """The key pair that names are restored with; None if the dialogue restores none."""
        return self._key

    def person_sign(self, person: str | None = None) -> str:
        """Returns the digest that is sent for `person`, or for the person of the dialogue's options; "" for nobody."""
        return _options({"person": self._options.get("person") if person is None else person}).person

    def open_trace(self, answer_id: str, sealed: SealedTrace) -> Trace:
        """Opens a sealed trace. Raises CannotOpenCapsuleError, and BadRequestError if the dialogue has no key."""
        return open_sealed_trace(answer_id, sealed, self._own_key())

    def _own_key(self) -> KeyPair:
        if self._key is None:
            hint = "a trace holds names; `ledger` lists the requests in pseudonyms"
            raise BadRequestError("this dialogue restores no names", code="no_names", hint=hint)
        return self._key

    def reader(self) -> AnswerReader:
        """Returns a reader for the events of one streamed answer."""
        return AnswerReader(self._key, self._graph, self._conversation)

    def accept(self, question: str, answer: ChatAnswer) -> Answer:
        """Opens the answer to `question`, adds both turns, and returns the answer.

        Raises BadAnswerError and CannotOpenCapsuleError; the dialogue is then unchanged.
        """
        ours = answer.graph == self._graph and self._conversation in (None, answer.conversation)
        if not ours or answer.message.role != "assistant":
            raise BadAnswerError("the reply answers something else", code="bad_answer", hint="ask again", id=answer.id)
        opened = open_answer(answer, self._key, question)
        self._messages += [Message(role="user", content=question), answer.message]
        self._shown += [Turn("user", question), Turn("assistant", opened.text)]
        self._conversation, self.last_answer = answer.conversation, opened
        return opened


def _check_length(question: str) -> None:
    if len(question) > MAX_MESSAGE_CHARS:
        hint = f"ask in at most {MAX_MESSAGE_CHARS} characters"
        raise TooLargeError("the question is too long", code="question_too_long", hint=hint)
    if not question.strip():
        raise BadRequestError("the question is empty", code="question_empty", hint="ask something")


def bad_request(problem: ValidationError) -> BadRequestError:
    """Returns the error for invalid fields: it names each and its fault, but not its content."""
    told = [f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in problem.errors(include_input=False)]
    return BadRequestError(
        "; ".join(told), code="bad_option", hint="correct it; `help(client_sdk.Chat)` lists the options"
    )


def _options(given: Mapping[str, object]) -> ChatOptions:
    """Returns the options as they are sent, with a digest in place of `person`. Raises ValidationError."""
    person = given.get("person")
    digest = hashlib.sha256(str(person).encode()).hexdigest()[:_PERSON_CHARS] if person else ""
    return ChatOptions.model_validate({**given, "person": digest})


ChatT = TypeVar("ChatT")

MAX_KEPT: Final = 1_000
ASKED_AGAIN: Final = 3
"""The most answered questions of an unknown history, the newest, that are asked again; each is paid for again."""


@dataclass(frozen=True, slots=True)
class CachedDialogue(Generic[ChatT]):
    """A dialogue that was answered before: `chat` as it was after its first `turns` turns.

    `conversation` is the id of its conversation at the service.
    """

    chat: ChatT
    conversation: str
    turns: int


class DialogueCache(Generic[ChatT]):
    """A cache of dialogues, in memory only, for clients that send their whole history with each question.

    It keeps each dialogue as it was after an answer, by a digest of the turns up to there. Promise: a history is
    answered from a kept dialogue only if it begins with the same turns, to the letter (except space at the ends of a
    turn), and has the same `topic`: a text by which the caller tells apart dialogues with the same turns. Limit: two
    dialogues with the same topic and all turns the same can't be told apart. The `most` dialogues used last are kept.
    Threads may share a cache.
    """

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[bytes, CachedDialogue[ChatT]] = OrderedDict()

    def find(self, topic: str, turns: Sequence[Turn]) -> CachedDialogue[ChatT] | None:
        """Returns the dialogue that matches the longest beginning of `turns`, or None."""
        with self._lock:
            known = [key for key in _keys(topic, turns) if key in self._kept]
            if not known:
                return None
            self._kept.move_to_end(known[-1])
            return self._kept[known[-1]]

    def keep(self, topic: str, turns: Sequence[Turn], chat: ChatT, conversation: str) -> None:
        """Stores `chat` as the dialogue after `turns`; the caller must not change it later."""
        *_, key = _keys(topic, turns)
        with self._lock:
            self._kept[key] = CachedDialogue(chat, conversation, len(turns))
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def forget(self, conversation: str) -> None:
        """Removes the dialogues of a conversation that the service does not have any more."""
        with self._lock:
            for key in [key for key, kept in self._kept.items() if kept.conversation == conversation]:
                del self._kept[key]


def earlier(turns: Sequence[Turn]) -> Iterator[tuple[str, bool]]:
    """Yields (text, is_asked) for each of the user's turns in a history that no kept dialogue matches.

    `is_asked`: the question is asked again; the other ones are only told. Answers are left out, because restored text
    is never sent back.
    """
    answered = [
        at for at, (turn, after) in enumerate(pairwise(turns)) if (turn.role, after.role) == ("user", "assistant")
    ]
    return ((turn.text, at in answered[-ASKED_AGAIN:]) for at, turn in enumerate(turns) if turn.role == "user")


def _keys(topic: str, turns: Sequence[Turn]) -> Iterator[bytes]:
    """Yields one digest for each beginning of `turns`, the shortest first."""
    key = hashlib.sha256(topic.encode()).digest()
    for turn in turns:
        text = turn.text.replace("\r\n", "\n").strip()
        key = hashlib.sha256(key + turn.role.encode() + b"\0" + text.encode("utf-8", "surrogatepass")).digest()
        yield key
