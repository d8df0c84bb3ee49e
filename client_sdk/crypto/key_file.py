"""Small files that only the user can read, and the key pair in one of them, made where it is first needed."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from client_sdk.crypto.sealing import KeyPair, UnusableKeyError, from_base64url, to_base64url
from client_sdk.errors import NotConfiguredError
from client_sdk.protocol import HYBRID_SUITE, X25519_SUITE, SuiteName

_MAX_BYTES = 64 * 1024


def config_folder() -> Path:
    """`$AROG_CONFIG_DIR`, else `$XDG_CONFIG_HOME/arog`, else `~/.config/arog`."""
    if named := os.environ.get("AROG_CONFIG_DIR"):
        return Path(named)
    if base := os.environ.get("XDG_CONFIG_HOME"):
        return Path(base) / "arog"
    return Path.home() / ".config" / "arog"


def read_private(path: Path) -> bytes | None:
    """The file's bytes; None when there is none. Raises NotConfiguredError when others can read or change it."""
    try:
        with path.open("rb") as file:
            _refuse_if_shared(os.fstat(file.fileno()), path)
            return file.read(_MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _unusable(path, problem) from None


def create_private(path: Path, content: bytes) -> bool:
    """Writes a new file, mode 0600; False when one is there already, which then stays as it is.

    The whole file appears at once, so of two first starts at the same time one wins and both read the same.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkstemp opens with mode 0600.
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # A link, not a rename: it fails where the name is taken.
            os.link(name, path)
        finally:
            os.unlink(name)
    except FileExistsError:
        return False
    except OSError as problem:
        raise _unusable(path, problem) from None
    return True


def _refuse_if_shared(status: os.stat_result, path: Path) -> None:
    if os.name == "nt":  # Windows has no such mode; the profile folder's own list guards the file.
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


# The first word of the file, by the suite of the pair in it.
_FIRST_WORDS: dict[SuiteName, str] = {X25519_SUITE: "arog-private-key-1", HYBRID_SUITE: "arog-private-key-2"}


def key_path() -> Path:
    return config_folder() / "key"


def load_key(path: Path | None = None) -> KeyPair | None:
    """The kept key pair; None when there is none. Raises NotConfiguredError when others can read it."""
    path = path or key_path()
    content = read_private(path)
    return None if content is None else _read_key(content, path)


def load_or_create_key(path: Path | None = None) -> KeyPair:
    """The kept key pair, made now when there is none. Two that start at once get the same one."""
    path = path or key_path()
    if (key := load_key(path)) is not None:
        return key
    create_key(path)
    key = load_key(path)
    if key is None:
        raise NotConfiguredError(f"{path} vanished while it was made", code="file_unusable", hint="try again")
    return key


def create_key(path: Path | None = None, *, post_quantum: bool = False) -> bool:
    """Makes a key pair and keeps it; False when there is one already, which is never overwritten.

    Raises NotConfiguredError where a post-quantum one is asked for and the cryptography library has none.
    """
    try:
        pair = KeyPair.generate(post_quantum=post_quantum)
    except UnusableKeyError as problem:
        hint = "install a newer build of the package cryptography, or leave --post-quantum out"
        raise NotConfiguredError(str(problem), code="no_post_quantum", hint=hint) from None
    line = f"{_FIRST_WORDS[pair.suite]} {to_base64url(pair.to_bytes())}\n"
    return create_private(path or key_path(), line.encode())


def _read_key(content: bytes, path: Path) -> KeyPair:
    try:
        first, private = content.decode("ascii").split()
        pair = KeyPair.from_bytes(from_base64url(private))
        if first == _FIRST_WORDS[pair.suite]:
            return pair
    except ValueError:
        pass
    hint = "move it away; `arog keygen` makes a new one (older capsules then stay closed)"
    raise NotConfiguredError(f"{path} holds no key of this version", code="bad_key_file", hint=hint)


def forbid_core_dumps() -> None:
    """A core file of a program that restores names would hold them; not every system has them."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
