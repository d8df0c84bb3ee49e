"""Sets of files with a README of questions: loaded as they are, asked, and judged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evaluation.tables.own_data import answers_markdown, judged, measures, read_sets, run_own_data

README = """# Files
## ships: CSV
- **Questions**:
  - Who is the captain of Petrel? — **Ivo Lund**
  - How many ships are there? — **3**
  - Which harbour has Petrel? — **Oskham**

## torn: a broken file
- Who is it? — **nobody**

## gone: no folder
- Who? — **x**
"""
SHIPS = "ship,captain,harbour\nPetrel,Ivo Lund,Eskport\nGannet,Mara Quist,Oskham\nDunlin,Runa Falk,Eskport\n"


@pytest.mark.model
@pytest.mark.slow
def test_what_loads_is_asked_and_what_does_not_is_told(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(README, "utf-8")
    for name, file, text in (("ships", "ships.csv", SHIPS), ("torn", "torn.ttl", "<a> <b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text, "utf-8")
    (tmp_path / "ships" / "LICENSE.txt").write_text("free", "utf-8")
    assert [each.name for each in read_sets(tmp_path)] == ["ships", "torn"]
    ships, torn = asyncio.run(run_own_data(tmp_path, "", lambda *_: None))
    assert [verdict for _, verdict, _ in ships.verdicts] == ["right", "right", "wrong"]
    assert torn.problem.startswith("torn.ttl")
    loaded, right, wrong = measures([ships, torn])
    assert (loaded.reached, right.reached, wrong.reached) == ("0.500", "0.500", "0.333")
    assert not any(measure.passed for measure in (loaded, right, wrong))
    assert "- wrong: Which harbour has Petrel? (Oskham)" in answers_markdown([ships, torn])


@pytest.mark.parametrize(
    ("gold", "names", "verdict"),
    [
        ("Ann, Bo", ("Bo", "Ann"), "right"),
        ("Ann, Bo", ("Bo",), "wrong"),
        ("Hep B, adult, Flu, seasonal", ("Hep B, adult", "Flu, seasonal"), "right"),
        ("('Ann Lee', 7)", ("Ann Lee",), "right"),
        ("Ann Lee: 219", ("Mrs. Ann Lee",), "right"),
        ("Ann, Bo", ("Bo", "Cy"), "wrong"),
        ("93", ("96",), "wrong"),
        ("Ann, Bo", ("Bo", "2", "Ann"), "right"),
        ("Ann, Bo", ("Bo", "3", "Ann"), "wrong"),
        ("93", (), "refused"),
        ("7", ("17",), "wrong"),
        ("Bo (1993)", ("Bo: 1993",), "right"),
        ("Ann Lee, 1994-02-01", ("Mr. Ann Lee: 1994-02-01",), "right"),
        ("Ann, Bo", ("name: Ann; rank: 1", "name: Bo; rank: 1"), "right"),
        ("Ann, Bo", ("name: Ann; rank: 1", "name: Cy; rank: 1"), "wrong"),
        ("(905) 555", ("(905) 555", "(905) 666"), "wrong"),
    ],
)
def test_an_answer_is_judged_by_what_it_names(gold: str, names: tuple[str, ...], verdict: str) -> None:
    assert judged(gold, names or None) == verdict
