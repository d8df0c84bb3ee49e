"""PathReader: what it makes of a strict prompt, from the prompt alone."""

from __future__ import annotations

from typing import Any

import pytest

from app.llm.endpoint.request_body import step_text
from app.llm.tasks import Candidate, Evidence, PathTriple, StepInput, StepReply
from app.strategies.sets.prompts import ASKED, PATH
from evaluation.fakes.scripted_endpoint import PathReader

STATED = [
    PathTriple(head="Eq7f2k", relation="treated by", tail="doctor"),
    PathTriple(head="doctor", relation="works in", tail="ward"),
]
WAYS = [
    Candidate(number=1, start="Eq7f2k", path=["treated by"], concept="doctor"),
    Candidate(number=2, start="Ep3m2a", path=["treated by", "works in"], concept="ward"),
    Candidate(number=3, start="Eq7f2k", path=["treated by", "works in"], concept="ward"),
]
WALKED = [Evidence(start="Eq7f2k", path=["treated by", "works in"], end="Sk3mmd", end_concept="ward")]


def replied(form: str = "things", **more: Any) -> StepReply:
    given = {"question": f"{PATH}: {ASKED[form]}?", "things": [], "evidence": [], "candidates": WAYS, "path": STATED}
    with PathReader() as reader:
        reply = reader.reply_to("step", step_text(StepInput(**(given | more))))
    assert isinstance(reply, StepReply)
    return reply


def test_it_follows_the_path_that_is_stated_from_the_thing_that_it_begins_with() -> None:
    assert (replied().action, replied().choices) == ("follow", [3])


@pytest.mark.parametrize(
    ("form", "answer"), [("things", "Sk3mmd"), ("count", "count(Sk3mmd)"), ("truth", "exists(Sk3mmd)")]
)
def test_it_answers_in_the_form_that_is_asked_for(form: str, answer: str) -> None:
    assert (replied(form, evidence=WALKED).action, replied(form, evidence=WALKED).answer) == ("answer", [answer])


@pytest.mark.parametrize("more", [{"candidates": WAYS[:2]}, {"path": []}, {"last_round": True}])
def test_without_the_path_it_knows_no_answer(more: dict[str, Any]) -> None:
    assert replied(**more).action == "not_in_graph"
