"""Membership: what replies tell of things that the asker may not see.

Is a person in a graph that I have no grant for, and is there such a graph at all? The attacker has a key of the same
tenant with a grant for another graph, and asks both graphs about each of 400 people, of whom half are in the closed
one. Has anything, in a graph that I may ask, this value of a relation that its policy hides? 400 texts in small
letters, of which half are such values. In both the draw is the only difference between the halves. What is looked at:
every byte of the replies that is not drawn at random, their lengths, and their times, in rounds that ask everything in
a new order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import httpx2

from app.settings import Settings
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.membership_graphs import (
    CLOSED_POLICY,
    NOTED_POLICY,
    ROLE,
    SEED,
    MembershipSplit,
    closed_graph,
    noted_graph,
    sample_people,
    sample_texts,
)
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.http_client import ApiCaller, TimedResponse, served
from evaluation.attacks.setup.separation import either_way, learnt
from evaluation.attacks.setup.targets import AttackTarget, AttackTargets
from evaluation.bench.bench import TENANT
from evaluation.bench.question_sets import DEMO

PEOPLE = 400
MAX_SHARE = 0.6
KNOWN, KNOWN_BY_TIME = 0.9, 0.7
CLOSED, ABSENT, NOTED = "closed", "absent", "noted"
ROUNDS = 3
_QUESTION, _ABOUT_NOTES = "Where does {} live?", "Is there a case with the note {}?"
_TELL = "Tell me about {}."
_NOT_PERMITTED = "a value that the policy hides, in a granted graph"
Ask = Callable[[str], Mapping[str, object]]
"""The body of the request that asks about one person (or graph) by its name."""

Lines = Callable[[str, "Observed", MembershipSplit], list[Attempted]]
"""The lines of one way to look, by its name, of what was seen of names inside and outside."""


@dataclass(slots=True)
class Observed:
    """The observations of each name, round by round."""

    rounds: dict[str, list[TimedResponse]] = field(default_factory=dict, repr=False)

    def contents(self, names: Sequence[str]) -> list[str]:
        return [self.rounds[name][0].content for name in names]

    def lengths(self, names: Sequence[str]) -> list[float]:
        return [float(self.rounds[name][0].length) for name in names]

    def first_times(self, names: Sequence[str]) -> list[float]:
        return [self.rounds[name][0].seconds for name in names]

    def first_told(self, names: Sequence[str]) -> list[float]:
        return [self.rounds[name][0].told_ms for name in names]

    def times(self, names: Sequence[str]) -> list[float]:
        return [median(seen.seconds for seen in self.rounds[name]) for name in names]


async def membership_on_demo(targets: AttackTargets) -> list[Attempted]:
    """By what replies say. With a grant the same question is answered: the control."""
    target, people = await targets.open(DEMO), sample_people(targets.at_most(PEOPLE))
    found = await _attack(target, people, rounds=1, lines=_by_content)
    async with served(target.bench) as http:
        seen = await observe(ApiCaller(http, _key(target, CLOSED)), people.everything, _about(CLOSED), 1)
    control = _by_content("a person in a graph with a grant", seen, people)[0].model_copy(update={"control": KNOWN})
    texts = sample_texts(targets.at_most(PEOPLE))
    async with served(target.bench) as http:
        asker = _asker_of_notes(target, http, texts)
        noted = await observe(asker, texts.everything, _about_note, 1)
        return [*found, control, *_by_content(_NOT_PERMITTED, noted, texts), await _by_own_ledger(asker, noted, texts)]


async def membership_times_on_demo(targets: AttackTargets) -> list[Attempted]:
    """By how long replies take, and say that they took. Without a pace hidden values are told: the control."""
    # A service of its own, with the setting as it comes, for what was asked once is answered faster.
    as_it_comes = Settings.model_fields["reply_step_ms"].default
    target, hasty = [await targets.open(DEMO, changes={"reply_step_ms": step}) for step in (as_it_comes, 0.0)]
    found = await _attack(target, sample_people(targets.at_most(PEOPLE)), ROUNDS, _by_time)
    texts = sample_texts(targets.at_most(PEOPLE))
    for each, way, rounds in ((target, _NOT_PERMITTED, ROUNDS), (hasty, f"{_NOT_PERMITTED}, without a pace", 1)):
        async with served(each.bench) as http:
            asker = _asker_of_notes(each, http, texts)
            found += _by_time(way, await observe(asker, texts.everything, _about_note, rounds), texts)
    *others, control = found[:-3] + found[-1:]
    return [*others, control.model_copy(update={"control": KNOWN_BY_TIME})]


async def observe(asker: ApiCaller, names: Sequence[str], ask: Ask, rounds: int) -> Observed:
    """Every name once a round, each round in an order of its own."""
    dice, seen = random.Random(SEED), Observed()  # noqa: S311  # an order, no secret  # nosec B311
    for _ in range(rounds):
        for name in dice.sample(names, len(names)):
            seen.rounds.setdefault(name, []).append(await asker.post(ask(name)))
    return seen


async def _attack(target: AttackTarget, people: MembershipSplit, rounds: int, lines: Lines) -> list[Attempted]:
    _load(target, CLOSED, closed_graph(people.inside), CLOSED_POLICY)
    inside = frozenset(people.inside)
    ways: dict[str, Ask] = {
        "a person in a graph without a grant, asked of that graph": _about(CLOSED),
        "a person in a graph without a grant, asked of another": _about(DEMO),
        "a graph without a grant": lambda name: _body(
            CLOSED if name in inside else ABSENT, _QUESTION.format("anybody")
        ),
    }
    found: list[Attempted] = []
    async with served(target.bench) as http:
        attacker = ApiCaller(http, _key(target, DEMO))
        for way, ask in ways.items():
            found += lines(way, await observe(attacker, people.everything, ask, rounds), people)
        of_role = ApiCaller(http, _key(target, f"{CLOSED}#{ROLE}"))
        for way, question in (("not shown", _QUESTION), ("not told of", _TELL)):
            withheld = await observe(of_role, people.everything, _about(CLOSED, question), rounds)
            found += lines(f"a person whom a role of a granted graph is {way}", withheld, people)
    return found


def _asker_of_notes(target: AttackTarget, http: httpx2.AsyncClient, texts: MembershipSplit) -> ApiCaller:
    """Who may ask the graph of notes, and so not see them: its policy hides them."""
    _load(target, NOTED, noted_graph(texts.inside), NOTED_POLICY)
    return ApiCaller(http, _key(target, NOTED))


async def _by_own_ledger(asker: ApiCaller, seen: Observed, texts: MembershipSplit) -> Attempted:
    """Told without a bound: an asker sees what the model was sent, and no text of the graph is sent as typed."""
    sent = {text: float(text in await asker.shown(seen.rounds[text][0].answer)) for text in texts.everything}
    found = either_way([sent[text] for text in texts.inside], [sent[text] for text in texts.outside])
    return _line(f"{_NOT_PERMITTED}: one's own ledger", found, texts).model_copy(update={"most": 1.0})


def _by_content(name: str, seen: Observed, halves: MembershipSplit) -> list[Attempted]:
    inside, outside = halves.inside, halves.outside
    return [
        _line(f"{name}: content", learnt(seen.contents(inside), seen.contents(outside)), halves),
        _line(f"{name}: length", either_way(seen.lengths(inside), seen.lengths(outside)), halves),
    ]


def _by_time(name: str, seen: Observed, halves: MembershipSplit) -> list[Attempted]:
    inside, outside = halves.inside, halves.outside
    return [
        _line(f"{name}: time", either_way(seen.times(inside), seen.times(outside)), halves),
        _line(f"{name}: time of the first", either_way(seen.first_times(inside), seen.first_times(outside)), halves),
        _line(f"{name}: time told", either_way(seen.first_told(inside), seen.first_told(outside)), halves),
    ]


def _line(name: str, found: float, halves: MembershipSplit) -> Attempted:
    """An AUC as a rate: of all pairs, the share that is told apart."""
    tries = len(halves.inside) + len(halves.outside)
    return Attempted(
        name=f"AUC, {name}", tries=tries, successes=found * tries, blind=0.5, most=MAX_SHARE, least=PEOPLE
    )


def _load(target: AttackTarget, graph: str, turtle: Iterator[str], policy: str | None) -> None:
    if graph not in target.bench.services.graphs.names(TENANT):
        file = target.bench.services.store.settings.data_dir.parent / f"{graph}.ttl"
        file.write_text("\n".join(turtle), "utf-8")
        target.bench.load(graph, [file], policy)
        file.unlink()


def _key(target: AttackTarget, graph: str) -> str:
    return target.bench.services.store.access.create(TENANT, "user", [graph]).key


def _about(graph: str, question: str = _QUESTION) -> Ask:
    return lambda name: _body(graph, question.format(name))


def _about_note(text: str) -> Mapping[str, object]:
    return _body(NOTED, _ABOUT_NOTES.format(text))


def _body(graph: str, question: str) -> Mapping[str, object]:
    return {"graph": graph, "messages": [{"role": "user", "content": question}], "public_key": _PUBLIC}


_PUBLIC = KeyPair.generate().public_text
