"""Ways of asking that are read as plainer ones."""

from __future__ import annotations

import pytest

from app.reader.language.idioms import normalise_idioms, plainer
from kg_store.text.english import PLAINER


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("What is Eq7f2k 's mother ?", "what is Eq7f2k 's mother 's occupation"),
        ("Who is the grandmother of Eq7f2k?", "Who is the mother of the parent of Eq7f2k?"),
        ("Eq7f2k's grandchildren", "Eq7f2k's child 's children"),
        ("What does Eq7f2k's father do?", "what is Eq7f2k's father 's occupation"),
        ("What is Eq7f2k 's father 's mother ?", "What is Eq7f2k 's father 's mother ?"),
        ("Is Eq7f2k 's child a man or a woman ?", "what is Eq7f2k 's child  's gender"),
        ("Could you tell me who treats Eq7f2k?", "who treats Eq7f2k?"),
        ("What is Eq7f2k about?", "What is Eq7f2k topic"),
        ("which films are about Eq7f2k", "which films are with topic Eq7f2k"),
        ("Is Eq7f2k a doctor or a nurse?", "Is Eq7f2k a doctor or a nurse?"),
        ("what does Eq7f2k do here for a living?", "what is Eq7f2k 's occupation"),
        ("how much does Eq7f2k make a month?", "how much does Eq7f2k earn a month?"),
        ("what does Eq7f2k make?", "what does Eq7f2k make?"),
        ("who did Eq7f2k sell for Ec1in1?", "who did Eq7f2k sell for Ec1in1?"),
        ("films that deal with Eq7f2k", "films that with topic Eq7f2k"),
        ("whose property is Eq7f2k?", "who owns Eq7f2k"),
        ("what sort of movie is Eq7f2k?", "what genre is Eq7f2k?"),
        ("and since when is Eq7f2k working there?", "and when was Eq7f2k hired"),
        ("who showed Eq7f2k the ropes?", "who trained Eq7f2k?"),
        ("how badly did Eq7f2k sleep?", "how badly did Eq7f2k sleep?"),
        ("how far is Eq7f2k from Ec1in1", "how far is Eq7f2k from Ec1in1"),
    ],
)
def test_a_phrase_is_said_plainly(asked: str, plain: str) -> None:
    assert normalise_idioms(asked).split() == plain.split()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("has it arrived so far", "has it arrived "),
        ("Because of gout", "for gout"),
        ("is it sold-out", "is it sold-out"),
        ("these days", "these days"),
    ],
)
def test_plainer_words_stand_for_whole_phrases_alone(said: str, read: str) -> None:
    assert plainer(said) == read


def test_what_is_read_is_itself_plain() -> None:
    assert all(plainer(read) == read for read in PLAINER.values() if read)
