"""The command `arog eval suggestions`: the questions that answers suggest, each asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli_tables import DATA, MISSED, Data, TableOut


def commands(parent: typer.Typer) -> None:
    parent.command()(suggestions)


def suggestions(
    data: Data = DATA,
    graph: Annotated[str, typer.Option(help="One of the natural questions' graphs, hospital or c360; else all")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Questions of each graph")] = 20,
    out: TableOut = None,
    wrong: Annotated[
        Path | None, typer.Option(help="Write the suggestions that were not answered here; mode 600")
    ] = None,
) -> None:
    """Ask every question that answers suggest; ends with code 1 unless each is answered as the graph says."""
    import asyncio

    from app.cli.output import failures_in_words
    from app.graphs.report_files import write_private
    from evaluation.cli_progress import console, print_markdown, refuse, shown_progress
    from evaluation.datasets.questions import QuestionsError
    from evaluation.natural.suggestions import missed, run_suggestions, table

    with failures_in_words(console), shown_progress(console) as show:
        try:
            found = asyncio.run(run_suggestions(data, limit, graph, show))
        except QuestionsError as problem:
            refuse(problem)
    left = [f"{name}: {text}" for name, texts in missed(found).items() for text in texts]
    if wrong:
        write_private(wrong, "\n".join([*left, ""]).encode())
    text = table(found)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "suggestions.md").write_text(text, encoding="utf-8")
    print_markdown(text)
    raise typer.Exit(MISSED if left or not any(each.total for each in found) else 0)
