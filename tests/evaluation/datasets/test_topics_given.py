"""Topics are given by writing their names into the question, where the question mentions them."""

import pytest

from evaluation.datasets.questions import Question
from evaluation.datasets.topics_given import name_topic, with_topics_given


@pytest.mark.parametrize(
    ("text", "topic", "named"),
    [
        ("what does jamaican people speak", "Jamaica", 'what does "Jamaica" people speak'),
        ("who is niall ferguson 's wife", "Niall Ferguson", 'who is "Niall Ferguson" \'s wife'),
        ("what to see near grand bahama island", "Grand Bahama", 'what to see near "Grand Bahama" island'),
        ("who won the superbowl in 2010", "Super Bowl", 'who won the "Super Bowl" in 2010'),
        ("what is the currency of the us?", "United States of America", None),
        ("where is president kennedy buried", "John F. Kennedy", 'where is president "John F. Kennedy" buried'),
        ("who were king henry vii children", "Henry VII of England", 'who were king "Henry VII of England" children'),
        ("", "Ulm", ', "Ulm"'),
    ],
)
def test_the_nearest_words_become_the_name_in_quotes(text: str, topic: str, named: str | None) -> None:
    assert name_topic(text, topic) == (named or 'what is the currency of the us, "United States of America"')


def test_a_name_is_not_written_into_another() -> None:
    question = Question(
        id="1", question="who plays bella swan in swan", answers=("A",), topic_entities=("Swan", "Bella Swan")
    )
    assert with_topics_given(question).question == 'who plays "Bella Swan" in "Swan"'


def test_what_stands_in_a_longer_name_is_not_said_again() -> None:
    question = Question(
        id="1", question="where is utah state capitol", answers=("A",), topic_entities=("Utah", "Utah State Capitol")
    )
    assert with_topics_given(question).question == 'where is "Utah State Capitol"'


def test_all_else_of_the_question_stays() -> None:
    question = Question(id="1", question="where is ulm", answers=("A",), topic_entities=("Ulm",), filtered=True)
    given = with_topics_given(question)
    assert given == question.model_copy(update={"question": 'where is "Ulm"'})


def test_topics_of_a_dialogue_are_not_guessed() -> None:
    with pytest.raises(ValueError, match="single questions"):
        with_topics_given(Question(id="1", turns=("who is ann", "and her wife"), answers=("A",)))
