"""Ratings: let one person rate falsely, and measure what that changes for others, and what ratings tell of others.

The graph is made up: each person has a town of birth, of residence and of work, and the questions ask for one of the
three in words that may mean another, so that ratings decide. Everybody uses the same API key. One person rates 200
answers wrong, each with a false correction; others ask 100 questions before and after. Then half of 100 questions are
rated by somebody else, and a spy asks and rates all of them: can replies tell which half it was?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

import httpx2

from app.memory.cases import MAX_CORRECTED_CONFIDENCE
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer
from evaluation.attacks.membership import DRAWN, sample_people, sample_texts, served
from evaluation.attacks.targets import AttackTarget, AttackTargets, Attempted, dice_of, learnt, load_text
from evaluation.bench.bench import TENANT
from evaluation.bench.question_sets import DEMO

FALSE_RATINGS, ASKED = 200, 100
TOWNS: Final = 40
MAX_SHARE: Final = 0.55
KNOWN, CHANGED_BY_OWN = 0.9, 0.1
GRAPH: Final = "rated"
RELATIONS: Final = ("bornIn", "livesIn", "worksIn")
WORDINGS: Final = {
    "Which town is tied to {}?": 2,
    "Where was {} born?": 2,
    "Where does {} live?": 2,
    "Where does {} work?": 0,
    "Which town has {}?": 2,
}
"""The wordings of questions, each with the position of the relation that a liar gives for the right one."""
UNSURE: Final = "Which town is tied to {}?"
"""The wording that a single rating decides."""
_SEED: Final = 9
_LIAR, _OTHER = "liar", "other"


@dataclass(frozen=True, slots=True)
class TownQuestion:
    """A question about one person, and the town with which a liar has it answered from then on."""

    text: str
    false: str


@dataclass(frozen=True, slots=True)
class TownGraph:
    """The made-up graph: people, and for each of them a town by relation."""

    towns_of: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, people: int) -> TownGraph:
        dice = dice_of(_SEED)
        towns = [" ".join(text.title().split()) for text in sample_texts(TOWNS).everything]
        names = sample_people(people).everything
        return cls({name: tuple(dice.sample(towns, len(RELATIONS))) for name in names})

    def turtle(self) -> Iterator[str]:
        yield "@prefix : <urn:rated:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        towns = {
            town: f":t{at}" for at, town in enumerate(sorted({each for of in self.towns_of.values() for each in of}))
        }
        yield from (f'{iri} rdfs:label "{town}" .' for town, iri in towns.items())
        for at, (name, own) in enumerate(self.towns_of.items()):
            yield f':p{at} rdfs:label "{name}" .'
            yield from (f":p{at} :{way} {towns[town]} ." for way, town in zip(RELATIONS, own, strict=True))

    def questions(self, count: int, skip: int = 0, wordings: Iterable[str] = WORDINGS) -> list[TownQuestion]:
        """Returns `count` questions, each wording of each person in turn, from the person after the first `skip`."""
        pairs = product(list(self.towns_of)[skip:], wordings)
        return [
            TownQuestion(text.format(name), self.towns_of[name][WORDINGS[text]]) for name, text in islice(pairs, count)
        ]


class Rater:
    """A person who asks and rates over HTTP, with the API key that everybody shares."""

    def __init__(self, http: httpx2.AsyncClient, key: str, person: str) -> None:
        self._http, self._headers, self._person = http, {"Authorization": f"Bearer {key}"}, person

    async def ask(self, text: str) -> tuple[ChatAnswer, Answer, str]:
        """Returns the reply, the answer in it with its names, and the reply's bytes without what is drawn anew."""
        dialogue = Dialogue(GRAPH, KeyPair.generate(), "sets", {"suggestions": 0, "person": self._person})
        body = dialogue.request(text, None, {}).model_dump(mode="json")
        sent = await self._http.post("/chat", json=body, headers=self._headers)
        reply = ChatAnswer.model_validate_json(sent.content)
        return reply, dialogue.accept(text, reply), DRAWN.sub("*", sent.text)

    async def lie(self, question: TownQuestion) -> tuple[str, str]:
        """Asks, and rates the answer by the false town: as wrong, or as right where the town is the answer already.

        Returns the bytes of both replies without what is drawn anew.
        """
        reply, answer, told = await self.ask(question.text)
        rating: dict[str, object] = {"rating": "right"}
        if answer.names != [question.false]:
            rating = {"rating": "wrong", "correct": [question.false]}
        body = {"conversation": reply.conversation, "answer": reply.id, **rating}
        sent = await self._http.post("/ratings", json=body, headers=self._headers)
        return told, DRAWN.sub("*", sent.text.replace(reply.id, "*"))


async def ratings(targets: AttackTargets) -> list[Attempted]:
    """Runs both attacks, each on a service of its own."""
    poisoned = await targets.open(DEMO, changes={"requests_per_minute": 1_000_000})
    asked, false = targets.at_most(ASKED), targets.at_most(FALSE_RATINGS)
    return await poisoning(poisoned, asked, false) + await rated_by_others(poisoned, asked)


async def poisoning(target: AttackTarget, asked: int, false: int) -> list[Attempted]:
    """Asks as others, rates falsely as one person, and asks again as both."""
    graph, key = _loaded(target, asked + false)
    questions = graph.questions(asked)
    async with served(target.bench) as http:
        others, liar = Rater(http, key, _OTHER), Rater(http, key, _LIAR)
        before = [(await others.ask(each.text))[1] for each in questions]
        for each in graph.questions(false, skip=asked):
            await liar.lie(each)
        after = [(await others.ask(each.text))[1] for each in questions]
        own = [(await liar.ask(each.text))[1] for each in questions]
    changed = [_told(one) != _told(other) for one, other in zip(before, after, strict=True)]
    misled = [one.names != other.names for one, other in zip(before, own, strict=True)]
    sure = [(each.confidence or 0.0) > MAX_CORRECTED_CONFIDENCE for each in own]
    wrong = [each and is_sure for each, is_sure in zip(misled, sure, strict=True)]
    name = f"after {false} false ratings of one person"
    return [
        Attempted.of(f"answers of others changed {name}", changed),
        Attempted.of(f"own wrong answers above a confidence of 0.5 {name}", wrong),
        Attempted.of(f"own answers changed {name}", misled, control=CHANGED_BY_OWN),
    ]


async def rated_by_others(target: AttackTarget, asked: int) -> list[Attempted]:
    """Lets somebody rate a random half of the questions, and a spy ask each before and after, and rate it too.

    Compared is what the spy, and the rater, see of the questions of either half: whether a reply differs from that of
    before, and all of the reply to the spy's own rating. All cases are forgotten after each question, because a case
    serves all questions in the same words.
    """
    graph, key = _loaded(target, asked)
    rated = set(dice_of(_SEED).sample(range(asked), asked // 2))
    spied, known = dict[int, str](), dict[int, str]()
    async with served(target.bench) as http:
        liar, guest, spy = (Rater(http, key, each) for each in (_LIAR, _OTHER, "spy"))
        for at, question in enumerate(graph.questions(asked, wordings=[UNSURE])):
            before = (await spy.ask(question.text))[2]
            if at in rated:
                await liar.lie(question)
            own = await (liar if at in rated else guest).ask(question.text)
            known[at] = str(own[2] == before)
            seen, told = await spy.lie(question)
            spied[at] = f"{seen == before} {told}"
            target.bench.services.store.cases.forget_graph(TENANT, GRAPH)
    name = "AUC, somebody else has rated the question or not"
    return [
        _line(f"{name}: replies to a question and to its rating", spied, rated, most=MAX_SHARE),
        _line(f"{name}: the rater's own replies", known, rated, control=KNOWN),
    ]


def _line(name: str, seen: Mapping[int, str], rated: set[int], **bounds: float) -> Attempted:
    halves = ([each for at, each in seen.items() if (at in rated) is inside] for inside in (True, False))
    found = learnt(*halves)
    return Attempted(name=name, tries=len(seen), successes=found * len(seen), blind=0.5, **bounds)


def _told(answer: Answer) -> tuple[Sequence[str], float | None, Sequence[str]]:
    return answer.names, answer.confidence, answer.notes


def _loaded(target: AttackTarget, people: int) -> tuple[TownGraph, str]:
    """Loads the graph anew, without ratings, and returns it with an API key for it."""
    services, graph = target.bench.services, TownGraph.of(people + people % 2)
    if GRAPH in services.graphs.names(TENANT):
        services.graphs.delete(TENANT, GRAPH)
    load_text(target.bench, f"{GRAPH}.ttl", "\n".join(graph.turtle()))
    return graph, services.store.access.create(TENANT, "user", [GRAPH]).key
