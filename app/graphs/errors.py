"""Errors of jobs, previews and erasures; api/problems.py maps them to HTTP."""

from __future__ import annotations


class UnknownJobError(Exception):
    """The tenant has no job of that id."""


class GraphBusyError(Exception):
    """A load of this graph is under way already."""


class UnknownNameError(Exception):
    """The graph has nothing of that name, or id, or no neighbour of that kind."""


class AmbiguousNameError(Exception):
    """`count` things of the graph have that name."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} things")
        self.count = count


class ErasureUnfinishedError(Exception):
    """An erasure is not finished; `reason` says why in fixed words and counts. Calling again continues it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JobInterruptedError(Exception):
    """The server stopped while the job ran."""
