"""Ask a private knowledge graph questions, and restore the names of the answers on the asker's own machine."""

from client_sdk.answers.answer import Answer, open_answer
from client_sdk.answers.evidence import Entity, KnownFact
from client_sdk.client import AsyncChat, Chat
from client_sdk.crypto.sealing import KeyPair
from client_sdk.devices import Devices
from client_sdk.dialogue import Turn
from client_sdk.errors import (
    ArogError,
    BadAnswer,
    BadRequest,
    CannotOpenCapsule,
    ConversationBusy,
    DeadlinePassed,
    ModelUnavailable,
    NotAuthenticated,
    NotConfigured,
    NotPermitted,
    NotReady,
    RateLimited,
    Refused,
    ServerError,
    StreamCut,
    Timeout,
    TooLarge,
    UnknownConversation,
    UnknownGraph,
    Unreachable,
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
    "BadAnswer",
    "BadRequest",
    "CannotOpenCapsule",
    "Chat",
    "ChatOptions",
    "ConversationBusy",
    "DeadlinePassed",
    "Devices",
    "Entity",
    "KeyPair",
    "KnownFact",
    "ModelUnavailable",
    "NotAuthenticated",
    "NotConfigured",
    "NotPermitted",
    "NotReady",
    "Piece",
    "RateLimited",
    "Refused",
    "ServerError",
    "Stage",
    "Stream",
    "StreamCut",
    "TextPiece",
    "Timeout",
    "TooLarge",
    "Trace",
    "TraceStep",
    "Turn",
    "UnknownConversation",
    "UnknownGraph",
    "Unreachable",
    "open_answer",
]
