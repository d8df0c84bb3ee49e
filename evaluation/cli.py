"""The commands `arog eval`: ask questions, convert public sets, write the contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.main import require_extra
from evaluation import cli_dialogue, cli_tables
from evaluation.cli_progress import console, print_markdown, refuse, shown_progress

if TYPE_CHECKING:
    from evaluation.bench.report import QuestionOutcome, Report, RunLabel
    from evaluation.datasets.questions import Question

CONTRACT_PAGE = Path("docs/reasoner_contract.md")

app = typer.Typer(help="Measure the service on questions with known answers. On public data only.")
Strategy = Literal["sets", "arog"]
Reasoner = Literal["embedded", "scripted", "endpoint"]


def commands(parent: typer.Typer) -> None:
    """Adds `arog eval`."""
    require_extra()
    parent.add_typer(app, name="eval")


@app.command()
def qa(
    graph: Annotated[list[Path], typer.Option(exists=True, help="File to load; may be given several times")],
    questions: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="Questions, one JSON object a line")],
    policy: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Policy; the proposed one without it")
    ] = None,
    strategy: Annotated[Strategy, typer.Option(help="Which strategy answers")] = "sets",
    reasoner: Annotated[Reasoner, typer.Option(help="`scripted` answers by the questions' gold plans")] = "embedded",
    limit: Annotated[int | None, typer.Option(min=1, help="Ask a random sample of so many")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample")] = 0,
    width: Annotated[int | None, typer.Option(min=1, max=20, help="W: relations that a round follows")] = None,
    depth: Annotated[int | None, typer.Option(min=1, max=5, help="D: rounds of retrieval")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all figures and outcomes here")] = None,
) -> None:
    """Load a graph, ask every question through the service, and report how right, dear, fast and tight it was."""
    import asyncio

    from app.cli.output import failures_in_words

    asked = _read(questions, reasoner)
    from evaluation.bench.bench import sample
    from evaluation.bench.report import RunLabel, markdown, stages_markdown, write_json

    chosen = sample(asked, limit, seed)
    label = RunLabel(set_name=graph[0].stem, strategy=strategy, reasoner=reasoner, seed=seed)
    options = {name: value for name, value in (("width", width), ("depth", depth)) if value is not None}
    with failures_in_words(console):
        report, outcomes = asyncio.run(_ask(graph, policy, reasoner, label, chosen, options))
    if json:
        write_json([report], [outcomes], json)
    print_markdown(markdown([report]) + "\n" + stages_markdown(report))


@app.command()
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
    from evaluation.datasets.questions import QuestionsError, read_questions
    from evaluation.models.models_table import compare_models, rows_markdown

    if (graph is None) != (questions is None):
        refuse(QuestionsError("give --graph and --questions together, or neither for the demo"))
    try:
        asked = sample(read_questions(questions or QUESTIONS_FILE), limit, 0)
    except QuestionsError as problem:
        refuse(problem)
    chosen = policy or (None if graph else POLICY_FILE)
    with failures_in_words(console), shown_progress(console) as show:
        settings = {"endpoint_url": endpoint, "endpoint_model": model}
        rows = compare_models(
            graph or [GRAPH_FILE], chosen.read_text("utf-8") if chosen else None, asked, settings, show
        )
    print_markdown(rows_markdown(rows, load_settings().currency))


@app.command()
def convert(
    name: Annotated[str, typer.Argument(help="pathquestion, metaqa or webqsp")],
    source: Annotated[Path, typer.Argument(help="The file of questions; its graph lies beside it")],
    out: Annotated[Path, typer.Argument(help="Folder for graph.tsv and questions.jsonl")],
) -> None:
    """Write a public question set in the generic form that `arog eval qa` reads."""
    from evaluation.datasets.converters import convert as convert_set
    from evaluation.datasets.questions import QuestionsError

    try:
        done = convert_set(name, source, out)
    except QuestionsError as problem:
        refuse(problem)
    console.print(
        f"{done.count} questions, {done.planned} with a gold plan; of these "
        f"{done.reproduced} plans give exactly the gold answers."
    )


@app.command()
def contract(
    out: Annotated[Path, typer.Option(help="Where the page is written")] = CONTRACT_PAGE,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when the page is out of date")] = False,
) -> None:
    """Write the contract with model endpoints from the models in the code."""
    from evaluation.fakes.contract import contract_text

    text = contract_text()
    if check:
        raise typer.Exit(0 if out.is_file() and out.read_text("utf-8") == text else 1)
    out.write_text(text, encoding="utf-8")
    console.print(f"written: {out.name}")


async def _ask(
    graph: list[Path],
    policy: Path | None,
    reasoner: Reasoner,
    label: RunLabel,
    chosen: list[Question],
    options: Mapping[str, int],
) -> tuple[Report, list[QuestionOutcome]]:
    from app.cli.output import bar
    from evaluation.bench.bench import Bench
    from evaluation.cli_progress import bars_on

    async with Bench(reasoner) as bench:
        with bar(console, "loading") as loading:
            loaded = bench.load("asked", graph, policy.read_text("utf-8") if policy else None, loading)
        with bars_on(console) as bars:
            task = bars.add_task("asking", total=len(chosen))
            result = await bench.ask(loaded, label, chosen, options, lambda done: bars.update(task, completed=done))
        for broken in bench.contract_breaks[:3]:
            console.print(f"contract: {broken}")
    return result


def _read(file: Path, reasoner: Reasoner) -> list[Question]:
    from evaluation.datasets.questions import QuestionsError, read_questions

    try:
        questions = read_questions(file)
    except QuestionsError as problem:
        refuse(problem)
    if reasoner != "scripted":
        return questions
    planned = [question for question in questions if question.has_plan]
    if len(planned) < len(questions):
        console.print(f"{len(questions) - len(planned)} questions have no plan; the scripted endpoint skips them.")
    if not planned:
        refuse(QuestionsError("no question has a plan, which the scripted endpoint needs"))
    return planned


cli_tables.commands(app)
cli_dialogue.commands(app)
