"""Contexts to which the payloads of the ledger are sealed: each opens in its own row alone."""

from __future__ import annotations

from typing import Final, Protocol

from kg_store.storage.master_key import bind

PURPOSE: Final = "ledger"


class HasIds(Protocol):
    """A request of the ledger, as an entry or as a row."""

    @property
    def id(self) -> str: ...
    @property
    def tenant(self) -> str: ...
    @property
    def caller(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def conversation(self) -> str: ...
    @property
    def step(self) -> str: ...
    @property
    def digest(self) -> str: ...


def request_context(entry: HasIds) -> bytes:
    """Binds a payload to its row: one that is moved to another entry, or another's, does not open."""
    return bind(entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step, entry.digest)


def reply_context(entry: HasIds) -> bytes:
    """Binds a reply to the request that it came back to."""
    return bind("reply", entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step)


def sealed_content(payload: bytes, anonymity: int | None) -> bytes:
    """The sealed part of a request: its body, and behind it a number, where there is one."""
    return payload if anonymity is None else payload + str(anonymity).encode()


def opened_content(plain: bytes, size: int) -> tuple[bytes, int | None]:
    """The body, which has `size` bytes, and the number. Rows of before the number was kept have the body alone."""
    payload, number = plain[:size], plain[size:]
    return payload, int(number) if number.isdigit() else None
