"""Ask a private knowledge graph questions, and restore the names in the answers on the asker's own machine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from client_sdk.errors import (
    ArogError,
    BadAnswerError,
    BadRequestError,
    CannotOpenCapsuleError,
    ConversationBusyError,
    DeadlinePassedError,
    ModelUnavailableError,
    NotAuthenticatedError,
    NotConfiguredError,
    NotPermittedError,
    NotReadyError,
    RateLimitedError,
    RefusedError,
    RequestTimeoutError,
    ServerError,
    StreamCutError,
    TooLargeError,
    UnknownConversationError,
    UnknownGraphError,
    UnreachableError,
)

if TYPE_CHECKING:
    from client_sdk.answers.answer import Answer, open_answer
    from client_sdk.answers.evidence import Entity, RestoredFact
    from client_sdk.client import AskOptions, AsyncChat, Chat, ChatOptions
    from client_sdk.crypto.sealing import KeyPair
    from client_sdk.devices import Devices
    from client_sdk.dialogue import Turn
    from client_sdk.memory import AsyncMemory, Memory, RememberedFact
    from client_sdk.streaming import AsyncStream, Piece, Stage, Stream, TextPiece
    from client_sdk.trace import Trace, TraceStep
    from client_sdk.transport.flow import Wait
    from client_sdk.trial import TriedFiles, try_files

__all__ = [
    "Answer",
    "ArogError",
    "AskOptions",
    "AsyncChat",
    "AsyncMemory",
    "AsyncStream",
    "BadAnswerError",
    "BadRequestError",
    "CannotOpenCapsuleError",
    "Chat",
    "ChatOptions",
    "ConversationBusyError",
    "DeadlinePassedError",
    "Devices",
    "Entity",
    "KeyPair",
    "Memory",
    "ModelUnavailableError",
    "NotAuthenticatedError",
    "NotConfiguredError",
    "NotPermittedError",
    "NotReadyError",
    "Piece",
    "RateLimitedError",
    "RefusedError",
    "RememberedFact",
    "RequestTimeoutError",
    "RestoredFact",
    "ServerError",
    "Stage",
    "Stream",
    "StreamCutError",
    "TextPiece",
    "TooLargeError",
    "Trace",
    "TraceStep",
    "TriedFiles",
    "Turn",
    "UnknownConversationError",
    "UnknownGraphError",
    "UnreachableError",
    "Wait",
    "open_answer",
    "try_files",
]

# Modules are imported late, so that a command that shows help or fails early need not wait for them.
_MODULES = {
    "answers.answer": ("Answer", "open_answer"),
    "answers.evidence": ("Entity", "RestoredFact"),
    "client": ("AskOptions", "AsyncChat", "Chat", "ChatOptions"),
    "crypto.sealing": ("KeyPair",),
    "devices": ("Devices",),
    "dialogue": ("Turn",),
    "memory": ("AsyncMemory", "Memory", "RememberedFact"),
    "streaming": ("AsyncStream", "Piece", "Stage", "Stream", "TextPiece"),
    "trace": ("Trace", "TraceStep"),
    "transport.flow": ("Wait",),
    "trial": ("TriedFiles", "try_files"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Imports an exported name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
