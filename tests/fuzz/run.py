"""Fuzzes for a given time: `python -m tests.fuzz.run --seconds 600`, and says how many examples found what.

Each round draws anew. The first failure ends its part, with the smallest example that shows it; the status is 1 then.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from app.graphs.markdown_table import markdown_table
from tests.fuzz.examples import MANY

HERE = Path(__file__).parent
PARTS = ("loaders", "restoring", "openapi", "properties")
EXAMPLES_A_ROUND = "200"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one part."""

    part: str
    examples: int
    seconds: float
    failed: bool

    def row(self) -> tuple[str, int, str, str]:
        found = "a failure, see above" if self.failed else "nothing"
        return self.part, self.examples, f"{self.seconds:.0f}", found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="time for each part")
    parser.add_argument(
        "parts", nargs="*", default=PARTS, help="loaders, restoring, openapi, properties; all by default"
    )
    wanted = parser.parse_args()
    outcomes = [fuzz(part, wanted.seconds) for part in wanted.parts]
    print("\n" + markdown_table(("part", "examples", "seconds", "found"), [outcome.row() for outcome in outcomes]))
    return int(any(outcome.failed for outcome in outcomes))


def _tests_of(part: str) -> list[str]:
    """`properties` are all tests under `@given`, wherever they stand."""
    return [str(HERE.parent), "-m", "hypothesis"] if part == "properties" else [str(HERE / f"test_{part}.py")]


def fuzz(part: str, seconds: float) -> Outcome:
    """Rounds of `part`, each with a seed of its own, until the time is up or one fails; the last ends as it will."""
    # With this number set, examples are drawn anew (tests/conftest.py).
    environment = {MANY: EXAMPLES_A_ROUND, **os.environ}
    examples, failed, started = 0, False, time.monotonic()
    while not failed and time.monotonic() - started < seconds:
        seed = f"--hypothesis-seed={secrets.randbits(64)}"
        command = [sys.executable, "-m", "pytest", *_tests_of(part), "-q", "--tb=short", seed]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        failed = done.returncode != 0
        examples += sum(map(int, re.findall(r"^(\d+) fuzz examples$", done.stdout, re.MULTILINE)))
        print(done.stdout if failed else f"{part}: {examples} examples", flush=True)
    return Outcome(part, examples, time.monotonic() - started, failed)


if __name__ == "__main__":
    sys.exit(main())
