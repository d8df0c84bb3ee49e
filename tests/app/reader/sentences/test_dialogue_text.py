"""Replies that the service writes itself: plain sentences, each made of facts that it names."""

from __future__ import annotations

import pytest

from app.llm.tasks import Evidence, ReplyInput, Size, Thing
from app.reader.sentences.dialogue_text import can_be_said, dialogue_text

FILM, MAN, WOMAN = "Ea1b2c", "Eb1b2c", "Ec1b2c"


def fact(start: str, step: str, end: str, concept: str = "person", size: Size = "1") -> Evidence:
    return Evidence(start=start, path=[step], end=end, end_concept=concept, size=size)


def texts(concept: str, *facts: Evidence, describes: bool = False) -> list[str]:
    given = ReplyInput(
        question=f"I like {facts[0].start}",
        things=[Thing(name=facts[0].start, concept=concept, size="1")],
        evidence=list(facts),
        ranked=tuple(range(len(facts))),
        describes=describes,
    )
    return [each.text for each in dialogue_text(given)]


@pytest.mark.parametrize(
    ("step", "end", "said"),
    [
        ("directed by", MAN, f"{FILM} was directed by {MAN}."),
        ("^directed by", MAN, f"{FILM} directed {MAN}."),
        ("^treated by", MAN, f"{MAN} is treated by {FILM}."),
        ("has genre", "Va1b2c", f"{FILM}'s genre is Va1b2c."),
        ("child of", MAN, f"{FILM} is a child of {MAN}."),
    ],
)
def test_a_fact_is_said_by_the_words_of_its_relation(step: str, end: str, said: str) -> None:
    assert texts("thing", fact(FILM, step, end)) == [said]


@pytest.mark.parametrize(
    ("step", "concept", "said"),
    [
        ("is fragile", "yes or no", f"It is Va1b2c that {FILM} is fragile."),
        ("on sabbatical", "yes or no", f"It is Va1b2c that {FILM} is on sabbatical."),
        ("in country", "country", f"{FILM} is in the country Va1b2c."),
        ("music by", "person", f"{FILM}'s music is by Va1b2c."),
        ("takes care of", "person", f"{FILM} takes care of Va1b2c."),
        ("distance (km)", "number", f"{FILM}'s distance in km is Va1b2c."),
        ("next inspection due", "date", f"{FILM}'s next inspection is due on Va1b2c."),
        ("first registered", "date", f"{FILM} was first registered on Va1b2c."),
        ("is a", "thing", f"{FILM} is of the kind Va1b2c."),
    ],
)
def test_a_label_that_is_no_noun_is_said_as_what_it_is(step: str, concept: str, said: str) -> None:
    assert texts("thing", fact(FILM, step, "Va1b2c", concept)) == [said]


def test_ends_of_one_relation_stand_together() -> None:
    facts = [fact(FILM, "has genre", name, "genre") for name in (MAN, WOMAN)]
    assert texts("film", *facts) == [f"{FILM}'s genres are {MAN} and {WOMAN}."]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("starred actors", f"{FILM}'s starred actors include {MAN}."),
        ("^friend", f"{FILM} is a friend of {MAN}."),
        ("directed by", f"{FILM} was directed by {MAN}."),
    ],
)
def test_one_of_several_is_not_said_to_be_the_only_one(step: str, said: str) -> None:
    assert texts("thing", fact(FILM, step, MAN, size="")) == [said]


def test_a_date_of_what_was_done_to_a_thing_stands_behind_on() -> None:
    assert texts("patient", fact(MAN, "admitted", "Va1b2c", "date")) == [f"{MAN} was admitted on Va1b2c."]


def test_a_thing_goes_by_a_pronoun_and_a_person_by_a_name_where_others_are_named() -> None:
    facts = (fact(FILM, "directed by", MAN), fact(FILM, "has genre", "Va1b2c", "text"))
    assert texts("film", *facts, describes=True) == [f"{FILM} is a film directed by {MAN}.", "Its genre is Va1b2c."]
    about = (fact(MAN, "married to", WOMAN), fact(MAN, "gender", "Va1b2c", "text"))
    assert texts("person", *about)[1].startswith(f"{MAN}'s gender")


def test_ends_of_which_the_same_is_said_stand_together() -> None:
    facts = [fact(FILM, "^insured by", name) for name in (MAN, WOMAN)]
    assert texts("insurer", *facts) == [f"{MAN} and {WOMAN} are insured by {FILM}."]


def test_each_sentence_tells_which_facts_it_states() -> None:
    facts = [fact(FILM, "has genre", "Va1b2c", "text"), fact(FILM, "directed by", MAN)]
    given = ReplyInput(question=FILM, things=[], evidence=facts, ranked=(1, 0))
    assert [each.facts for each in dialogue_text(given)] == [(1,), (0,)]


def test_a_remark_is_short_and_a_description_no_longer_than_five_sentences() -> None:
    facts = [fact(FILM, f"part {number} of", f"E{number}b2cd") for number in "123456789"]
    facts += [fact(f"E{number}b2cd", "lives in", MAN) for number in "123456789"]
    assert len(texts("thing", *facts)) <= 3
    assert len(texts("thing", *facts, describes=True)) <= 5


@pytest.mark.parametrize("step", ["Ra1b2c", "^billed to|dose in mg", "looks like"])
def test_masked_and_unclear_relations_are_left_unsaid(step: str) -> None:
    assert not can_be_said(step)
    assert texts("thing", fact(FILM, step, MAN)) == []
