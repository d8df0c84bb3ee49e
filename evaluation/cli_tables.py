"""The commands of `arog eval` that fill a table of bounds; each ends with code 1 when one is missed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NoReturn, TypeVar

import typer

from evaluation.cli_progress import console, print_markdown, refuse, shown_progress

if TYPE_CHECKING:
    from evaluation.bench.question_sets import Show
    from evaluation.tables.measures import Measure

MISSED: Final = 1

Data = Annotated[Path, typer.Option(envvar="AROG_DATA", help="Folder of the public sets")]
Out = Annotated[Path | None, typer.Option(help="Folder for the table and what it was made of")]
TableOut = Annotated[Path | None, typer.Option(help="Folder for the table")]
Limit = Annotated[int, typer.Option(min=1, help="Questions of each set")]
Only = Annotated[str, typer.Option(help="Run only what has this in its name")]
Seed = Annotated[int, typer.Option(help="Seed of what is drawn by chance")]

DATA: Final = Path("../shared/data")
_ResultT = TypeVar("_ResultT")


def commands(parent: typer.Typer) -> None:
    tables = (table, guard, ledger, speed, embedded, natural, confidence, endpoint, drafts, masked, linking)
    for command in (*tables, words, concepts):
        parent.command()(command)
    parent.command("data")(own_data)
    parent.command("model-table")(model_table)
    parent.command()(suggestions)


def table(data: Data = DATA, out: Out = None, limit: Limit = 500, only: Only = "", seed: Seed = 0) -> None:
    """Run every row of the table of bounds; ends with code 1 when a bound is missed."""
    from evaluation.tables.bounds_table import results_markdown, run_table, write_results

    results = _shown(lambda show: run_table(data, limit, seed, only, show))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_results(results, out)
    _end(results_markdown(results), passed=not any(each.missed for each in results))


def guard(
    names: Annotated[int, typer.Option(min=1, max=5_000_000, help="How many made-up names")] = 1_000_000,
) -> None:
    """Measure how fast the guard reads a request, and its memory; ends with code 1 when a bound is missed."""
    from evaluation.scale.guard_scale import markdown, measure_scale

    scale = measure_scale(names)
    _end(markdown(scale), passed=scale.passed)


def ledger(rows: Annotated[int, typer.Option(min=100, max=5_000_000, help="How many rows")] = 57_000) -> None:
    """Measure the processor time that checking a ledger takes; ends with code 1 when a bound is missed."""
    from evaluation.scale.ledger_scale import markdown, measure_ledger

    scale = measure_ledger(rows)
    _end(markdown(scale), passed=scale.passed)


def speed(
    triples: Annotated[int, typer.Option(min=10_000, help="Triples of the made-up graph")] = 1_000_000,
    small: Annotated[bool, typer.Option(help="30,000 triples, against twice the kept figures")] = False,
) -> None:
    """Measure speed beside peers in the same run; ends with code 1 when it got worse since the last release."""
    from evaluation.scale.speed_run import SMALL, markdown, measure_speed

    report = measure_speed(SMALL if small else triples, console.print, small=small)
    _end(markdown(report), passed=report.passed)


def embedded(data: Data = DATA, out: Out = None, limit: Limit = 1000, only: Only = "", seed: Seed = 0) -> None:
    """Measure the reasoner that needs no model against its bounds; ends with code 1 when one is missed."""
    from evaluation.tables.embedded_table import run_embedded_table

    _measured(_shown(lambda show: run_embedded_table(data, limit, seed, only, show)), out, "embedded")


def natural(
    half: Annotated[
        Literal["seen", "shut", "all"], typer.Option(help="`shut` is the half that nobody looks at")
    ] = "all",
    graph: Annotated[
        str,
        typer.Option(
            help="clinic, company, wikidata, university, logistics, vets or property, all without it; or tables"
        ),
    ] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Questions of each graph and half; all without it")] = None,
    wrong: Annotated[
        Path | None, typer.Option(help="Write the questions of the seen half here that were not right; mode 600")
    ] = None,
    out: Out = None,
    seed: Seed = 0,
) -> None:
    """Ask questions as people ask them, and judge every answer; ends with code 1 when a bound is missed."""
    from app.graphs.report_files import write_private
    from evaluation.datasets.questions import QuestionsError
    from evaluation.natural.run import Selection, run_natural
    from evaluation.natural.table import by_kind, measures, wrong_markdown
    from evaluation.tables.measures import markdown

    if wrong and half == "shut":
        refuse(QuestionsError("nobody looks at the shut half: --wrong writes questions of the seen half alone"))
    selection = Selection(("seen", "shut") if half == "all" else (half,), graph, limit, seed)
    run = _shown(lambda show: run_natural(selection, show))
    if wrong:
        write_private(wrong, wrong_markdown(run).encode())
    lines = measures(run)
    text = f"{markdown(lines)}\n{by_kind(run)}"
    _written(text, out, "natural")
    _end(text, passed=all(line.passed for line in lines))


def confidence(
    data: Data = DATA,
    limit: Limit = 300,
    write: Annotated[Path | None, typer.Option(help="Write the weights here, where the service reads them")] = None,
    seed: Seed = 0,
) -> None:
    """Fit the formula of the confidence to the seen natural questions and the public sets; asks none of the shut."""
    from evaluation.natural.confidence_examples import natural_examples, path_examples, vote_examples
    from evaluation.natural.confidence_fit import as_toml, fit, markdown

    meanings = _shown(lambda show: natural_examples(None, seed, show))
    paths = _shown(lambda show: path_examples(data, limit, seed, show))
    votes = _shown(lambda show: vote_examples(data, limit, seed, show))
    fits = [fit("meaning", meanings), fit("whole", meanings), fit("path", paths), fit("vote", votes)]
    if write:
        write.write_text(as_toml(fits), encoding="utf-8")
    print_markdown(markdown(fits))


def endpoint(data: Data = DATA, out: Out = None, limit: Limit = 200, only: Only = "", seed: Seed = 0) -> None:
    """Measure what a model endpoint costs against its bounds; ends with code 1 when one is missed."""
    from evaluation.tables.endpoint_table import run_endpoint_table

    _measured(_shown(lambda show: run_endpoint_table(data, limit, seed, only, show)), out, "endpoint")


def drafts(
    out: Out = None,
    limit: Annotated[int, typer.Option(min=3, help="Wrong drafts of each strategy")] = 200,
    only: Only = "",
    seed: Seed = 0,
) -> None:
    """Spoil right drafts on purpose, and show how many get through; ends with code 1 when a bound is missed."""
    from evaluation.tables.draft_table import run_draft_table

    _measured(_shown(lambda show: run_draft_table(limit, seed, only, show)), out, "drafts")


def masked(data: Data = DATA, out: Out = None, limit: Limit = 500, only: Only = "", seed: Seed = 0) -> None:
    """Show what is still answered when relations are masked; ends with code 1 when a bound is missed."""
    from evaluation.tables.masked_table import run_masked_table

    _measured(_shown(lambda show: run_masked_table(data, limit, seed, only, show)), out, "masked")


def linking(
    data: Data = DATA,
    mentions: Annotated[int, typer.Option(min=1, help="Misspelt and abbreviated names")] = 1000,
    seed: Seed = 0,
) -> None:
    """Measure how well names are found as people type them; ends with code 1 when a bound is missed."""
    from evaluation.tables.linking import run_linking

    results = _shown(lambda show: run_linking(data, mentions, seed, show))
    _end(results.markdown(), passed=not results.missed)


def words(data: Data = DATA, out: Out = None, limit: Limit = 1000, seed: Seed = 0) -> None:
    """Show which common words of everyday questions are replaced; ends with code 1 when a bound is missed."""
    from evaluation.tables.common_words import markdown, measure_common_words

    found = _shown(lambda show: measure_common_words(data, limit, seed, show))
    text = markdown(found)
    _written(text, out, "words")
    _end(text, passed=all(each.passed for each in found))


def concepts(
    data: Data = DATA,
    labels: Annotated[list[Path] | None, typer.Option(help="Labels, one JSON object a line; ours without it")] = None,
    graphs: Annotated[Path | None, typer.Option(help="JSON object: each graph's files; ours without it")] = None,
    out: Out = None,
) -> None:
    """Show how many concepts are right where a graph has no types; ends with code 1 when the bound is missed."""
    from app.llm.embeddings.embedder import Embedder
    from app.reader.concept_namer import ConceptNamer
    from app.settings import load_settings
    from evaluation.concepts.table import LABELS, SETS, by_graph, measures, not_right, run_concepts
    from evaluation.tables.measures import markdown

    settings = load_settings()
    namer = ConceptNamer(Embedder(settings.embedder, settings.cache_dir))
    files, graph_files = labels or LABELS, graphs or SETS / "graphs.json"
    judged = _shown(lambda show: run_concepts(files, graph_files, data, namer.name, show))
    lines = measures(judged)
    text = "\n".join(filter(None, (markdown(lines), by_graph(judged), not_right(judged))))
    _written(text, out, "concepts")
    _end(text, passed=all(line.passed for line in lines))


def own_data(data: Data = DATA, out: Out = None, only: Only = "") -> None:
    """Load files as people have them by what is proposed, and ask; ends with code 1 when a bound is missed."""
    from app.graphs.report_files import write_private
    from evaluation.tables.own_data import answers_markdown, measures, run_own_data

    found = _shown(lambda show: run_own_data(data / "people", only, show))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_private(out / "own_data_answers.md", answers_markdown(found).encode())
    _measured(measures(found), out, "own_data")


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
    from app.graphs.report_files import write_private
    from evaluation.natural.suggestions import missed, run_suggestions, table

    found = _shown(lambda show: run_suggestions(data, limit, graph, show))
    left = [f"{name}: {text}" for name, texts in missed(found).items() for text in texts]
    if wrong:
        write_private(wrong, "\n".join([*left, ""]).encode())
    text = table(found)
    _written(text, out, "suggestions")
    _end(text, passed=not left and any(each.total for each in found))


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

    from evaluation.models.models_table import AskedModel, NoModelError, run_models_table, serving_small_model

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


def _shown(run: Callable[[Show], Awaitable[_ResultT]]) -> _ResultT:
    """Runs `run` with a progress bar and gives its result; failures end the command with a message."""
    import asyncio

    from app.cli.output import failures_in_words
    from evaluation.datasets.questions import QuestionsError

    async def running(show: Show) -> _ResultT:
        return await run(show)

    with failures_in_words(console), shown_progress(console) as show:
        try:
            return asyncio.run(running(show))
        except QuestionsError as problem:
            refuse(problem)


def _measured(measures: Sequence[Measure], out: Path | None, name: str) -> NoReturn:
    from evaluation.tables.measures import markdown, write_json

    text = markdown(measures)
    _written(text, out, name)
    if out:
        write_json(measures, out / f"{name}.json")
    _end(text, passed=all(measure.passed for measure in measures))


def _written(text: str, out: Path | None, name: str) -> None:
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{name}.md").write_text(text, encoding="utf-8")


def _end(text: str, *, passed: bool) -> NoReturn:
    print_markdown(text)
    raise typer.Exit(0 if passed else MISSED)
