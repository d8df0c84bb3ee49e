"""Halves by hash: fixed for ever, clean of each other, and about even."""

import hashlib

import pytest

from evaluation.datasets.questions import Question
from evaluation.datasets.splits import half_of_wording, split_by_topic


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
