"""StoreError and its tree; texts hold ids, counts, file and line."""

from __future__ import annotations


class StoreError(Exception):
    """Base of every error of kg_store. Its text holds ids, counts, file and line; never a name or value."""


class LoadError(StoreError):
    """A file can't be loaded. `file` is the file's base name, `line` counts from 1 (None when not known)."""

    def __init__(self, reason: str, file: str = "", line: int | None = None) -> None:
        self.reason, self.file, self.line = reason, file, line
        place = f"{file}, line {line}: " if line is not None else f"{file}: " if file else ""
        super().__init__(place + reason)


class PolicyError(StoreError):
    """A policy file is not valid; the text says which field, and what is allowed there."""


class MasterKeyError(StoreError):
    """The master key is missing, malformed, or not the one that sealed this data."""


class UnknownGraphError(StoreError):
    """No graph of that name has a complete version."""


class FormatTooNewError(StoreError):
    """The data folder was written by another format version."""


class ExpressionError(StoreError):
    """An expression of the set algebra can't be parsed or does not fit its operands."""
