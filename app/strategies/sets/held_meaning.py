"""A question about a graph that declares no kinds, read as a whole: chains, joins, extremes, ranges, comparisons.

Where kinds are guesses and relations many, a question has many readings, and most of them give nothing in the graph.
Only readings that give something are taken. Promise: they are for the reasoner inside the service alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from app.llm.embedded.meaning.answer_forms import Meaning
from app.llm.embedded.meaning.in_context import Meanings, nearest_in_context
from app.llm.embedded.meaning.read_meaning import MIN_MARGIN, NO_OTHER, meanings, scores_of
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embeddings.embedder import Embedder
from app.llm.in_house import HeldMeaning
from app.llm.tasks import StepInput
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from app.strategies.schema_view import own_steps
from app.strategies.sets.said_schema import SaidLabels, SaidSchema
from app.strategies.sets.voted_ways import WalkedWay
from app.strategies.start import is_wide
from kg_store.algebra.evaluator import ExpressionResult
from kg_store.text.further_words import words_of_kinds, words_of_steps

MAX_TRIED: Final = 60
"""Readings of one question that are executed."""
MAX_HELD: Final = 12
MIN_SHARED: Final = 0.5
"""Two readings that have so much in common, of what the smaller one gives, don't contradict each other."""
_LABEL: Final = re.compile(r'"([^"]*)"')
_BOUNDED: Final = re.compile(r'filter\((\w{6}), "[^"]*", [<>]')
_CHOOSING: Final = re.compile(r"(?!reach|intersect|union)\b[a-z]+\(")
_ONE_STEP: Final = re.compile(r'reach\([ES]\w{5}, "[^"]*"\)')


def held_meaning(
    inquiry: StrategyInput,
    embedder: Embedder,
    scorer: PathScorer,
    places: Sequence[NodeSet],
    ways: Sequence[WalkedWay],
) -> HeldMeaning | None:
    """The best reading that leaves no word over and gives something; None without one, and where it is a single step
    from one thing, which other roads know better."""
    labels = SaidLabels.of(inquiry, embedder)
    # In small schemas paths of several steps are ranked better than they are read.
    if not labels.is_compound(with_chains=is_wide(inquiry.graph.schema)):
        return None
    said = SaidSchema.of(inquiry, labels, places, ways)
    given = StepInput(
        question=inquiry.dialogue.question,
        things=list(said.things),
        evidence=[],
        candidates=[],
        steps=said.steps,
        kinds=said.kinds,
        own=own_steps(inquiry, places),
        wordings=dict(words_of_steps(inquiry.graph.schema)),
        kind_words=dict(words_of_kinds(inquiry.graph.schema)),
    )
    for found in meanings(scorer, given):
        held = list(islice(_held(inquiry, found, places), MAX_HELD))
        meant = _meant(scorer, found, held) if held else None
        if meant is not None:
            return None if _ONE_STEP.fullmatch(meant.expression) else meant
    return None


@dataclass(frozen=True, slots=True)
class _HeldReading:
    meaning: Meaning
    result: ExpressionResult

    def agrees(self, other: _HeldReading) -> bool:
        """True where both give much the same."""
        ours, theirs = set(self.result.mids), set(other.result.mids)
        if ours and theirs:
            return len(ours & theirs) >= MIN_SHARED * min(len(ours), len(theirs))
        return self.result == other.result


def _meant(scorer: PathScorer, found: Meanings, held: Sequence[_HeldReading]) -> HeldMeaning | None:
    best = held[0]
    rival = next((each for each in held[1:] if not best.agrees(each)), None)
    margin = best.meaning.score - rival.meaning.score if rival else NO_OTHER
    if _is_whole(found, best.meaning) and margin >= MIN_MARGIN:
        return HeldMeaning(best.meaning.expression, scores_of(best.meaning, margin))
    nearest = nearest_in_context(scorer, replace(found, ranked=[each.meaning for each in held]))
    if nearest is None or not _is_whole(found, nearest.meaning):
        return None
    return HeldMeaning(nearest.meaning.expression, scores_of(nearest.meaning, nearest.margin, nearest.likeness))


def _is_whole(found: Meanings, meaning: Meaning) -> bool:
    """True where it leaves no word over. Steps that no word says join things that are named; from one alone they lead
    anywhere."""
    silent = found.asked.form != "things" or meaning.silent < found.asked.roles.count("thing")
    return meaning.may_be_whole and not meaning.left and silent


def _held(inquiry: StrategyInput, found: Meanings, places: Sequence[NodeSet]) -> Iterator[_HeldReading]:
    """The readings that give something, best first, one of each sense. What is named itself is nothing to ask for."""
    shown = {hop.label: hop.shown for hop in found.graph.hops}
    tried: dict[object, list[Meaning]] = {}
    readings = (each for each in found.ranked if not _bounds_a_thing(each.expression, found))
    for each in islice(readings, MAX_TRIED):
        tried.setdefault(_in_words(each.expression, shown), []).append(each)
    named = {mid for place in places for mid in place.mids.tolist()}
    for alike in tried.values():
        held = [(each, result) for each in alike if (result := _result(inquiry, each.expression)) is not None]
        if held and not (found.asked.form == "things" and named.intersection(held[0][1].mids)):
            yield _together(inquiry, held)


def _bounds_a_thing(expression: str, found: Meanings) -> bool:
    """True where what is asked of other things narrows one that the question names: "films by the director of X after
    2005"."""
    return found.asked.form != "truth" and any(name in found.kinds for name in _BOUNDED.findall(expression))


def _result(inquiry: StrategyInput, expression: str) -> ExpressionResult | None:
    """None where there is nothing, nor any number of things."""
    result = inquiry.result_of(expression)
    return None if result is None or result.number == 0 else result


def _together(inquiry: StrategyInput, held: Sequence[tuple[Meaning, ExpressionResult]]) -> _HeldReading:
    """One set of all that relations of the same words give; each source may have one of its own."""
    meaning, result = held[0]
    plain = [each.expression for each, given in held if given.mids and not _CHOOSING.search(each.expression)]
    both = inquiry.result_of(f"union({', '.join(plain)})") if len(plain) > 1 else None
    if both is None:
        return _HeldReading(meaning, result)
    return _HeldReading(replace(meaning, expression=f"union({', '.join(plain)})"), both)


def _in_words(expression: str, shown: Mapping[str, str]) -> str:
    return _LABEL.sub(lambda label: f'"{shown.get(label[1], label[1])}"', expression)
