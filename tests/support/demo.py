"""The demo graph in a service of its own, and keys for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import app.demo
from tests.support.process import Process, serving
from tests.support.service import OPERATOR, OPERATOR_KEY

DEMO = Path(app.demo.__file__).parent


@dataclass(frozen=True, slots=True)
class Demo:
    """The running service, and a key that may ask `demo` and look into its answers."""

    process: Process
    api_key: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.process.service.port}"


@contextmanager
def demo_service(folder: Path, **settings: str) -> Iterator[Demo]:
    with serving(folder, ADMIN_KEY=OPERATOR_KEY, **settings) as process:
        files = [(part, (name, (DEMO / name).read_bytes())) for part, name in (
            ("file", "clinic.ttl"), ("policy", "clinic.policy.toml"),
        )]  # fmt: skip
        job = process.http.post("/admin/graphs/demo", headers=OPERATOR, files=files).raise_for_status().json()["id"]
        while (told := process.http.get(f"/admin/jobs/{job}", headers=OPERATOR).json())["state"] != "done":
            assert told["state"] != "failed", told
            time.sleep(0.05)
        wanted = {"tenant": "default", "grants": ["demo", "inspect:demo"], "role": "user"}
        made = process.http.post("/admin/keys", headers=OPERATOR, json=wanted).raise_for_status().json()
        yield Demo(process, made["key"])
