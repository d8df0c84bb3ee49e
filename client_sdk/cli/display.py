"""Displays of a dialogue: for a person at a terminal, or a program that gets one JSON object a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Final, Protocol

from rich.console import Console

from client_sdk.answers.answer import Answer
from client_sdk.cli.errors import error_line
from client_sdk.cli.messages import OutputMessage
from client_sdk.cli.render import answer_as_dict, show_answer, show_choices, show_suggestions
from client_sdk.cli.stream import show_stream
from client_sdk.client import Chat
from client_sdk.errors import ArogError

ASK_NEXT: Final = "/next 1 asks the first"


class Display(Protocol):
    """Shows the lines of a dialogue."""

    def ask(self, chat: Chat, question: str) -> Answer:
        """Asks, and shows the answer. Raises ArogError."""

    def show(self, told: OutputMessage) -> None: ...

    def fail(self, error: ArogError, advice: str) -> None:
        """Shows what went wrong; `advice`, where there is more to say than the error says."""


class ConsoleDisplay:
    """For people: text as it comes on a terminal, whole into a pipe; errors to standard error."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def ask(self, chat: Chat, question: str) -> Answer:
        if self._console.is_terminal:
            answer = show_stream(self._console, chat.stream(question))
        else:
            answer = chat.ask(question)
            show_answer(self._console, answer)
        show_choices(self._console, answer)
        show_suggestions(self._console, answer, how=ASK_NEXT)
        return answer

    def show(self, told: OutputMessage) -> None:
        told.show(self._console)

    def fail(self, error: ArogError, advice: str) -> None:
        print(error_line(error), file=sys.stderr)
        if advice:
            print(f"arog: {advice}", file=sys.stderr)


class JsonDisplay:
    """For programs: exactly one object for each line that was read; its `kind` says what it is."""

    def ask(self, chat: Chat, question: str) -> Answer:
        answer = chat.ask(question)
        _print("answer", answer_as_dict(answer))
        return answer

    def show(self, told: OutputMessage) -> None:
        _print(told.kind, told.content)

    def fail(self, error: ArogError, advice: str) -> None:
        told = {"code": error.code, "message": str(error), "hint": advice or error.hint, "id": error.id}
        _print("error", told)


def _print(kind: str, content: Mapping[str, object]) -> None:
    print(json.dumps({"kind": kind, **content}, ensure_ascii=False), flush=True)
