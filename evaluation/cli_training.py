"""The commands `arog train`: what the embedded reasoner and the retriever learn from questions and dialogues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.main import require_extra
from evaluation.cli_progress import console, refuse
from evaluation.cli_tables import DATA, Data

if TYPE_CHECKING:
    from app.extractor.extractor import ExtractorWeights
    from app.retriever.retriever import RetrieverWeights
    from app.settings import Settings
    from evaluation.datasets.questions import Question
    from evaluation.training.reasoner import Trained

WeightsOut = Annotated[Path, typer.Option(help="Where the weights are written")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Written now and then; where it is there, training goes on from it")
]
SampleSeed = Annotated[int, typer.Option(help="Seed of the sample and of the training")]

app = typer.Typer(help="Train what is added to the sentence model.")


def commands(parent: typer.Typer) -> None:
    """Adds `arog train`."""
    require_extra()
    parent.add_typer(app, name="train")


@app.callback()
def train() -> None:
    """Train what is added to the sentence model."""


@app.command()
def reasoner(
    graph: Annotated[list[Path], typer.Option(help="File to load; may be given several times")],
    questions: Annotated[Path, typer.Option(help="Questions with answers or gold plans, one JSON object a line")],
    out: Annotated[Path, typer.Option(help="Where the head is written; name it in AROG_REASONER_HEAD")],
    policy: Annotated[Path | None, typer.Option(help="Policy; the proposed one without it")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Train on a random sample of so many")] = None,
    seed: SampleSeed = 0,
) -> None:
    """Ask questions whose answers are known, and learn how they word the relations of this graph."""
    import asyncio

    from app.cli.output import failures_in_words
    from app.llm.embeddings.trained_weights import write_head
    from app.settings import load_settings
    from evaluation.bench.bench import sample
    from evaluation.datasets.questions import QuestionsError, read_questions
    from evaluation.training.reasoner import TrainingError

    with failures_in_words(console):
        try:
            chosen = sample(read_questions(questions), limit, seed)
            trained = asyncio.run(_train(graph, policy, chosen, seed))
        except (QuestionsError, TrainingError) as problem:
            refuse(problem)
        settings = load_settings()
        write_head(trained.head, out, settings.embedder)
    console.print(
        f"{trained.examples} questions trained on; of {trained.held_out} held out the first path was right in "
        f"{trained.before:.3f} without the head and {trained.after:.3f} with it."
    )


@app.command()
def turns(
    out: WeightsOut,
    labelled: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Lines of JSON: text and kind; ours without it")
    ] = None,
) -> None:
    """Learn to tell questions, wishes to hear about a thing, and talk apart, from labelled turns."""
    from app.cli.output import failures_in_words
    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.dialogue.turns import TRAINING, read_labelled, train_turns

    settings = load_settings()
    with failures_in_words(console):
        try:
            given = read_labelled(labelled or TRAINING)
        except ValueError as problem:
            refuse(problem)
        embedder = Embedder(settings.embedder, settings.cache_dir)
        out.write_bytes(train_turns(given, embedder, settings.embedder))
    console.print(f"{len(given)} turns to learn from")


@app.command()
def retriever(
    out: WeightsOut,
    data: Data = DATA,
    checkpoint: Checkpoint = None,
    known: Annotated[
        Literal["facts", "replies"], typer.Option(help="`replies`: as if nobody had said which facts they use")
    ] = "facts",
    seed: Annotated[int, typer.Option(help="Seed of the training")] = 0,
) -> None:
    """Learn which facts the next turn of a dialogue needs, from OpenDialKG; a fifth of its dialogues is left out."""
    from app.cli.output import failures_in_words
    from app.retriever.retriever import write_weights
    from app.settings import load_settings
    from evaluation.datasets.questions import QuestionsError
    from evaluation.training.network_fitting import CheckpointError

    settings = load_settings()
    with failures_in_words(console):
        try:
            weights = _train_retriever(data, settings, checkpoint, known, seed)
        except (QuestionsError, CheckpointError) as problem:
            refuse(problem)
        write_weights(weights, out, settings.embedder)


def _train_retriever(
    data: Path, settings: Settings, checkpoint: Path | None, known: Literal["facts", "replies"], seed: int
) -> RetrieverWeights:
    from app.cli.output import bar
    from app.llm.embeddings.embedder import Embedder
    from app.retriever.retriever import NetworkConfig
    from evaluation.dialogue.training_set import read_set, to_learn_from
    from evaluation.training.retriever import fit_retriever

    embedder = Embedder(settings.embedder, settings.cache_dir)
    found = read_set(data, embedder)
    with bar(console, "embedding") as embedding:
        facts = to_learn_from(found, embedder, seed, known, lambda done, total: embedding("", 100 * done / total))
    console.print(f"{len(facts)} turns to learn from; {len(found.test)} of other dialogues left out")
    with bar(console, "training") as training:
        return fit_retriever(
            facts,
            found.relations.vectors(),
            NetworkConfig(),
            seed,
            tell=lambda told: training(f"loss {told.loss:.3f}", 100 * told.done / told.total),
            checkpoint=checkpoint,
        )


@app.command()
def extractor(
    out: WeightsOut,
    data: Data = DATA,
    checkpoint: Checkpoint = None,
    pairs: Annotated[int, typer.Option(min=1, help="Questions to learn from")] = 200_000,
    seed: Annotated[int, typer.Option(help="Seed of the pairs and of the training")] = 0,
) -> None:
    """Learn which span of a text fills the unknown end of a fact, from texts made of graphs and from OpenDialKG."""
    from app.cli.output import failures_in_words
    from app.extractor.extractor import SentenceModelError, write_weights
    from app.settings import load_settings
    from evaluation.datasets.questions import QuestionsError
    from evaluation.training.network_fitting import CheckpointError

    settings = load_settings()
    with failures_in_words(console):
        try:
            weights = _train_extractor(data, settings, checkpoint, pairs, seed)
        except (QuestionsError, CheckpointError, SentenceModelError) as problem:
            refuse(problem)
        write_weights(weights, out, settings.embedder)


def _train_extractor(
    data: Path, settings: Settings, checkpoint: Path | None, pairs: int, seed: int
) -> ExtractorWeights:
    from app.cli.output import bar
    from app.extractor.extractor import ExtractorConfig, open_lower_layers
    from app.extractor.features import SpanFeatureMaker
    from app.llm.embeddings.embedder import Embedder
    from evaluation.dialogue.extractor_run import read_pair_source, to_learn_from
    from evaluation.training.extractor import fit_extractor

    source = read_pair_source(data, Embedder(settings.embedder, settings.cache_dir))
    questions = to_learn_from(source, pairs, seed)
    impossible = sum(not each.spans for each in questions)
    console.print(f"{len(questions)} questions to learn from, {impossible} of them without an answer")
    config = ExtractorConfig()
    maker = SpanFeatureMaker(open_lower_layers(settings.embedder, settings.cache_dir, config.below))
    with bar(console, "training") as training:
        return fit_extractor(
            questions,
            maker,
            config,
            seed,
            tell=lambda told: training(f"loss {told.loss:.3f}", 100 * told.done / told.total),
            checkpoint=checkpoint,
        )


async def _train(graph: list[Path], policy: Path | None, chosen: list[Question], seed: int) -> Trained:
    from app.cli.output import bar
    from evaluation.bench.bench import Bench
    from evaluation.bench.training_examples import gather
    from evaluation.training.reasoner import train as fit_head

    async with Bench("embedded") as bench:
        with bar(console, "loading") as loading:
            loaded = bench.load("asked", graph, policy.read_text("utf-8") if policy else None, loading)
        with bar(console, "asking") as asking:
            gathered = await gather(bench, loaded, chosen, lambda done: asking("", 100 * done / len(chosen)))
        console.print(f"{len(gathered.examples)} questions to learn from, {gathered.left_out} left out")
        with bar(console, "training") as training:
            return fit_head(
                bench.embedded.embedder,
                gathered.examples,
                seed,
                lambda done, loss: training(f"loss {loss:.3f}", 100 * done),
            )
