"""Phrases that name no relation are said by the relation that they ask for."""

from __future__ import annotations

import pytest

from app.llm.embedded.language.answer_form import read_form
from app.llm.embedded.language.paraphrases import normalise_idioms


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("What does Eq7f2k's father do?", "what is Eq7f2k's father 's occupation"),
        ("What is Eq7f2k 's mother ?", "what is Eq7f2k 's mother 's occupation"),
        ("What is Eq7f2k 's father 's mother ?", "What is Eq7f2k 's father 's mother ?"),
        ("what do they do for a living", "what is they 's occupation"),
        ("Is Eq7f2k 's child a man or a woman ?", "what is Eq7f2k 's child  's gender"),
        ("was Eq7f2k male or female", "what is Eq7f2k 's gender"),
        ("Who is the grandmother of Eq7f2k?", "Who is the mother of the parent of Eq7f2k?"),
        ("Eq7f2k's grandchildren", "Eq7f2k's child 's children"),
        ("Could you tell me who treats Eq7f2k?", "who treats Eq7f2k?"),
        ("What is Eq7f2k about?", "What is Eq7f2k topic"),
        ("which films are about Eq7f2k", "which films are with topic Eq7f2k"),
        ("tell me about Eq7f2k", "about Eq7f2k"),
        ("how would you describe Eq7f2k?", "what words describe Eq7f2k?"),
        ("what words are used to describe Eq7f2k?", "what words are describe Eq7f2k?"),
        ("What do people think of Eq7f2k?", "what is the rating of Eq7f2k?"),
        ("What did Eq7f2k direct?", "What did Eq7f2k direct?"),
        ("Is Eq7f2k a doctor or a nurse?", "Is Eq7f2k a doctor or a nurse?"),
    ],
)
def test_a_phrase_is_said_plainly(asked: str, plain: str) -> None:
    assert normalise_idioms(asked).split() == plain.split()


@pytest.mark.parametrize(
    ("question", "form"),
    [("When was Eq7f2k first shown?", "things"), ("What best describes Eq7f2k?", "things"),
     ("Which is the best film of Eq7f2k?", "extreme"), ("What was the first visit of Eq7f2k?", "extreme"),
     ("Can you name a film directed by Eq7f2k?", "things")],
)  # fmt: skip
def test_the_form_is_read_after_that(question: str, form: str) -> None:
    assert read_form(question, 1).form == form
