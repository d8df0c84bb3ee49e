"""The ledger: its rows, one answer's trace, its check and its export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from app.accounts.ledger_access import read_ledger_page
from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import _EXPORT, LINES, TRACE_ERRORS
from app.api.routes.routers import Cursor, caller_router, owner_router
from client_sdk.protocol import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, LedgerCheck, LedgerPage, SealedTrace


@caller_router.get("/ledger", response_model=LedgerPage)
async def get_ledger(
    caller: CallerOf,
    services: ServicesOf,
    answer: Annotated[str | None, Query(max_length=64, description="only what one answer sent")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> LedgerPage:
    """Lists what the model was shown for this key's questions, newest first; an admin sees the whole tenant's."""
    return await run_in_threadpool(
        read_ledger_page, services.store.ledger, services.store.engine, caller, answer, limit
    )


@caller_router.get("/trace/{id}", response_model=SealedTrace, responses=TRACE_ERRORS)
async def get_trace(
    id: Annotated[str, Path(max_length=64, description="an answer's id")],
    caller: CallerOf,
    services: ServicesOf,
    public_key: Annotated[str, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)],
) -> SealedTrace:
    """Shows what the model was sent and said for one answer, with the names, sealed to the caller's key.

    For the key that asked, with the grant `inspect:GRAPH`, and for an admin; to others it is not there.
    """
    await run_in_threadpool(services.store.devices.admit, caller, public_key)
    return await run_in_threadpool(services.tracer.trace, caller, id, public_key)


@owner_router.get("/ledger/check", response_model=LedgerCheck)
async def check_ledger(caller: CallerOf, services: ServicesOf, cursor: Cursor = None) -> LedgerCheck:
    """Checks that no row of the tenant's ledger was changed, deleted, added or moved: at most 5,000 rows a call.

    Where more are left, `cursor` of the reply goes into the next call.
    """
    return await run_in_threadpool(services.store.audit.check, caller.tenant, cursor)


@owner_router.post("/ledger/export", response_class=StreamingResponse, responses=_EXPORT)
async def export_ledger(caller: CallerOf, services: ServicesOf, payloads: bool = False) -> StreamingResponse:
    """The tenant's ledger as JSON lines, signed as it is now; with `payloads` what was sent and replied."""
    lines: Iterator[str] = await run_in_threadpool(services.store.audit.lines, caller.tenant, payloads)
    return StreamingResponse(lines, media_type=LINES)
