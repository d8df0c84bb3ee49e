"""Measures how well names are found as people type them: in generated slips, and in questions of a public set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from app.graphs.markdown_table import markdown_table
from evaluation.bench.question_sets import C360, DEMO, PQ_2H, PQ_3H, WEBQSP, Show
from evaluation.checks.metrics import comparable
from evaluation.datasets.misspellings import CARRIERS, PLAIN, SLIPS, Slip
from evaluation.datasets.questions import Question
from evaluation.tables.asking import asking
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import concept_of
from kg_store.names.other_forms import Mention
from kg_store.terms import NodeKind

MIN_RECALL, MIN_PRECISION, MIN_TOPICS = 0.90, 0.97, 0.90
PEOPLE = frozenset(("person", "people", "patient", "doctor", "nurse", "relative", "customer", "employee"))
NO_NAME = "no name"
_NAME_WORDS = (2, 3)
_SMALL = frozenset("of de la le van von der den du di da the ii iii iv i v vi vii viii".split())
_TRIES = 40


@dataclass(frozen=True, slots=True)
class TypedMention:
    """One sentence; the name in it at [start, end) means `mid`. Without a name both are 0."""

    kind: str
    text: str = field(repr=False)
    start: int
    end: int
    mid: int


@dataclass(frozen=True, slots=True)
class KindOfSlip:
    """The result for all sentences of one kind. `choices`: how many things all mentions together may mean."""

    kind: str
    typed: int
    found: int
    linked: int
    right: int
    choices: int

    @property
    def recall(self) -> float:
        return self.found / self.typed if self.typed else 1.0

    @property
    def precision(self) -> float:
        """Of the names that were read out of the sentences, the share that was meant."""
        return self.right / self.linked if self.linked else 1.0


@dataclass(frozen=True, slots=True)
class LinkingReport:
    """All kinds in order; `whole` is their sum."""

    kinds: tuple[KindOfSlip, ...]

    @property
    def whole(self) -> KindOfSlip:
        parts = [(each.typed, each.found, each.linked, each.right, each.choices) for each in self.kinds]
        return KindOfSlip("all", *map(sum, zip(*parts, strict=True)))

    def markdown(self) -> str:
        rows = []
        for each in (*self.kinds, self.whole):
            mean = each.choices / each.linked if each.linked else 0.0
            rows.append((each.kind, each.typed, f"{each.recall:.3f}", f"{each.precision:.3f}", f"{mean:.1f}"))
        return markdown_table(("kind", "sentences", "recall", "precision", "read as, mean"), rows)


@dataclass(frozen=True, slots=True)
class LinkingResults:
    """Names with slips and topics of questions, and which bounds they miss, in words."""

    slips: LinkingReport
    topics: LinkingReport

    @property
    def missed(self) -> list[str]:
        slips, topics = self.slips.whole, self.topics.whole
        bounds = [
            (slips.recall, MIN_RECALL, "names with slips found"),
            (slips.precision, MIN_PRECISION, "their precision"),
            (topics.recall, MIN_TOPICS, "WebQSP topics found"),
        ]
        return [f"{what}: {reached:.3f} < {bound}" for reached, bound, what in bounds if reached < bound]

    def markdown(self) -> str:
        said = "\n".join(f"- {words}" for words in self.missed) or "- all bounds reached"
        return f"{self.slips.markdown()}\nWebQSP:\n\n{self.topics.markdown()}\n{said}\n"


async def run_linking(data: Path, mentions: int, seed: int, show: Show) -> LinkingResults:
    """The demo, customers, PathQuestion and WebQSP, freshly loaded. Raises QuestionsError."""
    async with asking(data, mentions, seed, show) as asker:
        sets, graph = asker.sets, asker.sets.bench.graph
        loaded = [sets.of(DEMO)[0], sets.graph(C360), sets.of(PQ_2H)[0], sets.of(PQ_3H)[0]]
        slips = measure_mentions([graph(each) for each in loaded], mentions, seed)
        webqsp, questions = sets.of(WEBQSP)
        return LinkingResults(slips, measure_topics(graph(webqsp), questions))


def measure_mentions(graphs: Sequence[PrivateGraph], mentions: int = 1_000, seed: int = 0) -> LinkingReport:
    """`mentions` misspelt and abbreviated names of the graphs' entities, evenly over graphs and kinds of slip, and
    sentences without a name. A name that several entities share counts as found where the right one is among them."""
    results = [(each, _mentions(graph, each.text)) for graph, each in _corpus(graphs, mentions, Random(seed))]  # noqa: S311  # a sample, no secret  # nosec B311
    kinds = dict.fromkeys(each.kind for each, _ in results)
    return LinkingReport(tuple(_of_slips(kind, [pair for pair in results if pair[0].kind == kind]) for kind in kinds))


def measure_topics(graph: PrivateGraph, questions: Sequence[Question]) -> LinkingReport:
    """Counts the topic entities of `questions` that linked mentions hold, one row; precision over all mentions."""
    typed = found = linked = right = choices = 0
    for question in questions:
        wanted = {comparable(topic) for topic in question.topic_entities}
        mentions = [each for text in question.texts for each in _mentions(graph, text)]
        meant = [_names_of(graph, each) for each in mentions]
        typed += len(wanted)
        found += len(wanted & set().union(*meant)) if meant else 0
        linked += len(mentions)
        right += sum(bool(names & wanted) for names in meant)
        choices += sum(len(each.mids) for each in mentions)
    return LinkingReport((KindOfSlip("topics", typed, found, linked, right, choices),))


def _of_slips(kind: str, results: Sequence[tuple[TypedMention, list[Mention]]]) -> KindOfSlip:
    found = right = linked = choices = 0
    for typed, mentions in results:
        held = [
            each for each in mentions if each.start < typed.end and typed.start < each.end and typed.mid in each.mids
        ]
        found += bool(held)
        right += len(held)
        linked += len(mentions)
        choices += sum(len(each.mids) for each in mentions)
    return KindOfSlip(kind, 0 if kind == NO_NAME else len(results), found, linked, right, choices)


def _mentions(graph: PrivateGraph, text: str) -> list[Mention]:
    """The entities that a question alone names, as the anonymiser reads it: everyday words are names where nothing but
    a number is named."""
    named = [each for each in graph.linker.find_mentions(text) if each.value_kind is None]
    if any(any(map(str.isalpha, text[each.start : each.end])) for each in named):
        return named
    more = [each for each in graph.linker.find_unmarked(text, graph.public) if each.value_kind is None]
    taken = {(each.start, each.end) for each in more}
    return [*(each for each in named if (each.start, each.end) not in taken), *more]


def _names_of(graph: PrivateGraph, mention: Mention) -> set[str]:
    records = graph.vault.records(mention.mids).values()
    return {comparable(name) for record in records for name in record.names}


def _corpus(graphs: Sequence[PrivateGraph], mentions: int, dice: Random) -> list[tuple[PrivateGraph, TypedMention]]:
    made: list[tuple[PrivateGraph, TypedMention]] = []
    names = [_names(graph) for graph in graphs]
    able = {(at, slip.kind): _able(names[at], slip) for at in range(len(graphs)) for slip in SLIPS}
    turns = [(at, slip) for slip in SLIPS for at in range(len(graphs)) if able[at, slip.kind]]
    for turn in range(mentions):
        at, slip = turns[turn % len(turns)]
        made.append((graphs[at], _typed(slip, dice.choice(able[at, slip.kind]), dice)))
    return [*made, *((graph, TypedMention(NO_NAME, text, 0, 0, 0)) for graph in graphs for text in PLAIN)]


@dataclass(frozen=True, slots=True)
class _Name:
    mid: int
    text: str = field(repr=False)
    is_person: bool


def _able(names: Sequence[_Name], slip: Slip) -> list[_Name]:
    """The names that the slip changes at all."""
    dice = Random(0)  # noqa: S311  # a sample, no secret  # nosec B311
    return [
        each for each in names if (each.is_person or not slip.people_only) and slip.apply(each.text, dice) != each.text
    ]


def _typed(slip: Slip, name: _Name, dice: Random) -> TypedMention:
    written = name.text
    for _ in range(_TRIES):
        written = slip.apply(name.text, dice)
        if written != name.text:
            break
    before, _, after = dice.choice(CARRIERS).partition("{}")
    text = before + written + after
    return TypedMention(
        slip.kind, text.lower() if slip.kind == "small letters" else text, len(before), len(before + written), name.mid
    )


def _names(graph: PrivateGraph) -> list[_Name]:
    """The preferred name of every entity, words parted by spaces."""
    signatures = [each.id for each in graph.blind.schema.signatures if each.kind is NodeKind.ENTITY]
    found = []
    for mid, record in graph.vault.records(graph.blind.members(signatures).tolist()).items():
        if record.names and not any(map(str.isdigit, record.names[0])):
            text = record.names[0].replace("_", " ")
            found.append(_Name(int(mid), text, _is_person(graph, int(mid), text)))
    # MIDs are drawn for every load: by them, one seed would make another corpus each time.
    return sorted(found, key=lambda name: name.text)


def _is_person(graph: PrivateGraph, mid: int, text: str) -> bool:
    """Of a kind that people are of, with a name of two or three words and no small ones (of, III)."""
    words = text.split(" ")
    plain = all(len(word) > 1 and word.casefold() not in _SMALL and not word.endswith(".") for word in words)
    concept = Counter(concept_of(graph.blind, np.array([mid], dtype=np.int64)).split())
    return plain and len(words) in _NAME_WORDS and bool(PEOPLE & set(concept))
