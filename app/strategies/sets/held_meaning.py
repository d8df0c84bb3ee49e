"""Reads a question on a graph without declared kinds as a whole: chains, joins, extremes, ranges, comparisons.

With guessed kinds and many relations a question has many readings, most of which have no result. Only those with a
result are kept. Promise: readings are used by the reasoner inside the service only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from app.llm.in_house import HeldMeaning
from app.llm.tasks import StepInput
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.in_context import Meanings, nearest_in_context
from app.reader.meaning.read_meaning import MIN_MARGIN, NO_OTHER, meanings, scores_of
from app.reader.said_labels import SaidLabels
from app.reader.scoring.path_scoring import PathScorer
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from app.strategies.sets.said_schema import SaidSchema
from app.strategies.sets.voted_ways import WalkedWay
from kg_store.algebra.evaluator import ExpressionResult
from kg_store.algebra.expressions import parse
from kg_store.algebra.rewriting import with_relations, written
from kg_store.errors import ExpressionError
from kg_store.text.further_words import words_of_kinds, words_of_steps

MAX_TRIED: Final = 60
"""The greatest number of readings of one question that are executed. Chosen by hand; not fitted."""
# Readings with a result that are compared; bounds the time. Chosen by hand.
MAX_HELD: Final = 12
MIN_SHARED: Final = 0.5
"""Two results that share this part of the smaller one do not contradict each other. Chosen by hand; not fitted."""
MIN_MARGIN_OF_CHAIN: Final = 0.3
"""The lead that a chain from one thing needs, because a single step is likely as well. Chosen by hand; not fitted."""
_LABEL: Final = re.compile(r'"([^"]*)"')
_BOUNDED: Final = re.compile(r'filter\((\w{6}), "[^"]*", [<>]')
_ONE_STEP: Final = re.compile(r'(?:union\()?reach\([ES]\w{5}, "[^"]*"\)(?:, reach\([ES]\w{5}, "[^"]*"\))*\)?')


def held_meaning(
    inquiry: StrategyInput,
    scorer: PathScorer,
    labels: SaidLabels,
    places: Sequence[NodeSet],
    ways: Sequence[WalkedWay],
) -> HeldMeaning | None:
    """Returns the best reading that explains every word and has a result, else None.

    Also None for a single step from one thing, which other methods read better.
    """
    said = SaidSchema.of(inquiry, labels, places, ways)
    given = StepInput(
        question=inquiry.dialogue.question,
        things=list(said.things),
        evidence=[],
        candidates=[],
        steps=said.steps,
        kinds=said.kinds,
        own=dict(said.own),
        wordings=dict(words_of_steps(inquiry.graph.schema)),
        kind_words=dict(words_of_kinds(inquiry.graph.schema)),
    )
    for found in meanings(scorer, given):
        held = list(islice(_held(inquiry, found, said), MAX_HELD))
        meant = _meant(scorer, found, held) if held else None
        if meant is not None:
            is_step = _ONE_STEP.fullmatch(meant.expression)
            return None if is_step else replace(meant, expression=said.with_pseudonyms(inquiry, meant.expression))
    return None


@dataclass(frozen=True, slots=True)
class _HeldReading:
    meaning: Meaning
    result: ExpressionResult

    def agrees(self, other: _HeldReading) -> bool:
        """True if both results largely agree."""
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
    if nearest is None or not _is_whole(found, nearest.meaning):
        return None
    return HeldMeaning(nearest.meaning.expression, scores_of(nearest.meaning, nearest.margin, nearest.likeness))


def _is_whole(found: Meanings, meaning: Meaning) -> bool:
    """True if the meaning explains every word, and steps that no word says only join named things."""
    silent = found.asked.form != "things" or meaning.silent < found.anchors
    return meaning.may_be_whole and not meaning.left and silent


def _held(inquiry: StrategyInput, found: Meanings, said: SaidSchema) -> Iterator[_HeldReading]:
    """Readings with a result, best first; results that the question itself names are left out."""
    readings = (each for each in found.ranked if not _bounds_a_thing(each.expression, found))
    for each in islice(readings, MAX_TRIED):
        held = next(filter(None, (_read(inquiry, each, text, said) for text in _worded(each.expression, said))), None)
        if held and not (found.asked.form == "things" and _gives_what_is_named(held, said)):
            yield held


def _gives_what_is_named(held: _HeldReading, said: SaidSchema) -> bool:
    """True if the result holds only named things, or a path that leads back holds one."""
    labels, given = set(_LABEL.findall(held.meaning.expression)), set(held.result.mids)
    if any(f"^{label}" in labels for label in labels):
        return bool(given & said.named)
    return bool(given) and given <= said.named


def _worded(expression: str, said: SaidSchema) -> Iterator[str]:
    """`expression`, and variants with another relation of the same words, since sources store values under either."""
    yield expression
    for label in dict.fromkeys(_LABEL.findall(expression)):
        for other in said.alike.get(label, ()):
            yield expression.replace(f'"{label}"', f'"{other}"')


def _bounds_a_thing(expression: str, found: Meanings) -> bool:
    """True if a comparison applies to a thing that the question names, as in "films by the director of
    X after 2005".
    """
    return found.asked.form != "truth" and any(name in found.kinds for name in _BOUNDED.findall(expression))


def _read(inquiry: StrategyInput, meaning: Meaning, text: str, said: SaidSchema) -> _HeldReading | None:
    """Executes a reading; None if it has no result, counts 0, or is too long.

    Relations with the same words are merged into one set.
    """
    try:
        expression = written(with_relations(parse(text), said.alike))
    except ExpressionError:
        return None
    result = inquiry.result_of(said.with_pseudonyms(inquiry, expression))
    if result is None or result.number == 0:
        return None
    return _HeldReading(replace(meaning, expression=expression), result)
