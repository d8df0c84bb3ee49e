"""Many chats at once: all are answered, each by as many calls as alone; how fast is for the bench to say."""

from __future__ import annotations

import pytest

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from evaluation.datasets.questions import read_questions
from evaluation.scale.speed_run import MAX_TIMES_IDEAL, LoadReport, run_load


@pytest.mark.model
async def test_chats_at_once_are_all_answered() -> None:
    question = next(each for each in read_questions(QUESTIONS_FILE) if each.id == "nickname")
    report = await run_load([GRAPH_FILE], POLICY_FILE.read_text("utf-8"), question, chats=12, latency_s=0.01)
    assert (report.chats, report.answered, report.calls) == (12, 12, 2)
    assert report.ideal_s == 0.02


def test_a_run_passes_only_when_all_are_answered_and_soon() -> None:
    assert LoadReport(200, 200, 2, seconds=5.9, ideal_s=4.0).passed
    assert not LoadReport(200, 200, 2, seconds=4.0 * MAX_TIMES_IDEAL, ideal_s=4.0).passed
    assert not LoadReport(200, 199, 2, seconds=4.0, ideal_s=4.0).passed
