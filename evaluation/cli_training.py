"""The commands `arog train`, which train the embedded reasoner, reader of turns, retriever and extractor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.main import require_extra
from evaluation.cli_output import DATA, Data, PolicyFile, Sample, console, refuse, shown_progress

if TYPE_CHECKING:
    from evaluation.bench.question_sets import Show
    from evaluation.datasets.questions import Question
    from evaluation.training.reasoner import Trained

WeightsOut = Annotated[Path, typer.Option(help="Where the weights are written")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Written now and then; where it is there, training goes on from it")
]
TrainingSeed = Annotated[int, typer.Option(help="Seed of what is drawn, and of the training")]

app = typer.Typer(help="Train what is added to the sentence model.")


def commands(parent: typer.Typer) -> None:
    """Adds the commands `arog train` to `parent`."""
    require_extra()
    parent.add_typer(app, name="train")


@app.command()
def reasoner(
    graph: Annotated[list[Path], typer.Option(help="File to load; may be given several times")],
    questions: Annotated[Path, typer.Option(help="Questions with answers or gold plans, one JSON object a line")],
    out: Annotated[Path, typer.Option(help="Where the head is written; name it in AROG_REASONER_HEAD")],
    policy: PolicyFile = None,
    limit: Sample = None,
    seed: TrainingSeed = 0,
) -> None:
    """Ask questions whose answers are known, and learn how they word the relations of this graph."""
    import asyncio

    from app.llm.embeddings.trained_weights import write_head
    from app.settings import load_settings
    from evaluation.bench.bench import sample
    from evaluation.datasets.questions import read_questions
    from evaluation.training.reasoner import TrainingError

    with shown_progress(TrainingError) as show:
        chosen = sample(read_questions(questions), limit, seed)
        trained = asyncio.run(_train(graph, policy, chosen, seed, show))
        write_head(trained.head, out, load_settings().embedder)
    console.print(
        f"{trained.examples} questions trained on; of {trained.held_out} held out the first path was right in "
        f"{trained.before:.3f} without the head and {trained.after:.3f} with it."
    )


async def _train(graph: list[Path], policy: Path | None, chosen: list[Question], seed: int, show: Show) -> Trained:
    from evaluation.bench.bench import Bench
    from evaluation.bench.training_examples import gather
    from evaluation.training.reasoner import train

    async with Bench("embedded") as bench:
        told = policy.read_text("utf-8") if policy else None
        loaded = bench.load("asked", graph, told, lambda _step, percent: show("loading", int(percent), 100))
        gathered = await gather(bench, loaded, chosen, lambda done: show("asking", done, len(chosen)))
        console.print(f"{len(gathered.examples)} questions to learn from, {gathered.left_out} left out")
        return train(
            bench.embedded.embedder,
            gathered.examples,
            seed,
            lambda done, loss: show(f"training, loss {loss:.3f}", int(100 * done), 100),
        )


@app.command()
def turns(
    out: WeightsOut,
    labelled: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Lines of JSON: text and kind; ours without it")
    ] = None,
    forms: Annotated[bool, typer.Option("--forms", help="Learn how turns lean on the answer before them")] = False,
) -> None:
    """Learn from labelled turns to tell questions, requests to hear about a thing, and talk apart."""
    from app.chat.turn_forms import FORMS, KINDS
    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.dialogue.labelled import FORMS_TRAINING, TRAINING, read_labelled, train_turns

    settings = load_settings()
    with shown_progress():
        try:
            kinds, own = (FORMS, FORMS_TRAINING) if forms else (KINDS, TRAINING)
            given = read_labelled(labelled or own, kinds)
        except ValueError as problem:
            refuse(problem)
        embedder = Embedder(settings.sentence_model, settings.cache_dir)
        out.write_bytes(train_turns(given, embedder, settings.sentence_model, kinds))
    console.print(f"{len(given)} turns to learn from")


@app.command()
def retriever(
    out: WeightsOut,
    data: Data = DATA,
    checkpoint: Checkpoint = None,
    known: Annotated[
        Literal["facts", "replies"], typer.Option(help="`replies`: as if nobody had said which facts they use")
    ] = "facts",
    seed: TrainingSeed = 0,
) -> None:
    """Learn which facts the next turn of a dialogue needs, from OpenDialKG; a fifth of its dialogues is left out."""
    from app.llm.embeddings.embedder import Embedder
    from app.retriever.retriever import NetworkConfig, write_weights
    from app.settings import load_settings
    from evaluation.dialogue.retrieval import read_set, to_learn_from
    from evaluation.training.network_fitting import CheckpointError
    from evaluation.training.retriever import fit_retriever

    settings = load_settings()
    with shown_progress(CheckpointError) as show:
        embedder = Embedder(settings.sentence_model, settings.cache_dir)
        found = read_set(data, embedder)
        facts = to_learn_from(found, embedder, seed, known, lambda done, total: show("embedding", done, total))
        console.print(f"{len(facts)} turns to learn from; {len(found.test)} of other dialogues left out")
        weights = fit_retriever(
            facts,
            found.relations.vectors(),
            NetworkConfig(),
            seed,
            tell=lambda told: show(f"training, loss {told.loss:.3f}", told.done, told.total),
            checkpoint=checkpoint,
        )
        write_weights(weights, out, settings.sentence_model)


@app.command()
def extractor(
    out: WeightsOut,
    data: Data = DATA,
    checkpoint: Checkpoint = None,
    pairs: Annotated[int, typer.Option(min=1, help="Questions to learn from")] = 200_000,
    seed: TrainingSeed = 0,
) -> None:
    """Learn which span of a text fills the unknown end of a fact, from generated texts and from OpenDialKG."""
    from app.extractor.extractor import ExtractorConfig, open_lower_layers, write_weights
    from app.extractor.features import SpanFeatureMaker
    from app.llm.embeddings.embedder import Embedder
    from app.settings import load_settings
    from evaluation.dialogue.extractor_run import read_pair_source, to_learn_from
    from evaluation.training.extractor import fit_extractor
    from evaluation.training.network_fitting import CheckpointError

    settings, config = load_settings(), ExtractorConfig()
    with shown_progress(CheckpointError) as show:
        source = read_pair_source(data, Embedder(settings.sentence_model, settings.cache_dir))
        questions = to_learn_from(source, pairs, seed)
        impossible = sum(not each.spans for each in questions)
        console.print(f"{len(questions)} questions to learn from, {impossible} of them without an answer")
        weights = fit_extractor(
            questions,
            SpanFeatureMaker(open_lower_layers(settings.sentence_model, settings.cache_dir, config.below)),
            config,
            seed,
            tell=lambda told: show(f"training, loss {told.loss:.3f}", told.done, told.total),
            checkpoint=checkpoint,
        )
        write_weights(weights, out, settings.sentence_model)


@app.command()
def topics(data: Data = DATA, test: Annotated[int, typer.Option(min=1, help="Dialogues left out")] = 1000) -> None:
    """Learn which terms beside a dialogue its next turn takes up, and write the weights into the service."""
    from app.strategies.demands.embedded import TOPIC_WEIGHTS
    from evaluation.demands.dialogues import draw, pairs_of, read_dialogues, read_facts
    from evaluation.demands.retrieval import public_terms
    from evaluation.demands.topic_fitting import fit_topic_weights, write_topic_weights

    with shown_progress() as show:
        show("reading", 0, 1)
        left = draw(read_dialogues(data), test).development
        graph = public_terms(read_facts(data))
        show("fitting", 0, 1)
        weights = fit_topic_weights(graph, (pair for dialogue in left for pair in pairs_of(dialogue)))
        write_topic_weights(weights, TOPIC_WEIGHTS)
    console.print(f"{len(weights)} weights from {len(left)} dialogues; {test} others were left out")


@app.command()
def ranker(
    write: Annotated[Path | None, typer.Option(help="Write the weights here, where the service reads them")] = None,
    kept: Annotated[Path | None, typer.Option(help="The gathered readings: read if it is there, else written")] = None,
) -> None:
    """Fit the ranker of readings to the seen domains and natural questions, and show how left-out graphs fare."""
    import asyncio

    from evaluation.cli_output import print_markdown
    from evaluation.datasets.questions import QuestionsError
    from evaluation.understanding import examples
    from evaluation.understanding.fitting import as_toml, fit_markdown, fitted, left_out

    with shown_progress(QuestionsError) as show:
        if kept is not None and kept.exists():
            gathered = examples.read(kept)
        else:
            gathered = asyncio.run(examples.ranking_examples(show))
            if kept is not None:
                examples.written(gathered, kept)
        outcomes = left_out(gathered)
    if write:
        write.write_text(as_toml(fitted(gathered)), encoding="utf-8")
    print_markdown(fit_markdown(outcomes))
