"""A made-up graph with values, and questions about values: one, several, compared, sorted, filtered and grouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from evaluation.attacks.setup.targets import dice_of
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import concept_of
from kg_store.sources.policy import Policy, RelationPolicy
from kg_store.storage.vault import NO_NAME, readable_name
from kg_store.terms import Hop, Relation, RelationId, ValueKind, ValueView

PEOPLE = 240
MAX_HOLDERS = 400
SINGLE, AT_ONCE = 3, 3
_MIN_HOLDERS = 20
_ALL, _LETTERS = "A", "ABCDEFGH"
_SEED = 41
_HOUSE = "http://staff.invalid/"
_SYLLABLES = "bra den fi gor hul jas kem lun mor nid pol quo rus tam vex zor".split()
_HEAD = f"""@prefix : <{_HOUSE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@dataclass(frozen=True, slots=True)
class ValueProbe:
    """A relation that leads to values: who has exactly one, and how often each value is held in the whole graph.

    `texts` are the values by MID. All of it but `holders` is what the attacker knows.
    """

    relation: Relation
    concept: str
    holders: Mapping[str, int] = field(repr=False)
    spread: Counter[int] = field(repr=False)
    texts: Mapping[int, str] = field(repr=False)


def asked_of(graph: PrivateGraph, seed: int) -> list[ValueProbe]:
    """Every relation of numbers, dates or texts that enough things with a name of their own have."""
    found = (_asked(graph, relation, seed) for relation in graph.blind.schema.relations)
    return [asked for asked in found if asked is not None and len(asked.holders) >= _MIN_HOLDERS]


def conversations(asked: ValueProbe, count: int, seed: int) -> list[Question]:
    """Each opens with a question that has an order or an amount in it, then asks for values, one and several."""
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
    """Dialogues that say themselves which value it is: who has the greatest, and then how great."""
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
    """True where a question may use the name, and nothing else has it."""
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
    """Turtle: each of PEOPLE with one salary, one date of birth and one remark, which are spread unevenly as real ones
    are; the same text at each call."""
    draw, names = dice_of(_SEED), dict[str, None]()
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
    """Numbers and dates may be told in a generalised form."""
    views = {"monthlySalary": ValueView.BUCKET, "dateOfBirth": ValueView.YEAR}
    relations = {_HOUSE + name: RelationPolicy(values=view) for name, view in views.items()}
    return Policy(relations=relations).to_toml()


def _word(draw: Random) -> str:
    return "".join(draw.choice(_SYLLABLES) for _ in range(3)).capitalize()
