"""Membership: measure what replies reveal about things that the asker may not see.

Two questions are tried. Is a person in a graph that the attacker has no grant for, and does that graph exist? The
attacker has a key of the same tenant with a grant for another graph, and asks both graphs about 400 people, half of
whom are in the closed one. Has anything in a granted graph a certain value of a hidden relation? 400 texts in small
letters are asked for, half of which are such values. The halves are drawn at random and differ in nothing else.
Compared are all bytes of the replies that are not random, their lengths, and their times, over several rounds, each in
a new order.
"""

from __future__ import annotations

import logging
import re
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median

import httpx2

import app.demo
from app.api.state import state_of
from app.main import create_app
from app.settings import Settings
from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.targets import AttackTarget, AttackTargets, Attempted, dice_of, either_way, learnt, load_text
from evaluation.bench.bench import TENANT, Bench
from evaluation.bench.question_sets import DEMO

PEOPLE = 400
MAX_SHARE = 0.6
KNOWN, KNOWN_BY_TIME = 0.9, 0.7
CLOSED, ABSENT, NOTED = "closed", "absent", "noted"
ROUNDS = 3
_SEED = 6
# A caller with this role sees towns but none of the people who live in them.
_ROLE = "towns"
_LABELS = 'names = ["http://www.w3.org/2000/01/rdf-schema#label"]\n'
_CLOSED_POLICY = f'{_LABELS}[roles.{_ROLE}]\nshow_relations = ["urn:closed:twinnedWith"]\n'
_NOTED_POLICY = f'{_LABELS}[relations."urn:noted:note"]\nhide = true\n'
_QUESTION, _TELL, _ABOUT_NOTES = "Where does {} live?", "Tell me about {}.", "Is there a case with the note {}?"
_NOT_PERMITTED = "a value that the policy hides, in a granted graph"
_PUBLIC = KeyPair.generate().public_text
# Identifiers, ciphertexts and pseudonyms are drawn anew for every reply, and times are compared on their own.
DRAWN = re.compile(
    r'"(?:id|conversation|sealed)":"[^"]*"|"milliseconds":\{[^}]*\}|\b[EVS][a-z0-9]{5}\b|\br[0-9a-f]{16}\b'
)


@dataclass(frozen=True, slots=True)
class MembershipSplit:
    """Names or texts that are in a graph (`inside`), and as many that are not (`outside`)."""

    inside: Sequence[str] = field(repr=False)
    outside: Sequence[str] = field(repr=False)

    @property
    def everything(self) -> list[str]:
        return [*self.inside, *self.outside]


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """One reply with its times.

    `content`: status, headers and body without anything drawn at random. `told_ms`: the sum of the times that the
    reply itself states. `answer`: the id of the answer, empty on an error.
    """

    content: str = field(repr=False)
    length: int
    seconds: float
    told_ms: float = 0.0
    answer: str = ""


Ask = Callable[[str], Mapping[str, object]]
"""Builds the body of the request that asks about one name."""

Rounds = Mapping[str, Sequence[TimedResponse]]
"""The replies for each name, one per round."""

Lines = Callable[[str, Rounds, MembershipSplit], list[Attempted]]
"""Compares the replies for names inside and outside; returns lines of the table under the given name."""


async def membership(targets: AttackTargets) -> list[Attempted]:
    """Compares the contents of replies. Control: with a grant for the graph the same question is answered."""
    target, people = await targets.open(DEMO), sample_people(targets.at_most(PEOPLE))
    found = await _attack(target, people, rounds=1, lines=by_content)
    async with served(target.bench) as http:
        seen = await observe(_caller(target, http, CLOSED), people.everything, _about(CLOSED), 1)
    control = by_content("a person in a graph with a grant", seen, people)[0].model_copy(update={"control": KNOWN})
    texts = sample_texts(targets.at_most(PEOPLE))
    async with served(target.bench) as http:
        _load(target, NOTED, noted_graph(texts.inside), _NOTED_POLICY)
        asker = _caller(target, http, NOTED)
        noted = await observe(asker, texts.everything, _about(NOTED, _ABOUT_NOTES), 1)
        return [*found, control, *by_content(_NOT_PERMITTED, noted, texts), await _by_own_ledger(asker, noted, texts)]


async def membership_times(targets: AttackTargets) -> list[Attempted]:
    """Compares the times of replies about things that are there and things that are not.

    Control: if replies are not held back to even steps (`reply_step_ms` = 0), hidden values show in the times.
    """
    # A fresh service with the default pace: one that was asked the same before would answer faster.
    as_it_comes = Settings.model_fields["reply_step_ms"].default
    target, hasty = [await targets.open(DEMO, changes={"reply_step_ms": step}) for step in (as_it_comes, 0.0)]
    found = await _attack(target, sample_people(targets.at_most(PEOPLE)), ROUNDS, by_time)
    texts = sample_texts(targets.at_most(PEOPLE))
    for each, way, rounds in ((target, _NOT_PERMITTED, ROUNDS), (hasty, f"{_NOT_PERMITTED}, without a pace", 1)):
        async with served(each.bench) as http:
            _load(each, NOTED, noted_graph(texts.inside), _NOTED_POLICY)
            asked = _about(NOTED, _ABOUT_NOTES)
            seen = await observe(_caller(each, http, NOTED), texts.everything, asked, rounds)
            found += by_time(way, seen, texts)
    *others, control = found[:-3] + found[-1:]
    return [*others, control.model_copy(update={"control": KNOWN_BY_TIME})]


async def observe(asker: ApiCaller, names: Sequence[str], ask: Ask, rounds: int) -> Rounds:
    """Asks about every name once per round, each round in a new order."""
    dice, seen = dice_of(_SEED), dict[str, list[TimedResponse]]()
    for _ in range(rounds):
        for name in dice.sample(names, len(names)):
            seen.setdefault(name, []).append(await asker.post(ask(name)))
    return seen


async def _attack(target: AttackTarget, people: MembershipSplit, rounds: int, lines: Lines) -> list[Attempted]:
    _load(target, CLOSED, closed_graph(people.inside), _CLOSED_POLICY)
    inside = frozenset(people.inside)
    ways: dict[str, Ask] = {
        "a person in a graph without a grant, asked of that graph": _about(CLOSED),
        "a person in a graph without a grant, asked of another": _about(DEMO),
        "a graph without a grant": lambda name: _about(CLOSED if name in inside else ABSENT)("anybody"),
    }
    found: list[Attempted] = []
    async with served(target.bench) as http:
        attacker = _caller(target, http, DEMO)
        for way, ask in ways.items():
            found += lines(way, await observe(attacker, people.everything, ask, rounds), people)
        of_role = _caller(target, http, f"{CLOSED}#{_ROLE}")
        for way, question in (("not shown", _QUESTION), ("not told of", _TELL)):
            withheld = await observe(of_role, people.everything, _about(CLOSED, question), rounds)
            found += lines(f"a person whom a role of a granted graph is {way}", withheld, people)
    return found


def by_content(name: str, seen: Rounds, halves: MembershipSplit) -> list[Attempted]:
    inside, outside = ([seen[each][0].content for each in half] for half in (halves.inside, halves.outside))
    return [
        _line(f"{name}: content", learnt(inside, outside), halves),
        _told_apart(f"{name}: length", seen, halves, lambda rounds: rounds[0].length),
    ]


def by_time(name: str, seen: Rounds, halves: MembershipSplit) -> list[Attempted]:
    return [
        _told_apart(f"{name}: time", seen, halves, lambda rounds: median(each.seconds for each in rounds)),
        _told_apart(f"{name}: time of the first", seen, halves, lambda rounds: rounds[0].seconds),
        _told_apart(f"{name}: time told", seen, halves, lambda rounds: rounds[0].told_ms),
    ]


async def _by_own_ledger(asker: ApiCaller, seen: Rounds, texts: MembershipSplit) -> Attempted:
    """Looks for each text in the asker's own ledger, which shows what the model was sent; it has no bound."""
    sent = {text: text in await asker.shown(seen[text][0].answer) for text in texts.everything}
    found = either_way([sent[text] for text in texts.inside], [sent[text] for text in texts.outside])
    return _line(f"{_NOT_PERMITTED}: one's own ledger", found, texts).unbound()


def _told_apart(
    name: str, seen: Rounds, halves: MembershipSplit, figure: Callable[[Sequence[TimedResponse]], float]
) -> Attempted:
    inside, outside = ([float(figure(seen[each])) for each in half] for half in (halves.inside, halves.outside))
    return _line(name, either_way(inside, outside), halves)


def _line(name: str, found: float, halves: MembershipSplit) -> Attempted:
    """Returns a line whose rate is the AUC `found`, the share of pairs that are told apart."""
    tries = len(halves.everything)
    return Attempted(
        name=f"AUC, {name}", tries=tries, successes=found * tries, blind=0.5, most=MAX_SHARE, least=PEOPLE
    )


class ApiCaller:
    """A caller of the HTTP interface with an API key of its own, who sees every byte of a reply and its time."""

    def __init__(self, http: httpx2.AsyncClient, key: str) -> None:
        self._http, self._headers = http, {"Authorization": f"Bearer {key}"}

    async def post(self, body: Mapping[str, object]) -> TimedResponse:
        """Sends POST /chat and times it."""
        request = self._http.build_request("POST", "/chat", json=body, headers=self._headers)
        began = time.perf_counter()
        reply = await self._http.send(request)
        seconds = time.perf_counter() - began
        head = "\n".join(f"{name}: {value}" for name, value in sorted(reply.headers.items()))
        told = head + "\n\n" + reply.text
        masked = DRAWN.sub("*", re.sub(r"content-length: \d+", "", told))
        content = f"{reply.status_code}\n{masked}"
        if reply.status_code != 200:
            return TimedResponse(content, len(told), seconds)
        answer = reply.json()
        return TimedResponse(content, len(told), seconds, sum(answer["usage"]["milliseconds"].values()), answer["id"])

    async def shown(self, answer: str) -> str:
        """Returns what GET /ledger shows the asker of an answer: the requests that the model was sent."""
        return (await self._http.get("/ledger", params={"answer": answer}, headers=self._headers)).text


@asynccontextmanager
async def served(bench: Bench) -> AsyncIterator[httpx2.AsyncClient]:
    """Serves the bench's services through the real application without a socket, which would add noise to times."""
    settings = bench.services.store.settings.model_copy(update={"requests_per_minute": 1_000_000})
    application, log = create_app(settings), logging.getLogger("arog")
    state_of(application).services = bench.services
    before = log.level
    # The attack causes hundreds of refusals, which would flood the log.
    log.setLevel(logging.CRITICAL)
    try:
        transport = httpx2.ASGITransport(application)
        async with httpx2.AsyncClient(transport=transport, base_url="http://service") as http:
            yield http
    finally:
        log.setLevel(before)


def _caller(target: AttackTarget, http: httpx2.AsyncClient, graph: str) -> ApiCaller:
    """Creates a key with a grant for `graph` alone and returns its caller."""
    return ApiCaller(http, target.bench.services.store.access.create(TENANT, "user", [graph]).key)


def _load(target: AttackTarget, graph: str, turtle: Iterator[str], policy: str) -> None:
    if graph not in target.bench.services.graphs.names(TENANT):
        load_text(target.bench, f"{graph}.ttl", "\n".join(turtle), policy)


def _about(graph: str, question: str = _QUESTION) -> Ask:
    return lambda name: {
        "graph": graph,
        "messages": [{"role": "user", "content": question.format(name)}],
        "public_key": _PUBLIC,
    }


def sample_people(count: int) -> MembershipSplit:
    """Draws `count` invented names of people, half of them for the closed graph."""
    words = tomllib.loads(Path(app.demo.__file__).with_name("clinic_words.toml").read_text("utf-8"))
    every = [f"{first} {family}" for first, family in product((*words["women"], *words["men"]), words["families"])]
    names = dice_of(_SEED).sample(every, count)
    return MembershipSplit(names[: count // 2], names[count // 2 :])


def sample_texts(count: int) -> MembershipSplit:
    """Makes `count` texts of two invented words, half of them for a hidden relation."""
    dice, syllables = dice_of(_SEED), [a + b for a, b in product("bdfgklmnprstvz", "aeiou")]
    words = ["".join(dice.choices(syllables, k=4)) for _ in range(2 * count)]
    texts = [f"{one} {other}" for one, other in zip(words[::2], words[1::2], strict=True)]
    return MembershipSplit(texts[: count // 2], texts[count // 2 :])


def closed_graph(people: Sequence[str]) -> Iterator[str]:
    """Yields lines of Turtle in which each person lives in one of five towns, which are twinned."""
    yield "@prefix : <urn:closed:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    for number in range(5):
        yield f':town{number} rdfs:label "Closedtown{chr(97 + number)}" ; :twinnedWith :town{(number + 1) % 5} .'
    for number, name in enumerate(people):
        yield f':person{number} rdfs:label "{name}" ; :livesIn :town{number % 5} .'


def noted_graph(texts: Sequence[str]) -> Iterator[str]:
    """Yields lines of Turtle for cases, each with a note and the day on which it was filed."""
    yield "@prefix : <urn:noted:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    for number, text in enumerate(texts):
        yield f':case{number} rdfs:label "Casefile{number}" ; :note "{text}" ; :filed "2026-01-{1 + number % 28:02}" .'
