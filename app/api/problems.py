"""Maps each exception to the reply to a caller: status, code, a sentence, and what to do; never the exception's text.

Only the texts of LoadError, VersionError and PolicyError are passed on, because they contain only a file's base name,
a line and fixed words of ours (see kg_store.errors).
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from sqlalchemy.exc import OperationalError

from app.accounts.api_keys import (
    BadGrantError,
    DeviceNotAdmittedError,
    NoBreakGlassError,
    NoGrantError,
    NotAuthenticatedError,
    NotPermittedError,
    TooManyDevicesError,
    UnknownAnswerError,
    UnknownDeviceError,
    UnknownKeyError,
)
from app.accounts.names_read import NamesUsedUpError
from app.accounts.persons import NoGroupError, ProviderUnreachableError
from app.chat.beside import UnknownBesideError
from app.chat.conversations import ConversationBusyError, UnknownConversationError
from app.chat.fact_list import UnknownFactError
from app.chat.ratings import UnknownRatedAnswerError
from app.egress.budgets import (
    BudgetUsedUpError,
    ConversationRevealsUsedUpError,
    TenantBudgetUsedUpError,
    TenantRevealsUsedUpError,
)
from app.egress.disclosure import StrategyNotOfferedError
from app.egress.guard import BlockedError
from app.egress.ledger.audit import LedgerBrokenError, UnknownCursorError
from app.graphs.jobs import (
    AmbiguousNameError,
    ErasureUnfinishedError,
    GraphBusyError,
    JobInterruptedError,
    JobStoppedError,
    NotWaitingError,
    UnknownJobError,
    UnknownNameError,
)
from app.graphs.previews.previewer import PreviewBusyError
from app.llm.reasoner import ReasonerError, ReasonerUnavailableError, ReplyUnusableError
from app.memory.cases import UnknownCaseError
from app.privacy.safe_text import PrivacyError
from client_sdk.crypto.sealing import BadPublicKeyError
from client_sdk.protocol import ErrorBody
from kg_store.errors import (
    FormatTooNewError,
    LoadError,
    MasterKeyError,
    NotPublicError,
    PolicyError,
    UnknownColumnError,
    UnknownGraphError,
    VersionError,
)


class BadRequestError(Exception):
    """The request does not fit the endpoint. `reason` and `hint` are fixed words of ours, without input."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


class TooLargeError(Exception):
    """A body or upload has more than `limit` bytes; `setting` is the setting that limits it."""

    def __init__(self, limit: int, setting: str) -> None:
        super().__init__(f"over {limit} bytes")
        self.limit, self.setting = limit, setting


class RateLimitedError(Exception):
    """The key has used up its requests; after `retry_after_s` seconds it may send the next."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"retry after {retry_after_s} s")
        self.retry_after_s = retry_after_s


class NoSignInError(Exception):
    """Nobody can sign in as a person here, because no OpenID provider is set."""


class NotReadyError(Exception):
    """The service has started but is not ready; GET /readyz tells what is missing."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The reply to one kind of error."""

    status: int
    code: str
    message: str
    hint: str


INTERNAL = Problem(500, "internal", "Something failed inside the service.", "Give the id to whoever runs the service.")
_DISK_FULL = Problem(
    507, "disk_full", "The disk of the service is full.",
    "Whoever runs it makes room, or moves AROG_DATA_DIR; then try again. No graph has changed.",
)  # fmt: skip
_UNKNOWN_GRAPH = Problem(
    404, "unknown_graph", "There is no graph of that name for this key.",
    "GET /graphs lists the graphs that this key may ask; an admin can load one or grant it.",
)  # fmt: skip
_KINDS: dict[type[BaseException], Problem] = {
    NotAuthenticatedError: Problem(
        401, "not_authenticated", "The API key is missing or not valid.",
        "Send the header `Authorization: Bearer <key>`; an admin makes keys with POST /admin/keys. A person signs in "
        "with `arog login`.",
    ),
    NoGroupError: Problem(
        403, "no_group", "You are signed in, but none of your groups may do anything here.",
        "Whoever runs the service adds one of your groups to the file of AROG_OIDC_GROUPS.",
    ),
    ProviderUnreachableError: Problem(
        503, "sign_in_unavailable", "The OpenID provider can't be reached, so nobody's sign-in can be checked.",
        "Try again in a minute. API keys work meanwhile; GET /readyz says what is wrong.",
    ),
    NoSignInError: Problem(
        404, "no_sign_in", "Nobody can sign in as a person at this service.",
        "Ask with an API key; whoever runs the service may set AROG_OIDC_ISSUER.",
    ),
    NotPermittedError: Problem(
        403, "not_permitted", "This key may not do that.", "This needs a key with the role admin."
    ),
    NoBreakGlassError: Problem(
        403, "not_permitted", "This key may not lift its role in this graph.",
        "It takes the grant `break-glass:GRAPH` beside `GRAPH#ROLE`; an admin makes such a key.",
    ),
    # The same reply for both errors, so that nobody learns which graphs others have.
    NoGrantError: _UNKNOWN_GRAPH,
    UnknownGraphError: _UNKNOWN_GRAPH,
    NotPublicError: Problem(
        422, "not_public", "Only a public graph can stand beside another one.",
        "Load it with all its files public: `arog graph load NAME --public FILE`, or `[public] files` in its policy.",
    ),
    UnknownBesideError: Problem(
        404, "unknown_graph", "A graph that was to stand beside the asked one is not there for this key.",
        "GET /graphs lists the graphs that this key may ask; an admin can load one or grant it.",
    ),
    UnknownConversationError: Problem(
        404, "unknown_conversation", "There is no such conversation for this key and graph, or it has expired.",
        "Leave `conversation` out to begin a new one.",
    ),
    UnknownColumnError: Problem(
        422, "unknown_column", "The table has no such column, or can't be sorted, searched or counted by it.",
        "`columns` of the table's first page tells what each column can do.",
    ),
    UnknownAnswerError: Problem(
        404, "unknown_answer", "There is no trace of that answer for this key.",
        "Use the key that asked, with the grant `inspect:GRAPH`, or an admin's; without a model's call there is none.",
    ),
    UnknownRatedAnswerError: Problem(
        404, "not_ratable", "The conversation has no such answer, or has had too many since.",
        "Rate an answer soon after it came, with its own id and conversation.",
    ),
    UnknownCaseError: Problem(
        404, "unknown_case", "The graph has no case of that id.", "GET /admin/graphs/{name}/cases lists them."
    ),
    UnknownFactError: Problem(
        404, "unknown_fact", "Nothing that is remembered for you has that id, or it is forgotten.",
        "GET /memory lists what is remembered of a graph, each sentence with its id.",
    ),
    ConversationBusyError: Problem(
        409, "conversation_busy", "Another question of this conversation was answered in the meantime.",
        "Ask again; a conversation takes one question at a time.",
    ),
    UnknownKeyError: Problem(
        404, "unknown_key", "There is no key with that id.", "`arog api-key list` shows the ids."
    ),
    DeviceNotAdmittedError: Problem(
        403, "device_not_admitted", "No names are sealed to this public key: it was revoked, or it is not registered.",
        "`arog device list` shows this key's devices; where devices are required, an admin registers them. For a "
        "revoked one make a new key.",
    ),
    UnknownDeviceError: Problem(
        404, "unknown_device", "This key has no device with that fingerprint.", "GET /devices lists them."
    ),
    TooManyDevicesError: Problem(
        409, "too_many_devices", "This key already has the largest number of devices, counting revoked ones.",
        "Have a new API key made.",
    ),
    UnknownNameError: Problem(
        404, "unknown_name", "The graph has nothing of that name, or nothing of that kind connected to it.",
        "Give the name as the graph has it, or the id in its source; case and accents do not matter.",
    ),
    UnknownJobError: Problem(404, "unknown_job", "There is no job with that id.", "The reply to a load gives its id."),
    GraphBusyError: Problem(
        409, "graph_busy", "This graph is being loaded already.", "Wait until that job has ended, then load again."
    ),
    JobStoppedError: Problem(
        409, "stopped", "The load was stopped, or nobody approved it in time.",
        "The graph is unchanged. Load it again if you still want it.",
    ),
    NotWaitingError: Problem(
        409, "not_waiting", "This job is not waiting for approval, or was approved before.",
        "GET /admin/jobs/{id} shows how far it is.",
    ),
    PreviewBusyError: Problem(
        409, "preview_busy", "Another preview of yours is being made, or too many of others.",
        "Ask for it again in a few seconds.",
    ),
    LedgerBrokenError: Problem(
        409, "ledger_broken", "The end of the ledger was changed from outside.",
        "GET /admin/ledger/check says more, and so does `arog ledger verify`.",
    ),
    UnknownCursorError: Problem(422, "bad_request", "This cursor is not known.", "Begin the check again without it."),
    JobInterruptedError: Problem(
        500, "interrupted", "The service stopped while the job ran; the graph is unchanged.", "Start the job again."
    ),
    BudgetUsedUpError: Problem(
        429, "budget_used_up", "The question would take more tokens than one question may.",
        "Send fewer earlier turns, or have AROG_QUESTION_TOKENS raised.",
    ),
    ReasonerUnavailableError: Problem(
        502, "model_unavailable", "The model endpoint did not answer in time.", "Ask again in a minute."
    ),
    ReplyUnusableError: Problem(
        502, "model_reply_unusable", "The model replied, but with nothing that can be used.",
        "Ask again. Whoever runs the service can try the model with `arog endpoint test`, and have the service answer "
        "by itself with AROG_ENDPOINT_FALLBACKS=embedded.",
    ),
    ReasonerError: Problem(
        502, "model_unavailable", "The model endpoint refused the request.",
        "If it keeps refusing, whoever runs the service should check the endpoint's model, key and quota.",
    ),
    TimeoutError: Problem(
        504, "deadline", "The request took longer than the service allows.",
        "Ask again, with a smaller `options.depth` or `options.width`.",
    ),
    NotReadyError: Problem(503, "not_ready", "The service is not ready yet.", "GET /readyz says what is missing."),
    BadPublicKeyError: Problem(
        422, "bad_public_key", "`public_key` is not a public key of X25519, or of ML-KEM-768 and X25519.",
        "Send its bytes as base64url (`arog keygen` prints it), or leave it out to get pseudonyms only.",
    ),
    StrategyNotOfferedError: Problem(
        422, "strategy_not_offered", "`arog` shows a model more of each thing than this service allows.",
        "Leave `strategy` out, or set it to `sets`; AROG_PROFILE=open would allow it.",
    ),
    BlockedError: Problem(
        500, "blocked", "The request was stopped inside: it would have shown the model a name or value.",
        "Nothing was sent. Ask in other words, and give the id to whoever runs the service.",
    ),
    PrivacyError: Problem(
        500, "blocked", "The request was stopped inside, since it could not be made safe or recorded.",
        "Nothing was sent. Give the id to whoever runs the service.",
    ),
    MasterKeyError: Problem(
        503, "key_problem", "The master key does not open this data.",
        "Whoever runs the service must set the master key that sealed it.",
    ),
    FormatTooNewError: Problem(
        503, "format_too_new", "The data folder was written by another version of the service.",
        "Whoever runs the service must start the version that wrote it.",
    ),
}  # fmt: skip


def problem_of(error: BaseException) -> Problem:
    """Returns the reply to `error`; INTERNAL for every type that is not in the map."""
    match error:
        case BadRequestError():
            return Problem(422, "bad_request", error.reason, error.hint)
        case BadGrantError():
            return Problem(422, "bad_grant", f"{error.reason}.", "`arog graph roles GRAPH` lists a graph's roles.")
        case TooLargeError():
            message = f"The request is larger than the {error.limit} bytes that are allowed."
            return Problem(413, "too_large", message, f"Send less, or have {error.setting} raised.")
        case RateLimitedError():
            message = "This key has made too many requests."
            return Problem(429, "rate_limited", message, f"Wait {error.retry_after_s} seconds.")
        case BudgetUsedUpError() | NamesUsedUpError() if (told := _of_budget(error)) is not None:
            return told
        case ReasonerUnavailableError(reason=reason) if reason:
            # The address is left out: callers should not learn what runs in the owner's network.
            hint = "Whoever runs the service sees which one on its terminal, and at GET /admin/endpoints."
            return Problem(502, "model_unavailable", f"The model endpoint can't be reached: {reason}.", hint)
        case AmbiguousNameError():
            message = f"{error.count} things of the graph have that name."
            return Problem(409, "ambiguous_name", message, "Choose one: the plan lists them, each with an id.")
        case ErasureUnfinishedError():
            message = f"The erasure is not finished: {error.reason}."
            return Problem(409, "forget_unfinished", message, "Send the request again: it continues where it stopped.")
        case LoadError():
            hint = "Correct the file at that place and load it again; the graph is as it was before."
            return Problem(422, "load_failed", f"{error}.", hint)
        case VersionError():
            hint = "GET /admin/graphs/{name}/versions lists the versions that are kept; the graph is as it was before."
            return Problem(422, "rollback_failed", f"{str(error)[:1].upper()}{str(error)[1:]}.", hint)
        case PolicyError():
            return Problem(422, "bad_policy", f"{error}.", "`arog graph inspect FILE` proposes a policy.")
    if _is_disk_full(error):
        return _DISK_FULL
    return next((_KINDS[kind] for kind in type(error).__mro__ if kind in _KINDS), INTERNAL)


def _of_budget(error: BaseException) -> Problem | None:
    """Returns the reply to an error that says that a budget is used up.

    Returns None for the budget of a single question, which has a fixed reply.
    """
    match error:
        case TenantBudgetUsedUpError():
            message = "This tenant may take no more tokens of the model today."
            hint = f"They renew at midnight UTC, in {_hours(error.renews_in_s)}; GET /admin/budget shows what is left."
            return Problem(429, "budget_used_up", message, hint)
        case NamesUsedUpError():
            # A limit of facts an hour is half of a day's, and has no setting of its own.
            setting = "AROG_FACTS_PER_DAY" if error.kind == "facts" else f"AROG_NAMES_PER_{error.period.upper()}"
            when = "for now" if error.period == "hour" else "today"
            message = f"You may read no more {error.kind} of this graph {when} ({error.most} in one {error.period})."
            more = f"There are more in {_hours(error.renews_in_s)}"
            hint = "This answer alone tells more: ask about fewer things" if error.fits_never else more
            owners = "" if error.period == "hour" else ", or `budget` in the graph's policy,"
            return Problem(429, "budget_used_up", message, f"{hint}, or have {setting}{owners} raised.")
        case ConversationRevealsUsedUpError():
            message = "This conversation has shown the model as many facts as one may."
            hint = "Leave `conversation` out to begin a new one, or have AROG_CONVERSATION_REVEALS raised."
            return Problem(429, "budget_used_up", message, hint)
        case TenantRevealsUsedUpError():
            message = "This tenant may show the model no more facts today."
            hint = f"They renew at midnight UTC, in {_hours(error.renews_in_s)}; GET /admin/budget shows what is left."
            return Problem(429, "budget_used_up", message, hint)
    return None


def _is_disk_full(error: BaseException) -> bool:
    """True if the disk is full, or if a full disk caused the error that was raised in its place."""
    if isinstance(error, OperationalError):
        return "disk is full" in str(error.orig)
    if isinstance(error, OSError):
        return error.errno == errno.ENOSPC
    return error.__context__ is not None and _is_disk_full(error.__context__)


def error_body(error: BaseException, error_id: str, problem: Problem | None = None) -> ErrorBody:
    """Returns the error as sent to the caller. Its id is the error's own (of a PrivacyError), else `error_id`."""
    told = problem or problem_of(error)
    own_id = error.id if isinstance(error, PrivacyError) else None
    return ErrorBody(code=told.code, message=told.message, hint=told.hint, id=own_id or error_id)


def _hours(seconds: int) -> str:
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return f"{hours} h {minutes} min"
