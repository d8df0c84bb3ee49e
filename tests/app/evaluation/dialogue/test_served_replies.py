"""Labelled replies go the whole road: over HTTP, past the check, and back through the SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.evaluation.bench.bench import Bench
from app.evaluation.cli import app
from app.evaluation.dialogue.statements.labelled_replies import LabelledReply, read_replies
from app.evaluation.dialogue.statements.reply_graph import reply_graph, reply_policy
from app.evaluation.dialogue.statements.served_replies import ServedFigures, measure_served
from app.evaluation.dialogue.statements.statement_run import measure
from app.evaluation.dialogue.statements.statement_table import served_measures

FACTS = [
    ["Blue Hour", "directed_by", "Ada Lind"],
    ["Blue Hour", "starred_actors", "Bo Karlsen"],
    ["Blue Hour", "publicationDate", "1998-05-25"],
    ["Grey Morning", "starred_actors", "Bo Karlsen"],
    ["Grey Morning", "duration (min)", "96"],
]
OTHER = [["Red Noon", "written_by", "Cleo Brandt"], ["Red Noon", "has_genre", "Western"]]


def _row(facts: list[list[str]], question: str, *clauses: tuple[str, object]) -> dict[str, Any]:
    said = [{"text": text, "truth": truth} for text, truth in clauses]
    reply = " ".join(f"{text}." for text, _ in clauses)
    return {"graph": "films", "facts": facts, "history": [["user", question]], "clauses": said, "reply": reply}


ROWS = [
    _row(
        FACTS,
        "Who made Blue Hour?",
        ("Ada Lind directed Blue Hour", True),
        ("Blue Hour directed Ada Lind", "contradicted"),
        ("It came out on 25 May 1998", True),
    ),
    _row(
        FACTS,
        "Have you heard of Grey Morning?",
        ("Bo Karlsen starred in Grey Morning and Blue Hour", True),
        ("It won an award", "unsupported"),
        ("Nora Vik directed Grey Morning", "contradicted"),
    ),
    _row(OTHER, "Tell me about Red Noon.", ("Cleo Brandt wrote Red Noon", True), ("It is a comedy", "contradicted")),
]


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "replies.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


@pytest.fixture(name="replies")
def labelled(tmp_path: Path) -> list[LabelledReply]:
    return read_replies(_file(tmp_path, *ROWS))


async def _served(replies: list[LabelledReply]) -> ServedFigures:
    return await measure_served(replies, lambda _title, _done, _total: None)


async def test_the_service_keeps_and_removes_the_clauses_that_the_check_does(replies: list[LabelledReply]) -> None:
    found, alone = await _served(replies), measure(replies)

    assert found.clauses.clauses == alone.clauses == {"true": 4, "contradicted": 3, "unsupported": 1}
    assert found.clauses.amiss == alone.amiss
    assert found.clauses.amiss.total() == 0
    assert 0 < sum(found.attachments) < len(found.attachments) == len(replies)


async def test_every_fact_of_a_line_is_shown_and_no_name(replies: list[LabelledReply]) -> None:
    found = await _served(replies)

    assert found.requests == len(replies)
    assert (found.incomplete, found.leaks) == (0, 0)


async def test_a_reply_that_no_prompt_came_before_is_counted(tmp_path: Path) -> None:
    talk = _row(OTHER, "Thank you!", ("Cleo Brandt wrote Red Noon", True))
    found = await _served(read_replies(_file(tmp_path, talk)))

    assert (found.requests, found.incomplete, found.clauses.amiss["true"]) == (0, 1, 1)
    assert not all(line.passed for line in served_measures(found))


async def test_a_reply_that_was_written_in_pseudonyms_is_asked_by_name(
    replies: list[LabelledReply], tmp_path: Path
) -> None:
    rows = [
        {
            **row,
            "names": dict(reply.names),
            "history": [[role, reply.mask(text)] for role, text in reply.history],
            "clauses": [{"text": clause.text, "truth": clause.truth} for clause in reply.clauses],
            "reply": " ".join(reply.sentences),
        }
        for row, reply in zip(ROWS, replies, strict=True)
    ]
    written = read_replies(_file(tmp_path, *rows))
    found = await _served(written)

    assert [each.history for each in written] == [each.history for each in replies]
    assert (found.clauses.amiss.total(), found.incomplete, found.leaks) == (0, 0, 0)


async def test_the_scan_finds_names_as_they_were_typed(replies: list[LabelledReply], tmp_path: Path) -> None:
    file = tmp_path / "line.nt"
    file.write_bytes(reply_graph(replies[0]))
    async with Bench() as bench:
        scanner = bench.scanner(bench.load("line", [file], reply_policy()))
        found = scanner.scan([replies[0].history[0][1].encode(), b"Ada Lind, 1998-05-25"]).leaks

    assert {"blue hour", "ada lind", "1998 05 25"} <= {name.replace("-", " ") for name in found}


def test_the_command_asks_the_service(tmp_path: Path) -> None:
    held = CliRunner().invoke(app, ["statements", "--served", "--replies", str(_file(tmp_path, *ROWS))])
    missed = CliRunner().invoke(
        app, ["statements", "--served", "--replies", str(_file(tmp_path, _row(OTHER, "Thanks!", ("Hello", "none"))))]
    )

    assert "names that reached the endpoint" in held.output
    assert (held.exit_code, missed.exit_code) == (0, 1)
