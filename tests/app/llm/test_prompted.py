"""PromptedReasoner over real HTTP: parsed replies, one repair, and errors that never quote a reply."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from app.evaluation.questions import Plan
from app.evaluation.scripted_endpoint import ScriptedEndpoint
from app.llm.embedder import Embedder
from app.llm.endpoint import ModelEndpoint
from app.llm.prompted import PromptedReasoner
from app.llm.reasoner import AnswerInput, AnswerReply, Evidence, ReplyUnusable, Task, Thing
from app.strategies.arog.prompts import ANSWER
from tests.support.model_server import Canned, ModelServer, completion, in_turn, reply

GOOD = {"thought": "t", "sufficient": True, "answer": ["Sa1b2c"], "text": "It is {1}."}
FACT = Evidence(
    start="Eq7f2k", start_concept="person", path=["treated by"], end="Sa1b2c", end_concept="doctor", size="1"
)
TASK = Task(
    ANSWER,
    AnswerInput(
        question="who treats Eq7f2k", dialogue=[], path=[], things=[Thing(name="Eq7f2k", concept="person", size="1")],
        evidence=[FACT], last_round=False,
    ),
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("no_waiting")


@pytest.fixture
async def reasoner(server: ModelServer, embedder: Embedder) -> AsyncIterator[PromptedReasoner]:
    endpoint = ModelEndpoint(server.url, "m", deadline_s=10)
    yield PromptedReasoner(endpoint, embedder)
    await endpoint.close()


async def test_a_reply_is_parsed_and_the_body_is_the_egress(server: ModelServer, reasoner: PromptedReasoner) -> None:
    server.replies = in_turn(completion(json.dumps(GOOD), usage=(40, 9)))
    egress = reasoner.egress_of(TASK)
    got = await reasoner.reply_to(TASK, egress)
    assert got.value == AnswerReply.model_validate(GOOD)
    assert (got.tokens.prompt, got.tokens.completion, got.tokens.by_endpoint) == (40, 9, True)
    assert [request.body for request in server.received] == [egress.body]
    assert [segment.data for segment in egress.segments if segment.static] == list(reasoner.statics_of(ANSWER))


async def test_tokens_are_counted_here_where_the_endpoint_tells_none(
    server: ModelServer, reasoner: PromptedReasoner
) -> None:
    server.replies = in_turn(reply(GOOD))
    tokens = (await reasoner.reply_to(TASK, reasoner.egress_of(TASK))).tokens
    assert not tokens.by_endpoint
    assert tokens.prompt > tokens.completion > 5


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "\n {} \n"])
async def test_a_fence_around_the_reply_is_taken_off(
    server: ModelServer, reasoner: PromptedReasoner, fence: str
) -> None:
    server.replies = in_turn(completion(fence.replace("{}", json.dumps(GOOD))))
    assert (await reasoner.reply_to(TASK, reasoner.egress_of(TASK))).value.answer == ["Sa1b2c"]


BAD = [
    completion(""),
    completion(" \n\t"),
    completion(json.dumps(GOOD), finish_reason="length"),
    completion('{"thought": "' + " \n" * 40 + '"}'),
    completion("Canaria is the answer."),
    completion('{"thought": "Canaria", "suffic'),
    reply({**GOOD, "sufficient": "Canaria"}),
    reply({**GOOD, "answer": "Canaria"}),
    reply({**GOOD, "Canaria": "more"}),
    reply({"thought": "Canaria"}),
    completion("[]"),
    Canned(b'{"choices": []}'),
]


@pytest.mark.parametrize("bad", BAD)
async def test_an_unusable_reply_is_asked_for_once_more_with_the_same_bytes(
    server: ModelServer, reasoner: PromptedReasoner, bad: Canned
) -> None:
    server.replies = in_turn(bad, reply(GOOD))
    egress = reasoner.egress_of(TASK)
    assert (await reasoner.reply_to(TASK, egress)).value.text == "It is {1}."
    assert [request.body for request in server.received] == [egress.body, egress.body]


@pytest.mark.parametrize("bad", BAD)
async def test_a_reply_that_stays_unusable_is_an_error_without_its_words(
    server: ModelServer, reasoner: PromptedReasoner, bad: Canned
) -> None:
    server.replies = in_turn(bad)
    with pytest.raises(ReplyUnusable) as caught:
        await reasoner.reply_to(TASK, reasoner.egress_of(TASK))
    assert len(server.received) == 2
    assert "Canaria" not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_the_error_says_which_fields_did_not_fit(server: ModelServer, reasoner: PromptedReasoner) -> None:
    server.replies = in_turn(reply({"thought": "t", "answer": [], "text": 5}))
    with pytest.raises(ReplyUnusable, match=r"answer: .*\['sufficient', 'text'\]"):
        await reasoner.reply_to(TASK, reasoner.egress_of(TASK))


async def test_the_scripted_endpoint_is_a_model_like_any_other(embedder: Embedder) -> None:
    with ScriptedEndpoint(counts_tokens=True) as scripted:
        scripted.expect(
            Plan.model_validate({"sets": {"A": {"start": "topic:0", "path": ["treated by"]}}, "answer": ["A"]})
        )
        endpoint = ModelEndpoint(scripted.url, "scripted", deadline_s=10)
        reasoner = PromptedReasoner(endpoint, embedder)
        got = await reasoner.reply_to(TASK, reasoner.egress_of(TASK))
        await endpoint.close()
        assert (got.value.sufficient, got.value.answer, got.tokens.by_endpoint) == (True, ["Sa1b2c"], True)
        assert scripted.contract_breaks == []
