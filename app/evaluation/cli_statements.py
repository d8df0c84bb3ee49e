"""The command `arog eval statements`: falsehoods of replies that the check lets through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.evaluation.cli_progress import console, print_markdown, refuse, shown_progress
from app.evaluation.cli_tables import MISSED

if TYPE_CHECKING:
    from app.evaluation.bench.question_sets import Show
    from app.evaluation.dialogue.statements.labelled_replies import LabelledReply
    from app.evaluation.tables.measures import Measure


def commands(parent: typer.Typer) -> None:
    parent.command()(statements)


def statements(
    replies: Annotated[
        list[Path], typer.Option(exists=True, dir_okay=False, help="Labelled replies, one JSON object a line")
    ],
    served: Annotated[
        bool, typer.Option("--served", help="Ask the whole service over HTTP; the scripted endpoint gives the replies")
    ] = False,
) -> None:
    """Check replies with planted falsehoods clause by clause; ends with code 1 when a bound is missed."""
    from app.cli.output import failures_in_words
    from app.evaluation.datasets.questions import QuestionsError
    from app.evaluation.dialogue.statements.labelled_replies import read_replies
    from app.evaluation.dialogue.statements.statement_run import measure
    from app.evaluation.dialogue.statements.statement_table import measures
    from app.evaluation.tables.measures import markdown

    with failures_in_words(console), shown_progress(console) as show:
        try:
            labelled = [reply for file in replies for reply in read_replies(file)]
        except QuestionsError as problem:
            refuse(problem)
        lines = _served(labelled, show) if served else measures(measure(labelled))
    print_markdown(markdown(lines))
    raise typer.Exit(0 if all(line.passed for line in lines) else MISSED)


def _served(replies: list[LabelledReply], show: Show) -> list[Measure]:
    import asyncio

    from app.evaluation.dialogue.statements.served_replies import measure_served
    from app.evaluation.dialogue.statements.statement_table import served_measures

    return served_measures(asyncio.run(measure_served(replies, show)))
