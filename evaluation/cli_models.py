"""The commands that ask real models: on an owner's own graph, and on public sets against bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evaluation.cli_progress import console, print_markdown, refuse
from evaluation.cli_tables import DATA, Data, Limit, Only, Out


def commands(parent: typer.Typer) -> None:
    parent.command()(models)
    parent.command(name="model-table")(model_table)


def models(
    endpoint: Annotated[str, typer.Option(help="Base URL of the model's endpoint, such as http://host/v1")],
    model: Annotated[str, typer.Option(help="Name of the model at the endpoint")],
    graph: Annotated[
        list[Path] | None, typer.Option(exists=True, help="Files of your graph; the demo without it")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Questions with answers, one JSON object a line")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Policy; the proposed one without it")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask a random sample of so many")] = None,
) -> None:
    """Show what a model is worth on your own graph, beside the reasoner in the box: right, wrong, refused, cost."""
    from app.cli.output import failures_in_words
    from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
    from app.settings import load_settings
    from evaluation.bench.bench import sample
    from evaluation.cli_progress import shown_progress
    from evaluation.datasets.questions import QuestionsError, read_questions
    from evaluation.models.models_run import AskedGraph, compare_models, rows_markdown

    if (graph is None) != (questions is None):
        refuse(QuestionsError("give --graph and --questions together, or neither for the demo"))
    try:
        asked = sample(read_questions(questions or QUESTIONS_FILE), limit, 0)
    except QuestionsError as problem:
        refuse(problem)
    text = (policy or (None if graph else POLICY_FILE)) and (policy or POLICY_FILE).read_text("utf-8")
    of_owner = AskedGraph(graph or [GRAPH_FILE], text or None, asked)
    with failures_in_words(console), shown_progress(console) as show:
        rows = compare_models(of_owner, {"endpoint_url": endpoint, "endpoint_model": model}, show)
    print_markdown(rows_markdown(rows, load_settings().currency))


def model_table(
    data: Data = DATA,
    out: Out = None,
    limit: Limit = 100,
    only: Only = "",
    endpoint: Annotated[str, typer.Option(help="Another model's base URL; the small one without it")] = "",
    model: Annotated[str, typer.Option(help="Its name")] = "",
) -> None:
    """Measure a real model against its bounds, and lies against 0; ends with code 1 when a bound is missed."""
    import tempfile

    from evaluation.cli_tables import _measured, _shown
    from evaluation.models.local_model import NoModelError, serving_small_model
    from evaluation.models.models_table import AskedModel, run_models_table

    if endpoint:
        asked = AskedModel(endpoint, model or "model")
        _measured(_shown(lambda show: run_models_table(asked, data, limit, only, show)), out, "models")
    try:
        with tempfile.TemporaryDirectory(prefix="arog-model-") as folder, serving_small_model(Path(folder)) as small:
            asked = AskedModel(small.url, small.name, small.log)
            measures = _shown(lambda show: run_models_table(asked, data, limit, only, show))
    except NoModelError as problem:
        refuse(problem)
    _measured(measures, out, "models")
