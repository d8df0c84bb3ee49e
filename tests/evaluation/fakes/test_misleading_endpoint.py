"""Right answers that are spoilt: each way has its forms, and a lie leaves the expression as it is."""

from __future__ import annotations

import pytest

from evaluation.fakes.misleading_endpoint import YES, Corruption, Way
from tests.support.tasks import fact, step, thing, way

ASKED = step(
    "which doctors work at Ec1in1",
    [thing("Ec1in1", "clinic"), thing("Sd0cts", "doctor")],
    [way(2, "Ec1in1", "^part of", to="ward")],
    [fact("Ec1in1", "^works at", end="Ss1aff", to="doctor, nurse", of="clinic")],
)


@pytest.mark.parametrize(
    ("spoilt", "answer", "forms"),
    [
        ("wrong type", "count(Ss1aff)", ["Ss1aff", "count(Ec1in1)", "count(way(2))"]),
        (
            "wrong type",
            "intersect(Ss1aff, Sd0cts)",
            ["count(intersect(Ss1aff, Sd0cts))", "Ec1in1", "way(2)", "Ss1aff"],
        ),
        ("yes for no", "exists(intersect(Ss1aff, Sd0cts))", ["exists(Ss1aff)", "none(intersect(Ss1aff, Sd0cts))"]),
        ("yes for no", "holds(Ss1aff)", ["exists(Ss1aff)"]),
        ("yes for no", "Ss1aff", []),
        (
            "negation dropped",
            "count(difference(Sd0cts, Ss1aff))",
            ["count(Sd0cts)", "count(Ss1aff)", "count(intersect(Sd0cts, Ss1aff))"],
        ),
        ("negation dropped", "Ss1aff", []),
    ],
)
def test_the_forms_of_a_spoilt_answer(spoilt: Way, answer: str, forms: list[str]) -> None:
    assert Corruption.forms(spoilt, answer, ASKED) == forms
    assert [Corruption(spoilt, at).of(answer, ASKED) for at in range(len(forms))] == forms
    assert Corruption(spoilt, len(forms)).of(answer, ASKED) is None


def test_a_lie_is_told_beside_the_right_expression() -> None:
    assert Corruption("yes for no", 0, YES).of("holds(Ss1aff)", ASKED) == "holds(Ss1aff)"
