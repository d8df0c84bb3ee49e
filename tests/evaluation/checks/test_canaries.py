"""The search for planted names in bytes that left."""

from __future__ import annotations

import base64
import random

import pytest

from evaluation.checks.canaries import canaries_in

DICE = random.Random(7)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_a_name_is_found_in_base64_wherever_it_stands(before: int, after: int) -> None:
    coded = base64.b64encode(DICE.randbytes(before) + b"Orvindel" + DICE.randbytes(after))
    assert canaries_in(coded, ["Orvindel"]) == ["Orvindel"]


def test_sealed_bytes_hold_none_by_chance() -> None:
    assert canaries_in(base64.b64encode(DICE.randbytes(1_000_000)), ["Orvindel", "Vexquilda"]) == []
