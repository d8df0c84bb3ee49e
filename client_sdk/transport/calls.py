"""The requests of a Chat, and what is read off their replies."""

from __future__ import annotations

from urllib.parse import quote

from client_sdk.protocol import AnswerRating, ChatRequest, LedgerPage, LedgerRow
from client_sdk.transport.flow import Call


def chat_call(request: ChatRequest) -> Call:
    body = request.model_dump_json(exclude_none=True).encode()
    return Call("POST", "/chat", body, streamed=request.stream)


def graphs_call() -> Call:
    return Call("GET", "/graphs", repeatable=True)


def rating_call(rating: AnswerRating) -> Call:
    """It may be sent again: the last rating of an answer wins."""
    return Call("POST", "/ratings", rating.model_dump_json(exclude_none=True).encode(), repeatable=True)


def ledger_call(answer_id: str | None, limit: int) -> Call:
    wanted = {"answer": answer_id} if answer_id is not None else {}
    return Call("GET", "/ledger", params={"limit": str(limit), **wanted}, repeatable=True)


def trace_call(answer_id: str, public_key: str) -> Call:
    return Call("GET", f"/trace/{quote(answer_id, safe='')}", params={"public_key": public_key}, repeatable=True)


def rows_of(page: LedgerPage, answer_id: str | None) -> list[LedgerRow]:
    """The rows of one answer, or all; an older service gives all."""
    return [row for row in page.entries if answer_id in (None, row.answer)]
