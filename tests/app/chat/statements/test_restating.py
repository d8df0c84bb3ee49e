"""In the place of a piece that had to go stand the facts that it was about, in the service's own words."""

from __future__ import annotations

import pytest

from tests.support.statement_worlds import FILMS


@pytest.mark.parametrize(
    ("reply", "instead"),
    [
        ("Anna is not treated by DrLee.", "Anna is treated by DrLee."),
        ("Anna treats DrLee.", "Anna is treated by DrLee."),
        ("Nolan grew up in London.", "Nolan's place of birth is London."),
        ("Anna is treated by DrLee. She recovered from Flu.", "Anna is diagnosed with Flu."),
    ],
)
def test_the_fact_between_two_things_takes_the_place_of_what_was_said_of_them(reply: str, instead: str) -> None:
    assert FILMS.restated(reply) == instead
    assert FILMS.check(reply).removed == 0


@pytest.mark.parametrize(
    "reply",
    [
        "Nolan and Cameron are rivals.",
        "Inception won eleven awards.",
        "Nolan directed Inception. Nolan hated Inception.",
        "Thanks for asking!",
    ],
)
def test_nothing_stands_there_where_no_fact_ties_them_or_it_is_said_already(reply: str) -> None:
    assert FILMS.restated(reply) == ""


def test_it_stands_behind_the_sentence_that_it_was_said_in() -> None:
    reply = "Anna is treated by DrLee. Nolan grew up in London. Anna has Flu."
    checked = FILMS.check(reply)

    assert [each.is_restated for each in checked.sentences] == [False, True, False]
    assert (checked.removed, checked.restated) == (0, 1)


def test_what_hung_on_a_piece_that_had_to_go_is_told_all_the_same() -> None:
    reply = "Five actors star in Inception, among them DiCaprio and Hardy."

    assert FILMS.restated(reply) == "Inception's starred actors are DiCaprio and Hardy."


@pytest.mark.parametrize(
    ("reply", "is_kept"),
    [
        ("The writer of Dunkirk is not recorded.", False),
        ("I have no box office for Inception.", True),
        ("It isn't known who insures Inception.", True),
        ("The director of Inception isn't given.", False),
    ],
)
def test_that_something_is_not_on_record_stays_where_it_is_so(reply: str, is_kept: bool) -> None:
    assert bool(FILMS.kept(f"Nolan directed Inception. {reply}").removeprefix("Nolan directed Inception.")) is is_kept


def test_things_named_respectively_are_told_one_by_one() -> None:
    reply = "Nolan and Cameron directed Inception and Titanic, respectively."

    assert FILMS.kept(reply) == ""
    assert "Inception was directed by Nolan." in FILMS.restated(reply)
    assert "Titanic was directed by Cameron." in FILMS.restated(reply)


@pytest.mark.parametrize(
    "reply",
    [
        "Inception is a thrilling film by Nolan, who hates it.",
        "Sure! Nolan directed Inception. No prior knowledge is needed.",
        "Anna was never treated by DrLee.",
    ],
)
def test_in_the_words_of_the_service_nothing_of_a_models_stays(reply: str) -> None:
    checked = FILMS.check(reply, words="service")

    assert checked.sentences
    assert all(each.is_restated and each.facts for each in checked.sentences)


def test_where_one_finds_somebody_is_no_talk() -> None:
    told = "Anna is treated by DrLee."

    assert FILMS.kept(f"{told} You will find her in London.") == told
    assert FILMS.kept(f"{told} You can find her in WardA.") == f"{told} You can find her in WardA."
