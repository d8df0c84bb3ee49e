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


def test_a_broken_file_does_not_take_one_of_its_name_along(tmp_path: Path) -> None:
    files = written(tmp_path, a__towns_csv="id,name\n1,Vex\n", b__towns_csv="id,name\n2,Tarn,3,4\n")
    raw, policy = read_and_propose(files)
    assert policy.skip == ()
    assert "Vex" in {raw.text(at) for at in range(len(raw.terms))}
    with pytest.raises(LoadError, match=r"towns\.csv, line 2"):
        read_by_policy(files, policy)


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
