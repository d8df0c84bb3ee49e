"""Sentences of the embedded reasoner: each kind of answer, in words of relations, concepts and pseudonyms alone."""

from __future__ import annotations

import re

import pytest

from app.llm.tasks import StepInput
from app.reader.sentences.answer_text import deciding_values, reply_text, told_answer
from app.reader.sentences.phrases import phrase_of
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


@pytest.mark.parametrize(
    ("label", "to", "single", "several"),
    [
        ("treated by", "doctor", "Eq7f2k is treated by A.", "Eq7f2k is treated by A and B."),
        ("lives in", "city", "Eq7f2k lives in A.", "Eq7f2k lives in A and B."),
        ("spouse", "person", "Eq7f2k's spouse is A.", "Eq7f2k's spouses are A and B."),
        ("has child", "person", "Eq7f2k's child is A.", "Eq7f2k's children are A and B."),
        ("weight kg", "number", "Eq7f2k's weight in kg is A.", "Eq7f2k's weights in kg are A and B."),
        ("direct director", "person", "Eq7f2k's director is A.", "Eq7f2k's directors are A and B."),
        ("date of birth", "date", "Eq7f2k's date of birth is A.", "Eq7f2k's dates of birth are A and B."),
        ("people.person.place_of_birth", "city", "Eq7f2k's place of birth is A.",
         "Eq7f2k's places of birth are A and B."),
        ("starred actors", "person", "Eq7f2k's starred actor is A.", "Eq7f2k's starred actors are A and B."),
        ("part of", "clinic", "Eq7f2k is part of A.", "Eq7f2k is part of A and B."),
        ("^treated by", "patient", "The patient treated by Eq7f2k is A.",
         "The patients treated by Eq7f2k are A and B."),
        ("^treated by", "thing", "The one treated by Eq7f2k is A.", "Those treated by Eq7f2k are A and B."),
        ("^has child", "person", "Eq7f2k is a child of A.", "Eq7f2k is a child of A and B."),
        ("^place of birth", "person", "Eq7f2k is the place of birth of A.",
         "Eq7f2k is the place of birth of A and B."),
        ("upregulated by", "gene", "Eq7f2k is upregulated by A.", "Eq7f2k is upregulated by A and B."),
        ("born", "date", "The date is A.", "The dates are A and B."),
        ("^works at", "staff", "The staff that works at Eq7f2k is A.", "The staff that work at Eq7f2k are A and B."),
        ("wrote", "book", "Eq7f2k wrote A.", "Eq7f2k wrote A and B."),
        # Where English is not certain, the kind is said, and else nothing.
        ("upregulates", "gene", "The gene is A.", "The genes are A and B."),
        ("upregulates", "thing", "It is A.", "They are A and B."),
    ],
)  # fmt: skip
def test_one_step_is_said_in_the_relations_words(label: str, to: str, single: str, several: str) -> None:
    text = reply_text(END, reached(label, to=to))
    assert read(text, single=True) == single
    assert read(text, single=False) == several


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


TREATED = fact("Eq7f2k", "^treated by", end=END, to="patient", of="doctor")
INSURED = fact("Ez9y8x", "^insured by", end="Sb2c3d", to="patient", of="insurer")
OFFERED = [
    way(1, "Sk3mmd", "monthly salary", to="number"), way(2, "Sa1b2c", "date of birth", to="date"),
    way(3, "Sk3mmd", "licensed since", to="date"), way(4, "Sk3mmd", "works at", to="clinic"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "single"),
    [
        ("count(Sa1b2c)", "The number of those treated by Eq7f2k is A."),
        ("count(intersect(Sa1b2c, Sk3mmd))", "The number of doctors treated by Eq7f2k is A."),
        ("count(Szzzz9)", "The number is A."),
        ("exists(intersect(Sa1b2c, Ez9y8x))", "Is Ez9y8x treated by Eq7f2k? The answer is A."),
        ("exists(Sa1b2c)", "The answer is A."),
        ("intersect(Sa1b2c, Sb2c3d)", "The patient treated by Eq7f2k and insured by Ez9y8x is A."),
        ('average(Sk3mmd, "monthly salary")', "The average monthly salary of the doctors is A."),
        ('average(Sk3mmd, "licensed since")', "On average it is A."),
        ('argmax(Sk3mmd, "monthly salary")', "The doctor with the highest monthly salary is A."),
        ('argmin(Sa1b2c, "date of birth")', "The patient treated by Eq7f2k with the earliest date of birth is A."),
        ('max(Sa1b2c, "date of birth")', "The latest date of birth of the patients treated by Eq7f2k is A."),
        ('compare(Eq7f2k, Ez9y8x, "monthly salary")', "The greater monthly salary is that of A."),
        ('argmin(union(Eq7f2k, Ez9y8x), "date of birth")', "The earlier date of birth is that of A."),
        ('group(Sk3mmd, "works at")', "The numbers of doctors per clinic are A."),
        ('group(Sk3mmd, "licensed since", year)', "The numbers of doctors per year are A."),
        ('averages(Sk3mmd, "works at", "monthly salary")', "The average monthly salary per clinic is A."),
        ('minus(reach(Ez9y8x, "date of birth"), reach(Eq7f2k, "date of birth"))',
         "From Eq7f2k's date of birth to Ez9y8x's date of birth it is A years."),
        ("minus(count(Sa1b2c), count(Sk3mmd))",
         "The number of patients treated by Eq7f2k less the number of doctors is A."),
        ('limit(sort(having(Sk3mmd, "monthly salary"), "monthly salary", descending), 3)',
         "The doctor with the highest monthly salary, in order, is A."),
        ('limit(sort(limit(sort(Sk3mmd, "monthly salary", descending), 2), "monthly salary", ascending), 1)',
         "In the order of monthly salary it is A."),
        ('most(Sk3mmd, "works at")', "The doctor with the most clinics is A."),
        ('most(Sw4rds, "^ward", Sk3mmd)', "The ward with the most doctors is A."),
        ("outnumbers(Sk3mmd, Sw4rds)", "The answer is A. Doctors: {2}, wards: {3}."),
        ('fewest(Sk3mmd, "works at", "monthly salary")', "The doctor with the lowest total monthly salary is A."),
        ('most(reach(Sk3mmd, "monthly salary"), "^monthly salary")', "The most frequent monthly salary is A."),
        ('difference(Sa1b2c, reach(difference(Sk3mmd, Eq7f2k), "^treated by"))', "With nothing but Eq7f2k: A."),
        ('filter(Sk3mmd, "monthly salary", >, Vx81zp)', "The doctor with a monthly salary above Vx81zp is A."),
        ('filter(Sa1b2c, "date of birth", <, Vx81zp)',
         "The patient treated by Eq7f2k with a date of birth before Vx81zp is A."),
        ('filter(Sk3mmd, "licensed since", <, Vx81zp)', "That holds for the doctor A."),
        ("Sk3mmd", "The doctor is A."),
    ],
)  # fmt: skip
def test_each_form_of_answer_has_its_sentence(expression: str, single: str) -> None:
    shown = step("What of Eq7f2k and Ez9y8x and Vx81zp?", [X, Y, DOCTORS, WARDS], OFFERED, [TREATED, INSURED])
    assert read(reply_text(expression, shown), single=True) == single


@pytest.mark.parametrize(
    "expression", [END, f"count({END})", f"exists(intersect({END}, Ez9y8x))", 'group(Sk3mmd, "works at")']
)
def test_no_word_of_the_question_is_in_the_answer(expression: str) -> None:
    """`Quarrel` stands for a name that nothing has replaced: here it would go back to the proxies in clear."""
    shown = reached("treated by", question="Who treats quarrel and zemgalburg of Eq7f2k?")
    text = reply_text(expression, shown.model_copy(update={"candidates": OFFERED}))
    assert not {"quarrel", "zemgalburg"} & set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(
    "step", ["in language", "upregulates", "same as", "a|^b", "^has admission|admitted to", "of", ""]
)
def test_what_is_not_certainly_english_is_not_said(step: str) -> None:
    assert phrase_of(step) is None


TREATING = fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor", size="2-5")
PATIENTS = fact("Ez9y8x", "^treated by", end="Sp1b2c", to="patient", size="2-5")


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ('exists(filter(Eq7f2k, "hired on", =, Vd4t33))', [('reach(Eq7f2k, "hired on")', "Eq7f2k was hired on {1}")]),
        ("exists(intersect(Sa1b2c, Ez9y8x))", [("Sa1b2c", "Eq7f2k is treated by {1}")]),
        (
            'exists(intersect(reach(Eq7f2k, "lives in"), Ez9y8x))',
            [('reach(Eq7f2k, "lives in")', "Eq7f2k lives in {1}")],
        ),
        (
            'exists(intersect(compare(Eq7f2k, Ez9y8x, "date of birth"), Eq7f2k))',
            [
                ('reach(Eq7f2k, "date of birth")', "Eq7f2k's date of birth {1:is|are} {1}"),
                ('reach(Ez9y8x, "date of birth")', "Ez9y8x's date of birth {1:is|are} {1}"),
            ],
        ),
        ("exists(intersect(Eq7f2k, Sk3mmd))", [("", "Eq7f2k is a patient")]),
        # Steps backwards lead to many, and a count or a truth tells all by itself.
        ("exists(intersect(Sp1b2c, Eq7f2k))", []),
        ('exists(having(Sk3mmd, "email"))', []),
        ("count(Sa1b2c)", []),
    ],
)
def test_what_decides_a_yes_or_no_is_told_beside_it(expression: str, told: list[tuple[str, str]]) -> None:
    shown = step("Is Eq7f2k treated by Ez9y8x?", [X, Y, DOCTORS], evidence=[TREATING, PATIENTS])
    assert deciding_values(expression, shown) == told


def test_what_is_asked_beside_the_answer_is_told_behind_it() -> None:
    count, given = f"count({END})", reached("^treats")
    assert told_answer([count, END], given)[1].endswith("is {1}: {2}.")
    assert told_answer([END, count], given)[1] == f"{reply_text(END, given)[:-1]} ({{2}} in all)."
