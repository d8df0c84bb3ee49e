"""Code of a caller as mypy --strict sees it (`make check`); it is never run.

A line that has to be refused bears an ignore: mypy complains where it would not be needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import pandas

from client_sdk import Answer, AsyncChat, Chat, Entity, KeyPair, Piece, RestoredFact, Stage, TextPiece, Trace, Turn
from client_sdk.protocol import LedgerRow


def asks(key: KeyPair) -> Answer:
    with Chat(
        "http://127.0.0.1:8000", "key", "demo", strategy="arog", retries=2, connect_timeout_s=1.5, names=9
    ) as chat:
        assert_type(chat, Chat)
        assert_type(chat.history, list[Turn])
        assert_type(chat.graph, str)
        assert_type(chat.graphs(), list[str])
        assert_type(chat.ledger(), list[LedgerRow])
        assert_type(chat.trace("a1"), Trace)
        chat.reset()
        return chat.ask("Who?", depth=2, timeout_s=9)


def reads(answer: Answer) -> tuple[Entity, ...]:
    assert_type(answer.text, str)
    assert_type(answer.names, list[str])
    assert_type(answer.evidence, tuple[RestoredFact, ...])
    assert_type(answer.evidence[0].head_names, tuple[str, ...])
    assert_type(answer.to_dataframe("evidence"), pandas.DataFrame)
    return answer.entities


def streams(chat: Chat) -> Iterator[str]:
    with chat.stream("Who?", width=2) as stream:
        for piece in stream:
            assert_type(piece, Piece)
            match piece:
                case Stage():
                    assert_type(piece.number, int | None)
                case TextPiece():
                    yield piece.text


async def asks_later() -> Answer:
    async with AsyncChat.from_env(retries=0, plain_http=True, relations_per_concept=3) as chat:
        assert_type(await chat.graphs(), list[str])
        async with chat.stream("Who?") as stream:
            async for piece in stream:
                assert_type(piece, Piece)
        return await chat.ask("Who?", strategy="sets")


def is_refused(chat: Chat) -> None:
    Chat("http://127.0.0.1:8000", "key", "demo", strategy="other")  # type: ignore[arg-type]
    Chat("http://127.0.0.1:8000", "key", "demo", depht=2)  # type: ignore[call-arg]
    chat.ask("Who?", names="all")  # type: ignore[arg-type]
    chat.ask("Who?").to_dataframe("rows")  # type: ignore[arg-type]
    Chat.from_env(url="http://127.0.0.1:8000")  # type: ignore[call-arg]
