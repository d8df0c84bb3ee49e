"""OpenAPI prose: examples, bodies and error tables, apart from the code of routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path as InPath

from app.api.uploads import UPLOAD_SCHEMA
from client_sdk.protocol import ErrorBody

CHAT_EXAMPLES: dict[str, Any] = {
    "first": {
        "summary": "A first question; without a public key the answer stays in pseudonyms",
        "value": {
            "graph": "clinic",
            "messages": [{"role": "user", "content": "How many patients lie on the ward of Nurse Ida Holm?"}],
        },
    },
    "follow_up": {
        "summary": "A follow-up: the assistant's turn goes back as the service sent it",
        "value": {
            "graph": "clinic",
            "conversation": "q3hX0b1v8RkW2nTz5mYc7dLs",
            "messages": [
                {"role": "user", "content": "Who is the doctor of Nora Lindqvist?"},
                {"role": "assistant", "content": "It is Eq7f2k."},
                {"role": "user", "content": "Which other patients has he?"},
            ],
            "strategy": "auto",
            "options": {"width": 3, "depth": 3},
            "public_key": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo",
        },
    },
}


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": words}
    for status, words in {
        400: "bad_request: the request can't be read, for it is not UTF-8",
        401: "not_authenticated: no valid API key",
        413: "too_large: the body is over its limit",
        422: "bad_request: a field is missing or not allowed",
        429: "rate_limited: see the header Retry-After",
        500: "internal; or blocked: the guard stopped the request",
        503: "not_ready: see /readyz",
    }.items()
}


NOT_ADMITTED: dict[str, Any] = {
    "model": ErrorBody, "description": "device_not_admitted: the public key was revoked, or is not registered"
}  # fmt: skip


CHAT_ERRORS: dict[int | str, dict[str, Any]] = {
    403: NOT_ADMITTED,
    404: {"model": ErrorBody, "description": "unknown_graph (not there, or no grant) or unknown_conversation"},
    409: {"model": ErrorBody, "description": "conversation_busy: ask again"},
    502: {"model": ErrorBody, "description": "model_unavailable"},
    504: {"model": ErrorBody, "description": "deadline"},
}


CHAT_EVENTS: dict[str, Any] = {
    "description": "the answer; with `stream`, server-sent events: docs/api.md lists them",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "description": "one event of the stream",
                "required": ["event", "data"],
                "properties": {
                    "event": {"enum": ["stage", "text", "evidence", "usage", "answer", "error"]},
                    "data": {"type": "string", "contentMediaType": "application/json"},
                },
            }
        }
    },
}


TRACE_ERRORS: dict[int | str, dict[str, Any]] = {
    403: NOT_ADMITTED,
    404: {"model": ErrorBody, "description": "unknown_answer: not there, another's, or no right to look into it"},
}


BROWSE_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "not_permitted: it takes the grant inspect:GRAPH; device_not_admitted"},
    404: {"model": ErrorBody, "description": "unknown_graph (not there, or no grant) or unknown_conversation"},
    409: {"model": ErrorBody, "description": "conversation_busy: ask again"},
}


DEVICE_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "not_permitted; or device_not_admitted: it was revoked"},
    404: {"model": ErrorBody, "description": "unknown_device or unknown_key"},
    409: {"model": ErrorBody, "description": "too_many_devices"},
}


GRAPH_NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"


GraphName = Annotated[str, InPath(pattern=GRAPH_NAME)]


NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "nothing with that id"}}


_AMBIGUOUS: dict[int | str, dict[str, Any]] = {
    **NOT_FOUND,
    409: {"model": ErrorBody, "description": "ambiguous_name: choose one of the plan's; or graph_busy"},
}


_LOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": UPLOAD_SCHEMA,
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["path"],
                    "additionalProperties": False,
                    "properties": {
                        "path": {"type": "string", "description": "a file within AROG_ALLOWED_LOAD_DIR"},
                        "ontology": {"type": "string", "description": "another such file"},
                        "policy": {"type": "string", "description": "TOML; the proposed policy by default"},
                    },
                },
                "example": {"path": "clinic.ttl"},
            },
        },
    }
}


LINES = "application/x-ndjson"


_FILES = {"requestBody": {"required": True, "content": {"multipart/form-data": UPLOAD_SCHEMA}}}


_CONFLICT: dict[int | str, dict[str, Any]] = {
    **NOT_FOUND, 409: {"model": ErrorBody, "description": "not_waiting: the job is not waiting for approval here"},
}  # fmt: skip


_PREVIEW: dict[int | str, dict[str, Any]] = {
    403: NOT_ADMITTED,
    409: {
        "model": ErrorBody,
        "description": "preview_busy: another preview of this tenant is being made, or too many of others",
    },
}


_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {LINES: {"schema": {"type": "string"}}},
        "description": "docs/operations/ledger.md describes the lines",
    },
    409: {"model": ErrorBody, "description": "ledger_broken: its end was changed from outside"},
}


JobId = Annotated[str, InPath(max_length=64)]
