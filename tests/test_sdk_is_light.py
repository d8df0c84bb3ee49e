"""client_sdk installs and runs alone: its three libraries and what they need, nothing of the server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

REPOSITORY = Path(__file__).parents[1]
BASE = {"cryptography", "httpx2", "pydantic"}

# Run in the copy's folder; refuses every installed library that the SDK's three don't bring.
ALONE = """
import sys
sys.path.insert(0, {folder!r})
refused = {refused!r}

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in refused:
            raise ModuleNotFoundError(f"not a library of the SDK: {{top}}", name=top)

sys.meta_path.insert(0, Refuse())
{body}
"""
IMPORT_ALL = """
import client_sdk, client_sdk.crypto.key_file, client_sdk.cli.main
assert client_sdk.__file__.startswith({folder!r}), client_sdk.__file__
key = client_sdk.KeyPair.generate()
client_sdk.Chat("http://127.0.0.1:9", "a-key", "demo", key=key).close()
print(*sorted(sys.modules))
"""


def base_dependencies() -> list[str]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def closure_of(names: set[str]) -> set[str]:
    """The distributions that installing `names` brings; extras are left out."""
    done: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        try:
            needed = distribution(name).requires or []
        except PackageNotFoundError:  # for another platform or Python
            continue
        done.add(name)
        waiting |= {name_of(one) for one in needed if "extra ==" not in one} - done
    return done


def modules_of(names: set[str]) -> set[str]:
    """The top-level modules that these distributions hold."""
    tops = {str(file).partition("/")[0] for name in names for file in distribution(name).files or []}
    return {top.split(".")[0] for top in tops if not top.endswith((".dist-info", ".data")) and top != ".."}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """client_sdk alone in a folder."""
    shutil.copytree(REPOSITORY / "client_sdk", tmp_path / "client_sdk", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run_alone(folder: Path, body: str, libraries: set[str] = BASE) -> subprocess.CompletedProcess[str]:
    ours = {"app", "client_sdk", "kg_store"}
    refused = set(packages_distributions()) - modules_of(closure_of(libraries)) - ours
    if not (folder / "app").exists():  # or an editable install would serve them
        refused |= {"app", "kg_store"}
    program = ALONE.format(folder=str(folder), refused=refused, body=body.format(folder=str(folder)))
    command = [sys.executable, "-I", "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_the_base_dependencies_are_the_sdks_three() -> None:
    assert {name_of(one) for one in base_dependencies()} == BASE


def test_it_works_alone_with_its_three_libraries(copy: Path) -> None:
    done = run_alone(copy, IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    heavy = {"app", "kg_store", "torch", "fastapi", "numpy", "openai", "sqlalchemy", "rdflib", "typer", "rich"}
    assert not loaded & heavy


def test_alone_its_command_says_how_to_get_the_extra(copy: Path) -> None:
    done = run_alone(copy, "from client_sdk.cli.main import run; sys.exit(run(['ask', 'x']))")
    assert done.returncode == 2, done.stderr
    assert done.stderr == "arog: the command line is an extra; in a clone of arog, get it with: pip install '.[cli]'\n"


def test_with_the_cli_alone_the_proxy_says_how_to_get_its_extra(copy: Path) -> None:
    body = "from client_sdk.cli.main import run; sys.exit(run(['proxy', '--api-key', 'a-key']))"
    done = run_alone(copy, body, BASE | {"typer", "rich"})
    assert (done.returncode, done.stderr) == (
        2, "arog: the proxy is an extra. In a clone of arog, get it with: pip install '.[proxy]'.\n"
    )  # fmt: skip


def test_with_the_cli_alone_mcp_says_how_to_get_its_extra(copy: Path) -> None:
    body = "from client_sdk.cli.main import run; sys.exit(run(['mcp', '--api-key', 'a-key']))"
    done = run_alone(copy, body, BASE | {"typer", "rich"})
    assert (done.returncode, done.stderr) == (
        2, "arog: MCP is an extra. In a clone of arog, get it with: pip install '.[mcp]'.\n"
    )  # fmt: skip


def test_with_its_extra_the_proxy_needs_nothing_else(copy: Path) -> None:
    extra = BASE | {"typer", "rich", "starlette", "uvicorn"}
    done = run_alone(copy, "import client_sdk.proxy.app; print(*sorted(sys.modules))", extra)
    assert done.returncode == 0, done.stderr


def test_the_refusal_of_this_test_works(copy: Path) -> None:
    assert run_alone(copy, "import numpy").returncode == 1


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The distribution, built and installed into a folder without its dependencies."""
    pytest.importorskip("setuptools", minversion="77")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for folder in ("app", "client_sdk", "kg_store"):
        shutil.copytree(REPOSITORY / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "LICENSE"):
        shutil.copy(REPOSITORY / file, source / file)
    (source / "README.md").touch()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True, capture_output=True)
    return target


def test_installed_without_extras_it_asks_for_nothing_more(installed: Path) -> None:
    done = run_alone(installed, IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    (metadata,) = installed.glob("arog-*.dist-info/METADATA")
    needed = [
        line.partition(": ")[2] for line in metadata.read_text().splitlines() if line.startswith("Requires-Dist")
    ]
    assert {name_of(one) for one in needed if "extra ==" not in one} == BASE
    assert (installed / "client_sdk" / "py.typed").exists()


def test_installed_with_the_cli_extra_it_tells_of_the_server_commands(installed: Path) -> None:
    body = "from client_sdk.cli.main import run; sys.exit(run(['--help']))"
    done = run_alone(installed, body, BASE | {"typer", "rich"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "pip install '.[server]'" in " ".join(done.stdout.split())


def test_importing_it_beside_the_server_loads_nothing_of_the_server() -> None:
    program = "import client_sdk, sys; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"app", "kg_store", "torch", "fastapi", "numpy", "typer", "rich"}
