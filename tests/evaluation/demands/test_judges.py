"""Judges over a scripted endpoint: what is asked, what is read, and that nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from app.llm.embeddings.embedder import Vectors
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.request_body import Dialect
from evaluation.demands.dialogues import DialoguePair
from evaluation.demands.judges import CRITERIA, Judge, answer_relevance, context_relevance
from evaluation.fakes.scripted_endpoint import Received, ScriptedEndpoint

PAIRS = [DialoguePair(f"{at}-2", ("Hello .", f"My hen number {at} is ill ."), "Oh .") for at in range(12)]
Say = Callable[[str, dict[str, Any]], object]


class Judging(ScriptedEndpoint):
    """An endpoint that judges as the test says: `say` gets the task and its input."""

    say: Say = staticmethod(lambda _task, _given: "")

    def answer(self, received: Received) -> tuple[int, dict[str, Any]]:
        self._received.append(received)
        request = json.loads(received.body)
        task = request.get("response_format", {}).get("json_schema", {}).get("name", "")
        told = self.say(task, json.loads(request["messages"][-1]["content"]))
        if isinstance(told, int):
            return told, {"error": {"message": "no", "code": told}}
        return 200, self._completion(told if isinstance(told, str) else json.dumps(told), received.body)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(each.body) for each in self.received]


@pytest.fixture
def judging() -> Iterator[Judging]:
    with Judging() as running:
        assert isinstance(running, Judging)
        yield running


@pytest.fixture
async def endpoint(judging: Judging) -> AsyncIterator[ModelEndpoint]:
    endpoint = ModelEndpoint(judging.url, "m")
    yield endpoint
    await endpoint.close()


async def test_ratings_come_in_the_order_of_the_replies(judging: Judging, endpoint: ModelEndpoint) -> None:
    def say(task: str, given: dict[str, Any]) -> object:
        number = int(given["reply"])
        return {"engagingness": number * 8.5} if task == "engagingness" else {"informativeness": 2, "overall": 5}

    judging.say = say
    judge = Judge(endpoint)
    ratings = await judge.rate(PAIRS, [str(at) for at in range(12)])
    assert ratings == ([at * 8.5 for at in range(12)], [2] * 12, [5] * 12)
    assert (judge.asked, judge.not_judged) == ({"engagingness": 12, "quality": 12}, {})


async def test_a_judge_is_shown_the_history_and_the_reply_and_a_closed_schema(
    judging: Judging, endpoint: ModelEndpoint
) -> None:
    await Judge(endpoint, seed=5).rate(PAIRS[:1], ["Poor thing!"])
    engaging, quality = judging.bodies
    shown = json.loads(engaging["messages"][1]["content"])
    assert shown == {"dialogue": ["A: Hello .", "B: My hen number 0 is ill ."], "reply": "Poor thing!"}
    assert (engaging["temperature"], engaging["seed"]) == (0, 5)
    schema = quality["response_format"]["json_schema"]["schema"]
    assert (schema["required"], schema["additionalProperties"]) == (["informativeness", "overall"], False)
    assert schema["properties"]["overall"]["maximum"] == 5


async def test_an_endpoint_that_enforces_no_schema_gets_it_in_words(judging: Judging, endpoint: ModelEndpoint) -> None:
    endpoint.speak(Dialect("prompt"))
    judging.say = lambda _task, _given: '```json\n{"informativeness": 4, "overall": 3}\n```'
    ratings = await Judge(endpoint).rate(PAIRS[:1], ["Poor thing!"])
    assert ratings == ([None], [4], [3])
    assert '"maximum":5' in judging.bodies[1]["messages"][0]["content"]


@pytest.mark.parametrize(
    "told",
    [
        "",
        "I would say 4.",
        '{"informativeness": 4, "overall": 3',
        {"informativeness": 4},
        {"informativeness": 4, "overall": 6},
        {"informativeness": 0, "overall": 3},
        {"informativeness": "4", "overall": 3},
        {"informativeness": True, "overall": 3},
        {"informativeness": 3.5, "overall": 3},
        {"informativeness": 4, "overall": 3, "coherence": 4},
        [4, 3],
        400,
    ],
)
async def test_a_reply_that_breaks_its_schema_is_not_judged_and_counted(
    judging: Judging, endpoint: ModelEndpoint, told: object
) -> None:
    def say(task: str, given: dict[str, Any]) -> object:
        is_good = given["reply"] == "good"
        return ({"informativeness": 4, "overall": 3} if is_good else told) if task == "quality" else "{}"

    judging.say = say
    judge = Judge(endpoint)
    ratings = await judge.rate(PAIRS[:3], ["good", "bad", "good"])
    assert ratings == ([None] * 3, [4, None, 4], [3, None, 3])
    assert judge.not_judged == {"engagingness": 3, "quality": 1}
    assert judge.asked == {"engagingness": 3, "quality": 3}


async def test_an_endpoint_that_is_gone_judges_nothing() -> None:
    endpoint = ModelEndpoint("http://127.0.0.1:9/v1", "m", deadline_s=0.2)
    judge = Judge(endpoint)
    assert await judge.rate(PAIRS[:2], ["a", "b"]) == ([None] * 2,) * 3
    assert judge.not_judged.total() == 4
    await endpoint.close()


async def test_the_better_reply_wins_on_whichever_side_it_is_shown(judging: Judging, endpoint: ModelEndpoint) -> None:
    sides = list[str]()

    def say(_task: str, given: dict[str, Any]) -> object:
        (side,) = (side for side, reply in given["replies"].items() if reply == "ours")
        sides.append(side)
        return {**dict.fromkeys(CRITERIA, side), "coherence": "tie", "naturalness": "1" if side == "2" else "2"}

    judging.say = say
    told = await Judge(endpoint, seed=1, at_once=1).compare(PAIRS, ["ours"] * 12, ["theirs"] * 12)
    assert set(sides) == {"1", "2"}
    assert told == {
        "naturalness": ["second"] * 12,
        "coherence": ["tie"] * 12,
        "engagement": ["first"] * 12,
        "informativeness": ["first"] * 12,
    }
    again, sides[:] = list(sides), []
    await Judge(endpoint, seed=1, at_once=1).compare(PAIRS, ["ours"] * 12, ["theirs"] * 12)
    assert sides == again


async def test_a_judge_that_always_likes_the_first_shown_favours_no_side(
    judging: Judging, endpoint: ModelEndpoint
) -> None:
    judging.say = lambda _task, _given: dict.fromkeys(CRITERIA, "1")
    many = [DialoguePair(f"{at}", ("Hello .",), "") for at in range(100)]
    told = await Judge(endpoint).compare(many, ["ours"] * 100, ["theirs"] * 100)
    assert 35 <= told["coherence"].count("first") <= 65


async def test_a_comparison_without_a_criterion_is_not_judged_at_all(
    judging: Judging, endpoint: ModelEndpoint
) -> None:
    judging.say = lambda _task, _given: dict.fromkeys(CRITERIA[:3], "1")
    judge = Judge(endpoint)
    assert await judge.compare(PAIRS[:1], ["a"], ["b"]) == {criterion: [None] for criterion in CRITERIA}
    assert judge.not_judged == {"comparison": 1}


async def test_faithfulness_is_the_share_of_claims_that_the_facts_support(
    judging: Judging, endpoint: ModelEndpoint
) -> None:
    def say(_task: str, given: dict[str, Any]) -> object:
        assert given["facts"] == ["hen lays egg"]
        claims = [{"claim": word, "supported": word == "eggs"} for word in given["reply"].split()]
        return {"claims": claims}

    judging.say = say
    judge = Judge(endpoint)
    facts = [["hen lays egg"], [], ["hen lays egg"], ["hen lays egg"]]
    assert await judge.faithfulness(["eggs milk", "eggs", "", "eggs"], facts) == [0.5, None, None, 1]
    assert (judge.asked, judge.not_judged) == ({"faithfulness": 3}, {"faithfulness": 1})


def test_relevance_is_the_cosine_with_the_dialogue_whose_last_turn_comes_first() -> None:
    def likeness(text: str, others: Sequence[str]) -> Vectors:
        assert text == "Is it ill ?\nMy hen ."
        return np.array([{"near": 0.75, "far": -0.5}[each] for each in others], np.float32)

    history = ["My hen .", "Is it ill ?"]
    assert context_relevance(likeness, history, ["near", "far"]) == 0.375
    assert context_relevance(likeness, history, []) == 0
    assert (answer_relevance(likeness, history, "near"), answer_relevance(likeness, history, "far")) == (0.75, 0)
