"""The commands `arog eval`: ask questions, fill tables of bounds, convert public sets, write the contract.

A command that compares figures with bounds ends with exit code 1 if a bound is missed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeVar

import typer

from app.cli.main import require_extra
from evaluation import cli_dialogue
from evaluation.cli_output import (
    DATA,
    Data,
    Limit,
    Only,
    Out,
    PolicyFile,
    Sample,
    Seed,
    console,
    end,
    end_measured,
    print_markdown,
    refuse,
    shown_progress,
)

if TYPE_CHECKING:
    from evaluation.bench.question_sets import Show
    from evaluation.bench.report import QuestionOutcome, Report, RunLabel
    from evaluation.datasets.questions import Question

CONTRACT_PAGE = Path("docs/reasoner_contract.md")
_ResultT = TypeVar("_ResultT")

app = typer.Typer(help="Measure the service on questions with known answers. On public data only.")
Strategy = Literal["sets", "arog"]
Reasoner = Literal["embedded", "scripted", "endpoint"]
GrowingGraph = Literal["ENTITY", "RELATION", "FACT"]

TABLES: Final = {
    "embedded": ("embedded_table", 1000, "Measure the reasoner that needs no model against its bounds."),
    "drafts": ("draft_table", 200, "Spoil right drafts on purpose, and show how many get through; no public set."),
    "masked": ("masked_table", 500, "Show what is still answered when relations are masked."),
}
"""Commands with the same options: by name the module, the default number of questions per set, and the help text."""


def commands(parent: typer.Typer) -> None:
    """Adds the commands `arog eval` to `parent`."""
    require_extra()
    parent.add_typer(app, name="eval")


@app.command()
def qa(
    graph: Annotated[list[Path], typer.Option(exists=True, help="File to load; may be given several times")],
    questions: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="Questions, one JSON object a line")],
    policy: PolicyFile = None,
    strategy: Annotated[Strategy, typer.Option(help="Which strategy answers")] = "sets",
    reasoner: Annotated[Reasoner, typer.Option(help="`scripted` answers by the questions' gold plans")] = "embedded",
    limit: Sample = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample")] = 0,
    width: Annotated[int | None, typer.Option(min=1, max=20, help="W: relations that a round follows")] = None,
    depth: Annotated[int | None, typer.Option(min=1, max=5, help="D: rounds of retrieval")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all figures and outcomes here")] = None,
) -> None:
    """Load a graph, ask every question through the service, and report correctness, cost, speed and leaks."""
    import asyncio

    from evaluation.bench.bench import sample
    from evaluation.bench.report import RunLabel, markdown, stages_markdown, write_json
    from evaluation.datasets.questions import read_questions

    label = RunLabel(set_name=graph[0].stem, strategy=strategy, reasoner=reasoner, seed=seed)
    options = {name: value for name, value in (("width", width), ("depth", depth)) if value is not None}
    with shown_progress() as show:
        asked = _planned(read_questions(questions)) if reasoner == "scripted" else read_questions(questions)
        chosen = sample(asked, limit, seed)
        report, outcomes = asyncio.run(_ask(graph, policy, reasoner, label, chosen, options, show))
    if json:
        write_json([report], [outcomes], json)
    print_markdown(markdown([report]) + "\n" + stages_markdown(report))


def _planned(questions: list[Question]) -> list[Question]:
    """Returns the questions that the scripted endpoint can answer. Raises QuestionsError if there are none."""
    from evaluation.datasets.questions import QuestionsError

    planned = [question for question in questions if question.has_plan]
    if len(planned) < len(questions):
        console.print(f"{len(questions) - len(planned)} questions have no plan; the scripted endpoint skips them.")
    if not planned:
        raise QuestionsError("no question has a plan, which the scripted endpoint needs")
    return planned


async def _ask(
    graph: list[Path],
    policy: Path | None,
    reasoner: Reasoner,
    label: RunLabel,
    chosen: list[Question],
    options: Mapping[str, int],
    show: Show,
) -> tuple[Report, list[QuestionOutcome]]:
    from evaluation.bench.bench import Bench

    async with Bench(reasoner) as bench:
        told = policy.read_text("utf-8") if policy else None
        loaded = bench.load("asked", graph, told, lambda _step, percent: show("loading", int(percent), 100))
        result = await bench.ask(loaded, label, chosen, options, lambda done: show("asking", done, len(chosen)))
        for broken in bench.contract_breaks[:3]:
            console.print(f"contract: {broken}")
    return result


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
    policy: PolicyFile = None,
    limit: Sample = None,
) -> None:
    """Compare a model with the built-in reasoner on your own graph: right, wrong and refused answers, and cost."""
    from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
    from app.settings import load_settings
    from evaluation.bench.bench import sample
    from evaluation.datasets.questions import QuestionsError, read_questions
    from evaluation.models.models_table import compare_models, rows_markdown

    chosen = policy or (None if graph else POLICY_FILE)
    with shown_progress() as show:
        if (graph is None) != (questions is None):
            raise QuestionsError("give --graph and --questions together, or neither for the demo")
        asked = sample(read_questions(questions or QUESTIONS_FILE), limit, 0)
        settings = {"endpoint_url": endpoint, "endpoint_model": model}
        told = chosen.read_text("utf-8") if chosen else None
        rows = compare_models(graph or [GRAPH_FILE], told, asked, settings, show)
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
    """Write the page that describes the contract with model endpoints."""
    from evaluation.fakes.contract import contract_text

    text = contract_text()
    if check:
        raise typer.Exit(0 if out.is_file() and out.read_text("utf-8") == text else 1)
    out.write_text(text, encoding="utf-8")
    console.print(f"written: {out.name}")


@app.command()
def table(data: Data = DATA, out: Out = None, limit: Limit = 500, only: Only = "", seed: Seed = 0) -> None:
    """Measure every set against the table of bounds; ends with code 1 when a bound is missed."""
    from evaluation.tables.embedded_table import results_markdown, run_table, write_results

    results = _shown(lambda show: run_table(data, limit, seed, only, show))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_results(results, out)
    end(results_markdown(results), passed=not any(each.missed for each in results))


def _bounded(name: str, module: str, default: int, help: str) -> None:
    """Adds the command for one of the TABLES."""

    def command(data: Data = DATA, out: Out = None, limit: Limit = default, only: Only = "", seed: Seed = 0) -> None:
        run = getattr(import_module(f"evaluation.tables.{module}"), f"run_{module}")
        end_measured(_shown(lambda show: run(data, limit, seed, only, show)), out, name)

    app.command(name, help=f"{help} Ends with code 1 when a bound is missed.")(command)


@app.command()
def endpoint(
    data: Data = DATA,
    out: Out = None,
    limit: Limit = 200,
    only: Only = "",
    seed: Seed = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Workers of the service that many chats ask at once; its default without")
    ] = None,
) -> None:
    """Measure what a model endpoint costs against its bounds. Ends with code 1 when a bound is missed."""
    from evaluation.tables.endpoint_table import run_endpoint_table

    run = _shown(lambda show: run_endpoint_table(data, limit, seed, only, show, workers))
    end_measured(run, out, "endpoint")


for _name, _told in TABLES.items():
    _bounded(_name, *_told)


@app.command()
def guard(
    names: Annotated[int, typer.Option(min=1, max=5_000_000, help="How many made-up names")] = 1_000_000,
) -> None:
    """Measure how fast the guard reads a request, and its memory; ends with code 1 when a bound is missed."""
    from evaluation.scale.guard_and_ledger import measure_scale, scale_measures

    end_measured(scale_measures(measure_scale(names)), None, "guard")


@app.command()
def ledger(rows: Annotated[int, typer.Option(min=100, max=5_000_000, help="How many rows")] = 57_000) -> None:
    """Measure the processor time that checking a ledger takes; ends with code 1 when a bound is missed."""
    from evaluation.scale.guard_and_ledger import measure_ledger

    end_measured(measure_ledger(rows), None, "ledger")


@app.command()
def speed(
    triples: Annotated[int, typer.Option(min=10_000, help="Triples of the made-up graph")] = 1_000_000,
    small: Annotated[bool, typer.Option(help="30,000 triples, against twice the kept figures")] = False,
) -> None:
    """Measure speed beside similar tools in the same run; ends with code 1 when it fell since the last release."""
    from evaluation.scale.speed_run import SMALL, measure_speed

    end_measured(measure_speed(SMALL if small else triples, console.print, small=small), None, "speed")


@app.command()
def callers(
    workers: Annotated[int, typer.Option(min=1, help="Workers of the service")] = 2,
    triples: Annotated[int, typer.Option(min=10_000, help="Triples of the made-up graph")] = 100_000,
    chats: Annotated[int, typer.Option(min=64, help="Questions of each of two runs")] = 1_000,
    at_once: Annotated[int, typer.Option(min=1, help="Callers")] = 64,
    streams: Annotated[int, typer.Option(min=0, help="Open so many streams at once instead, and leave them")] = 0,
) -> None:
    """Measure chats a second, their times and the memory of a service that many callers ask at once."""
    from evaluation.scale.many_callers import Asked, measure_callers

    with shown_progress() as show:
        show("asking", 0, 1)
        table = measure_callers(workers, triples, Asked(chats, at_once, streams))
    end(table)


@app.command()
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
    from evaluation.natural.run import Selection, by_kind, measures, run_natural, wrong_markdown

    if wrong and half == "shut":
        refuse(QuestionsError("nobody looks at the shut half: --wrong writes questions of the seen half alone"))
    selection = Selection(("seen", "shut") if half == "all" else (half,), graph, limit, seed)
    run = _shown(lambda show: run_natural(selection, show))
    if wrong:
        write_private(wrong, wrong_markdown(run).encode())
    end_measured(measures(run), out, "natural", further=by_kind(run))


@app.command()
def understanding(
    half: Annotated[Literal["seen", "shut"], typer.Option(help="`shut` is what nobody looks at")] = "seen",
    domain: Annotated[str, typer.Option(help="One domain alone; all without it")] = "",
    wrong: Annotated[
        Path | None, typer.Option(help="Write what was not right of the seen half here; mode 600")
    ] = None,
    out: Out = None,
) -> None:
    """Ask the questions and dialogues of whole domains; ends with code 1 when a bound is missed."""
    from app.graphs.report_files import write_private
    from evaluation.understanding.run import by_kind, measures, not_right, run_understanding

    asked = _shown(lambda show: run_understanding(half, domain, show))
    if wrong and half == "seen":
        write_private(wrong, not_right(asked).encode())
    end_measured(measures(half, asked), out, "understanding", further=by_kind(asked))


@app.command()
def variants(
    wrong: Annotated[Path | None, typer.Option(help="Write what was not right here; mode 600")] = None, out: Out = None
) -> None:
    """Ask twelve variants of each kind of turn; ends with code 1 when a bound is missed."""
    from app.graphs.report_files import write_private
    from evaluation.understanding.run import measures_of_kinds, not_right, run_variants

    asked = _shown(run_variants)
    if wrong:
        write_private(wrong, not_right(asked).encode())
    end_measured(measures_of_kinds(asked), out, "variants")


@app.command()
def languages(out: Out = None) -> None:
    """Ask questions in German, French and Spanish without a model; ends with code 1 when a bound is missed."""
    from evaluation.languages.run import measures, run_languages

    end_measured(measures(_shown(run_languages)), out, "languages")


@app.command()
def confidence(
    data: Data = DATA,
    limit: Limit = 300,
    write: Annotated[Path | None, typer.Option(help="Write the weights here, where the service reads them")] = None,
    seed: Seed = 0,
) -> None:
    """Fit the formula of the confidence to the seen natural questions and the public sets, not to the shut half."""
    from evaluation.natural.confidence import as_toml, fits_markdown, run_fits

    fits = _shown(lambda show: run_fits(data, limit, seed, show))
    if write:
        write.write_text(as_toml(fits), encoding="utf-8")
    print_markdown(fits_markdown(fits))


@app.command()
def linking(
    data: Data = DATA,
    mentions: Annotated[int, typer.Option(min=1, help="Misspelt and abbreviated names")] = 1000,
    seed: Seed = 0,
) -> None:
    """Measure how well names are found when typed with slips; ends with code 1 when a bound is missed."""
    from evaluation.tables.linking import linking_markdown, linking_measures, run_linking, whole

    slips, topics = _shown(lambda show: run_linking(data, mentions, seed, show))
    end_measured(linking_measures(whole(slips), topics), None, "linking", further=linking_markdown(slips, topics))


@app.command()
def lifelong(
    data: Data = DATA,
    name: Annotated[
        Literal["ENTITY", "RELATION", "FACT"], typer.Option("--set", help="Which growing graph")
    ] = "ENTITY",
    dim: Annotated[int, typer.Option(min=1, help="Numbers of a vector")] = 50,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of training anew")] = 10,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Embed a graph that grows: trained anew, or grown; ends with code 1 when a bound is missed."""
    from app.llm.embeddings.embedder import Embedder
    from app.memory.embeddings.training import TrainingSettings
    from app.settings import load_settings
    from evaluation.growth.lifelong import Lifelong, by_way, measures
    from evaluation.growth.snapshots import read_snapshots, words_of

    settings = load_settings()
    with shown_progress() as show:
        snapshots, relations = read_snapshots(data / "lifelong", name)
        embedder = Embedder(settings.sentence_model, settings.cache_dir)
        words = embedder.sentences([words_of(each) for each in relations])
        results = Lifelong(snapshots, words, TrainingSettings(epochs=epochs), dim, seed, show).run()
    end_measured(measures(results), out, f"lifelong_{name.lower()}", further=by_way(results))


@app.command()
def concepts(
    data: Data = DATA,
    labels: Annotated[list[Path] | None, typer.Option(help="Labels, one JSON object a line; ours without it")] = None,
    graphs: Annotated[Path | None, typer.Option(help="JSON object: each graph's files; ours without it")] = None,
    out: Out = None,
) -> None:
    """Show how many concepts are right in graphs without types; ends with code 1 when the bound is missed."""
    from app.llm.embeddings.embedder import Embedder
    from app.reader.concept_namer import ConceptNamer
    from app.settings import load_settings
    from evaluation.tables.concepts import LABELS, SETS, by_graph, measures, not_right, run_concepts

    settings = load_settings()
    namer = ConceptNamer(Embedder(settings.sentence_model, settings.cache_dir))
    files, graph_files = labels or LABELS, graphs or SETS / "graphs.json"
    judged = _shown(lambda show: run_concepts(files, graph_files, data, namer.name, show))
    end_measured(measures(judged), out, "concepts", further="\n".join((by_graph(judged), not_right(judged))))


@app.command()
def words(data: Data = DATA, out: Out = None, limit: Limit = 1000, seed: Seed = 0) -> None:
    """Show which common words of everyday questions are replaced; ends with code 1 when a bound is missed."""
    from evaluation.attacks.common_words import markdown, measure_common_words

    found = _shown(lambda show: measure_common_words(data, limit, seed, show))
    end(markdown(found), passed=all(each.passed for each in found), out=out, name="words")


@app.command("data")
def own_data(data: Data = DATA, out: Out = None, only: Only = "") -> None:
    """Load typical files of users by the proposed policy, and ask; ends with code 1 when a bound is missed."""
    from app.graphs.report_files import write_private
    from evaluation.tables.own_data import answers_markdown, measures, run_own_data

    found = _shown(lambda show: run_own_data(data / "people", only, show))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_private(out / "own_data_answers.md", answers_markdown(found).encode())
    end_measured(measures(found), out, "own_data")


@app.command("model-table")
def model_table(
    data: Data = DATA,
    out: Out = None,
    limit: Limit = 100,
    only: Only = "",
    endpoint: Annotated[str, typer.Option(help="Another model's base URL; the small one without it")] = "",
    model: Annotated[str, typer.Option(help="Its name")] = "model",
) -> None:
    """Measure a real model, and replies that lie, against bounds; ends with code 1 when a bound is missed."""
    import tempfile

    from evaluation.models.models_table import AskedModel, NoModelError, run_models_table, serving_small_model

    if endpoint:
        asked = AskedModel(endpoint, model)
        end_measured(_shown(lambda show: run_models_table(asked, data, limit, only, show)), out, "models")
    try:
        with tempfile.TemporaryDirectory(prefix="arog-model-") as folder, serving_small_model(Path(folder)) as small:
            asked = AskedModel(small.url, small.name, small.log)
            measures = _shown(lambda show: run_models_table(asked, data, limit, only, show))
    except NoModelError as problem:
        refuse(problem)
    end_measured(measures, out, "models")


def _shown(run: Callable[[Show], Awaitable[_ResultT]]) -> _ResultT:
    """Runs `run` with a progress bar and returns its result."""
    import asyncio

    async def running(show: Show) -> _ResultT:
        return await run(show)

    with shown_progress() as show:
        return asyncio.run(running(show))


cli_dialogue.commands(app)
