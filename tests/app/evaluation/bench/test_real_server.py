"""A real server whose model speaks nonsense: typed errors or refusals, no crash, no leak, no wrong restoration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from app.evaluation.bench.bench import Bench
from app.evaluation.bench.report import RunLabel
from app.evaluation.datasets.questions import read_questions
from app.llm.endpoint.dialects import Dialect
from tests.support.processes.nonsense_server import serving_nonsense, serving_nonsense_by_schema

pytestmark = [pytest.mark.process, pytest.mark.model]

QUESTIONS = read_questions(QUESTIONS_FILE)[:2]


@pytest.fixture(scope="module")
def nonsense(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """Settings for a model of random weights behind a real server."""
    folder: Path = tmp_path_factory.mktemp("nonsense")
    with serving_nonsense(folder) as url:
        yield {"endpoint_url": url, "endpoint_model": str(folder), "endpoint_api_key": None, "endpoint_max_tokens": 16}


async def test_nonsense_ends_in_a_typed_error_or_a_refusal(nonsense: dict[str, object]) -> None:
    async with Bench("endpoint", changes=nonsense) as bench:
        (endpoint,) = bench.endpoints
        found = endpoint.found
        assert found is not None
        assert (found.problem, found.enforces_schema, found.streams, found.reports_usage) == ("", False, True, True)
        assert found.dialect == Dialect("prompt", streams=True)
        loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        for strategy, dialect in (("sets", found.dialect), ("sets", Dialect("json_schema")), ("arog", found.dialect)):
            endpoint.speak(dialect)
            label = RunLabel(set_name="demo", strategy=strategy, reasoner="endpoint")
            report, outcomes = await bench.ask(loaded, label, QUESTIONS)
            assert not any(outcome.answered for outcome in outcomes)
            assert {outcome.problem for outcome in outcomes} <= {"", "ReplyUnusableError"}
            assert (report.leaks.leaks, endpoint.open_requests) == (0, 0)


async def test_nonsense_that_keeps_to_the_schema_ends_so_too(tmp_path: Path) -> None:
    with serving_nonsense_by_schema(tmp_path) as url:
        changes = {"endpoint_url": url, "endpoint_model": "nonsense", "endpoint_max_tokens": 256}
        async with Bench("endpoint", changes=changes) as bench:
            (endpoint,) = bench.endpoints
            found = endpoint.found
            assert found is not None
            assert (found.problem, found.enforces_schema, found.dialect.mode) == ("", True, "object_schema")
            loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
            for strategy in ("sets", "arog"):
                label = RunLabel(set_name="demo", strategy=strategy, reasoner="endpoint")
                report, outcomes = await bench.ask(loaded, label, QUESTIONS)
                assert not any(outcome.answered for outcome in outcomes)
                assert {outcome.problem for outcome in outcomes} <= {"", "ReplyUnusableError"}
                assert (report.leaks.leaks, endpoint.open_requests) == (0, 0)
