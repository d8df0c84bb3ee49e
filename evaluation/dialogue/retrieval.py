"""Measure how well the facts that the next turn needs are ranked: untrained, trained, and on another graph.

An example is a turn, the one-hop facts of what it names, and which of them the reply uses. The figures of SURGE stand
beside ours.

People who chat hardly name the relation that the reply uses; people who ask do. Trained on chat alone, the retriever
learns little but which relations people like to hear of. So turns are added that end in a question with a relation's
own words, which teach it to follow what is asked.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from app.graphs.markdown_table import markdown_table
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
    read_text,
)
from app.retriever.retriever import NetworkConfig, RetrieverWeights, read_weights, scores_of
from app.settings import Settings
from evaluation.bench.question_sets import Show
from evaluation.dialogue.anonymised import ExactNames
from evaluation.dialogue.dialogue_sets import (
    DialogueGraph,
    DialogueTurn,
    Triple,
    percent,
    published,
    read_graph,
    read_metaqa,
    read_turns,
    split,
)
from evaluation.tables.measures import Measure
from evaluation.training.retriever import Learnt, RankedFacts, RepliedFacts, fit_retriever

LITERAL_SHARE: Final = 0.7
"""The number of added turns with a question by relation words, as a share of the other turns."""
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
    """A turn, its query, and which candidates the reply uses.

    `triples` are the candidates with their names in the order of `query.facts`; `gold` has the shape (facts,).
    """

    turn: DialogueTurn
    query: RetrievalQuery
    triples: tuple[Triple, ...] = field(repr=False)
    gold: npt.NDArray[np.bool_] = field(repr=False)


class ExampleMaker:
    """Makes examples of one graph; entities are those whose names stand in the history exactly."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph = graph
        self._names = ExactNames(graph.facts_of)
        self._profiles: dict[str, EntityProfile] = {}

    def examples(self, turns: Sequence[DialogueTurn]) -> list[RetrievalExample]:
        """Returns the examples of the turns that have a gold fact among their candidates."""
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
    """Training and test examples of OpenDialKG; `relations` is the table of relations that their features refer to."""

    train: Sequence[RetrievalExample] = field(repr=False)
    test: Sequence[RetrievalExample] = field(repr=False)
    relations: RelationTable


def read_set(data: Path, embedder: Embedder) -> DialogueSet:
    """Reads OpenDialKG's examples from `data`, the folder of the public sets. Raises QuestionsError."""
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
    """Returns the features of the examples, in order.

    `placeholder` is read in place of names; None reads the names.
    """
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
    """Returns what to train on: the training turns, and made-up questions in relation words that follow some of them.

    With `known` "replies", training is not told which facts the replies use.
    """
    questions = literal_examples(found.train, round(len(found.train) * LITERAL_SHARE), seed)
    facts = features_of([*found.train, *questions], embedder, found.relations, tell, placeholder)
    return [*facts] if known == "facts" else by_replies(found.train, facts)


def by_replies(examples: Sequence[RetrievalExample], facts: Sequence[Learnt]) -> list[Learnt]:
    """Returns the training data as if nobody knew which facts the replies use.

    In place of its gold facts, each of `examples` gets the probability of each word of its reply given each fact, with
    all words of a fact equally likely. `facts` begins with the features of `examples`; the rest of it stays as it is.
    """
    replies = [_words(example.turn.reply) for example in examples]
    said = Counter(word for words in replies for word in words)
    total = said.total() + len(said)
    replied = []
    for example, words, each in zip(examples, replies, facts[: len(examples)], strict=True):
        told = np.zeros((len(example.triples), len(words)), np.float32)
        for row, triple in enumerate(example.triples):
            own = set(_words(" ".join(triple)))
            told[row, [at for at, word in enumerate(words) if word in own]] = 1 / max(len(own), 1)
        otherwise = np.array([(said[word] + 1) / total for word in words], np.float32)
        replied.append(RepliedFacts(each.features, told, otherwise))
    return [*replied, *facts[len(examples) :]]


def literal_examples(examples: Sequence[RetrievalExample], count: int, seed: int) -> list[RetrievalExample]:
    """Returns up to `count` examples that end in a question by relation words, each made from another example.

    Every relation of the named thing is equally likely to be asked for, in either direction.
    """
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    made = (_asked(example, draw) for example in draw.sample(examples, len(examples)))
    return [example for example in made if example is not None][:count]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _asked(example: RetrievalExample, draw: random.Random) -> RetrievalExample | None:
    """Returns the example with a question added, or None if it names nothing or no fact is known of the thing."""
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


LEARNED: Final = "learned, pseudonyms"
PLAIN: Final = "learned with names, names"
SAME_WEIGHTS: Final = "learned, the same weights, names"
CHAT_ALONE: Final = "learned, no questions by relation words"
REPLIES: Final = "learned from replies, no gold facts"
OPENDIALKG, METAQA = "OpenDialKG", "MetaQA"
METAQA_TURNS: Final = 1000

MIN_MRR: Final = 38.0
MIN_HITS: Final = {1: 27.0, 3: 44.0}
MIN_GAIN: Final = 1.24
MIN_TRANSFER: Final = 1.0
MAX_BEHIND_NAMES: Final = 1.0

CUTS: Final = (1, 3, 5, 10, 100)
# Scores are rounded, so that rounding errors don't decide between facts of equal score.
_PLACES: Final = 5
# Robertson and Zaragoza, Foundations and Trends in Information Retrieval, 2009, section 3.2.
K1, B = 1.5, 0.75
_WORD = re.compile(r"\w+")

Scores = npt.NDArray[np.floating[Any]]
_Learning = Literal["with names hidden", "with names shown", "chat alone", "replies"]


class RankingFigures(NamedTuple):
    """Means over `turns`, between 0 and 1; `hits` in the order of CUTS."""

    turns: int
    mrr: float
    hits: tuple[float, ...]


def figures(scores: Sequence[Scores], gold: Sequence[npt.NDArray[np.bool_]]) -> RankingFigures:
    """Returns mean reciprocal rank and Hits@k of the first gold fact.

    There is one array of scores per turn, higher is better; every turn has a gold fact.
    """
    means = np.mean([_expected(each, right) for each, right in zip(scores, gold, strict=True)], axis=0)
    return RankingFigures(len(scores), float(means[0]), tuple(float(mean) for mean in means[1:]))


def _expected(scores: Scores, gold: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Returns reciprocal rank and Hits@k of the best gold fact; equal scores give the mean over their orders."""
    scores = np.round(scores, _PLACES)
    best = scores[gold].max()
    above, equal = int((scores > best).sum()), int((scores == best).sum())
    right = int(((scores == best) & gold).sum())
    result = np.zeros(1 + len(CUTS))
    none_yet = 1.0
    for place in range(equal - right + 1):
        here = none_yet * right / (equal - place)
        rank = above + place + 1
        result += here * np.array([1 / rank, *(float(rank <= cut) for cut in CUTS)])
        none_yet -= here
    return result


def bm25_scores(example: RetrievalExample) -> Scores:
    """Returns BM25 scores: the history without names is the query, each fact's relation words are its document."""
    documents = {fact.relation: Counter(_WORD.findall(fact.relation)) for fact in example.query.facts}
    counts = Counter(fact.relation for fact in example.query.facts)
    total = counts.total()
    mean_length = sum(count * documents[words].total() for words, count in counts.items()) / total
    scores = dict.fromkeys(documents, 0.0)
    for word in set(_WORD.findall(_history(example, with_names=False).lower())):
        having = sum(count for words, count in counts.items() if documents[words][word])
        rarity = math.log(1 + (total - having + 0.5) / (having + 0.5))
        for words, document in documents.items():
            norm = K1 * (1 - B + B * document.total() / mean_length)
            scores[words] += rarity * document[word] * (K1 + 1) / (document[word] + norm)
    return np.array([scores[fact.relation] for fact in example.query.facts])


def bi_encoder_scores(embedder: Embedder, example: RetrievalExample, *, with_names: bool, turns: int) -> Scores:
    """Returns the cosine of the dialogue and each fact by the untrained sentence model.

    `with_names` compares whole triples, else relation words only; `turns` is the number of last turns used, 0 for all.
    """
    relations = [fact.relation for fact in example.query.facts]
    facts = [" ".join(triple) for triple in example.triples] if with_names else relations
    return embedder.similarity(_history(example, with_names, turns), facts)


def _history(example: RetrievalExample, with_names: bool, turns: int = 0) -> str:
    placeholder = None if with_names else PLACEHOLDER
    return " ".join(read_text(utterance, placeholder)[0] for utterance in example.query.history[-turns:])


class RetrievalRow(NamedTuple):
    """The figures of one way to rank; the learned one is compared with the row that `is_untrained_encoder` marks."""

    source: str
    name: str
    figures: RankingFigures
    is_untrained_encoder: bool = False


@dataclass(slots=True)
class _Part:
    """Examples of one graph, and their features with and without names, made once."""

    examples: Sequence[RetrievalExample] = field(repr=False)
    relations: RelationTable
    facts: dict[bool, list[RankedFacts]] = field(default_factory=dict, repr=False)


class RetrievalRun:
    """Fills the table row by row, with the trained retriever `weights`; without them it trains one."""

    def __init__(self, data: Path, settings: Settings, seed: int, show: Show, weights: Path | None) -> None:
        """Reads the sets and the weights. Raises QuestionsError, NetworkWeightsError."""
        self._embedder, self._seed, self._show = Embedder(settings.sentence_model, settings.cache_dir), seed, show
        self._weights = read_weights(weights, settings.sentence_model) if weights else None
        show("reading", 0, 1)
        self._set = read_set(data, self._embedder)
        graph, turns = read_metaqa(data, METAQA_TURNS, seed)
        self._learning: dict[_Learning, Sequence[Learnt]] = {}
        self._tests = {
            OPENDIALKG: _Part(self._set.test, self._set.relations),
            METAQA: _Part(ExampleMaker(graph).examples(turns), RelationTable(self._embedder, graph.relations)),
        }

    def rows(self, *, ablations: bool) -> list[RetrievalRow]:
        """Returns all rows; `ablations` adds the retriever trained on replies alone, and on chat alone."""
        weights = self._learned()
        named = self._trained(PLAIN, "with names shown")
        rows = [
            *self._untrained(OPENDIALKG),
            self._ranked(OPENDIALKG, LEARNED, weights),
            self._ranked(OPENDIALKG, SAME_WEIGHTS, weights, with_names=True),
            self._ranked(OPENDIALKG, PLAIN, named, with_names=True),
        ]
        if ablations:
            rows.append(self._ranked(OPENDIALKG, REPLIES, self._trained(REPLIES, "replies")))
        rows += [*self._untrained(METAQA), self._ranked(METAQA, LEARNED, weights)]
        if ablations:
            alone = self._trained(CHAT_ALONE, "chat alone")
            rows += [self._ranked(source, CHAT_ALONE, alone) for source in (OPENDIALKG, METAQA)]
        return rows

    def ranked_facts(self) -> dict[str, tuple[Triple, ...]]:
        """Returns the facts around each test turn of OpenDialKG, best first, by the turn's id."""
        part, weights = self._tests[OPENDIALKG], self._learned()
        ranked = {}
        for example, facts in zip(part.examples, self._facts(part, with_names=False), strict=True):
            scores = scores_of(weights, facts.features, part.relations.vectors())
            # Facts of equal score are ordered by name.
            rounded = [-round(float(score), _PLACES) for score in scores]
            ranked[example.turn.id] = tuple(triple for _, triple in sorted(zip(rounded, example.triples, strict=True)))
        return ranked

    def _learned(self) -> RetrieverWeights:
        """Returns the given weights; if none were given, trains them at the first call."""
        if self._weights is None:
            self._weights = self._trained(LEARNED)
        return self._weights

    def _untrained(self, source: str) -> list[RetrievalRow]:
        rows = [
            self._scored(source, "random", lambda example: np.zeros(len(example.gold))),
            self._scored(source, "BM25 over relation words", bm25_scores),
        ]
        for names, over in ((True, "triples, names"), (False, "relation words, pseudonyms")):
            for turns, told in ((0, "all turns"), (1, "last turn")):
                scores = partial(bi_encoder_scores, self._embedder, with_names=names, turns=turns)
                rows.append(self._scored(source, f"bi-encoder over {over}, {told}", scores, is_encoder=True))
        return rows

    def _scored(
        self, source: str, name: str, scores: Callable[[RetrievalExample], Scores], *, is_encoder: bool = False
    ) -> RetrievalRow:
        examples = self._tests[source].examples
        found = []
        for number, example in enumerate(examples, start=1):
            found.append(scores(example))
            self._show(f"{source}: {name}", number, len(examples))
        return RetrievalRow(source, name, figures(found, [example.gold for example in examples]), is_encoder)

    def _ranked(self, source: str, name: str, weights: RetrieverWeights, *, with_names: bool = False) -> RetrievalRow:
        part = self._tests[source]
        facts = self._facts(part, with_names)
        scores = [scores_of(weights, each.features, part.relations.vectors()) for each in facts]
        return RetrievalRow(source, name, figures(scores, [each.gold for each in facts]))

    def _trained(self, name: str, source: _Learning = "with names hidden") -> RetrieverWeights:
        return fit_retriever(
            self._to_learn_from(source),
            self._set.relations.vectors(),
            NetworkConfig(),
            self._seed,
            tell=lambda progress: self._show(f"training: {name}", progress.done, progress.total),
        )

    def _to_learn_from(self, source: _Learning) -> Sequence[Learnt]:
        """Returns the training data of a source, made once."""
        if source not in self._learning:
            tell, placeholder = partial(self._show, "embedding"), None if source == "with names shown" else PLACEHOLDER
            if source == "chat alone":
                made = self._to_learn_from("with names hidden")[: len(self._set.train)]
            elif source == "replies":
                made = by_replies(self._set.train, self._to_learn_from("with names hidden"))
            else:
                made = to_learn_from(self._set, self._embedder, self._seed, tell=tell, placeholder=placeholder)
            self._learning[source] = made
        return self._learning[source]

    def _facts(self, part: _Part, with_names: bool) -> list[RankedFacts]:
        if with_names not in part.facts:
            tell, placeholder = partial(self._show, "embedding"), None if with_names else PLACEHOLDER
            part.facts[with_names] = features_of(part.examples, self._embedder, part.relations, tell, placeholder)
        return part.facts[with_names]


def retrieval_measures(rows: Sequence[RetrievalRow]) -> list[Measure]:
    """Returns the lines with bounds, all for the learned retriever that sees only pseudonyms."""
    found = {(row.source, row.name): row.figures for row in rows}
    learned, elsewhere = found[OPENDIALKG, LEARNED], found[METAQA, LEARNED]
    best = {row.source: 0.0 for row in rows}
    for row in rows:
        if row.is_untrained_encoder:
            best[row.source] = max(best[row.source], row.figures.mrr)
    gain, transfer = learned.mrr / best[OPENDIALKG], elsewhere.mrr / best[METAQA]
    hits = dict(zip(CUTS, (100 * share for share in learned.hits), strict=True))
    names = 100 * (found[OPENDIALKG, PLAIN].mrr - learned.mrr)
    least = [
        ("retrieval, MRR", learned, 100 * learned.mrr, MIN_MRR, 1),
        *((f"retrieval, Hits@{cut}", learned, hits[cut], bound, 1) for cut, bound in MIN_HITS.items()),
        ("MRR, times that of the best untrained bi-encoder", learned, gain, MIN_GAIN, 2),
        ("the same weights on another graph, likewise", elsewhere, transfer, MIN_TRANSFER, 2),
    ]
    lines = [
        Measure(
            name=name,
            questions=of.turns,
            bound=f"{bound:g}",
            reached=f"{reached:.{places}f}",
            passed=reached >= bound,
        )
        for name, of, reached, bound, places in least
    ]
    at_most = Measure(
        name="MRR that names would add",
        questions=learned.turns,
        bound=f"at most {MAX_BEHIND_NAMES:g} point",
        reached=f"{names:+.1f}",
        passed=names <= MAX_BEHIND_NAMES,
    )
    return [*lines[:-1], at_most, lines[-1]]


def retrieval_markdown(rows: Sequence[RetrievalRow]) -> str:
    """Returns the table with figures times 100, and SURGE's below."""
    ours = [(row.source, row.name, row.figures.turns, *percent([row.figures.mrr, *row.figures.hits])) for row in rows]
    beside = [(OPENDIALKG, f"SURGE, published: {name}", "", *cells) for name, *cells in published("retrieval")[1]]
    return markdown_table(("set", "ranking", "turns", "MRR", *(f"Hits@{cut}" for cut in CUTS)), [*ours, *beside])
