"""The command `arog eval statements`: falsehoods of replies that the check lets through."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.evaluation.cli_progress import print_markdown, refuse
from app.evaluation.cli_tables import MISSED


def commands(parent: typer.Typer) -> None:
    parent.command()(statements)


def statements(
    replies: Annotated[
        list[Path], typer.Option(exists=True, dir_okay=False, help="Labelled replies, one JSON object a line")
    ],
) -> None:
    """Check replies with planted falsehoods clause by clause; ends with code 1 when a bound is missed."""
    from app.evaluation.datasets.questions import QuestionsError
    from app.evaluation.dialogue.statements.labelled_replies import read_replies
    from app.evaluation.dialogue.statements.statement_run import measure
    from app.evaluation.dialogue.statements.statement_table import measures
    from app.evaluation.tables.measures import markdown

    try:
        lines = measures(measure([reply for file in replies for reply in read_replies(file)]))
    except QuestionsError as problem:
        refuse(problem)
    print_markdown(markdown(lines))
    raise typer.Exit(0 if all(line.passed for line in lines) else MISSED)
