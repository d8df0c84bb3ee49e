"""Refusals quote common words of a question alone: what may be a name stands in no plain reply."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.chat.question_run import ChatOptions
from app.chat.service import ChatService
from app.egress.guard import StaticSegments
from app.evaluation.checks.canaries import canaries_in
from app.llm.embedded.embedded_reasoner import EmbeddedReasoner
from app.llm.embeddings.embedder import Embedder
from app.strategies.sets.strategy import SetsStrategy
from app.wiring.store import ServiceContext
from tests.support.house import House, clinic_store


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("refusals"), embedder) as store:
        yield store


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder) -> House:
    reasoner, strategies = EmbeddedReasoner(embedder), {"sets": SetsStrategy(embedder)}
    parts = (store.catalog, store.conversations, store.ledger, reasoner, strategies, StaticSegments())
    return House(ChatService(*parts, ChatOptions()), store.ledger)


@pytest.mark.parametrize(
    "question", ["top brackwede", "Show the top Brackwede", "What is the brackwede of Murglewort?"]
)
async def test_a_word_that_may_be_a_name_is_not_quoted(house: House, question: str) -> None:
    answer = await house.ask(question)
    assert not answer.answered
    assert canaries_in(answer.text.encode(), ["Brackwede", "Murglewort"]) == []


async def test_a_common_word_that_nothing_stands_for_is_quoted(house: House) -> None:
    assert "“umbrella”" in (await house.ask("Which umbrella has Zofia Quarrel?")).text
