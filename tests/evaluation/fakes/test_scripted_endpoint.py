"""The scripted endpoint keeps the wire and the contract, and answers by its plan from what requests show."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from app.llm.endpoint.request_body import step_text
from app.llm.tasks import (
    Candidate,
    Evidence,
    StepInput,
    StepReply,
    Thing,
    Turn,
)
from evaluation.datasets.gold_plan import pseudonyms_in, surfaces_of, topic_among
from evaluation.datasets.questions import QueryPlan
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.scripted_replies import ScriptedReplies
from kg_store.algebra.expressions import names_in, parse

QUESTION = "who treats Eq7f2k"
TOPIC = Thing(name="Eq7f2k", concept="person", size="1")


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as running:
        yield running


def plan(*path: str, answer: str = "A", start: str = "topic:0") -> QueryPlan:
    return QueryPlan.model_validate({"sets": {"A": {"start": start, "path": path}}, "answer": [answer]})


def candidate(number: int, *path: str, start: str = "Eq7f2k") -> Candidate:
    return Candidate(number=number, start=start, path=list(path), concept="thing")


def fact(start: str, path: list[str], end: str) -> Evidence:
    return Evidence(start=start, start_concept="thing", path=path, end=end, end_concept="thing", size="2-5")


def step(
    candidates: list[Candidate], evidence: list[Evidence] | None = None, question: str = QUESTION,
    last: bool = False, things: list[Thing] | None = None, dialogue: list[Turn] | None = None, width: int = 3,
) -> StepInput:  # fmt: skip
    return StepInput(
        question=question, dialogue=dialogue or [], path=[], things=things or [TOPIC], evidence=evidence or [],
        candidates=candidates, round=1, last_round=last, width=width,
    )  # fmt: skip


def stepped(replies: ScriptedReplies, asked: StepInput) -> StepReply:
    reply = replies.reply_to("step", step_text(asked))
    assert isinstance(reply, StepReply)
    return reply


def test_single_things_of_one_set_are_all_answered() -> None:
    replies = ScriptedReplies(plan("child", answer="count(A)"))
    evidence = [fact("Eq7f2k", ["child"], "Ex1y2z"), fact("Eq7f2k", ["child"], "Ep1q2r")]
    assert stepped(replies, step([], evidence)).answer == ["count(union(Ex1y2z, Ep1q2r))"]
    assert stepped(ScriptedReplies(plan("child")), step([], evidence)).answer == ["union(Ex1y2z, Ep1q2r)"]
    many = [fact("Eq7f2k", ["child"], f"E{number:05}") for number in range(70)]
    unions = stepped(ScriptedReplies(plan("child")), step([], many)).answer
    assert len(unions) == 3
    assert sum(len(names_in(parse(union))) for union in unions) == 70


def test_two_sets_are_followed_in_one_round_within_the_width() -> None:
    both = QueryPlan.model_validate(
        {"sets": {"A": {"start": "topic:0", "path": ["x"]}, "B": {"start": "topic:1", "path": ["y"]}},
         "answer": ["intersect(A, B)"]}
    )  # fmt: skip
    ways = [candidate(1, "y", start="Ez9y8x"), candidate(2, "x")]
    asked = step(ways, question="Eq7f2k and Ez9y8x")
    assert stepped(ScriptedReplies(both), asked).choices == [2, 1]
    assert stepped(ScriptedReplies(both), asked.model_copy(update={"width": 1})).choices == [2]


@pytest.mark.parametrize("asked", [step([candidate(1, "other")]), step([candidate(1, "a")], last=True)])
def test_where_nothing_continues_the_plan_it_is_not_in_the_graph(asked: StepInput) -> None:
    reply = stepped(ScriptedReplies(plan("a")), asked)
    assert (reply.action, reply.choices, reply.answer) == ("not_in_graph", [], [])
    assert stepped(ScriptedReplies(None), asked).action == "not_in_graph"


def test_the_topic_is_told_from_other_names_by_what_stands_around_it() -> None:
    typed = "the script of films directed by Woody Allen and others, by Allen"
    shown = "the Es1c2r of films directed by Ew1o2o and Eo1t2h, by Ea1l2l"
    surfaces = surfaces_of(typed, shown)
    assert list(surfaces.values()) == ["script", "Woody Allen", "others", "Allen"]
    assert topic_among(surfaces, "woody_allen") == "Ew1o2o"
    assert topic_among(surfaces, "Allen") == "Ea1l2l"
    assert topic_among(surfaces, "someone else") == ""
    assert surfaces_of("a different text", "not this Es1c2r") == {}
    asked = plan("x").model_copy(update={"topics": ("Woody Allen",)})
    ways = [candidate(1, "x", start="Es1c2r"), candidate(2, "x", start="Ew1o2o")]
    assert stepped(ScriptedReplies(asked, typed), step(ways, question=shown)).choices == [2]


def test_words_that_were_read_apart_are_laid_beside_those_that_were_typed() -> None:
    surfaces = surfaces_of("what is the fatherdead of anna keller ?", "what is the father dead of Es1c2r ?")
    assert topic_among(surfaces, "anna keller") == "Es1c2r"


def test_names_side_by_side_take_whole_words() -> None:
    surfaces = surfaces_of("how many tall tenors sing arias", "how many Es1c2r Ew1o2o sing Ea1l2l")
    assert list(surfaces.values()) == ["tall", "tenors", "arias"]
    typed, shown = "films by the The Muse director", "films by the Es1c2r Vw1o2o"
    assert topic_among(surfaces_of(typed, shown, topics=["the_muse"]), "The Muse") == "Es1c2r"


def test_pseudonyms_are_told_from_words_by_their_shape() -> None:
    assert pseudonyms_in(["In 1990 Eq7f2k, Eq7f2k's Vx81zp and Sallow met Zed in E12345"], {"Zed"}) == (
        "Eq7f2k", "Vx81zp", "Zed",
    )  # fmt: skip


LAX = {"type": "json_schema", "json_schema": {"name": "step", "strict": False, "schema": {}}}


def request(task: str, block: StepInput | str, **changes: object) -> dict[str, object]:
    text = block if isinstance(block, str) else step_text(block)
    return {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": f"```json\n{text}\n```\n\nDo it."},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": task, "strict": True, "schema": {}}},
        **changes,
    }


def test_it_speaks_chat_completions_over_http_and_keeps_every_byte(endpoint: ScriptedEndpoint) -> None:
    endpoint.expect(plan("a"))
    body = json.dumps(request("step", step([candidate(1, "a")]))).encode()
    with httpx2.Client() as client:
        for _ in range(2):
            reply = client.post(f"{endpoint.url}/chat/completions", content=body, headers={"X-Test": "1"})
    assert reply.status_code == 200
    message = reply.json()["choices"][0]["message"]
    assert json.loads(message["content"]) == {"answer": ["follow", "way(1)"]}
    assert "usage" not in reply.json()
    assert [received.body for received in endpoint.received] == [body, body]
    assert b"POST /v1/chat/completions" in endpoint.received[0].head
    assert b"X-Test: 1".lower() in endpoint.received[0].head.lower()
    assert "a" not in repr(endpoint.received[0]).replace("Received", "")
    assert httpx2.get(f"{endpoint.url}/models").json()["data"][0]["id"] == "scripted"
    assert httpx2.get(f"{endpoint.url}/other").status_code == 404
    assert httpx2.post(f"{endpoint.url}/other").status_code == 404


def test_it_counts_tokens_only_when_asked_to() -> None:
    with ScriptedEndpoint(counts_tokens=True) as endpoint:
        reply = httpx2.post(f"{endpoint.url}/chat/completions", json=request("step", step([])))
    assert reply.json()["usage"]["prompt_tokens"] > 10


@pytest.mark.parametrize(
    "broken",
    [
        request("step", "{"),
        request("step", '{"question": 1}'),
        request("step", step([]), messages=[{"role": "user", "content": "no block"}]),
        request("step", step([]), messages=[{"role": "user", "content": "Do it.\n```json\n{}\n```"}]),
        request("step", step([]), messages=[{"role": "user", "content": "```json\n{}\n```\n```json\n{}\n```"}]),
        request("step", step([]), response_format={"type": "json_object"}),
        request("step", step([]), response_format=LAX),
    ],
)  # fmt: skip
def test_a_request_that_breaks_the_contract_gets_a_400(endpoint: ScriptedEndpoint, broken: dict[str, object]) -> None:
    endpoint.expect(plan("a"))
    reply = httpx2.post(f"{endpoint.url}/chat/completions", json=broken)
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert len(endpoint.contract_breaks) == 1


def test_a_probe_gets_the_smallest_value_that_fits_its_schema(endpoint: ScriptedEndpoint) -> None:
    schema = {
        "type": "object",
        "properties": {"word": {"enum": ["xyzzy"]}, "n": {"type": "integer"}, "c": {"const": "k"}},
    }
    probe = request("probe", "x")
    probe["response_format"] = {
        "type": "json_schema",
        "json_schema": {"name": "probe", "strict": True, "schema": schema},
    }
    reply = httpx2.post(f"{endpoint.url}/chat/completions", json=probe)
    assert json.loads(reply.json()["choices"][0]["message"]["content"]) == {"word": "xyzzy", "n": 0, "c": "k"}
