"""The wheel: what it installs runs apart from the clone. `make dist` does the same in an empty environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = Path(__file__).parents[1]
CHECK = ROOT / "tests" / "support" / "processes" / "installed_wheel.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", minversion="77")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for folder in ("app", "client_sdk", "kg_store"):
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / folder, source / folder, ignore=ignored)
    for file in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / file, source / file)
    pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(target), str(source))
    (built,) = target.glob("arog-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and this one's libraries, and without the clone."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    (packages,) = folder.glob("lib/python*/site-packages")
    # Files of this kind are not read in the folder that is added, so that no editable install leads to the clone.
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python


def pip(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_what_the_wheel_installs_runs_apart_from_the_clone(python: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AROG_", "PYTHON"))}
    done = subprocess.run(
        [python, "-I", CHECK], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("arog 0.")
    assert done.stdout.endswith(" is whole\n")
