"""The yes or no that a sentence states."""

from __future__ import annotations

import pytest
from app.strategies.stated_verdict import stated_verdict


@pytest.mark.parametrize(
    ("text", "is_denied", "verdict"),
    [
        ("Yes, that is so.", False, True),
        ("Ja.", False, True),
        ("No.", False, False),
        ("No, he works elsewhere.", True, False),
        ("No patient of Ed0ct1 smokes.", True, None),
        ("Ed0ct1 does not work there.", False, False),
        ("Ed0ct1 doesn't work there.", False, False),
        ("Ed0ct1 works at Ec1in1.", False, True),
        ("Does Ed0ct1 work there? The answer is {1}.", False, None),
        ("Yes: {1}.", False, True),
        ("{1}", False, None),
        ("Ed0ct1 works at Ec1in1.", True, None),
        ("", False, None),
    ],
)
def test_what_a_sentence_states(text: str, is_denied: bool, verdict: bool | None) -> None:
    assert stated_verdict(text, is_denied) is verdict
