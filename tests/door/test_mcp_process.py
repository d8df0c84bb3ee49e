"""The official MCP client against `arog mcp` and `arog serve` as processes, on the demo graph."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from app.demo import GRAPH_FILE
from tests.support.documents import ROOT
from tests.support.processes.demo_service import DemoService

pytestmark = pytest.mark.process

DOCTOR = "Which doctor is Valeska Dornbusch treated by?"
# Every name of two words or more: alone, a word of one may stand in other words.
CANARIES = {
    name for name in re.findall(r'(?:label|altLabel) "([^"]+)"', GRAPH_FILE.read_text("utf-8")) if name.istitle()
    and " " in name
}  # fmt: skip


class McpProcess:
    """A connected client, the files of the process's folder, and every byte that it has written."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.folder = client, folder

    async def call(self, name: str, **arguments: object) -> str:
        result = await self.client.call_tool(name, arguments)
        assert isinstance(result, CallToolResult)
        assert not result.is_error
        (content,) = result.content
        assert isinstance(content, TextContent)
        return content.text

    @property
    def written(self) -> bytes:
        return (self.folder / "stdout").read_bytes()

    @property
    def printed(self) -> str:
        return (self.folder / "stderr").read_text("utf-8")


@asynccontextmanager
async def mcp_process(folder: Path, demo: DemoService, *options: str, key: str = "") -> AsyncIterator[McpProcess]:
    """`arog mcp OPTIONS`, its standard output copied into a file on the way to the client."""
    command = shlex.join([sys.executable, "-m", "client_sdk", "mcp", *options])
    environment = {
        "AROG_URL": demo.url, "AROG_API_KEY": key or demo.api_key, "AROG_CONFIG_DIR": str(folder / "config"),
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    server = StdioServerParameters(
        command="/bin/sh", args=["-c", f"{command} | tee {folder / 'stdout'}"], env=environment, cwd=folder
    )
    with (folder / "stderr").open("w", encoding="utf-8") as errors:
        async with Client(stdio_client(server, errors)) as client:
            yield McpProcess(client, folder)


async def test_a_client_asks_in_dialogue_and_looks_behind_the_answers(demo: DemoService, tmp_path: Path) -> None:
    async with mcp_process(tmp_path, demo) as arog:
        assert await arog.call("list_graphs") == "demo"
        assert "Emeka Osakwani" in await arog.call("ask", question=DOCTOR)
        assert "Valeska Dornbusch -> treated by" in await arog.call("why")
        assert "Alder Clinic" in await arog.call("ask", question="And where does he work?")
        assert "question:" in await arog.call("what_the_model_saw")
    assert arog.printed == ""
    assert b"Emeka Osakwani" in arog.written


async def test_with_pseudonyms_no_byte_that_leaves_holds_a_name(demo: DemoService, tmp_path: Path) -> None:
    assert len(CANARIES) > 100
    async with mcp_process(tmp_path, demo, "--pseudonyms") as arog:
        for question in (
            DOCTOR,
            "And where does he work?",
            "Which other patients has he?",
            "Where does Marta Lindqvist live?",
            "The second one.",
            "Where does Rosalnd Rose live?",
            "Where does Nobody Atall live?",
            "why?",
        ):
            await arog.call("ask", question=question)
            await arog.call("why")
            await arog.call("what_the_model_saw")
        await arog.call("list_graphs")
    told = arog.written + arog.printed.encode()
    assert told.count(b'"result"') > 20
    assert {name for name in CANARIES if name.encode() in told} == set()
    assert not (tmp_path / "config").exists()
