"""The code of the how-to pages runs as it stands there, against a real service and a real proxy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import blocks_of
from tests.support.processes.demo_service import DemoService
from tests.support.processes.proxy import ROOT, ProxyProcess, proxy_process

pytestmark = pytest.mark.process

PAGES = ("openai-clients", "langchain", "llamaindex")


def blocks(page: str, language: str) -> list[str]:
    """Those that are to be run."""
    found = blocks_of(ROOT / "docs" / "how-to" / f"{page}.md")
    return [block.text for block in found if block.language == language and block.fate != "not run"]


def here(code: str, demo: DemoService, proxy: ProxyProcess) -> str:
    """The code with the addresses of this test."""
    root = proxy.url.removesuffix("/v1")
    return code.replace("http://127.0.0.1:8100", root).replace("http://127.0.0.1:8000", demo.url)


def environment(demo: DemoService, folder: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder), "AROG_URL": demo.url,
        "AROG_API_KEY": demo.api_key, "AROG_CONFIG_DIR": str(folder / "config"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


def test_every_block_of_commands_is_run_here_or_says_why_not() -> None:
    left = [block for page in PAGES for block in blocks(page, "bash")]
    assert [("curl" in block, "--allow-host" in block) for block in left] == [(True, False), (False, True)]


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, demo: DemoService, proxy: ProxyProcess, tmp_path: Path) -> None:
    code = here("\n".join(blocks(page, "python")), demo, proxy)
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environment(demo, tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Emeka Osakwani" in done.stdout
    assert "Alder Clinic" in done.stdout


def test_what_is_asked_with_curl_is_answered(demo: DemoService, proxy: ProxyProcess, tmp_path: Path) -> None:
    (code,) = [block for block in blocks("openai-clients", "bash") if "curl" in block]
    done = subprocess.run(
        ["bash", "-e", "-c", here(code, demo, proxy)], env=environment(demo, tmp_path), cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"demo:arog"' in done.stdout
    assert "data: [DONE]" in done.stdout
    assert '"object":"response"' in done.stdout
    assert '"type":"message","role":"assistant"' in done.stdout
    assert done.stdout.count("Lower Gallenbach") >= 2


def test_the_options_of_the_page_are_those_of_the_command(demo: DemoService, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "openai-clients.md").read_text("utf-8")
    told = set(re.findall(r"`(--[a-z-]+)", page.split("## The openai package")[0]))
    done = subprocess.run(
        [sys.executable, "-m", "client_sdk", "proxy", "--help"], env={**environment(demo, tmp_path), "COLUMNS": "200"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    has = set(re.findall(r"^ +(--[a-z-]+)", done.stdout, re.M))
    assert told == has - {"--url", "--api-key", "--plain-http", "--help"}


def test_a_container_reaches_it_by_its_name_for_this_machine(demo: DemoService, tmp_path: Path) -> None:
    """As the page says for Open WebUI, on an address that every machine has."""
    (line,) = [block for block in blocks("openai-clients", "bash") if "--allow-host" in block]
    options = line.strip().partition("arog proxy ")[2].replace("172.17.0.1", "127.0.0.1").split()
    with proxy_process(tmp_path, demo.url, demo.api_key, *options, PROXY_KEY="a-proxy-key") as proxy:
        asked = ["curl", "-s", f"{proxy.url}/models", "-H", "Host: host.docker.internal:8100"]
        done = subprocess.run([*asked, "-H", "Authorization: Bearer a-proxy-key"], capture_output=True, check=True)
        assert b'"demo"' in done.stdout
        assert b"invalid_api_key" in subprocess.run(asked, capture_output=True, check=True).stdout
