"""Workbooks: each sheet a table, what is no plain cell told by its place, and bombs refused while they are packed."""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from kg_store.errors import LoadError
from kg_store.formats import workbooks
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.table_files import sheets_of
from tests.kg_store.sources.test_table_files import rows


def workbook(folder: Path) -> Path:
    book = openpyxl.Workbook()
    patients = book.active
    patients.title = "Patients"
    patients.append(["patient_id", "name", "born", "weight", "ward_id"])
    for number in range(1, 7):
        patients.append([f"P{number}", f"Zofia Quarrel {'ABCDEF'[number - 1]}", date(1961, 2, number), 71.5, "W1"])
    wards = book.create_sheet("Wards")
    wards.append(["ward_id", "ward_name"])
    wards.append(["W1", "Kestrel Wing"])
    wards.append(["W2", "=A2"])
    wards["C2"] = None
    patients["D4"] = "#N/A"
    patients["D4"].data_type = "e"
    wards.merge_cells("A5:B5")
    book.create_sheet("Empty")
    path = folder / "clinic.xlsx"
    book.save(path)
    return path


def test_every_filled_sheet_is_a_table_and_references_lead_between_them(tmp_path: Path) -> None:
    raw, policy = read_and_propose([workbook(tmp_path)])
    assert {table.file: table.key for table in policy.tables} == {
        "clinic.xlsx/Patients": "patient_id",
        "clinic.xlsx/Wards": "ward_id",
    }
    assert {("P1", "ward", "W1"), ("P1", "born", "1961-02-01"), ("W1", "label", "Kestrel Wing")} <= rows(raw)


def test_formulas_errors_and_merged_cells_are_told_by_their_place(tmp_path: Path) -> None:
    notes = read_and_propose([workbook(tmp_path)])[0].notes
    assert "1 cells of clinic.xlsx/Patients hold an error and were left out (the first at D4)" in notes
    assert any(note.startswith("1 formulas of clinic.xlsx/Wards have no stored result") for note in notes)
    assert any("(the first at A5)" in note for note in notes)
    assert not any("Quarrel" in note or "Kestrel" in note for note in notes)


def test_a_workbook_with_one_huge_cell_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MAX_TIGHT_BYTES", 1 << 20)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b"<c><is><t>" + b"x" * (2 << 20) + b"</t></is></c>")
    with pytest.raises(LoadError, match="packed as no program packs one"):
        sheets_of(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "MAX_WORKBOOK_BYTES", 1 << 20)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b" " * (2 << 20))
    with pytest.raises(LoadError, match="unpacks to more than 1 MB"):
        sheets_of(path)
