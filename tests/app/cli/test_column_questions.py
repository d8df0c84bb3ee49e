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


def answered(folder: Path, *answers: str | BaseException) -> tuple[str, Iterator[str | BaseException]]:
    files = [written(folder, CUSTOMERS, "customers.csv")]
    raw, policy = read_and_propose(files)
    left = iter(answers)

    def ask(*_: object, default: str = "", **__: object) -> str:
        answer = next(left)
        if isinstance(answer, BaseException):
            raise answer
        return answer or default

    changed = ask_columns(Console(file=StringIO(), width=200), files, raw, policy, ask)
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


def test_a_way_back_leaves_a_column_and_undo_the_change_before(tmp_path: Path) -> None:
    files = [written(tmp_path, CUSTOMERS, "customers.csv")]
    proposed = read_and_propose(files)[1].to_toml()
    assert answered(tmp_path, "4", "value", "number", "back", "")[0] == proposed
    assert answered(tmp_path, "4", KeyboardInterrupt(), "")[0] == proposed
    assert answered(tmp_path, "4", "unused", "undo", "")[0] == proposed
    assert answered(tmp_path, "undo", "")[0] == proposed


def test_a_change_that_the_files_do_not_bear_keeps_those_before(tmp_path: Path) -> None:
    files = [
        written(tmp_path, "id,name,boss\n1,Ann,\n2,Bo,1\n", "a.csv"),
        written(tmp_path, CUSTOMERS, "customers.csv"),
    ]
    raw, policy = read_and_propose(files)
    left = iter(["4", "unused", "5", "key", ""])
    console = Console(file=StringIO(), width=200)
    changed = ask_columns(console, files, raw, policy, lambda *_, default="", **__: next(left) or default)
    assert next(left, None) is None
    assert changed != policy


def test_an_answer_that_cannot_be_is_asked_again(tmp_path: Path) -> None:
    toml, _ = answered(tmp_path, "99", "1", "unused", "")
    assert 'key = "customer_id"' in toml
