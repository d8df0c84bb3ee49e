"""Concepts named anew by a model over real HTTP: what it is asked, what is taken of its names, and what that costs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.graphs.concept_refinement import MAX_RELATIONS, askable, input_about, plain_concept
from app.settings import PREFIX, Settings
from client_sdk.protocol import JobStatus, RefineEstimate
from evaluation.checks.canaries import PREFIXES, canaries_in
from evaluation.fakes.scripted_endpoint import Received, ScriptedEndpoint
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Hop, NodeKind, Relation, RelationId, Schema, Signature, SignatureId
from tests.support.commands import arog
from tests.support.service import OPERATOR, Running, running

pytestmark = pytest.mark.model

CANARIES = ("Vexquilda", "Thrombury", "Grizzlewick", "Jaskworthy", "Zimbrelkov", "Glimdossier")
GRAPH = (
    PREFIXES
    + ':c1 rdfs:label "Zimbrelkov" .\n:p99 rdfs:label "Orvindel Jaskworthy" ; :hasGlimdossier :c1 .\n'
    + "".join(
        f':p{n} rdfs:label "Vexquilda Thrombury {n:03}" ; :livesIn :c1 ; :treatedBy :d{n} .\n' for n in range(24)
    )
    + "".join(f':d{n} rdfs:label "Grizzlewick {n:03}" .\n' for n in range(24))
)
REFINE = "/admin/graphs/house/concepts/refine"
Names = Callable[[list[str]], list[str]]


class Naming(ScriptedEndpoint):
    """The scripted endpoint, which names clusters as the test says: `names` gets a cluster's relations."""

    names: Names = staticmethod(lambda _relations: ["patient"])

    def answer(self, received: Received) -> tuple[int, dict[str, Any]]:
        status, body = super().answer(received)
        request = json.loads(received.body)
        if request["response_format"]["json_schema"]["name"] != "name_concepts":
            return status, body
        block = json.loads(request["messages"][-1]["content"].split("```json\n")[1].removesuffix("\n```"))
        told = [{"number": each["number"], "concepts": self.names(each["relations"])} for each in block["clusters"]]
        body["choices"][0]["message"]["content"] = json.dumps({"concepts": told})  # type: ignore[index]
        return status, body

    def clusters(self) -> list[dict[str, Any]]:
        """Every cluster that it was asked about."""
        bodies = [json.loads(received.body)["messages"][-1]["content"] for received in self.received]
        blocks = [json.loads(body.split("```json\n")[1].removesuffix("\n```")) for body in bodies if "```json" in body]
        return [cluster for block in blocks for cluster in block.get("clusters", [])]


@pytest.fixture
def endpoint() -> Iterator[Naming]:
    with Naming(counts_tokens=True) as running:
        assert isinstance(running, Naming)
        yield running


def by_endpoint(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    prices = {"endpoint_prompt_price": 2.0, "endpoint_completion_price": 8.0}
    return {"reasoner": "endpoint", "endpoint_url": endpoint.url, "endpoint_model": "m", **prices}


@pytest.fixture
async def service(tmp_path: Path, endpoint: Naming) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True, **by_endpoint(endpoint)) as started:
        started.load("default", "house", GRAPH, policy='show_relations = "all"\n')
        yield started


async def refined(service: Running, least: int = 20) -> JobStatus:
    reply = await service.http.post(REFINE, json={"least": least}, headers=OPERATOR)
    assert reply.status_code == 202, reply.text
    return JobStatus.model_validate(await service.ended(reply.json()["id"], OPERATOR))


def concepts(service: Running) -> dict[tuple[str, ...], str]:
    """The concept of each signature of entities, by its relations."""
    schema = service.services.store.catalog.open("default", "house").blind.schema
    return {
        tuple(schema.label(hop) for hop in each.hops): concept
        for each, concept in zip(schema.signatures, schema.concepts, strict=True)
    }


async def test_shared_concepts_are_renamed_in_a_new_version_and_rare_ones_never_leave(
    service: Running, endpoint: Naming
) -> None:
    before, version = concepts(service), service.services.graphs.summaries("default")[0].version
    endpoint.names = lambda relations: ["Village  Healer"] if "^treated by" in relations else ["Sick Person"]
    job = await refined(service)
    assert (job.state, job.error) == ("done", None)
    assert job.graph is not None
    assert job.graph.version != version
    assert concepts(service) == {
        **before, ("^treated by",): "village healer", ("lives in", "treated by"): "sick person",
    }  # fmt: skip
    assert sorted(tuple(each["relations"]) for each in endpoint.clusters()) == [
        ("^treated by",), ("lives in", "treated by"),
    ]  # fmt: skip
    assert "2 of 2 concepts were renamed" in job.notes[0]
    assert "2 that fewer than 20 entities share" in job.notes[0]
    assert canaries_in(b"".join(each.head + each.body for each in endpoint.received), CANARIES) == []


async def test_a_name_a_pseudonym_and_anything_but_short_plain_words_is_refused(
    service: Running, endpoint: Naming
) -> None:
    before = concepts(service)
    endpoint.names = lambda _relations: [
        "Grizzlewick", "a friend of thrombury", "Orvindel", "friend of Zimbrelkov", "Eq7f2k", "a very long name of it",
        "x", "",
    ]  # fmt: skip
    job = await refined(service)
    assert concepts(service) == before
    assert "0 of 2 concepts were renamed" in job.notes[0]
    assert "10 were not one to three ordinary words, 6 held a name of the graph" in job.notes[0]
    assert canaries_in(job.model_dump_json().encode(), CANARIES) == []
    assert canaries_in((await service.http.get("/metrics")).content, CANARIES) == []


async def test_costs_are_told_before_and_after_and_the_ledger_has_it(service: Running, endpoint: Naming) -> None:
    estimate = RefineEstimate.model_validate((await service.http.get(REFINE, headers=OPERATOR)).json())
    assert endpoint.clusters() == []
    assert (estimate.concepts, estimate.entities, estimate.calls, estimate.too_rare) == (2, 48, 1, 2)
    assert estimate.prompt_tokens > 100
    assert estimate.most_cost == pytest.approx((estimate.prompt_tokens * 2 + 1024 * 8) / 1e6)
    job = await refined(service)
    assert job.notes[1].startswith("1 calls, ")
    assert job.notes[1].endswith(" USD.")
    (entry,) = service.services.store.ledger.entries("default")
    assert (entry.step, entry.caller, entry.verdict) == ("name_concepts", "operator", "clear")
    used = (await service.http.get("/admin/budget", headers=OPERATOR)).json()["used"]
    assert used == int(job.notes[1].split()[2]) + int(job.notes[1].split()[6])


async def test_an_endpoint_that_fails_changes_nothing(service: Running, endpoint: Naming) -> None:
    before = service.services.graphs.summaries("default")
    endpoint.names = lambda _relations: [7]  # type: ignore[list-item]
    job = await refined(service)
    assert job.error is not None
    assert (job.state, job.error.code) == ("failed", "model_unavailable")
    assert service.services.graphs.summaries("default") == before


async def test_bad_requests_and_strangers_are_refused(service: Running) -> None:
    async def told(http: httpx2.AsyncClient, path: str, body: object, headers: dict[str, str]) -> tuple[int, str]:
        reply = await http.post(path, json=body, headers=headers)
        return reply.status_code, reply.json()["code"]

    http = service.http
    assert await told(http, REFINE, {"least": 1}, OPERATOR) == (422, "bad_request")
    assert await told(http, REFINE, {}, service.key("default", "house")) == (403, "not_permitted")
    assert await told(http, REFINE, {}, service.key("other", role="admin")) == (404, "unknown_graph")


def test_the_command_shows_the_cost_first_and_asks(
    tmp_path: Path, endpoint: Naming, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in Settings.model_fields:
        if name != "cache_dir":
            monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    settings = {**by_endpoint(endpoint), "data_dir": tmp_path / "data", "master_key": MasterKey.generate()}
    for name, value in settings.items():
        monkeypatch.setenv(PREFIX + name.upper(), str(value))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "house.ttl").write_text(GRAPH)

    assert arog("graph", "load", "house", "house.ttl").exit_code == 0
    refused = arog("concepts", "refine", "house", typed="n\n")
    assert refused.exit_code != 0
    assert "2 concepts of 48 entities: 1 calls, about " in refused.stdout
    assert endpoint.clusters() == []
    done = arog("concepts", "refine", "house", "--yes")
    assert done.exit_code == 0, done.output
    assert "2 of 2 concepts were renamed" in done.stdout
    assert len(endpoint.clusters()) == 2
    monkeypatch.setenv("AROG_REASONER", "embedded")
    alone = arog("concepts", "refine", "house", "--yes")
    assert (alone.exit_code, "AROG_REASONER=endpoint" in alone.stderr) == (2, True)


# --- what is asked about -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "a", "Eq7f2k", "ward 7", "one two three four", "x" * 25, "person;drop", "{1}", "person, city", "_a_"]
)
def test_anything_else_is_none(text: str) -> None:
    assert plain_concept(text) is None


def signature(at: int, size: int, *relations: int, classes: tuple[str, ...] = ()) -> Signature:
    hops = tuple(Hop(RelationId(each)) for each in relations)
    return Signature(SignatureId(at), NodeKind.ENTITY, classes, hops, size)


def test_only_signatures_that_enough_share_are_asked_about_and_classes_stay() -> None:
    relations = tuple(Relation(RelationId(at), f"urn:{at}", f"r{at}", f"r{at} of") for at in range(20))
    many = signature(0, 50, *range(20))
    schema = Schema(
        relations,
        (many, signature(1, 19, 1), signature(2, 20, 2), signature(3, 500, 3, classes=("patient",))),
        ("a", "b", "c", "d"),  # type: ignore[arg-type]
    )
    chosen = askable(schema, 20)
    assert [each.id for each in chosen.signatures] == [0, 2]
    assert (chosen.too_rare, chosen.classed, chosen.entities) == (1, 1, 70)
    asked = input_about(schema, chosen.signatures)
    assert [each.number for each in asked.clusters] == [1, 2]
    shown = asked.clusters[0].relations
    assert len(shown) == MAX_RELATIONS
    # Those that other signatures have too say least.
    assert not {"r1", "r2", "r3"} & set(shown)
