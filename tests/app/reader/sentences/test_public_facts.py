"""Relations of public graphs are labels of any form; each makes a sentence."""

from __future__ import annotations

import pytest

from app.llm.tasks import Evidence
from app.reader.sentences.public_facts import by_start_and_relation, public_clause


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("is a", "X is a Y"),
        ("not is a", "X is not a Y"),
        ("causes", "X causes Y"),
        ("has property", "X has property Y"),
        ("not has property", "X does not have property Y"),
        ("not capable of", "X is not capable of Y"),
        ("used for", "X is used for Y"),
        ("at location", "X is at location Y"),
        ("part of", "X is part of Y"),
        ("drug class", "X's drug class is Y"),
        ("food to avoid", "X's food to avoid is Y"),
    ],
)
def test_a_label_makes_a_sentence(label: str, said: str) -> None:
    assert public_clause("X", label, "Y") == said


def test_facts_that_differ_in_their_ends_are_told_together() -> None:
    ends = ["a", "b", "c", "d"]
    facts = [Evidence(start="X", path=["causes"], end=end, end_concept="") for end in ends]
    other = Evidence(start="X", path=["is a"], end="e", end_concept="")
    groups = by_start_and_relation([facts[0], other, *facts[1:]])
    assert [[fact.end for fact in group] for group in groups] == [["a", "b", "c"], ["e"]]
