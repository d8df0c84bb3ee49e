"""A command that shows its help, or fails at its first check, imports nothing that it does not need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from client_sdk.cli.commands import StrategyName
from client_sdk.protocol import StrategyName as WireStrategyName

ROOT = Path(__file__).parents[3]
HEAVY = {
    *("lemminflect", "spacy", "torch", "numpy", "scipy", "fastapi", "sqlalchemy", "onnxruntime", "openai", "pandas"),
    *("transformers", "sentence_transformers", "rdflib", "pyoxigraph", "wordfreq", "sklearn", "matplotlib", "uvicorn"),
    *("alembic", "httpx2", "cryptography", "stamina", "client_sdk.protocol", "app.main", "app.api"),
    "evaluation.bench",
}
PROGRAM = """
import sys
from client_sdk.cli.main import run
code = run(sys.argv[1:])
print("LOADED", code, *sorted(sys.modules))
"""


def run_fresh(folder: Path, *arguments: str) -> tuple[int, str, set[str]]:
    """The exit code of a command in a process of its own, its output, and the modules that it loaded."""
    environment = {"PATH": "/usr/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=True)
    printed, _, loaded = done.stdout.rpartition("LOADED ")
    code, *modules = loaded.split()
    return int(code), printed + done.stderr, set(modules)


@pytest.mark.process
def test_the_help_imports_nothing_heavy(tmp_path: Path) -> None:
    code, printed, loaded = run_fresh(tmp_path, "--help")
    assert code == 0
    assert all(f"  {name} " in printed for name in ("ask", "serve", "graph", "eval", "attack", "train", "ledger"))
    assert not {*HEAVY, "pydantic", "asyncio", "rich.progress"} & loaded


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ask", "Who?"], "there is no API key"),
        (["proxy"], "there is no API key"),
        (["mcp"], "there is no API key"),
        (["serve", "--nonsense"], "No such option"),
        (["graph", "list"], "no master key"),
        (["graph", "forget", "demo", "Ada"], "no master key"),
        (["graph", "load", "demo", "nowhere.ttl"], "does not exist"),
        (["eval", "qa", "--graph", "g.ttl", "--questions", "nowhere.jsonl"], "does not exist"),
    ],
)  # fmt: skip
def test_a_command_that_fails_at_its_first_check_imports_nothing_heavy(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    code, printed, loaded = run_fresh(tmp_path, *arguments)
    assert code == 2
    assert told in " ".join(printed.split())
    assert not HEAVY & loaded


def test_the_command_line_knows_the_strategies_of_the_protocol() -> None:
    assert get_args(StrategyName) == get_args(WireStrategyName)
