"""A model beside the reasoner in the service: who reads what is told, how sure it is, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from unittest.mock import Mock

import pytest

from app.accounts.quotas import UNLIMITED
from app.chat.execution import Conclusion
from app.chat.question_run import ChatOptions, ConclusionResult, QuestionRun
from app.chat.search import (
    MODEL_ALONE,
    MODEL_ELSE,
    MODEL_NONE,
    NO_REPLY,
    NOT_REACHED,
    NOTHING_TO_SAY,
    OVER_BUDGET,
    OWN_ELSE,
    SURE,
    _uses_what_is_named,
    weighed,
)  # fmt: skip
from app.language.readings import Contradiction
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.endpoint.request_body import Dialect
from app.llm.reasoner import Reasoner, ReasonerError
from app.privacy.safe_text import Topic
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import RetrievalResult
from app.strategies.drafts import REFUSALS
from app.wiring.store import ServiceContext
from kg_store.algebra.expressions import ExpressionResult
from kg_store.terms import NO_MIDS, ValueKind, as_mids
from tests.support.asking import secrets_in
from tests.support.house import DOCTOR_OF, House, drafting, sets_house, step, visible
from tests.support.processes.model_server import Canned, ModelServer, Request, completion, failure, in_turn

Asking = Callable[[Reasoner], House]
pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
def asking(store: ServiceContext, embedder: Embedder) -> Asking:
    return lambda reasoner: sets_house(store, embedder, reasoner=reasoner)


@pytest.fixture
def embedded(asking: Asking, embedder: Embedder) -> House:
    return asking(EmbeddedReasoner(embedder))


async def test_an_answer_tells_how_sure_it_is(embedded: House) -> None:
    answer = await embedded.ask(DOCTOR_OF)
    assert answer.answered
    assert answer.confidence is not None
    assert 0.7 < answer.confidence < 1
    assert answer.confidence == embedded.last.confidence


@pytest.mark.parametrize("text", ["Hello!", "Tell me about Zofia Quarrel", "Which umbrella has Zofia Quarrel?"])
async def test_what_nothing_measures_has_none(embedded: House, text: str) -> None:
    assert (await embedded.ask(text)).confidence is None


async def test_a_misspelt_name_makes_it_no_surer(embedded: House) -> None:
    plain, misspelt = await embedded.ask(DOCTOR_OF), await embedded.ask("Who is Zofia Quarel treated by?")
    assert misspelt.inexact
    assert plain.confidence is not None
    assert misspelt.confidence is not None
    assert misspelt.confidence <= plain.confidence


async def test_a_model_that_says_what_we_read_is_as_sure_as_our_reading(
    asking: Asking, embedded: House, server: ModelServer, model: PromptedReasoner
) -> None:
    server.replies = drafting("{treated by}")
    ours, theirs = await embedded.ask(DOCTOR_OF), await asking(model).ask(DOCTOR_OF)
    assert theirs.names == ours.names
    assert theirs.confidence == pytest.approx(ours.confidence, abs=0.05)


async def test_a_model_that_says_otherwise_is_doubted(
    asking: Asking, server: ModelServer, model: PromptedReasoner
) -> None:
    """Ottoline lives where Bertil does; Ptolemy treats him."""
    server.replies = drafting(
        'intersect(reach({lives in}, "^lives in"), {treated by})', follow=("lives in", "treated by")
    )
    ours = await asking(model).ask("Who is Aurelio Vantongeren treated by?")
    assert ours.answered
    assert ours.confidence is not None
    assert ours.confidence < 0.3


async def test_a_model_can_not_tell_how_sure_it_is_or_ask_back(
    asking: Asking, server: ModelServer, model: PromptedReasoner
) -> None:
    claims = {"confidence": 0.42, "scores": {"road": "path", "score": -1, "margin": 0}, "asks_back": ["Who?"]}

    def claiming(request: Request) -> Canned:
        body = json.loads(drafting("{treated by}")(request).body)
        return completion(json.dumps({**json.loads(body["choices"][0]["message"]["content"]), **claims}))

    server.replies = drafting("{treated by}")
    plain = await asking(model).ask(DOCTOR_OF)
    server.replies = claiming
    claimed = await asking(model).ask(DOCTOR_OF)
    assert (claimed.confidence, claimed.did_you_mean) == (plain.confidence, ())
    server.replies = lambda _request: step("not_in_graph", **claims)
    assert (await asking(model).ask(DOCTOR_OF)).did_you_mean == ()


AURELIO = "Who is Aurelio Vantongeren treated by?"
ELSE = drafting('intersect(reach({lives in}, "^lives in"), {treated by})', follow=("lives in", "treated by"))
"""Another doctor's: Ottoline lives where Bertil does, and Ptolemy treats him."""
UNREAD = "Which umbrella has Zofia Quarrel?"
Around = Callable[..., House]


@pytest.fixture
def around(store: ServiceContext, embedder: Embedder, model: PromptedReasoner) -> Around:
    def built(**changes: object) -> House:
        options = ChatOptions(in_house=EmbeddedReasoner(embedder), endpoint_use="always", falls_back=True)
        return sets_house(store, embedder, replace(options, **changes), model)  # type: ignore[arg-type]

    return built


def living(request: Request) -> Canned:
    """An answer to whatever is asked: where the thing lives."""
    ways = [each["number"] for each in request.input["candidates"] if each["path"] == ["lives in"]]
    return step("answer", answer=[f"way({ways[0]})"])


async def test_where_both_give_the_same_that_is_the_answer(around: Around, server: ModelServer) -> None:
    server.replies = drafting("{treated by}")
    answer = await around().ask(DOCTOR_OF)
    assert (answer.text, answer.notes) == ("Zofia Quarrel is treated by Ottoline Brackwater.", ())
    assert answer.grounded
    assert secrets_in(server.everything) == []


async def test_where_they_differ_both_are_told_the_surer_first(around: Around, server: ModelServer) -> None:
    server.replies = ELSE
    house = around()
    own, answer = await around(endpoint_use="unsure").ask(AURELIO), await house.ask(AURELIO)
    is_sure = (own.confidence or 0) >= SURE
    between = MODEL_ELSE if is_sure else OWN_ELSE
    first, _, second = answer.text.partition(f" {between} ")
    assert second
    assert own.text.rstrip(".") in (first if is_sure else second)
    # The data of the answer are those of the first alone; the names of both are in the capsule.
    assert set(answer.names) < house.named


async def test_a_model_that_says_nothing_takes_nothing_away(around: Around, server: ModelServer) -> None:
    server.replies = in_turn(step("not_in_graph"))
    answer = await around().ask(DOCTOR_OF)
    assert (answer.names, answer.notes) == (["Ottoline Brackwater"], (MODEL_NONE,))


@pytest.mark.parametrize(("canned", "remark"), [(completion("Quarrel"), NO_REPLY), (failure(503), NOT_REACHED)])
async def test_a_model_that_can_not_answer_is_told_and_the_house_answers(
    around: Around, server: ModelServer, canned: Canned, remark: str
) -> None:
    server.replies = in_turn(canned)
    answer = await around().ask(DOCTOR_OF)
    assert (answer.names, answer.notes) == (["Ottoline Brackwater"], (remark,))
    assert "Quarrel is" in answer.text


async def test_an_owner_may_have_such_questions_end_in_an_error(around: Around, server: ModelServer) -> None:
    server.replies = in_turn(completion("Quarrel"))
    with pytest.raises(ReasonerError):
        await around(falls_back=False).ask(DOCTOR_OF)


async def test_a_budget_that_is_used_up_leaves_the_house(around: Around, server: ModelServer) -> None:
    server.replies = drafting("{treated by}")
    answer = await around(budgets=replace(UNLIMITED, question=10)).ask(DOCTOR_OF)
    assert (answer.names, answer.notes) == (["Ottoline Brackwater"], (OVER_BUDGET,))
    assert server.received == []


async def test_where_the_house_is_sure_nothing_is_sent_if_the_owner_says_so(
    around: Around, server: ModelServer
) -> None:
    server.replies = living
    sure = await around(endpoint_use="unsure").ask(DOCTOR_OF)
    sent = len(server.received)
    assert (sure.confidence or 0) < SURE or sent == 0
    await around(endpoint_use="unsure").ask(UNREAD)
    assert len(server.received) > sent


async def test_what_a_model_reads_alone_is_told_as_its_own(around: Around, server: ModelServer) -> None:
    server.replies = living
    answer = await around().ask(UNREAD)
    assert answer.answered
    assert answer.text.endswith(MODEL_ALONE)


@pytest.mark.parametrize(("mid", "is_used"), [(7, True), (8, False)])
def test_a_table_with_a_row_for_what_is_named_uses_it(mid: int, is_used: bool) -> None:
    """Takings by cash, card and cheque: cheque is a row of the answer."""
    run = Mock(found=Mock(draft=Mock(expressions=['sums(S1a2b3, "how", "amount")']), evidence=()))
    cheque, unknown = Topic("E1a2b3", as_mids([mid])), Topic("V7h8k9", NO_MIDS, ValueKind.TEXT)
    run.read.dialogue = Mock(topics=[cheque, unknown], question="V7h8k9 by E1a2b3")
    run.conversation.table.known.return_value = ["S1a2b3"]
    run.conversation.table.resolve.return_value = (as_mids([mid]), False)
    run.executor.result_of.return_value = ExpressionResult("table", rows=((7, Decimal(2)),))
    assert _uses_what_is_named(run) is is_used


def test_what_the_service_says_about_itself_is_no_second_reading() -> None:
    def run(said: str, sentence: str) -> QuestionRun:
        found = RetrievalResult(None, (), (), 1, said=said)
        ended = ConclusionResult(Conclusion(sentence, (), {}), sentence=sentence)
        return QuestionRun("", *(Mock() for _ in range(6)), found=found, ended=ended)

    own, asked = run(NOTHING_TO_SAY, NOTHING_TO_SAY), run("", "On average it is 55.")
    assert weighed(own, asked, is_capable=True).ended.sentence == f"On average it is 55. {MODEL_ALONE}"


async def test_a_model_that_missed_the_puzzles_is_not_believed_alone(
    store: ServiceContext, embedder: Embedder, server: ModelServer
) -> None:
    endpoint = ModelEndpoint(server.url, "m", deadline_s=10)
    endpoint.speak(Dialect(form="choice"))
    options = ChatOptions(in_house=EmbeddedReasoner(embedder), endpoint_use="always", falls_back=True)
    house = sets_house(store, embedder, options, PromptedReasoner(endpoint, embedder))
    server.replies = lambda _request: completion('{"answer": "1"}')
    answer = await house.ask(UNREAD)
    await endpoint.close()
    assert (answer.answered, len(server.received)) == (False, 1)


TREATED = "Is Zofia Quarrel treated by Ptolemy Ashgrove?"


@pytest.fixture
def modelled(store: ServiceContext, model: PromptedReasoner, embedder: Embedder) -> House:
    return sets_house(store, embedder, reasoner=model)


async def test_a_draft_that_is_wrong_is_refused_in_a_sentence_and_nothing_of_it_leaves(
    modelled: House, server: ModelServer
) -> None:
    server.replies = drafting("exists({treated by})")
    answer = await modelled.ask(TREATED)
    assert (answer.answered, answer.text) == (False, REFUSALS[Contradiction.VALUE])
    assert (len(server.received), modelled.recorded) == (2, 2)
    assert secrets_in(server.everything) == secrets_in(visible(modelled.last)) == []


async def test_a_yes_or_no_is_the_graphs_and_not_the_models(modelled: House, server: ModelServer) -> None:
    def named(text: str) -> str:
        return next(thing["name"] for thing in server.received[-1].input["things"] if thing["concept"] == text)

    server.replies = lambda request: drafting(f"exists(intersect({{treated by}}, {named('doctor')}))")(request)
    answer = await modelled.ask(TREATED)
    assert "No" in answer.text.title().split() or "no" in answer.text
    assert answer.names[0] == "no"
    assert len(server.received) == 2
    assert secrets_in(server.everything) == []
