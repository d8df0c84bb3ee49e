"""Telemetry: whatever is logged, by us or by a library, no text of an error, argument or unknown key comes out."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator

import pytest

from app.telemetry.logs import event_log
from tests.support.service import logging_to

CANARY = "Nora Lindqvist"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with logging_to(io.StringIO()) as stream:
        yield stream


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def fail() -> None:
    raise ValueError(CANARY)


def test_known_keys_are_written_as_json_and_unknown_ones_dropped(stream: io.StringIO) -> None:
    event_log("test").info("request", id="r1", status=200, question=CANARY)
    event_log("test").info("request", id=[CANARY])
    line, other = lines(stream)
    assert other["id"] == "list"
    assert (line["event"], line["id"], line["status"], line["level"]) == ("request", "r1", 200, "info")
    assert CANARY not in stream.getvalue()


def test_an_exception_is_told_by_type_and_place(stream: io.StringIO) -> None:
    try:
        fail()
    except ValueError as error:
        event_log("test").error("failed", exc_info=error)
    (line,) = lines(stream)
    assert line["error"] == "ValueError"
    assert str(line["place"]).rpartition(":")[2].isdigit()
    assert CANARY not in stream.getvalue()


def test_a_librarys_message_and_arguments_stay_out(stream: io.StringIO) -> None:
    logging.getLogger("sqlalchemy.engine").warning(f"parameters: {CANARY}")
    logging.getLogger("uvicorn.error").warning("Started %s", CANARY)
    first, second = lines(stream)
    assert first["event"] == "library message"
    assert second["event"] == "Started %s"
    assert CANARY not in stream.getvalue()


def test_a_librarys_traceback_stays_out(stream: io.StringIO) -> None:
    for name in ("uvicorn.error", "asyncio", "some.library"):
        try:
            fail()
        except ValueError:
            logging.getLogger(name).exception("Exception in ASGI application\n")
    assert [line["error"] for line in lines(stream)] == ["ValueError"] * 3
    assert CANARY not in stream.getvalue()


def test_uvicorns_access_log_is_silent(stream: io.StringIO) -> None:
    logging.getLogger("uvicorn.access").info('"GET /?name=%s"', CANARY)
    assert stream.getvalue() == ""


def test_warnings_are_told_without_their_text(stream: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(CANARY, UserWarning, stacklevel=1)
    assert CANARY not in stream.getvalue()
    assert lines(stream)[0]["event"] == "library message"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_uncaught_exceptions_of_threads_and_of_the_process_tell_no_text(
    stream: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    threading.excepthook(threading.ExceptHookArgs((ValueError, ValueError(CANARY), None, None)))
    sys.excepthook(ValueError, ValueError(CANARY), None)
    assert [line["event"] for line in lines(stream)] == ["uncaught", "uncaught"]
    assert CANARY not in stream.getvalue() + "".join(capsys.readouterr())


@pytest.mark.process
def test_core_dumps_can_be_forbidden() -> None:
    # In a process of its own: what is forbidden can't be allowed again.
    script = """
import ctypes, resource, sys
from app.telemetry.logs import forbid_core_dumps
forbid_core_dumps()
assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
# 3 is PR_GET_DUMPABLE of linux/prctl.h.
assert sys.platform != "linux" or ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)  # our own words


def test_before_logging_is_started_an_exception_tells_no_text_either(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, root.handlers[:] = root.handlers[:], []
    try:
        fail()
    except ValueError as error:
        event_log("test").error("failed", exc_info=error, question=CANARY)
    finally:
        root.handlers[:] = before
    told = "".join(capsys.readouterr())
    assert "ValueError" in told
    assert CANARY not in told
