"""The tools through the official client, in memory, against a small service that really seals names."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from client_sdk.mcp import Dialogues, ServiceAccess, make_server
from client_sdk.protocol import Reading
from tests.support.fake_service import API_KEY, PRIVATE_WORDS, FakeService, problem

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
ANSWER = "Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not."


@asynccontextmanager
async def connected(service: FakeService, *, restore_names: bool = True, mode: str = "auto") -> AsyncIterator[Client]:
    access = ServiceAccess(service.url, API_KEY, "demo", restore_names=restore_names)
    async with Client(make_server(access), mode=mode) as client:
        yield client


def text(result: object) -> str:
    assert isinstance(result, CallToolResult)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@MODES
async def test_the_tools_say_who_reads_their_results(service: FakeService, mode: str) -> None:
    async with connected(service, mode=mode) as client:
        tools = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    assert list(tools) == ["ask", "why", "what_the_model_saw", "list_graphs"]
    for name in ("ask", "why", "what_the_model_saw"):
        assert "the model that this client works with reads them" in tools[name]
    async with connected(service, restore_names=False, mode=mode) as client:
        assert "no name leaves the service" in ((await client.list_tools()).tools[0].description or "")


async def test_an_answer_comes_with_names_and_what_to_know_of_it(service: FakeService) -> None:
    async with connected(service) as client:
        told = text(await client.call_tool("ask", {"question": "Who?"}))
    assert told.startswith(ANSWER)
    assert "1. Anna Keller (patient)" in told


async def test_a_dialogue_goes_on_until_a_new_one_is_wanted(service: FakeService) -> None:
    async with connected(service) as client:
        for arguments in ({}, {}, {"graph": "clinic"}, {}, {"new_dialogue": True}):
            await client.call_tool("ask", {"question": "Who?", **arguments})
    asked = [(one["graph"], len(one["messages"]), one.get("conversation")) for one in service.seen]
    assert asked == [
        ("demo", 1, None),
        ("demo", 3, "conversation-1"),
        ("clinic", 1, None),
        ("demo", 5, "conversation-1"),
        ("demo", 1, None),
    ]


async def test_two_clients_have_dialogues_of_their_own(service: FakeService) -> None:
    server = make_server(ServiceAccess(service.url, API_KEY, "demo"))
    async with Client(server) as one, Client(server) as other:
        await one.call_tool("ask", {"question": "Who?"})
        assert text(await other.call_tool("why", {})) == "Nothing has been asked yet. Call `ask` first."
        await other.call_tool("ask", {"question": "Who?"})
    assert [len(one["messages"]) for one in service.seen] == [1, 1]


async def test_an_expired_conversation_is_begun_anew_and_that_is_told(service: FakeService) -> None:
    async with connected(service) as client:
        await client.call_tool("ask", {"question": "Who?"})
        service.canned.append(problem(404, "unknown_conversation"))
        told = text(await client.call_tool("ask", {"question": "And who else?"}))
    assert told.startswith("The earlier dialogue had expired, so this was asked without it.\n\nAnna Keller")
    assert len(service.seen[-1]["messages"]) == 1


async def test_the_last_answer_is_explained(service: FakeService) -> None:
    async with connected(service) as client:
        await client.call_tool("ask", {"question": "Who?"})
        told = text(await client.call_tool("why", {}))
    assert "Anna Keller -> treated by (doctor) -> Dr. Bruno Weiß" in told.replace("\\", "")
    assert "3 relations of Anna Keller were left out" in told
    assert "not named (patient), ward > ^works in, Dr. Bruno Weiß (doctor)" in told.replace("\\", "")
    assert "Ehid01" not in told


async def test_what_the_model_saw_is_shown_as_it_left_with_the_names_apart(service: FakeService) -> None:
    async with connected(service) as client:
        await client.call_tool("ask", {"question": "Who?"})
        told = text(await client.call_tool("what_the_model_saw", {}))
        seen, _, named = told.partition("On this machine:")
        assert "[user]\nWho treats\nEq7f2k?" in seen
        assert not [word for word in PRIVATE_WORDS if word in seen.replace("Or Anna?", "")]
        assert "Eq7f2k = Anna Keller" in named
        service.may_inspect = False
        told = text(await client.call_tool("what_the_model_saw", {}))
    assert "Who treats\nEq7f2k?" in told
    assert "Anna" not in told


@MODES
async def test_with_pseudonyms_no_name_is_asked_for_and_none_is_shown(
    service: FakeService, mode: str, config: Path
) -> None:
    service.inexact = [Reading(pseudonym="Eq7f2k", start=11, end=20)]
    service.without_capsule = True
    async with connected(service, restore_names=False, mode=mode) as client:
        results = [await client.call_tool("ask", {"question": "Who treats Ana Keler?"})]
        results += [await client.call_tool(name, {}) for name in ("why", "what_the_model_saw", "list_graphs")]
    told = "\n".join(map(text, results))
    assert "Eq7f2k is treated by Ex81zp" in told
    assert "A name of the question was read in another spelling." in told
    assert not [word for word in (*PRIVATE_WORDS, "Keler", "Ana ") if word in told]
    assert all("public_key" not in one for one in service.seen)
    assert not any(path.startswith("/trace") for path in service.paths)
    assert not config.exists()


async def test_names_that_come_unasked_are_not_opened(service: FakeService) -> None:
    """The service seals to whoever asks with a key; without one there is none to open with."""
    async with connected(service, restore_names=False) as client:
        assert "Anna" not in text(await client.call_tool("ask", {"question": "Who?"}))


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("ask", {}, "The arguments are not valid: question: Field required."),
        ("ask", {"question": 7}, "question: Input should be a valid string"),
        ("ask", {"question": "Who?", "secret": "s3cret"}, "an argument: Extra inputs are not permitted"),
        ("why", {}, "Nothing has been asked yet. Call `ask` first."),
        ("forget", {}, "There is no such tool. There are: ask, why"),
    ],
)
async def test_a_wrong_call_is_told_in_words(
    service: FakeService, name: str, arguments: dict[str, object], told: str
) -> None:
    async with connected(service) as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    assert told in text(result)
    assert "s3cret" not in text(result)


async def test_an_error_of_the_service_is_told_with_what_to_do_and_the_id(service: FakeService) -> None:
    service.canned = [problem(502, "model_unavailable"), problem(404, "unknown_graph")]
    async with connected(service) as client:
        result = await client.call_tool("ask", {"question": "Who?"})
        assert result.is_error
        assert text(result) == "It went wrong. Do it otherwise. (id err-1)"
        assert "`list_graphs` names those" in text(await client.call_tool("ask", {"question": "Who?", "graph": "x"}))
        assert not (await client.call_tool("ask", {"question": "Who?"})).is_error


async def test_an_unexpected_failure_tells_its_place_and_not_its_text(
    service: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_dialogues: Dialogues) -> None:
        raise ValueError("Anna Keller")

    monkeypatch.setattr(Dialogues, "_why", fail)
    async with connected(service) as client:
        result = await client.call_tool("why", {})
    assert result.is_error
    printed = capsys.readouterr()
    assert "ValueError at fail" in printed.err
    assert "Anna" not in printed.err + printed.out + json.dumps(result.model_dump(mode="json"))
