"""Progress bars of the evaluation's commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.evaluation.question_sets import Show


def bars_on(console: Console) -> Progress:
    """Bars that tell what runs, how much of it is done, and how long that took."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console)


@contextmanager
def shown_progress(console: Console) -> Iterator[Show]:
    """One bar for all that a table runs; gives the function that moves it."""
    with bars_on(console) as bars:
        task = bars.add_task("", total=None)
        yield lambda title, done, total: bars.update(task, description=title, completed=done, total=total)
