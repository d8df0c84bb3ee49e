"""Values: numbers, dates and texts guessed from their pseudonyms, generalised forms, and from sizes and orders."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from client_sdk.protocol import StrategyName
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.exchanges import exchange_all
from evaluation.attacks.setup.targets import AML, OPENLY, TITLES, AttackTarget, AttackTargets, load_text
from evaluation.attacks.values.guesses import (
    Observation,
    by_dictionary,
    by_generalised_forms,
    by_orders_and_sizes,
    forms_of,
    in_base_36,
    seen_in,
)
from evaluation.attacks.values.questions import (
    ValueProbe,
    asked_of,
    conversations,
    greatest_first,
    made_up_graph,
    made_up_policy,
)
from evaluation.bench.question_sets import DEMO
from kg_store.terms import ValueKind

POINTS = 0.02
MADE_UP = "made up"
TALKS = {MADE_UP: 100, "demo": 30, "aml": 60}
"""Conversations for each relation, six values in each."""

GREATEST = 20
_SEED = 43
_RELATIONS = 5


@dataclass(frozen=True, slots=True)
class ObservedRelation:
    """The observations of one relation's values, and what is known of them."""

    asked: ValueProbe
    seen: list[Observation] = field(repr=False)


async def values(targets: AttackTargets) -> list[Attempted]:
    """As it is by default, within bounds; then openly, where a line says that its end is a value, with controls."""
    lines: list[Attempted] = []
    for title, target in (await _graphs(targets, {})).items():
        lines += guessed(await _read(targets, target, title), title)
    for title, target in (await _graphs(targets, OPENLY)).items():
        read = await _read(targets, target, title)
        lines += [line.unbound() for line in guessed(read, f"{title}, openly")]
        if title == MADE_UP:
            lines += controls(read)
            in_dialogue = guessed(await _read(targets, target, title, "dialogue"), f"{title}, openly, by dialogue")
            lines += [line.unbound() for line in in_dialogue]
            lines.append(await _told_by_the_dialogue(targets, target, read))
    return lines


async def _graphs(targets: AttackTargets, changes: Mapping[str, object]) -> dict[str, AttackTarget]:
    demo = await targets.open(DEMO, "scripted", changes)
    made_up = load_text(demo.bench, "made-up.ttl", made_up_graph(), made_up_policy())
    graphs = {MADE_UP: replace(demo, loaded=made_up, _recorded=[]), TITLES[DEMO]: demo}
    return graphs | {TITLES[source]: await targets.open(source, "scripted", changes) for source in targets.among(AML)}


def guessed(read: Sequence[ObservedRelation], title: str) -> list[Attempted]:
    """Each way to guess, over all relations of one graph, beside the most frequent value."""
    blind = prior(read)
    return [
        Attempted.of(f"{title}, values by {name}", right(read, guess), blind=blind, most=blind + POINTS, least=100)
        for name, guess in WAYS.items()
    ]


def controls(read: Sequence[ObservedRelation]) -> list[Attempted]:
    """The same attacks where pseudonyms and lines follow the values: they have to succeed."""
    return [
        _control(read, "digests of values as pseudonyms", "dictionary", 0.9, _as_digest),
        _control(read, "pseudonyms numbered in the order of values", "orders and sizes", 0.5, _as_number),
        _control(read, "lines as long as values", "orders and sizes", 0.3, _as_long, ValueKind.TEXT),
        _control(read, "years shown", "generalised forms", 0.1, _with_year, ValueKind.DATE),
    ]


def prior(read: Sequence[ObservedRelation]) -> float:
    """The share of those seen that are the most frequent value of their relation."""
    found = right(read, lambda each: [each.asked.spread.most_common(1)[0][0]] * len(each.seen))
    return sum(found) / max(1, len(found))


def right(read: Sequence[ObservedRelation], guess: Callable[[ObservedRelation], Sequence[int]]) -> list[bool]:
    return [guessed == one.truth for each in read for guessed, one in zip(guess(each), each.seen, strict=True)]


WAYS: dict[str, Callable[[ObservedRelation], Sequence[int]]] = {
    "dictionary": lambda each: by_dictionary(each.seen, each.asked.spread, each.asked.texts),
    "generalised forms": lambda each: by_generalised_forms(each.seen, each.asked.spread, each.asked.texts),
    "orders and sizes": lambda each: by_orders_and_sizes(each.seen, each.asked.spread, _ranks_of(each.asked)),
}


async def _read(
    targets: AttackTargets, target: AttackTarget, title: str, strategy: StrategyName = "sets"
) -> list[ObservedRelation]:
    found, count = [], targets.at_most(TALKS[title])
    every = sorted(asked_of(target.bench.graph(target.loaded), _SEED), key=lambda each: -len(each.holders))
    for asked in every[:_RELATIONS]:
        progress = targets.counter(f"{title}, values of one relation", count)
        exchanges = await exchange_all(target, conversations(asked, count, _SEED), strategy, progress)
        found.append(ObservedRelation(asked, seen_in(exchanges, asked.relation.label)))
    return found


async def _told_by_the_dialogue(
    targets: AttackTargets, target: AttackTarget, read: Sequence[ObservedRelation]
) -> Attempted:
    """No bound: what a question says in plain words, and its answer behind it, no pseudonym can take back."""
    asked = next(each.asked for each in read if each.asked.relation.value_kind is ValueKind.NUMBER)
    exchanges = await exchange_all(target, greatest_first(asked, targets.at_most(GREATEST)))
    seen = seen_in(exchanges, asked.relation.label)
    greatest = max(asked.texts, key=lambda mid: order_of(asked, mid))
    name = "made up, the greatest value, where the dialogue asks for it"
    blind = prior([ObservedRelation(asked, seen)])
    return Attempted.of(name, (each.truth == greatest for each in seen), blind=blind, most=1.0)


def _control(
    read: Sequence[ObservedRelation],
    name: str,
    way: str,
    least: float,
    change: Callable[[ValueProbe, Observation], Observation],
    kind: ValueKind | None = None,
) -> Attempted:
    chosen = [each for each in read if kind in (None, each.asked.relation.value_kind)]
    leaky = [ObservedRelation(each.asked, [change(each.asked, one) for one in each.seen]) for each in chosen]
    return Attempted.of(f"{name}: values by {way}", right(leaky, WAYS[way]), blind=prior(leaky), control=least)


def _as_digest(asked: ValueProbe, one: Observation) -> Observation:
    digest = hashlib.sha256(asked.texts[one.truth].encode()).hexdigest()
    return replace(one, word=f"V{digest[:5]}")


def _as_number(asked: ValueProbe, one: Observation) -> Observation:
    """Numbered over the whole graph, in the order of the values."""
    return replace(one, word=f"V{in_base_36(_ranks_of(asked)[one.truth]).zfill(5)}")


def _as_long(asked: ValueProbe, one: Observation) -> Observation:
    return replace(one, row=one.row + len(asked.texts[one.truth]))


def _with_year(asked: ValueProbe, one: Observation) -> Observation:
    *_, year, _decade = forms_of(asked.texts[one.truth])
    return replace(one, tokens=one.tokens | {year})


def _ranks_of(asked: ValueProbe) -> dict[int, int]:
    ordered = sorted(asked.texts, key=lambda mid: order_of(asked, mid))
    return {mid: rank for rank, mid in enumerate(ordered)}


def order_of(asked: ValueProbe, mid: int) -> tuple[float, str]:
    """Numbers first; what a relation of numbers holds that is none comes behind them, as texts do."""
    text = asked.texts[mid]
    try:
        return (float(text), "") if asked.relation.value_kind is ValueKind.NUMBER else (math.inf, text)
    except ValueError:
        return math.inf, text
