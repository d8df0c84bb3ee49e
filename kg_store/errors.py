"""StoreError and its subclasses. Their texts hold ids, counts, file names and line numbers, and no names or values."""

from __future__ import annotations


class StoreError(Exception):
    """Base class of all errors of kg_store. Its text holds ids, counts, file and line; never a name or value."""


class LoadError(StoreError):
    """Raised if a file cannot be loaded. `file` is its base name; `line` counts from 1, or is None if unknown."""

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        self.reason, self.file, self.line = reason, file, line
        place = f"{file}, line {line}: " if line is not None else f"{file}: " if file else ""
        super().__init__(place + reason)


class VersionError(StoreError):
    """Raised if a version of a graph can't be made live: it is not kept, or holds what was erased since."""


class PolicyError(StoreError):
    """Raised if a policy file is not valid; the text names the field and says what is allowed there."""


class MasterKeyError(StoreError):
    """Raised if the master key is missing, malformed, or not the one that sealed this data."""


class KeyServiceError(MasterKeyError):
    """Raised if the service that wraps the master key can't be reached, or refuses. It may succeed later."""


class UnknownGraphError(StoreError):
    """Raised if no graph of that name has a complete version."""


class NotPublicError(StoreError):
    """Raised if a graph is to stand beside another one, and is not public."""


class FormatTooNewError(StoreError):
    """Raised if the data folder was written in another version of the format."""


class ExpressionError(StoreError):
    """Raised if an expression of the set algebra cannot be parsed or does not fit its operands."""


class UnknownColumnError(StoreError):
    """Raised if the table of a kind has no such column, or cannot be sorted, searched or counted by it."""
