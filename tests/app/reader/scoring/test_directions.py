"""Directions of steps: who reports to somebody is not found above them."""

from __future__ import annotations

import pytest

from app.reader.language.question_words import words_in
from app.reader.scoring.directions import is_turned_superior


@pytest.mark.parametrize(
    ("question", "label", "is_turned"),
    [
        ("who reports to Em4b44", "manager", True),
        ("who reports to Em4b44", "^manager", False),
        ("which people answer to Em4b44", "reports to", True),
        ("who does Em4b44 report to", "manager", False),
        ("who does Em4b44 report to", "^manager", True),
        ("who looks after Em4b44", "manager", False),
        ("who reports to Em4b44", "married to", False),
    ],
)
def test_who_reports_to_somebody_is_not_above_them(question: str, label: str, is_turned: bool) -> None:
    words = words_in(question)
    assert is_turned_superior(words, words.index("Em4b44"), label) is is_turned
