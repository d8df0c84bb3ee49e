"""Where the lines of a dialogue come from: typed, with editing, earlier lines and completion; or from a pipe.

Promise: what is typed stays in memory, and goes to no file but the one that the person names.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from rich.console import Console

from client_sdk.crypto.private_files import create_private, read_private
from client_sdk.errors import ArogError

_MOST_LINES = 1000


def piped_lines() -> Iterator[str]:
    """Lines of standard input that hold something."""
    return (line.strip() for line in sys.stdin if line.strip())


def typed_lines(
    console: Console, prompt: Callable[[], str], complete: Callable[[str], Sequence[str]], kept: Path | None
) -> Iterator[str]:
    """Lines that hold something, until Ctrl-D or Ctrl-C. `prompt` is asked before each; `complete` gives the words
    that a line may go on with. With `kept`, earlier lines are read from that file and written to it at the end.

    Raises NotConfigured where others can read the file.
    """
    with _earlier_lines(_readline(), complete, kept):
        while True:
            try:
                line = input(_coloured(prompt(), console)).strip()
            except (EOFError, KeyboardInterrupt):
                console.print()
                return
            if line:
                yield line


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


def _readline() -> ModuleType | None:
    """What gives input() editing; not every Python has it."""
    try:
        import readline
    except ImportError:
        return None
    return readline


@contextlib.contextmanager
def _earlier_lines(
    readline: ModuleType | None, complete: Callable[[str], Sequence[str]], kept: Path | None
) -> Iterator[None]:
    if readline is None:
        yield
        return
    _complete_with(readline, complete)
    readline.clear_history()
    readline.set_history_length(_MOST_LINES)
    if kept is not None and (create_private(kept, b"") or read_private(kept) is not None):
        readline.read_history_file(kept)
    try:
        yield
    finally:
        if kept is not None:
            readline.write_history_file(kept)
            kept.chmod(0o600)
        readline.clear_history()


def _complete_with(readline: ModuleType, complete: Callable[[str], Sequence[str]]) -> None:
    def nth(_word: str, number: int) -> str | None:
        found = complete(readline.get_line_buffer().lstrip())
        return found[number] if number < len(found) else None

    readline.set_completer_delims(" ")
    readline.set_completer(nth)
    of_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if of_libedit else "tab: complete")


def _coloured(prompt: str, console: Console) -> str:
    """With marks around the colours, so that readline knows how wide the prompt is."""
    if not console.is_terminal or console.no_color:
        return prompt
    return f"\001\x1b[1;36m\002{prompt}\001\x1b[0m\002"
