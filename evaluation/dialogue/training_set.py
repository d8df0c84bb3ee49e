"""Examples of both parts of OpenDialKG as features: those to train the retriever on, and those to measure it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import PLACEHOLDER, FeatureMaker
from app.retriever.relations import RelationTable
from evaluation.dialogue.examples import ExampleMaker, RetrievalExample
from evaluation.dialogue.literal_turns import literal_examples
from evaluation.dialogue.opendialkg import FOLDER, read_graph, read_turns, split
from evaluation.dialogue.replies import replied_facts
from evaluation.training.retriever import RankedFacts, RepliedFacts

SPLIT_SEED: Final = 0
"""Part of the measure: whoever trains with another one has seen turns of the test."""

LITERAL_SHARE: Final = 0.7
"""As many turns with a question by the words of a relation as this share of the others."""

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class DialogueSet:
    """Turns with a gold fact among their candidates; `relations`: the table that all features refer to."""

    train: Sequence[RetrievalExample] = field(repr=False)
    test: Sequence[RetrievalExample] = field(repr=False)
    relations: RelationTable


def read_set(data: Path, embedder: Embedder) -> DialogueSet:
    """`data`: the folder of the public sets. Raises QuestionsError."""
    folder = data / FOLDER
    graph = read_graph(folder)
    train, test = split(read_turns(folder), SPLIT_SEED)
    maker = ExampleMaker(graph)
    return DialogueSet(maker.examples(train), maker.examples(test), RelationTable(embedder, graph.relations))


def features_of(
    examples: Sequence[RetrievalExample],
    embedder: Embedder,
    relations: RelationTable,
    tell: Tell = lambda _done, _total: None,
    placeholder: str | None = PLACEHOLDER,
) -> list[RankedFacts]:
    """In the order of the examples; `placeholder`: as for FeatureMaker."""
    maker = FeatureMaker(embedder, relations, placeholder)
    made = []
    for number, example in enumerate(examples, start=1):
        made.append(RankedFacts(maker.make(example.query), example.gold))
        tell(number, len(examples))
    return made


def to_learn_from(
    found: DialogueSet,
    embedder: Embedder,
    seed: int,
    known: Literal["facts", "replies"] = "facts",
    tell: Tell = lambda _done, _total: None,
    placeholder: str | None = PLACEHOLDER,
) -> list[RankedFacts | RepliedFacts]:
    """The turns to train on, by what is known of them, and questions by the words of relations after some of them."""
    questions = literal_examples(found.train, round(len(found.train) * LITERAL_SHARE), seed)
    facts = features_of([*found.train, *questions], embedder, found.relations, tell, placeholder)
    if known == "facts":
        return [*facts]
    chat = len(found.train)
    return [*replied_facts(found.train, facts[:chat]), *facts[chat:]]
