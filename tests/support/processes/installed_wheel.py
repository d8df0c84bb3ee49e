"""Check an installed wheel with the Python of its environment: `python -I installed_wheel.py`, in any folder.

It imports nothing of the clone: the test of the wheel and `make dist` start it where the clone can't be seen.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

COMMANDS = (["--version"], ["serve", "--help"], ["graph", "--help"], ["mcp", "--help"])


def main() -> None:
    """Checks packages, data files and commands. Raises AssertionError or an import error if something is missing."""
    home = Path(sys.prefix).resolve()
    for package in ("app", "client_sdk", "kg_store"):
        place = Path(str(import_module(package).__file__ or import_module(package).__path__[0])).resolve()
        assert home in place.parents, f"{package} is not the wheel's: {place}"
    check_data()
    for words in COMMANDS:
        command = [str(home / "bin" / "arog"), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
        assert done.returncode == 0, f"arog {' '.join(words)}: {done.stderr}"
        assert not done.stderr, f"arog {' '.join(words)}: {done.stderr}"
        print(done.stdout.splitlines()[0])
    print(f"arog {version('arog')} is whole")


def check_data() -> None:
    """Checks that files that are no code are there: the demo graph, word lists, templates of migrations."""
    import client_sdk
    import kg_store.text
    from app.demo import GRAPH_FILE, POLICY_FILE
    from kg_store.lexicon.lexicon import __file__ as lexicon
    from kg_store.sources.policy import Policy

    Policy.from_toml(POLICY_FILE.read_text("utf-8"))
    needed = [
        GRAPH_FILE,
        *(Path(lexicon).with_name(name) for name in ("english.txt", "other.txt", "own.txt", "sources.toml")),
        Path(kg_store.text.__path__[0]) / "number_words.toml",
        Path(str(import_module("app.database.migrations").__path__[0])) / "script.py.mako",
        Path(str(client_sdk.__file__)).with_name("py.typed"),
    ]
    missing = [str(path) for path in needed if not path.is_file()]
    assert not missing, f"not in the wheel: {missing}"


if __name__ == "__main__":
    main()
