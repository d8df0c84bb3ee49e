"""The page for browsers, as the service hands it out: a folder as Vite builds it stands in for the page itself."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from app.api.web_page import SIGN_IN_MARK, page_routes
from tests.support.service import Running

SCRIPT = b"export const words = 'all of them';"


def page_in(folder: Path) -> Path:
    """`dist`, with one script in two forms."""
    assets = folder / "dist" / "assets"
    assets.mkdir(parents=True)
    (folder / "dist" / "index.html").write_text("<!doctype html><head><title>arog</title></head>")
    (folder / "secret.txt").write_text("not for you")
    (assets / "index-abc.js").write_bytes(SCRIPT)
    (assets / "index-abc.js.gz").write_bytes(gzip.compress(SCRIPT))
    (assets / "icon-abc.svg").write_bytes(b"<svg/>")
    return folder / "dist"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    app = FastAPI()
    app.include_router(page_routes(page_in(tmp_path)))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://arog") as http:
        yield http


async def test_the_page_comes_under_a_policy_that_lets_nothing_else_in(http: httpx2.AsyncClient) -> None:
    page = await http.get("/")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = dict(each.split(" ", 1) for each in page.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert {policy[kind] for kind in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-cache"
    assert SIGN_IN_MARK not in page.content


async def test_where_persons_sign_in_the_page_may_also_reach_their_provider(tmp_path: Path) -> None:
    origins: list[str] = []
    app = FastAPI()
    app.include_router(page_routes(page_in(tmp_path), lambda: origins))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://arog") as http:
        origins.append("https://sign-in.invalid")
        page = await http.get("/")
    policy = page.headers["content-security-policy"]
    assert SIGN_IN_MARK in page.content
    assert "connect-src 'self' https://sign-in.invalid;" in policy
    assert "script-src 'self';" in policy


async def test_files_named_by_their_content_are_kept_for_long_and_come_packed(http: httpx2.AsyncClient) -> None:
    packed = await http.get("/assets/index-abc.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == SCRIPT
    plain = await http.get("/assets/index-abc.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == SCRIPT
    for reply in (packed, plain):
        assert reply.headers["content-type"].startswith("text/javascript")
        assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert reply.headers["vary"] == "Accept-Encoding"
    assert (await http.get("/assets/icon-abc.svg")).headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize("path", ["/assets/none.js", "/assets/..%2f..%2fsecret.txt", "/assets/%2e%2e/index.html"])
async def test_nothing_but_built_files_can_be_had(http: httpx2.AsyncClient, path: str) -> None:
    assert (await http.get(path)).status_code == 404


async def test_where_it_is_not_built_the_address_says_how_and_the_service_goes_on(tmp_path: Path) -> None:
    app = FastAPI()
    app.include_router(page_routes(tmp_path / "dist"))
    app.add_api_route("/healthz", lambda: {"status": "ok"})
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://arog") as http:
        page = await http.get("/")
        assert page.status_code == 404
        assert "make page" in page.text
        assert (await http.get("/healthz")).status_code == 200


async def test_the_service_has_the_page_at_its_root_and_tells_no_schema_of_it(service: Running) -> None:
    assert (await service.http.get("/")).headers["content-type"].startswith("text/")
    described = (await service.http.get("/openapi.json")).json()["paths"]
    assert not {"/", "/assets/{name}"} & set(described)
    missing = await service.http.get("/assets/none.js")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
