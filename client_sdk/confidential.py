"""Programs of the SDK that hold names: they leave no core file, and tell where they failed, never what was said."""

from __future__ import annotations

import contextlib
import sys
import traceback


def forbid_core_dumps() -> None:
    """A core file would hold names; not every system has them."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def tell_failure(error: BaseException, program: str) -> None:
    """Prints where something failed inside the program, and never what it said."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    print(f"arog: something failed inside {program}: {type(error).__name__}{where}", file=sys.stderr)
