"""DCRAG's six calls over a scripted endpoint: which stages there are, and what each is given (EMNLP 2024, table 5)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.reasoner import ReasonerError
from evaluation.demands.faithful import FaithfulDcrag, FaithfulRun, plain_reply
from evaluation.demands.retrieval import FactRetrieval
from tests.evaluation.demands.test_judges import Judging

pytestmark = pytest.mark.model

HISTORY = ["I have to go up to London for a couple of days next week. Would you like to come?"]
SHOWN = [f"A: {HISTORY[0]}"]
FACTS = [
    ("gallery", "AtLocation", "london"),
    ("oxford street", "AtLocation", "london"),
    ("westminster", "RelatedTo", "london"),
    ("london", "RelatedTo", "capital city"),
    ("day", "PartOf", "week"),
    ("schedule", "RelatedTo", "activity"),
    ("lemon", "HasProperty", "sour"),
]
MANY = [(f"museum {word}", "AtLocation", "london") for word in "abcdefghijklmnopqrstuvwxy"]
STAGES = [
    "query_production", "topic_planning", "cross_revision", "foreseen_selection", "unforeseen_selection", "response",
]  # fmt: skip


def listed(thought: str, *terms: str) -> dict[str, Any]:
    return {"thought": thought, "terms": list(terms)}


QUERIES = {
    "explicit": listed("The trip is said.", "go up to London", "couple of days", "next week"),
    "implicit": listed("They ask for time.", "availability", "schedule"),
}
TOPICS = {
    "maintained": listed("The trip goes on.", "go up to London", "next week"),
    "extended": listed("What to see there?", "itineraries in London", "places to visit"),
}
REVISED = {
    "explicit": listed("The town is asked about.", "London", "couple of days"),
    "implicit": listed("Time has to be found.", "schedule", "availability"),
    "maintained": listed("The trip goes on.", "London", "interest"),
    "extended": listed("Places are worth a word.", "gallery", "Oxford Street", "itineraries in London"),
}
REPLY = "That sounds great! Which galleries shall we see?"
LONDON: dict[str, object] = {
    "query_production": QUERIES,
    "topic_planning": TOPICS,
    "cross_revision": REVISED,
    "foreseen_selection": {"selected": ["[2] (oxford street, at location, london)", "[1]", "[9] (no, such, fact)"]},
    "unforeseen_selection": {"selected": ["[1] (westminster, related to, london)"]},
    "response": {"reply": REPLY},
}


@pytest.fixture
def paper() -> Iterator[Judging]:
    with Judging() as running:
        assert isinstance(running, Judging)
        running.say = lambda stage, _given: LONDON[stage]
        yield running


@pytest.fixture
async def endpoint(paper: Judging) -> AsyncIterator[ModelEndpoint]:
    endpoint = ModelEndpoint(paper.url, "m", deadline_s=2)
    yield endpoint
    await endpoint.close()


async def replied(endpoint: ModelEndpoint, facts: Sequence[tuple[str, str, str]] = FACTS) -> FaithfulRun:
    return await FaithfulDcrag(endpoint, FactRetrieval(facts, Embedder()), seed=3).reply(HISTORY)


def given(paper: Judging) -> dict[str, dict[str, Any]]:
    """The input of each stage as it came over the wire."""
    return {
        body["response_format"]["json_schema"]["name"]: json.loads(body["messages"][1]["content"])
        for body in paper.bodies
    }


async def test_six_calls_are_made_in_the_papers_order_at_its_temperature(
    paper: Judging, endpoint: ModelEndpoint
) -> None:
    run = await replied(endpoint)
    assert [body["response_format"]["json_schema"]["name"] for body in paper.bodies] == STAGES
    assert [(body["temperature"], body["seed"]) for body in paper.bodies] == [(0.7, 3)] * 6
    assert [call.stage for call in run.calls] == STAGES
    assert [dict(call.given) for call in run.calls] == [*given(paper).values()]
    assert run.is_complete
    assert run.reply == REPLY


async def test_queries_and_topics_are_worked_out_apart_and_the_revision_sees_both(
    paper: Judging, endpoint: ModelEndpoint
) -> None:
    run = await replied(endpoint)
    inputs = given(paper)
    assert inputs["query_production"] == inputs["topic_planning"] == {"dialogue": SHOWN}
    assert inputs["cross_revision"] == {"dialogue": SHOWN, "queries": QUERIES, "topics": TOPICS}
    thoughts = [run.demands.explicit, run.demands.implicit, run.demands.maintained, run.demands.extended]
    assert [each.thought for each in thoughts] == [each["thought"] for each in REVISED.values()]


async def test_a_thought_stands_before_the_terms_that_it_leads_to(paper: Judging, endpoint: ModelEndpoint) -> None:
    await replied(endpoint)
    for body, kinds in zip(paper.bodies[:3], (QUERIES, TOPICS, REVISED), strict=True):
        schema = body["response_format"]["json_schema"]["schema"]
        assert [*schema["properties"]] == [*kinds]
        assert all([*each["properties"]] == ["thought", "terms"] for each in schema["properties"].values())


async def test_the_unforeseen_facts_are_chosen_from_only_after_the_foreseen(
    paper: Judging, endpoint: ModelEndpoint
) -> None:
    run = await replied(endpoint)
    first, second = given(paper)["foreseen_selection"], given(paper)["unforeseen_selection"]
    assert {fact.partition("] ")[2] for fact in first["facts"]} == {
        "(gallery, at location, london)", "(oxford street, at location, london)",
    }  # fmt: skip
    assert {fact.partition("] ")[2] for fact in second["facts"]} == {
        "(westminster, related to, london)", "(london, related to, capital city)", "(schedule, related to, activity)",
    }  # fmt: skip
    assert (first["most"], second["most"], first["dialogue"]) == (20, 18, SHOWN)
    chosen = [first["facts"][1], first["facts"][0], second["facts"][0]]
    assert given(paper)["response"]["facts"] == [fact.partition("] ")[2] for fact in chosen]
    assert len(run.facts) == 3
    assert run.repairs == 1  # The number 9 was not offered.


async def test_the_reply_sees_the_last_turn_the_facts_and_the_revised_terms_with_their_thoughts(
    paper: Judging, endpoint: ModelEndpoint
) -> None:
    await replied(endpoint)
    inputs = given(paper)["response"]
    assert {name: inputs[name] for name in REVISED} == REVISED
    assert (inputs["dialogue"], inputs["last"]) == (SHOWN, SHOWN[-1])
    assert [*inputs] == ["dialogue", "last", "facts", *REVISED]


async def test_with_twenty_foreseen_facts_there_is_no_second_choice(paper: Judging, endpoint: ModelEndpoint) -> None:
    wide = {**REVISED, "extended": listed("Museums.", *(museum for museum, _, _ in MANY))}
    chosen = {"selected": [f"[{at}]" for at in range(1, 26)]}
    paper.say = lambda stage, _given: {**LONDON, "cross_revision": wide, "foreseen_selection": chosen}[stage]
    run = await replied(endpoint, [*FACTS, *MANY])
    assert [call.stage for call in run.calls] == [stage for stage in STAGES if stage != "unforeseen_selection"]
    assert len(run.facts) == 20
    assert run.is_complete


async def test_at_most_fifty_facts_are_offered(paper: Judging, endpoint: ModelEndpoint) -> None:
    await replied(
        endpoint, [*FACTS, *((f"street {a}{b}", "AtLocation", "london") for a in "abcdefgh" for b in "klmnopqr")]
    )
    assert len(given(paper)["unforeseen_selection"]["facts"]) == 50


@pytest.mark.parametrize("told", ["no JSON", "{}", '{"explicit": 3, "selected": "all", "reply": []}'])
async def test_what_can_not_be_read_is_an_empty_list_and_is_counted(
    paper: Judging, endpoint: ModelEndpoint, told: str
) -> None:
    paper.say = lambda _stage, _given: told
    run = await replied(endpoint)
    assert [call.repairs for call in run.calls] == [2, 2, 4, 1, 1, 1]
    assert given(paper)["cross_revision"]["queries"] == dict.fromkeys(QUERIES, listed(""))
    assert (run.reply, run.facts, run.demands.queries) == ("", (), frozenset())


async def test_choosing_among_no_facts_counts_as_a_call_and_not_as_tokens(
    paper: Judging, endpoint: ModelEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "_counts_tokens", True)
    paper.say = lambda stage, _given: {**LONDON, "cross_revision": {}}[stage]
    run = await replied(endpoint)
    counted = [call.tokens for call in run.calls]
    assert min(counted) > 0
    assert run.tokens == sum(counted) - counted[3] - counted[4]


async def test_an_endpoint_that_refuses_is_an_error(paper: Judging, endpoint: ModelEndpoint) -> None:
    paper.say = lambda _stage, _given: 400
    with pytest.raises(ReasonerError):
        await replied(endpoint)


async def test_a_plain_reply_is_given_the_dialogue_and_only_what_facts_there_are(
    paper: Judging, endpoint: ModelEndpoint
) -> None:
    assert await plain_reply(endpoint, HISTORY, [], 0) == REPLY
    await plain_reply(endpoint, HISTORY, ["(gallery, at location, london)"], 0)
    first, second = (json.loads(body["messages"][1]["content"]) for body in paper.bodies)
    assert first == {"dialogue": SHOWN}
    assert second == {"dialogue": SHOWN, "facts": ["(gallery, at location, london)"]}
