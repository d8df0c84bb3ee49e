"""Light verbs, "un-" before participles, "all of their" and "the longest time", in questions over a library."""

from __future__ import annotations

import pytest

from app.llm.embedded.language.morphology import denied_participle
from app.llm.embedded.meaning.question.measures import measure_at
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embeddings.embedder import Embedder
from tests.support.library import assert_read_as, assert_unsure


@pytest.fixture(scope="module")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)


PUBLISHED = 'having(Sb0001, "published on")'
READ = [
    ("Which branches offer Vn4m44 or more seats?", 'filter(Sr0001, "number of seats", >=, Vn4m44)'),
    (
        "Which branches provide more seats than Er3h33?",
        'filter(Sr0001, "number of seats", >, reach(Er3h33, "number of seats"))',
    ),
    ("How many seats does Er3h33 offer?", 'reach(Er3h33, "number of seats")'),
    ("Which books are unpublished?", f"difference(Sb0001, {PUBLISHED})"),
    ("unblocked members", 'difference(Sm0001, having(Sm0001, "blocked"))'),
    ("How many members are unmarried?", 'count(difference(Sm0001, having(Sm0001, "married to")))'),
    (
        "Which authors have had all of their books published?",
        f'difference(reach({PUBLISHED}, "written by"), reach(difference(Sb0001, {PUBLISHED}), "written by"))',
    ),
    (
        "Which authors have published every one of their books?",
        f'difference(reach({PUBLISHED}, "written by"), reach(difference(Sb0001, {PUBLISHED}), "written by"))',
    ),
    ("How many seats do branches have on average?", 'average(Sr0001, "number of seats")'),
    ("members who gave us no email", 'difference(Sm0001, having(Sm0001, "email"))'),
    ("How much money does Eb1k11 cost?", 'reach(Eb1k11, "price")'),
]
UNSURE = [
    # A light verb that is the only word for a relation says it, or nothing does.
    "Who takes Eb1k11?",
    "Which member asks for Eb1k11?",
    "Which branches take members?",
    # Money is no weight, and no number of seats.
    "How much money does Eb1k11 weigh?",
    "How much money are the seats of Er3h33?",
    # No relation speaks of it.
    "Which books are unfinished?",
    # Some of them are not all of them.
    "Which members have all of their loans in Er3h33 and Er9h99?",
    # It began when they came there, and no relation says when.
    "Who has been in Er3h33 the longest?",
]


@pytest.mark.parametrize(("question", "expression"), READ)
def test_what_is_said_in_everyday_frames_is_read(scorer: PathScorer, question: str, expression: str) -> None:
    assert_read_as(scorer, question, expression)


@pytest.mark.parametrize("question", UNSURE)
def test_a_word_that_says_a_relation_is_never_dropped(scorer: PathScorer, question: str) -> None:
    assert_unsure(scorer, question)


@pytest.mark.parametrize(
    ("word", "participle"),
    [
        ("uninsured", "insured"),
        ("unpaid", "paid"),
        ("undelivered", "delivered"),
        ("under", ""),
        ("uniform", ""),
        ("unit", ""),
    ],
)
def test_un_denies_participles_alone(word: str, participle: str) -> None:
    assert denied_participle(word) == participle


@pytest.mark.parametrize(
    ("question", "number", "date"),
    [
        ("who has been here the longest", 0, -1),
        ("which driver is the longest serving", 0, -1),
        ("who has been a member for longer Em4b44 or Em5b55", 0, -1),
        ("which film is the longest", 1, 0),
        ("which patient has been admitted the longest", 1, 0),
        ("who has been in Er3h33 the longest", 1, 0),
    ],
)
def test_the_longest_time_is_the_earliest_beginning(question: str, number: int, date: int) -> None:
    words = question.split()
    at = next(at for at, word in enumerate(words) if word.startswith("long"))
    measure = measure_at(words, at)
    assert (measure.number, measure.date) == (number, date)


def test_what_took_longest_is_no_distance() -> None:
    measure = measure_at("which trip took the longest".split(), 4)
    assert frozenset({"distance"}) not in measure.hinted
    assert not measure.may_be_of({"distance"})
