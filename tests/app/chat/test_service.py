"""ChatService on a real graph, with the embedded reasoner and with models over real HTTP, good ones and bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial

import pytest
from sqlalchemy import create_engine

from app.accounts.quotas import UNLIMITED, Budgets
from app.chat.concluding import NO_PATH, NOT_GROUNDED, NOT_IN_GRAPH
from app.chat.question_run import ChatOptions
from app.chat.service import ChatService
from app.egress.disclosure import Profile
from app.egress.guard import BlockedError, StaticSegments
from app.egress.ledger.ledger import MAX_ENTRIES, Ledger, LedgerUnavailableError
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.endpoint.request_body import Price, RequestTemplate
from app.llm.reasoner import Reasoner, ReasonerUnavailableError, ReplyUnusableError
from app.privacy.pseudonyms import shaped_in
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.reader.meaning import read_meaning
from app.reader.meaning.question.one_question import one_question
from app.strategies.arog import ArogStrategy
from app.strategies.prompts import AROG_TASKS
from app.strategies.sets.prompts import STEP, STEP_IN_GRAPH
from app.strategies.sets.strategy import SetsStrategy
from app.wiring.administration import graphs_of
from app.wiring.store import ServiceContext
from client_sdk.protocol import ChatRequest, Message, Names
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.storage.master_key import MasterKey
from tests.support.asking import PEOPLE, plan_along, secrets_in
from tests.support.house import CALLER, DOCTOR_OF, House, clinic_store, drafting, step, visible
from tests.support.languages import english
from tests.support.processes.model_server import Canned, ModelServer, Request, completion, failure, in_turn, sent_to

TWINS = """
:p4 a :Patient ; rdfs:label "Marisol Ventrake" ; :li :c1 . :p5 a :Doctor ; rdfs:label "Marisol Ventrake" ; :li :c2 .
"""
pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("house"), embedder, PEOPLE + TWINS) as store:
        assert graphs_of(store).summaries("default")
        yield store


Around = Callable[..., House]


@pytest.fixture
def around(store: ServiceContext, embedder: Embedder) -> Around:
    def built(
        reasoner: Reasoner,
        ledger: Ledger | None = None,
        strategy: str = "sets",
        budgets: Budgets = UNLIMITED,
        profile: Profile = Profile.OPEN,
        **options: int,
    ) -> House:
        statics = StaticSegments()
        for kind in (STEP, STEP_IN_GRAPH, *AROG_TASKS):
            for data in reasoner.statics_of(kind):
                statics.register(data)
        strategies = {"sets": SetsStrategy(embedder), "arog": ArogStrategy(embedder)}
        ledger = ledger or store.ledger
        chat = ChatService(
            store.catalog, store.conversations, ledger, reasoner, english(embedder), strategies, statics,
            ChatOptions(currency="USD", budgets=budgets, profile=profile),
        )  # fmt: skip
        return House(chat, ledger, strategy, options)

    return built


@pytest.fixture
def modelled(around: Around, model: PromptedReasoner) -> Around:
    return partial(around, model)


@pytest.fixture
def embedded(around: Around, embedder: Embedder) -> House:
    return around(EmbeddedReasoner(embedder))


# --- what the caller gets ------------------------------------------------------------------------------------


async def test_names_are_in_the_capsule_and_nowhere_else(embedded: House) -> None:
    answer = await embedded.ask(DOCTOR_OF)
    assert answer.text == "Zofia Quarrel is treated by Ottoline Brackwater."
    assert (answer.answered, answer.grounded, answer.names) == (True, True, ["Ottoline Brackwater"])
    assert secrets_in(visible(embedded.last)) == []
    assert [item.kind for item in embedded.last.entities] == ["entity"]


@pytest.mark.parametrize("strategy", ["sets", "arog"])
async def test_both_strategies_answer(around: Around, embedder: Embedder, strategy: str) -> None:
    house = around(EmbeddedReasoner(embedder), strategy=strategy)
    assert set((await house.ask("Which wards was Zofia Quarrel admitted to?")).names) == {
        "Kestrel Wing",
        "Gyrfalcon Wing",
    }
    assert (await house.ask("How many patients are treated by Ottoline Brackwater?")).names == ["2"]


@pytest.mark.parametrize("strategy", ["sets", "arog"])
async def test_stages_are_told_by_name_and_rounds_by_number(around: Around, embedder: Embedder, strategy: str) -> None:
    house, told = around(EmbeddedReasoner(embedder), strategy=strategy), list[tuple[str, int | None]]()
    request = house.dialogue.request("Which wards was Zofia Quarrel admitted to?", None, {})
    answer = await house.chat.answer(CALLER, request, lambda name, number: told.append((name, number)))
    rounds = [("round", number) for number in range(1, answer.usage.rounds + 1)]
    assert len(rounds) >= 1
    stages = ("opening", "linking", "finding", *rounds, "concluding", "sealing", "keeping")
    assert told == [stage if isinstance(stage, tuple) else (stage, None) for stage in stages]


async def test_only_what_the_answer_cites_is_named(modelled: Around, server: ModelServer) -> None:
    house = modelled()
    server.replies = drafting("{treated by}", follow=("treated by", "lives in", "date of birth"))
    answer = await house.ask(DOCTOR_OF)
    assert answer.names == ["Ottoline Brackwater"]
    assert len(answer.evidence) == 3
    assert house.named == {"Ottoline Brackwater", "Zofia Quarrel"}
    assert secrets_in(visible(house.last) + server.everything) == []


@pytest.mark.parametrize("sign", ["\n", ".", "\u0301"])
async def test_patterns_read_no_long_run_of_signs(embedded: House, monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    read = list[str]()
    monkeypatch.setattr(read_meaning, "one_question", lambda text: read.append(text) or one_question(text))
    await embedded.ask(DOCTOR_OF + sign * 4_000)
    assert read
    assert max(map(len, read)) < 200


async def test_without_a_key_nothing_is_named(embedded: House) -> None:
    request = ChatRequest(graph="clinic", messages=[Message(role="user", content=DOCTOR_OF)])
    answer = await embedded.chat.answer(CALLER, request)
    assert (answer.answered, answer.capsule) == (True, None)
    assert secrets_in(answer.model_dump_json().encode()) == []


async def test_no_more_names_than_were_asked_for(around: Around, embedder: Embedder) -> None:
    house = around(EmbeddedReasoner(embedder), names=1)
    (entity,) = (await house.ask("Which wards was Zofia Quarrel admitted to?")).entities
    assert (len(entity.names), entity.total) == (1, 2)
    assert all(len(names.names) <= 1 for names in house.capsule.values())


async def test_who_is_asked_about_is_no_answer(around: Around, embedder: Embedder) -> None:
    question = "Who lives in the city Zofia Quarrel lives in?"
    with ScriptedEndpoint(counts_tokens=True) as scripted:
        scripted.expect(plan_along(["lives in", "^lives in"]), question)
        endpoint = ModelEndpoint(scripted.url, "scripted", deadline_s=20)
        house = around(PromptedReasoner(endpoint, embedder))
        answer = await house.ask(question)
        await endpoint.close()
        assert set(answer.names) == {"Aurelio Vantongeren", "Ptolemy Ashgrove", "Marisol Ventrake"}
        assert scripted.contract_breaks == []
        assert answer.usage.tokens_counted_by == "endpoint"
        assert secrets_in(b"".join(each.head + each.body for each in scripted.received)) == []


async def test_usage_tells_calls_retries_and_cost(around: Around, embedder: Embedder, server: ModelServer) -> None:
    spoilt = [failure(503), completion("", usage=(10, 1))]

    def replies(request: Request) -> Canned:
        if spoilt:
            return spoilt.pop(0)
        patient = request.input["things"][0]["name"]
        return _with_usage(completion(json.dumps({"answer": ["reach", patient, "treated by"]})))

    server.replies = replies
    endpoint = ModelEndpoint(server.url, "m", deadline_s=20, price=Price(prompt=2.0, completion=10.0))
    house = around(PromptedReasoner(endpoint, embedder))
    usage = (await house.ask(DOCTOR_OF)).usage
    await endpoint.close()
    # A useful call, one whose reply was empty and asked for again, and one request that failed before it.
    assert (usage.calls, usage.retries, len(server.received), house.recorded) == (2, 2, 3, 2)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.tokens_counted_by) == (1010, 101, "endpoint")
    assert usage.cost == pytest.approx((1010 * 2 + 101 * 10) / 1_000_000)
    assert usage.currency == "USD"


async def test_the_guard_reads_the_salt_of_a_tenant_and_lets_it_pass(
    around: Around, embedder: Embedder, server: ModelServer
) -> None:
    server.replies = drafting("{treated by}")
    endpoint = ModelEndpoint(server.url, "m", deadline_s=20, wording=RequestTemplate("m", is_salted=True))
    for key in range(5):
        house = around(PromptedReasoner(endpoint, embedder, salt_key=bytes([key]) * 32))
        assert (await house.ask(DOCTOR_OF)).names == ["Ottoline Brackwater"]
    await endpoint.close()
    salts = {request.json["cache_salt"] for request in server.received}
    assert len(salts) == 5
    assert all(salt.isdecimal() and len(salt) > 60 for salt in salts)


def _with_usage(canned: Canned) -> Canned:
    body = {**json.loads(canned.body), "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}
    return Canned(json.dumps(body).encode())


async def test_a_name_that_two_share_is_asked_about_with_its_choices(embedded: House) -> None:
    answer = await embedded.ask("Where does Marisol Ventrake live?")
    (choices,) = embedded.last.ambiguous
    assert len(choices.choices) == 2
    assert [names.names for word, names in embedded.capsule.items() if word in choices.choices] == [
        ["Marisol Ventrake"], ["Marisol Ventrake"],
    ]  # fmt: skip
    assert len(answer.ambiguous) == 1


async def test_the_limits_reach_the_model(modelled: Around, server: ModelServer) -> None:
    house = modelled(width=2, depth=1)
    server.replies = drafting("{treated by}", follow=("treated by", "lives in", "date of birth"))
    # Where `treated by` is not among the two that were followed, the draft names nothing, and nor does its repair.
    with suppress(ReplyUnusableError):
        assert len((await house.ask(DOCTOR_OF)).evidence) <= 2
    rounds = [each for each in sent_to(server, "step") if "width" in each]
    assert {each["width"] for each in rounds} == {2}
    assert [each["last_round"] for each in rounds][:2] == [False, True]


# --- dialogue ------------------------------------------------------------------------------------------------


async def test_a_follow_up_leans_on_the_turns_before(modelled: Around, server: ModelServer) -> None:
    house = modelled()
    server.replies = drafting("{treated by}")
    first = await house.ask(DOCTOR_OF)
    server.replies = drafting("{works in}", follow=("works in",))
    second = await house.ask("And in which ward does she work?")
    assert second.conversation == first.conversation
    assert second.names == ["Kestrel Wing"]
    dialogue = sent_to(server, "step")[-1]["dialogue"]
    assert [turn["role"] for turn in dialogue] == ["user", "assistant"]
    assert dialogue[1]["text"] == first.pseudonymous_text
    assert secrets_in(server.everything) == []


async def _words_sent(house: House, server: ModelServer, question: str) -> set[str]:
    """Every pseudonym in the bytes that `question` made leave."""
    server.received.clear()
    await house.ask(question)
    return {standing.word for standing in shaped_in(json.dumps(sent_to(server, "step")))}


async def test_questions_that_lean_on_nothing_share_no_pseudonym_on_the_wire(
    modelled: Around, server: ModelServer
) -> None:
    house = modelled(profile=Profile.KIND)
    server.replies = drafting("{treated by}")
    questions = (DOCTOR_OF, DOCTOR_OF, "Is she also the doctor there?", DOCTOR_OF)
    sent = [await _words_sent(house, server, question) for question in questions]
    assert not sent[0] & sent[1]
    assert sent[1] & sent[2]
    assert not (sent[0] | sent[1] | sent[2]) & sent[3]
    assert not set().union(*sent) & set(house.capsule)
    assert secrets_in(server.everything) == []


async def test_a_question_that_leans_takes_along_the_turns_of_its_thread_alone(
    modelled: Around, server: ModelServer
) -> None:
    house = modelled(profile=Profile.KIND)
    server.replies = drafting("{treated by}")
    turns = []
    for question in (DOCTOR_OF, DOCTOR_OF, "Is she also the doctor there?", "And there?"):
        await house.ask(question)
        turns.append(len(sent_to(server, "step")[-1].get("dialogue", [])))
    assert turns == [0, 0, 2, 4]


# --- what a model can't do -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draft",
    [
        "Ez9y8x",
        "count({treated by} {treated by})",
        "__import__(os)",
        'reach({treated by}, "adores")',
        "Ottoline Brackwater",
    ],
)
async def test_what_was_not_offered_is_no_reply(modelled: Around, server: ModelServer, draft: str) -> None:
    house = modelled()
    server.replies = drafting(draft)
    with pytest.raises(ReplyUnusableError):
        await house.ask(DOCTOR_OF)


@pytest.mark.parametrize(
    "draft", ['argmax({treated by}, "lives in")', 'compare({treated by}, {lives in}, "lives in")']
)
async def test_what_can_not_be_executed_is_not_shown(modelled: Around, server: ModelServer, draft: str) -> None:
    house = modelled()
    server.replies = drafting(draft, follow=("treated by", "lives in"))
    answer = await house.ask(DOCTOR_OF)
    assert (answer.answered, answer.grounded, answer.text) == (False, False, NOT_GROUNDED)
    assert (house.last.entities, named_in(house.capsule)) == ([], ["Zofia Quarrel"])


async def test_what_a_model_writes_beside_its_choice_is_shown_to_nobody(modelled: Around, server: ModelServer) -> None:
    house = modelled()

    def replies(request: Request) -> Canned:
        ways = [each["number"] for each in request.input["candidates"] if each["path"] == ["treated by"]]
        return step(
            "answer", answer=[f"way({ways[0]})"], text="Arsonist {1}!", thought="Arsonist", confidence="Arsonist"
        )

    server.replies = replies
    answer = await house.ask(DOCTOR_OF)
    assert answer.text == "Zofia Quarrel is treated by Ottoline Brackwater."
    assert "Arsonist" not in f"{answer} {house.last!r}"


def named_in(capsule: Mapping[str, Names]) -> list[str]:
    """A refusal tells what the question was understood to name, and nothing else."""
    return [name for names in capsule.values() for name in names.names]


async def test_a_pseudonym_of_another_question_was_not_offered(modelled: Around, server: ModelServer) -> None:
    house = modelled()
    server.replies = drafting("{treated by}")
    await house.ask(DOCTOR_OF)
    earlier = house.last.entities[0].pseudonym
    server.replies = drafting(earlier, follow=("lives in",))
    with pytest.raises(ReplyUnusableError):
        await house.ask("Where does Bertil Oxenhame live?")


@pytest.mark.parametrize(
    "draft", [None, "intersect({treated by}, {lives in})", 'filter({treated by}, "lives in", =, {lives in})']
)
async def test_nothing_found_is_said_and_names_what_was_asked_alone(
    modelled: Around, server: ModelServer, draft: str | None
) -> None:
    house = modelled()
    server.replies = drafting(draft, follow=("treated by", "lives in")) if draft else in_turn(step("not_in_graph"))
    answer = await house.ask(DOCTOR_OF)
    assert (answer.answered, answer.grounded, answer.text) == (False, True, NOT_IN_GRAPH if draft else NO_PATH)
    assert named_in(house.capsule) == ["Zofia Quarrel"]


# --- when a part fails ---------------------------------------------------------------------------------------


async def test_nothing_is_sent_when_the_guard_stops_a_request(
    store: ServiceContext, server: ModelServer, embedder: Embedder
) -> None:
    endpoint = ModelEndpoint(server.url, "zofia quarrel", deadline_s=20)
    strategies = {"sets": SetsStrategy(embedder)}
    unregistered = StaticSegments()
    reasoner = PromptedReasoner(endpoint, embedder)
    given = reasoner, english(embedder), strategies, unregistered
    chat = ChatService(store.catalog, store.conversations, store.ledger, *given)
    before = len(store.ledger.entries("default", limit=MAX_ENTRIES))
    with pytest.raises(BlockedError):
        await House(chat, store.ledger).ask(DOCTOR_OF)
    await endpoint.close()
    assert server.received == []
    newest, *rest = store.ledger.entries("default", limit=MAX_ENTRIES)
    assert (newest.verdict, newest.payload, len(rest)) == ("blocked", None, before)


async def test_nothing_is_sent_when_the_ledger_can_not_be_written(modelled: Around, server: ModelServer) -> None:
    engine = create_engine("sqlite://")
    house = modelled(ledger=Ledger(engine, MasterKey.from_text(MasterKey.generate())))
    with pytest.raises(LedgerUnavailableError):
        await house.ask(DOCTOR_OF)
    engine.dispose()
    assert server.received == []


@pytest.mark.parametrize(
    ("canned", "error"),
    [(failure(503, "Quarrel"), ReasonerUnavailableError), (completion("Quarrel"), ReplyUnusableError)],
)
async def test_a_model_that_fails_is_an_error_without_its_words(
    around: Around, server: ModelServer, model: PromptedReasoner, canned: Canned, error: type[Exception]
) -> None:
    server.replies = in_turn(canned)
    with pytest.raises(error) as caught:
        await around(model).ask(DOCTOR_OF)
    assert "Quarrel" not in str(caught.value)
