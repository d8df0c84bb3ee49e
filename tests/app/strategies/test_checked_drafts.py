"""A model's draft that the question contradicts is asked for once more, then refused; nothing else leaves for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.egress.disclosure import Profile
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.tasks import Task
from app.strategies.base import Draft, RetrievalResult
from app.strategies.checked_drafts import REFUSALS, VERDICT, CheckedDrafts
from app.strategies.draft_checks import Contradiction
from app.strategies.sets.prompts import STEP
from app.strategies.sets.strategy import SetsStrategy
from tests.support.asking import Asked, Bench, secrets_in
from tests.support.processes.model_server import Canned, ModelServer, Request, completion, reply
from tests.support.tasks import step

COUNTED = "How many patients does Ottoline Brackwater treat?"
TREATED = "Is Zofia Quarrel treated by Ptolemy Ashgrove?"


def answering(*answer: str, text: str = "It is {1}.") -> Canned:
    return reply({"action": "answer", "choices": [], "answer": list(answer), "text": text})


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


def is_told(request: Request, why: Contradiction) -> bool:
    return str(why).strip() in request.json["messages"][-1]["content"]


async def test_a_model_that_is_told_mends_its_draft(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    def replies(request: Request) -> Canned:
        patients = way_of(request, "^treated by")
        return answering(f"count({patients})" if is_told(request, Contradiction.NUMBER) else patients)

    server.replies = replies
    finding = await find(asked, model, embedder, COUNTED)
    assert finding.draft is not None
    assert finding.draft.expressions[0].startswith("count(S")
    assert (finding.contradicted, len(server.received)) == ("", 2)
    assert secrets_in(server.everything) == []


async def test_one_that_insists_is_refused_and_not_asked_a_third_time(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    server.replies = lambda request: answering(way_of(request, "^treated by"))
    finding = await find(asked, model, embedder, COUNTED)
    assert (finding.draft, finding.contradicted) == (None, REFUSALS[Contradiction.NUMBER])
    assert [is_told(request, Contradiction.NUMBER) for request in server.received] == [False, True]
    first, second = (request.block for request in server.received)
    assert first == second
    assert secrets_in(server.everything) == []


async def test_a_second_reply_that_is_no_reply_is_a_refusal_too(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    def replies(request: Request) -> Canned:
        is_second = is_told(request, Contradiction.NUMBER)
        return completion("Quarrel") if is_second else answering(way_of(request, "^treated by"))

    server.replies = replies
    assert (await find(asked, model, embedder, COUNTED)).contradicted == REFUSALS[Contradiction.NUMBER]


async def test_a_strict_prompt_is_not_asked_again_since_that_would_tell_of_the_question(
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


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize(("text", "said"), [("Yes, that is so.", True), ("No.", False), ("It is {1}.", None)])
def test_a_sentence_never_says_another_verdict_than_the_graph_gives(
    asked: Asked, model: PromptedReasoner, embedder: Embedder, truth: bool, text: str, said: bool | None
) -> None:
    inquiry = replace(asked.inquiry(model, TREATED), truth_of=lambda _expression: truth)
    draft = Draft(("exists(intersect(Sz9y8x, Ea1b2c))",), text)
    settled = CheckedDrafts(inquiry, PathScorer(embedder)).settled(draft)
    assert settled.expressions == draft.expressions
    assert settled.text == (text if said in (None, truth) else VERDICT)


async def test_a_question_in_another_language_is_not_checked(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    inquiry = asked.inquiry(model, "Welche Patienten werden nicht von Ottoline Brackwater behandelt und warum?")
    server.replies = lambda _request: answering("Ea1b2c")
    drafts = CheckedDrafts(inquiry, PathScorer(embedder))
    await drafts.ask(Task(STEP, step(str(inquiry.dialogue.question), [])))
    assert drafts.refusal == ""


def test_each_contradiction_has_its_sentence_for_the_asker() -> None:
    assert set(REFUSALS) == set(Contradiction)
    assert len(set(REFUSALS.values())) == len(Contradiction)
