"""The rest of a reply is good English, and its pronouns mean what they meant."""

from __future__ import annotations

import pytest

from app.chat.statements.evidence import StatementContext
from app.chat.statements.replies import check_reply
from tests.support.statement_worlds import FILMS, RECORDS

PRUNED = (
    ("Inception was written by Cameron and directed by Nolan.", "Inception was directed by Nolan."),
    ("Inception was directed by Cameron and stars Hardy.", "Inception stars Hardy."),
    ("Inception was directed by Nolan and won eleven awards.", "Inception was directed by Nolan."),
    ("Inception, which was directed by Cameron, stars DiCaprio.", "Inception stars DiCaprio."),
    ("Inception, a SciFi film by Nolan, was released in Y2017.", "Inception is a SciFi film by Nolan."),
    ("Nolan, the director of Titanic, was born in London.", "Nolan was born in London."),
    ("Dunkirk came out in Y2017, but Inception was released in Y2017.", "Dunkirk came out in Y2017."),
    ("Nolan directed Inception because he loves heist stories.", "Nolan directed Inception."),
    ("Inception stars DiCaprio, Hardy and Cameron.", "Inception stars DiCaprio and Hardy."),
    ("Inception stars Cameron and Hardy.", "Inception stars Hardy."),
    ("I recommend Inception, a thrilling masterpiece by Nolan.", "I recommend Inception."),
    ("Anna has two children, but they live in London.", "Anna has two children."),
    ("Thanks for asking. Anna, who smokes, has Flu. She is 44 years old.", "Anna, who smokes, has Flu."),
)


@pytest.mark.parametrize(("reply", "rest"), PRUNED)
def test_the_rest_is_a_sentence(reply: str, rest: str) -> None:
    assert FILMS.kept(reply).removeprefix("Thanks for asking. ") == rest


def test_a_pronoun_whose_name_has_gone_becomes_the_name() -> None:
    assert FILMS.kept("Anna was admitted to WardB. She is treated by DrLee.") == "Anna is treated by DrLee."


def test_a_pronoun_with_its_name_stays() -> None:
    reply = "Inception was directed by Nolan. He was born in London."

    assert FILMS.kept(reply) == reply


@pytest.mark.parametrize(
    "reply",
    [
        "Great choice!",
        "Would you like to hear more about Nolan?",
        "I think you would like Dunkirk because it stars Hardy.",
        "Sure! Nolan directed Inception in Y2010. Enjoy!",
        "According to the records, Anna is treated by DrLee.",
    ],
)
def test_talk_stays_as_it_is(reply: str) -> None:
    assert FILMS.kept(reply) == reply
    assert FILMS.check(reply).removed == 0


@pytest.mark.parametrize(
    "reply", ["Did you know that Cameron directed Inception?", "Inception was directed by Cameron, right?"]
)
def test_a_question_that_states_something_is_checked(reply: str) -> None:
    assert FILMS.kept(reply) == ""


def test_one_role_stands_for_whoever_fills_it() -> None:
    assert FILMS.kept("The director of Inception was born in London.")
    assert not FILMS.kept("The director of Titanic was born in London.")


def test_the_dialogue_before_tells_what_it_is_about() -> None:
    assert FILMS.kept("It was directed by Cameron.", topics=["Titanic"]) == "It was directed by Cameron."
    assert FILMS.kept("It was directed by Cameron.", topics=["Inception"]) == ""


def test_each_sentence_tells_the_facts_that_carry_it() -> None:
    checked = FILMS.check("Inception was directed by Nolan. It won eleven awards. Nolan was born in London.")
    labels = [[FILMS.facts[fact].path[0] for fact in sentence.facts] for sentence in checked.sentences]

    assert labels == [["directed by"], ["place of birth"]]
    assert (checked.stated, checked.carried, checked.removed, checked.restated) == (3, 2, 1, 0)


def test_the_first_and_the_second_are_those_named_before() -> None:
    reply = "Purch2 was more expensive than Purch1. The first came to N900, the second to N607."

    assert RECORDS.kept(reply) == reply
    assert RECORDS.check("Purch2 was more expensive than Purch1. The first came to N607.").removed == 1


def test_without_the_house_nothing_is_counted_compared_or_denied() -> None:
    for reply in ("Anna has two children.", "Inception came out before Dunkirk.", "Nolan did not direct Titanic."):
        masked = " ".join(FILMS.words.get(word.rstrip("."), word) for word in reply.split())
        assert all(each.is_restated for each in check_reply([masked], FILMS.facts, StatementContext()).sentences)


@pytest.mark.parametrize("labels", [(), ("has garden",)])
def test_words_that_say_no_fact_carry_nothing_between_two_things(labels: tuple[str, ...]) -> None:
    sentence = f"{FILMS.words['Nolan']} has a garden in {FILMS.words['London']}."

    checked = check_reply([sentence], FILMS.facts, StatementContext(labels=labels))

    assert all(each.is_restated for each in checked.sentences)


@pytest.mark.parametrize(
    "reply",
    [
        "DrLee is in the care of Anna.",
        "Anna has DrLee as her patient.",
        "Nolan could have directed Dunkirk.",
        "Nolan wanted to direct Dunkirk.",
        "Nolan used to direct Dunkirk.",
        "Nolan turned down Dunkirk.",
        "Inception was made by Hardy.",
        "Only Hardy stars in Inception.",
    ],
)
def test_what_is_turned_round_or_unreal_goes(reply: str) -> None:
    assert not FILMS.kept(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "As for Inception, it was directed by Nolan.",
        "London is where Nolan was born.",
        "Anna is in the care of DrLee.",
        "Inception has Nolan as its director.",
        "Nolan called the shots on Inception.",
    ],
)
def test_further_wordings_of_facts_stay(reply: str) -> None:
    assert FILMS.kept(reply) == reply
