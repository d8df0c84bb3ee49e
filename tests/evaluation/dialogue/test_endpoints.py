"""A model endpoint over real HTTP: prompts, token counts, calls that fail, and a judge whose lines are read
strictly."""

from __future__ import annotations

import pytest

from app.llm.endpoint.request_body import Price
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.endpoints import (
    ChatClient,
    EndpointError,
    endpoint_writer,
    judge_prompt,
    judged_by,
    parsed,
    reply_prompt,
)
from evaluation.dialogue.scores import Judged, SpanQuestion
from tests.support.chat_endpoint import ChatEndpoint

QUESTION = SpanQuestion("Wexdol is by Gorfen\nBradol ||| and Narvost.", "Wexdol", "written by", False)
CONTEXT, TRIPLET = "Wexdol is by Gorfen Bradol and Narvost.", "(Wexdol, written by, X)"


def test_a_prompt_has_a_line_for_each_question() -> None:
    other = SpanQuestion("It is.", "Gorfen", "written by", True)
    prompt = judge_prompt({7: QUESTION, 8: other})
    assert prompt.splitlines()[-2:] == [f"7|||{CONTEXT}|||{TRIPLET}", "8|||It is.|||(X, written by, Gorfen)"]
    assert "reply with 2 lines" in prompt


@pytest.mark.parametrize(
    ("line", "judged"),
    [
        (f"7|||{CONTEXT}|||{TRIPLET}|||Gorfen Bradol@@Narvost", ("Gorfen Bradol", "Narvost")),
        (f" 7 ||| ... ||| {TRIPLET} ||| narvost @@ @@ narvost ", ("narvost",)),
        (f"7|||{CONTEXT}|||{TRIPLET}|||IS_IMPOSSIBLE", ()),
        (f"7|||{CONTEXT}|||{TRIPLET}|||Narvost@@IS_IMPOSSIBLE", ()),
        (f"7|||{CONTEXT}|||{TRIPLET}|||Pellquin@@Narvost", ("Narvost",)),
        (f"7|||{CONTEXT}|||{TRIPLET}|||Pellquin", None),
        (f"7|||{CONTEXT}|||{TRIPLET}|||", None),
        (f"7|||{CONTEXT}|||{TRIPLET}", None),
        (f"7|||{CONTEXT}|||{TRIPLET}|||Narvost|||more", None),
        (f"7|||{CONTEXT}|||(Wexdol, directed by, X)|||Narvost", None),
        (f"8|||{CONTEXT}|||{TRIPLET}|||Narvost", None),
        (f"seven|||{CONTEXT}|||{TRIPLET}|||Narvost", None),
        (f"7|||{CONTEXT}|||{TRIPLET}|||Narvost\n7|||{CONTEXT}|||{TRIPLET}|||Gorfen", None),
        (f"Here you are:\n7|||{CONTEXT}|||{TRIPLET}|||Narvost\n\nAnything else?", ("Narvost",)),
        ("", None),
    ],
)
def test_a_line_is_read_strictly(line: str, judged: Judged) -> None:
    assert parsed(line, {7: QUESTION}).get(7) == judged


def questions(count: int) -> list[SpanQuestion]:
    return [SpanQuestion(f"It is by name{at}.", "Wexdol", "written by", False) for at in range(count)]


def right(prompt: str) -> str:
    """Every line of the input, answered by its name."""
    lines = prompt.partition("Input:\n")[2].splitlines()
    return "\n".join(f"{line}|||name{line.partition('|||')[0]}" for line in lines)


def test_twenty_questions_go_into_a_call() -> None:
    with ChatEndpoint(right) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        found = judged_by(chat, questions(45))
        assert sorted(len(right(prompt).splitlines()) for prompt in endpoint.prompts) == [5, 20, 20]
    assert found == [(f"name{at}",) for at in range(45)]
    assert (chat.usage.calls, chat.usage.failed) == (3, 0)


@pytest.mark.parametrize("fault", ["hang", "truncated", "empty"])
def test_a_call_that_fails_takes_its_twenty_along(fault: str) -> None:
    with ChatEndpoint(right, [fault]) as endpoint:
        chat = ChatClient(endpoint.url, "m", deadline_s=1.0 if fault == "hang" else 20.0)
        found = judged_by(chat, questions(21))
    assert found.count(None) in {1, 20}
    assert all(spans in {None, (f"name{at}",)} for at, spans in enumerate(found))
    assert chat.usage.failed == 1


TURN = DialogueTurn(
    "1",
    "d",
    (("user", "Who wrote Wexdol?"), ("assistant", "Let me see.")),
    (("Wexdol", "written by", "Gorfen"),),
    "It was Gorfen.",
    (("Wexdol", "has genre", "Drama"),),
)


def test_a_prompt_holds_the_history_and_all_triples() -> None:
    prompt = reply_prompt(TURN)
    assert "USER: Who wrote Wexdol?\nASSISTANT: Let me see." in prompt
    assert "(Wexdol, has genre, Drama)\n(Wexdol, written by, Gorfen)" in prompt
    assert "Gorfen." not in prompt, "the gold reply is no part of it"


def test_concepts_stand_behind_the_things_that_have_one() -> None:
    turn = DialogueTurn("1", "d", (), (("Eq7f2k", "written by", "Gorfen"),), concepts={"Eq7f2k": "book"})
    assert "(Eq7f2k (book), written by, Gorfen)" in reply_prompt(turn)


def test_replies_come_in_order_without_what_was_thought() -> None:
    with ChatEndpoint(lambda prompt: f"<think>so</think>\n {prompt.count('USER')} said") as endpoint:
        chat = ChatClient(endpoint.url, "m", price=Price(1.0, 2.0))
        told: list[tuple[int, int]] = []
        write = endpoint_writer(chat, lambda done, total: told.append((done, total)))
        short = DialogueTurn("2", "d", (), TURN.gold)
        assert write([TURN, short]) == ["1 said", "0 said"]
        assert sorted(told) == [(1, 2), (2, 2)]
        assert sorted(endpoint.prompts) == sorted(reply_prompt(turn) for turn in (TURN, short))
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
        replies = endpoint_writer(chat)([TURN] * 3)
    assert sorted(replies) == ["", "A reply.", "A reply."]
    assert (chat.usage.calls, chat.usage.failed) == (3, 1)


def test_a_busy_endpoint_is_asked_again() -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", ["429 in milliseconds"]) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        assert endpoint_writer(chat)([TURN]) == ["A reply."]
    assert chat.usage.failed == 0


@pytest.mark.parametrize("fault", ["huge counts", "usage that is a list"])
def test_counts_that_can_not_be_right_are_estimated(fault: str) -> None:
    with ChatEndpoint(lambda _prompt: "A reply.", [fault]) as endpoint:
        chat = ChatClient(endpoint.url, "m")
        endpoint_writer(chat)([TURN])
    assert chat.usage.estimated == 1
    assert 0 < chat.usage.tokens < 1_000
    assert chat.usage.cost is None


def test_an_endpoint_that_is_not_there_is_told_at_once() -> None:
    with ChatEndpoint(lambda _prompt: "") as endpoint:
        url = endpoint.url
    with pytest.raises(EndpointError, match="refused"):
        ChatClient(url, "m").complete(["Anything"])
