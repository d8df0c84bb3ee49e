"""English turns that tell, recall and forget facts, and the many that do none of these."""

from __future__ import annotations

import datetime as dt

import pytest

from app.language.readings import DatedStatement, MemoryReply, MemoryTurn
from app.reader.sentences.memory_turns import EnglishMemory

MEMORY = EnglishMemory()
TODAY = dt.date(2026, 12, 1)
LIVES = "Ea1b2c lives in Vx3y4z."


@pytest.mark.parametrize(
    "text",
    [
        "Remember that Ea1b2c lives in Vx3y4z.",
        "remember: Ea1b2c lives in Vx3y4z",
        "Please remember Ea1b2c lives in Vx3y4z!",
        "ok, remember this: Ea1b2c lives in Vx3y4z.",
        "Keep in mind that Ea1b2c lives in Vx3y4z",
        "don’t forget that Ea1b2c lives in Vx3y4z",
    ],
)
def test_a_statement_is_told(text: str) -> None:
    assert MEMORY.read_turn(text) == MemoryTurn("tell", LIVES, f"Is it true that {LIVES[:-1]}?")


@pytest.mark.parametrize(
    "text",
    [
        "Remember that Ea1b2c does not live in Vx3y4z",
        "Remember that Ea1b2c no longer lives in Vx3y4z",
        "Remember that I like Vx3y4z",
        "Remember that Ea1b2c is as tall as Eb1b2c",
        "Remember that Ea1b2c may live in Vx3y4z",
    ],
)
def test_a_statement_that_no_fact_says_is_told_and_asks_nothing(text: str) -> None:
    turn = MEMORY.read_turn(text)
    assert turn is not None
    assert (turn.kind, turn.statement.rstrip("."), turn.question) == ("tell", text[len("Remember that ") :], "")


@pytest.mark.parametrize(
    "text",
    [
        "Remember Ea1b2c",
        "Remember Ea1b2c's doctors",
        "remember to call Ea1b2c",
        "Remember me",
        "remember Ea1b2c is it?",
    ],
)
def test_what_states_nothing_tells_nothing(text: str) -> None:
    assert MEMORY.read_turn(text) == MemoryTurn("tell")


@pytest.mark.parametrize(
    "text",
    [
        "Ea1b2c lives in Vx3y4z",
        "Where does Ea1b2c live?",
        "Remember who treats Ea1b2c?",
        "Do you remember Ea1b2c?",
        "I remember Ea1b2c",
        "remembering Ea1b2c is hard",
        "forget it",
        "never mind",
        "thanks",
        "Which patients forget appointments?",
        "What did Ea1b2c tell Eb1b2c?",
        "tell me about Ea1b2c",
    ],
)
def test_anything_else_is_no_memory_turn(text: str) -> None:
    assert MEMORY.read_turn(text) is None


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("What did I tell you about Ea1b2c?", MemoryTurn("recall", about="Ea1b2c")),
        ("what have I told you?", MemoryTurn("recall")),
        ("What do you remember about her?", MemoryTurn("recall", about="her")),
        ("show me what I told you about Ea1b2c", MemoryTurn("recall", about="Ea1b2c")),
        ("When did I say that?", MemoryTurn("recall", is_last=True)),
        ("Forget that.", MemoryTurn("forget", is_last=True)),
        ("forget the last thing I told you", MemoryTurn("forget", is_last=True)),
        ("Please forget what I told you about Ea1b2c", MemoryTurn("forget", about="Ea1b2c")),
        ("forget everything I told you", MemoryTurn("forget")),
        ("Forget that Ea1b2c lives in Vx3y4z", MemoryTurn("forget", statement=LIVES)),
    ],
)
def test_what_was_told_is_recalled_and_forgotten(text: str, turn: MemoryTurn) -> None:
    assert MEMORY.read_turn(text) == turn


def told(*days: dt.date) -> tuple[DatedStatement, ...]:
    return tuple(DatedStatement(LIVES, day) for day in days)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (MemoryReply("kept", TODAY, told(TODAY)), f"I will remember: {LIVES}"),
        (MemoryReply("recalled", TODAY, told(TODAY), 1), f"You told me on 1 December: {LIVES}"),
        (
            MemoryReply("recalled", TODAY, told(TODAY, dt.date(2025, 3, 9)), 7),
            f"You told me on 1 December: {LIVES} You told me on 9 March 2025: {LIVES} These are the latest 2 of 7.",
        ),
        (MemoryReply("recalled", TODAY, about="Ea1b2c"), "You have told me nothing about Ea1b2c."),
        (MemoryReply("forgotten", TODAY, total=3), "I have forgotten 3 things that you told me."),
        (MemoryReply("forgotten", TODAY, told(TODAY), 1), f"I have forgotten 1 thing that you told me: {LIVES}"),
        (MemoryReply("forgotten", TODAY), "I forgot nothing: there is nothing that you told me."),
    ],
)
def test_replies_are_plain(reply: MemoryReply, text: str) -> None:
    assert MEMORY.word_reply(reply) == text


def test_the_sentence_behind_an_answer_is_found_again() -> None:
    behind = MEMORY.word_reply(MemoryReply("recalled", TODAY, told(TODAY), 1))
    assert MEMORY.without_recalled(f"Ea1b2c lives in Eb1b2c. {behind}") == "Ea1b2c lives in Eb1b2c."
    assert MEMORY.without_recalled(f"{behind} {behind}") == f"{behind} {behind}"
