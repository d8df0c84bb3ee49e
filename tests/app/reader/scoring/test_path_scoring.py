"""Paths that say what a question says score above those that do not; orders only, no figures."""

from __future__ import annotations

import numpy as np
import pytest

from app.language.readings import WordedPath
from app.reader.scoring.path_scoring import PathScorer


def path(*steps: str, end: str = "", middle: str = "") -> WordedPath:
    return WordedPath(steps, (middle,) * (len(steps) - 1) + (end,))


WAYS = [
    path("treated by", end="doctor"),
    path("lives in", end="city"),
    path("date of birth", end="date"),
    path("married to", end="person"),
    path("married to", "treated by", middle="person", end="doctor"),
    path("treated by", "lives in", middle="doctor", end="city"),
]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Who is Eq7f2k treated by?", 0),
        ("What is the date of birth of Eq7f2k?", 2),
        ("Who is Eq7f2k's wife?", 3),
        ("Who treats the person Eq7f2k is married to?", 4),
        ("Where does the doctor of Eq7f2k live?", 5),
    ],
)
def test_the_path_that_the_question_words_is_best(scorer: PathScorer, question: str, best: int) -> None:
    assert int(np.argmax(scorer.scores(question, "Eq7f2k", "patient", WAYS))) == best


def test_the_direction_of_a_relation_counts(scorer: PathScorer) -> None:
    ways = [path("treated by", end="doctor"), path("^treated by", end="patient")]
    there = scorer.scores("Who is Eq7f2k treated by?", "Eq7f2k", "person", ways)
    back = scorer.scores("Which patients are treated by Eq7f2k?", "Eq7f2k", "person", ways)
    assert there[0] > there[1]
    assert back[1] > back[0]


def test_the_kind_at_the_end_counts(scorer: PathScorer) -> None:
    ways = [path("knows", end="film"), path("knows", end="doctor")]
    scores = scorer.scores("Which doctors does Eq7f2k know?", "Eq7f2k", "person", ways)
    assert scores[1] > scores[0]


def test_scores_depend_on_the_path_and_not_on_its_place(scorer: PathScorer) -> None:
    question = "Which city does Eq7f2k's doctor live in?"
    forward = scorer.scores(question, "Eq7f2k", "patient", WAYS)
    backward = scorer.scores(question, "Eq7f2k", "patient", WAYS[::-1])
    assert np.allclose(forward, backward[::-1], atol=1e-5)


def test_no_paths_have_no_scores_and_no_words_prefer_the_shortest(scorer: PathScorer) -> None:
    assert scorer.scores("Who is Eq7f2k?", "Eq7f2k", "person", []).shape == (0,)
    scores = scorer.scores("Who is it?", "Eq7f2k", "person", [path("spouse", "spouse"), path("spouse")])
    assert scores[1] > scores[0]


def best_of(scorer: PathScorer, question: str, concept: str, paths: list[WordedPath]) -> tuple[str, ...]:
    return paths[int(np.argmax(scorer.scores(question, "Eq7f2k", concept, paths)))].steps


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("What songs did Eq7f2k compose?", "^composed by"),
        ("What books did Eq7f2k write?", "^written by"),
        ("Which plays does Eq7f2k act in?", "^played actors"),
    ],
)
def test_what_the_topic_does_is_a_passive_read_backwards(scorer: PathScorer, question: str, step: str) -> None:
    ways = [path(one, end="work") for one in ("^composed by", "^written by", "^played actors", "in language")]
    assert best_of(scorer, question, "person", ways) == (step,)


SINGERS, DIRECTOR = (path(label, end="person") for label in ("featured singers", "directed by"))
WROTE, RECORD = path("^written by", end="film"), "^education.education record.student|education.education record"


@pytest.mark.parametrize(
    ("question", "concept", "others", "best"),
    [
        # A word for the topic beside it has no step of its own, as a writer who wrote or a song that features.
        ("the song Eq7f2k featured which singers", "song", [path(*SINGERS.steps, f"^{label}", end="song")
         for label in ("composed by", "featured singers")], SINGERS),
        ("which films did the writer Eq7f2k write", "person", [path(*WROTE.steps, "^written by", end="film"),
         path(*WROTE.steps, "written by", end="person")], WROTE),
        ("the screenwriter Eq7f2k wrote which films", "person", [path(*WROTE.steps, "written by", end="person"),
         path(*WROTE.steps, "starred actors", "^written by", middle="person", end="film")], WROTE),
        # One word for what two things share is two steps.
        ("which films have the same director as Eq7f2k", "film", [DIRECTOR, path("starred actors", "^directed by"),
         path("directed by", "^directed by", "has genre", middle="film", end="genre")],
         path("directed by", "^directed by", middle="person", end="film")),
        # None goes through a nameless node and back.
        ("where did the student Eq7f2k get an education", "person", [path(f"{RECORD}.student", end="person")],
         path(f"{RECORD}.institution", end="school")),
    ],
)  # fmt: skip
def test_the_path_that_the_topics_own_words_leave_is_best(
    scorer: PathScorer, question: str, concept: str, others: list[WordedPath], best: WordedPath
) -> None:
    assert best_of(scorer, question, concept, [*others, best]) == best.steps


@pytest.mark.parametrize(("question", "end"), [("who is around Eq7f2k", "person"), ("when is around Eq7f2k", "date")])
def test_a_question_word_asks_for_a_kind(scorer: PathScorer, question: str, end: str) -> None:
    ways = [path("around", end=kind) for kind in ("person", "date", "film")]
    scores = scorer.scores(question, "Eq7f2k", "film", ways)
    assert ways[int(np.argmax(scores))].concepts == (end,)


def test_of_relations_with_long_names_the_whole_question_decides(scorer: PathScorer) -> None:
    ways = [
        path("music.musical group member.instruments played by member", end="musical instrument"),
        path("location.mailing address.state province or region", end="geographic location"),
    ]
    scores = scorer.scores("what instruments does Eq7f2k play in the group", "Eq7f2k", "person", ways)
    assert scores[0] > scores[1]


YEARS = [
    path("release year", end="date"),
    path("release year", "^release year", middle="date", end="film"),
    path("release year", "^release year", "release year", middle="film", end="date"),
]


@pytest.mark.parametrize("question", ["what year was Eq7f2k released", "what year did Eq7f2k come out"])
def test_a_value_is_left_again_only_by_what_has_the_same(scorer: PathScorer, question: str) -> None:
    assert best_of(scorer, question, "film", YEARS) == ("release year",)
    assert best_of(scorer, "which films have the same release year as Eq7f2k", "film", YEARS) == YEARS[1].steps
