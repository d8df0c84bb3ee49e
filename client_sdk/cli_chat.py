"""The terminal dialogue: questions line by line, from a person or from a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from rich.console import Console

from client_sdk.answer import Answer
from client_sdk.cli_errors import error_line, exit_code_of
from client_sdk.cli_show import show_answer, show_evidence, show_ledger, show_notes, show_why
from client_sdk.cli_stream import show_stream
from client_sdk.cli_trace import show_trace
from client_sdk.client import Chat
from client_sdk.errors import ArogError, UnknownConversation

HELP = (
    "/why  how the last answer was found\n/evidence  every fact that was looked at\n/seen  what the model saw\n"
    "/trace  each prompt and reply, beside the same with names\n"
    "/reset  begin anew\n/quit  end (or Ctrl-D)"
)


def talk(chat: Chat, console: Console) -> int:
    """Until /quit or the end of input. Gives the exit code of the last line that failed; 0 to a person."""
    talker = _Talker(chat, console)
    by_hand = sys.stdin.isatty()
    if by_hand:
        console.print("Ask away. /help lists the commands.", style="dim")
    for line in _lines(console):
        if line == "/quit":
            break
        talker.take(line)
    return 0 if by_hand else talker.exit_code


class _Talker:
    """Does one line after the other; an error ends the line, not the dialogue."""

    def __init__(self, chat: Chat, console: Console) -> None:
        self._chat, self._console = chat, console
        self._last: Answer | None = None
        self.exit_code = 0

    def take(self, line: str) -> None:
        try:
            self._do(line)
        except ArogError as error:
            self.exit_code = exit_code_of(error)
            print(error_line(error), file=sys.stderr)
            if isinstance(error, UnknownConversation):
                print("arog: /reset begins a new conversation.", file=sys.stderr)

    def _do(self, line: str) -> None:
        match line:
            case "/help":
                self._console.print(HELP)
            case "/reset":
                self._chat.reset()
                self._last = None
                self._console.print("(a new dialogue)", style="dim")
            case "/why" | "/evidence" | "/seen" | "/trace" if self._last is None:
                self._console.print("(no answer yet)", style="dim")
            case "/why" if self._last is not None:
                show_why(self._console, self._last)
            case "/evidence" if self._last is not None:
                show_evidence(self._console, self._last)
                show_notes(self._console, self._last)
            case "/seen" if self._last is not None:
                rows = self._chat.ledger(self._last.id)
                show_ledger(self._console, reversed(rows), payload=True)
            case "/trace" if self._last is not None:
                show_trace(self._console, self._chat.trace(self._last.id))
            case _ if line.startswith("/"):
                self._console.print(f"There is no such command.\n{HELP}")
            case _:
                self._ask(line)

    def _ask(self, question: str) -> None:
        if self._console.is_terminal:
            self._last = show_stream(self._console, self._chat.stream(question))
        else:
            self._last = self._chat.ask(question)
            show_answer(self._console, self._last)


def _lines(console: Console) -> Iterator[str]:
    """Lines that hold something. Ctrl-D ends them, and so does Ctrl-C."""
    if not sys.stdin.isatty():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # gives input() editing and the earlier lines, kept in memory alone
    while True:
        try:
            line = console.input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if line:
            yield line
