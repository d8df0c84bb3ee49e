"""Options, progress bar and output that the evaluation's commands share, and the exit codes they end with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer
from rich.console import Console

if TYPE_CHECKING:
    from evaluation.bench.question_sets import Show
    from evaluation.tables.measures import Measure

MISSED: Final = 1
WRONG_INPUT: Final = 2
DATA: Final = Path("../shared/data")
console = Console(stderr=True)

Data = Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")]
Out = Annotated[Path | None, typer.Option(help="Folder for the table and what it was made of")]
Limit = Annotated[int, typer.Option(min=1, help="Questions of each set")]
Sample = Annotated[int | None, typer.Option(min=1, help="Take a random sample of so many")]
Only = Annotated[str, typer.Option(help="Run only what has this in its name")]
Seed = Annotated[int, typer.Option(help="Seed of what is drawn by chance")]
PolicyFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="The graph's policy; the proposed one without it")
]


@contextmanager
def shown_progress(*refused: type[Exception]) -> Iterator[Show]:
    """Shows one progress bar for the whole command; yields the function that moves it.

    Failures end the command with a message in words: exceptions of the types `refused`, and those that any command may
    raise for wrong input, with code 2.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from app.cli.output import failures_in_words
    from app.extractor.extractor import SentenceModelError
    from app.llm.embeddings.trained_weights import NetworkWeightsError
    from evaluation.datasets.questions import QuestionsError

    told: tuple[type[Exception], ...] = (QuestionsError, NetworkWeightsError, SentenceModelError, *refused)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with failures_in_words(console), Progress(*columns, console=console) as bars:
        task = bars.add_task("", total=None)
        try:
            yield lambda title, done, total: bars.update(task, description=title, completed=done, total=total)
        except told as problem:
            refuse(problem)


def refuse(problem: Exception) -> NoReturn:
    """Prints the problem and ends with code 2. The message must quote nothing of what was read."""
    console.print(f"arog: {problem}", markup=False)
    raise typer.Exit(WRONG_INPUT)


def print_markdown(text: str) -> None:
    """Prints Markdown: rendered on a terminal, as it is into a file or a pipe."""
    from rich.markdown import Markdown

    out = Console()
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        print(text)


def end(text: str, *, passed: bool = True, out: Path | None = None, name: str = "") -> NoReturn:
    """Prints the table, writes it as `name`.md into the folder `out`, and ends with code 1 if a bound is missed."""
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{name}.md").write_text(text, encoding="utf-8")
    print_markdown(text)
    raise typer.Exit(0 if passed else MISSED)


def end_measured(measures: Sequence[Measure], out: Path | None, name: str, further: str = "") -> NoReturn:
    """Prints and writes lines of a table of bounds, also as JSON, and ends with code 1 if a bound is missed.

    `further` tables in Markdown follow below.
    """
    from evaluation.tables.measures import markdown, write_json

    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_json(measures, out / f"{name}.json")
    text = "\n".join(filter(None, (markdown(measures), further)))
    end(text, passed=all(measure.passed for measure in measures), out=out, name=name)
