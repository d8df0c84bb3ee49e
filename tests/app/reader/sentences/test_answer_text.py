"""Sentences of the embedded reasoner: each kind of answer, in words of relations, concepts and pseudonyms alone."""

from __future__ import annotations

import re

import pytest

from app.llm.tasks import StepInput
from app.reader.sentences.answer_text import reply_text, told_answer
from tests.support.tasks import fact, step, thing, way

X, Y = thing("Eq7f2k", "patient"), thing("Ez9y8x", "doctor")
DOCTORS, WARDS = thing("Sk3mmd", "doctor", "more"), thing("Sw4rds", "ward", "more")
END = "Sa1b2c"


def reached(*path: str, to: str = "doctor", size: str = "2-5", question: str = "Who treats Eq7f2k?") -> StepInput:
    return step(question, [X], evidence=[fact("Eq7f2k", *path, end=END, to=to, size=size)])  # type: ignore[arg-type]


def read(text: str, *, single: bool) -> str:
    """The text with its agreeing words settled and A in place of the answer."""
    settled = re.sub(r"\{1:([^|]*)\|([^}]*)\}", r"\1" if single else r"\2", text)
    return settled.replace("{1}", "A" if single else "A and B")


def test_two_steps_are_said_as_one() -> None:
    one_doctor = fact("Eq7f2k", "treated by", end="Ed5e6f", to="doctor", size="1")
    two_doctors = fact("Eq7f2k", "treated by", end="Ed5e6f", to="doctor", size="2-5")
    home = fact("Ed5e6f", "lives in", end=END, to="city", of="doctor")
    asked = "Where does the doctor of Eq7f2k live?"
    text = reply_text(END, step(asked, [X], evidence=[one_doctor, home]))
    assert read(text, single=True) == "The doctor that Eq7f2k is treated by lives in A."
    text = reply_text(END, step(asked, [X], evidence=[two_doctors, home]))
    assert read(text, single=False) == "The doctors that Eq7f2k is treated by live in A and B."


def test_of_a_way_whose_middle_is_unknown_the_last_step_is_said() -> None:
    shown = reached("spouse", "nationality", to="geographic location")
    assert read(reply_text(END, shown), single=True) == "The nationality is A."
    shown = reached("spouse", "lives in", to="city")
    assert read(reply_text(END, shown), single=False) == "The cities are A and B."


def test_of_two_ways_to_the_same_thing_none_is_claimed() -> None:
    ways = [fact("Eq7f2k", label, end=END, to="doctor") for label in ("treated by", "supervised by")]
    assert read(reply_text(END, step("Who supervises Eq7f2k?", [X], evidence=ways)), single=True) == "The doctor is A."


def test_a_question_in_the_past_is_answered_in_the_past() -> None:
    asked = reached("supervised by", question="Who was Eq7f2k supervised by?")
    assert read(reply_text(END, asked), single=True) == "Eq7f2k was supervised by A."


def test_a_set_of_many_speaks_as_they() -> None:
    asked = step("Where do Sm4n5y live?", [thing("Sm4n5y", "person", "more")],
                 evidence=[fact("Sm4n5y", "lives in", end=END, to="city")])  # fmt: skip
    assert read(reply_text(END, asked), single=False) == "They live in A and B."


OFFERED = [
    way(1, "Sk3mmd", "monthly salary", to="number"), way(2, "Sa1b2c", "date of birth", to="date"),
    way(3, "Sk3mmd", "licensed since", to="date"), way(4, "Sk3mmd", "works at", to="clinic"),
]  # fmt: skip


@pytest.mark.parametrize(
    "expression", [END, f"count({END})", f"exists(intersect({END}, Ez9y8x))", 'group(Sk3mmd, "works at")']
)
def test_no_word_of_the_question_is_in_the_answer(expression: str) -> None:
    """`Quarrel` stands for a name that nothing has replaced: here it would go back to the proxies in clear."""
    shown = reached("treated by", question="Who treats quarrel and zemgalburg of Eq7f2k?")
    text = reply_text(expression, shown.model_copy(update={"candidates": OFFERED}))
    assert not {"quarrel", "zemgalburg"} & set(re.findall(r"\w+", text.lower()))


def test_what_is_asked_beside_the_answer_is_told_behind_it() -> None:
    count, given = f"count({END})", reached("^treats")
    assert told_answer([count, END], given)[1].endswith("is {1}: {2}.")
    assert told_answer([END, count], given)[1] == f"{reply_text(END, given)[:-1]} ({{2}} in all)."
