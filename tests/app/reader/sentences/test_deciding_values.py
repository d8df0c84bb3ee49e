"""Values that decide a yes or no: the value that was compared, of two the value of each, what the step leads to."""

from __future__ import annotations

import pytest

from app.reader.sentences.answer_text import deciding_values
from tests.support.tasks import fact, step, thing

X, Y = thing("Eq7f2k", "patient"), thing("Ez9y8x", "doctor")
DOCTORS = thing("Sk3mmd", "doctor", "more")
TREATED = fact("Eq7f2k", "treated by", end="Sa1b2c", to="doctor", size="2-5")
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
    shown = step("Is Eq7f2k treated by Ez9y8x?", [X, Y, DOCTORS], evidence=[TREATED, PATIENTS])
    assert deciding_values(expression, shown) == told
