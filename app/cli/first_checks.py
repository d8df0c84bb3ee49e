"""The first checks of `arog serve`, before the imports that take seconds: data folder, key, database and port."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from app.cli.output import tell
from app.settings import ConfigurationError, Settings, make_data_folder
from app.telemetry.logs import forbid_core_dumps
from app.wiring.key_services import ring_file_of
from kg_store.errors import KeyServiceError
from kg_store.storage.master_key import MasterKey


@dataclass(frozen=True, slots=True)
class CheckedStart:
    """Settings that were checked, the open socket of their port, and the key's file if one was written."""

    settings: Settings
    listening: socket.socket
    written: Path | None


def check_start(settings: Settings, init: bool) -> CheckedStart:
    """Makes the data folder and its key if it may, opens the database, and listens.

    Raises ConfigurationError, StoreError, MasterKeyError: here at once, and not only in /readyz.
    """
    forbid_core_dumps()
    written = prepare_folder(settings, init)
    settings.require_master_key()
    # Imported late: no key is the commonest failure.
    from app.wiring.store import open_store

    try:
        open_store(settings).close()
    except KeyServiceError as error:
        # Nothing on this machine is wrong: the service starts, and waits for the key service.
        tell(f"arog: {error}. The service waits for it, and /readyz says so until it is there.")
    listening = listen(settings.host, settings.port)
    port = listening.getsockname()[1]
    return CheckedStart(settings.model_copy(update={"port": port}), listening, written)


def prepare_folder(settings: Settings, init: bool) -> Path | None:
    """Makes the data folder, and returns the file of the master key if one was written.

    A key is written only if there is none, and the folder is empty or `init` is set: replacing a lost key unnoticed
    would leave what it had sealed unreadable.
    """
    make_data_folder(settings)
    fresh = not any(settings.data_dir.iterdir())
    if settings.master_key is not None or settings.key_file.exists() or not (fresh or init):
        return None
    settings.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    ring_file_of(settings).create(MasterKey.generate())
    return settings.key_file


def write_private(path: Path, text: str) -> None:
    """Writes a new file that only this user can read. Raises FileExistsError."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)


def listen(host: str, port: int) -> socket.socket:
    """Opens the service's socket, before anything is loaded. Raises ConfigurationError."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigurationError(f"port {port} is taken: stop what listens there, or set AROG_PORT") from None
        if error.errno == errno.EACCES:
            raise ConfigurationError(f"this user may not listen on port {port}: set AROG_PORT") from None
        raise ConfigurationError("the address of AROG_HOST does not belong to this machine") from None
