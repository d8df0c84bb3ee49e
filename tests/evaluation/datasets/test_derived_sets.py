"""Sets made of others: halves by hash, topics written into their questions, and questions of another graph."""

import hashlib

import pytest

from evaluation.datasets.derived_sets import (
    foreign,
    half_of_wording,
    name_topic,
    split_by_topic,
    transplanted,
    with_topics_given,
    without_relations,
)
from evaluation.datasets.questions import PlanSet, QueryPlan, Question


def question(number: int, *topics: str) -> Question:
    return Question(id=str(number), question="where was X born", answers=("ulm",), topic_entities=topics)


def test_the_half_of_a_wording_is_the_first_byte_of_its_hash() -> None:
    wordings = [f"who directed X in {year}" for year in range(1900, 2000)]
    halves = [half_of_wording(wording) for wording in wordings]
    assert halves == [
        "seen" if hashlib.sha256(wording.encode()).hexdigest()[0] < "8" else "unseen" for wording in wordings
    ]
    assert 30 < halves.count("seen") < 70


def test_no_topic_is_in_both_halves_of_this_set_or_another() -> None:
    two_hops = [question(number, f"ann_{number % 50}") for number in range(300)]
    three_hops = [question(number, f"Ann {number % 50}") for number in range(300, 500)]
    train, test = split_by_topic(two_hops)
    others = split_by_topic(three_hops)
    trained = {each.topic_entities[0].replace("_", " ") for each in train}
    assert trained.isdisjoint(each.topic_entities[0].replace("_", " ") for each in test)
    # "Ann 3" of the other set is "ann_3" of this one.
    assert {each.topic_entities[0].casefold() for each in others[0]} == trained
    assert sorted(int(each.id) for each in (*train, *test)) == list(range(300))
    assert 15 < len(trained) < 35


def test_a_question_without_one_topic_is_refused() -> None:
    for topics in ((), ("ann", "bo")):
        with pytest.raises(ValueError, match="exactly one topic entity"):
            split_by_topic([question(1, *topics)])


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


@pytest.mark.parametrize(
    ("text", "topics", "given"),
    [
        ("who plays bella swan in swan", ("Swan", "Bella Swan"), 'who plays "Bella Swan" in "Swan"'),
        ("where is utah state capitol", ("Utah", "Utah State Capitol"), 'where is "Utah State Capitol"'),
        ("where is ulm", ("Ulm",), 'where is "Ulm"'),
    ],
)
def test_a_name_is_written_once_and_all_else_stays(text: str, topics: tuple[str, ...], given: str) -> None:
    asked = Question(id="1", question=text, answers=("A",), topic_entities=topics, filtered=True)
    assert with_topics_given(asked) == asked.model_copy(update={"question": given})


def test_topics_of_a_dialogue_are_not_guessed() -> None:
    with pytest.raises(ValueError, match="single questions"):
        with_topics_given(Question(id="1", turns=("who is ann", "and her wife"), answers=("A",)))


def asked(
    identity: str, text: str, *topics: str, path: tuple[str, ...] = ("directed by",), **more: object
) -> Question:
    plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=path)}, answer=("A",), topics=topics)
    fields = {"id": identity, "question": text, "answers": ("Bo",), "topic_entities": topics, "plan": plan, **more}
    return Question.model_validate(fields)


FILM = asked("film", "who directed Heat", "Heat")
PAIR = asked("pair", "was Ann seen with Ann Lee", "Ann", "Ann Lee")
GENERAL = asked("general", "who earns most")


def test_questions_about_things_of_this_graph_are_no_strangers() -> None:
    found = foreign([FILM, PAIR, GENERAL], lambda name: name == "Ann Lee")
    assert [each.question for each in found] == ["who directed Heat", "who earns most"]
    assert all(not each.is_answerable and each.plan is None and each.has_plan for each in found)


def test_each_topic_is_replaced_by_another_name_of_this_graph() -> None:
    names = ["Cy", "Di", "Ed"]
    film, pair = transplanted([FILM, PAIR, GENERAL], names, 0)
    assert film.question in {f"who directed {name}" for name in names}
    assert pair.question in {f"was {one} seen with {two}" for one in names for two in names if one != two}
    assert film.topic_entities == film.answers == ()
    assert [film, pair] == transplanted([FILM, PAIR, GENERAL], names, 0)


def test_what_nobody_looks_at_dialogues_and_unanswerable_ones_are_left_out() -> None:
    hidden = asked("hidden", "who directed Heat", "Heat", half="unseen")
    dialogue = Question(id="two", turns=("who directed Heat", "and Ran"), answers=("Bo",), topic_entities=("Heat",))
    unknown = asked("unknown", "who directed Heat", "Heat", answers=())
    assert foreign([hidden, dialogue, unknown], lambda _name: False) == []
    assert transplanted([hidden, dialogue, unknown], ["Cy"], 0) == []


def test_relations_that_the_other_graph_has_are_left_out() -> None:
    lives = asked("lives", "where does the director of Heat live", "Heat", path=("directed by", "^lives in"))
    joined = asked("joined", "where does Ann live", "Ann", path=("stays|lives in",))
    assert without_relations([FILM, lives, joined, Question(id="1", question="?", answers=())], {"lives in"}) == [FILM]
