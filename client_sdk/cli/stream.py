"""A streamed answer on a terminal: stages beside a spinner while they last, then the text as it comes."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from client_sdk.answers.answer import Answer
from client_sdk.answers.safe_output import printable
from client_sdk.cli.render import show_remarks
from client_sdk.streaming import Stage, Stream, TextPiece

_STAGES = {
    "linking": "looking for names",
    "finding": "searching",
    "concluding": "checking the answer",
    "suggesting": "looking for questions to go on with",
    "sealing": "sealing its names",
}


def show_stream(console: Console, stream: Stream, *, notes: bool = True) -> Answer:
    """Shows the pieces as they come, then what the asker should know; the answer. Into a pipe goes text alone."""
    with stream, _Screen(console) as screen:
        for piece in stream:
            if isinstance(piece, Stage):
                screen.tell(piece)
            elif isinstance(piece, TextPiece):
                screen.show(piece.text)
    answer = stream.answer()
    show_remarks(console, answer, notes=notes)
    return answer


class _Screen:
    """A spinner with the newest stage until text comes. What has been shown ends with its line, whatever happens."""

    def __init__(self, console: Console) -> None:
        self._console, self._has_text = console, False
        self._status: Status | None = console.status("asking") if console.is_terminal else None

    def tell(self, stage: Stage) -> None:
        if self._status is not None:
            self._status.update(Text(printable(_STAGES.get(stage.name, str(stage)))))

    def show(self, text: str) -> None:
        self._stop()
        self._has_text = True
        self._console.print(Text(printable(text)), end="")

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._stop()
        if self._has_text:
            self._console.print()

    def _stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
