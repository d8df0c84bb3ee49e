"""The parts of a streamed answer, and the objects that yield them: Stream, and AsyncStream for asyncio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from dataclasses import dataclass, field
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError

from client_sdk.answers.answer import Answer, open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.errors import ArogError, BadAnswerError, StreamCutError, error_of
from client_sdk.protocol import ChatAnswer, ErrorEvent, StageEvent, TextEvent
from client_sdk.restore import Restorer


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage that begins now: `linking`, `finding`, `round` (`number` is the round's), `concluding`, `sealing`."""

    name: str
    number: int | None = None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name} {self.number}"


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the answer's text, names restored.

    All pieces joined are `Answer.text`; none is ever taken back. The first piece comes only when the whole text has
    arrived and was found unchanged, because its names don't open before.
    """

    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


Piece = Stage | TextPiece | Answer
"""An item of a stream: stages and pieces of text as they come, and the whole answer last."""


class Stream:
    """One question whose answer comes in pieces. Nothing is sent before the first piece is asked for.

        with chat.stream("Who treats Anna Keller?") as stream:
            for text in stream.text_pieces:
                print(text, end="", flush=True)
        print(stream.answer().grounded)

    Iterating yields every Piece, and raises ArogError as `ask` does. The dialogue has the new turns once the Answer
    has come; closing the stream earlier (at the end of `with`) ends the question, at the service too. While it is
    open, other threads that ask the same Chat wait, and the same thread is refused.
    """

    def __init__(self, pieces: Generator[Piece]) -> None:
        self._pieces = pieces
        self._answer: Answer | None = None

    def __iter__(self) -> Iterator[Piece]:
        return self

    def __next__(self) -> Piece:
        piece = next(self._pieces)
        if isinstance(piece, Answer):
            self._answer = piece
        return piece

    @property
    def text_pieces(self) -> Iterator[str]:
        """Yields only the text, as it comes."""
        return (piece.text for piece in self if isinstance(piece, TextPiece))

    def answer(self) -> Answer:
        """Returns the whole answer, after waiting for it if necessary."""
        for _ in self:
            pass
        return _whole(self._answer)

    def close(self) -> None:
        self._pieces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


class AsyncStream:
    """Stream for asyncio: `async with chat.stream(...) as stream: async for piece in stream: ...`."""

    def __init__(self, pieces: AsyncGenerator[Piece]) -> None:
        self._pieces = pieces
        self._answer: Answer | None = None

    def __aiter__(self) -> AsyncIterator[Piece]:
        return self

    async def __anext__(self) -> Piece:
        piece = await anext(self._pieces)
        if isinstance(piece, Answer):
            self._answer = piece
        return piece

    @property
    def text_pieces(self) -> AsyncIterator[str]:
        """Yields only the text, as it comes; an asynchronous iterator."""
        return (piece.text async for piece in self if isinstance(piece, TextPiece))

    async def answer(self) -> Answer:
        """Returns the whole answer, after waiting for it if necessary."""
        async for _ in self:
            pass
        return _whole(self._answer)

    async def close(self) -> None:
        await self._pieces.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()


def _whole(answer: Answer | None) -> Answer:
    if answer is None:
        hint = "read it to its end, or ask for answer() before it is closed"
        raise ArogError("the stream was closed before its answer had come", code="stream_closed", hint=hint)
    return answer


ModelT = TypeVar("ModelT", bound=BaseModel)


class AnswerReader:
    """Reads the events of one streamed answer in order, and returns the parts that can be shown.

    The text pieces that it returns, joined, are the answer's text with names restored. Unknown events are ignored:
    they come from a newer service. Promise: no piece is shown before the whole answer has arrived, is from the asked
    graph and the current conversation (None: a new one), and its names have opened, which they do only for its own
    text. Without a `key` the text stays in pseudonyms.
    """

    def __init__(self, key: KeyPair | None, graph: str, conversation: str | None) -> None:
        self._key, self._graph, self._conversation = key, graph, conversation
        self._pieces: list[str] = []
        self._answer: ChatAnswer | None = None

    @property
    def is_done(self) -> bool:
        """True if the last event has come; later ones are not read."""
        return self._answer is not None

    def read(self, name: str, data: str) -> list[Stage | TextPiece]:
        """Returns the parts that an event shows.

        Raises the service's error, BadAnswerError and CannotOpenCapsuleError.
        """
        match name:
            case "stage":
                stage = _content(StageEvent, data)
                return [Stage(stage.name, stage.number)]
            case "text":
                self._pieces.append(_content(TextEvent, data).text)
            case "answer":
                return self._shown(_content(ChatAnswer, data))
            case "error":
                raise error_of(_content(ErrorEvent, data).status, data.encode())
        return []

    def whole(self) -> ChatAnswer:
        """Returns the complete answer, as a reply without a stream would have it.

        Raises StreamCutError if it has not come.
        """
        if self._answer is None:
            hint = "the question may have been answered all the same; ask again"
            raise StreamCutError("the stream ended before the answer was whole", code="stream_cut", hint=hint)
        return self._answer

    def _shown(self, answer: ChatAnswer) -> list[Stage | TextPiece]:
        if answer.graph != self._graph or self._conversation not in (None, answer.conversation):
            raise _bad("it answers something else", answer.id)
        if "".join(self._pieces) != answer.message.content:
            raise _bad("its pieces are not the answer's text", answer.id)
        restorer = Restorer(open_names(answer, self._key))
        texts = [*map(restorer.push, self._pieces), restorer.finish()]
        self._answer = answer
        return [TextPiece(text) for text in texts if text]


def _content(expect: type[ModelT], data: str) -> ModelT:
    try:
        # Fields that this version does not know are ignored: the service may be newer.
        return expect.model_validate_json(data, extra="ignore")
    except ValidationError:
        raise _bad("an event can't be read") from None


def _bad(what: str, answer_id: str = "") -> BadAnswerError:
    hint = "ask again; if it happens again, is something between you and the service changing replies?"
    return BadAnswerError(f"the stream is not right: {what}", code="bad_answer", hint=hint, id=answer_id)
