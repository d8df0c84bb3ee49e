"""The time that a question asks about, and the words that say it."""

from __future__ import annotations

import pytest

from app.reader.meaning.question.asked_time import asked_time


@pytest.mark.parametrize(
    ("question", "relation", "names", "rest"),
    [
        ("who was governor of Eq7f2k in Vq7f2k", "at", ("Vq7f2k",), "who was governor of Eq7f2k"),
        ("who led Eq7f2k in the early Vq7f2k?", "at", ("Vq7f2k",), "who led Eq7f2k ?"),
        ("what did Eq7f2k edit in the middle of Vq7f2k", "at", ("Vq7f2k",), "what did Eq7f2k edit"),
        ("who are the senators of Eq7f2k Vq7f2k", "at", ("Vq7f2k",), "who are the senators of Eq7f2k"),
        ("who is the current head of Eq7f2k in Vq7f2k", "at", ("Vq7f2k",), "who is the head of Eq7f2k"),
        ("who led Eq7f2k between Vq7f2k and Vx7f2k", "at", ("Vq7f2k", "Vx7f2k"), "who led Eq7f2k"),
        ("who has led Eq7f2k since Vq7f2k?", "since", ("Vq7f2k",), "who has led Eq7f2k ?"),
        ("who led Eq7f2k before Vq7f2k", "before", ("Vq7f2k",), "who led Eq7f2k"),
        ("who led Eq7f2k when Ex7f2k was born", "at", ("Ex7f2k",), "who led Eq7f2k"),
        ("who led Eq7f2k on the day Ex7f2k died?", "at", ("Ex7f2k",), "who led Eq7f2k"),
        ("who led Eq7f2k during the Ex7f2k", "at", ("Ex7f2k",), "who led Eq7f2k"),
        ("who is Eq7f2k's husband now", "now", (), "who is Eq7f2k's husband"),
        ("who are the former spouses of Eq7f2k", "past", (), "who are the spouses of Eq7f2k"),
        ("who was the first wife of Eq7f2k", "first", (), "who was the wife of Eq7f2k"),
        ("when was the last time the Eq7f2k won", "last", (), "when the Eq7f2k won"),
    ],
)
def test_the_words_for_a_time_are_found(question: str, relation: str, names: tuple[str, ...], rest: str) -> None:
    found = asked_time(question, ["Vq7f2k", "Vx7f2k"])
    assert found is not None
    assert (found.relation, found.names) == (relation, names)
    left = "".join(
        letter if not any(start <= at < end for start, end in found.parts) else " "
        for at, letter in enumerate(question)
    )
    assert " ".join(left.split()) == rest


@pytest.mark.parametrize(
    "question",
    [
        "what is the first name of Eq7f2k",
        "who lives in Eq7f2k",
        "who was born in Vz7f2k",
        "who was the first lady of Eq7f2k",
        "which film of Eq7f2k has the latest release year?",
        "when was Eq7f2k born",
        "what was yesterday's news",
        "which was the first, and which the last?",
        "",
    ],
)
def test_other_words_say_no_time(question: str) -> None:
    assert asked_time(question, ["Vq7f2k"]) is None


def test_one_office_is_told_from_several_things() -> None:
    questions = ("who was the mayor of Eq7f2k in Vq7f2k", "which clubs did Eq7f2k play for in Vq7f2k")
    found = [asked_time(question, ["Vq7f2k"]) for question in questions]
    assert [each.is_of_one for each in found if each] == [True, False]
