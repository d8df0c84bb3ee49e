"""Tables as people keep them: lines of totals, a sheet for each year, a header of two lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from kg_store.proposals.propose import read_and_propose
from tests.support.stores import written

SALES = "Product;Region;Units;Revenue\nLamp;North;12;1.340,50\nChair;South;7;910,00\nDesk;North;3;1.200,00\n"


@pytest.mark.parametrize(
    ("last", "is_told"),
    [
        ("Total;;22;3.450,50", True),
        ("Total;all;22;", True),
        ("Shelf;West;9;450,25", False),
        ("Bed;West;22;1,00", False),
    ],
)
def test_a_line_of_totals_is_told(tmp_path: Path, last: str, is_told: bool) -> None:
    raw, _ = read_and_propose([written(tmp_path, SALES + last, "sales.csv")])
    assert any(note.startswith("the last row of sales.csv holds the sums") for note in raw.notes) == is_told


def test_sheets_of_the_same_columns_are_told_since_their_names_are_not_read(tmp_path: Path) -> None:
    book = Workbook()
    for year in (2023, 2024):
        sheet = book.create_sheet(str(year))
        for row in (["Member", "Fee"], ["Ann Lee", 50], ["Bob Ray", 60], ["Cy Dorn", 70]):
            sheet.append(row)
    book.save(tmp_path / "members.xlsx")
    raw, _ = read_and_propose([tmp_path / "members.xlsx"])
    assert any(note.startswith("2 sheets of members.xlsx have the same columns: ") for note in raw.notes)


def test_the_last_group_of_a_header_of_two_lines_may_be_longer_than_its_first_line(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Results"], [], ["Branch", "Sales", None, "Staff"], [None, "Q1", "Q2", "Q1", "Q2"]):
        sheet.append(row)
    for at, town in enumerate(("Kiel", "Ulm", "Bonn", "Jena", "Trier")):
        sheet.append([town, 90 + at, 95 - at, 3 + at, 8 - at])
    book.save(tmp_path / "quarter.xlsx")
    (table,) = read_and_propose([tmp_path / "quarter.xlsx"])[1].tables
    assert {*table.columns} == {"Sales Q1", "Sales Q2", "Staff Q1", "Staff Q2"}
