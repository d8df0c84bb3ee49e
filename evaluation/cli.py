"""The commands `arog eval`: ask questions, convert public sets, write the contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.main import require_extra
from evaluation import cli_dialogue, cli_models, cli_suggestions, cli_tables
from evaluation.cli_progress import console, print_markdown, refuse

if TYPE_CHECKING:
    from evaluation.bench.asker import QuestionOutcome
    from evaluation.bench.report import Report, RunLabel
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
    errors: Annotated[
        Path | None, typer.Option(help="Write each wrong answer here, by cause; it holds names: mode 600")
    ] = None,
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
        report, outcomes = asyncio.run(_ask(graph, policy, reasoner, label, chosen, options, errors))
    if json:
        write_json([report], [outcomes], json)
    print_markdown(markdown([report]) + "\n" + stages_markdown(report))


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
    errors: Path | None,
) -> tuple[Report, list[QuestionOutcome]]:
    from app.cli.output import bar
    from evaluation.bench.bench import Bench, ignore_outcome
    from evaluation.bench.error_log import ErrorLog
    from evaluation.cli_progress import bars_on

    async with Bench(reasoner) as bench:
        with bar(console, "loading") as loading:
            loaded = bench.load("asked", graph, policy.read_text("utf-8") if policy else None, loading)
        with bars_on(console) as bars:
            task = bars.add_task("asking", total=len(chosen))
            log = ErrorLog(bench.scorer) if errors else None
            result = await bench.ask(
                loaded,
                label,
                chosen,
                options,
                lambda done: bars.update(task, completed=done),
                log.see if log else ignore_outcome,
            )
        if log and errors:
            log.write(label, errors, result[0].leaks.leaked)
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
cli_models.commands(app)
cli_suggestions.commands(app)
