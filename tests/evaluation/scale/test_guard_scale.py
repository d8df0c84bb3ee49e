"""The guard at scale: made-up names are many and all different, and what is planted among them is blocked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.scale.guard_scale import (
    MAX_MB,
    MAX_MS,
    PLANTED,
    PROMPT_BYTES,
    Scale,
    markdown,
    measure_scale,
)
from evaluation.scale.made_up import entries_of, made_names


def test_made_up_names_are_different_and_the_same_for_the_same_seed() -> None:
    names = made_names(5_000)
    assert len(set(names)) == 5_000
    assert made_names(5_000) == names
    assert made_names(5_000, seed=8) != names
    assert [entry.mid for entry in entries_of(names[:3])] == [1, 2, 3]


@pytest.mark.process
def test_a_scale_is_measured_in_processes_of_its_own_and_every_planted_name_is_blocked() -> None:
    scale = measure_scale(1_000)
    assert (scale.names, scale.planted, scale.missed) == (1_000, PLANTED, 0)
    assert PROMPT_BYTES - 200 < scale.prompt_bytes < PROMPT_BYTES + 200
    assert scale.median_ms > 0
    assert scale.index_mb > 0.3
    assert "1,000 made-up names" in markdown(scale)


def test_each_bound_that_is_missed_fails() -> None:
    kept = Scale(1_000, 4_096.0, MAX_MS, 1.0, MAX_MB, 1.0, 1.0, 300, 0, MAX_MS)
    assert kept.passed
    assert "FAIL" not in markdown(kept)
    for missed in ({"median_ms": MAX_MS * 2}, {"grown_mb": MAX_MB * 2}, {"missed": 1}):
        assert not replace(kept, **missed).passed
        assert markdown(replace(kept, **missed)).count("FAIL") == 1
