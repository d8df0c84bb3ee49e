"""Replies that the service writes itself: plain sentences, each made of facts that it names."""

from __future__ import annotations

from app.llm.tasks import Evidence, ReplyInput, Size, Thing
from app.reader.sentences.dialogue_text import dialogue_text

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


def test_ends_of_one_relation_stand_together() -> None:
    facts = [fact(FILM, "has genre", name, "genre") for name in (MAN, WOMAN)]
    assert texts("film", *facts) == [f"{FILM}'s genres are {MAN} and {WOMAN}."]


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
