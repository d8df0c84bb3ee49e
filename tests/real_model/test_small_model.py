"""A real language model of 135 million weights behind llama.cpp's server: it ends no question in an error, makes no
answer worse than the reasoner in the box, and sees no name. `make test-model` installs it and runs these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.reasoner import ReasonerUnavailableError
from app.wiring.endpoints import status_of
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import TO_THE_MODEL, Bench
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.datasets.questions import Question, read_questions
from evaluation.demands.dialogues import DialoguePair
from evaluation.demands.replies import ask_both, bounds
from evaluation.demands.retrieval import FactRetrieval
from evaluation.models import models_table
from evaluation.models.models_table import AskedModel, run_models_table, serving_small_model

QUESTIONS = read_questions(QUESTIONS_FILE)
SOME = 8
# Another program does the work, in its own time.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedModel]:
    folder = tmp_path_factory.mktemp("model")
    with serving_small_model(folder) as small:
        yield AskedModel(small.url, small.name, small.log)


async def asked(
    changes: Mapping[str, object], questions: list[Question], strategy: str = "sets"
) -> tuple[list[QuestionOutcome], list[Answer], int]:
    """The outcomes and answers of `questions` about the demo, and how many names any request held."""
    answers: list[Answer] = []
    async with Bench("endpoint", changes={**TO_THE_MODEL, **changes}) as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        label = RunLabel(set_name="demo", strategy=strategy, reasoner="endpoint")
        report, outcomes = await bench.ask(
            loaded, label, questions, see=lambda _q, _o, answer, _s: answers.append(answer) if answer else None
        )
    return outcomes, answers, report.leaks.leaks


async def test_every_bound_of_the_table_holds_at_small_size(
    model: AskedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_table, "TURNS", models_table.TURNS[:6])
    measures = await run_models_table(model, Path("no public sets"), SOME, "real model", lambda *_: None)
    assert len(measures) > 9
    assert not [measure for measure in measures if not measure.passed]


async def test_the_probe_finds_what_it_can_do(model: AskedModel) -> None:
    async with Bench("endpoint", changes=model.settings) as bench:
        status = status_of(1, bench.endpoints[0])
    assert (status.state, status.enforces_schema, status.streams, status.reports_usage) == ("ready", True, True, True)
    assert status.puzzles is not None
    assert status.form == ("tree" if status.puzzles >= 4 else "choice")
    assert status.tokens > 100
    assert status.seconds > 0


async def test_no_question_of_the_papers_method_ends_in_an_error(model: AskedModel) -> None:
    """Those of the other strategies are in the table above, and below with the open profile."""
    outcomes, _, leaks = await asked({**model.settings, "profile": "open"}, QUESTIONS[:2], "arog")
    assert [outcome.problem for outcome in outcomes] == [""] * 2
    assert leaks == 0


async def test_alone_it_may_be_wrong_and_still_ends_in_no_error(model: AskedModel) -> None:
    outcomes, _, leaks = await asked({**model.settings, "endpoint_use": "alone", "profile": "open"}, QUESTIONS[:4])
    assert [outcome.problem for outcome in outcomes] == [""] * 4
    assert leaks == 0


async def test_where_the_house_is_sure_nothing_is_sent(model: AskedModel) -> None:
    outcomes, answers, _ = await asked({**model.settings, "endpoint_use": "unsure"}, QUESTIONS[:SOME])
    sure = [outcome for outcome, answer in zip(outcomes, answers, strict=True) if (answer.confidence or 0) >= 0.9]
    assert sure
    assert all(outcome.calls == 0 for outcome in sure)


async def test_a_model_that_is_gone_is_told_and_the_house_answers(model: AskedModel) -> None:
    gone = replace(model, url="http://127.0.0.1:9/v1").settings
    outcomes, (answer, *_), _ = await asked({**gone, "endpoint_deadline_s": 2.0}, QUESTIONS[:1])
    assert outcomes[0].score.hit == 1.0
    assert any("could not be reached" in note for note in answer.notes)
    outcomes, _, _ = await asked({**gone, "endpoint_deadline_s": 2.0, "endpoint_fallbacks": ()}, QUESTIONS[:1])
    assert outcomes[0].problem == ReasonerUnavailableError.__name__ or outcomes[0].problem.endswith("Error")


COMMON = [
    ("tennis", "IsA", "game"), ("racket", "UsedFor", "tennis"), ("soup", "HasProperty", "hot"),
    ("soup", "AtLocation", "restaurant"), ("london", "IsA", "capital city"), ("gallery", "AtLocation", "london"),
]  # fmt: skip
TALKS = [
    ("I played tennis with a friend today.",),
    ("What would you like to eat?", "I would like some soup."),
    ("I have to go up to London next week.", "For how long?", "A couple of days. Would you like to come?"),
]


async def test_a_reply_by_demands_costs_two_calls_and_half_the_tokens_of_the_papers_six(model: AskedModel) -> None:
    endpoint = ModelEndpoint(model.url, model.name)
    await endpoint.probe()
    pairs = [DialoguePair(str(at), talk, "") for at, talk in enumerate(TALKS)]
    both = await ask_both(endpoint, FactRetrieval(COMMON, Embedder()), pairs, model.settings, lambda *_: None)
    await endpoint.close()
    assert not [measure for measure in bounds(both) if not measure.passed]
    assert any(reply.calls for reply in both.service)
