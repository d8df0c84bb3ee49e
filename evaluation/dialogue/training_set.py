"""Examples of retrieval: a turn's dialogue, the one-hop facts of what it names, and which of them the reply uses; as
features, to train the retriever on and to measure it on.

People who chat hardly name the relation that the reply uses; people who ask do. Trained on chat alone, the retriever
learns which relations people like to hear of, and little else; turns that go on with a question that says a relation
by its own words teach it to heed what is asked.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.retriever.features import (
    PLACEHOLDER,
    EntityProfile,
    Fact,
    FeatureMaker,
    Mention,
    RelationTable,
    RetrievalQuery,
    Utterance,
)
from evaluation.dialogue.dialogue_sets import DialogueGraph, DialogueTurn, Triple, read_graph, read_turns, split
from evaluation.dialogue.spans import ExactNames
from evaluation.training.retriever import Learnt, RankedFacts, RepliedFacts

LITERAL_SHARE: Final = 0.7
"""As many turns with a question by the words of a relation as this share of the others."""
_WORD = re.compile(r"\w+")
_NAME: Final = "{name}"
_FORWARD: Final = (
    "What is the {relation} of {name}?",
    "Can you tell me the {relation} of {name}?",
    "And the {relation} of {name}?",
    "Who or what was {name} {relation}?",
    "I want to know about {name}, the {relation}.",
    "{name}: {relation}?",
)
_BACKWARD: Final = (
    "What is {relation} {name}?",
    "Which ones are {relation} {name}?",
    "Do you know anything that has {name} as its {relation}?",
    "Who or what has the {relation} {name}?",
    "And {relation} {name}?",
)

Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RetrievalExample:
    """`triples`: the candidates with their names, in the order of `query.facts`; `gold`: shape (facts,)."""

    turn: DialogueTurn
    query: RetrievalQuery
    triples: tuple[Triple, ...] = field(repr=False)
    gold: npt.NDArray[np.bool_] = field(repr=False)


class ExampleMaker:
    """Makes examples of one graph; entities are what its exact names in the history stand for."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph = graph
        self._names = ExactNames(graph.facts_of)
        self._profiles: dict[str, EntityProfile] = {}

    def examples(self, turns: Sequence[DialogueTurn]) -> list[RetrievalExample]:
        """Those of the turns that have a gold fact among their candidates."""
        return [example for turn in turns if (example := self._example(turn)).gold.any()]

    def _example(self, turn: DialogueTurn) -> RetrievalExample:
        found = [self._names.find(text) for _, text in turn.history]
        named = {name for mentions in found for mention in mentions for name in mention.names}
        triples = tuple(sorted({triple for name in named for triple in self._graph.facts_of[name]}))
        entities = sorted(named.union(*({head, tail} for head, _, tail in triples)))
        number = {entity: at for at, entity in enumerate(entities)}
        history = tuple(
            Utterance(
                speaker,
                text,
                tuple(Mention(m.start, m.end, tuple(number[name] for name in m.names), m.is_name) for m in mentions),
            )
            for (speaker, text), mentions in zip(turn.history, found, strict=True)
        )
        facts = tuple(Fact(number[head], relation, number[tail]) for head, relation, tail in triples)
        query = RetrievalQuery(history, tuple(self._profile(entity) for entity in entities), facts)
        return RetrievalExample(turn, query, triples, np.array([triple in turn.gold for triple in triples], bool))

    def _profile(self, entity: str) -> EntityProfile:
        if entity not in self._profiles:
            facts = self._graph.facts_of[entity]
            outgoing, incoming = (sorted({fact[1] for fact in facts if fact[end] == entity}) for end in (0, 2))
            self._profiles[entity] = EntityProfile(tuple(outgoing), tuple(incoming))
        return self._profiles[entity]


@dataclass(frozen=True, slots=True)
class DialogueSet:
    """Turns with a gold fact among their candidates; `relations`: the table that all features refer to."""

    train: Sequence[RetrievalExample] = field(repr=False)
    test: Sequence[RetrievalExample] = field(repr=False)
    relations: RelationTable


def read_set(data: Path, embedder: Embedder) -> DialogueSet:
    """OpenDialKG's. `data`: the folder of the public sets. Raises QuestionsError."""
    graph = read_graph(data)
    train, test = split(read_turns(data))
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
) -> list[Learnt]:
    """The turns to train on, by what is known of them, and questions by the words of relations after some of them."""
    questions = literal_examples(found.train, round(len(found.train) * LITERAL_SHARE), seed)
    facts = features_of([*found.train, *questions], embedder, found.relations, tell, placeholder)
    return [*facts] if known == "facts" else by_replies(found.train, facts)


def by_replies(examples: Sequence[RetrievalExample], facts: Sequence[Learnt]) -> list[Learnt]:
    """As if nobody had said which facts the replies use: the words that each fact would explain. `facts`: those of the
    examples, and further ones, which stay as they are."""
    replies = [_words(example.turn.reply) for example in examples]
    said = Counter(word for words in replies for word in words)
    total = said.total() + len(said)
    known = facts[: len(examples)]
    replied = [
        RepliedFacts(
            each.features,
            _told(words, example.triples),
            np.array([(said[word] + 1) / total for word in words], np.float32),
        )
        for example, words, each in zip(examples, replies, known, strict=True)
    ]
    return [*replied, *facts[len(examples) :]]


def literal_examples(examples: Sequence[RetrievalExample], count: int, seed: int) -> list[RetrievalExample]:
    """`count` of them at most, each from another example. Every relation of what was named is as likely to be asked
    for, either way round."""
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    made = (_asked(example, draw) for example in draw.sample(examples, len(examples)))
    return [example for example in made if example is not None][:count]


def _told(words: Sequence[str], triples: Sequence[Triple]) -> npt.NDArray[np.float32]:
    """The chance of each word of the reply where any word of a fact is as likely; shape (facts, words)."""
    told = np.zeros((len(triples), len(words)), np.float32)
    for row, triple in enumerate(triples):
        own = set(_words(" ".join(triple)))
        told[row, [at for at, word in enumerate(words) if word in own]] = 1 / max(len(own), 1)
    return told


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _asked(example: RetrievalExample, draw: random.Random) -> RetrievalExample | None:
    """None where nothing was named."""
    history, facts = example.query.history, example.query.facts
    named = {
        (mention.entities[0], utterance.text[mention.start : mention.end])
        for utterance in history
        for mention in utterance.mentions
        if mention.is_name and len(mention.entities) == 1
    }
    if not named:
        return None
    entity, name = draw.choice(sorted(named))
    ways = sorted({(fact.relation, fact.head == entity) for fact in facts if entity in (fact.head, fact.tail)})
    if not ways:
        return None
    relation, is_head = draw.choice(ways)
    before, after = draw.choice(_FORWARD if is_head else _BACKWARD).replace("{relation}", relation).split(_NAME)
    mention = Mention(len(before), len(before) + len(name), (entity,))
    other = "assistant" if history[-1].speaker == "user" else "user"
    question = Utterance(other, f"{before}{name}{after}", (mention,))
    ends = [fact.head if is_head else fact.tail for fact in facts]
    gold = [fact.relation == relation and end == entity for fact, end in zip(facts, ends, strict=True)]
    return replace(example, query=replace(example.query, history=(*history, question)), gold=np.array(gold, bool))
