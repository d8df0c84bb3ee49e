"""A graph without types in which the same question may mean three relations, so that ratings decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from client_sdk import AsyncChat, KeyPair
from tests.support.service import OPERATOR, Running

PEOPLE: Final = (
    "Valdis Ozolkrasts", "Quenby Thistlewood", "Marisol Ventrake", "Bertil Oxenhame", "Ottoline Brackwater",
    "Ptolemy Ashgrove", "Zofia Quarrelson", "Aurelio Vantongeren",
)  # fmt: skip
TOWNS: Final = (
    "Zemgalburg", "Umbrathal", "Kestrelmoor", "Gyrfalham", "Thornwickby", "Ostrabeck", "Lindgarve", "Pelmoriath",
)  # fmt: skip
SECRETS: Final = tuple(word for name in (*PEOPLE, *TOWNS) for word in name.split())
RELATIONS: Final = {"bornIn": 0, "livesIn": 1, "worksIn": 2}
ASKED: Final = "Which town is tied to {}?"


def turtle(*, typed: bool = False) -> str:
    """Returns the graph; if `typed`, it states the types of its things."""
    lines = ["@prefix : <http://towns.invalid/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    lines += [f':p{at} rdfs:label "{name}" .' for at, name in enumerate(PEOPLE)]
    lines += [f':t{at} rdfs:label "{name}" .' for at, name in enumerate(TOWNS)]
    lines += [f":p{at} :{name} :t{(at + by) % len(TOWNS)} ." for name, by in RELATIONS.items() for at in range(8)]
    if typed:
        lines += [f":p{at} a :Person . :t{at} a :Town ." for at in range(8)]
    return "\n".join(lines)


def town(person: int, relation: str) -> str:
    return TOWNS[(person + RELATIONS[relation]) % len(TOWNS)]


def chat(house: Running, *, key: str | None = None, graph: str = "towns", grants: Sequence[str] = ()) -> AsyncChat:
    """Returns a dialogue with the given key, or with a new one."""
    secret = key or house.services.store.access.create("default", "user", grants or (graph,)).key
    return AsyncChat("http://service", secret, graph, key=KeyPair.generate(), plain_http=True, http=house.http)


async def case_list(house: Running, graph: str = "towns") -> list[dict[str, object]]:
    told = (await house.http.get(f"/admin/graphs/{graph}/cases", headers=OPERATOR)).json()
    found: list[dict[str, object]] = told["cases"]
    return found
