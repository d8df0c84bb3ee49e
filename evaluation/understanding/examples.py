"""Gathers readings with the verdict on each: every question is asked once for each result that a reading of it has."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from app.demo import POLICY_FILE
from app.reader.english import EnglishReader
from app.reader.ranking.candidates import Candidate
from app.reader.ranking.ranker import answer_of
from evaluation.bench.bench import Bench
from evaluation.bench.question_sets import Show
from evaluation.natural.run import CLINIC, GRAPHS
from evaluation.natural.verdicts import NaturalQuestion, judge, read_natural
from evaluation.understanding.domains import domains
from evaluation.understanding.run import ask, load, new_dialogue

EVERY: Final = 4
"""Of the natural questions, which are many for few graphs, this one in so many is used."""
MAX_TRIED: Final = 15
"""Greatest number of results of one question that are judged, those of the best scores first; limits the time."""
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
class ForcedRanker:
    """A ranker that chooses the reading number `chosen` (none if it is -1).

    It keeps what it was first asked to rank after `begin`: the question itself, and none that is tried after it.
    """

    chosen: int = -1
    candidates: Sequence[Candidate] = field(default=(), repr=False)
    features: Sequence[Mapping[str, float]] = field(default=(), repr=False)

    def begin(self, chosen: int) -> None:
        """Forgets what was ranked, and chooses another reading from now on."""
        self.chosen, self.candidates, self.features = chosen, (), ()

    def chances(self, candidates: Sequence[Candidate], features: Sequence[Mapping[str, float]]) -> list[float]:
        if not self.candidates:
            self.candidates, self.features = candidates, features
        return [float(at == self.chosen) for at in range(len(candidates))]


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
    ranker = ForcedRanker()
    _reader(bench).ranker = ranker
    for number, question in enumerate(questions):
        show(f"{graph}, readings", number, len(questions))
        if question.gold.type in _UNFIT:
            continue
        ranker.begin(-1)
        await ask(bench, new_dialogue(graph), question.question)
        candidates, features = ranker.candidates, tuple(ranker.features)
        if not candidates:
            continue
        results, verdicts = [-1] * len(candidates), dict[int, bool]()
        for at, alike in enumerate(islice(_by_result(candidates), MAX_TRIED)):
            ranker.begin(alike[0])
            answer = await ask(bench, new_dialogue(graph), question.question)
            given = answer is not None and answer.answered and question.gold.type != "unanswerable"
            verdicts[at] = given and judge(question, answer) == "right"
            for each in alike:
                results[each] = at
        tried = [at for at, result in enumerate(results) if result in verdicts]
        yield RankingExample(
            graph,
            tuple(features[at] for at in tried),
            tuple(verdicts[results[at]] for at in tried),
            tuple(results[at] for at in tried),
        )


def _by_result(candidates: Sequence[Candidate]) -> Iterator[list[int]]:
    """Yields the positions of the readings that have one result, the first reading's first."""
    groups: dict[object, list[int]] = {}
    for at, each in enumerate(candidates):
        groups.setdefault(answer_of(each), []).append(at)
    yield from groups.values()
