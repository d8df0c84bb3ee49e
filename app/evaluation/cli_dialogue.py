"""The commands `arog eval dialogue` and `arog eval attach`: how well replies hold on to a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.evaluation.cli_progress import console, print_markdown, refuse, shown_progress
from app.evaluation.cli_tables import DATA, MISSED, Data, Out, Seed

if TYPE_CHECKING:
    from app.evaluation.bench.question_sets import Show
    from app.evaluation.dialogue.runs.dialogue_run import DialogueReport


class _Part(StrEnum):
    RETRIEVAL = "retrieval"
    REPLIES = "replies"
    ATTACHMENT = "attachment"


Endpoints = Annotated[list[str] | None, typer.Option("--endpoint", help="Base URL of a model endpoint; repeatable")]
Models = Annotated[list[str] | None, typer.Option("--model", help="Its model; once, or once for each endpoint")]
Prices = Annotated[list[str] | None, typer.Option("--price", help="Money for a million tokens: prompt/completion")]
Keys = Annotated[
    list[str] | None, typer.Option("--key-variable", help="The environment variable that holds its API key")
]
Plots = Annotated[Path | None, typer.Option(help="Folder for pictures (SVG)")]
Turns = Annotated[int | None, typer.Option(min=1, help="At most so many turns for replies and attachment")]
Judge = Annotated[str | None, typer.Option(help="Base URL of an endpoint that judges beside the extractor")]
JudgeModel = Annotated[str | None, typer.Option(help="The model of the judge")]


def commands(parent: typer.Typer) -> None:
    for command in (dialogue, attach):
        parent.command()(command)


def dialogue(
    data: Data = DATA,
    only: Annotated[list[_Part] | None, typer.Option(help="Measure this part alone; repeatable")] = None,
    weights: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A trained retriever; trained here without it")
    ] = None,
    ablations: Annotated[bool, typer.Option(help="Also train it with parts left out")] = True,
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
    from app.evaluation.dialogue.runs.dialogue_run import DialogueOptions, DialogueRun
    from app.evaluation.dialogue.writers.vendors import vendors
    from app.evaluation.tables.measures import markdown
    from app.settings import load_settings

    with _in_words() as show:
        options = DialogueOptions(
            data,
            load_settings(),
            seed,
            weights,
            endpoints=vendors(endpoint or (), model or (), price or (), key_variable or ()),
            judge=next(iter(vendors([judge] if judge else (), [judge_model] if judge_model else ())), None),
            limit=limit,
            ablations=ablations,
        )
        report = DialogueRun(options, show).report([part.value for part in only or _Part])
        text = "\n".join(
            [markdown(report.measures), *(f"## {name}\n\n{each}" for name, each in report.tables.items())]
        )
        _write(report, text, out, plots)
    print_markdown(text)
    raise typer.Exit(0 if all(line.passed for line in report.measures) else MISSED)


def attach(
    endpoint: Endpoints = None,
    model: Models = None,
    price: Prices = None,
    key_variable: Keys = None,
    judge: Judge = None,
    judge_model: JudgeModel = None,
    graph: Annotated[
        list[Path] | None, typer.Option(exists=True, help="A graph of your own, in pseudonyms; OpenDialKG without it")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Its policy; the proposed one without it")
    ] = None,
    detailed: Annotated[bool, typer.Option(help="Ask with the more detailed of the two prompts")] = False,
    data: Data = DATA,
    limit: Annotated[int, typer.Option(min=1, help="Turns to reply to, of each set")] = 100,
    out: Out = None,
    plots: Plots = None,
    seed: Seed = 0,
) -> None:
    """Tell which model endpoint holds to a graph, and at what price.

    On OpenDialKG's public dialogues, plain and anonymised. With --graph on facts of your own graph: only pseudonyms,
    concepts and relations leave, and a prompt that holds a name is not sent.
    """
    from app.evaluation.dialogue.runs.attach_report import AttachOptions, attach_report
    from app.evaluation.dialogue.writers.vendors import VendorError, vendors

    with _in_words() as show:
        if not endpoint:
            raise VendorError("name at least one --endpoint")
        options = AttachOptions(
            vendors(endpoint, model or (), price or (), key_variable or ()),
            next(iter(vendors([judge] if judge else (), [judge_model] if judge_model else ())), None),
            data=data,
            graph=graph or (),
            policy=policy,
            is_detailed=detailed,
            limit=limit,
            seed=seed,
        )
        report = attach_report(options, show)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            (out / "attach.md").write_text(report.text, encoding="utf-8")
        if plots:
            plots.mkdir(parents=True, exist_ok=True)
            (plots / "attachment_by_price.svg").write_bytes(report.plot())
    print_markdown(report.text)


def _write(report: DialogueReport, text: str, out: Path | None, plots: Path | None) -> None:
    from app.evaluation.tables.measures import write_json

    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "dialogue.md").write_text(text, encoding="utf-8")
        write_json(report.measures, out / "dialogue.json")
    if plots:
        plots.mkdir(parents=True, exist_ok=True)
        for name, picture in report.plots().items():
            (plots / f"{name}.svg").write_bytes(picture)


@contextmanager
def _in_words() -> Iterator[Show]:
    """A progress bar, and what these commands refuse as a sentence."""
    from app.cli.output import failures_in_words
    from app.evaluation.datasets.questions import QuestionsError
    from app.evaluation.dialogue.writers.chat_client import EndpointUnusableError
    from app.evaluation.dialogue.writers.vendors import VendorError
    from app.retriever.weights import RetrieverWeightsError

    with failures_in_words(console), shown_progress(console) as show:
        try:
            yield show
        except (QuestionsError, RetrieverWeightsError, VendorError, EndpointUnusableError) as problem:
            refuse(problem)
