"""Finds the master key that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg_store.errors import MasterKeyError

if TYPE_CHECKING:
    from app.settings import Settings
    from kg_store.storage.master_key import MasterKey


def require_master_key(settings: Settings) -> None:
    """Raises MasterKeyError, with what to do, if there is a key neither in the environment nor in a file. Reads no
    key.
    """
    if settings.master_key is None and not settings.key_file.exists():
        raise MasterKeyError(
            "no master key: set AROG_MASTER_KEY or AROG_MASTER_KEY_FILE to the one that sealed this folder; for a "
            "folder without graphs `arog serve --init` writes a new one"
        )


def read_master_key(settings: Settings) -> MasterKey:
    """Returns the key ring from the environment, else from its file. Raises MasterKeyError with what to do."""
    # A command without a key fails before these are loaded.
    from kg_store.storage.master_key import MasterKey

    require_master_key(settings)
    if settings.master_key is not None:
        return MasterKey.from_text(settings.master_key.get_secret_value())
    return MasterKey.from_file(settings.key_file)
