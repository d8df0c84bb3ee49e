"""The check of a ledger at scale: it is measured on whole ledgers, and each bound that is missed fails."""

from __future__ import annotations

from dataclasses import replace

from evaluation.scale.ledger_scale import MAX_GROWTH, MAX_MS_A_ROW, LedgerScale, markdown, measure_ledger


def test_a_ledger_of_so_many_rows_is_filled_and_checked() -> None:
    scale = measure_ledger(101)
    assert scale.rows == 101
    assert scale.seconds > 0
    assert scale.tenth_seconds > 0
    assert "| 101 |" in markdown(scale)


def test_each_bound_that_is_missed_fails() -> None:
    kept = LedgerScale(1_000, MAX_MS_A_ROW, MAX_MS_A_ROW / 10)
    assert kept.passed
    assert "FAIL" not in markdown(kept)
    for missed in (
        replace(kept, seconds=MAX_MS_A_ROW * 1.1),
        replace(kept, tenth_seconds=MAX_MS_A_ROW / 10 / (MAX_GROWTH * 1.1)),
    ):
        assert not missed.passed
        assert "FAIL" in markdown(missed)
