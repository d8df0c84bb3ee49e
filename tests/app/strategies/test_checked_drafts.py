"""A model's draft that the question contradicts is refused; nothing else leaves for it."""

from __future__ import annotations

import pytest

from app.egress.disclosure import Profile
from app.language.readings import Contradiction
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.tasks import Task
from app.strategies.base import RetrievalResult
from app.strategies.drafts import REFUSALS, CheckedDrafts
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from tests.support.asking import Asked, Bench, secrets_in
from tests.support.processes.model_server import Canned, ModelServer, Request, reply
from tests.support.tasks import step, thing

COUNTED = "How many patients does Ottoline Brackwater treat?"


def answering(*answer: str) -> Canned:
    return reply({"action": "answer", "answer": list(answer)})


def way_of(request: Request, *path: str) -> str:
    found = (each["number"] for each in request.input["candidates"] if each["path"] == list(path))
    return f"way({next(found)})"


@pytest.fixture
def asked(bench: Bench, model: PromptedReasoner) -> Asked:
    return bench.asked(model)


async def find(
    asked: Asked, model: PromptedReasoner, embedder: Embedder, question: str, profile: Profile = Profile.KIND
) -> RetrievalResult:
    return await SetsStrategy(embedder).find(asked.inquiry(model, question, profile=profile))


async def test_a_draft_that_the_question_contradicts_is_refused_and_not_asked_for_again(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    server.replies = lambda request: answering(way_of(request, "^treated by"))
    finding = await find(asked, model, embedder, COUNTED)
    assert (finding.draft, finding.contradicted) == (None, REFUSALS[Contradiction.NUMBER])
    assert len(server.received) == 1
    assert secrets_in(server.everything) == []


async def test_so_is_one_to_a_strict_prompt(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    server.replies = lambda request: answering(way_of(request, "^treated by"))
    finding = await find(asked, model, embedder, COUNTED, Profile.STRICT)
    assert (finding.contradicted, len(server.received)) == (REFUSALS[Contradiction.NUMBER], 1)


async def test_a_right_draft_takes_one_call(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    server.replies = lambda request: answering(f"count({way_of(request, '^treated by')})")
    finding = await find(asked, model, embedder, COUNTED)
    assert finding.draft is not None
    assert len(server.received) == 1


async def test_a_question_in_another_language_is_not_checked(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    inquiry = asked.inquiry(model, "Welche Patienten werden nicht von Ottoline Brackwater behandelt und warum?")
    topic = inquiry.dialogue.topics[0].pseudonym
    server.replies = lambda _request: answering(topic)
    drafts = CheckedDrafts(inquiry)
    await drafts.ask(Task(STEP, step(str(inquiry.dialogue.question), [thing(topic, "patient")])))
    assert drafts.refusal == ""


def test_each_contradiction_has_its_sentence_for_the_asker() -> None:
    assert set(REFUSALS) == set(Contradiction)
    assert len(set(REFUSALS.values())) == len(Contradiction)
