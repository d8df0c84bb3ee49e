"""Wiring of endpoints: each setting reaches the wire, and a shared cache keeps tenants apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.llm.reasoner import Reply, Retry
from app.llm.tasks import CallOptions, StructureInput, Task
from app.strategies.prompts import STRUCTURE
from app.wiring.services import think
from tests.support.processes.model_server import Canned, ModelServer, completion, failure, in_turn, serving
from tests.support.service import settings_in

REPLY = completion('{"thought": "", "path": [], "guess": ""}', usage=(300, 50))
TASK = Task(STRUCTURE, StructureInput(question="who", dialogue=[], things=[]), CallOptions(tenant="tenant-a"))
VLLM = {"reasoner": "endpoint", "endpoint_model": "m", "endpoint_kind": "vllm"}


@pytest.mark.model
async def test_each_setting_reaches_the_wire(server: ModelServer, tmp_path: Path) -> None:
    server.replies = in_turn(REPLY)
    prices = {"endpoint_prompt_price": 3.0, "endpoint_completion_price": 10.0}
    sizes = {"endpoint_max_tokens": 77, "endpoint_seed": 5}
    thinking = think(settings_in(tmp_path, endpoint_url=server.url, **VLLM, **sizes, **prices))
    got = await thinking.reasoner.reply_to(TASK, thinking.reasoner.egress_of(TASK))
    await thinking.close()
    assert isinstance(got, Reply)
    body = server.received[0].json
    assert (body["model"], body["max_tokens"], body["seed"], body["temperature"]) == ("m", 77, 5, 0.0)
    assert got.tokens.cost == pytest.approx(300 * 3e-6 + 50 * 10e-6)


@pytest.mark.model
async def test_a_salt_tells_tenants_apart_for_nobody_but_us(server: ModelServer, tmp_path: Path) -> None:
    def salt_of(tenant: str, folder: Path) -> str:
        thinking = think(settings_in(folder, endpoint_url=server.url, **VLLM))
        body = thinking.reasoner.egress_of(replace(TASK, manner=CallOptions(tenant=tenant))).body
        assert tenant.encode() not in body
        salt: str = json.loads(body)["cache_salt"]
        return salt

    here, there = tmp_path / "here", tmp_path / "there"
    assert salt_of("tenant-a", here) == salt_of("tenant-a", here)
    assert len({salt_of("tenant-a", here), salt_of("tenant-b", here), salt_of("tenant-a", there)}) == 3


@pytest.mark.model
def test_no_salt_goes_to_other_endpoints(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, reasoner="endpoint", endpoint_model="m", endpoint_url="http://h/v1")
    assert "cache_salt" not in json.loads(think(settings).reasoner.egress_of(TASK).body)


@pytest.mark.model
async def test_nobody_waits_long_for_one_endpoint_while_there_is_another(server: ModelServer, tmp_path: Path) -> None:
    with serving(in_turn(REPLY)) as spare:
        server.replies = in_turn(Canned(status=429, headers=(("Retry-After", "30"),)))
        choice = {"url": spare.url, "model": "spare"}
        thinking = think(settings_in(tmp_path, endpoint_url=server.url, endpoint_fallbacks=[choice], **VLLM))
        got = await thinking.reasoner.reply_to(TASK, thinking.reasoner.egress_of(TASK))
        assert isinstance(got, Retry)
        assert got.manner.endpoint == 1
        await thinking.close()
        assert len(server.received) == 1


@pytest.mark.model
async def test_fallbacks_of_the_settings_are_asked(server: ModelServer, tmp_path: Path) -> None:
    server.replies = in_turn(failure(401))
    with serving(in_turn(REPLY)) as spare:
        choice = {"url": spare.url, "model": "spare"}
        settings = settings_in(tmp_path, endpoint_url=server.url, endpoint_fallbacks=[choice], **VLLM)
        thinking = think(settings)
        got = await thinking.reasoner.reply_to(TASK, thinking.reasoner.egress_of(TASK))
        assert isinstance(got, Retry)
        again = replace(TASK, manner=got.manner)
        await thinking.reasoner.reply_to(again, thinking.reasoner.egress_of(again))
        await thinking.close()
        assert spare.received[0].json["model"] == "spare"
        assert "cache_salt" not in spare.received[0].json
