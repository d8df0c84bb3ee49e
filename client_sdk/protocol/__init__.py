"""The wire types of both sides, by theme; everything is imported from here."""

from client_sdk.protocol.answering import (
    Ambiguity,
    ChatAnswer,
    ErrorBody,
    Fact,
    Item,
    ItemKind,
    Reading,
    Usage,
)
from client_sdk.protocol.api_keys import (
    KeyCreated,
    KeyRole,
    NewKey,
)
from client_sdk.protocol.asking import (
    MAX_MESSAGE_CHARS,
    MAX_MESSAGES,
    ChatOptions,
    ChatRequest,
    Message,
    Role,
    StrategyName,
)
from client_sdk.protocol.capsule import (
    Capsule,
    CapsuleContent,
    Names,
    capsule_context,
    trace_context,
)
from client_sdk.protocol.events import (
    CapsuleEvent,
    ErrorEvent,
    EvidenceEvent,
    StageEvent,
    StageName,
    TextEvent,
)
from client_sdk.protocol.graphs import (
    GraphList,
    GraphNames,
    GraphSummary,
    JobState,
    JobStatus,
    RefineConcepts,
    RefineEstimate,
)
from client_sdk.protocol.looking import (
    LedgerPage,
    LedgerRow,
    SealedTrace,
    TraceContent,
    TracedCall,
)
from client_sdk.protocol.watching import (
    EndpointList,
    EndpointState,
    EndpointStatus,
    Readiness,
    TokenBudget,
)
from client_sdk.protocol.wire import (
    Wire,
)

__all__ = [
    "MAX_MESSAGES",
    "MAX_MESSAGE_CHARS",
    "Ambiguity",
    "Capsule",
    "CapsuleContent",
    "CapsuleEvent",
    "ChatAnswer",
    "ChatOptions",
    "ChatRequest",
    "EndpointList",
    "EndpointState",
    "EndpointStatus",
    "ErrorBody",
    "ErrorEvent",
    "EvidenceEvent",
    "Fact",
    "GraphList",
    "GraphNames",
    "GraphSummary",
    "Item",
    "ItemKind",
    "JobState",
    "JobStatus",
    "KeyCreated",
    "KeyRole",
    "LedgerPage",
    "LedgerRow",
    "Message",
    "Names",
    "NewKey",
    "Readiness",
    "Reading",
    "RefineConcepts",
    "RefineEstimate",
    "Role",
    "SealedTrace",
    "StageEvent",
    "StageName",
    "StrategyName",
    "TextEvent",
    "TokenBudget",
    "TraceContent",
    "TracedCall",
    "Usage",
    "Wire",
    "capsule_context",
    "trace_context",
]
