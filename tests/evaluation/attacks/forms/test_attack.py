"""The run over the service has a line for every family, and its lines fail where they should."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from evaluation.attacks import forms
from evaluation.attacks.forms.attack import JudgedCase, lines
from evaluation.attacks.forms.corpus.made_up import table_files
from evaluation.attacks.forms.judge import Verdict
from evaluation.attacks.forms.tables import LoadedTable, cells_in
from evaluation.attacks.forms.tables import lines as table_lines
from evaluation.attacks.table import run_attacks
from tests.evaluation.attacks.forms.made_cases import case, payload


def judged(leaked: set[str], is_everyday: bool = False, found: bool = True) -> JudgedCase:
    return JudgedCase(case("quillmore"), Verdict(frozenset(leaked), is_everyday), False, True, found)


def missed(found: list[JudgedCase]) -> list[str]:
    return [line.name for line in lines(found) if not line.passed]


def test_a_leak_misses_its_bound() -> None:
    assert missed([judged({"quillmore"})]) == ["forms, 3 surnames alone"]
    assert missed([judged(set())]) == []


def test_everyday_words_miss_their_own_bound_and_are_listed() -> None:
    found = lines([judged({"rose"}, is_everyday=True), *[judged(set())] * 40])
    assert not next(line for line in found if "everyday" in line.name).passed
    assert next(line for line in found if "everyday" in line.name).note == "rose 1"
    assert missed([judged({"rose"}, is_everyday=True), *[judged(set())] * 99]) == []


def test_a_judge_that_sees_nothing_misses_the_control() -> None:
    assert missed([judged(set(), found=False)]) == ["forms, found in the same questions with the rule off"]


def test_a_cell_in_a_relation_misses_its_bound_and_a_refused_file_does_not() -> None:
    file = table_files()[1]
    age = next(cell for cell in sorted(file.cells) if cell.isdigit())
    assert cells_in(file, [payload("who", path=age)]) == {age}
    assert not cells_in(file, [payload("who", path="city")])
    assert not table_lines([LoadedTable(False, frozenset({age}), True)])[0].passed
    assert all(line.passed for line in table_lines([LoadedTable(True, frozenset(), True)]))


def test_the_judge_and_the_families_share_nothing_with_what_is_judged() -> None:
    errors_alone = {"app.privacy.safe_text", "app.egress.guard", "kg_store.errors", "kg_store.terms"}
    for file in Path(forms.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        judged = {module for module in modules if module.startswith(("app.privacy", "app.egress", "kg_store"))}
        assert judged <= errors_alone, file.name
        assert not any(isinstance(node, ast.Import) and "kg_store" in ast.dump(node) for node in ast.walk(tree))


@pytest.mark.slow
@pytest.mark.model
async def test_the_service_is_asked_by_every_family_and_nothing_of_a_name_leaves() -> None:
    found = await run_attacks("forms", limit=1)
    names = [line.name for line in found]
    assert [name for number in range(1, 13) for name in names if name.startswith(f"forms, {number} ")]
    assert len({name.split(" ")[1] for name in names if name[7:8].isdigit()}) == 12
    assert all(line.passed for line in found if line.control is not None)
    # Of labels, rare words of the dictionary in small letters are not all replaced yet.
    assert [line.name for line in found if not line.passed and line.name != "forms, 5 middle words of labels"] == []
