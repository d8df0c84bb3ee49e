"""GET /ledger and GET /trace: what the model was sent, and said; and whether its record is whole."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from client_sdk.protocol.base import Wire
from client_sdk.protocol.capsule import Capsule, Names


class LedgerRow(Wire):
    """One request to the model: what stage sent it, its bytes and SHA-256, and what the guard said.

    `payload` is what the model saw, in pseudonyms; it is null once its retention has passed.
    """

    id: str
    at: datetime
    answer: str
    conversation: str
    step: str
    size: int = Field(description="bytes of the request's body")
    digest: str = Field(description="SHA-256 of the request's body, hex")
    verdict: str = Field(description="`clear` or `blocked`")
    payload: str | None = None
    key_id: str = Field(default="", description="the API key that asked")
    asker: str = Field(default="", description="what that key is called, where it has a label")
    graph: str | None = Field(default=None, description="null once the conversation is no longer kept")


class LedgerPage(Wire):
    """GET /ledger: the caller's own entries, newest first."""

    entries: list[LedgerRow]


class LedgerCheck(Wire):
    """GET /admin/ledger/check: the tenant's chain by rows, some thousand a call. `rows` and `wrong` count all calls.

    `findings`: what this call found wrong, its first hundred. `first` and `last` are the numbers of the rows so far,
    `key` the public key that its checkpoints are signed with, hex. `cursor` goes into the next call; it is null after
    the last row, and only then `is_whole` may be true.
    """

    rows: int
    first: int
    last: int
    checkpoints: int
    is_whole: bool
    wrong: int
    findings: list[str]
    remarks: list[str]
    key: str
    cursor: str | None = None


class TracedCall(Wire):
    """One request to the model and what came back. `prompt` is its body and `reply` the model's own words, both in
    pseudonyms; null once their retention has passed, and where nothing was sent or came back.

    `outcome`: `used`, `unusable` (the reply broke its schema or its task's rules), `blocked` (the guard stopped it),
    `none` (nothing came back). `anonymity`: how many entities of the graph fit what the prompt shows of a thing, the
    least where it shows several; null where it shows none, and like the prompt.
    """

    step: str
    at: datetime
    outcome: Literal["used", "unusable", "blocked", "none"]
    prompt: str | None = None
    reply: str | None = None
    anonymity: int | None = None


class TraceContent(Wire):
    """The content of an opened trace: the calls in their order, and the names of all their pseudonyms.

    `names_kept` is false where the conversation has expired, or was never kept: then there is no name.
    """

    answer_id: str
    calls: list[TracedCall]
    names_kept: bool
    table: dict[str, Names]


class SealedTrace(Wire):
    """GET /trace/{id}: a TraceContent, sealed to the caller's key."""

    answer: str
    capsule: Capsule
