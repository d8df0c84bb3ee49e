"""A trial: files are read into a temporary graph, which is asked, and deleted with its folder at the end.

The service runs as a process of its own on this machine, so it has to be installed. It is given a temporary data
folder, and answers by itself: nothing is sent to a model endpoint.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess  # our own words alone  # nosec B404
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx2

from client_sdk.client import Chat
from client_sdk.crypto.sealing import KeyPair
from client_sdk.errors import NotConfiguredError, RefusedError, ServerError, error_of
from client_sdk.protocol import GraphPolicy, JobStatus

TRIAL_GRAPH: Final = "trial"
STARTS_WITHIN_S: Final = 120.0
POLL_S: Final = 0.2
UPLOAD_S: Final = 3600.0
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class RunningTrial:
    """A graph of files under trial. `doubts` are sentences about what the reading of the files left open."""

    url: str
    api_key: str = field(repr=False)
    doubts: tuple[str, ...]
    policy: str = field(repr=False)

    def chat(self) -> Chat:
        """Returns a new dialogue with the graph; its key pair is kept in memory alone."""
        return Chat(self.url, self.api_key, TRIAL_GRAPH, key=KeyPair.generate())


class TriedFiles:
    """Files under trial in a notebook or program: `ask` asks them, `doubts` lists what their reading left open.

    Promise: `close`, the end of a `with`, and the end of the process stop the service and delete its folder with all
    that was loaded. Limit: if the process is killed (SIGKILL), both stay; the names in the folder are sealed, but
    their key lies there too.
    """

    def __init__(self, files: Sequence[str | Path], public: Sequence[str | Path] = ()) -> None:
        with ExitStack() as starting:
            running = starting.enter_context(trial([*map(Path, files)], [*map(Path, public)]))
            chat = starting.enter_context(running.chat())
            self.close = weakref.finalize(self, starting.pop_all().close)
        self.doubts = running.doubts
        self.ask, self.stream, self.reset = chat.ask, chat.stream, chat.reset

    def __enter__(self) -> TriedFiles:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def try_files(files: Sequence[str | Path], public: Sequence[str | Path] = ()) -> TriedFiles:
    """Reads files into a temporary graph that can be asked at once; the service must be installed.

    `public`: files of a public graph beside them. Raises NotConfiguredError if the service is not installed,
    RefusedError if the files can't be read.
    """
    return TriedFiles(files, public)


@contextmanager
def trial(files: Sequence[Path], public: Sequence[Path] = ()) -> Iterator[RunningTrial]:
    """Starts a service in a temporary folder and loads `files` into it; both are gone at the end.

    `public`: files of a public graph beside them.

    Raises NotConfiguredError if the service is not installed or a file is missing, RefusedError if the files can't be
    loaded, ServerError if the service does not start.
    """
    if find_spec("app") is None or find_spec("fastapi") is None:
        hint = "in a clone of arog, get it with: pip install '.[server,cli]'"
        raise NotConfiguredError("trying files takes the service, which is not installed", code="no_server", hint=hint)
    files = [*files, *public]
    if lacking := next((file for file in files if not file.is_file()), None):
        raise NotConfiguredError(f"there is no file {lacking}", code="no_file")
    key = secrets.token_urlsafe(_KEY_BYTES)
    with TemporaryDirectory(prefix="arog-try-") as folder, _service(Path(folder), key) as url:
        headers = {"Authorization": f"Bearer {key}"}
        with httpx2.Client(base_url=url, headers=headers, timeout=UPLOAD_S, trust_env=False) as http:
            job = _load(http, files, public)
            policy = GraphPolicy.model_validate_json(_sent(http, "GET", f"/admin/graphs/{TRIAL_GRAPH}/policy"))
        yield RunningTrial(url, key, _doubts(job, files), policy.policy)


@contextmanager
def _service(folder: Path, key: str) -> Iterator[str]:
    """Runs a service over `folder` and yields its address once it answers. Raises ServerError."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    ours = {"DATA_DIR": str(folder / "data"), "ADMIN_KEY": key, "HOST": "127.0.0.1", "PORT": str(port), "WORKERS": "1"}
    # The caller's own settings may name other folders, databases and endpoints: none of them is for a trial. The model
    # in its cache is, and the way to the code.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AROG_")}
    if "AROG_CACHE_DIR" in os.environ:
        ours["CACHE_DIR"] = os.environ["AROG_CACHE_DIR"]
    environment = kept | {f"AROG_{name}": value for name, value in ours.items()} | {"HF_HUB_OFFLINE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(each for each in sys.path if each)
    # The folder holds no .env, so its working folder gives the service no setting either.
    command = [sys.executable, "-m", "client_sdk", "serve", "--init", "--no-demo"]
    with (
        (folder / "printed.txt").open("wb") as printed,
        subprocess.Popen(  # noqa: S603  # our own words  # nosec B603
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, env=environment, cwd=folder,
            start_new_session=True,  # Ctrl-C in the dialogue ends a question, not the service.
        ) as process,
    ):  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_listening(url, process)
            yield url
        finally:
            process.terminate()
            process.wait()


def _wait_until_listening(url: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until the service can be asked, though no graph is loaded. Raises ServerError."""
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx2.get(f"{url}/readyz", timeout=10.0, trust_env=False).status_code == httpx2.codes.OK:
                return
        except httpx2.TransportError:
            pass  # It does not listen yet.
        time.sleep(POLL_S)
    raise ServerError("the service for the trial did not start", code="not_started", hint="does `arog serve` start?")


def _load(http: httpx2.Client, files: Sequence[Path], public: Sequence[Path]) -> JobStatus:
    # A policy that says only which files are public leaves the rest to the proposal. JSON strings are TOML strings.
    policy = f"[public]\nfiles = {json.dumps([file.name for file in public])}\n" if public else None
    with ExitStack() as opened:
        parts = [("file", (file.name, opened.enter_context(file.open("rb")))) for file in files]
        told = {"data": {"policy": policy}} if policy else {}
        job = JobStatus.model_validate_json(_sent(http, "POST", f"/admin/graphs/{TRIAL_GRAPH}", files=parts, **told))
    while job.state not in ("done", "failed"):
        time.sleep(POLL_S)
        job = JobStatus.model_validate_json(_sent(http, "GET", f"/admin/jobs/{job.id}"))
    if job.state == "failed" and (error := job.error) is not None:
        hint = "correct it at that place, and try again"
        raise RefusedError(_with_names(error.message, files).rstrip("."), code=error.code, hint=hint)
    return job


def _sent(http: httpx2.Client, method: str, path: str, **more: object) -> bytes:
    reply = http.request(method, path, **more)  # type: ignore[arg-type]
    if reply.is_error:
        raise error_of(reply.status_code, reply.content)
    return reply.content


def _doubts(job: JobStatus, files: Sequence[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_with_names(note, files) for note in job.notes))


def _with_names(sentence: str, files: Sequence[Path]) -> str:
    """Returns the sentence with the files' own names, in whose place a job's notes have their numbers."""
    for number, file in reversed(list(enumerate(files, start=1))):
        packed = ".gz" if file.name.endswith(".gz") else ""
        ending = Path(file.name.removesuffix(packed)).suffix + packed
        sentence = sentence.replace(f"file-{number}{ending}", file.name)
    return sentence
