"""Paths that say what a question says score above those that do not; orders only, no figures."""

from __future__ import annotations

import numpy as np

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


def test_scores_depend_on_the_path_and_not_on_its_place(scorer: PathScorer) -> None:
    question = "Which city does Eq7f2k's doctor live in?"
    forward = scorer.scores(question, "Eq7f2k", "patient", WAYS)
    backward = scorer.scores(question, "Eq7f2k", "patient", WAYS[::-1])
    assert np.allclose(forward, backward[::-1], atol=1e-5)


def test_no_paths_have_no_scores_and_no_words_prefer_the_shortest(scorer: PathScorer) -> None:
    assert scorer.scores("Who is Eq7f2k?", "Eq7f2k", "person", []).shape == (0,)
    scores = scorer.scores("Who is it?", "Eq7f2k", "person", [path("spouse", "spouse"), path("spouse")])
    assert scores[1] > scores[0]
