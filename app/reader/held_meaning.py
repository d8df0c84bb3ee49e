"""Readings of a question about a graph that declares no kinds: chains, joins, extremes, ranges, comparisons.

Where kinds are guesses and relations many, a question has many readings, and most of them give nothing in the graph.
Only readings that give something are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from app.llm.in_house import HeldMeaning
from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import Meanings, nearest_in_context
from app.reader.meaning.read_meaning import MIN_MARGIN, NO_OTHER, meanings, scores_of
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import ExpressionResult, parse, with_relations, written
from kg_store.errors import ExpressionError

MAX_TRIED: Final = 60
"""Readings of one question that are executed."""
MAX_HELD: Final = 12
MIN_SHARED: Final = 0.5
"""Two readings that have so much in common, of what the smaller one gives, don't contradict each other."""
MIN_MARGIN_OF_CHAIN: Final = 0.3
"""From one thing a single step is likely as well."""
_LABEL: Final = re.compile(r'"([^"]*)"')
_BOUNDED: Final = re.compile(r'filter\((\w{6}), "[^"]*", [<>]')
_ONE_STEP: Final = re.compile(r'(?:union\()?reach\([ES]\w{5}, "[^"]*"\)(?:, reach\([ES]\w{5}, "[^"]*"\))*\)?')


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """All that executing tells of a reading.

    `alike` holds the labels of the same words as each label, `named` the ids of what the question names, `result_of`
    executes an expression.
    """

    alike: Mapping[str, Sequence[str]]
    named: Collection[int]
    result_of: Callable[[str], ExpressionResult | None]


def held_meaning(scorer: PathScorer, given: StepInput, known: KnownGraph) -> HeldMeaning | None:
    """The best reading that leaves no word over and gives something; None without one, and where it is a single step
    from one thing, which other roads know better."""
    for found in meanings(scorer, given):
        held = list(islice(_held(found, known), MAX_HELD))
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
    is_chain = found.asked.form == "things" and found.anchors == 1
    if _is_whole(found, best.meaning) and margin >= (MIN_MARGIN_OF_CHAIN if is_chain else MIN_MARGIN):
        return HeldMeaning(best.meaning.expression, scores_of(best.meaning, margin))
    if is_chain:
        return None
    nearest = nearest_in_context(scorer, replace(found, ranked=[each.meaning for each in held]))
    if nearest is None or not nearest.is_near or not _is_whole(found, nearest.meaning):
        return None
    return HeldMeaning(nearest.meaning.expression, nearest.scores)


def _is_whole(found: Meanings, meaning: Meaning) -> bool:
    """True where it leaves no word over. Steps that no word says join things that are named; from one alone they lead
    anywhere."""
    silent = found.asked.form != "things" or meaning.silent < found.anchors
    return meaning.may_be_whole and not meaning.left and silent


def _held(found: Meanings, known: KnownGraph) -> Iterator[_HeldReading]:
    """The readings that give something, best first. What is named itself is nothing to ask for."""
    readings = (each for each in found.ranked if not _bounds_a_thing(each.expression, found))
    for each in islice(readings, MAX_TRIED):
        held = next(filter(None, (_read(each, text, known) for text in _worded(each.expression, known))), None)
        if held and not (found.asked.form == "things" and _gives_what_is_named(held, known)):
            yield held


def _gives_what_is_named(held: _HeldReading, known: KnownGraph) -> bool:
    """True where nothing else is given, or where the way led there and back."""
    labels, given = set(_LABEL.findall(held.meaning.expression)), set(held.result.mids)
    if any(f"^{label}" in labels for label in labels):
        return bool(given.intersection(known.named))
    return bool(given) and given.issubset(known.named)


def _worded(expression: str, known: KnownGraph) -> Iterator[str]:
    """`expression`, and with another relation of the same words: which of them a source wrote its values under."""
    yield expression
    for label in dict.fromkeys(_LABEL.findall(expression)):
        for other in known.alike.get(label, ()):
            yield expression.replace(f'"{label}"', f'"{other}"')


def _bounds_a_thing(expression: str, found: Meanings) -> bool:
    """True where what is asked of other things narrows one that the question names: "films by the director of X after
    2005"."""
    return found.asked.form != "truth" and any(name in found.kinds for name in _BOUNDED.findall(expression))


def _read(meaning: Meaning, text: str, known: KnownGraph) -> _HeldReading | None:
    """None where there is nothing, nor any number of things. All that relations of the same words lead to is one
    set. Nor is there a reading of more parts than an expression may have."""
    try:
        expression = written(with_relations(parse(text), known.alike))
    except ExpressionError:
        return None
    result = known.result_of(expression)
    if result is None or result.number == 0:
        return None
    return _HeldReading(replace(meaning, expression=expression), result)
