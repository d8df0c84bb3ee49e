"""Ask a private knowledge graph questions, and restore the names of the answers on the asker's own machine."""

from client_sdk.answers.answer import Answer, open_answer
from client_sdk.answers.evidence import Entity, RestoredFact
from client_sdk.async_client import AsyncChat
from client_sdk.client import Chat
from client_sdk.crypto.sealing import KeyPair
from client_sdk.devices import Devices
from client_sdk.dialogue import Turn
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
from client_sdk.options import AskOptions, ChatOptions
from client_sdk.streaming import AsyncStream, Piece, Stage, Stream, TextPiece
from client_sdk.trace import Trace, TraceStep

__all__ = [
    "Answer",
    "ArogError",
    "AskOptions",
    "AsyncChat",
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
    "ModelUnavailableError",
    "NotAuthenticatedError",
    "NotConfiguredError",
    "NotPermittedError",
    "NotReadyError",
    "Piece",
    "RateLimitedError",
    "RefusedError",
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
    "Turn",
    "UnknownConversationError",
    "UnknownGraphError",
    "UnreachableError",
    "open_answer",
]
