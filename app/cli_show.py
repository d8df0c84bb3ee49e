"""What the service's commands show: a progress bar, and failures as a sentence instead of a traceback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from app.problems import INTERNAL, problem_of
from app.settings import SettingsProblem
from app.telemetry import place_of
from kg_store.terms import StoreError

NOT_USABLE = 2
FAILED = 1


@contextmanager
def failures_in_words(console: Console) -> Iterator[None]:
    """Ends the command with one sentence; the text of unknown errors, which may hold names, is not shown."""
    try:
        yield
    except (SettingsProblem, StoreError) as error:
        hint = "" if isinstance(error, SettingsProblem) else " " + problem_of(error).hint
        _tell(console, f"{str(error) or problem_of(error).message}{hint}")
        raise typer.Exit(NOT_USABLE) from None
    except Exception as error:
        problem = problem_of(error)
        known = f"{problem.message} {problem.hint}"
        _tell(console, f"{type(error).__name__} at {place_of(error)}" if problem is INTERNAL else known)
        raise typer.Exit(FAILED) from None


@contextmanager
def bar(console: Console, title: str) -> Iterator[Callable[[str, float], None]]:
    """A progress bar; gives the function that moves it: `(step, percent)`."""
    columns = (
        TextColumn(title),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=100.0)
        yield lambda step, percent: progress.update(task, description=step, completed=percent)
        progress.update(task, description="done", completed=100.0)


def _tell(console: Console, sentence: str) -> None:
    console.print(f"arog: {sentence}", markup=False, highlight=False, soft_wrap=True)
