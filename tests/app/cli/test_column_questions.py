"""`arog graph inspect --ask`: each column is asked about, and the policy does what was answered."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from rich.console import Console

from app.cli.column_questions import ask_columns
from kg_store.proposals.propose import read_and_propose
from kg_store.terms import ValueView
from tests.support.stores import written

CUSTOMERS = "customer_id,customer_name,city,age\n" + "".join(
    f"C{n},Person {chr(64 + n)},Leeds,{20 + n}\n" for n in range(1, 9)
)


def answered(folder: Path, *answers: str) -> tuple[str, Iterator[str]]:
    files = [written(folder, CUSTOMERS, "customers.csv")]
    raw, policy = read_and_propose(files)
    left = iter(answers)
    console = Console(file=StringIO(), width=200)
    changed = ask_columns(console, files, raw, policy, lambda *_, default="", **__: next(left) or default)
    return changed.to_toml(), left


def test_enter_keeps_the_proposal(tmp_path: Path) -> None:
    files = [written(tmp_path, CUSTOMERS, "customers.csv")]
    assert answered(tmp_path, "")[0] == read_and_propose(files)[1].to_toml()


def test_what_is_answered_is_in_the_policy(tmp_path: Path) -> None:
    toml, left = answered(
        tmp_path, "4", "value", "number", "years", "years of age", "shown", "3", "value", "text", "", "masked", ""
    )
    assert next(left, None) is None
    assert 'relation = "years of age"' in toml
    assert f'values = "{ValueView.CLEAR.value}"' in toml
    assert "mask = true" in toml


def test_an_answer_that_cannot_be_is_asked_again(tmp_path: Path) -> None:
    toml, _ = answered(tmp_path, "99", "1", "unused", "")
    assert 'key = "customer_id"' in toml
