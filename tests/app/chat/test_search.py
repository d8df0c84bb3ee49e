"""A model's wrong drafts on their way through the service: refused in a sentence, or put right by the graph."""

from __future__ import annotations

import pytest

from app.chat.concluding import NOT_IN_GRAPH
from app.language.readings import Contradiction
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.strategies.drafts import REFUSALS
from app.wiring.store import ServiceContext
from tests.support.asking import secrets_in
from tests.support.house import DOCTOR_OF, House, drafting, sets_house, visible
from tests.support.processes.model_server import ModelServer

TREATED = "Is Zofia Quarrel treated by Ptolemy Ashgrove?"


@pytest.fixture
def house(store: ServiceContext, model: PromptedReasoner, embedder: Embedder) -> House:
    return sets_house(store, embedder, reasoner=model)


async def test_a_draft_that_is_wrong_is_refused_in_a_sentence_and_nothing_of_it_leaves(
    house: House, server: ModelServer
) -> None:
    server.replies = drafting("exists({treated by})")
    answer = await house.ask(TREATED)
    assert (answer.answered, answer.text) == (False, REFUSALS[Contradiction.VALUE])
    assert (len(server.received), house.recorded) == (2, 2)
    assert secrets_in(server.everything) == secrets_in(visible(house.last)) == []


async def test_a_yes_or_no_is_the_graphs_and_not_the_models(house: House, server: ModelServer) -> None:
    def named(text: str) -> str:
        return next(thing["name"] for thing in server.received[-1].input["things"] if thing["concept"] == text)

    server.replies = lambda request: drafting(f"exists(intersect({{treated by}}, {named('doctor')}))")(request)
    answer = await house.ask(TREATED)
    assert "No" in answer.text.title().split() or "no" in answer.text
    assert answer.names[0] == "no"
    assert len(server.received) == 2
    assert secrets_in(server.everything) == []


async def test_each_refusal_reads_as_none_of_the_graphs_own(house: House, server: ModelServer) -> None:
    server.replies = drafting("count({treated by})")
    answer = await house.ask(DOCTOR_OF)
    assert answer.text in REFUSALS.values()
    assert answer.text != NOT_IN_GRAPH
