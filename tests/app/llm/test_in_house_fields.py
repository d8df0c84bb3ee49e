"""Fields for the reader inside the service are in no dump of a task: requests, ledger and traces are made of these."""

from __future__ import annotations

from app.llm.tasks import SchemaStep, StepInput

SECRET = "snorkelwick"


def test_no_dump_of_a_step_holds_what_only_the_house_reads() -> None:
    given = StepInput(
        question="what is the Rk3m2a of Ek3m2a",
        things=[],
        evidence=[],
        candidates=[],
        steps=(SchemaStep("person", "Rk3m2a", SECRET, "thing"),),
        wordings={"Rk3m2a": (SECRET,)},
        kind_words={"person": (SECRET,)},
        typed=f"what is the {SECRET} of Ek3m2a",
        own_words={"Rk3m2a": SECRET},
    )
    assert SECRET not in given.model_dump_json() + str(given.model_dump()) + str(StepInput.model_json_schema())
    assert given.typed.count(SECRET) == 1
