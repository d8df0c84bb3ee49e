"""The input of a step as lines: what is written is what is read."""

from __future__ import annotations

import pytest

from app.llm.endpoint.request_body import read_step, step_text
from app.llm.tasks import Candidate, Evidence, PathTriple, StepInput, Thing, Turn

GIVEN = StepInput(
    question="who treats Eq7f2k?",
    dialogue=[Turn(role="user", text="and Eq7f2k?")],
    things=[Thing(name="Eq7f2k", concept="patient", size="1"), Thing(name="Sk3mmd", concept="doctor, person")],
    evidence=[
        Evidence(start="Eq7f2k", path=["lives in"], end="Sa1b2c", end_concept="city, place", size="2-5"),
        Evidence(start="Sa1b2c", start_concept="city", path=["^lives in", "age"], end="Vx81zp", end_concept="number"),
    ],
    path=[PathTriple(head="Eq7f2k", relation="treated by", tail="doctor")],
    candidates=[
        Candidate(number=1, start="Eq7f2k", path=["treated by"], concept="doctor"),
        Candidate(
            number=12, start="Eq7f2k", path=["has admission|admitted to", "^works in"], concept="doctor, person"
        ),
    ],
    hint="way(1)",
    further=4,
    round=2,
)


def test_what_was_written_is_read_again() -> None:
    assert read_step(step_text(GIVEN)) == GIVEN


def test_lines_hold_the_path_as_it_is_walked() -> None:
    text = step_text(GIVEN)
    assert '"way(12): Eq7f2k > has admission|admitted to > ^works in: doctor, person"' in text
    assert '"Eq7f2k > lives in > Sa1b2c: city, place, 2-5"' in text
    assert '"Eq7f2k: patient, 1"' in text


@pytest.mark.parametrize("broken", ["{", '{"question": 1}', '{"question": "q", "candidates": ["Eq7f2k > a: b"]}'])
def test_what_is_no_step_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_step(broken)
