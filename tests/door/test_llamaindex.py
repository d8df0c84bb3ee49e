"""LlamaIndex, as released: the query engine against a real service."""

from __future__ import annotations

import pytest

from client_sdk import Chat, KeyPair, UnknownGraphError
from tests.support.lazy_module import LazyModule
from tests.support.processes.demo_service import DemoService

responses = LazyModule("llama_index.core.base.response.schema")
schema = LazyModule("llama_index.core.schema")
tools = LazyModule("llama_index.core.tools")
llamaindex = LazyModule("client_sdk.integrations.llamaindex")

pytestmark = pytest.mark.process

DOCTOR = "Which doctor is Valeska Dornbusch treated by?"
KEY = KeyPair.generate()


def test_a_query_is_answered_with_its_sources(chat: Chat) -> None:
    response = llamaindex.ArogQueryEngine(chat).query(DOCTOR)
    assert isinstance(response, responses.Response)
    assert str(response) == "Valeska Dornbusch is treated by Emeka Osakwani."
    assert response.source_nodes[0].node.get_content() == (
        "Valeska Dornbusch (patient), treated by, Emeka Osakwani (doctor)"
    )
    assert response.source_nodes[0].node.metadata["tail"] == "Emeka Osakwani"
    assert response.metadata is not None
    assert response.metadata["grounded"] is True


def test_all_facts_follow_where_they_are_wanted(chat: Chat) -> None:
    cited = llamaindex.ArogQueryEngine(chat).query(DOCTOR)
    everything = llamaindex.ArogQueryEngine(chat, all_facts=True).query(DOCTOR)
    assert len(everything.source_nodes) >= len(cited.source_nodes) > 0


def test_queries_know_nothing_of_each_other(chat: Chat) -> None:
    engine = llamaindex.ArogQueryEngine(chat)
    engine.query(DOCTOR)
    assert "Alder Clinic" not in str(engine.query("And where does he work?"))


async def test_it_does_the_same_for_asyncio_and_as_a_tool(chat: Chat) -> None:
    engine = llamaindex.ArogQueryEngine(chat)
    assert str(await engine.aquery(schema.QueryBundle(DOCTOR))) == "Valeska Dornbusch is treated by Emeka Osakwani."
    tool = tools.QueryEngineTool.from_defaults(engine, name="clinic", description="Patients and doctors")
    assert (await tool.acall(DOCTOR)).content == "Valeska Dornbusch is treated by Emeka Osakwani."


def test_errors_are_those_of_the_sdk(demo: DemoService) -> None:
    with Chat(demo.url, demo.api_key, "another", key=KEY) as chat, pytest.raises(UnknownGraphError):
        llamaindex.ArogQueryEngine(chat).query(DOCTOR)
