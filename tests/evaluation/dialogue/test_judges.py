"""A model as judge over real HTTP: its lines are read strictly, and what fails is counted."""

from __future__ import annotations

import pytest

from evaluation.dialogue.chat_client import ChatClient
from evaluation.dialogue.dialogue_sets import DialogueTurn
from evaluation.dialogue.judges import choice_of, compared, judge_prompt, judged_by, parsed
from evaluation.dialogue.spans import Judged, SpanQuestion
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


def test_lines_that_are_missing_or_too_many_fail_alone() -> None:
    with ChatEndpoint(lambda prompt: "\n".join([*right(prompt).splitlines()[1:], "99|||a|||b|||c"])) as endpoint:
        found = judged_by(ChatClient(endpoint.url, "m"), questions(3))
    assert found == [None, ("name1",), ("name2",)]


def test_garbled_replies_fail() -> None:
    with ChatEndpoint(lambda _prompt: "I can't do that. ||| @@ 1|||") as endpoint:
        chat = ChatClient(endpoint.url, "m")
        assert judged_by(chat, questions(2)) == [None, None]
    assert (chat.usage.calls, chat.usage.failed) == (1, 0)


@pytest.mark.parametrize("fault", ["hang", "truncated", "empty"])
def test_a_call_that_fails_takes_its_twenty_along(fault: str) -> None:
    with ChatEndpoint(right, [fault]) as endpoint:
        chat = ChatClient(endpoint.url, "m", deadline_s=1.0 if fault == "hang" else 20.0)
        found = judged_by(chat, questions(21))
    assert found.count(None) in {1, 20}
    assert all(spans in {None, (f"name{at}",)} for at, spans in enumerate(found))
    assert chat.usage.failed == 1


TURN = DialogueTurn("1", "d", (("user", "Well?"),), (("Wexdol", "written by", "Gorfen"),))


@pytest.mark.parametrize(
    ("reply", "choice"),
    [("A", "a"), (" b.\n", "b"), ("**Both**", "both"), ("NEITHER", "neither"), ("A or B", None), (None, None)],
)
def test_a_verdict_is_one_of_four_words(reply: str | None, choice: str | None) -> None:
    assert choice_of(reply) == choice


def test_the_better_reply_wins_on_either_side() -> None:
    with ChatEndpoint(lambda prompt: "A" if "\nA: good" in prompt else "B") as endpoint:
        found = compared(ChatClient(endpoint.url, "m"), [(TURN, "good", "bad")] * 20, seed=0)
    assert (found.first, found.second, found.both, found.neither, found.failed) == (20, 0, 0, 0, 0)
    assert 0 < found.said_a < 20


def test_a_judge_that_always_says_a_shows() -> None:
    with ChatEndpoint(lambda _prompt: "A") as endpoint:
        found = compared(ChatClient(endpoint.url, "m"), [(TURN, "one", "other")] * 20, seed=0)
    assert found.share_of_a == 1.0
    assert 0 < found.first < 20
    assert found.first + found.second == 20


def test_ties_and_failures_are_counted_apart() -> None:
    replies = iter(["Both", "Neither", "who knows", "Both"])
    with ChatEndpoint(lambda _prompt: next(replies)) as endpoint:
        found = compared(ChatClient(endpoint.url, "m"), [(TURN, "one", "other")] * 4, seed=0)
    assert (found.first, found.second, found.both, found.neither, found.failed) == (0, 0, 2, 1, 1)
    assert found.share_of_a == 0.5
