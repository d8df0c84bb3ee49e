"""The user's key pair, kept in the config folder and created there when it is first needed."""

from __future__ import annotations

import contextlib
from pathlib import Path

from client_sdk.crypto.private_files import config_folder, create_private, read_private
from client_sdk.crypto.sealing import KeyPair, UnusableKeyError, from_base64url, to_base64url
from client_sdk.errors import NotConfiguredError
from client_sdk.protocol import HYBRID_SUITE, X25519_SUITE, SuiteName

# The first word of the key file, for each suite.
_FIRST_WORDS: dict[SuiteName, str] = {X25519_SUITE: "arog-private-key-1", HYBRID_SUITE: "arog-private-key-2"}


def key_path() -> Path:
    return config_folder() / "key"


def load_key(path: Path | None = None) -> KeyPair | None:
    """Returns the stored key pair, or None if there is none. Raises NotConfiguredError if others can read the file."""
    path = path or key_path()
    content = read_private(path)
    return None if content is None else _read_key(content, path)


def load_or_create_key(path: Path | None = None) -> KeyPair:
    """Returns the stored key pair, after creating one if there is none.

    Processes that start together get the same one.
    """
    path = path or key_path()
    if (key := load_key(path)) is not None:
        return key
    create_key(path)
    key = load_key(path)
    if key is None:
        raise NotConfiguredError(f"{path} vanished while it was made", code="file_unusable", hint="try again")
    return key


def create_key(path: Path | None = None, *, post_quantum: bool = False) -> bool:
    """Creates and stores a key pair; returns False if there is one already, which is never overwritten.

    Raises NotConfiguredError if a post-quantum pair is asked for and the installed cryptography library can't make
    one.
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
    """Forbids core dumps, which would contain restored names; does nothing if the system has no such limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
