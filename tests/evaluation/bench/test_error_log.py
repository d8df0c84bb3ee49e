"""The file of wrong answers, from a run of the real service over a small graph."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.cli import app

TRIPLES = """\
ann_quill\tspouse\tbo_marlin
bo_marlin\tplace_of_birth\tulm
ann_quill\tplace_of_birth\tparis
"""
QUESTIONS = """\
{"id": "right", "question": "where was ann quill born ?", "answers": ["paris"]}
{"id": "wrong", "question": "where was ann quill born ?", "answers": ["ulm"], "topic_entities": ["ann_quill"], \
"plan": {"sets": {"A": {"start": "topic:0", "path": ["spouse", "place of birth"]}}, "answer": ["A"], \
"topics": ["ann quill"]}, "kind": "two hops"}
{"id": "hidden", "question": "where was bo marlin brought up ?", "answers": ["paris"], "half": "unseen"}
{"id": "missed", "question": "where was cy born ?", "answers": ["ulm"], "topic_entities": ["cy_heron"]}
"""


@pytest.mark.model
def test_wrong_answers_are_written_for_the_owner_alone(tmp_path: Path) -> None:
    graph, questions, errors = tmp_path / "graph.tsv", tmp_path / "questions.jsonl", tmp_path / "errors.md"
    graph.write_text(TRIPLES)
    questions.write_text(QUESTIONS)
    errors.write_text("of an earlier run")
    errors.chmod(0o644)
    policy = tmp_path / "policy.toml"
    policy.write_text("[[triples]]\n")
    files = {"--graph": graph, "--questions": questions, "--errors": errors, "--policy": policy}
    arguments = ["qa", *(str(part) for pair in files.items() for part in pair)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert stat.S_IMODE(errors.stat().st_mode) == 0o600
    text = errors.read_text("utf-8")
    assert "2 of 3 answers are not exactly the gold answers. 1 more are of wordings that nobody looks at." in text
    assert "brought up" not in text
    assert "| one hop too few | 1 | two hops 1 |" in text
    assert "| linking missed | 1 |  |" in text
    assert "Names that reached the reasoner: none." in text
    assert "- linking: 1 of 1 topics found; read as names and values: ann quill" in text
    assert "- linking: 0 of 1 topics found, missed: cy_heron" in text
    assert "- followed: [ann quill] > place of birth (" in text
    assert "- gold path: [ann quill] > spouse " in text
    assert "- answered: paris\n- gold: ulm" in text
    assert "right" not in text
    # What is printed holds no name.
    assert "ann quill" not in result.output
