"""Logs that cannot reveal a name: only allowed keys are written, and of an exception only its type and place."""

from __future__ import annotations

import ctypes
import logging
import resource
import sys
import threading
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any, TextIO

import structlog

# Ids, counts, step names and durations. All other keys that are passed to a logger are dropped.
ALLOWED_KEYS = frozenset(
    {"event", "level", "timestamp", "logger", "id", "code", "status", "error", "place", "caller", "job", "state"}
    | {"method", "route", "milliseconds", "step", "count", "calls", "rounds", "expired", "version", "host", "port"}
)
MAX_VALUE_CHARS = 120
_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of linux/prctl.h
_OURS = ("app", "client_sdk", "kg_store")
# Libraries whose message templates are logged, without arguments: they are fixed words.
_TEMPLATES_OF = ("uvicorn", "alembic", "arog")


def event_log(name: str) -> structlog.stdlib.BoundLogger:
    """Returns the logger of one module. Events are fixed words; keys outside ALLOWED_KEYS are dropped.

    It has its own processors because structlog's default ones would print an exception with its local variables.
    """
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(f"arog.{name}"),
        processors=[
            structlog.stdlib.filter_by_level,
            *_chain(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    return logger


def place_of(error: BaseException) -> str:
    """Returns `module:line` of the innermost frame in this project's code, or else of the innermost frame."""
    place, ours = "", ""
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", "?"))
        place = f"{module}:{trace.tb_lineno}"
        if module.split(".")[0] in _OURS:
            ours = place
        trace = trace.tb_next
    return ours or place or "unknown"


def start_logging(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Sends the records of every logger, and uncaught exceptions, through the allow-list as JSON lines."""
    renderer: list[structlog.types.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.JSONRenderer(),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=renderer, foreign_pre_chain=[_foreign, *_chain()], use_get_message=False
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        quiet = logging.getLogger(name)
        quiet.handlers[:] = []
        quiet.propagate = name != "uvicorn.access"
    # Messages of libraries lose their words here, so below WARNING they would be noise.
    root.setLevel(max(level, logging.WARNING))
    logging.getLogger("arog").setLevel(level)
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda args: _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def forbid_core_dumps() -> None:
    """Forbids core dumps, which would contain decrypted rows of the vault and the master key.

    The resource limit stops dump files. On Linux the process is also marked as not dumpable, so that the kernel passes
    its memory to no dump program and other processes of the same user cannot attach a debugger.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _chain() -> list[structlog.types.Processor]:
    return [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _reduce_exception,
        _keep_allowed,
    ]


def _foreign(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Reduces a library's record to its message template, or to fixed words, because the message may quote data."""
    record: logging.LogRecord = event["_record"]
    known = record.name.split(".")[0] in _TEMPLATES_OF
    event["event"] = record.msg if known and isinstance(record.msg, str) else "library message"
    if record.exc_info:
        event["exc_info"] = record.exc_info
        # Else the formatter would add the exception's text again after these processors.
        record.exc_info, record.exc_text = None, None
    return event


def _reduce_exception(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    raised = event.pop("exc_info", None)
    error = sys.exc_info()[1] if raised is True else raised[1] if isinstance(raised, tuple) else raised
    if isinstance(error, BaseException):
        event["error"], event["place"] = type(error).__name__, place_of(error)
    return event


def _keep_allowed(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    kept = {key: _plain(value) for key, value in event.items() if key in ALLOWED_KEYS}
    # structlog's own entries, which it removes before the line is rendered.
    return {**kept, **{key: event[key] for key in ("_record", "_from_structlog") if key in event}}


def _plain(value: object) -> object:
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return value[:MAX_VALUE_CHARS] if isinstance(value, str) else type(value).__name__


def _log_uncaught(_kind: type[BaseException], error: BaseException | None, _trace: TracebackType | None) -> None:
    if error is not None and not isinstance(error, KeyboardInterrupt):
        event_log("process").error("uncaught", exc_info=error)
