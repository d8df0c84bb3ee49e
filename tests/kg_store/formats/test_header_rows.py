"""Headers of several lines, below titles: the names of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.sources.table_files import sheets_of

BANDS = """Election 2013, provisional;
As of 3 May;
No;Area;belongs;Entitled;;Votes;;;
;;to;2009;2013;Left;;Right;
;;;;;2009;2013;2009;2013
1;Eskport;9;10;11;12;13;14;15
2;Oskham;9;20;21;22;23;24;25
"""
NAMES = [
    "No", "Area", "belongs to", "Entitled 2009", "Entitled 2013",
    "Votes Left 2009", "Votes Left 2013", "Votes Right 2009", "Votes Right 2013",
]  # fmt: skip


def test_a_header_of_several_lines_names_each_column(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(BANDS, "utf-8")
    (sheet,) = sheets_of(tmp_path / "votes.csv")
    (line, header), *rows = sheet.lines()
    assert (line, header) == (3, NAMES)
    assert [cells[1] for _, cells in rows] == ["Eskport", "Oskham"]


@pytest.mark.parametrize(
    "text", ["name;;city\nAnn;x;Osk\nBo;y;Tarn\n", "name;age;city\n;4;Osk\n;5;Tarn\n"], ids=["a gap", "no names"]
)
def test_rows_are_no_part_of_a_header(tmp_path: Path, text: str) -> None:
    (tmp_path / "people.csv").write_text(text, "utf-8")
    (sheet,) = sheets_of(tmp_path / "people.csv")
    if ";;" in text:
        with pytest.raises(Exception, match="a name for every column"):
            sheet.header()
    else:
        assert sheet.header() == ["name", "age", "city"]
