"""Proposals for tables: what is proposed for files, what a load of them holds, or why they are refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from kg_store.errors import LoadError
from kg_store.loading.load import load_graph
from kg_store.proposals.propose import preview, read_and_propose
from kg_store.proposals.table_proposals import propose_tables
from kg_store.sources.reader import read_by_policy, read_sources
from kg_store.sources.table_policy import ColumnPolicy, TablePolicy
from tests.kg_store.loading.test_load import facts_of
from tests.support.stores import MID_KEY

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("proposals.toml").read_text("utf-8"))["files"]


def files_of(folder: Path, case: dict[str, Any]) -> list[Path]:
    for name, text in case["of"].items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def told(table: TablePolicy) -> list[str]:
    """Returns the proposal for a table in words: a line for itself and one for each column that is read."""
    names = ", ".join(name if isinstance(name, str) else " + ".join(name) for name in table.names)
    first = [table.file, f"of {table.concept}", f"key {table.key}", f"names {names}"]
    first += [f"header in {table.header_row}"] if table.header_row is not None else []
    first += [f"nothing is {table.empty}"] if table.empty else []
    first += ["things"] if table.things else []
    return ["; ".join(first), *(f"{name}: {told_column(column)}" for name, column in table.columns.items())]


def told_column(column: ColumnPolicy) -> str:
    if column.table:
        what = [f"reference {column.table}"] + ([f"by {column.by}"] if column.by else [])
    elif column.concept:
        what = [f"concept {column.concept}"]
    else:
        what = [f"{column.kind.value} {column.unit or ''}".strip()]
    what += [f"parted by {column.separator}"] if column.separator else []
    what += [f"nothing is {column.empty}"] if column.empty else []
    return ", ".join(what)


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_what_is_proposed_for_files_is_what_their_case_says(tmp_path: Path, case: dict[str, Any]) -> None:
    files = files_of(tmp_path, case)
    if "refused" in case:
        with pytest.raises(LoadError) as caught:
            read_and_propose(files)
        assert case["refused"] in str(caught.value)
        return
    raw, policy = read_and_propose(files)
    assert [line for table in policy.tables for line in told(table)] == case["tables"]
    assert {kind: list(told.words) for kind, told in policy.classes.items()} == case.get("words", {})
    assert list(raw.notes) == case.get("notes", [])
    assert read_by_policy(files, policy).terms == raw.terms
    facts = {" - ".join(fact) for fact in facts_of(load_graph(raw, policy, MID_KEY))}
    assert facts >= set(case.get("holds", []))
    assert facts.isdisjoint(case.get("lacks", []))


def test_each_join_is_told_with_the_share_of_its_cells_that_lead_to_a_row(tmp_path: Path) -> None:
    (tmp_path / "staff.csv").write_text("id,name,boss id\n1,Ann,\n2,Bo,1\n3,Cy,1\n4,Di,9\n", "utf-8")
    raw, policy = read_and_propose([tmp_path / "staff.csv"])
    assert raw.joins == preview(raw, policy).joins == ("staff.csv boss id -> staff.csv id, 2 of 3",)


def test_a_relation_of_rows_that_join_things_is_none_of_things(tmp_path: Path) -> None:
    """Of the two clerks of an office, one was in another before: that office has no third clerk without a name."""
    files = {
        "offices.csv": "office_id,office_name\n31,North\n32,South\n33,West\n34,East\n",
        "clerks.csv": "clerk_id,clerk_name,office_id\n71,Ann,31\n72,Bo,31\n73,Cy,32\n74,Di,33\n75,Eve,34\n",
        "history.csv": "clerk_id,office_id,days\n71,32,40\n72,33,41\n73,31,42\n74,34,43\n73,33,44\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    _, policy = read_and_propose([tmp_path / name for name in files])
    told = {table.file: {name: each.own for name, each in table.columns.items()} for table in policy.tables}
    assert told["history.csv"]["office_id"]
    assert not told["clerks.csv"]["office_id"]
    assert not told["history.csv"]["days"]


def test_two_rows_of_one_name_are_no_reference_and_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,name\n1,Ann\n2,Ann\n3,Bo\n", "utf-8")
    (tmp_path / "b.csv").write_text("id,name,of\nx,X,Ann\ny,Y,Bo\n", "utf-8")
    tables = [
        TablePolicy(file="a.csv", key="id", names=("name",)),
        TablePolicy(file="b.csv", key="id", names=("name",), columns={"of": ColumnPolicy(table="a.csv", by="name")}),
    ]
    raw = read_sources([tmp_path / "a.csv", tmp_path / "b.csv"], tables=tables)
    assert raw.notes == ("1 references of b.csv could mean several rows and were kept as text (the first in line 2)",)
    tables[1] = tables[1].model_copy(update={"columns": {"of": ColumnPolicy(table="a.csv", by="nom")}})
    with pytest.raises(LoadError, match="a\\.csv, line 1: the header has no column for `by`"):
        read_sources([tmp_path / "a.csv", tmp_path / "b.csv"], tables=tables)
    with pytest.raises(ValueError, match="`by` is a column of a table"):
        ColumnPolicy(by="name")


def test_files_of_one_table_are_each_read_in_their_own_encoding(tmp_path: Path) -> None:
    (tmp_path / "orders-north.csv").write_text("id,name,city\n1,Zoë,Tarn\n2,Bo,Osk\n", "latin-1")
    (tmp_path / "orders-south.csv").write_text("id,name,city\n3,Chloë,Tarn\n4,Di,Osk\n", "utf-16")
    raw, policy = read_and_propose(sorted(tmp_path.iterdir()))
    assert [table.file for table in policy.tables] == ["orders-*.csv"]
    read = read_by_policy(sorted(tmp_path.iterdir()), type(policy).from_toml(policy.to_toml()))
    assert read.terms == raw.terms
    assert {"Zoë", "Chloë"} <= {raw.literal(at).lexical for at in set(raw.objects.tolist()) if not raw.is_iri(at)}


def test_a_workbook_as_people_export_it_is_read(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet["B1"], sheet["B3"], sheet["C3"] = "Staff of the mill", "as of", "2024-05-01"
    sheet.merge_cells("B1:E1")
    rows = [("Name", "City", "Boss"), ("Ada Quill", "Tarn", "Bo Reed"), ("Bo Reed", "Osk", None)]
    for line, row in enumerate(rows, start=5):
        for column, value in zip("BCD", row, strict=True):
            sheet[f"{column}{line}"] = value
    file = tmp_path / "staff.xlsx"
    workbook.save(file)
    (staff,) = propose_tables([file]).tables
    assert (staff.header_row, staff.key, list(staff.columns)) == (5, "Name", ["City", "Boss"])
    facts = facts_of(load_graph(*read_and_propose([file]), MID_KEY))
    assert ("Ada Quill", "city", "Tarn") in facts


def test_a_line_above_the_header_may_be_named_by_the_policy(tmp_path: Path) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("List,of,staff\nName,City,Boss\nAda Quill,Tarn,\n", "utf-8")
    columns = {"City": ColumnPolicy(concept="city")}
    policy = TablePolicy(file="staff.csv", key="Name", names=("Name",), header_row=2, columns=columns)
    raw = read_sources([file], tables=[policy])
    assert len(raw.subjects) > 0


def test_a_sheet_with_a_title_and_no_certain_header_asks_for_its_line(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in (["Our people"], ["Ada Quill", "fuller", "Tarn"], ["Bo Reed", "tanner", "Osk"]):
        sheet.append(row)
    file = tmp_path / "people.xlsx"
    workbook.save(file)
    with pytest.raises(LoadError, match="say its line as `header_row`"):
        read_and_propose([file])


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("bytes.csv", "id,name\n1,Мурзилка\n2,Зоя\n".encode("cp1251"), "the file is not UTF-8 text: save it anew"),
        ("book.xlsx", b"PK\x03\x04 and then nothing", "not a workbook that can be read"),
    ],
)
def test_bytes_that_are_no_table_are_told_as_such(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LoadError, match=rf"{name}[^:]*: {reason}"):
        read_and_propose([tmp_path / name])


def test_a_column_called_by_a_unit_holds_what_it_measures_unless_it_may_be_short_for_anything(tmp_path: Path) -> None:
    rows = "\n".join(f"Team {at},{at * 2},{at * 3},{at * 4}" for at in range(1, 12))
    (tmp_path / "teams.csv").write_text(f"team,W,HA,Kg\n{rows}\n")
    (table,) = read_and_propose([tmp_path / "teams.csv"])[1].tables
    assert [table.columns[name].relation for name in ("W", "HA", "Kg")] == ["w", "ha", "weight"]


def test_rows_are_called_by_the_column_of_their_kind_also_where_other_tables_hold_its_cells(tmp_path: Path) -> None:
    drivers = [
        ("Ada Holm", "HOL"),
        ("Bo Frost", "FRO"),
        ("Cy Lund", "LUN"),
        ("Di Vale", "VAL"),
        ("Eva Moss", "MOS"),
        ("Fay Orr", "ORR"),
    ]
    rows = "\n".join(f"{name},{short},{at}" for at, (name, short) in enumerate(drivers, start=3))
    (tmp_path / "drivers.csv").write_text(f"Driver,Abbreviation,No\n{rows}\n")
    results = [
        f"{track},{at},{name},{at * 7}"
        for track in ("Marsh Ring", "Fell Ring", "Sand Ring")
        for at, (name, _) in enumerate(drivers)
    ]
    owners = [
        *(name for name, _ in drivers),
        *(f"{first} Holt" for first in ("Gil", "Hal", "Ina", "Jo", "Kit", "Lou")),
    ]
    tracks = "\n".join(f"Ring {at},{owner},{at * 3},{at * 5}" for at, owner in enumerate(owners))
    (tmp_path / "tracks.csv").write_text(f"Track,Record Owner,Laps,Turns\n{tracks}\n")
    for name, what in (("results", "Place"), ("votes", "Share")):
        (tmp_path / f"{name}.csv").write_text("\n".join([f"Track,{what},Driver,Points", *results]))
    tables = {table.file: table for table in read_and_propose(sorted(tmp_path.glob("*.csv")))[1].tables}
    assert tables["drivers.csv"].names[0] == "Driver"
    assert tables["results.csv"].columns["Driver"].table == "drivers.csv"
