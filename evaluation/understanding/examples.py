"""Gathers readings with the verdict on each: the result of every reading is compared with the right answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from app.demo import POLICY_FILE
from app.reader.english import EnglishReader
from app.reader.ranking.candidates import Candidate
from app.reader.ranking.ranker import answer_of
from evaluation.bench.bench import TENANT, Bench
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import comparable
from evaluation.natural.run import CLINIC, GRAPHS
from evaluation.natural.verdicts import Gold, NaturalQuestion, read_natural, same_text
from evaluation.understanding.domains import domains
from evaluation.understanding.run import ask, load, new_dialogue
from kg_store.algebra.expressions import ExpressionResult
from kg_store.catalog import PrivateGraph

EVERY: Final = 2
"""Of the natural questions, which are many for few graphs, this one in so many is used."""
_UNFIT: Final = frozenset({"smalltalk", "describe"})


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A question of the graph `group` with the features of each reading, and whether its answer is right.

    No reading is right for a question that the graph can't answer, and for one that is read in no right way.
    """

    group: str
    features: tuple[Mapping[str, float], ...]
    is_right: tuple[bool, ...]
    results: tuple[int, ...]
    """The number of each reading's result; readings with the same number have the same result."""


@dataclass(slots=True)
class RecordingRanker:
    """A ranker to which no reading is likely. It keeps what it was first asked to rank since `begin`.

    That is the question itself; what the service tries after it, such as suggestions, is not kept.
    """

    candidates: Sequence[Candidate] = field(default=(), repr=False)
    features: Sequence[Mapping[str, float]] = field(default=(), repr=False)

    def begin(self) -> None:
        """Forgets what was ranked."""
        self.candidates, self.features = (), ()

    def chances(self, candidates: Sequence[Candidate], features: Sequence[Mapping[str, float]]) -> list[float]:
        if not self.candidates:
            self.candidates, self.features = candidates, features
        return [0.0] * len(candidates)


async def ranking_examples(show: Show) -> list[RankingExample]:
    """Returns the examples of all seen domains and of every EVERYth seen natural question. Raises QuestionsError."""
    return [*await domain_examples(show), *await natural_examples(show)]


async def domain_examples(show: Show) -> list[RankingExample]:
    """Returns the examples of all seen domains. Raises QuestionsError."""
    found: list[RankingExample] = []
    with domains("seen") as known:
        async with Bench() as bench:
            for domain in known:
                load(bench, domain, show)
                found += [each async for each in _examples(bench, domain.name, domain.questions, show)]
    return found


async def natural_examples(show: Show) -> list[RankingExample]:
    """Returns the examples of every EVERYth seen natural question that stands alone. Raises QuestionsError."""
    found: list[RankingExample] = []
    natural = [each for each in read_natural("seen") if not each.turns]
    async with Bench() as bench:
        for graph, file in GRAPHS.items():
            policy = POLICY_FILE.read_text("utf-8") if graph == CLINIC else None
            bench.load(graph, [file], policy, masks=True)
            mine = [each for each in natural if each.graph == graph][::EVERY]
            found += [each async for each in _examples(bench, graph, mine, show)]
    return found


def written(examples: Sequence[RankingExample], file: Path) -> None:
    """Writes examples as JSON."""
    file.write_text(json.dumps([asdict(each) for each in examples]), encoding="utf-8")


def read(file: Path) -> list[RankingExample]:
    """Reads the examples that `written` wrote."""
    return [
        RankingExample(each["group"], tuple(each["features"]), tuple(each["is_right"]), tuple(each["results"]))
        for each in json.loads(file.read_text("utf-8"))
    ]


def _reader(bench: Bench) -> EnglishReader:
    language = bench.services.thinking.language
    assert isinstance(language, EnglishReader)
    return language


async def _examples(
    bench: Bench, graph: str, questions: Sequence[NaturalQuestion], show: Show
) -> AsyncIterator[RankingExample]:
    ranker = RecordingRanker()
    _reader(bench).ranker = ranker
    opened = bench.services.store.catalog.open(TENANT, graph)
    for number, question in enumerate(questions):
        show(f"{graph}, readings", number, len(questions))
        if question.gold.type in _UNFIT:
            continue
        ranker.begin()
        await ask(bench, new_dialogue(graph), question.question)
        if not ranker.candidates:
            continue
        numbers = {answer: at for at, answer in enumerate(dict.fromkeys(map(answer_of, ranker.candidates)))}
        yield RankingExample(
            graph,
            tuple(ranker.features),
            tuple(_is_right(question, each.result, opened) for each in ranker.candidates),
            tuple(numbers[answer_of(each)] for each in ranker.candidates),
        )


def _is_right(question: NaturalQuestion, result: ExpressionResult | None, graph: PrivateGraph) -> bool:
    """Returns True if a reading's result is the right answer, or another one that is reasonable."""
    return result is not None and any(_equals(gold, result, graph) for gold in question.golds)


def _equals(gold: Gold, result: ExpressionResult, graph: PrivateGraph) -> bool:
    if gold.type == "unanswerable":
        return False
    if result.truth is not None:
        return gold.type == "boolean" and gold.texts == ["yes" if result.truth else "no"]
    if result.number is not None:
        return gold.type != "boolean" and _same(gold.texts, [[str(result.number)]])
    if result.rows:
        rows = [(_names(graph, mid) if isinstance(mid, int) else [mid], value) for mid, value in result.rows]
        wanted = {(comparable(name), comparable(value)) for name, value in gold.rows}
        told = [{(comparable(name), comparable(str(value))) for name in names} for names, value in rows]
        return len(told) == len(wanted) and all(each & wanted for each in told)
    return gold.type != "boolean" and _same(gold.texts, [_names(graph, mid) for mid in result.mids])


def _same(wanted: Sequence[str], found: Sequence[Sequence[str]]) -> bool:
    """Returns True if each thing found has a wanted name, and each wanted name is that of a thing found."""
    is_each = all(any(same_text(text, name) for text in wanted for name in names) for names in found)
    return is_each and all(any(same_text(text, name) for names in found for name in names) for text in wanted)


def _names(graph: PrivateGraph, mid: int) -> list[str]:
    """Returns the names of a thing, or the text of a value."""
    record = graph.vault.records([mid]).get(mid)
    return [] if record is None else [name for name in (*record.names, record.lexical) if name is not None]
