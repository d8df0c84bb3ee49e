"""Hidden values: an attacker finds a field that tells, and finds nothing where no field does."""

from __future__ import annotations

import numpy as np

from evaluation.attacks.hidden_values import MAX_AREA, guesses, interval, leaves, made_house, vector_of

SIGNS = np.array([1.0 if at % 3 else -1.0 for at in range(300)])


def reply(turn: str, confidence: float | None = None) -> dict[str, object]:
    return {"id": "a1", "message": {"content": "Nothing is known."}, "turn": turn, "confidence": confidence}


def found(told: dict[str, object], other: dict[str, object]) -> tuple[float, float, float]:
    difference = vector_of(told, 1) - vector_of(other, 1)
    rows = np.array([sign * difference for sign in SIGNS])
    return interval(guesses(rows, SIGNS), SIGNS)


def test_a_field_that_tells_is_found() -> None:
    assert found(reply("tell"), reply("question"))[0] == 1.0
    assert found(reply("question", 0.8), reply("question", 0.7))[1] > MAX_AREA


def test_replies_that_differ_in_drawn_words_alone_are_not_told_apart() -> None:
    one, other = (reply("tell") | {"id": each, "text": f"E{each}abc is a person"} for each in ("x1", "y2"))
    assert found(one, other) == (0.5, 0.5, 0.5)


def test_what_differs_by_chance_is_no_finding() -> None:
    noise = np.random.default_rng(5).normal(size=(300, 4))
    told, low, _ = interval(guesses(noise, SIGNS), SIGNS)
    assert low < told < 0.6


def test_every_field_of_a_reply_is_looked_at() -> None:
    assert dict(leaves({"a": [{"b": None}], "c": True})) == {".a#": 1, ".a.b": None, ".c": True}


def test_the_two_graphs_are_alike_but_for_what_is_hidden() -> None:
    house = made_house(40)
    pairs = list(zip(*(turtle.splitlines() for turtle in house.turtle), strict=True))
    shown = {(one.split(":diagnosis")[0], other.split(":diagnosis")[0]) for one, other in pairs}
    assert all(one == other for one, other in shown)
    assert sum(one != other for one, other in pairs) == len(house.facts) == 40
