"""Tables as people keep them: lines of totals, a sheet for each year, a header of two lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy
from tests.kg_store.sources.test_table_files import rows
from tests.support.stores import written

SALES = "Product;Region;Units;Revenue\nLamp;North;12;1.340,50\nChair;South;7;910,00\nDesk;North;3;1.200,00\n"


def rows_of(raw: RawGraph) -> set[str]:
    return {raw.text(at) for at in raw.subjects.tolist() if ":row:" in raw.text(at)}


@pytest.mark.parametrize(
    ("last", "is_total"),
    [
        ("Total;;22;3.450,50", True),
        ("Total;all;22;", True),
        ("Total;;22;", True),
        ("Shelf;West;9;450,25", False),
        ("Bed;West;22;1,00", False),
    ],
)
def test_a_last_row_of_totals_is_left_out_and_told(tmp_path: Path, last: str, is_total: bool) -> None:
    file = written(tmp_path, SALES + last, "sales.csv")
    raw, policy = read_and_propose([file])
    (table,) = policy.tables
    assert table.totals == is_total
    assert any(note.startswith("1 last rows of sales.csv hold the sums") for note in raw.notes) == is_total
    assert len(rows_of(raw)) == (3 if is_total else 4)
    kept = policy.model_copy(update={"tables": (table.model_copy(update={"totals": False}),)})
    assert len(rows_of(read_by_policy([file], kept))) == 4


def test_a_row_that_may_be_no_total_is_kept_and_told(tmp_path: Path) -> None:
    raw, policy = read_and_propose(
        [written(tmp_path, "Product;Region;Units\nTea;North;3\nMilk;South;2\nRice;North;4\nOil;West;9\n", "sales.csv")]
    )
    assert (policy.tables[0].totals, len(rows_of(raw))) == (False, 4)
    assert any(note.startswith("the last row of sales.csv holds the sums") for note in raw.notes)


def test_comments_between_rows_and_a_few_cells_without_a_column_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = [f"{at},Member {at},Town {at % 3}," for at in range(101, 141)]
    lines[7] += "see below"
    lines.insert(20, "# Joined in spring")
    lines.insert(30, "# Joined in autumn,,,")
    raw, _ = read_and_propose([written(tmp_path, "\n".join(["no,name,town,", *lines]), "members.csv")])
    assert len(rows_of(raw)) == 40
    assert {
        "2 lines of members.csv are comments that begin with #, and were left out",
        "1 lines of members.csv have a cell in a column without a name, which was left out",
    } <= {*raw.notes}
    many = "\n".join(["no,name,town,", *(f"{line}x" for line in lines if line[0] != "#")])
    with pytest.raises(LoadError, match="a column without a name"):
        read_and_propose([written(tmp_path, many, "other.csv")])


def test_a_column_may_be_called_by_a_sign_alone(tmp_path: Path) -> None:
    owners = "id,name\n" + "".join(f"{at},Owner {at}\n" for at in range(101, 140))
    signs = "$,#\n" + "".join(f"x{at},{at}\n" for at in range(101, 130))
    raw, _ = read_and_propose([written(tmp_path, owners, "owners.csv"), written(tmp_path, signs, "signs.csv")])
    assert len(rows_of(raw)) == 39 + 29


def test_a_row_of_totals_may_have_no_key(tmp_path: Path) -> None:
    raw, policy = read_and_propose([written(tmp_path, SALES + ";;22;3.450,50", "sales.csv")])
    assert (policy.tables[0].key, policy.tables[0].totals, len(rows_of(raw))) == ("Product", True, 3)


def test_a_last_row_that_holds_no_sums_is_kept_whatever_the_policy_says(tmp_path: Path) -> None:
    policy = read_and_propose([written(tmp_path, SALES + "Total;;22;3.450,50", "sales.csv")])[1]
    later = written(tmp_path, SALES, "sales.csv")
    assert len(rows_of(read_by_policy([later], policy))) == 3


def book_of(folder: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = Workbook()
    del book["Sheet"]
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    book.save(folder / "members.xlsx")
    return folder / "members.xlsx"


MEMBERS: list[list[object]] = [["Member", "Fee"], ["Ann Lee", 50], ["Bob Ray", 60], ["Cy Dorn", 70]]


@pytest.mark.parametrize(
    ("names", "part", "cells"),
    [
        (("2023", "2024"), "year", {"2023", "2024"}),
        (("Fees 2023", "Fees 2024"), "year", {"2023", "2024"}),
        (("Q1 2024", "Q2 2024"), "period", {"Q1", "Q2"}),
        (("North", "South"), "sheet", {"North", "South"}),
        (("Kiel", "Trier"), "sheet", {"Kiel", "Trier"}),
    ],
)
def test_sheets_that_differ_by_a_time_or_place_are_one_table(
    tmp_path: Path, names: tuple[str, ...], part: str, cells: set[str]
) -> None:
    file = book_of(tmp_path, {**dict.fromkeys(names, MEMBERS), "Other": [["Ward", "Beds"], ["Ash", 5], ["Elm", 7]]})
    raw, policy = read_and_propose([file])
    one, other = sorted(policy.tables, key=lambda table: table.part is None)
    assert (one.part, set(one.columns[part].label(part).split()), other.file) == (part, {part}, "members.xlsx/Other")
    assert {words for _, relation, words in rows(raw) if relation == part} == cells
    assert len(rows_of(raw)) == 2 * 3 + 2
    assert any(
        note.startswith(f"2 files or sheets of the same columns were read as one table, {one.file}")
        for note in raw.notes
    )
    assert len(rows_of(read_by_policy([file], policy))) == 8


def test_a_sheet_with_settings_of_its_own_is_apart(tmp_path: Path) -> None:
    file = book_of(tmp_path, {"2023": MEMBERS, "2024": MEMBERS})
    policy = read_and_propose([file])[1]
    (table,) = policy.tables
    own = table.model_copy(update={"file": "members.xlsx/2024", "concept": "guest", "part": None})
    columns = {name: each for name, each in table.columns.items() if name != "year"}
    own = own.model_copy(update={"columns": columns})
    raw = read_by_policy([file], policy.model_copy(update={"tables": (table, own)}))
    assert (
        sorted(kind for _, relation, kind in rows(raw) if relation == "type")
        == ["guest"] * 3 + ["member"] * 3 + ["member%20year"] * 3
    )


@pytest.mark.parametrize(("names", "count"), [(("Customers", "Suppliers"), 2), (("Sheet1", "Sheet2"), 2)])
def test_sheets_whose_names_say_what_their_rows_are_stay_apart(
    tmp_path: Path, names: tuple[str, ...], count: int
) -> None:
    raw, policy = read_and_propose([book_of(tmp_path, dict.fromkeys(names, MEMBERS))])
    assert len(policy.tables) == count
    assert any(note.startswith("2 sheets of members.xlsx have the same columns: ") for note in raw.notes)


VISITS = "Ticket No,Guest,Paid\n{0}1,Ann Lee,50\n{0}2,Bob Ray,60\n{0}3,Cy Dorn,70\n"


@pytest.mark.parametrize(
    ("files", "file", "part"),
    [
        ({"north.csv": "N", "south.csv": "S"}, "*.csv", "file"),
        ({"visits-2023.csv": "N", "visits-2024.csv": "S"}, "visits-*.csv", "year"),
        ({"visits_kiel.csv": "T", "visits_trier.csv": "T"}, "visits_*.csv", "file"),
    ],
)
def test_files_that_differ_by_a_time_or_place_are_one_table(
    tmp_path: Path, files: dict[str, str], file: str, part: str
) -> None:
    """Where tickets are numbered anew in each, the file is a part of the key."""
    for name, mark in files.items():
        (tmp_path / name).write_text(VISITS.format(mark), "utf-8")
    raw, policy = read_and_propose(sorted(tmp_path.iterdir()))
    (table,) = policy.tables
    assert (table.file, table.part, table.key) == (file, part, "Ticket No")
    assert table.key_beside == ((part,) if "T" in files.values() else ())
    assert len(rows_of(raw)) == 6


def test_files_of_one_header_whose_names_say_what_their_rows_are_stay_apart(tmp_path: Path) -> None:
    for name in ("actor.csv", "author.csv", "kunden.csv"):
        (tmp_path / name).write_text(VISITS.format(name[0]), "utf-8")
    assert len(read_and_propose(sorted(tmp_path.iterdir()))[1].tables) == 3


SHOPS: list[list[object]] = [["Aldo", 3, 40, 5, 60], ["Berta", 4, 50, 6, 70], ["Carla", 5, 60, 7, 80]]


@pytest.mark.parametrize(
    "above",
    [
        [["Sales"], ["Shop", "2023", None, "2024", None], [None, "Units", "Euro", "Units", "Euro"]],
        [["Sales"], [], ["Shop", 2023, None, 2024, None], [None, "Units", "Euro", "Units", "Euro"]],
        [["Sales"], [None, "2023", None, "2024", None], ["Shop", "Units", "Euro", "Units", "Euro"]],
        [[None, "2023", None, "2024", None], ["Shop", "Units", "Euro", "Units", "Euro"]],
    ],
)
def test_a_header_of_two_lines_needs_no_more_than_three_rows(tmp_path: Path, above: list[list[object]]) -> None:
    file = book_of(tmp_path, {"Shops": [*above, *SHOPS]})
    raw, policy = read_and_propose([file])
    (table,) = policy.tables
    assert (table.names, [*table.columns]) == (("Shop",), ["2023 Units", "2023 Euro", "2024 Units", "2024 Euro"])
    assert len(rows_of(raw)) == len(rows_of(read_by_policy([file], policy))) == len(SHOPS)


def test_rows_of_texts_below_a_title_are_never_taken_for_a_header_of_two_lines(tmp_path: Path) -> None:
    lines: list[list[object]] = [["Guests"], ["Ann Lee", "Kiel", None], [None, "Ulm", "Bonn"]]
    lines += [["Bo Ray", "Jena", "Ulm"], ["Cy Dorn", "Trier", "Kiel"], ["Di Voss", "Ulm", "Jena"]]
    with pytest.raises(LoadError, match=r"say its line as `header_row`|the header has 1"):
        read_and_propose([book_of(tmp_path, {"Guests": lines})])


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
