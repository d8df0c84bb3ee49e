"""Small files that only the user can read. Imports no cryptography, so that commands without it start fast."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from client_sdk.errors import NotConfiguredError

SIGN_IN_FILE = "sign-in.json"
_MAX_BYTES = 64 * 1024


def config_folder() -> Path:
    """Returns `$AROG_CONFIG_DIR`, else `$XDG_CONFIG_HOME/arog`, else `~/.config/arog`."""
    if named := os.environ.get("AROG_CONFIG_DIR"):
        return Path(named)
    if base := os.environ.get("XDG_CONFIG_HOME"):
        return Path(base) / "arog"
    return Path.home() / ".config" / "arog"


def read_private(path: Path) -> bytes | None:
    """Returns the file's bytes, or None if it does not exist.

    Raises NotConfiguredError if others can read or change it.
    """
    try:
        with path.open("rb") as file:
            _refuse_if_shared(os.fstat(file.fileno()), path)
            return file.read(_MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _unusable(path, problem) from None


def create_private(path: Path, content: bytes) -> bool:
    """Writes a new file with mode 0600; returns False if the file exists, which then stays as it is.

    The whole file appears at once, so if two processes start together, one writes it and both read the same.
    """
    try:
        with _written_beside(path, content) as name:
            # A link instead of a rename, because it fails if the name is taken.
            os.link(name, path)
    except FileExistsError:
        return False
    except OSError as problem:
        raise _unusable(path, problem) from None
    return True


def replace_private(path: Path, content: bytes) -> None:
    """Writes a file with mode 0600 in one step, so that a reader finds the old content or the new."""
    try:
        with _written_beside(path, content) as name:
            os.replace(name, path)
    except OSError as problem:
        raise _unusable(path, problem) from None


@contextmanager
def _written_beside(path: Path, content: bytes) -> Iterator[str]:
    """Writes `content` to a file in the same folder, yields its name, and deletes it if it still has that name."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp creates the file with mode 0600.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _refuse_if_shared(status: os.stat_result, path: Path) -> None:
    if os.name == "nt":  # Windows has no such mode; the access list of the profile folder protects the file.
        return
    if not stat.S_ISREG(status.st_mode):
        raise NotConfiguredError(f"{path} is not a file", code="not_a_file", hint="move it away")
    if status.st_uid not in (os.geteuid(), 0):
        raise NotConfiguredError(f"{path} belongs to another user", code="file_not_yours", hint="move it away")
    if status.st_mode & 0o077:
        hint = f"run: chmod 600 {path}"
        raise NotConfiguredError(f"{path} can be read or changed by others", code="file_readable_by_others", hint=hint)


def _unusable(path: Path, problem: OSError) -> NotConfiguredError:
    reason = problem.strerror or type(problem).__name__
    hint = "set AROG_CONFIG_DIR to a folder that you can write to"
    return NotConfiguredError(f"{path} can't be used: {reason}", code="file_unusable", hint=hint)
