"""Output of the evaluation's commands: progress, tables, and why an input is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NoReturn

import typer
from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress

    from evaluation.bench.question_sets import Show

WRONG_INPUT: Final = 2
console = Console(stderr=True)


def bars_on(console: Console) -> Progress:
    """Bars that tell what runs, how much of it is done, and how long that took."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console)


@contextmanager
def shown_progress(console: Console) -> Iterator[Show]:
    """One bar for all that a table runs; gives the function that moves it."""
    with bars_on(console) as bars:
        task = bars.add_task("", total=None)
        yield lambda title, done, total: bars.update(task, description=title, completed=done, total=total)


def refuse(problem: Exception) -> NoReturn:
    """`problem` quotes nothing of what was read."""
    console.print(f"arog: {problem}", markup=False)
    raise typer.Exit(WRONG_INPUT)


def print_markdown(text: str) -> None:
    """Rendered for a person, as it is for a file or a pipe."""
    from rich.markdown import Markdown

    out = Console()
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        print(text)
