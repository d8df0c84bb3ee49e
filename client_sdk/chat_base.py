"""The parts that Chat and AsyncChat share: the dialogue, its settings, and another dialogue that begins with it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Self

from client_sdk.dialogue import Dialogue, Turn
from client_sdk.transport.flow import RetryPolicy


class ChatBase:
    """A dialogue with one graph, without the connection that it is led over."""

    _dialogue: Dialogue
    _patience: RetryPolicy

    @property
    def graph(self) -> str:
        """The graph that is asked."""
        return self._dialogue.graph

    @property
    def history(self) -> list[Turn]:
        """The turns so far as the user saw them, names restored."""
        return self._dialogue.shown

    def fork(self, *told: str) -> Self:
        """Another dialogue that begins with the turns of this one, in the same conversation: names keep their
        pseudonyms. `told` are turns of the user's that it has besides, which nobody answers.

        The two ask one after the other, and share a connection, which either one closes. Raises BadRequestError and
        TooLargeError.
        """
        other = copy.copy(self)
        other._dialogue = self._dialogue.fork()
        for text in told:
            other._dialogue.tell(text)
        return other

    def _within(self, timeout_s: float | None) -> RetryPolicy:
        return self._patience if timeout_s is None else replace(self._patience, timeout_s=timeout_s)
