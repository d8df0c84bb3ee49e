"""The code of the how-to pages runs as it stands there, against a real service and a real proxy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.demo import Demo
from tests.support.proxy import ROOT, ProxyProcess, proxy_process

PAGES = ("openai-clients",)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    return [code for found, code in FENCE.findall(text) if found == language]


def here(code: str, demo: Demo, proxy: ProxyProcess) -> str:
    """The code with the addresses of this test."""
    return code.replace("http://127.0.0.1:8100/v1", proxy.url).replace("http://127.0.0.1:8000", demo.url)


def environment(demo: Demo, folder: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder), "AROG_URL": demo.url,
        "AROG_API_KEY": demo.api_key, "AROG_CONFIG_DIR": str(folder / "config"),
    }  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, demo: Demo, proxy: ProxyProcess, tmp_path: Path) -> None:
    code = here("\n".join(blocks(page, "python")), demo, proxy)
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=environment(demo, tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Emeka Osakwani" in done.stdout
    assert "Alder Clinic" in done.stdout


def test_what_is_asked_with_curl_is_answered(demo: Demo, proxy: ProxyProcess, tmp_path: Path) -> None:
    (code,) = [block for block in blocks("openai-clients", "bash") if "curl" in block]
    done = subprocess.run(
        ["bash", "-e", "-c", here(code, demo, proxy)], env=environment(demo, tmp_path), cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"demo:arog"' in done.stdout
    assert done.stdout.rstrip().endswith("data: [DONE]")


def test_the_options_of_the_page_are_those_of_the_command(demo: Demo, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "openai-clients.md").read_text("utf-8")
    told = set(re.findall(r"`(--[a-z-]+)", page.split("## The openai package")[0]))
    done = subprocess.run(
        [sys.executable, "-m", "client_sdk", "proxy", "--help"], env={**environment(demo, tmp_path), "COLUMNS": "200"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    has = set(re.findall(r"^ +(--[a-z-]+)", done.stdout, re.M))
    assert told == has - {"--url", "--api-key", "--plain-http", "--help"}


def test_a_container_reaches_it_by_its_name_for_this_machine(demo: Demo, tmp_path: Path) -> None:
    """As the page says for Open WebUI, on an address that every machine has."""
    (line,) = [block for block in blocks("openai-clients", "bash") if "--allow-host" in block]
    options = line.strip().partition("arog proxy ")[2].replace("172.17.0.1", "127.0.0.1").split()
    with proxy_process(tmp_path, demo.url, demo.api_key, *options, PROXY_KEY="a-proxy-key") as proxy:
        asked = ["curl", "-s", f"{proxy.url}/models", "-H", "Host: host.docker.internal:8100"]
        done = subprocess.run([*asked, "-H", "Authorization: Bearer a-proxy-key"], capture_output=True, check=True)
        assert b'"demo"' in done.stdout
        assert b"invalid_api_key" in subprocess.run(asked, capture_output=True, check=True).stdout
