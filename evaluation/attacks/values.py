"""Values: guess numbers, dates and texts from their pseudonyms, their generalised forms, and from sizes and orders.

A generated graph with values, the demo and `aml.ttl` are asked about values: one, several, compared, sorted, filtered
and grouped.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from client_sdk.protocol import StrategyName
from evaluation.attacks.exchanges import exchange_all
from evaluation.attacks.targets import AML, OPENLY, TITLES, AttackTarget, AttackTargets, Attempted, dice_of, load_text
from evaluation.attacks.value_guesses import (
    Observation,
    by_dictionary,
    by_generalised_forms,
    by_orders_and_sizes,
    forms_of,
    in_base_36,
    seen_in,
)
from evaluation.bench.question_sets import DEMO
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import concept_of
from kg_store.sources.policy import Policy, RelationPolicy
from kg_store.storage.vault import NO_NAME, readable_name
from kg_store.terms import Hop, Relation, RelationId, ValueKind, ValueView

POINTS = 0.02
MADE_UP = "made up"
TALKS = {MADE_UP: 100, "demo": 30, "aml": 60}
"""The number of conversations for each relation, by graph; each asks for six values."""

GREATEST = 20
_SEED = 43
_RELATIONS = 5
PEOPLE = 240
MAX_HOLDERS = 400
SINGLE, AT_ONCE = 3, 3
_MIN_HOLDERS = 20
_ALL, _LETTERS = "A", "ABCDEFGH"
_GRAPH_SEED = 41
_HOUSE = "http://staff.invalid/"
_SYLLABLES = "bra den fi gor hul jas kem lun mor nid pol quo rus tam vex zor".split()
_HEAD = f"""@prefix : <{_HOUSE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@dataclass(frozen=True, slots=True)
class ValueProbe:
    """A relation that leads to values, with what the attacker knows of it.

    `holders` maps the name of each thing that has exactly one value to this value, which the attacker does not know.
    `spread` counts how often each value is held in the graph; `texts` are the values by MID.
    """

    relation: Relation
    concept: str
    holders: Mapping[str, int] = field(repr=False)
    spread: Counter[int] = field(repr=False)
    texts: Mapping[int, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ObservedRelation:
    """The observations of one relation's values, with the relation and what is known of it."""

    asked: ValueProbe
    seen: list[Observation] = field(repr=False)


async def values(targets: AttackTargets) -> list[Attempted]:
    """Attacks with the default profile, within bounds; then with the open profile, unbounded, and with controls."""
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
    """Returns a line for each way to guess, over all relations of one graph.

    The blind guess is the commonest value of the relation.
    """
    blind = prior(read)
    return [
        Attempted.of(f"{title}, values by {name}", right(read, guess), blind=blind, most=blind + POINTS, least=100)
        for name, guess in WAYS.items()
    ]


def controls(read: Sequence[ObservedRelation]) -> list[Attempted]:
    """Runs the attacks on observations that leak the values on purpose; they must succeed."""

    def as_digest(asked: ValueProbe, one: Observation) -> Observation:
        return replace(one, word=f"V{hashlib.sha256(asked.texts[one.truth].encode()).hexdigest()[:5]}")

    def as_number(asked: ValueProbe, one: Observation) -> Observation:
        """Returns the observation with the rank of its value in the graph as pseudonym, which leaks the order."""
        return replace(one, word=f"V{in_base_36(_ranks_of(asked)[one.truth]).zfill(5)}")

    def as_long(asked: ValueProbe, one: Observation) -> Observation:
        return replace(one, row=one.row + len(asked.texts[one.truth]))

    def with_year(asked: ValueProbe, one: Observation) -> Observation:
        *_, year, _decade = forms_of(asked.texts[one.truth])
        return replace(one, tokens=one.tokens | {year})

    found = []
    for name, change, way, least, kind in (
        ("digests of values as pseudonyms", as_digest, "dictionary", 0.9, None),
        ("pseudonyms numbered in the order of values", as_number, "orders and sizes", 0.5, None),
        ("lines as long as values", as_long, "orders and sizes", 0.3, ValueKind.TEXT),
        ("years shown", with_year, "generalised forms", 0.1, ValueKind.DATE),
    ):
        chosen = [each for each in read if kind in (None, each.asked.relation.value_kind)]
        leaky = [ObservedRelation(each.asked, [change(each.asked, one) for one in each.seen]) for each in chosen]
        found.append(
            Attempted.of(f"{name}: values by {way}", right(leaky, WAYS[way]), blind=prior(leaky), control=least)
        )
    return found


def prior(read: Sequence[ObservedRelation]) -> float:
    """Returns the share of observations whose value is the most frequent one of its relation."""
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
    """Guesses the greatest value where the dialogue asks for it, without a bound: the question itself reveals it."""
    asked = next(each.asked for each in read if each.asked.relation.value_kind is ValueKind.NUMBER)
    exchanges = await exchange_all(target, greatest_first(asked, targets.at_most(GREATEST)))
    seen = seen_in(exchanges, asked.relation.label)
    greatest = max(asked.texts, key=lambda mid: order_of(asked, mid))
    name = "made up, the greatest value, where the dialogue asks for it"
    blind = prior([ObservedRelation(asked, seen)])
    return Attempted.of(name, (each.truth == greatest for each in seen), blind=blind, most=1.0)


def _ranks_of(asked: ValueProbe) -> dict[int, int]:
    ordered = sorted(asked.texts, key=lambda mid: order_of(asked, mid))
    return {mid: rank for rank, mid in enumerate(ordered)}


def order_of(asked: ValueProbe, mid: int) -> tuple[float, str]:
    """Returns a sort key: numbers by value, and after them everything that is not a number, as text."""
    text = asked.texts[mid]
    try:
        return (float(text), "") if asked.relation.value_kind is ValueKind.NUMBER else (math.inf, text)
    except ValueError:
        return math.inf, text


def asked_of(graph: PrivateGraph, seed: int) -> list[ValueProbe]:
    """Returns a probe for every relation to numbers, dates or texts that enough uniquely named things have."""
    found = (_asked(graph, relation, seed) for relation in graph.blind.schema.relations)
    return [asked for asked in found if asked is not None and len(asked.holders) >= _MIN_HOLDERS]


def conversations(asked: ValueProbe, count: int, seed: int) -> list[Question]:
    """Makes `count` conversations: first a question with an order or an amount, then questions for values."""
    draw = dice_of(f"{seed} {asked.relation.label}")
    found = []
    for number in range(count):
        names = draw.sample(sorted(asked.holders), SINGLE + AT_ONCE)
        openings = list(_openings(asked, names, draw))
        values = [_values_of(asked, [name]) for name in names[:SINGLE]]
        turns = [draw.choice(openings), *values, _values_of(asked, names[SINGLE:])]
        found.append(_question(f"{asked.relation.label} {number}", turns))
    return found


def greatest_first(asked: ValueProbe, count: int) -> list[Question]:
    """Makes dialogues that ask who has the greatest value, and then for this value."""
    label = asked.relation.label
    opening = f"Which {asked.concept} has the highest {label}?", _over_all(asked, f'argmax({_ALL}, "{label}")')
    value = QueryPlan(sets={_ALL: PlanSet(start="answer:0", path=(label,))}, answer=(_ALL,))
    return [
        _question(f"greatest {number}", [opening, (f"What is the {label} of that?", value)]) for number in range(count)
    ]


def _asked(graph: PrivateGraph, relation: Relation, seed: int) -> ValueProbe | None:
    if relation.value_kind in (None, ValueKind.TRUTH):
        return None
    hop = Hop(RelationId(relation.id))
    signatures = [each.id for each in graph.blind.schema.signatures if hop in each.hops]
    edges = graph.blind.neighbours(graph.blind.members(signatures), hop)
    heads, counts = np.unique(edges.heads, return_counts=True)
    spread = Counter(edges.tails.tolist())
    tails = dict(zip(edges.heads.tolist(), edges.tails.tolist(), strict=True))
    single = heads[counts == 1].tolist()
    dice_of(seed).shuffle(single)
    records = graph.vault.records(sorted(single[: 3 * MAX_HOLDERS]))
    named = {readable_name(record): mid for mid, record in records.items()}
    holders = {name: tails[mid] for name, mid in named.items() if name != NO_NAME and _is_found(graph, name, mid)}
    texts = {mid: readable_name(record) for mid, record in graph.vault.records(list(spread)).items()}
    concept = concept_of(graph.blind, heads).split(",")[0] if len(heads) else ""
    kept = dict(sorted(holders.items())[:MAX_HOLDERS])
    return ValueProbe(relation, concept, kept, spread, texts)


def _is_found(graph: PrivateGraph, name: str, mid: int) -> bool:
    """Returns True if the linker finds exactly this thing by `name`."""
    mentions = graph.linker.find_mentions(f"What is that of {name}?")
    return len(mentions) == 1 and mentions[0].mids == (mid,)


def _openings(asked: ValueProbe, names: Sequence[str], draw: Random) -> Iterator[tuple[str, QueryPlan]]:
    label, concept = asked.relation.label, asked.concept
    yield f"How many of each {concept} are there by {label}?", _over_all(asked, f'group({_ALL}, "{label}")')
    if asked.relation.value_kind is ValueKind.TEXT:
        return
    one, other = names[:2]
    compared = QueryPlan(answer=(f'compare(topic:0, topic:1, "{label}")',))
    yield f"Who has the higher {label}, {one} or {other}?", compared
    yield f"Which {concept} has the highest {label}?", _over_all(asked, f'argmax({_ALL}, "{label}")')
    yield f"Which {concept} has the lowest {label}?", _over_all(asked, f'argmin({_ALL}, "{label}")')
    yield f"List each {concept} by {label}.", _over_all(asked, f'sort({_ALL}, "{label}", descending)')
    border = asked.texts[draw.choice(sorted(asked.spread))]
    yield f"Which {concept} has a {label} above {border}?", _over_all(asked, f'filter({_ALL}, "{label}", >, topic:0)')


def _over_all(asked: ValueProbe, expression: str) -> QueryPlan:
    return QueryPlan(sets={_ALL: PlanSet(start=f"kind:{asked.concept}")}, answer=(expression,))


def _values_of(asked: ValueProbe, names: Sequence[str]) -> tuple[str, QueryPlan]:
    label, letters = asked.relation.label, _LETTERS[: len(names)]
    sets = {letter: PlanSet(start=f"topic:{at}", path=(label,)) for at, letter in enumerate(letters)}
    text = " and ".join(f"the {label} of {name}" for name in names)
    return f"What is {text}?", QueryPlan(sets=sets, answer=tuple(letters))


def _question(name: str, turns: Sequence[tuple[str, QueryPlan]]) -> Question:
    texts, plans = [text for text, _ in turns], [plan for _, plan in turns]
    return Question.model_validate(
        {"id": name, "turns": texts, "answers": [], "plan": plans[-1], "turn_plans": tuple(plans[:-1])}
    )


def made_up_graph() -> str:
    """Returns a graph in Turtle of PEOPLE clerks, each with a salary, a date of birth and a remark.

    The values are spread unevenly, as real ones are. The text is the same at each call.
    """
    draw, names = dice_of(_GRAPH_SEED), dict[str, None]()
    while len(names) < PEOPLE:
        names[f"{_word(draw)} {_word(draw)}"] = None
    remarks = [" ".join(_word(draw).lower() for _ in range(draw.randint(2, 9))) for _ in range(40)]
    lines = [_HEAD]
    for number, name in enumerate(names):
        salary = 1_900 + 85 * min(int(draw.expovariate(0.06)), 90)
        born = f"{1950 + min(int(draw.expovariate(0.05)), 50)}-{draw.choice((2, 5, 11)):02}-17"
        remark = remarks[min(int(draw.expovariate(0.08)), len(remarks) - 1)]
        lines.append(
            f':p{number} a :Clerk ; rdfs:label "{name}" ; :monthlySalary {salary} ; '
            f':dateOfBirth "{born}"^^xsd:date ; :remark "{remark}" .'
        )
    return "\n".join(lines) + "\n"


def made_up_policy() -> str:
    """Returns a policy that lets prompts show numbers and dates in a generalised form."""
    views = {"monthlySalary": ValueView.BUCKET, "dateOfBirth": ValueView.YEAR}
    relations = {_HOUSE + name: RelationPolicy(values=view) for name, view in views.items()}
    return Policy(relations=relations).to_toml()


def _word(draw: Random) -> str:
    return "".join(draw.choice(_SYLLABLES) for _ in range(3)).capitalize()
