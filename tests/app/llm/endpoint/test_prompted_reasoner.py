"""PromptedReasoner over real HTTP: parsed replies, one repair, fallbacks, and errors that never quote a reply."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from app.egress.guard import StaticSegments
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.answer_words import MAX_WORDS
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.endpoint.request_body import (
    EMPTY,
    LONG,
    MAX_FRAME_TOKENS,
    MAX_TIMES_OURS,
    MISFIT,
    NO_JSON,
    NOT_OFFERED,
    Price,
    RequestTemplate,
)
from app.llm.reasoner import Reasoner, ReasonerUnavailableError, Reply, ReplyUnusableError, Retry, Tokens
from app.llm.tasks import AnswerInput, AnswerReply, Evidence, Task, Thing
from app.privacy.safe_text import Egress
from app.strategies.prompts import ANSWER
from tests.support.processes.model_server import Canned, ModelServer, completion, failure, in_turn, reply, serving

GOOD = {"thought": "t", "sufficient": True, "answer": ["Sa1b2c"]}
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


async def replied(reasoner: Reasoner, egress: Egress | None = None) -> Reply[AnswerReply]:
    """The first reply, which can be used."""
    got = await reasoner.reply_to(TASK, egress or reasoner.egress_of(TASK))
    assert isinstance(got, Reply)
    return got


async def test_a_reply_is_parsed_and_the_body_is_the_egress(server: ModelServer, reasoner: PromptedReasoner) -> None:
    server.replies = in_turn(completion(json.dumps(GOOD), usage=(40, 9)))
    egress = reasoner.egress_of(TASK)
    got = await replied(reasoner, egress)
    assert got.value == AnswerReply.model_validate(GOOD)
    assert (got.tokens.prompt, got.tokens.completion, got.tokens.by_endpoint) == (40, 9, True)
    assert [request.body for request in server.received] == [egress.body]
    assert {segment.data for segment in egress.segments if segment.static} <= set(reasoner.statics_of(ANSWER))


ODD = [-1, 10**9, 10**400, "12", True, 12.5, float("nan"), {"n": 7}]


@pytest.mark.parametrize(("field", "streamed"), [("prompt_tokens", False), ("completion_tokens", True)])
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd)[:12])
async def test_counts_that_can_not_be_right_are_counted_here_and_told(
    server: ModelServer, embedder: Embedder, odd: object, field: str, streamed: bool
) -> None:
    usage = {"prompt_tokens": 40, "completion_tokens": 9, field: odd}
    endpoint = ModelEndpoint(server.url, "m", deadline_s=10, price=Price(1.0, 2.0))
    reasoner = PromptedReasoner(endpoint, embedder)
    server.replies = in_turn(with_usage(usage, streamed))
    egress = reasoner.egress_of(TASK)
    tokens = (await replied(reasoner, egress)).tokens
    await endpoint.close()
    assert (tokens.by_endpoint, tokens.odd_counts) == (False, 1)
    assert (tokens.prompt, tokens.completion) == (reasoner.tokens_in(egress), embedder.count_tokens(json.dumps(GOOD)))
    assert tokens.cost == pytest.approx((tokens.prompt + 2 * tokens.completion) / 1_000_000)


async def test_counts_are_believed_up_to_what_the_request_may_take(
    server: ModelServer, reasoner: PromptedReasoner
) -> None:
    egress = reasoner.egress_of(TASK)
    most = reasoner.tokens_in(egress) * MAX_TIMES_OURS + MAX_FRAME_TOKENS
    written = reasoner.longest_reply
    for prompt, completed, odd in ((0, 0, 0), (most, written, 0), (most + 1, written, 1), (most, written + 1, 1)):
        usage = {"prompt_tokens": prompt, "completion_tokens": completed}
        server.replies = in_turn(with_usage(usage, streamed=False))
        tokens = (await replied(reasoner, egress)).tokens
        assert tokens.odd_counts == odd
        assert (tokens.prompt, tokens.completion) == (prompt, completed) or odd


async def test_a_reply_longer_than_was_asked_for_counts_as_what_was_asked_for(
    server: ModelServer, embedder: Embedder
) -> None:
    endpoint = ModelEndpoint(server.url, "m", deadline_s=10, wording=RequestTemplate("m", max_tokens=8))
    reasoner = PromptedReasoner(endpoint, embedder)
    server.replies = in_turn(reply(GOOD | {"thought": "t " * 5_000}))
    assert (await replied(reasoner)).tokens.completion == 8
    await endpoint.close()


def with_usage(usage: object, streamed: bool) -> Canned:
    """A good reply with that as its `usage`."""
    choice = {"message": {"role": "assistant", "content": json.dumps(GOOD)}, "finish_reason": "stop"}
    if not streamed:
        return Canned(json.dumps({"choices": [choice], "usage": usage}).encode())
    delta = {"delta": {"content": json.dumps(GOOD)}, "finish_reason": "stop"}
    chunks: list[object] = [{"choices": [delta]}, {"choices": [], "usage": usage}]
    data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Canned(data.encode(), content_type="text/event-stream")


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "\n {} \n", "<think>Canaria {}</think>\n{}"])
async def test_what_stands_around_the_reply_is_taken_off(
    server: ModelServer, reasoner: PromptedReasoner, fence: str
) -> None:
    server.replies = in_turn(completion(fence.replace("{}", json.dumps(GOOD))))
    assert (await replied(reasoner)).value.answer == ["Sa1b2c"]


BAD = [
    completion(""),
    completion(json.dumps(GOOD), finish_reason="length"),
    completion('{"thought": "' + " \n" * 40 + '"}'),
    completion('{"thought": "Canaria", "suffic'),
    completion(json.dumps({**GOOD, "sufficient": "Canaria"})),
    completion(json.dumps({**GOOD, "answer": "Canaria"})),
    completion(json.dumps({**GOOD, "answer": ["count", "Ezzzzz"]})),
    completion(json.dumps({"thought": "Canaria"})),
    completion("[]"),
    Canned(b'{"choices": []}'),
]


async def repaired(reasoner: PromptedReasoner) -> Reply[AnswerReply]:
    """Asks as the guarded reasoner does: again, as long as the result says how."""
    task: Task[AnswerReply] = TASK
    while isinstance(got := await reasoner.reply_to(task, reasoner.egress_of(task)), Retry):
        task = replace(task, manner=got.manner)
    return got


@pytest.mark.parametrize("bad", BAD)
async def test_an_unusable_reply_is_asked_for_once_more_with_what_was_wrong(
    server: ModelServer, reasoner: PromptedReasoner, bad: Canned
) -> None:
    server.replies = in_turn(bad, reply(GOOD))
    assert (await repaired(reasoner)).value.answer == ["Sa1b2c"]
    first, second = (request.json["messages"] for request in server.received)
    assert [first[0], len(second)] == [second[0], 2]
    # What was said before stands first, byte for byte, so that a prefix cache keeps it.
    assert second[1]["content"].startswith(first[1]["content"])
    told = second[1]["content"].removeprefix(first[1]["content"])
    assert told.startswith("\n\nYour last reply to this can't be used. ")
    assert "Canaria" not in told


@pytest.mark.parametrize("bad", BAD[::3])
async def test_a_reply_that_stays_unusable_is_an_error_without_its_words(
    server: ModelServer, reasoner: PromptedReasoner, bad: Canned
) -> None:
    server.replies = in_turn(bad)
    with pytest.raises(ReplyUnusableError) as caught:
        await repaired(reasoner)
    assert len(server.received) == 2
    assert "Canaria" not in f"{caught.value!r} {caught.value.__cause__!r}"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", EMPTY),
        ("Canaria", NO_JSON),
        (json.dumps({**GOOD, "sufficient": "Canaria"}), MISFIT),
        (json.dumps({**GOOD, "answer": ["Ezzzzz"]}), NOT_OFFERED),
        (json.dumps({**GOOD, "answer": ["count", "count"]}), NOT_OFFERED),
        (json.dumps({**GOOD, "answer": ["reach(Eq7f2k, treated by Canaria)"]}), NOT_OFFERED),
        (json.dumps({**GOOD, "answer": ["count"] * (MAX_WORDS - 1) + ["(Eq7f2k Eq7f2k Eq7f2k)"]}), LONG),
        (json.dumps({**GOOD, "answer": ["Sa1b2c", "Sa1b2c"]}), MISFIT),
    ],
)
async def test_the_repair_says_what_was_wrong_in_one_sentence_of_ours(
    server: ModelServer, reasoner: PromptedReasoner, content: str, told: str
) -> None:
    server.replies = in_turn(completion(content), reply(GOOD))
    await repaired(reasoner)
    assert told in server.received[1].json["messages"][1]["content"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["count", "reach", "Eq7f2k", "treated bye"],
            "count (function) | reach (function) | Eq7f2k | treated? | ? | ",
        ),
        (["count", "reach", "Eq7f2k", "Canaria"], "count (function) | reach (function) | Eq7f2k | ? | "),
        (["count(reach(doctor, treated by))"], "count (function) | reach (function) | doctor? | treated by | "),
        (["max", "reach", "Ezzzzz", "who"], "max (function) | reach (function) | ? | who? | "),
        (["reach", "treated by", "Eq7f2k"], "is missing at the ?: reach (function) | ? | treated by | Eq7f2k | "),
        (["reach", "Eq7f2k"], "A relation is missing at the ?: reach (function) | Eq7f2k | ? | "),
        (["Eq7f2k", "Sa1b2c"], "Nothing more fits behind the ?: Eq7f2k | ? | Sa1b2c | "),
    ],
)
async def test_the_repair_quotes_the_words_that_the_request_shows_and_marks_the_others(
    server: ModelServer, reasoner: PromptedReasoner, words: list[str], told: str
) -> None:
    """So that a model learns from it nothing of words that it tried, whether they are names of the graph or not."""
    server.replies = in_turn(completion(json.dumps({**GOOD, "answer": words})), reply(GOOD))
    await repaired(reasoner)
    assert told in server.received[1].json["messages"][1]["content"]


@pytest.mark.parametrize(
    "words",
    [
        ["count", "reach", "Eq7f2k", "treated", "by"],
        ["count(reach(Eq7f2k, 'treated by'))"],
        ["count", ["reach", "Eq7f2k,", '"treated by"']],
    ],
)
async def test_words_that_a_model_splits_or_joins_are_read_as_those_that_were_offered(
    server: ModelServer, reasoner: PromptedReasoner, words: list[object]
) -> None:
    server.replies = in_turn(completion(json.dumps({**GOOD, "answer": words})))
    assert (await replied(reasoner)).value.answer == ['count(reach(Eq7f2k, "treated by"))']


@pytest.mark.parametrize("extra", [{"text": "Canaria"}, {"explanation": ["Canaria"]}, {"grounded": True}])
async def test_what_was_not_asked_for_is_dropped(
    server: ModelServer, reasoner: PromptedReasoner, extra: dict[str, object]
) -> None:
    server.replies = in_turn(reply({**GOOD, **extra}))
    got = await replied(reasoner)
    assert got.value == AnswerReply(thought="t", sufficient=True, answer=["Sa1b2c"])


async def test_every_byte_of_a_repair_but_its_input_is_known_to_the_guard(
    server: ModelServer, reasoner: PromptedReasoner
) -> None:
    statics = StaticSegments()
    for data in reasoner.statics_of(ANSWER):
        statics.register(data)
    server.replies = in_turn(completion(json.dumps({"thought": "Canaria"})))
    got = await reasoner.reply_to(TASK, reasoner.egress_of(TASK))
    assert isinstance(got, Retry)
    segments = reasoner.egress_of(replace(TASK, manner=got.manner)).segments
    read, offered = [segment.data for segment in segments if not segment.static]
    assert json.loads(json.loads(f'"{read.decode()}"')) == TASK.input.model_dump(exclude_defaults=True)
    assert json.loads(f"[0{offered.decode()}]") == [0, "Eq7f2k", "Sa1b2c", "treated by"]
    assert all(segment.data in statics for segment in segments if segment.static)


async def test_a_failed_call_tells_what_it_took(server: ModelServer, reasoner: PromptedReasoner) -> None:
    server.replies = in_turn(completion("{}", usage=(30, 4)))
    got = await reasoner.reply_to(TASK, reasoner.egress_of(TASK))
    assert isinstance(got, Retry)
    assert (got.tokens, got.words) == (Tokens(30, 4, by_endpoint=True), "{}")
    with pytest.raises(ReplyUnusableError) as caught:
        await repaired(reasoner)
    assert (caught.value.tokens, caught.value.words) == (Tokens(30, 4, by_endpoint=True), "{}")


async def test_a_reply_keeps_the_models_own_words(server: ModelServer, reasoner: PromptedReasoner) -> None:
    said = f"<think>Hm.</think>\n```json\n{json.dumps(GOOD)}\n```"
    server.replies = in_turn(completion(said))
    got = await replied(reasoner)
    assert got.words == said
    assert "Hm." not in repr(got)


@asynccontextmanager
async def with_fallback(
    server: ModelServer, second: ModelServer, embedder: Embedder
) -> AsyncIterator[PromptedReasoner]:
    endpoints = [
        ModelEndpoint(server.url, "m", deadline_s=10),
        ModelEndpoint(second.url, "other", deadline_s=10, price=Price(prompt=2.0, completion=10.0)),
    ]
    yield PromptedReasoner(endpoints[0], embedder, endpoints[1:])
    for each in endpoints:
        await each.close()


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_the_next_endpoint_is_asked_in_its_own_words(
    server: ModelServer, embedder: Embedder, status: int
) -> None:
    with serving(in_turn(completion(json.dumps(GOOD), usage=(500, 100)))) as second:
        server.replies = in_turn(failure(status))
        async with with_fallback(server, second, embedder) as reasoner:
            got = await repaired(reasoner)
            assert (got.value.answer, got.tokens.cost) == (["Sa1b2c"], 0.002)
            (request,) = second.received
            assert request.json["model"] == "other"
            # The first is let rest after five failures, and then no more is sent to it.
            for _ in range(2):
                await repaired(reasoner)
            assert len(server.received) == {401: 3, 429: 9, 500: 5}[status]
            assert len(second.received) == 3


async def test_the_last_endpoints_error_is_the_end(server: ModelServer, embedder: Embedder) -> None:
    with serving(in_turn(failure(500))) as second:
        server.replies = in_turn(failure(500))
        async with with_fallback(server, second, embedder) as reasoner:
            with pytest.raises(ReasonerUnavailableError):
                await repaired(reasoner)
            assert (len(server.received), len(second.received)) == (3, 3)
