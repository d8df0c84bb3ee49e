"""A question that may mean two things is asked back; both are offered, as it would be asked, and names stay sealed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from app.accounts.api_keys import Caller
from app.chat.turns import TO_TRY
from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.wiring.store import ServiceContext, open_store
from client_sdk.answers.answer import Answer, open_answer
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatRequest, Message
from evaluation.checks.canaries import canaries_in
from kg_store.proposals.propose import propose_policy
from kg_store.sources.policy import Policy
from tests.support.house import KEY, sets_chat, visible
from tests.support.service import settings_in
from tests.support.stores import PREFIXES

HELD = (
    PREFIXES
    + """
:dr rdfs:label "driven by" . :tr rdfs:label "uses truck" . :bo rdfs:label "date of birth" .
:s1 a :Driver ; rdfs:label "Dorotheya Saarwick" ; :bo "1970-02-11"^^xsd:date .
:s2 a :Driver ; rdfs:label "Ludmilo Kaskarov" ; :bo "1981-09-30"^^xsd:date .
:k1 a :Truck ; rdfs:label "Zubrowan" . :k2 a :Truck ; rdfs:label "Volkarth" .
:t1 a :Trip ; rdfs:label "Trip Ossobar" ; :dr :s1 ; :tr :k1 .
:t2 a :Trip ; rdfs:label "Trip Quenland" ; :dr :s1 ; :tr :k2 .
:t3 a :Trip ; rdfs:label "Trip Marsbeck" ; :dr :s2 ; :tr :k1 .
"""
)
FURTHER = """
:co rdfs:label "co driver" . :t1 :co :s2 . :t2 :co :s2 . :t3 :co :s1 .
"""
# The same schema with other facts; in the second, both readings of the question give one trip.
OTHERS = """
:co rdfs:label "co driver" . :t1 :co :s2 . :t2 :co :s2 . :t3 :co :s2 .
"""
AGREEING = """
:co rdfs:label "co driver" . :t1 :co :s1 . :t2 :co :s2 .
"""
ROLE = '[roles.office]\nwithhold_relations = ["http://clinic.test/co"]\n'
SECRETS = ("Dorotheya", "Saarwick", "Ludmilo", "Kaskarov", "Zubrowan", "Volkarth", "Ossobar", "Quenland", "Marsbeck")
ROLES: Final = ("user", "assistant", "user")
ASKED = "how many trips did Ludmilo Kaskarov do"
OFFERED = ("How many trips are driven by Ludmilo Kaskarov?", "How many trips have Ludmilo Kaskarov as co driver?")


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    folder = tmp_path_factory.mktemp("trips")
    store = open_store(settings_in(folder))
    for name, turtle in (
        ("trips", HELD + FURTHER),
        ("less", HELD),
        ("others", HELD + OTHERS),
        ("agree", HELD + AGREEING),
    ):
        file = folder / f"{name}.ttl"
        file.write_text(turtle, "utf-8")
        policy = propose_policy([file]).to_toml() + (ROLE if name == "trips" else "")
        store.catalog.load("default", name, [file], Policy.from_toml(policy), ConceptNamer(embedder).name)
    yield store
    store.close()


class Asker:
    """One caller's dialogue with a graph; `last` is the last answer as it was sent."""

    def __init__(self, store: ServiceContext, embedder: Embedder, graph: str, grant: str) -> None:
        self._chat = sets_chat(store, embedder)
        self._caller = Caller("default", "k1", "user", frozenset({grant}))
        self._dialogue = Dialogue(graph, KEY, "sets", {})
        self.last: ChatAnswer

    async def ask_after(self, before: str, told: str, text: str) -> Answer:
        """The answer to `text` in a dialogue of its own, behind one question and what was told to it."""
        messages = [Message(role=role, content=said) for role, said in zip(ROLES, (before, told, text), strict=True)]
        request = ChatRequest(graph="trips", messages=messages, public_key=KEY.public_text)
        return open_answer(await self._chat.answer(self._caller, request), KEY, text)

    async def ask(self, text: str) -> Answer:
        self.last = await self._chat.answer(self._caller, self._dialogue.request(text, None, {}))
        return self._dialogue.accept(text, self.last)


@pytest.fixture
def asker(store: ServiceContext, embedder: Embedder) -> Asker:
    return Asker(store, embedder, "trips", "trips")


async def test_both_readings_are_offered_as_questions(asker: Asker) -> None:
    answer = await asker.ask(ASKED)
    assert (answer.answered, answer.confidence) == (False, None)
    assert set(answer.did_you_mean) == set(OFFERED)
    assert answer.text == f"Did you mean: {' Or: '.join(answer.did_you_mean)}"
    assert TO_TRY not in answer.text


async def test_what_is_offered_is_sealed_as_the_text_is(asker: Asker) -> None:
    await asker.ask(ASKED)
    assert len(asker.last.did_you_mean) == 2
    assert canaries_in(visible(asker.last), SECRETS) == []


@pytest.mark.parametrize(("chosen", "number"), [(OFFERED[0], "1"), (OFFERED[1], "2")])
async def test_each_of_them_is_answered_when_it_is_asked(asker: Asker, chosen: str, number: str) -> None:
    await asker.ask(ASKED)
    answer = await asker.ask(chosen)
    assert (answer.answered, answer.names) == (True, [number])
    assert answer.confidence is not None
    assert answer.confidence > 0.5


async def test_what_was_offered_is_read_by_itself(asker: Asker) -> None:
    """Words without a name may well be about the turn before; what that turn offered is not."""
    offered = "Did you mean: How many trips are there? Or: How many trucks are there?"
    for told, asked, names in (
        (offered, "How many trucks are there?", ["2"]),
        (offered, "how many trips are there?", ["3"]),
    ):
        answer = await asker.ask_after("What is there of Ludmilo Kaskarov?", told, asked)
        assert answer.names == names


async def test_a_question_with_a_word_that_nothing_stands_for_is_offered_without_it(asker: Asker) -> None:
    answer = await asker.ask("how many trips did Ludmilo Kaskarov drive on skates")
    assert not answer.answered
    assert set(answer.did_you_mean) <= set(OFFERED)
    assert "skates" not in answer.text


async def test_a_hidden_relation_makes_no_difference_to_what_is_offered_or_how_sure_it_is(
    store: ServiceContext, embedder: Embedder
) -> None:
    for text in (ASKED, "Who drives Zubrowan?", OFFERED[0], OFFERED[1], "Who is the co driver of Trip Ossobar?"):
        office, whole = Asker(store, embedder, "trips", "trips#office"), Asker(store, embedder, "less", "less")
        mine, theirs = await office.ask(text), await whole.ask(text)
        assert (mine.answered, mine.confidence, mine.did_you_mean) == (
            theirs.answered, theirs.confidence, theirs.did_you_mean,
        ), text  # fmt: skip


async def test_what_is_offered_is_the_same_whatever_the_graph_holds(store: ServiceContext, embedder: Embedder) -> None:
    """No answer of a choice decides what is offered: it may well differ."""
    told = []
    for graph in ("trips", "others"):
        asker = Asker(store, embedder, graph, graph)
        told.append((set((await asker.ask(ASKED)).did_you_mean), (await asker.ask(OFFERED[1])).names))
    assert told[0][0] == told[1][0] == set(OFFERED)
    assert told[0][1] != told[1][1]


async def test_a_question_whose_readings_agree_is_answered(store: ServiceContext, embedder: Embedder) -> None:
    """Whichever was meant, one trip is right."""
    answer = await Asker(store, embedder, "agree", "agree").ask(ASKED)
    assert (answer.answered, answer.names, answer.did_you_mean) == (True, ["1"], ())
