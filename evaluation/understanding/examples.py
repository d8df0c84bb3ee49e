"""Gathers readings with the verdict on each: the result of every reading is compared with the right answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import Any, Final, cast

from app.demo import POLICY_FILE
from app.language.protocol import Language
from app.language.readings import LikelyReadings
from app.llm.tasks import StepInput
from app.reader.ranking.candidates import candidates_of
from app.reader.ranking.clues import ReadingFeatures
from app.reader.ranking.features import features_of
from app.reader.ranking.ranker import result_key
from app.reader.scoring.path_scoring import PathScorer
from app.strategies.base import RetrievalResult, Strategy, StrategyInput
from evaluation.bench.bench import TENANT, Bench
from evaluation.bench.question_sets import Show
from evaluation.checks.metrics import comparable
from evaluation.natural.run import CLINIC, GRAPHS
from evaluation.natural.verdicts import Gold, NaturalQuestion, read_natural, same_text
from evaluation.understanding.domains import AskedDialogue, domains
from evaluation.understanding.run import ask, load, new_dialogue
from kg_store.algebra.expressions import ExpressionResult
from kg_store.catalog import PrivateGraph

EVERY: Final = 3
"""Of the natural questions, which are many for few graphs, this one in so many is used."""
_UNFIT: Final = frozenset({"smalltalk", "describe"})


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A question of the graph `group` with the features of each reading, and whether its answer is right.

    No reading is right for a question that the graph can't answer, and for one that is read in no right way.
    `results`: readings of one number give the same; it is negative for those that give nothing.
    """

    group: str
    features: tuple[ReadingFeatures, ...]
    is_right: tuple[bool, ...]
    results: tuple[int, ...] = ()


@dataclass(slots=True)
class WatchedStrategy:
    """A strategy that also ranks and executes the readings of each question that `inner` is given.

    `seen` are the readings of the first question since it was emptied, and not of what the service tries after it.
    """

    inner: Strategy
    scorer: PathScorer
    seen: list[tuple[ReadingFeatures, ExpressionResult | None]] = field(default_factory=list, repr=False)

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        language = _WatchedLanguage(inquiry.language, self, inquiry.result_of)
        return await self.inner.find(replace(inquiry, language=cast(Language, language)))


@dataclass(frozen=True, slots=True)
class _WatchedLanguage:
    """Does what `inner` does, and shows the strategy `watch` what it is asked to rank."""

    inner: Language
    watch: WatchedStrategy
    result_of: Callable[[str], ExpressionResult | None]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def likely_readings(self, given: StepInput, result_of: Callable[[str], ExpressionResult | None]) -> LikelyReadings:
        if not self.watch.seen:
            candidates = candidates_of(self.watch.scorer, given)
            features = features_of(self.watch.scorer, given, candidates)
            self.watch.seen += [
                (told, self.result_of(each.text)) for told, each in zip(features, candidates, strict=True)
            ]
        return self.inner.likely_readings(given, result_of)


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
                talks = [*map(_alone, domain.questions), *(_turns(each, domain.name) for each in domain.dialogues)]
                found += [each async for each in _examples(bench, domain.name, talks, show)]
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
            found += [each async for each in _examples(bench, graph, [*map(_alone, mine)], show)]
    return found


_Talk = Sequence[tuple[str, NaturalQuestion | None]]
"""The turns of one dialogue, in their order, with the question that each asks; None if it asks nothing factual."""


def _alone(question: NaturalQuestion) -> _Talk:
    return [(question.question, question if question.gold.type not in _UNFIT else None)]


def _turns(dialogue: AskedDialogue, graph: str) -> _Talk:
    return [(turn.text, each) for turn, each in zip(dialogue.turns, dialogue.questions(graph), strict=True)]


def written(examples: Sequence[RankingExample], file: Path) -> None:
    """Writes examples as JSON."""
    names = sorted(
        {name for each in examples for reading in each.features for name in (*reading.numbers, *reading.pairs)}
    )
    at = {name: number for number, name in enumerate(names)}
    told = [
        {
            "group": each.group,
            "features": [
                [[at[name], value] for name, value in one.numbers.items() if value] + [at[pair] for pair in one.pairs]
                for one in each.features
            ],
            "is_right": each.is_right,
            "results": each.results,
        }
        for each in examples
    ]
    file.write_text(json.dumps({"names": names, "examples": told}), encoding="utf-8")


def read(file: Path) -> list[RankingExample]:
    """Reads the examples that `written` wrote; numbers that are 0 are left out."""
    told = json.loads(file.read_text("utf-8"))
    names = list(map(intern, told["names"]))

    def features(parts: Sequence[int | list[float]]) -> ReadingFeatures:
        numbers = {names[int(part[0])]: part[1] for part in parts if isinstance(part, list)}
        return ReadingFeatures(numbers, tuple(names[part] for part in parts if isinstance(part, int)))

    return [
        RankingExample(
            each["group"], tuple(map(features, each["features"])), tuple(each["is_right"]), tuple(each["results"])
        )
        for each in told["examples"]
    ]


async def _examples(bench: Bench, graph: str, talks: Sequence[_Talk], show: Show) -> AsyncIterator[RankingExample]:
    strategies = cast(dict[str, Strategy], bench.services.thinking.strategies)
    watched = WatchedStrategy(strategies["sets"], bench.scorer)
    strategies["sets"] = watched
    opened = bench.services.store.catalog.open(TENANT, graph)
    for number, talk in enumerate(talks):
        show(f"{graph}, readings", number, len(talks))
        dialogue = new_dialogue(graph)
        for text, question in talk:
            watched.seen.clear()
            await ask(bench, dialogue, text)
            if watched.seen and question is not None:
                is_right = tuple(_is_right(question, result, opened) for _, result in watched.seen)
                results = [result for _, result in watched.seen]
                yield RankingExample(graph, tuple(told for told, _ in watched.seen), is_right, _numbered(results))
    strategies["sets"] = watched.inner


def _numbered(results: Sequence[ExpressionResult | None]) -> tuple[int, ...]:
    """Returns one number for equal results, and a negative one for each that is nothing."""
    known: dict[object, int] = {}
    return tuple(
        -1 - at if each is None else known.setdefault(result_key(each), len(known)) for at, each in enumerate(results)
    )


def _is_right(question: NaturalQuestion, result: ExpressionResult | None, graph: PrivateGraph) -> bool:
    """Returns True if a reading's result is the right answer, or another one that is reasonable."""
    return result is not None and any(_equals(gold, result, graph) for gold in question.golds)


def _equals(gold: Gold, result: ExpressionResult, graph: PrivateGraph) -> bool:
    if gold.type == "unanswerable":
        return False
    if result.truth is not None:
        return gold.type == "boolean" and [text.lower() in ("yes", "true") for text in gold.texts] == [result.truth]
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
