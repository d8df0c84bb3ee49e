"""Writers: an endpoint over real HTTP, with prompts, token counts and calls that fail, and the reasoner inside."""

from __future__ import annotations

import pytest

from app.llm.endpoint.request_body import Price
from evaluation.dialogue.anonymised import pseudonyms
from evaluation.dialogue.chat_client import ChatClient, EndpointUnusableError
from evaluation.dialogue.dialogue_sets import DialogueTurn, names_of
from evaluation.dialogue.writers import (
    all_triples,
    embedded_replies,
    endpoint_writer,
    gold_replies,
    reply_input,
    reply_prompt,
)
from tests.support.chat_endpoint import ChatEndpoint

TURN = DialogueTurn(
    "1",
    "d",
    (("user", "Who wrote Wexdol?"), ("assistant", "Let me see.")),
    (("Wexdol", "written by", "Gorfen"),),
    "It was Gorfen.",
    (("Wexdol", "has genre", "Drama"),),
)


def test_a_prompt_holds_the_history_and_all_triples() -> None:
    prompt = reply_prompt(TURN, "default")
    assert "USER: Who wrote Wexdol?\nASSISTANT: Let me see." in prompt
    assert "(Wexdol, has genre, Drama)\n(Wexdol, written by, Gorfen)" in prompt
    assert "Gorfen." not in prompt, "the gold reply is no part of it"
    assert reply_prompt(TURN, "detailed") != prompt


def test_concepts_stand_behind_the_things_that_have_one() -> None:
    turn = DialogueTurn("1", "d", (), (("Eq7f2k", "written by", "Gorfen"),), concepts={"Eq7f2k": "book"})
    assert "(Eq7f2k (book), written by, Gorfen)" in reply_prompt(turn, "default")


def test_replies_need_no_model_where_they_are_known() -> None:
    assert gold_replies([TURN]) == ["It was Gorfen."]
    assert all_triples([TURN]) == ["Wexdol has genre Drama. Wexdol written by Gorfen."]


def test_replies_come_in_order_without_what_was_thought() -> None:
    with ChatEndpoint(lambda prompt: f"<think>so</think>\n {prompt.count('USER')} said") as endpoint:
        chat = ChatClient(endpoint.url, "m", price=Price(1.0, 2.0))
        told: list[tuple[int, int]] = []
        write = endpoint_writer(chat, lambda done, total: told.append((done, total)))
        short = DialogueTurn("2", "d", (), TURN.gold)
        assert write([TURN, short], "default") == ["1 said", "0 said"]
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
        replies = endpoint_writer(chat)([TURN] * 3, "default")
    assert sorted(replies) == ["", "A reply.", "A reply."]
    assert (chat.usage.calls, chat.usage.failed) == (3, 1)


def test_a_busy_endpoint_is_asked_again() -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", ["429 in milliseconds"]) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        assert endpoint_writer(chat)([TURN], "default") == ["A reply."]
    assert chat.usage.failed == 0


@pytest.mark.parametrize("fault", ["huge counts", "usage that is a list"])
def test_counts_that_can_not_be_right_are_estimated(fault: str) -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", [fault]) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        endpoint_writer(chat)([TURN], "default")
    assert chat.usage.estimated == 1
    assert 0 < chat.usage.tokens < 1_000
    assert chat.usage.cost is None


def test_an_endpoint_that_is_not_there_is_told_at_once() -> None:
    with ChatEndpoint(lambda _prompt: "") as endpoint:
        url = endpoint.url
    with pytest.raises(EndpointUnusableError, match="refused"):
        ChatClient(url, "m").complete(["Anything"])


SPOKEN = DialogueTurn(
    "1",
    "d",
    (("user", "Do you know Wexdol of Gorfen?"), ("assistant", "Yes."), ("user", "Who is in Wexdol, and what else?")),
    (("Narvost", "sequel", "Wexdol"), ("Wexdol", "starred actors", "Pellquin")),
    so_far=(("Wexdol", "written by", "Gorfen"),),
)
NAMES = ("Wexdol", "Gorfen", "Narvost", "Pellquin")


def test_the_reasoner_inside_is_shown_nothing_but_pseudonyms() -> None:
    words = pseudonyms(sorted(names_of(SPOKEN.knowledge)), SPOKEN.id)
    given = reply_input(SPOKEN, words)
    told = [f"{fact.start} {fact.path[0]} {fact.end}" for fact in (given.evidence[at] for at in given.ranked)]
    # What the history has told already comes last; a fact leads from what was spoken of.
    wanted = [
        ("Wexdol", "^sequel", "Narvost"),
        ("Wexdol", "starred actors", "Pellquin"),
        ("Wexdol", "written by", "Gorfen"),
    ]
    assert told == [f"{words[start]} {way} {words[end]}" for start, way, end in wanted]
    assert not [name for name in NAMES if name in given.model_dump_json()]
    assert {thing.concept for thing in given.things} == {"film", "person"}
    assert [turn.role for turn in given.dialogue] == ["user", "assistant"]
    assert given.question.startswith("Who is in E")


def test_names_come_back_into_what_the_reasoner_inside_writes() -> None:
    (reply,) = embedded_replies([SPOKEN])
    assert "Pellquin" in reply
    assert not [word for word in pseudonyms(sorted(NAMES), SPOKEN.id).values() if word in reply]


def test_a_turn_without_history_is_shown_as_such() -> None:
    given = reply_input(DialogueTurn("1", "d", (), TURN.gold), pseudonyms(["Gorfen", "Wexdol"], "1"))
    assert (given.question, given.things) == ("", [])
