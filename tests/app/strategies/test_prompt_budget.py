"""A question's budget of tokens: fewer ways on by rank, told in notes, and an honest end where nothing fits."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from app.egress.profile import Profile
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.strategies.arog.strategy import ArogStrategy
from app.strategies.base import RetrievalResult, Strategy, StrategyInput
from app.strategies.sets.candidate_pages import Paginator
from app.strategies.sets.path_ranking import PathRanker
from app.strategies.sets.strategy import SetsStrategy
from app.strategies.start import starting_places
from tests.support.asking import Asked, Bench
from tests.support.processes.model_server import Canned, ModelServer, Request, reply, sent_to

QUESTION = "What place has to do with Zofia Quarrel?"
GENEROUS = 100_000


@pytest.fixture
def asked(bench: Bench, model: PromptedReasoner) -> Asked:
    return bench.asked(model)


@pytest.fixture
def strategy(embedder: Embedder) -> SetsStrategy:
    return SetsStrategy(embedder)


def tokens_of(model: PromptedReasoner, request: Request) -> int:
    """What a call of this prompt is counted for beforehand."""
    texts = [message["content"] for message in request.json["messages"]]
    schema = json.dumps(request.json["response_format"]["json_schema"]["schema"], separators=(",", ":"))
    return model._embedder.count_tokens("\n".join([*texts, schema])) + model.longest_reply


def nothing_fits(request: Request) -> Canned:
    return reply({"action": "not_in_graph", "choices": [], "answer": [], "text": ""})


async def with_budget(asked: Asked, model: PromptedReasoner, strategy: Strategy, tokens: int) -> RetrievalResult:
    return await strategy.find(asked.inquiry(model, QUESTION, most_tokens=tokens, profile=Profile.KIND))


def ranked(inquiry: StrategyInput, embedder: Embedder) -> Sequence[tuple[str, ...]]:
    """Every way of the first round by its labels, nearest first."""
    places = list(starting_places(inquiry, embedder).frontier)
    roots = {place.pseudonym: place for place in places}
    first = Paginator(inquiry, PathRanker(PathScorer(embedder)), roots, {}).of(places, [], set()).pages[0]
    schema = inquiry.graph.schema
    return [tuple(schema.label_step(step) for step in way.path) for way in first]


async def test_a_short_budget_shows_the_nearest_ways_alone_and_says_so(
    asked: Asked, server: ModelServer, model: PromptedReasoner, strategy: SetsStrategy, embedder: Embedder
) -> None:
    server.replies = nothing_fits
    (cut,) = (await with_budget(asked, model, strategy, GENEROUS)).notes
    whole = server.received[0]
    count = len(whole.input["candidates"])
    server.received.clear()
    finding = await with_budget(asked, model, strategy, tokens_of(model, whole) - 1)
    (given,) = sent_to(server, "step")
    shown = {tuple(each["path"]) for each in given["candidates"]}
    assert 0 < len(shown) < count
    assert shown == set(ranked(asked.inquiry(model, QUESTION, profile=Profile.KIND), embedder)[: len(shown)])
    assert given["further"] == 0
    assert (finding.draft, finding.over_budget) == (None, True)
    (note,) = finding.notes
    assert note.startswith("Step 1: ")
    assert note.endswith("were not offered: the question's budget of tokens was short.")
    assert int(note.split()[2]) == count - len(shown) + whole.input["further"] + int(cut.split()[2])


async def test_a_page_leaves_room_for_the_call_that_answers(
    asked: Asked, server: ModelServer, model: PromptedReasoner, strategy: SetsStrategy
) -> None:
    def replies(request: Request) -> Canned:
        if request.input["evidence"]:
            return reply(
                {"action": "answer", "choices": [], "answer": [request.input["evidence"][0]["end"]], "text": "{1}"}
            )
        return reply({"action": "follow", "choices": [1], "answer": [], "text": ""})

    server.replies = replies
    await with_budget(asked, model, strategy, GENEROUS)
    first, second = server.received
    budget = tokens_of(model, first) + tokens_of(model, second) - 50
    server.received.clear()
    finding = await with_budget(asked, model, strategy, budget)
    assert finding.draft is not None
    assert len(sent_to(server, "step")[0]["candidates"]) < len(first.input["candidates"])
    assert not finding.over_budget


@pytest.mark.parametrize("name", ["sets", "arog"])
async def test_where_no_call_fits_nothing_is_sent_and_that_is_told(
    asked: Asked, server: ModelServer, model: PromptedReasoner, strategy: SetsStrategy, embedder: Embedder, name: str
) -> None:
    chosen = strategy if name == "sets" else ArogStrategy(embedder)
    finding = await with_budget(asked, model, chosen, 300)
    assert server.received == []
    assert (finding.draft, finding.evidence, finding.over_budget) == (None, (), True)
    assert [note for note in finding.notes if "budget of tokens was used up" in note]


async def test_arog_offers_fewer_relations_by_rank(
    asked: Asked, server: ModelServer, model: PromptedReasoner, embedder: Embedder
) -> None:
    def replies(request: Request) -> Canned:
        if request.task == "structure":
            return reply({"thought": "", "path": [], "guess": ""})
        return reply({"choices": []} if request.task == "choose_relations" else _not_yet())

    server.replies = replies
    await with_budget(asked, model, ArogStrategy(embedder), GENEROUS)
    structure, choice = server.received[:2]
    spent = tokens_of(model, structure) - model.longest_reply
    server.received.clear()
    finding = await with_budget(asked, model, ArogStrategy(embedder), spent + tokens_of(model, choice))
    fewer = [each["path"][0] for each in sent_to(server, "choose_relations")[0]["candidates"]]
    assert 0 < len(fewer) < len(choice.input["candidates"])
    assert "works in" not in fewer or len(fewer) > 1
    assert "treated by" in fewer
    assert [note for note in finding.notes if note.startswith("Step 1: ") and "budget" in note]
    assert finding.over_budget


def _not_yet() -> dict[str, object]:
    return {"thought": "", "sufficient": False, "answer": [], "text": ""}
