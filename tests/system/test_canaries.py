"""The real service as a process: what is planted in it is found in nothing that leaves it, whoever reasons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import sleep
from types import MappingProxyType

import httpx2
import pytest

from client_sdk.crypto.sealing import KeyPair, capsule_context, open_capsule, open_trace, trace_context
from client_sdk.protocol import ChatAnswer, ErrorBody, SealedTrace
from evaluation.checks.canaries import ALL, BAD_POLICY, BROKEN_GRAPH, DESCRIPTION, FORMS, GRAPH, POLICY, canaries_in
from evaluation.datasets.questions import PlanSet, QueryPlan
from evaluation.fakes.scripted_endpoint import Received, ScriptedEndpoint
from tests.support.processes.process import Process, serving
from tests.support.service import OPERATOR, OPERATOR_KEY

pytestmark = pytest.mark.process

TREATED_BY = "Who is Vexquilda Thrombury treated by?"
TREATERS, HOMES, INHABITANTS, ILLNESSES = (
    QueryPlan(sets={"A": PlanSet(start="topic:0", path=(relation,))}, answer=("A",))
    for relation in ("treated by", "lives in", "^lives in", "the masked one")
)
# Common words alone, and an escape in an escape that joins them: the anonymiser undoes one, the guard all.
SMUGGLED = "who is treated by tarn&amp;shy;s&amp;shy;worth"

TRACED = ("question", "by local part", "by description", "guesses")


class Endpoint(ScriptedEndpoint):
    """The scripted endpoint, which can also fail and quote what it was sent, or invent a name."""

    mode = "works"
    meanings = MappingProxyType({DESCRIPTION: "the masked one"})

    def answer(self, received: Received) -> tuple[int, dict[str, object]]:
        status, body = super().answer(received)
        if self.mode == "fails":
            return 500, {"error": {"message": "Pettigrouse", "type": "Pettigrouse", "code": "Pettigrouse"}}
        if self.mode == "refuses":
            return 400, {"object": "error", "message": "Pettigrouse"}
        if self.mode == "babbles":
            return 200, {**body, "choices": [{"index": 0, "message": {"role": "assistant", "content": "Pettigrouse"}}]}
        if self.mode == "guesses":
            return status, {**body, "choices": [_with_guesses(choice) for choice in body["choices"]]}  # type: ignore[attr-defined]
        return status, body


def _with_guesses(choice: dict[str, dict[str, str]]) -> dict[str, object]:
    """A reply as it was, but for a private name that the model may have guessed right."""
    reply = json.loads(choice["message"]["content"])
    guess = {
        "thought": "Quillowmere",
        "path": [{"head": "Quillowmere", "relation": "treated by", "tail": "Klabautrix"}],
    }
    # A step is not asked for them, and may give them all the same.
    more = guess if "answer" in reply else {}
    content = json.dumps({key: guess.get(key, value) for key, value in reply.items()} | more)
    return {**choice, "message": {"role": "assistant", "content": content}}


@dataclass(slots=True)
class Walk:
    """A long walk through one service: what was sent where, and what came back."""

    service: Process
    endpoint: Endpoint | None
    pair: KeyPair = field(default_factory=KeyPair.generate)
    told: list[tuple[str, bytes]] = field(default_factory=list)
    met: dict[str, str] = field(default_factory=dict)
    opened: dict[str, bytes] = field(default_factory=dict)
    streams: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    traces: dict[str, bytes] = field(default_factory=dict)
    jobs: list[bytes] = field(default_factory=list)
    left: dict[str, bytes] = field(default_factory=dict)
    key: dict[str, str] = field(default_factory=dict)

    def call(self, what: str, method: str, path: str, **more: object) -> httpx2.Response:
        """Any request; its reply is kept whole."""
        headers = {**OPERATOR, "X-Request-ID": "Hollowgrimm", "User-Agent": "Hollowgrimm", "Cookie": "x=Hollowgrimm"}
        headers |= more.pop("headers", {})  # type: ignore[arg-type]
        reply = self.service.http.request(method, path, headers=headers, **more)  # type: ignore[arg-type]
        self.told.append((what, repr(reply.headers.raw).encode() + reply.content))
        self.met[what] = ErrorBody.model_validate_json(reply.content).code if reply.is_error else ""
        return reply

    def ask(self, what: str, text: str, plan: QueryPlan | None = None, **more: object) -> ChatAnswer | None:
        """A question with a public key; opens the capsule."""
        if self.endpoint is not None:
            self.endpoint.expect(plan, text)
        body = {
            "graph": "house", "public_key": self.pair.public_text, "messages": [{"role": "user", "content": text}],
        } | more  # fmt: skip
        reply = self.call(what, "POST", "/chat", json=body, headers=self.key)
        if reply.status_code != 200:
            return None
        answer = ChatAnswer.model_validate_json(reply.content)
        assert answer.capsule is not None
        content = open_capsule(answer.capsule, self.pair, capsule_context(answer))
        self.opened[what] = content.model_dump_json().encode()
        if what in TRACED:
            self.answers[what] = answer.id
        return answer

    def stream(self, what: str, text: str, plan: QueryPlan | None = None, **more: object) -> None:
        """A question whose answer is streamed; every byte of the stream is kept."""
        if self.endpoint is not None:
            self.endpoint.expect(plan, text)
        body = {
            "graph": "house", "public_key": self.pair.public_text, "messages": [{"role": "user", "content": text}],
        } | more  # fmt: skip
        reply = self.call(what, "POST", "/chat", json={**body, "stream": True}, headers=self.key)
        self.streams[what] = reply.content

    def trace(self, what: str, answer_id: str, headers: dict[str, str]) -> None:
        """All that the model was sent and said for an answer: every byte of the reply, and what it opens to."""
        parameters = {"public_key": self.pair.public_text}
        reply = self.call(f"trace, {what}", "GET", f"/trace/{answer_id}", params=parameters, headers=headers)
        if not reply.is_error:
            sealed = SealedTrace.model_validate_json(reply.content)
            content = open_trace(sealed.capsule, self.pair, trace_context(answer_id))
            self.traces[what] = content.model_dump_json().encode()

    def load(self, what: str, graph: str, **more: object) -> None:
        """A load, waited for."""
        reply = self.call(what, "POST", f"/admin/graphs/{graph}", **more)
        state = "queued"
        while state in ("queued", "running"):
            sleep(0.1)
            job = self.service.http.get(f"/admin/jobs/{reply.json()['id']}", headers=OPERATOR)
            state = job.json()["state"]
        self.jobs.append(job.content)
        self.met[what] = state


def load_in_every_way(walk: Walk) -> None:
    name = "Vexquilda.ttl"
    files = [("file", (name, GRAPH.encode())), ("policy", ("Belmorvath.toml", POLICY.encode()))]
    walk.load("upload", "house", files=files)
    walk.load("server path", "by-path", json={"path": "Thrombury/graph.ttl"})
    walk.load("broken upload", "house", files=[("file", (name, BROKEN_GRAPH.encode()))])
    walk.load("broken path", "house", json={"path": "Thrombury/broken.nt"})
    bad = [("file", (name, GRAPH.encode())), ("policy", (None, BAD_POLICY.encode()))]
    walk.call("bad policy", "POST", "/admin/graphs/house", files=bad)
    walk.call("bad ending", "POST", "/admin/graphs/house", files=[("file", ("Vexquilda.doc", b"Thrombury"))])
    walk.call("bad part", "POST", "/admin/graphs/house", files=[("Tarnsworth", (name, GRAPH.encode()))])
    walk.call("bad path", "POST", "/admin/graphs/house", json={"path": "../Tarnsworth.ttl"})
    made = walk.service.http.post("/admin/keys", json={"tenant": "default", "grants": ["house"]}, headers=OPERATOR)
    assert made.status_code == 201, made.text
    walk.key = {"Authorization": f"Bearer {made.json()['key']}"}


def ask_in_other_forms(walk: Walk) -> None:
    """Forms of a name, which matter where a model reads the question."""
    walk.ask("misspelt", "Who is Vexqilda Thrombruy treated by?", TREATERS)
    walk.ask("small and misspelt", "who is vexqilda thrombruy treated by", TREATERS, strategy="sets")
    walk.ask("by initial", "Who is V. Thrombury treated by?", TREATERS)
    walk.ask("turned round", "Who is Thrombury, Vexquilda treated by?", TREATERS)
    walk.ask("by surname", "who is thrombury treated by", TREATERS)
    walk.ask("run together", "who is vexquildathrombury treated by", TREATERS)
    walk.ask("apostrophe apart", "who is grizzlewick 's nook treated by", TREATERS)
    walk.ask("apostrophe left out", "who is grizzlewick s nook treated by", TREATERS, strategy="sets")


def ask_well(walk: Walk) -> None:
    # Prompts that leave the machine tell of kinds alone, which is less than the paper's method shows.
    paper = "arog" if walk.endpoint is None else "sets"
    first = walk.ask("question", TREATED_BY, TREATERS)
    assert first is not None
    turns = [{"role": "user", "content": TREATED_BY}, first.message.model_dump()]
    more = (
        "And was Wendolphine Brackwater of wendolphine@brackwater.example, 4111 1111 1111 1111, +49 30 901820 there?"
    )
    asked = {"role": "user", "content": more}
    walk.ask("later turn", more, None, conversation=first.conversation, messages=[*turns, asked])
    walk.ask("by alias", "Where does Quillowmere live?", HOMES)
    walk.ask("by local part", "Where does orvindel jaskworthy live?", HOMES, strategy=paper)
    if walk.endpoint is not None:
        ask_in_other_forms(walk)
    walk.ask("by accent", "Who lives in zofstenbruck?", INHABITANTS)
    walk.ask("by value", "Whose ssn is 536-22-8174, salary 4841739.25, date of birth 1961-07-23?", TREATERS)
    walk.ask("hidden relation", "What Glimdossier has Vexquilda, is it Klabautrix?", TREATERS)
    walk.ask("hidden relation, small letters", "what glimdossier has vexquilda thrombury", TREATERS)
    walk.ask("by description", "What illness does Vexquilda Thrombury have?", ILLNESSES)
    walk.ask("by description, arog", "What illness does Vexquilda Thrombury have?", ILLNESSES, strategy=paper)
    walk.ask("by masked label", "What is the Snorkelwick ague of Quillowmere?", ILLNESSES)
    walk.ask("by masked label, small letters", "what snorkelwick ague has vexquilda thrombury", ILLNESSES)
    masked = walk.ask("by masked local name", "what is vexquilda thrombury's murglewort?", ILLNESSES)
    assert masked is not None
    turns = [{"role": "user", "content": "what is vexquilda thrombury's murglewort?"}, masked.message.model_dump()]
    why = {"role": "user", "content": "Why?"}
    walk.ask("why, masked", "Why?", None, conversation=masked.conversation, messages=[*turns, why])
    walk.stream("streamed, masked", "What illness does Vexquilda Thrombury have?", ILLNESSES)
    walk.ask("long remark", "Who was told in confidence to the neighbour Plumbrechtson?", None)
    walk.ask("unknown", "Is Squibbleford there?", None)
    for strategy in ("sets", paper):
        walk.stream(f"streamed, {strategy}", TREATED_BY, TREATERS, strategy=strategy)
    walk.stream("streamed, misspelt", "Who is Vexqilda Thrombruy treated by?", TREATERS)
    walk.stream("streamed, no key", "Where does Quillowmere live?", HOMES, public_key=None)


def ask_badly(walk: Walk) -> None:
    user = {"role": "user", "content": TREATED_BY}
    whole = {"graph": "house", "messages": [user]}
    walk.ask("smuggled", SMUGGLED, TREATERS, strategy="sets")
    walk.stream("streamed, smuggled", SMUGGLED, TREATERS, strategy="sets")
    for what, body in {
        "role": {**whole, "messages": [{**user, "role": "Hollowgrimm"}]},
        "field": {**whole, "Hollowgrimm": "Tarnsworth"},
        "option": {**whole, "options": {"width": "Hollowgrimm"}},
        "public key": {**whole, "public_key": "Hollowgrimm"},
        "graph name": {**whole, "graph": "Vexquilda Thrombury"},
        "unknown graph": {**whole, "graph": "hollowgrimm"},
        "unknown conversation": {**whole, "conversation": "Hollowgrimm"},
        "long": {**whole, "messages": [{**user, "content": TREATED_BY * 2000}]},
    }.items():
        walk.call(what, "POST", "/chat", json=body, headers=walk.key)
    walk.call("no JSON", "POST", "/chat?Tarnsworth=Hollowgrimm", content=f'{{"graph": {TREATED_BY}'.encode())
    walk.call("other text", "POST", "/chat", content=TREATED_BY.encode("utf-16"))
    walk.call("wrong key", "POST", "/chat", json=whole, headers={"Authorization": "Bearer Hollowgrimm"})
    walk.call("not an admin", "DELETE", "/admin/graphs/hollowgrimm", headers=walk.key)
    walk.call("no address", "GET", "/Hollowgrimm/Tarnsworth")
    walk.call("no method", "PATCH", "/chat", json=whole)
    walk.call("no job", "GET", "/admin/jobs/Hollowgrimm")
    walk.call("no key of that id", "DELETE", "/admin/keys/Hollowgrimm")


def ask_a_failing_model(walk: Walk) -> None:
    if walk.endpoint is None:
        return
    walk.endpoint.mode = "guesses"
    walk.ask("guesses", TREATED_BY, TREATERS)
    walk.stream("streamed, guesses", TREATED_BY, TREATERS)
    # What fails comes last: after a few failures the endpoint is let rest.
    for mode in ("refuses", "babbles", "fails"):
        walk.endpoint.mode = mode
        walk.ask(f"endpoint {mode}", TREATED_BY, TREATERS)
        walk.stream(f"streamed, endpoint {mode}", TREATED_BY, TREATERS)
    walk.endpoint.mode = "works"


def rate_answers(walk: Walk) -> None:
    answer = walk.ask("rated", TREATED_BY, TREATERS)
    assert answer is not None
    body = {"conversation": answer.conversation, "answer": answer.id}
    right = {**body, "rating": "right"}
    corrected = {**body, "rating": "wrong", "correct": ["Žofštenbrück", "Vexquilda Thrombury", "Klabautrix"]}
    for what, rating in (
        ("rating", right),
        ("rating, corrected", corrected),
        ("rating, bad", {**body, "rating": "Thrombury"}),
        ("rating, another answer", {**right, "answer": "Thrombury"}),
        ("rating, another conversation", {**corrected, "conversation": "Vexquilda"}),
    ):
        walk.call(what, "POST", "/ratings", json=rating, headers=walk.key)
    walk.ask("rated, again", TREATED_BY, TREATERS)
    walk.call("cases", "GET", "/admin/graphs/house/cases")
    walk.call("cases, another", "POST", "/admin/graphs/house/cases/approve", json={"ids": ["Hollowgrimm"]})


def look_around(walk: Walk) -> None:
    for what, answer_id in walk.answers.items():
        walk.trace(what, answer_id, OPERATOR)
        walk.trace(f"no grant, {what}", answer_id, walk.key)
    walk.call("ledger", "GET", "/ledger", params={"limit": 1000})
    for path in (
        "/metrics",
        "/graphs",
        "/devices",
        "/admin/graphs",
        "/admin/graphs/house/report",
        "/readyz",
        "/healthz",
    ):
        walk.call(path, "GET", path)
    for headers in [walk.key] * 151:
        if walk.call("too often", "POST", "/chat", json={"graph": "Hollowgrimm"}, headers=headers).status_code == 429:
            break


@pytest.fixture(scope="module", params=["embedded", "endpoint"])
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """The whole walk; the service has ended after it."""
    folder = tmp_path_factory.mktemp(request.param)
    allowed = folder / "allowed" / "Thrombury"
    allowed.mkdir(parents=True)
    (allowed / "graph.ttl").write_text(GRAPH)
    (allowed / "broken.nt").write_text('<http://house.invalid/p1> <http://house.invalid/of> "Muddlethwaite\n')
    settings = {
        "ADMIN_KEY": OPERATOR_KEY, "ALLOWED_LOAD_DIR": str(allowed.parent), "REASONER": request.param,
        "MAX_BODY_BYTES": "20000", "REQUESTS_PER_MINUTE": "150", "SUGGESTIONS": "1",
    }  # fmt: skip
    with ExitStack() as stack:
        endpoint = stack.enter_context(Endpoint()) if request.param == "endpoint" else None
        if endpoint is not None:
            # So small a graph would send nothing.
            settings |= {"ENDPOINT_URL": endpoint.url, "ENDPOINT_MODEL": "scripted", "DISCLOSURE": "tell"}
            # Alone, so that its errors reach the asker, too.
            settings |= {"ENDPOINT_USE": "alone", "ENDPOINT_FALLBACKS": "none"}
        with serving(folder, **settings) as service:
            walk = Walk(service, endpoint)
            for stage in (load_in_every_way, ask_well, ask_badly, rate_answers, ask_a_failing_model, look_around):
                stage(walk)
            # While it runs the database's log of changes lies beside it.
            walk.left = {f"running/{name}": content for name, content in service.written.items()}
        walk.left |= service.written
        yield walk


def test_no_canary_is_in_a_reply_or_an_error(walk: Walk) -> None:
    assert {what: found for what, told in walk.told if (found := canaries_in(told))} == {}


def test_no_canary_is_in_a_stream_and_each_one_ends(walk: Walk) -> None:
    """They are among the replies too; here it is seen that answers and errors were really streamed."""
    ends = {what: stream.rstrip().split(b"\n\n")[-1].split(b"\n")[0] for what, stream in walk.streams.items()}
    failing = {"streamed, smuggled", *(f"streamed, endpoint {mode}" for mode in ("fails", "refuses", "babbles"))}
    assert {what for what, end in ends.items() if end == b"event: error"} == failing & set(ends)
    assert {what for what, end in ends.items() if end == b"event: answer"} == set(ends) - failing
    assert all(stream.startswith(b"event: stage\n") for stream in walk.streams.values())
    assert {what: found for what, stream in walk.streams.items() if (found := canaries_in(stream))} == {}


def test_no_canary_is_in_the_record_of_a_load(walk: Walk) -> None:
    assert canaries_in(b"\n".join(walk.jobs)) == []


def test_no_canary_is_printed_or_logged(walk: Walk) -> None:
    printed = walk.service.printed.read_bytes()
    assert printed.count(b'"event": "request"') > len(walk.told)
    assert canaries_in(printed) == []


def test_no_canary_lies_on_the_disk(walk: Walk) -> None:
    assert {"running/data/arog.db-wal", "data/arog.db"} <= set(walk.left)
    # Most files are the same while it runs and after it.
    contents = {content: name for name, content in walk.left.items()}
    assert {name: found for content, name in contents.items() if (found := canaries_in(content))} == {}
    assert [name for name in walk.left if canaries_in(name.encode())] == []


def test_no_canary_reaches_the_model(walk: Walk) -> None:
    if walk.endpoint is None:
        assert b'"payload":' in dict(walk.told)["ledger"]
        return
    sent = [received.head + received.body for received in walk.endpoint.received]
    assert len(sent) > len(walk.opened)
    assert [found for request in sent if (found := canaries_in(request))] == []


def test_names_come_by_capsule_alone(walk: Walk) -> None:
    assert canaries_in(walk.opened["question"]) == ["Vexquilda", "Thrombury", "Orvindel", "Jaskworthy"]
    assert "Žofštenbrück" in canaries_in(walk.opened["by accent"])
    for what in ("by description", "by description, arog", "by masked label", "by masked local name", "why, masked"):
        # What the model never reads the caller does: what was found, and by which relation.
        assert canaries_in(walk.opened[what], ["Fenwhistle", "Snorkelwick ague"]), what
    assert canaries_in(walk.opened["question"], ["Fenwhistle", "Snorkelwick ague"]) == []
    for what, capsule in walk.opened.items():
        # A refusal tells which things of the graph the question itself named.
        typed = ["Klabautrix"] if what == "hidden relation" else []
        assert canaries_in(capsule, ["Klabautrix", "Plumbrechtson", "Glimdossier", "Pettigrouse"]) == typed


def test_names_of_a_trace_come_sealed_and_for_an_admin_alone(walk: Walk) -> None:
    """That their bytes hold no canary is among the replies."""
    assert set(walk.traces) == set(walk.answers) == {what for what in TRACED if walk.endpoint or "guesses" not in what}
    assert {"Vexquilda", "Thrombury"} <= set(canaries_in(walk.traces["question"]))
    assert "Snorkelwick ague" in canaries_in(walk.traces["by description"])
    for trace in walk.traces.values():
        assert canaries_in(trace, ["Plumbrechtson", "Glimdossier", "Pettigrouse"]) == []
    # The model's own guesses are in its words.
    assert [what for what, trace in walk.traces.items() if canaries_in(trace, ["Klabautrix"])] == [
        what for what in walk.traces if "guesses" in what
    ]


def test_every_way_out_was_walked(walk: Walk) -> None:
    assert {what: code for what, code in walk.met.items() if code in ("done", "failed")} == {
        "upload": "done", "server path": "done", "broken upload": "failed", "broken path": "failed",
    }  # fmt: skip
    refusals = Counter(code for code in walk.met.values() if code not in ("", "done", "failed"))
    assert refusals.pop("model_unavailable", 0) == (2 if walk.endpoint else 0)
    assert refusals.pop("model_reply_unusable", 0) == (1 if walk.endpoint else 0)
    assert refusals.pop("unknown_answer") == len(walk.answers)
    assert refusals == {
        "bad_request": 10, "not_ratable": 1, "unknown_case": 1,
        "bad_policy": 1, "bad_public_key": 1, "blocked": 1, "too_large": 1, "not_authenticated": 1,
        "not_permitted": 1, "not_found": 1, "bad_method": 1, "unknown_graph": 1, "unknown_conversation": 2,
        "unknown_job": 1, "unknown_key": 1, "rate_limited": 1,
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_canary_that_got_out_would_be_found(form: str) -> None:
    out = {canary: b"\x00\xffbefore" + FORMS[form](canary) + b"after\x00" for canary in ALL}
    assert [canary for canary, told in out.items() if canaries_in(told, [canary]) != [canary]] == []
