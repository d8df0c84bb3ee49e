"""The table of what an endpoint costs, and the endpoint that it asks: it follows a way first, or answers at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.llm.endpoint.request_body import step_text
from app.llm.tasks import StepReply
from evaluation.datasets.questions import QueryPlan, QuestionsError
from evaluation.fakes.scripted_replies import ScriptedReplies
from evaluation.tables.endpoint_table import run_endpoint_table
from tests.support.tasks import step, thing, way

PLAN = QueryPlan.model_validate(
    {"sets": {"A": {"start": "topic:0", "path": ["spouse", "job"]}}, "answer": ["count(A)"], "text": "{1} jobs."}
)


async def test_a_name_that_no_run_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match="--only"):
        await run_endpoint_table(tmp_path, 1, 0, "no such run", lambda _title, _done, _total: None)


def replied(at_once: bool, *ways: tuple[str, ...]) -> StepReply:
    candidates = [way(number, "Eq7f2k", *path, to="job") for number, path in enumerate(ways, start=1)]
    asked = step("how many jobs has the spouse of Eq7f2k", [thing("Eq7f2k", "person")], candidates)
    reply = ScriptedReplies(PLAN, at_once=at_once).reply_to("step", step_text(asked))
    assert isinstance(reply, StepReply)
    return reply


def test_the_scripted_endpoint_answers_at_once_where_a_candidate_ends_its_plan() -> None:
    reply = replied(True, ("job",), ("spouse", "job"))
    assert (reply.action, reply.answer) == ("answer", ["count(way(2))"])
    assert (replied(False, ("spouse", "job")).action, replied(False, ("spouse", "job")).choices) == ("follow", [1])


def test_where_more_is_needed_it_follows_first() -> None:
    reply = replied(True, ("job",), ("spouse",))
    assert (reply.action, reply.choices, reply.answer) == ("follow", [2], [])
