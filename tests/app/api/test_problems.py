"""A full disk is told as one, whatever it keeps from being done; the database's own bound stands in its place."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from app.api.problems import _KINDS, Problem
from app.api.web_page import DIST
from client_sdk.protocol import ErrorBody
from tests.support.service import CLINIC, OPERATOR, Running, question, running

MANY = "".join(
    f':q{number} a :Patient ; rdfs:label "Person number {number}" ; :treatedBy :d1 .\n' for number in range(9)
)


@pytest.fixture
async def full(tmp_path: Path) -> AsyncIterator[Running]:
    """A service whose database may not grow by a page, as on a disk without room; its log of changes takes a few."""
    async with running(tmp_path) as service:
        service.load()
        engine: Engine = service.services.store.engine
        engine.dispose()
        event.listen(engine, "connect", _without_room)
        yield service


def _without_room(connection: sqlite3.Connection, _entry: object) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (unused,) = connection.execute("PRAGMA freelist_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={max(1, pages - unused)}")


async def test_a_question_that_can_not_be_recorded_is_told_as_a_full_disk(full: Running) -> None:
    replies = [await full.http.post("/chat", json=question(), headers=OPERATOR) for _ in range(40)]
    errors = [ErrorBody.model_validate_json(each.content) for each in replies if each.is_error]
    assert {(each.status_code, each.json().get("code")) for each in replies if each.is_error} == {(507, "disk_full")}
    assert errors[0].message == "The disk of the service is full."
    assert "AROG_DATA_DIR" in errors[0].hint


async def test_a_load_of_which_nothing_can_be_recorded_ends_and_leaves_a_graph(full: Running) -> None:
    codes = set()
    for _ in range(6):
        files = [("file", ("clinic.ttl", (CLINIC + MANY).encode()))]
        reply = await full.http.post("/admin/graphs/clinic", files=files, headers=OPERATOR)
        if reply.is_error:
            codes.add(reply.json()["code"])
            continue
        job = await full.ended(reply.json()["id"], OPERATOR)
        codes.add(job["error"]["code"] if job["error"] else "")  # type: ignore[index]
    assert codes <= {"disk_full", ""}
    listed = (await full.http.get("/admin/graphs", headers=OPERATOR)).json()
    assert [each["name"] for each in listed["graphs"]] == ["clinic"]


def test_the_page_has_its_own_words_where_ours_speak_of_requests_and_commands() -> None:
    words = json.loads((DIST.parent / "src" / "protocol" / "plain_words.json").read_text("utf-8"))
    technical = re.compile(r"`|\b(?:GET|POST|DELETE) |AROG_")
    told: set[Problem] = {each for each in _KINDS.values() if technical.search(f"{each.message} {each.hint}")}
    assert {each.code for each in told} - words.keys() == set()
    for each in told:
        assert not technical.search(words[each.code].get("message", each.message) + words[each.code]["hint"])
