"""Files that are parts of one table are read as one; a file that can't be read stops no other, and is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.loading.load import MAX_RELATIONS_OF_FEW, load_graph, nonsense_of
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.reader import read_by_policy
from kg_store.terms import NodeKind

ORDERS = "id,customer,weight,placed\n"


def written(folder: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths


def test_numbered_files_of_one_header_are_one_table(tmp_path: Path) -> None:
    for month in (1, 2):
        (tmp_path / f"orders-2024-{month}.csv").write_text(ORDERS + f"{month}1,Quillow,3,2024-01-01\n", "utf-8")
    files = sorted(tmp_path.iterdir())
    raw, policy = read_and_propose(files)
    assert [(table.file, table.key, table.concept) for table in policy.tables] == [
        ("orders-2024-*.csv", "id", "order")
    ]
    assert {term for term in raw.terms if ":row:" in term} == {
        "<urn:arog:row:orders-2024-%2A:11>", "<urn:arog:row:orders-2024-%2A:21>",
    }  # fmt: skip
    assert read_by_policy(files, policy).terms == raw.terms


def test_files_that_number_their_rows_anew_do_not_make_one_thing_of_two(tmp_path: Path) -> None:
    """Neither when a policy is proposed, nor when such a file comes later, under a policy whose key was one."""
    for month in (1, 2):
        (tmp_path / f"orders-2024-{month}.csv").write_text(ORDERS + f"{month},Q{month},3,2024-01-01\n", "utf-8")
    policy = read_and_propose(sorted(tmp_path.iterdir()))[1]
    (tmp_path / "orders-2024-3.csv").write_text(ORDERS + "1,Q3,5,2024-03-01\n", "utf-8")
    files = sorted(tmp_path.iterdir())
    raw, anew = read_and_propose(files)
    assert [(table.file, table.key) for table in anew.tables] == [("orders-2024-*.csv", None)]
    assert len({raw.text(at) for at in raw.subjects.tolist() if ":row:" in raw.text(at)}) == 3
    with pytest.raises(LoadError, match="stands in another file of this table too"):
        read_by_policy(files, policy)


def test_tables_that_share_a_header_by_chance_stay_apart(tmp_path: Path) -> None:
    files = written(tmp_path, staff_csv="id,name\n1,Ada\n2,Bo\n", clients_csv="id,name\n1,Cy\n2,Dee\n")
    assert {table.file for table in read_and_propose(files)[1].tables} == {"staff.csv", "clients.csv"}


def test_files_of_one_name_in_several_folders_are_one_table_and_may_lack_columns(tmp_path: Path) -> None:
    files = written(
        tmp_path, at__towns_csv="code,name,people\nV,Vex,3\n", ch__towns_csv="code,name,people,canton\nT,Tarn,4,Uri\n"
    )
    raw, policy = read_and_propose(files)
    assert [(table.file, sorted(table.columns)) for table in policy.tables] == [("towns.csv", ["canton", "people"])]
    assert {"Vex", "Tarn", "Uri"} <= {raw.text(at) for at in range(len(raw.terms))}


def test_a_folder_of_json_objects_is_one_table_with_the_lists_within_them(tmp_path: Path) -> None:
    for number, maker in enumerate(("Ada", "Bo"), start=1):
        work = {"id": number, "title": f"Work {maker}", "makers": [{"name": maker, "role": "painter"}]}
        (tmp_path / f"T{number}-x{maker}.json").write_text(json.dumps(work), "utf-8")
    raw, policy = read_and_propose(sorted(tmp_path.iterdir()))
    assert [table.file for table in policy.tables] == ["T*.json", "T*.json/makers"]
    assert policy.tables[1].columns["parent"].table == "T*.json"
    assert {"Work Ada", "Work Bo"} <= {raw.text(at) for at in range(len(raw.terms))}


def test_a_bundle_is_read_by_the_types_of_its_resources(tmp_path: Path) -> None:
    entries = [
        {"resource": {"resourceType": kind, "id": kind[0], "name": kind}} for kind in ("Patient", "Organization")
    ]
    bundle = tmp_path / "b.json"
    bundle.write_text(json.dumps({"resourceType": "Bundle", "entry": entries}), "utf-8")
    assert {table.file for table in read_and_propose([bundle])[1].tables} == {"b.json/Patient", "b.json/Organization"}


def test_a_file_that_can_not_be_read_stops_no_other_and_is_told(tmp_path: Path) -> None:
    staff, broken, drawing = written(
        tmp_path, staff_csv="id,name\n1,Ada\n2,Bo\n", sales_csv="id,name,sum\n1,x,3\n2,y,4,5,6\n", a_svg="<svg/>"
    )
    raw, policy = read_and_propose([staff, broken, drawing])
    assert [table.file for table in policy.tables] == ["staff.csv"]
    assert sorted(policy.skip) == ["a.svg", "sales.csv"]
    told = [note for note in raw.notes if note.startswith("NOT READ: ")]
    assert [any(name in note for note in told) for name in ("sales.csv, line 3", "a.svg: unknown file ending")] == [
        True,
        True,
    ]
    again = read_by_policy([staff, broken, drawing], policy)
    assert again.terms == raw.terms
    assert "2 files are not read, as the policy says (`skip`)" in again.notes


def test_a_broken_file_does_not_take_one_of_its_name_along(tmp_path: Path) -> None:
    files = written(tmp_path, a__towns_csv="id,name\n1,Vex\n", b__towns_csv="id,name\n2,Tarn,3,4\n")
    raw, policy = read_and_propose(files)
    assert policy.skip == ()
    assert "Vex" in {raw.text(at) for at in range(len(raw.terms))}
    with pytest.raises(LoadError, match=r"towns\.csv, line 2"):
        read_by_policy(files, policy)


def test_where_none_can_be_read_all_reasons_are_told_at_once(tmp_path: Path) -> None:
    files = written(tmp_path, sales_csv="id,name,sum\n1,x,3\n2,y,4,5,6\n", a_svg="<svg/>")
    with pytest.raises(LoadError, match=r"2 files can't be read:\n- .*\n- ") as caught:
        read_and_propose(files)
    assert "sales.csv, line 3" in str(caught.value)
    assert "a.svg" in str(caught.value)


def test_a_policy_of_ones_own_stops_at_what_can_not_be_read_and_tells_all_of_it(tmp_path: Path) -> None:
    staff, broken, other = written(
        tmp_path, staff_csv="id,name\n1,Ada\n2,Bo\n", one_nt="<a> <b>\n", two_nt="<a> <b>\n"
    )
    policy = read_and_propose([staff])[1]
    with pytest.raises(LoadError, match="2 files can't be read") as caught:
        read_by_policy([staff, broken, other], policy)
    assert ["one.nt, line 1" in str(caught.value), "two.nt, line 1" in str(caught.value)] == [True, True]


def test_equal_values_of_a_table_and_of_triples_are_one(tmp_path: Path) -> None:
    """Their kinds are found in different ways: a load failed with two terms of one MID."""
    table, triples = written(
        tmp_path,
        staff_csv="id,name,born\n1,Ada,1961\n2,Bo,1962\n",
        a_jsonl="\n".join(
            json.dumps(
                {"type": "node", "id": str(at), "labels": ["Ward"], "properties": {"name": f"W{at}", "since": at}}
            )
            for at in (1961, 1962)
        ),
    )
    assert load_graph(*read_and_propose([table, triples]), b"k" * 32).facts


def test_lines_without_a_header_are_rows_and_no_cell_becomes_a_word(tmp_path: Path) -> None:
    parts, kinds = written(
        tmp_path,
        parts_csv="1\tAdjustable Race\t2019-04-30\t3\n2\tBearing Ball\t2019-04-30\t4\n",
        kinds_csv="1\tBikes\t7\n2\tParts\t8\n",
    )
    files = [parts, kinds]
    raw, policy = read_and_propose(files)
    table = policy.tables[0]
    assert (table.header_row, table.key, table.names) == (0, "column 1", ("column 2",))
    assert sorted(table.columns) == ["column 3", "column 4"]
    assert [note for note in raw.notes if "rows without a header" in note]
    assert read_by_policy(files, policy).terms == raw.terms


def test_a_broken_line_of_a_list_of_triples_is_told_and_not_read_as_a_row(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("head\trelation\ttail\nAda\tknows\tBo\nBo\tknows\n", "utf-8")
    with pytest.raises(LoadError, match="line 3"):
        read_and_propose([file])


def test_two_columns_of_one_name_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "knows.csv"
    file.write_text("id|id|since\n1|2|2001-01-01\n3|4|2002-01-01\n", "utf-8")
    assert sorted(read_and_propose([file])[1].tables[0].used()) == ["id", "id 2", "since"]


def test_rows_that_have_no_key_are_things_of_their_line(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps([{"kind": "a", "size": 1}, {"kind": "a", "size": 1}]), "utf-8")
    raw, policy = read_and_propose([file])
    assert policy.tables[0].key is None
    assert len({raw.text(at) for at in raw.subjects.tolist()}) == 2


def test_records_of_an_export_are_what_they_say_that_they_are_and_its_references_are_joined(tmp_path: Path) -> None:
    records = {
        "Broker": [{"Name": name, "ref": name} for name in ("Ada", "Bo", "Cy")],
        "Home": [
            {"Name": f"H{at}", "Broker__c": f"@{name}R", "ref": f"H{at}"}
            for at, name in enumerate(("Ada", "Bo", "Cy"))
        ],
    }
    files = []
    for kind, rows in records.items():
        told = [{"attributes": {"type": f"{kind}__c", "referenceId": f"{row.pop('ref')}R"}, **row} for row in rows]
        files.append(tmp_path / f"{kind}s-data.json")
        files[-1].write_text(json.dumps({"records": told}), "utf-8")
    _, policy = read_and_propose(files)
    assert {table.concept for table in policy.tables} == {"broker", "home"}
    homes = next(table for table in policy.tables if table.concept == "home")
    assert homes.columns["Broker"].table == "Brokers-data.json/records"


def test_a_wide_table_of_few_rows_is_no_nonsense(tmp_path: Path) -> None:
    """It has more relations than things, and each is of several: no cell was taken for one."""
    words = [
        f"{first} {second}"
        for first in ("sea", "land", "air", "fire", "wood")
        for second in ("cost", "gain", "time", "size", "rank", "load", "risk", "wear")
    ]
    rows = [",".join([str(at), f"Town {at}", *(str(at + place) for place in range(len(words)))]) for at in range(1, 9)]
    file = tmp_path / "towns.csv"
    file.write_text("\n".join([",".join(["id", "name", *words]), *rows]), "utf-8")
    loaded = load_graph(*read_and_propose([file]), b"k" * 32)
    things = loaded.counts[NodeKind.ENTITY]
    assert len(loaded.relations) > max(things, MAX_RELATIONS_OF_FEW)
    assert nonsense_of(things, loaded.facts, len(loaded.relations)) is None
    assert nonsense_of(things, len(loaded.relations), len(loaded.relations)) is not None
