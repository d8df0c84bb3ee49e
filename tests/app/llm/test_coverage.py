"""Coverage ranks the path that a question words above others, in the order of its words."""

from __future__ import annotations

import numpy as np
import pytest

from app.llm.coverage import coverage
from app.llm.embedder import Embedder

PARENT, SPOUSE, JOB = ("parents", "person"), ("spouse", "person"), ("profession", "job title")


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("what is the job of the wife of Eq7f2k ?", (SPOUSE, JOB)),
        ("Eq7f2k 's mother 's husband", (PARENT, SPOUSE)),
        ("Eq7f2k 's husband 's mother", (SPOUSE, PARENT)),
        ("the profession of Eq7f2k", (JOB,)),
        ("the profession of the father of the husband of Eq7f2k", (SPOUSE, PARENT, JOB)),
    ],
)
def test_the_path_in_the_order_of_the_words_comes_first(
    embedder: Embedder, question: str, best: tuple[tuple[str, str], ...]
) -> None:
    ways = [
        (SPOUSE,), (PARENT,), (JOB,), (SPOUSE, PARENT), (PARENT, SPOUSE), (SPOUSE, JOB), (PARENT, JOB),
        (SPOUSE, PARENT, JOB), (PARENT, SPOUSE, JOB), (SPOUSE, ("^spouse", "person")),
    ]  # fmt: skip
    scores = coverage(embedder, question, "Eq7f2k", ways)
    assert ways[int(np.argmax(scores))] == best


def test_nothing_to_score_and_no_words_to_score_by(embedder: Embedder) -> None:
    assert coverage(embedder, "who", "Eq7f2k", []).shape == (0,)
    short, long = coverage(embedder, "Eq7f2k ?", "Eq7f2k", [(JOB,), (SPOUSE, JOB)])
    assert short > long
