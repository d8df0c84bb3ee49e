"""No test depends on how fast the machine is: examples have no deadline, and are the same at every run on every
machine; searching for new ones is `make fuzz`. None reaches beyond this machine. In a run that leaves marked ones out
(`make test FAST=1`), the others start no program and load no sentence model.
"""

from __future__ import annotations

import gc
import ipaddress
import os
import re
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

# Before numpy is loaded, here and in programs that tests start: there is a worker for each core, and threads of theirs
# would but wait for one another.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

from app.settings import load_settings
from tests.fuzz.examples import MANY

if TYPE_CHECKING:
    from app.llm.embeddings.embedder import Embedder

# What is imported and collected is no garbage: looking for some in it takes long.
gc.disable()
# jsonschema builds 38 parsers with it for formats that no test has, which takes nearly as long as to import torch.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

WEIGHTS = (".safetensors", ".onnx")
# Python's `platform` asks it when libraries are loaded.
SYSTEM_PROGRAMS = ("uname",)
LONG = ("process", "model", "slow")
# Files that take 100 seconds or more in a run of all, by its report, come before the other long ones.
LONGEST = (
    "test_bombs.py", "test_demo_run.py", "test_eraser.py", "test_onnx_export.py", "test_scale.py",
    "test_documents_run.py", "test_workers.py", "test_faults.py", "test_demands.py", "test_trial.py",
    "test_attacks.py", "test_how_to.py", "test_canaries.py", "test_backup_of_postgresql.py",
)  # fmt: skip
# The marks that all tests of a file have.
MARKS_OF_FILE = re.compile(r"^pytestmark = (.+)$", re.M)

settings.register_profile("same", max_examples=30, deadline=None, derandomize=True, database=None, print_blob=True)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile("search" if MANY in os.environ else "same")


class NetworkRefusedError(Exception):
    """A test tried to reach another machine. No OSError: code under test may wait and try again after one."""


class UnmarkedTestError(Exception):
    """A test does what its marks don't tell, and takes long where it should have been left out."""


running: list[pytest.Item] = []


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The sentence model, loaded once a worker. Tests of the SDK alone don't import it."""
    from app.llm.embeddings.model_files import BOXED_MODEL
    from tests.support.sentence_model import shared_embedder

    embedder = shared_embedder(BOXED_MODEL, load_settings(None).cache_dir)
    embedder.load()
    return embedder


@pytest.fixture(scope="session", autouse=True)
def no_power_cuts() -> Iterator[None]:
    """Nothing waits for the disk: what this process writes outlives it without that, and no test cuts the power."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _file: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_authorities() -> Iterator[None]:
    """Every HTTP client reads the list of those who vouch for other machines, which is more work than most tests are;
    none of them reaches another machine."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl.SSLContext, "load_verify_locations", lambda *_context, **_files: None)
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file whose tests are all left out is not imported: most of what is slow to import is there."""
    chosen = config.option.markexpr
    if " or " in chosen or not collection_path.match("test_*.py"):
        return None
    left_out = {each.removeprefix("not ") for each in chosen.split(" and ") if each.startswith("not ")}
    marks = re.findall(r"pytest\.mark\.(\w+)", "".join(MARKS_OF_FILE.findall(collection_path.read_text("utf-8"))))
    return not left_out.isdisjoint(marks) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks those that take the sentence model, and puts long files first: none of them runs alone at the end."""
    for item in items:
        if "embedder" in getattr(item, "fixturenames", ()):
            item.add_marker("model")
    long = {item.path for item in items if any(map(item.get_closest_marker, LONG))}
    items.sort(key=lambda item: (item.path.name not in LONGEST, item.path not in long))


def pytest_collection_finish() -> None:
    """All that was imported and collected stays to the end: the collector of garbage need not look at it again, and
    what tests make is small enough to be looked at seldom."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    running.append(item)
    try:
        return (yield)
    finally:
        running.pop()


def refuse_what_is_not_marked(event: str, arguments: tuple[object, ...]) -> None:
    """Of this process, threads included; between tests, and where all tests run, everything is allowed."""
    if event == "subprocess.Popen" and arguments[0] not in SYSTEM_PROGRAMS:
        needed = "process"
    elif event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(WEIGHTS):
        needed = "model"
    else:
        return
    if running and f"not {needed}" in running[-1].config.option.markexpr:
        raise UnmarkedTestError(f"{running[-1].nodeid} has to be marked `{needed}`: {arguments[0]}")


def refuse_other_machines(event: str, arguments: tuple[object, ...]) -> None:
    """Of this process, threads included; programs that a test starts, and look-ups of names, are not looked at."""
    if event not in ("socket.connect", "socket.sendto"):
        return
    address = arguments[1]
    # Other families, such as the sockets of a folder, stay on this machine.
    if isinstance(address, tuple) and isinstance(address[0], str) and not is_loopback(address[0]):
        raise NetworkRefusedError(f"tests reach no other machine; this one tried {address[0]}")


def is_loopback(host: str) -> bool:
    try:
        # The unspecified address leads to this machine too.
        return host == "localhost" or (ip := ipaddress.ip_address(host)).is_loopback or ip.is_unspecified
    except ValueError:
        return False


sys.addaudithook(refuse_other_machines)
sys.addaudithook(refuse_what_is_not_marked)
