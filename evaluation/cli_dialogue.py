"""The commands `arog eval dialogue` and `arog eval attach`: how well replies hold on to a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evaluation.cli_progress import console, print_markdown, refuse, shown_progress
from evaluation.cli_tables import DATA, MISSED, Data, Out, Seed

if TYPE_CHECKING:
    from evaluation.bench.question_sets import Show
    from evaluation.dialogue.spans import SpanExtractor
    from evaluation.dialogue.writers.chat_client import ChatClient


class _Part(StrEnum):
    RETRIEVAL = "retrieval"
    REPLIES = "replies"
    ATTACHMENT = "attachment"


class TurnsHalfName(StrEnum):
    """`seen` was looked at while rules were written; `shut` was not."""

    SEEN = "seen"
    SHUT = "shut"


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
    for command in (dialogue, attach, turns):
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
    from evaluation.dialogue.runs.dialogue_run import DialogueOptions, DialogueRun
    from evaluation.dialogue.runs.embedded_writer import embedded_writer
    from evaluation.dialogue.writers.vendors import vendors
    from evaluation.tables.measures import write_json

    with _in_words() as show:
        clients = vendors(endpoint or (), model or (), price or (), key_variable or ())
        judging = _judge(judge, judge_model)
        read = _extractor(extractor)
        writer = embedded_writer()
        options = DialogueOptions(data, load_settings(), seed, weights, read, writer, clients, judging, limit)
        report = DialogueRun(options, show).report([part.value for part in only or _Part], ablations=ablations)
    _write(out, {"dialogue.md": report.text.encode()})
    if out:
        write_json(report.measures, out / "dialogue.json")
    _write(plots, {f"{name}.svg": picture for name, picture in (report.plots() if plots else {}).items()})
    print_markdown(report.text)
    raise typer.Exit(0 if all(line.passed for line in report.measures) else MISSED)


def turns(
    data: Data = DATA,
    half: Annotated[TurnsHalfName, typer.Option(help="Half of the labelled turns")] = TurnsHalfName.SHUT,
    wrong: Annotated[bool, typer.Option(help="Print turns of the seen half that were read as another kind")] = False,
) -> None:
    """Tell how many labelled turns are read as what they are; ends with code 1 below 0.93."""
    import asyncio

    from evaluation.dialogue.turns_run import MIN_RIGHT, read_turns, right, turns_table

    with _in_words():
        read = asyncio.run(read_turns(data, half.value))
    print_markdown(turns_table(read))
    for turn in read if wrong and half is TurnsHalfName.SEEN else ():
        if turn.label != turn.read_as:
            typer.echo(f"{turn.label} read as {turn.read_as}: {turn.text}")
    raise typer.Exit(0 if right(read) >= MIN_RIGHT else MISSED)


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
    from evaluation.dialogue.runs.attach_report import AttachOptions, attach_report
    from evaluation.dialogue.writers.vendors import VendorError, vendors

    with _in_words() as show:
        clients = vendors(endpoint or (), model or (), price or (), key_variable or ())
        if not clients:
            raise VendorError("name at least one --endpoint")
        if policy and not graph:
            raise VendorError("--policy is the policy of a --graph")
        judging = _judge(judge, judge_model)
        options = AttachOptions(
            clients, judging, _extractor(extractor), data, graph or (), policy, detailed, limit, seed
        )
        report = attach_report(options, show)
    _write(out, {"attach.md": report.text.encode()})
    _write(plots, {"attachment_by_price.svg": report.plot()} if plots else {})
    print_markdown(report.text)


def _judge(url: str | None, model: str | None) -> ChatClient | None:
    """Raises VendorError."""
    from evaluation.dialogue.writers.vendors import vendors

    return vendors([url], [model] if model else ())[0] if url else None


def _extractor(file: Path | None) -> SpanExtractor | None:
    """Raises NetworkWeightsError, SentenceModelError."""
    from app.extractor.extractor import open_extractor
    from app.settings import load_settings

    settings = load_settings()
    return open_extractor(file, settings.embedder, settings.cache_dir) if file else None


def _write(folder: Path | None, files: Mapping[str, bytes]) -> None:
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)


@contextmanager
def _in_words() -> Iterator[Show]:
    """A progress bar, and what these commands refuse as a sentence."""
    from app.cli.output import failures_in_words
    from app.extractor.lower_layers import SentenceModelError
    from app.llm.embeddings.network_weights import NetworkWeightsError
    from evaluation.datasets.questions import QuestionsError
    from evaluation.dialogue.writers.chat_client import EndpointUnusableError
    from evaluation.dialogue.writers.vendors import VendorError

    refused = (QuestionsError, NetworkWeightsError, SentenceModelError)
    with failures_in_words(console), shown_progress(console) as show:
        try:
            yield show
        except (*refused, VendorError, EndpointUnusableError) as problem:
            refuse(problem)
