"""A real OpenID provider on loopback: the certified `oidc-provider`, which comes with the page's tools, under Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import httpx2
import pytest

MODULES = Path(__file__).parents[3] / "app" / "api" / "page" / "node_modules"
CLIENT_ID = "arog"


@dataclass(frozen=True, slots=True)
class Provider:
    """A running provider."""

    issuer: str

    def rotate(self) -> None:
        """Replaces the key that signs tokens."""
        httpx2.post(f"{self.issuer}/rotate").raise_for_status()

    def fail(self) -> None:
        """From now on every request is answered with status 503."""
        httpx2.post(f"{self.issuer}/outage").raise_for_status()

    def sign_in(self, login: str, address: str, code: str, *, refuse: bool = False) -> str:
        """Does in a browser what a person does: enters the code, signs in and agrees. Returns the last page."""
        with httpx2.Client(follow_redirects=True) as browser:
            page = browser.get(address)
            confirmed = {"abort": "yes"} if refuse else {}
            for values in ({"user_code": code}, confirmed, {"login": login, "password": "any"}, {}):
                form = _Form(page.text)
                if form.action is None:
                    break
                page = browser.post(page.url.join(form.action), data={**form.values, **values})
            return page.text


class _Form(HTMLParser):
    """The first form of a page: where it goes, and the values that it has already."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.values: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attributes}
        if tag == "form" and self.action is None:
            self.action = told.get("action", "")
        elif tag == "input" and told.get("name"):
            self.values[told["name"]] = told.get("value", "")


@contextmanager
def providing(groups: Mapping[str, Sequence[str]], id_token_s: int = 3_600) -> Iterator[Provider]:
    """Runs a provider whose logins have these groups. Skips the test, visibly, without Node or the page's tools."""
    node = shutil.which("node")
    if node is None or not (MODULES / "oidc-provider").is_dir():
        pytest.skip("the OpenID provider is not installed: `npm ci` in app/api/page")
    script, content = Path(__file__).with_suffix(".mjs"), json.dumps({"groups": groups, "id_token_s": id_token_s})
    process = subprocess.Popen(
        [node, str(script), str(MODULES), content], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        issuer = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
        assert issuer, "the provider does not start"
        yield Provider(issuer)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
