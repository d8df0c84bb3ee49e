"""The documents as a site: every page is in it, every link leads somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FROM_ELSEWHERE = re.compile(r"""(?:\bsrc=|<link[^>]+href=|url\(|@import )["']?(?:https?:)?//[^"' >)]+""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built strictly: a link that leads nowhere ends it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_is_a_page(site: Path) -> None:
    documents = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    pages = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")} - {Path("404")}
    assert {Path("decisions/index") if path == Path("decisions/README") else path for path in documents} == pages


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    assert files
    assert not {found for path in files for found in FROM_ELSEWHERE.findall(path.read_text("utf-8"))}


def test_the_reference_has_every_route_type_and_name_of_the_sdk(site: Path) -> None:
    http = (site / "reference" / "http.html").read_text("utf-8")
    assert "POST /chat" in http
    assert 'id="chatanswer"' in http
    sdk = (site / "reference" / "sdk.html").read_text("utf-8")
    for name in ("Chat.ask", "Chat.from_env", "AsyncChat.stream", "Answer.to_dataframe", "errors.StreamCutError"):
        assert re.search(rf'id="client_sdk\.{re.escape(name)}"', sdk), name


def test_every_page_is_in_the_navigation_or_in_its_own_index() -> None:
    told = re.findall(r"[\w./-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8").partition("nav:")[2])
    written = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert set(told) == {path for path in written if not re.match(r"decisions/\d", path)}


def test_the_site_asks_for_no_fonts() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert yaml.safe_load(settings)["theme"]["font"] is False
