"""`arog serve` as a separate process, with a client for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from evaluation.fakes.service_process import ServiceProcess, service_process


@dataclass(frozen=True, slots=True)
class Process:
    """A running service with a client for it."""

    http: httpx2.Client
    service: ServiceProcess

    @property
    def printed(self) -> Path:
        return self.service.printed

    @property
    def written(self) -> dict[str, bytes]:
        return self.service.written


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[Process]:
    """Start the service with `settings` (without their prefix) and wait until it is ready."""
    with (
        service_process(folder, **settings) as service,
        httpx2.Client(base_url=f"http://127.0.0.1:{service.port}", timeout=60) as http,
    ):
        yield Process(http, service)
