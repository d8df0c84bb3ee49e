"""The parts of a streamed answer, and the objects that give it: Stream, and AsyncStream for asyncio."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from dataclasses import dataclass, field
from typing import Self

from client_sdk.answers.answer import Answer
from client_sdk.errors import ArogError


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage that begins now: `linking`, `finding`, `round` (`number` says which), `concluding`, `sealing`."""

    name: str
    number: int | None = None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name} {self.number}"


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next of the answer's text, names restored. Joined, the pieces are `Answer.text`; none is ever taken back.

    The first comes when the whole text is there and has been found unchanged: only then do its names open.
    """

    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


Piece = Stage | TextPiece | Answer
"""Pieces that streams give: stages and text as they come, and the whole answer last."""


class Stream:
    """One question whose answer comes in pieces; nothing is sent before the first is asked for.

        with chat.stream("Who treats Anna Keller?") as stream:
            for text in stream.text_pieces:
                print(text, end="", flush=True)
        print(stream.answer().grounded)

    Iterating gives every Piece, and raises ArogError as `ask` does. The dialogue goes on once the Answer has come;
    before, closing the stream (the end of `with`) ends the question, at the service too. While it is open, other
    threads that ask the same Chat wait, and the same thread is refused.
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
        """The text alone, as it comes."""
        return (piece.text for piece in self if isinstance(piece, TextPiece))

    def answer(self) -> Answer:
        """The whole answer; waits for it where it is not there yet."""
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
        """As Stream.text_pieces."""
        return (piece.text async for piece in self if isinstance(piece, TextPiece))

    async def answer(self) -> Answer:
        """As Stream.answer."""
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
