"""The command `arog eval extractor`: how well a trained extractor finds what fills the unknown end of a fact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli_progress import console, print_markdown, refuse, shown_progress
from evaluation.cli_tables import DATA, MISSED, Data, Out, Seed


def commands(parent: typer.Typer) -> None:
    parent.command()(extractor)


def extractor(
    weights: Annotated[
        Path,
        typer.Option("--extractor", exists=True, dir_okay=False, help="Weights that `arog train extractor` wrote"),
    ],
    data: Data = DATA,
    out: Out = None,
    seed: Seed = 0,
) -> None:
    """Measure an extractor on held-out texts and replies; ends with code 1 when a bound is missed."""
    from app.cli.output import failures_in_words
    from app.extractor.extractor import open_extractor
    from app.extractor.lower_layers import SentenceModelError
    from app.llm.embeddings.embedder import Embedder
    from app.llm.embeddings.network_weights import NetworkWeightsError
    from app.settings import load_settings
    from evaluation.datasets.questions import QuestionsError
    from evaluation.dialogue.extractor.extractor_run import markdown, measures, run_extractor
    from evaluation.dialogue.extractor.pair_sets import read_pair_source, to_measure
    from evaluation.tables.measures import markdown as bounds_markdown

    settings = load_settings()
    with failures_in_words(console), shown_progress(console) as show:
        try:
            opened = open_extractor(weights, settings.embedder, settings.cache_dir)
            show("reading", 0, 1)
            source = read_pair_source(data, Embedder(settings.embedder, settings.cache_dir))
            rows = run_extractor(opened, to_measure(source, seed), show)
        except (QuestionsError, NetworkWeightsError, SentenceModelError) as problem:
            refuse(problem)
    lines = measures(rows)
    text = f"{bounds_markdown(lines)}\n{markdown(rows)}"
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "extractor.md").write_text(text, encoding="utf-8")
    print_markdown(text)
    raise typer.Exit(0 if all(line.passed for line in lines) else MISSED)
