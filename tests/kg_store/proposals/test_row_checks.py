"""Large tables: a preview of the first rows, and a check of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.formats.delimited_text import first_rows_alone
from kg_store.proposals import row_checks
from kg_store.proposals.propose import propose_policy
from kg_store.proposals.row_checks import check_rows, large_tables

ROWS = "id,name,length,launched\nF1,Petrel,41,2016-04-02\nF2,Gannet,38,2017-01-09\nF3,Tern,36,2019-11-30\n"
FURTHER = "F2,Skua,tbc,pending\nF4,Heron,33,pending\nF5,Egret,,2014-08-19\n"


@pytest.fixture
def ferries(tmp_path: Path) -> Path:
    path = tmp_path / "ferries.csv"
    path.write_text(ROWS + FURTHER, "utf-8")
    return path


def test_all_rows_are_checked_against_what_the_first_ones_propose(ferries: Path) -> None:
    with first_rows_alone(4):
        policy = propose_policy([ferries])
    shares: list[float] = []
    assert check_rows([ferries], policy.tables, shares.append) == (
        "6 rows of ferries.csv were checked",
        "1 rows of ferries.csv have the key of an earlier row, so a load would stop: say another `key` or none",
        "1 cells of length are no number and stay text (the first in line 5)",
        "1 cells of length are empty, or say that nothing is known",
        "2 cells of launched are no date and stay text (the first in line 5)",
    )
    assert shares[-1] == 1.0


def test_a_broken_line_ends_the_check_with_what_a_load_would_say(ferries: Path) -> None:
    with first_rows_alone(4):
        policy = propose_policy([ferries])
    ferries.write_text(ROWS + "F4,Heron,33,2014-08-19,9\nF5,Egret,30,2014-08-19\n", "utf-8")
    notes = check_rows([ferries], policy.tables, lambda _share: None)
    assert notes[0] == "3 rows of ferries.csv were checked"
    assert "A load would stop here" in notes[1]
    assert "5 cells" in notes[1]


def test_only_large_text_files_are_previewed_by_their_first_rows(
    ferries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert large_tables([ferries]) == []
    monkeypatch.setattr(row_checks, "LARGE_BYTES", 20)
    (ferries.parent / "graph.ttl").write_text("# " + "x" * 50, "utf-8")
    assert large_tables(sorted(ferries.parent.iterdir())) == [ferries]
