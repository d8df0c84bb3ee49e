"""False ratings: they change nothing for others, and who leaves them counting for everybody is found out."""

from __future__ import annotations

import pytest

from app.memory.cases import Case
from evaluation.attacks.ratings import poisoning, rated_by_others
from evaluation.attacks.targets import AttackTargets
from evaluation.bench.question_sets import DEMO

pytestmark = [pytest.mark.slow, pytest.mark.model]


async def test_false_ratings_change_and_tell_nothing_for_others() -> None:
    async with AttackTargets() as targets:
        target = await targets.open(DEMO, changes={"requests_per_minute": 1_000_000})
        lines = [*await poisoning(target, 20, 40), *await rated_by_others(target, 20)]
    assert [line.name for line in lines if not line.passed] == []


async def test_ratings_that_count_for_everybody_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Case, "counts_for", lambda *_anybody: True)
    monkeypatch.setattr(Case, "most", property(lambda _case: 1.0))
    async with AttackTargets() as targets:
        target = await targets.open(DEMO, changes={"requests_per_minute": 1_000_000})
        changed, wrong, _ = await poisoning(target, 20, 40)
        told, _ = await rated_by_others(target, 20)
    assert not any(line.passed for line in (changed, wrong, told))
