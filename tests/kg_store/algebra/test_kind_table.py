"""A kind as a table: its columns, orders, filters and counts, of rows without a name too."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kg_store.algebra import kind_table
from kg_store.algebra.kind_table import NAME, KindTable, RowFilter, kind_sizes
from kg_store.catalog import PrivateGraph
from kg_store.errors import UnknownColumnError
from kg_store.storage.vault import readable_name
from kg_store.terms import Mids, as_mids
from tests.support.stores import catalog_in, concepts_of, mid_of, written

MEMBERS = """id,name,city,born,tier
M1,Member 10,Nordwick,1973-10-16,gold
M2,Member 9,Pillau,1966-09-08,gold
M3,Zara Ohlin,Nordwick,,silver
M4,Ada Krantz,Pillau,1990-01-02,silver
"""
TOOLS = "id,tool,fee\nT1,Small Drill,6.57\nT2,Red Rake,27.79\nT3,Old Saw,110.5\n"
LOANS = """member,tool,lent on
M1,T1,2024-01-12
M1,T3,2024-03-02
M2,T1,2024-02-20
M4,T2,2023-12-30
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> PrivateGraph:
    folder = tmp_path_factory.mktemp("tools")
    files = {"members.csv": MEMBERS, "tools.csv": TOOLS, "loans.csv": LOANS}
    sources = [written(folder, text, name) for name, text in files.items()]
    catalog = catalog_in(folder / "data")
    catalog.load("t1", "tools", sources, None, concepts_of)
    return catalog.open("t1", "tools")


def table_of(graph: PrivateGraph, kind: str) -> KindTable:
    return KindTable(graph.blind, graph.vault, kind)


def named(graph: PrivateGraph, mids: Sequence[int] | Mids) -> list[str]:
    return [readable_name(record) for record in graph.vault.records(mids).values()]


def test_kinds_are_counted_with_those_of_rows(graph: PrivateGraph) -> None:
    sizes = kind_sizes(graph.blind)
    assert {kind: sizes[kind] for kind in ("member", "tool", "loan", "city")} == {
        "member": 4, "tool": 3, "loan": 4, "city": 2,
    }  # fmt: skip
    assert [*sizes.values()] == sorted(sizes.values(), reverse=True)


def test_things_come_by_name_and_numbers_in_names_by_their_size(graph: PrivateGraph) -> None:
    rows = table_of(graph, "member").rows()
    assert named(graph, rows) == ["Ada Krantz", "Member 9", "Member 10", "Zara Ohlin"]


@pytest.mark.parametrize(
    ("kind", "sort", "descending", "first"),
    [
        ("member", "born", False, ["Member 9", "Member 10", "Ada Krantz", "Zara Ohlin"]),
        ("member", "born", True, ["Ada Krantz", "Member 10", "Member 9", "Zara Ohlin"]),
        ("tool", "fee", False, ["Small Drill", "Red Rake", "Old Saw"]),
        ("member", "loan", True, ["Member 10", "Ada Krantz", "Member 9", "Zara Ohlin"]),
        ("member", NAME, True, ["Zara Ohlin", "Member 10", "Member 9", "Ada Krantz"]),
    ],
)
def test_a_column_is_sorted_by_size_and_empty_cells_come_last(
    graph: PrivateGraph, kind: str, sort: str, descending: bool, first: list[str]
) -> None:
    assert named(graph, table_of(graph, kind).rows((), sort, descending=descending)) == first


def test_rows_without_a_name_show_what_they_join(graph: PrivateGraph) -> None:
    table = table_of(graph, "loan")
    assert not table.is_named
    assert {each.label: (each.leads_to, each.counted) for each in table.columns} == {
        "lent on": ("", False),
        "tool": ("tool", False),
        "^loan": ("member", False),
    }
    rows = table.rows((), "lent on")
    cells = {each.label: table.cells(each, rows[:1]) for each in table.columns}
    first = int(rows[0])
    assert [named(graph, cells[label][first]) for label in ("lent on", "tool", "^loan")] == [
        ["2023-12-30"],
        ["Red Rake"],
        ["Ada Krantz"],
    ]


def test_many_things_that_lead_here_are_only_counted(graph: PrivateGraph) -> None:
    (column,) = table_of(graph, "city").columns
    assert (column.label, column.leads_to, column.counted, column.filled) == ("^city", "member", True, 2)


def test_filters_narrow_rows_and_counts_leave_out_their_own_column(graph: PrivateGraph) -> None:
    table = table_of(graph, "member")
    nordwick = RowFilter("city", as_mids([mid_of(graph, "Nordwick")]))
    assert named(graph, table.rows([nordwick])) == ["Member 10", "Zara Ohlin"]
    assert named(graph, table.rows([RowFilter(NAME, text="mEmber")])) == ["Member 9", "Member 10"]
    assert named(graph, table.rows([RowFilter("born", text="19")])) == ["Ada Krantz", "Member 9", "Member 10"]
    assert named(graph, table.rows([RowFilter("born")])) == ["Zara Ohlin"]
    assert named(graph, table.rows([nordwick, RowFilter("tier", text="gold")])) == ["Member 10"]
    counts, without = table.choices("city", [nordwick])
    assert ({named(graph, [mid])[0]: rows for mid, rows in counts}, without) == ({"Nordwick": 2, "Pillau": 2}, 0)
    counts, _ = table.choices("tier", [nordwick])
    assert {named(graph, [mid])[0]: rows for mid, rows in counts} == {"gold": 1, "silver": 1}


@pytest.mark.parametrize("column", ["wages", "born", "loan"])
def test_what_has_no_choices_gives_none(graph: PrivateGraph, column: str) -> None:
    with pytest.raises(UnknownColumnError):
        table_of(graph, "member").choices(column)


def test_a_column_of_too_many_texts_is_neither_sorted_nor_searched(
    graph: PrivateGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind_table, "MAX_READ", 2)
    table = table_of(graph, "member")
    assert not table.is_name_sortable
    assert len(table.rows()) == 4
    with pytest.raises(UnknownColumnError):
        table.rows([RowFilter(NAME, text="Zara")])
    with pytest.raises(UnknownColumnError):
        table.rows([RowFilter("born", text="19")])


def test_a_kind_that_is_not_there_has_no_rows(graph: PrivateGraph) -> None:
    table = table_of(graph, "nobody")
    assert (len(table.rows()), table.columns) == (0, ())
