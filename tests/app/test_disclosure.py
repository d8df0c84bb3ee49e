"""Who is told how much prompts show: the asker in usage, whoever may inspect in the trace, metrics in buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from app.access import Caller
from app.chat import ChatService
from app.llm.concepts import ConceptNamer
from app.llm.embedded import EmbeddedReasoner
from app.llm.embedder import Embedder
from app.llm.prompted import PromptedReasoner
from app.llm.reasoner import Reasoner
from app.metrics import Metrics
from app.privacy.guard import StaticSegments
from app.strategies.base import Profile
from app.strategies.metered import IN_THE_HOUSE, Disclosure
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from app.tracing import Tracer
from app.wiring import Store, open_store
from client_sdk.protocol import TracedCall, trace_context
from client_sdk.sealing import open_trace
from tests.support.asking import PEOPLE, secrets_in
from tests.support.house import DOCTOR_OF, KEY, House, drafting, visible
from tests.support.model_server import ModelServer
from tests.support.service import settings_in

WARDS_OF = "Which wards was Zofia Quarrel admitted to?"
ADMITTED = "has admission|admitted to"
ADMIN = Caller("default", "k1", "admin", frozenset({"*"}))
Around = Callable[..., House]


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("disclosure")
    opened = open_store(settings_in(folder))
    file = folder / "clinic.ttl"
    file.write_text(PEOPLE, "utf-8")
    opened.catalog.load("default", "clinic", [file], None, ConceptNamer(embedder).name)
    yield opened
    opened.close()


@pytest.fixture
def around(store: Store, embedder: Embedder) -> Around:
    def built(reasoner: Reasoner, disclosure: Disclosure = Disclosure(), profile: Profile = Profile.KIND) -> House:  # noqa: B008
        statics = StaticSegments()
        for data in reasoner.statics_of(STEP):
            statics.register(data)
        chat = ChatService(
            store.catalog, store.conversations, store.ledger, reasoner, {"sets": SetsStrategy(embedder)}, statics,
            profile=profile, disclosure=disclosure,
        )  # fmt: skip
        return House(chat, store.ledger)

    return built


def traced(store: Store, house: House) -> list[TracedCall]:
    sealed = Tracer(store.ledger, store.conversations, store.catalog).trace(ADMIN, house.last.id, KEY.public_text)
    return open_trace(sealed.capsule, KEY, trace_context(house.last.id)).calls


async def test_the_number_is_told_for_each_prompt_and_the_least_for_the_question(
    around: Around, store: Store, server: ModelServer, model: PromptedReasoner
) -> None:
    house = around(model)
    server.replies = drafting("In {1}.", "{" + ADMITTED + "}", follow=(ADMITTED,))
    answer = await house.ask(WARDS_OF)
    assert set(answer.names) == {"Kestrel Wing", "Gyrfalcon Wing"}
    # Three patients, two of whom were admitted.
    assert [call.anonymity for call in traced(store, house)] == [3, 2]
    assert house.last.usage.anonymity == 2
    assert b"anonymity" not in server.everything
    assert secrets_in(visible(house.last)) == []


async def test_nothing_is_counted_where_nothing_leaves_the_house(
    around: Around, store: Store, embedder: Embedder
) -> None:
    house = around(EmbeddedReasoner(embedder), IN_THE_HOUSE)
    await house.ask(DOCTOR_OF)
    assert house.last.usage.anonymity is None
    assert {call.anonymity for call in traced(store, house)} == {None}


async def test_a_question_that_shows_nobody_has_no_number(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    house = around(model)
    server.replies = drafting("{1}.", "{treated by}")
    await house.ask("How many patients are treated by doctors?")
    assert server.received
    assert house.last.usage.anonymity is None


async def test_metrics_tell_the_numbers_in_buckets_and_of_nobody(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    house, metrics = around(model), Metrics()
    server.replies = drafting("It is {1}.", "{treated by}")
    await house.ask(DOCTOR_OF)
    metrics.count_answer("sets", house.last)
    text = metrics.exposition().decode()
    assert 'arog_anonymity_bucket{le="2.0"} 0.0' in text
    assert 'arog_anonymity_bucket{le="5.0"} 1.0' in text
