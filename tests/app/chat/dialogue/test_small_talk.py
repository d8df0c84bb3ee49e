"""Turns that ask the graph nothing, and those that want one thing described."""

from __future__ import annotations

import pytest

from app.chat.turns import described_thing, invites, reply_to, sorted_thing, talk_of, thing_to_sort
from app.llm.embeddings.embedder import Embedder
from kg_store.text.synonyms import names_one_of

KINDS = ("city", "clinic", "doctor", "ward")


@pytest.mark.parametrize(
    "turn",
    [
        *("hello", "Good morning!", "ok thx", "bye", "What can I ask?", "Who are you?", "how are you?"),
        *(
            "hey, thanks for your help earlier",
            "good morning! can you help me with our sales stuff?",
            "ok great, thanks!",
        ),
        *("who are you and what can you do?", "hi there, I'm new here", "I've got a few questions"),
        *("tell me a joke", "You're really helpful, thank you", "I don't understand, what should I type?"),
    ],
)
def test_a_turn_that_asks_nothing_is_replied_to(turn: str) -> None:
    assert talk_of(turn)


@pytest.mark.parametrize(
    "turn",
    [
        *("Who has gout?", "What do you know about Alder Clinic?", "good doctors in Arnsbridge"),
        *("Thanks for that. Who has gout?", "hello, is there a doctor?", "can you help me find the oldest doctor?"),
        *("thanks, and the others?", "help me with patients of Alder Clinic", "who are you and who has gout?"),
    ],
)
def test_a_question_is_no_small_talk(turn: str) -> None:
    assert talk_of(turn) is None


@pytest.mark.parametrize(
    ("turn", "talk"),
    [
        ("heya", "hello"), ("thanks, you really helped me", "thanks"), ("wow, good job", "thanks"),
        ("have a nice evening", "bye"),
        ("are you chatgpt or a human", "chat"), ("what sort of stuff do you know", "help"),
        ("who is the oldest", None), ("and the others", None), ("which ones are red", None),
    ],
)  # fmt: skip
def test_small_talk_is_told_by_likeness_too(embedder: Embedder, turn: str, talk: str | None) -> None:
    assert talk_of(turn, embedder.similarity) == talk


def test_the_invitation_names_kinds_of_the_graph() -> None:
    assert "cities, clinics and doctors" in reply_to("help", KINDS)


@pytest.mark.parametrize(
    ("turn", "talk"),
    [("hey, thanks for your help", "hello"), ("thanks, bye", "bye"), ("hello! what can you do?", "help")],
)
def test_of_several_the_one_that_leads_on_is_replied_to(turn: str, talk: str) -> None:
    assert talk_of(turn) == talk


@pytest.mark.parametrize(("turn", "expected"), [("hello", True), ("help", True), ("lol", True), ("thanks", False)])
def test_what_can_be_asked_is_told_to_whoever_does_not_know(turn: str, expected: bool) -> None:
    assert invites(talk_of(turn)) is expected


@pytest.mark.parametrize(
    "turn",
    [
        *("tell me about Eq7f2k", "Eq7f2k?", "What do you know about Eq7f2k?", "who is Eq7f2k"),
        *("overview of Eq7f2k", "could you give me a quick overview of Eq7f2k?"),
    ],
)
def test_one_thing_is_described(turn: str) -> None:
    assert described_thing(turn) == "Eq7f2k"


@pytest.mark.parametrize("turn", ["who is the doctor of Eq7f2k", "Eq7f2k and Ez9y8x", "tell me about doctors"])
def test_a_question_about_it_is_no_description(turn: str) -> None:
    assert described_thing(turn) == ""


@pytest.mark.parametrize("turn", ["What kind of thing is Eq7f2k?", "what sort of thing is the Eq7f2k"])
def test_the_kind_of_a_thing_is_asked_for(turn: str) -> None:
    assert (sorted_thing(turn), described_thing(turn)) == ("Eq7f2k", "")


@pytest.mark.parametrize(
    "turn", ["What is Eq7f2k?", "what kind of films does Eq7f2k make", "What kind of thing is that?"]
)
def test_other_questions_ask_for_no_kind(turn: str) -> None:
    assert sorted_thing(turn) == ""


OF_TOWN = ("building", "district", "veterinary practice", "pet insurer")


@pytest.mark.parametrize(
    "turn",
    [
        "Eq7f2k, is it a house or a district?",
        "Is Eq7f2k a building or a district?",
        "what is Eq7f2k? a practice or an insurer",
    ],
)
def test_which_of_two_kinds_of_the_graph_a_thing_is(turn: str) -> None:
    assert thing_to_sort(turn, lambda noun: names_one_of(noun, OF_TOWN)) == "Eq7f2k"


@pytest.mark.parametrize(
    "turn",
    [
        "Is Eq7f2k a cat or a dog?",
        "Is Eq7f2k a building or a man?",
        "Is Eq7f2k in a building or a district?",
        "Eq7f2k, has it a building or a district?",
    ],
)
def test_values_and_other_things_are_no_kinds_to_choose_from(turn: str) -> None:
    assert thing_to_sort(turn, lambda noun: names_one_of(noun, OF_TOWN)) == ""
