"""A made-up graph of people with numbers, dates and texts that are spread unevenly, as real ones are."""

from __future__ import annotations

import random

from kg_store.sources.policy import Policy, RelationPolicy
from kg_store.terms import ValueView

PEOPLE = 240
_SEED = 41
_HOUSE = "http://staff.invalid/"
_SYLLABLES = (
    "bra",
    "den",
    "fi",
    "gor",
    "hul",
    "jas",
    "kem",
    "lun",
    "mor",
    "nid",
    "pol",
    "quo",
    "rus",
    "tam",
    "vex",
    "zor",
)
_HEAD = f"""@prefix : <{_HOUSE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def made_up_graph() -> str:
    """Turtle: each of PEOPLE with one salary, one date of birth and one remark; the same text at each call."""
    draw = random.Random(_SEED)  # noqa: S311  # made-up people  # nosec B311
    names: dict[str, None] = {}
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


def _word(draw: random.Random) -> str:
    return "".join(draw.choice(_SYLLABLES) for _ in range(3)).capitalize()
