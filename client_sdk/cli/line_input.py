"""Reads the lines of a dialogue: typed, with editing, earlier lines and completion; or from a pipe.

Promise: what is typed stays in memory, and goes to no file but the one that the person names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from client_sdk.crypto.key_file import create_private, read_private
from client_sdk.errors import ArogError

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.document import Document

_MAX_LINES = 1000


def piped_lines() -> Iterator[str]:
    """Lines of standard input that hold something."""
    return (line.strip() for line in sys.stdin if line.strip())


def typed_lines(
    console: Console, prompt: Callable[[], str], complete: Callable[[str], Sequence[str]], kept: Path | None
) -> Iterator[str]:
    """Lines that hold something, until Ctrl-D or Ctrl-C. `prompt` is asked before each; `complete` gives the words
    that a line may go on with. With `kept`, earlier lines are read from that file and written to it at the end.

    Raises NotConfiguredError where others can read the file.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory
    from prompt_toolkit.shortcuts import CompleteStyle

    earlier = InMemoryHistory(_kept_lines(kept) if kept is not None else [])
    session: PromptSession[str] = PromptSession(
        history=earlier,
        completer=_completer(complete),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
    )
    style = "bold ansicyan" if console.is_terminal and not console.no_color else ""
    try:
        while True:
            try:
                line = session.prompt([(style, prompt())]).strip()
            except (EOFError, KeyboardInterrupt):
                console.print()
                return
            if line:
                yield line
    finally:
        if kept is not None:
            _keep_lines(kept, earlier.get_strings()[-_MAX_LINES:])


def completing(commands: Sequence[str], graphs: Callable[[], list[str]]) -> Callable[[str], Sequence[str]]:
    """Completes commands, and the names of graphs after `/graph`."""

    def complete(line: str) -> Sequence[str]:
        if not line.startswith("/graph "):
            return [command for command in commands if command.startswith(line)] if line.startswith("/") else []
        begun = line.removeprefix("/graph ")
        try:
            return [name for name in graphs() if name.startswith(begun)]
        except ArogError:
            return []

    return complete


def _completer(complete: Callable[[str], Sequence[str]]) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Document, _event: object) -> Iterator[Completion]:
            begun = document.get_word_before_cursor(WORD=True)
            for word in complete(document.text_before_cursor.lstrip()):
                yield Completion(word, start_position=-len(begun))

    return Words()


def _kept_lines(kept: Path) -> list[str]:
    """Earlier lines, oldest first. Raises NotConfiguredError where others can read the file."""
    create_private(kept, b"")
    read_private(kept)
    return kept.read_text("utf-8", errors="replace").splitlines()


def _keep_lines(kept: Path, lines: Sequence[str]) -> None:
    kept.write_text("".join(f"{' '.join(line.splitlines())}\n" for line in lines), "utf-8", errors="replace")
    kept.chmod(0o600)
