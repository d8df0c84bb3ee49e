"""Import slow libraries only in tests that use them: every worker collects all test files."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """A module that is imported when an attribute of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # pytest asks everything in a test file for private attributes; that must not import the module.
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)
