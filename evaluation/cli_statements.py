"""The command `arog eval statements`: false statements of a model that read back all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli_progress import console, print_markdown, refuse
from evaluation.cli_tables import MISSED


def commands(parent: typer.Typer) -> None:
    parent.command()(statements)


def statements(
    extractor: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="What `arog train extractor` wrote: it reads them back")
    ],
    replies: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True, dir_okay=False, help="Labelled replies, one JSON object a line; else those kept here"
        ),
    ] = None,
) -> None:
    """Read labelled statements back, as AROG_REPLY_WORDS=model does; ends with code 1 when a bound is missed."""
    from app.cli.output import failures_in_words
    from app.settings import load_settings
    from app.wiring.sentence_models import read_back_of
    from evaluation.datasets.questions import QuestionsError
    from evaluation.dialogue.statements.labelled_replies import KEPT, read_replies
    from evaluation.dialogue.statements.statement_run import measure, measures
    from evaluation.tables.measures import markdown

    with failures_in_words(console):
        try:
            labelled = [reply for file in replies or KEPT for reply in read_replies(file)]
        except QuestionsError as problem:
            refuse(problem)
        read_back = read_back_of(load_settings().model_copy(update={"extractor": extractor}))
        assert read_back is not None
        lines = measures(measure(labelled, read_back))
    print_markdown(markdown(lines))
    raise typer.Exit(0 if all(line.passed for line in lines) else MISSED)
