"""Words that go out for pseudonyms: fields that stay in the house keep in step with those that are sent."""

from __future__ import annotations

from app.egress.guarded_reasoner import PseudonymSubstitution
from app.llm.tasks import SchemaStep, StepInput, Task
from app.strategies.sets.prompts import STEP
from tests.support.tasks import thing


def test_fields_of_the_house_are_kept_and_renamed_and_never_dumped() -> None:
    given = StepInput(
        question="Who treats Eq7f2k?", things=[thing("Eq7f2k", "patient")], evidence=[], candidates=[],
        steps=(SchemaStep("patient", "Rk3m2a", "Rk3m2a who treats", "doctor"),),
        kinds=(thing("Sd0c7r", "doctor"),),
        own={"Eq7f2k": ("Rk3m2a",)},
    )  # fmt: skip
    words = {"Eq7f2k": "Ea1b2c", "Rk3m2a": "Rz9y8x"}
    sent = PseudonymSubstitution(words).substitute_in(Task(STEP, given)).input
    assert (sent.steps[0].label, sent.kinds[0].name, sent.own) == ("Rz9y8x", "Sd0c7r", {"Ea1b2c": ("Rz9y8x",)})
    assert not {"steps", "kinds", "own"} & set(sent.model_dump())
    assert "Eq7f2k" not in sent.model_dump_json()
