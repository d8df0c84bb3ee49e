"""The commands `arog eval`: ask questions, convert public sets, write the contract, fill the table of bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer
from rich.console import Console
from rich.markdown import Markdown

from app.evaluation.questions import Question, QuestionsProblem, read_questions

if TYPE_CHECKING:
    from app.evaluation.asking import Outcome
    from app.evaluation.report import Report, RunLabel

CONTRACT_PAGE = Path("docs/reasoner_contract.md")
WRONG_INPUT = 2
MISSED = 1

app = typer.Typer(help="Measure the service on questions with known answers; on public data only.")
console = Console(stderr=True)

Strategy = Literal["sets", "arog"]
Reasoner = Literal["embedded", "scripted", "endpoint"]


def commands(parent: typer.Typer) -> None:
    """Adds `arog eval`."""
    parent.add_typer(app, name="eval")


@app.command()
def qa(
    graph: Annotated[list[Path], typer.Option(help="File to load; may be given several times")],
    questions: Annotated[Path, typer.Option(help="Questions, one JSON object a line")],
    policy: Annotated[Path | None, typer.Option(help="Policy; the proposed one without it")] = None,
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
    from app.cli_show import failures_in_words
    from app.evaluation.report import RunLabel, markdown, stages_markdown, write_json
    from app.evaluation.run import sample

    chosen = sample(_read(questions, reasoner), limit, seed)
    label = RunLabel(set_name=graph[0].stem, strategy=strategy, reasoner=reasoner, seed=seed)
    options = {name: value for name, value in (("width", width), ("depth", depth)) if value is not None}
    with failures_in_words(console):
        report, outcomes = asyncio.run(_ask(graph, policy, reasoner, label, chosen, options, errors))
    if json:
        write_json([report], [outcomes], json)
    _print_markdown(markdown([report]) + "\n" + stages_markdown(report))


@app.command()
def convert(
    name: Annotated[str, typer.Argument(help="pathquestion, metaqa or webqsp")],
    source: Annotated[Path, typer.Argument(help="The file of questions; its graph lies beside it")],
    out: Annotated[Path, typer.Argument(help="Folder for graph.tsv, questions.jsonl and policy.toml")],
) -> None:
    """Write a public question set in the generic form that `arog eval qa` reads."""
    from app.evaluation.converters import convert as convert_set

    try:
        done = convert_set(name, source, out)
    except QuestionsProblem as problem:
        _refuse(problem)
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
    from app.evaluation.contract import contract_text

    text = contract_text()
    if check:
        raise typer.Exit(0 if out.is_file() and out.read_text("utf-8") == text else MISSED)
    out.write_text(text, encoding="utf-8")
    console.print(f"written: {out.name}")


@app.command()
def table(
    data: Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")] = Path("../shared/data"),
    out: Annotated[Path | None, typer.Option(help="Folder for the table and all outcomes")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions of each set")] = 500,
    only: Annotated[str, typer.Option(help="Run only rows whose name holds this")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the samples")] = 0,
) -> None:
    """Run every row of the table of bounds; ends with code 1 when a bound is missed."""
    from app.cli_show import failures_in_words
    from app.evaluation.cli_progress import shown_progress
    from app.evaluation.table import run_table

    with failures_in_words(console), shown_progress(console) as show:
        try:
            results = asyncio.run(run_table(data, limit, seed, only, show))
        except QuestionsProblem as problem:
            _refuse(problem)
    text = results.markdown()
    if out:
        out.mkdir(parents=True, exist_ok=True)
        results.write(out)
    _print_markdown(text)
    raise typer.Exit(MISSED if results.missed else 0)


@app.command()
def guard(
    names: Annotated[int, typer.Option(min=1, max=5_000_000, help="How many made-up names")] = 1_000_000,
) -> None:
    """How fast the guard reads a request, and what it takes of memory; ends with code 1 when a bound is missed."""
    from app.evaluation.guard_scale import markdown, measure_scale

    scale = measure_scale(names)
    _print_markdown(markdown(scale))
    raise typer.Exit(0 if scale.passed else MISSED)


@app.command()
def embedded(
    data: Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")] = Path("../shared/data"),
    out: Annotated[
        Path | None, typer.Option(help="Folder for the table and for files of wrong answers, which hold names")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions of each set")] = 1000,
    only: Annotated[str, typer.Option(help="Run only the groups whose name holds this")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the samples")] = 0,
) -> None:
    """Measure the reasoner that needs no model against its bounds; ends with code 1 when one is missed."""
    from app.cli_show import failures_in_words
    from app.evaluation.cli_progress import shown_progress
    from app.evaluation.embedded_measures import markdown, write_json
    from app.evaluation.embedded_table import run_embedded_table

    if out:
        out.mkdir(parents=True, exist_ok=True)
    with failures_in_words(console), shown_progress(console) as show:
        try:
            measures = asyncio.run(run_embedded_table(data, limit, seed, only, show, out))
        except QuestionsProblem as problem:
            _refuse(problem)
    text = markdown(measures)
    if out:
        (out / "embedded.md").write_text(text, encoding="utf-8")
        write_json(measures, out / "embedded.json")
    _print_markdown(text)
    raise typer.Exit(0 if all(measure.passed for measure in measures) else MISSED)


@app.command()
def endpoint(
    data: Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")] = Path("../shared/data"),
    out: Annotated[Path | None, typer.Option(help="Folder for the table")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions of each set")] = 200,
    only: Annotated[str, typer.Option(help="Run only what has this in its name")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the samples")] = 0,
) -> None:
    """Measure what a model endpoint costs against its bounds; ends with code 1 when one is missed."""
    from app.cli_show import failures_in_words
    from app.evaluation.cli_progress import shown_progress
    from app.evaluation.embedded_measures import markdown, write_json
    from app.evaluation.endpoint_table import run_endpoint_table

    with failures_in_words(console), shown_progress(console) as show:
        try:
            measures = asyncio.run(run_endpoint_table(data, limit, seed, only, show))
        except QuestionsProblem as problem:
            _refuse(problem)
    text = markdown(measures)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "endpoint.md").write_text(text, encoding="utf-8")
        write_json(measures, out / "endpoint.json")
    _print_markdown(text)
    raise typer.Exit(0 if all(measure.passed for measure in measures) else MISSED)


@app.command()
def masked(
    data: Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")] = Path("../shared/data"),
    out: Annotated[Path | None, typer.Option(help="Folder for the table")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions of each set")] = 500,
    only: Annotated[str, typer.Option(help="Ask only sets whose name holds this")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the samples and of which relations are masked")] = 0,
) -> None:
    """Show what is still answered when relations are masked; ends with code 1 when a bound is missed."""
    from app.cli_show import failures_in_words
    from app.evaluation.cli_progress import shown_progress
    from app.evaluation.embedded_measures import markdown, write_json
    from app.evaluation.masked_table import run_masked_table

    with failures_in_words(console), shown_progress(console) as show:
        try:
            measures = asyncio.run(run_masked_table(data, limit, seed, only, show))
        except QuestionsProblem as problem:
            _refuse(problem)
    text = markdown(measures)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "masked.md").write_text(text, encoding="utf-8")
        write_json(measures, out / "masked.json")
    _print_markdown(text)
    raise typer.Exit(0 if all(measure.passed for measure in measures) else MISSED)


@app.command()
def linking(
    data: Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")] = Path("../shared/data"),
    mentions: Annotated[int, typer.Option(min=1, help="Misspelt and abbreviated names")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the names and slips")] = 0,
) -> None:
    """Measure how well names are found as people type them; ends with code 1 when a bound is missed."""
    from app.cli_show import failures_in_words
    from app.evaluation.cli_progress import shown_progress
    from app.evaluation.linking_run import run_linking

    with failures_in_words(console), shown_progress(console) as show:
        try:
            results = asyncio.run(run_linking(data, mentions, seed, show))
        except QuestionsProblem as problem:
            _refuse(problem)
    _print_markdown(results.markdown())
    raise typer.Exit(MISSED if results.missed else 0)


@app.command()
def reliability(
    data: Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")] = Path("../shared/data"),
    out: Annotated[Path | None, typer.Option(help="File for the tables")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions of each set")] = 300,
    only: Annotated[str, typer.Option(help="Ask only sets whose name holds this")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the samples")] = 0,
) -> None:
    """Show how often the embedded reasoner is right at each score, and what a threshold would refuse."""
    from app.cli_show import failures_in_words
    from app.evaluation.cli_progress import shown_progress
    from app.evaluation.reliability import reliability_markdown
    from app.evaluation.reliability_run import run_reliability
    from app.llm.embedded_step import LEAST_SCORE

    with failures_in_words(console), shown_progress(console) as show:
        try:
            points = asyncio.run(run_reliability(data, limit, seed, only, show))
        except QuestionsProblem as problem:
            _refuse(problem)
    text = reliability_markdown(points, LEAST_SCORE)
    if out:
        out.write_text(text, encoding="utf-8")
    _print_markdown(text)


async def _ask(
    graph: list[Path],
    policy: Path | None,
    reasoner: Reasoner,
    label: RunLabel,
    chosen: list[Question],
    options: Mapping[str, int],
    errors: Path | None,
) -> tuple[Report, list[Outcome]]:
    from app.cli_show import bar
    from app.evaluation.cli_progress import bars_on
    from app.evaluation.error_log import ErrorLog
    from app.evaluation.run import Bench, unseen

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
                log.see if log else unseen,
            )
        if log and errors:
            log.write(label, errors, result[0].leaks.leaked)
        for broken in bench.contract_breaks[:3]:
            console.print(f"contract: {broken}")
    return result


def _read(file: Path, reasoner: Reasoner) -> list[Question]:
    try:
        questions = read_questions(file)
    except QuestionsProblem as problem:
        _refuse(problem)
    if reasoner != "scripted":
        return questions
    planned = [question for question in questions if question.has_plan]
    if len(planned) < len(questions):
        console.print(f"{len(questions) - len(planned)} questions have no plan; the scripted endpoint skips them.")
    if not planned:
        _refuse(QuestionsProblem("no question has a plan, which the scripted endpoint needs"))
    return planned


def _refuse(problem: QuestionsProblem) -> NoReturn:
    console.print(f"arog: {problem}", markup=False)
    raise typer.Exit(WRONG_INPUT)


def _print_markdown(text: str) -> None:
    """Rendered for a person, as it is for a file or a pipe."""
    out = Console()
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        print(text)
