"""Who is told how much prompts show: the asker in usage, whoever may inspect in the trace, metrics in buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.accounts.api_keys import Caller
from app.accounts.quotas import UNLIMITED, Budgets, RevealBudgets
from app.chat.concluding import WITHHELD
from app.chat.inspecting import Tracer
from app.chat.question_run import ChatOptions
from app.egress.budgets import ConversationRevealsUsedUpError, TenantRevealsUsedUpError
from app.egress.disclosure import NO_EGRESS, Disclosure, Profile
from app.egress.disclosure import Policy as DisclosurePolicy
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.reasoner import Reasoner
from app.reader.concept_namer import ConceptNamer
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.telemetry.metrics import Metrics
from app.wiring.store import ServiceContext, open_store
from client_sdk.crypto.sealing import open_trace, trace_context
from client_sdk.protocol import TracedCall
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import members_of, reached
from kg_store.sources.policy import Policy
from kg_store.terms import as_mids
from tests.support.asking import PEOPLE, secrets_in
from tests.support.house import DOCTOR_OF, KEY, House, clinic_store, drafting, sets_house, visible
from tests.support.processes.model_server import ModelServer, follows_all, reply, sent_to
from tests.support.service import settings_in

WARDS_OF = "Which wards was Zofia Quarrel admitted to?"
ADMITTED = "has admission|admitted to"
ADMIN = Caller("default", "k1", "admin", frozenset({"*"}))
Around = Callable[..., House]


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("disclosure"), embedder) as store:
        yield store


@pytest.fixture
def around(store: ServiceContext, embedder: Embedder) -> Around:
    def built(
        reasoner: Reasoner,
        disclosure: Disclosure = Disclosure(),  # noqa: B008
        profile: Profile = Profile.KIND,
        budgets: Budgets = UNLIMITED,
    ) -> House:
        return sets_house(
            store, embedder, ChatOptions(profile=profile, disclosure=disclosure, budgets=budgets), reasoner
        )

    return built


def traced(store: ServiceContext, house: House) -> list[TracedCall]:
    sealed = Tracer(store.ledger, store.conversations, store.catalog).trace(ADMIN, house.last.id, KEY.public_text)
    return open_trace(sealed.capsule, KEY, trace_context(house.last.id)).calls


async def test_the_number_is_told_for_each_prompt_and_the_least_for_the_question(
    around: Around, store: ServiceContext, server: ModelServer, model: PromptedReasoner
) -> None:
    house = around(model)
    server.replies = drafting("{" + ADMITTED + "}", follow=(ADMITTED,))
    answer = await house.ask(WARDS_OF)
    assert set(answer.names) == {"Kestrel Wing", "Gyrfalcon Wing"}
    # Three patients, two of whom were admitted.
    assert [call.anonymity for call in traced(store, house)] == [3, 2]
    assert house.last.usage.anonymity == 2
    assert b"anonymity" not in server.everything
    assert secrets_in(visible(house.last)) == []


async def test_nothing_is_counted_where_nothing_leaves_the_house(
    around: Around, store: ServiceContext, embedder: Embedder
) -> None:
    house = around(EmbeddedReasoner(embedder), NO_EGRESS)
    await house.ask(DOCTOR_OF)
    assert house.last.usage.anonymity is None
    assert {call.anonymity for call in traced(store, house)} == {None}


async def test_a_question_that_shows_nobody_has_no_number(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    house = around(model)
    server.replies = drafting("{treated by}")
    await house.ask("How many patients are treated by doctors?")
    assert server.received
    assert house.last.usage.anonymity is None


async def test_metrics_tell_the_numbers_in_buckets_and_of_nobody(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    house, metrics = around(model), Metrics()
    server.replies = drafting("{treated by}")
    await house.ask(DOCTOR_OF)
    metrics.count_answer("sets", house.last)
    text = metrics.exposition().decode()
    assert 'arog_anonymity_bucket{le="2.0"} 0.0' in text
    assert 'arog_anonymity_bucket{le="5.0"} 1.0' in text


# --- what becomes of prompts that few fit -----------------------------------------------------------------------


async def test_a_prompt_that_too_few_fit_ends_the_question_where_that_is_the_policy(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    house = around(model, Disclosure(k=3, policy="refuse"))
    server.replies = drafting("{" + ADMITTED + "}", follow=(ADMITTED,))
    answer = await house.ask(WARDS_OF)
    assert (answer.answered, answer.text, house.last.usage.withheld) == (False, WITHHELD, 1)
    assert house.last.usage.anonymity == 3
    # The dialogue goes on, and what more of the kind have is told as ever.
    server.replies = drafting("{treated by}")
    assert (await house.ask(DOCTOR_OF)).names == ["Ottoline Brackwater"]
    assert [bool(given["evidence"]) for given in sent_to(server, "step")] == [False, False, True]


async def test_the_house_takes_the_step_where_what_it_shows_is_to_be_generalised(
    around: Around, store: ServiceContext, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    house = around(model, Disclosure(k=3, policy="generalise", in_house=EmbeddedReasoner(embedder)))
    server.replies = drafting("{" + ADMITTED + "}", follow=(ADMITTED,))
    answer = await house.ask(WARDS_OF)
    assert set(answer.names) == {"Kestrel Wing", "Gyrfalcon Wing"}
    assert [given["evidence"] for given in sent_to(server, "step")] == [[]]
    assert (house.last.usage.anonymity, house.last.usage.withheld, house.recorded) == (3, 1, 1)
    assert [call.anonymity for call in traced(store, house)] == [3]


async def test_strictly_the_house_reads_the_question_and_the_model_does_not(
    around: Around, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    disclosure = Disclosure(k=3, policy="generalise", in_house=EmbeddedReasoner(embedder))
    house = around(model, disclosure, Profile.STRICT)
    server.replies = drafting("{" + ADMITTED + "}", follow=(ADMITTED,))
    assert set((await house.ask(WARDS_OF)).names) == {"Kestrel Wing", "Gyrfalcon Wing"}
    # The path that is asked for is what only two of three have: nothing at all was sent.
    assert (server.received, house.last.usage.anonymity) == ([], None)


SUBJECTS = ("Zofia Quarrel", "Bertil Oxenhame", "Ottoline Brackwater", "Kestrel Wing", "Zemgalburg")
QUESTIONS = (
    "Which wards was {} admitted to?", "Who is {} married to?", "Who lives in {}?", "Where does {} work?",
    "How many patients are treated by {}?",
)  # fmt: skip


def fitting(graph: PrivateGraph, given: dict[str, Any]) -> int:
    """The least number for a prompt, thing by thing, each walked from by itself."""
    schema = graph.blind.schema
    hops = {schema.label(hop): hop for signature in schema.signatures for hop in signature.hops}

    def walks(mid: int, path: list[str]) -> bool:
        steps = tuple(tuple(hops[label] for label in step.split("|")) for step in path)
        return bool(len(reached(graph.blind, as_mids([mid]), steps)))

    ends: dict[str, tuple[str, list[str]]] = {}
    for _ in given["evidence"]:
        for fact in given["evidence"]:
            root, before = ends.get(fact["start"], (fact["start"], []))
            ends[fact["end"]] = (root, [*before, *fact["path"]])
    counts = []
    for thing in given["things"]:
        if thing["name"].startswith("E"):
            kinds = thing["concept"].split(", ")
            of_kind = {int(mid) for kind in kinds for mid in members_of(graph.blind, kind)}
            paths = [path for root, path in ends.values() if root == thing["name"]]
            counts.append(sum(all(walks(mid, path) for path in paths) for mid in of_kind))
    return min(counts, default=10**9)


@pytest.mark.parametrize(("k", "policy"), [(3, "refuse"), (4, "refuse"), (4, "generalise"), (10, "generalise")])
async def test_nothing_leaves_that_fewer_than_k_fit(
    around: Around, store: ServiceContext, server: ModelServer, model: PromptedReasoner, embedder: Embedder, k: int,
    policy: DisclosurePolicy,
) -> None:  # fmt: skip
    disclosure = Disclosure(k=k, policy=policy, in_house=EmbeddedReasoner(embedder))
    graph = store.catalog.open("default", "clinic")
    server.replies = follows_all
    told = 0
    for subject in SUBJECTS:
        for question in QUESTIONS:
            house = around(model, disclosure)
            before = len(server.received)
            await house.ask(question.format(subject))
            usage = house.last.usage
            counts = [fitting(graph, request.input) for request in server.received[before:]]
            assert all(count >= k for count in counts)
            assert usage.anonymity == min(counts, default=None)
            told += usage.withheld
    # Of the largest kind there are three, of all together nine.
    assert told
    assert (k > (3 if policy == "refuse" else 9)) == (not server.received)
    assert secrets_in(server.everything) == []


@pytest.mark.parametrize(("one", "other"), [("Ottoline Brackwater", "Zemgalburg"), ("Zofia Quarrel", "Kestrel Wing")])
async def test_first_prompts_about_two_things_of_a_wider_kind_are_alike(
    around: Around, server: ModelServer, model: PromptedReasoner, embedder: Embedder, one: str, other: str
) -> None:
    disclosure = Disclosure(k=4, policy="generalise", in_house=EmbeddedReasoner(embedder))
    server.replies = lambda _request: reply(
        {"action": "not_in_graph", "choices": [], "answer": [], "text": ""}
    )  # fmt: skip
    shown = []
    for subject in (one, other):
        server.received.clear()
        await around(model, disclosure).ask(f"What has {subject} to do with it?")
        shown.append([_told(request.input) for request in server.received])
    assert shown[0]
    assert shown[0] == shown[1]


def _told(given: dict[str, Any]) -> tuple[object, ...]:
    """Concepts and ways of a prompt, whatever their order and pseudonyms."""
    things = sorted(thing["concept"] for thing in given["things"])
    ways = sorted((way["path"], way["concept"]) for way in given["candidates"])
    return things, ways, given["further"]


async def test_without_a_reasoner_in_the_house_the_question_ends(
    around: Around, server: ModelServer, model: PromptedReasoner
) -> None:
    server.replies = follows_all
    house = around(model, Disclosure(k=10, policy="generalise"))
    assert (await house.ask(DOCTOR_OF)).text == WITHHELD
    assert server.received == []


# --- budgets of what prompts show -------------------------------------------------------------------------------


async def test_a_conversation_over_its_facts_is_refused_and_the_next_one_is_not(
    around: Around, store: ServiceContext, server: ModelServer, model: PromptedReasoner
) -> None:
    house = around(model, budgets=Budgets(reveals=RevealBudgets(store.engine, conversation=1)))
    server.replies = drafting("{treated by}")
    assert (await house.ask(DOCTOR_OF)).names == ["Ottoline Brackwater"]
    # The same fact shows nothing new; it is kept with the conversation.
    assert (await house.ask(DOCTOR_OF)).answered
    sent = len(server.received)
    server.replies = drafting("{lives in}", follow=("lives in",))
    with pytest.raises(ConversationRevealsUsedUpError):
        await house.ask("Where does Zofia Quarrel live?")
    assert [given["evidence"] for given in sent_to(server, "step")[sent:]] == [[]]
    house.dialogue.reset()
    assert (await house.ask("Where does Zofia Quarrel live?")).names == ["Zemgalburg"]


async def test_a_tenants_day_counts_all_conversations_and_what_the_house_keeps_is_not_shown(
    around: Around, store: ServiceContext, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    reveals = RevealBudgets(store.engine, tenant=10_000)
    before = reveals.shown_today("default")
    server.replies = drafting("{treated by}")
    for _ in range(2):
        assert (await around(model, budgets=Budgets(reveals=reveals)).ask(DOCTOR_OF)).answered
    assert reveals.shown_today("default") == before + 2
    in_house = Disclosure(k=4, policy="generalise", in_house=EmbeddedReasoner(embedder))
    house = around(model, in_house, budgets=Budgets(reveals=reveals))
    server.replies = drafting("{" + ADMITTED + "}", follow=(ADMITTED,))
    assert set((await house.ask(WARDS_OF)).names) == {"Kestrel Wing", "Gyrfalcon Wing"}
    assert reveals.shown_today("default") == before + 2
    reveals.tenant = before + 2
    server.replies = drafting("{treated by}")
    with pytest.raises(TenantRevealsUsedUpError):
        await around(model, budgets=Budgets(reveals=reveals)).ask(DOCTOR_OF)


PUBLIC = """@prefix p: <http://towns.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
p:z a p:Town ; rdfs:label "Zemgalburg" ; p:liesOn p:r . p:k a p:Town ; rdfs:label "Umbrathal" ; p:liesOn p:s .
p:r a p:River ; rdfs:label "Ombrel" . p:s a p:River ; rdfs:label "Tavvy" ; p:flowsInto p:r .
"""
OVER_BOTH = ("Which river does the city of {} lie on?", "Who lives in a city on the Ombrel?", *QUESTIONS)


@pytest.mark.parametrize("k", [3, 4])
async def test_nothing_leaves_that_fewer_than_k_fit_over_a_public_graph_joined(
    tmp_path: Path, server: ModelServer, model: PromptedReasoner, embedder: Embedder, k: int
) -> None:
    (tmp_path / "clinic.ttl").write_text(PEOPLE, "utf-8")
    (tmp_path / "towns.ttl").write_text(PUBLIC, "utf-8")
    store = open_store(settings_in(tmp_path))
    files = [tmp_path / "clinic.ttl", tmp_path / "towns.ttl"]
    policy = Policy.from_toml('[public]\nfiles = ["towns.ttl"]\n[public.bridges]\ncity = "label"\n')
    store.catalog.load("default", "clinic", files, policy, ConceptNamer(embedder).name)
    graph = store.catalog.open("default", "clinic")
    disclosure = Disclosure(k=k, policy="refuse", in_house=EmbeddedReasoner(embedder))
    server.replies = follows_all
    shown = set[str]()
    for subject in SUBJECTS:
        for question in OVER_BOTH:
            options = ChatOptions(profile=Profile.KIND, disclosure=disclosure)
            before = len(server.received)
            await sets_house(store, embedder, options, model).ask(question.format(subject))
            for request in server.received[before:]:
                assert fitting(graph, request.input) >= k
                shown |= {step for way in request.input["candidates"] for step in way["path"]}
    assert any("lies on" in step for step in shown) or k > 3
    assert secrets_in(server.everything) == []
    store.close()
