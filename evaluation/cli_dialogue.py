"""The commands `arog eval` on dialogues and stories, such as `dialogue`, `turns`, `episodes` and `character`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evaluation.cli_output import (
    DATA,
    MISSED,
    Data,
    Out,
    Seed,
    end,
    end_measured,
    print_markdown,
    shown_progress,
)

if TYPE_CHECKING:
    from app.extractor.extractor import Extractor


class _Part(StrEnum):
    RETRIEVAL = "retrieval"
    REPLIES = "replies"
    ATTACHMENT = "attachment"


RetrieverFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="A trained retriever; trained here without it")
]
ExtractorFile = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="A trained extractor, which judges; needed for bounds")
]


def commands(parent: typer.Typer) -> None:
    for command in (dialogue, turns, extractor, hubs, statements, demands, memory, episodes, character):
        parent.command()(command)


def dialogue(
    data: Data = DATA,
    only: Annotated[list[_Part] | None, typer.Option(help="Measure this part alone; repeatable")] = None,
    weights: RetrieverFile = None,
    extractor: ExtractorFile = None,
    ablations: Annotated[bool, typer.Option(help="Also train it on replies alone, and on chat alone")] = True,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many turns")] = None,
    out: Out = None,
    seed: Seed = 0,
) -> None:
    """Measure dialogues on public data: retrieval, replies, and LLM-KAT; ends with code 1 when a bound is missed."""
    from app.settings import load_settings
    from evaluation.dialogue.attachment import DialogueRun

    with shown_progress() as show:
        read = _extractor(extractor)
        run = DialogueRun(data, load_settings(), seed, weights, read.answers_to if read else None, limit, show)
        run.run([part.value for part in only or _Part], ablations=ablations)
    tables = "\n".join(f"## {name}\n\n{table}" for name, table in run.tables.items())
    end_measured(run.measures, out, "dialogue", tables)


def demands(
    data: Data = DATA,
    pairs: Annotated[int, typer.Option(min=1, help="Dialogues to retrieve for, each cut at one point")] = 1000,
    endpoint: Annotated[str, typer.Option(help="Base URL of a model: measure replies by it, not the retrieval")] = "",
    model: Annotated[str, typer.Option(help="Name of the model at the endpoint")] = "",
    dialogues: Annotated[int, typer.Option(min=1, help="Dialogues to reply to, with an endpoint")] = 20,
    out: Out = None,
    seed: Seed = 0,
) -> None:
    """Measure the public facts that a dialogue's demands bring, against all facts at what it says (T-RAG).

    With an endpoint: replies by DCRAG's six calls and by the service's two. Ends with code 1 when a bound is missed.
    """
    import asyncio

    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.demands.replies import run_replies
    from evaluation.demands.run import run_retrieval

    settings = load_settings()
    with shown_progress() as show:
        embedder = Embedder(settings.sentence_model, settings.cache_dir)
        if endpoint:
            run = run_replies(endpoint, model, data, dialogues, seed, embedder, show)
            measures, table = asyncio.run(run)
        else:
            measures, table = run_retrieval(data, pairs, seed, embedder, show)
    end_measured(measures, out, "demand_replies" if endpoint else "demands", table)


def turns(
    data: Data = DATA,
    half: Annotated[
        Literal["seen", "shut"], typer.Option(help="Half of the labelled turns: `seen` was looked at, `shut` was not")
    ] = "shut",
) -> None:
    """Measure how many labelled turns are classified rightly; ends with code 1 below 0.93."""
    import asyncio

    from evaluation.dialogue.labelled import MIN_RIGHT, read_turns, right, turns_table

    with shown_progress():
        read = asyncio.run(read_turns(data, half))
    print_markdown(turns_table(read))
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

    settings = load_settings()
    with shown_progress() as show:
        opened = _extractor(weights)
        assert opened is not None
        show("reading", 0, 1)
        source = read_pair_source(data, Embedder(settings.sentence_model, settings.cache_dir))
        rows = run_extractor(opened, to_measure(source, seed), show)
    end_measured(extractor_measures(rows), out, "extractor", extractor_markdown(rows))


def hubs(
    weights: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="A trained retriever")],
    data: Data = DATA,
    out: Out = None,
) -> None:
    """Measure how often the right relation of a thing with very many is offered, by similarity and by a retriever."""
    import asyncio

    from app.settings import load_settings
    from evaluation.dialogue.hubs import hubs_table

    with shown_progress() as show:
        text = asyncio.run(hubs_table(data, weights, load_settings(), show))
    end(text, out=out, name="hubs")


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
    from evaluation.dialogue.labelled import KEPT, measure, read_replies, statement_measures

    with shown_progress():
        labelled = [reply for file in replies or KEPT for reply in read_replies(file)]
        read_back = read_back_of(load_settings().model_copy(update={"extractor": extractor}))
        assert read_back is not None
        lines = statement_measures(measure(labelled, read_back))
    end_measured(lines, None, "statements")


def memory(
    half: Annotated[
        Literal["seen", "shut"], typer.Option(help="Half of the utterances: `seen` may be looked at, `shut` not")
    ] = "shut",
    out: Out = None,
) -> None:
    """Measure which told facts are kept and come back; ends with code 1 when a bound is missed."""
    import asyncio

    from evaluation.dialogue.told import measures_of_told, run_told
    from evaluation.dialogue.told_time import run_told_time

    with shown_progress() as show:
        outcomes = asyncio.run(run_told(half, show))
        took = asyncio.run(run_told_time(show))
    end_measured([*measures_of_told(outcomes), took], out, "memory")


def episodes(
    data: Data = DATA,
    only: Annotated[Literal["train", "dev"] | None, typer.Option(help="This part of DialogRE alone")] = None,
    out: Out = None,
    seed: Seed = 0,
) -> None:
    """Measure how high the episode of a held-out utterance is ranked; ends with code 1 when a bound is missed."""
    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.dialogue.episode_ranking import episode_measures, episode_table, read_episodes, run_episodes

    settings = load_settings()
    with shown_progress() as show:
        embedder = Embedder(settings.sentence_model, settings.cache_dir)
        parts = [only] if only else ["train", "dev"]
        figures = {part: run_episodes(read_episodes(data, part), seed, embedder, show) for part in parts}
    measures = [line for part, each in figures.items() for line in episode_measures(part, each)]
    end_measured(measures, out, "episodes", episode_table(figures))


def character(
    story: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The story, as plain text")],
    questions: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Its questions, as JSON")],
    wrong: Annotated[Path | None, typer.Option(help="Write what was not right into this file")] = None,
) -> None:
    """Measure how many questions about a story are answered rightly; ends with code 1 below 16 of 20."""
    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.dialogue.characters import character_measures, read_story_questions, run_character

    settings = load_settings()
    with shown_progress():
        embedder = Embedder(settings.sentence_model, settings.cache_dir)
        asked = read_story_questions(questions)
        outcomes = run_character(story.read_text("utf-8"), asked, embedder)
        if wrong:
            wrong.write_text("\n\n".join(each.told for each in outcomes if not each.is_right), "utf-8")
    end_measured(character_measures(outcomes), None, "character")


def _extractor(file: Path | None) -> Extractor | None:
    """Opens an extractor's weights, if given. Raises NetworkWeightsError, SentenceModelError."""
    from app.extractor.extractor import open_extractor
    from app.settings import load_settings

    settings = load_settings()
    return open_extractor(file, settings.sentence_model, settings.cache_dir) if file else None
