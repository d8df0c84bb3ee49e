"""Membership: is a person in a graph that I have no grant for, and is there such a graph at all?

The attacker has a key of the same tenant with a grant for another graph, and asks both graphs about each of 400
people, of whom half are in the closed one; the draw is the only difference between the halves. What is looked at:
every byte of the replies that is not drawn at random, their lengths, and their times, in rounds that ask all people
in a new order.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median

import app.demo
from app.evaluation.attacks.bounds import Attempted
from app.evaluation.attacks.scenes import Scene, Scenes
from app.evaluation.attacks.separation import either_way, learnt
from app.evaluation.attacks.wire import Asker, Seen, served
from app.evaluation.question_sets import DEMO
from app.evaluation.run import TENANT
from client_sdk.sealing import KeyPair

PEOPLE = 400
MOST = 0.6
KNOWN, KNOWN_BY_TIME = 0.9, 0.7
CLOSED, ABSENT = "closed", "absent"
_QUESTION = "Where does {} live?"
_SEED = 6
Ask = Callable[[str], Mapping[str, object]]
"""The body of the request that asks about one person (or graph) by its name."""


@dataclass(slots=True)
class Observed:
    """What was seen of each name, round by round."""

    rounds: dict[str, list[Seen]] = field(default_factory=dict, repr=False)

    def contents(self, names: Sequence[str]) -> list[str]:
        return [self.rounds[name][0].content for name in names]

    def lengths(self, names: Sequence[str]) -> list[float]:
        return [float(self.rounds[name][0].length) for name in names]

    def first_times(self, names: Sequence[str]) -> list[float]:
        return [self.rounds[name][0].seconds for name in names]

    def times(self, names: Sequence[str]) -> list[float]:
        return [median(seen.seconds for seen in self.rounds[name]) for name in names]


@dataclass(frozen=True, slots=True)
class Halves:
    """Names that are in a graph, and as many that are not, in the order in which they were drawn."""

    inside: Sequence[str] = field(repr=False)
    outside: Sequence[str] = field(repr=False)


async def membership_on_demo(scenes: Scenes) -> list[Attempted]:
    """By what replies say."""
    return await _attack(scenes, rounds=1, lines=_by_content, known=KNOWN)


async def membership_times_on_demo(scenes: Scenes) -> list[Attempted]:
    """By how long replies take: medians of five, asked between each other."""
    return await _attack(scenes, rounds=5, lines=_by_time, known=KNOWN_BY_TIME)


def drawn_people(count: int) -> Halves:
    """Invented names of people, half of them for the closed graph."""
    words = tomllib.loads(Path(app.demo.__file__).with_name("clinic_words.toml").read_text("utf-8"))
    dice = random.Random(_SEED)  # noqa: S311  # invented names, no secret depends on it  # nosec B311
    every = [f"{first} {family}" for first, family in product((*words["women"], *words["men"]), words["families"])]
    names = dice.sample(every, count)
    return Halves(names[: count // 2], names[count // 2 :])


def closed_graph(people: Sequence[str]) -> Iterator[str]:
    """Turtle: each person lives in one of five towns."""
    yield "@prefix : <urn:closed:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    for number in range(5):
        yield f':town{number} rdfs:label "Closedtown{chr(97 + number)}" .'
    for number, name in enumerate(people):
        yield f':person{number} rdfs:label "{name}" ; :livesIn :town{number % 5} .'


async def observe(asker: Asker, names: Sequence[str], ask: Ask, rounds: int) -> Observed:
    """Every name once a round, each round in an order of its own."""
    dice, seen = random.Random(_SEED), Observed()  # noqa: S311  # as above  # nosec B311
    for _ in range(rounds):
        for name in dice.sample(names, len(names)):
            seen.rounds.setdefault(name, []).append(await asker.post(ask(name)))
    return seen


async def _attack(
    scenes: Scenes, rounds: int, lines: Callable[[str, Observed, Halves], list[Attempted]], known: float
) -> list[Attempted]:
    scene, halves = await scenes.open(DEMO), drawn_people(scenes.at_most(PEOPLE))
    _load_closed(scene, halves.inside)
    everybody, inside = [*halves.inside, *halves.outside], frozenset(halves.inside)
    ways: dict[str, Ask] = {
        "a person in a graph without a grant, asked of that graph": _about(CLOSED),
        "a person in a graph without a grant, asked of another": _about(DEMO),
        "a graph without a grant": lambda name: _body(
            CLOSED if name in inside else ABSENT, _QUESTION.format("anybody")
        ),
    }
    found: list[Attempted] = []
    async with served(scene.bench) as http:
        attacker, friend = (Asker(http, _key(scene, graph)) for graph in (DEMO, CLOSED))
        for way, ask in ways.items():
            found += lines(way, await observe(attacker, everybody, ask, rounds), halves)
        # With a grant the same is told to anybody, by the answer and by its time: the control.
        control, *_ = lines(
            "a person in a graph with a grant", await observe(friend, everybody, _about(CLOSED), rounds), halves
        )
    return [*found, control.model_copy(update={"control": known})]


def _by_content(name: str, seen: Observed, halves: Halves) -> list[Attempted]:
    inside, outside = halves.inside, halves.outside
    return [
        _line(f"{name}: content", learnt(seen.contents(inside), seen.contents(outside)), halves),
        _line(f"{name}: length", either_way(seen.lengths(inside), seen.lengths(outside)), halves),
    ]


def _by_time(name: str, seen: Observed, halves: Halves) -> list[Attempted]:
    inside, outside = halves.inside, halves.outside
    return [
        _line(f"{name}: time", either_way(seen.times(inside), seen.times(outside)), halves),
        _line(f"{name}: time of the first", either_way(seen.first_times(inside), seen.first_times(outside)), halves),
    ]


def _line(name: str, found: float, halves: Halves) -> Attempted:
    """An AUC as a rate: of all pairs, the share that is told apart."""
    tries = len(halves.inside) + len(halves.outside)
    return Attempted(name=f"AUC, {name}", tries=tries, successes=found * tries, blind=0.5, most=MOST, least=PEOPLE)


def _load_closed(scene: Scene, people: Sequence[str]) -> None:
    if CLOSED not in scene.bench.services.graphs.names(TENANT):
        store = scene.bench.services.store
        file = store.settings.data_dir.parent / "closed.ttl"
        file.write_text("\n".join(closed_graph(people)), "utf-8")
        scene.bench.load(CLOSED, [file], None)
        file.unlink()


def _key(scene: Scene, graph: str) -> str:
    return scene.bench.services.store.access.create(TENANT, "user", [graph]).key


def _about(graph: str) -> Ask:
    return lambda name: _body(graph, _QUESTION.format(name))


def _body(graph: str, question: str) -> Mapping[str, object]:
    return {"graph": graph, "messages": [{"role": "user", "content": question}], "public_key": _PUBLIC}


_PUBLIC = KeyPair.generate().public_text
