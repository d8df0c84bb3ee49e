"""Replies of an endpoint over real HTTP: prompts, token counts, and calls that fail."""

from __future__ import annotations

import pytest

from app.llm.endpoint.request_body import Price
from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.writers.chat_client import ChatClient, EndpointUnusableError
from evaluation.dialogue.writers.endpoint_writer import EndpointWriter
from evaluation.dialogue.writers.prompts import reply_prompt
from evaluation.dialogue.writers.reply_writer import AllTriplesWriter, GoldWriter, ReplyRequest
from tests.support.chat_endpoint import ChatEndpoint

TURN = GroundedTurn(
    "1",
    "d",
    (("user", "Who wrote Wexdol?"), ("assistant", "Let me see.")),
    (("Wexdol", "has genre", "Drama"),),
    (("Wexdol", "written by", "Gorfen"),),
    "It was Gorfen.",
)


def test_a_prompt_holds_the_history_and_all_triples() -> None:
    prompt = reply_prompt(TURN, "default")
    assert "USER: Who wrote Wexdol?\nASSISTANT: Let me see." in prompt
    assert "(Wexdol, has genre, Drama)\n(Wexdol, written by, Gorfen)" in prompt
    assert "Gorfen." not in prompt, "the gold reply is no part of it"
    assert reply_prompt(TURN, "detailed") != prompt


def test_concepts_stand_behind_the_things_that_have_one() -> None:
    turn = GroundedTurn("1", "d", (), (), (("Eq7f2k", "written by", "Gorfen"),), concepts={"Eq7f2k": "book"})
    assert "(Eq7f2k (book), written by, Gorfen)" in reply_prompt(turn, "default")


def test_replies_need_no_model_where_they_are_known() -> None:
    request = ReplyRequest(TURN)
    assert GoldWriter().replies_to([request]) == ["It was Gorfen."]
    assert AllTriplesWriter().replies_to([request]) == ["Wexdol has genre Drama. Wexdol written by Gorfen."]


def test_replies_come_in_order_without_what_was_thought() -> None:
    with ChatEndpoint(lambda prompt: f"<think>so</think>\n {prompt.count('USER')} said") as endpoint:
        chat = ChatClient(endpoint.url, "m", price=Price(1.0, 2.0))
        told: list[tuple[int, int]] = []
        writer = EndpointWriter(chat, lambda done, total: told.append((done, total)))
        short = GroundedTurn("2", "d", (), (), TURN.coming)
        assert writer.replies_to([ReplyRequest(TURN), ReplyRequest(short)]) == ["1 said", "0 said"]
        assert sorted(told) == [(1, 2), (2, 2)]
        assert sorted(endpoint.prompts) == sorted(reply_prompt(turn, "default") for turn in (TURN, short))
        fields = {key: endpoint.bodies[0][key] for key in ("model", "temperature", "top_p", "seed")}
        assert fields == {"model": "m", "temperature": 0.6, "top_p": 0.95, "seed": 42}
        usage = chat.usage
        assert (usage.calls, usage.failed, usage.estimated) == (2, 0, 0)
        assert usage.prompt_tokens > usage.completion_tokens > 0
        assert usage.cost == pytest.approx((usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6)


@pytest.mark.parametrize("fault", ["truncated", "empty", "no choices", "hang"])
def test_a_call_that_fails_is_counted_and_leaves_the_others_alone(fault: str) -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", [fault]) as endpoint:
        chat = ChatClient(endpoint.url, "m", deadline_s=1.0 if fault == "hang" else 20.0)
        replies = EndpointWriter(chat).replies_to([ReplyRequest(TURN)] * 3)
    assert sorted(replies) == ["", "A reply.", "A reply."]
    assert (chat.usage.calls, chat.usage.failed) == (3, 1)


def test_a_busy_endpoint_is_asked_again() -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", ["429 in milliseconds"]) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        assert EndpointWriter(chat).replies_to([ReplyRequest(TURN)]) == ["A reply."]
    assert chat.usage.failed == 0


@pytest.mark.parametrize("fault", ["huge counts", "usage that is a list"])
def test_counts_that_can_not_be_right_are_estimated(fault: str) -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", [fault]) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        EndpointWriter(chat).replies_to([ReplyRequest(TURN)])
    assert chat.usage.estimated == 1
    assert 0 < chat.usage.tokens < 1_000
    assert chat.usage.cost is None


def test_an_endpoint_that_is_not_there_is_told_at_once() -> None:
    with ChatEndpoint(lambda _prompt: "") as endpoint:
        url = endpoint.url
    with pytest.raises(EndpointUnusableError, match="refused"):
        ChatClient(url, "m").complete(["Anything"])
