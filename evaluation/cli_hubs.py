"""The command `arog eval hubs`: whether the right relation of a hub is among those that are offered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli_progress import console, print_markdown, refuse, shown_progress
from evaluation.cli_tables import DATA, Data, Out


def commands(parent: typer.Typer) -> None:
    parent.command()(hubs)


def hubs(
    weights: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="A trained retriever")],
    data: Data = DATA,
    out: Out = None,
) -> None:
    """Tell how often the right relation of a thing with very many is offered, by likeness and by a retriever."""
    import asyncio

    from app.cli.output import failures_in_words
    from app.llm.embeddings.network_weights import NetworkWeightsError
    from app.settings import load_settings
    from evaluation.datasets.questions import QuestionsError
    from evaluation.dialogue.hubs.hub_run import hubs_table, run_hubs

    with failures_in_words(console), shown_progress(console) as show:
        try:
            rows = asyncio.run(run_hubs(data, weights, load_settings(), show))
        except (QuestionsError, NetworkWeightsError) as problem:
            refuse(problem)
    text = hubs_table(rows)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "hubs.md").write_text(text, encoding="utf-8")
    print_markdown(text)
