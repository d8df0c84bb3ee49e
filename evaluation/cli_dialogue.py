"""The commands `arog eval dialogue`, `attach`, `turns`, `extractor`, `hubs` and `statements`: how well replies hold on
to a graph, and the parts that dialogues rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from evaluation.cli_progress import console, print_markdown, refuse, shown_progress
from evaluation.cli_tables import DATA, MISSED, Data, Out, Seed

if TYPE_CHECKING:
    from app.extractor.extractor import Extractor
    from evaluation.bench.question_sets import Show
    from evaluation.dialogue.chat_client import ChatClient


class _Part(StrEnum):
    RETRIEVAL = "retrieval"
    REPLIES = "replies"
    ATTACHMENT = "attachment"


Only = Annotated[list[_Part] | None, typer.Option(help="Measure this part alone; repeatable")]
Weights = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="A trained retriever; trained here without it")
]
ExtractorFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="A trained extractor, which judges; needed for bounds")
]
Ablations = Annotated[bool, typer.Option(help="Also train it with parts left out")]
Endpoints = Annotated[list[str] | None, typer.Option("--endpoint", help="Base URL of a model endpoint; repeatable")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Its model; once, or once for each endpoint")]
Prices = Annotated[list[str] | None, typer.Option("--price", help="Money for a million tokens: prompt/completion")]
Keys = Annotated[
    list[str] | None, typer.Option("--key-variable", help="The environment variable that holds its API key")
]
Judge = Annotated[str | None, typer.Option(help="Base URL of an endpoint that judges beside the extractor")]
JudgeModel = Annotated[str | None, typer.Option(help="The model of the judge")]
Plots = Annotated[Path | None, typer.Option(help="Folder for pictures (SVG)")]
Turns = Annotated[int | None, typer.Option(min=1, help="At most so many turns for replies and attachment")]
Graph = Annotated[
    list[Path] | None, typer.Option(exists=True, help="A graph of your own, in pseudonyms; OpenDialKG without it")
]
PolicyFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="Its policy; the proposed one without it")
]
Detailed = Annotated[bool, typer.Option(help="Ask with the more detailed of the two prompts")]
TurnsOfSet = Annotated[int, typer.Option(min=1, help="Turns to reply to, of each set")]


def commands(parent: typer.Typer) -> None:
    for command in (dialogue, attach, turns, extractor, hubs, statements):
        parent.command()(command)


def dialogue(
    data: Data = DATA,
    only: Only = None,
    weights: Weights = None,
    extractor: ExtractorFile = None,
    ablations: Ablations = True,
    endpoint: Endpoints = None,
    model: Models = None,
    price: Prices = None,
    key_variable: Keys = None,
    judge: Judge = None,
    judge_model: JudgeModel = None,
    limit: Turns = None,
    out: Out = None,
    plots: Plots = None,
    seed: Seed = 0,
) -> None:
    """Measure dialogues on public data: retrieval, replies, and LLM-KAT; ends with code 1 when a bound is missed.

    With an endpoint, the prompts of the public set are sent there with their names.
    """
    from app.settings import load_settings
    from evaluation.dialogue.chat_client import vendors
    from evaluation.dialogue.dialogue_run import DialogueRun
    from evaluation.tables.measures import write_json

    with _in_words() as show:
        clients = vendors(endpoint or (), model or (), price or (), key_variable or ())
        judging, read = _judge(judge, judge_model), _extractor(extractor)
        answers = read.answers_to if read else None
        run = DialogueRun(data, load_settings(), seed, weights, answers, clients, judging, limit, show)
        run.run([part.value for part in only or _Part], ablations=ablations)
    _write(plots, {f"{name}.svg": draw() for name, draw in run.plots.items()} if plots else {})
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_json(run.measures, out / "dialogue.json")
    _end("dialogue", run.text, out, passed=all(line.passed for line in run.measures))


def attach(
    endpoint: Endpoints = None,
    model: Models = None,
    price: Prices = None,
    key_variable: Keys = None,
    judge: Judge = None,
    judge_model: JudgeModel = None,
    extractor: ExtractorFile = None,
    graph: Graph = None,
    policy: PolicyFile = None,
    detailed: Detailed = False,
    data: Data = DATA,
    limit: TurnsOfSet = 100,
    out: Out = None,
    plots: Plots = None,
    seed: Seed = 0,
) -> None:
    """Tell which model endpoint holds to a graph, and at what price.

    On OpenDialKG's public dialogues, plain and anonymised. With --graph on facts of your own graph: only pseudonyms,
    concepts and relations leave, and a prompt that holds a name is not sent.
    """
    from evaluation.dialogue.attach import AttachReport
    from evaluation.dialogue.chat_client import VendorError, vendors

    with _in_words() as show:
        clients = vendors(endpoint or (), model or (), price or (), key_variable or ())
        if not clients:
            raise VendorError("name at least one --endpoint")
        if policy and not graph:
            raise VendorError("--policy is the policy of a --graph")
        judging, read = _judge(judge, judge_model), _extractor(extractor)
        answers = read.answers_to if read else None
        report = AttachReport(clients, judging, answers, data, graph or (), policy, limit, seed, show)
        report.style = "detailed" if detailed else "default"
        report.run()
    _write(plots, {"attachment_by_price.svg": report.plot()} if plots else {})
    _end("attach", report.text, out)


def turns(
    data: Data = DATA,
    half: Annotated[
        Literal["seen", "shut"], typer.Option(help="Half of the labelled turns: `seen` was looked at, `shut` was not")
    ] = "shut",
    wrong: Annotated[bool, typer.Option(help="Print turns of the seen half that were read as another kind")] = False,
) -> None:
    """Tell how many labelled turns are read as what they are; ends with code 1 below 0.93."""
    import asyncio

    from evaluation.dialogue.turns import MIN_RIGHT, read_turns, right, turns_table

    with _in_words():
        read = asyncio.run(read_turns(data, half))
    print_markdown(turns_table(read))
    for turn in read if wrong and half == "seen" else ():
        if turn.label != turn.read_as:
            typer.echo(f"{turn.label} read as {turn.read_as}: {turn.text}")
    raise typer.Exit(0 if right(read) >= MIN_RIGHT else MISSED)


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
    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.dialogue.extractor_run import (
        extractor_markdown,
        extractor_measures,
        read_pair_source,
        run_extractor,
        to_measure,
    )
    from evaluation.tables.measures import markdown

    settings = load_settings()
    with _in_words() as show:
        opened = _extractor(weights)
        assert opened is not None
        show("reading", 0, 1)
        source = read_pair_source(data, Embedder(settings.embedder, settings.cache_dir))
        rows = run_extractor(opened, to_measure(source, seed), show)
    lines = extractor_measures(rows)
    text = f"{markdown(lines)}\n{extractor_markdown(rows)}"
    _end("extractor", text, out, passed=all(line.passed for line in lines))


def hubs(
    weights: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="A trained retriever")],
    data: Data = DATA,
    out: Out = None,
) -> None:
    """Tell how often the right relation of a thing with very many is offered, by likeness and by a retriever."""
    import asyncio

    from app.settings import load_settings
    from evaluation.dialogue.hubs import hubs_table

    with _in_words() as show:
        text = asyncio.run(hubs_table(data, weights, load_settings(), show))
    _end("hubs", text, out)


def statements(
    extractor: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="What `arog train extractor` wrote: it reads them back")
    ],
    replies: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True, dir_okay=False, help="Labelled replies, one JSON object a line; else those kept here"
        ),
    ] = None,
) -> None:
    """Read labelled statements back, as AROG_REPLY_WORDS=model does; ends with code 1 when a bound is missed."""
    from app.settings import load_settings
    from app.wiring.services import read_back_of
    from evaluation.dialogue.statements import KEPT, measure, read_replies, statement_measures
    from evaluation.tables.measures import markdown

    with _in_words():
        labelled = [reply for file in replies or KEPT for reply in read_replies(file)]
        read_back = read_back_of(load_settings().model_copy(update={"extractor": extractor}))
        assert read_back is not None
        lines = statement_measures(measure(labelled, read_back))
    _end("statements", markdown(lines), None, passed=all(line.passed for line in lines))


def _judge(url: str | None, model: str | None) -> ChatClient | None:
    """Raises VendorError."""
    from evaluation.dialogue.chat_client import vendors

    return vendors([url], [model] if model else ())[0] if url else None


def _extractor(file: Path | None) -> Extractor | None:
    """Raises NetworkWeightsError, SentenceModelError."""
    from app.extractor.extractor import open_extractor
    from app.settings import load_settings

    settings = load_settings()
    return open_extractor(file, settings.embedder, settings.cache_dir) if file else None


def _end(name: str, text: str, out: Path | None, *, passed: bool = True) -> NoReturn:
    _write(out, {f"{name}.md": text.encode()})
    print_markdown(text)
    raise typer.Exit(0 if passed else MISSED)


def _write(folder: Path | None, files: Mapping[str, bytes]) -> None:
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)


@contextmanager
def _in_words() -> Iterator[Show]:
    """A progress bar, and what these commands refuse as a sentence."""
    from app.cli.output import failures_in_words
    from app.extractor.extractor import SentenceModelError
    from app.llm.embeddings.trained_weights import NetworkWeightsError
    from evaluation.datasets.questions import QuestionsError
    from evaluation.dialogue.chat_client import EndpointUnusableError, VendorError

    refused = (QuestionsError, NetworkWeightsError, SentenceModelError)
    with failures_in_words(console), shown_progress(console) as show:
        try:
            yield show
        except (*refused, VendorError, EndpointUnusableError) as problem:
            refuse(problem)
