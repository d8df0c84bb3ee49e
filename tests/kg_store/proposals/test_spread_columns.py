"""Columns whose headers are years are figures of those years, in the proposal, in the load and in answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import LoadError
from kg_store.proposals.propose import propose_policy
from kg_store.proposals.spread_columns import years_in
from kg_store.sources.policy import Policy
from kg_store.sources.reader import read_sources
from tests.kg_store.sources.test_table_files import rows
from tests.support.stores import written

POPULATION = "Country,Code,2019,2020,2021\nArlovia,ARL,100,110,120\nBrent,BRE,90,..,70\nCoria,COR,1,2,3\n"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (["Country", "2019", "2020", "2021"], {"": ["2019", "2020", "2021"]}),
        (["Country", "2021 [YR2021]", "2020 [YR2020]", "2019 [YR2019]"], {"": ["2021", "2020", "2019"]}),
        (["Shop", "Sales 2019", "Staff 2019", "Sales 2020", "Sales 2021"], {"sales": ["2019", "2020", "2021"]}),
        (["Country", "2019", "2020"], {}),
        (["Country", "2019", "2021", "2020"], {}),
        (["Country", "2019-20", "2020-21", "2021-22"], {}),
        (["Country", "42019", "42020", "42021"], {}),
    ],
)
def test_years_are_found_in_headers_that_say_the_same_beside_them(
    header: list[str], found: dict[str, list[str]]
) -> None:
    assert {words: [*columns.values()] for words, columns in years_in(header).items()} == found


def proposed(text: str, folder: Path, name: str = "population.csv") -> tuple[Policy, Path]:
    file = written(folder, text, name)
    return propose_policy([file]), file


def test_cells_below_years_are_figures_of_the_row(tmp_path: Path) -> None:
    policy, file = proposed(POPULATION, tmp_path)
    (table,) = policy.tables
    (spread,) = table.spread
    assert (table.key, table.names, table.concept, spread.relation) == ("Code", ("Country",), "country", "population")
    assert Policy.from_toml(policy.to_toml()) == policy
    raw = read_sources([file], tables=policy.tables)
    found = rows(raw)
    nodes = {node for thing, relation, node in found if (thing, relation) == ("BRE", "figure")}
    told = {(relation, value) for node, relation, value in found if node in nodes}
    assert told == {("year", "2019"), ("population", "90"), ("year", "2021"), ("population", "70")}
    assert len({node for _, relation, node in found if relation == "figure"}) == 8


def test_what_several_groups_of_columns_say_of_a_year_is_one_figure(tmp_path: Path) -> None:
    text = "shop_no,Shop,Sales 2019,Sales 2020,Sales 2021,Staff 2019,Staff 2020,Staff 2021\n"
    text += "".join(f"S-{n},Shop {n},{n}00,{n}10,{n}20,{n},{n + 1},{n + 2}\n" for n in range(1, 7))
    policy, file = proposed(text, tmp_path, "shops.csv")
    assert [spread.relation for spread in policy.tables[0].spread] == ["sales", "staff"]
    assert policy.tables[0].concept == "shop"
    found = rows(read_sources([file], tables=policy.tables))
    by_year: dict[str, set[str]] = {}
    for node, relation, value in found:
        by_year.setdefault(node, set()).add(f"{relation} {value}")
    assert {"year 2020", "sales 110", "staff 2"} in by_year.values()


def test_a_cell_that_is_no_number_stays_a_text_and_is_counted(tmp_path: Path) -> None:
    policy, _ = proposed(POPULATION, tmp_path)
    file = written(tmp_path, POPULATION.replace("110", "about 110"), "population.csv")
    raw = read_sources([file], tables=policy.tables)
    assert any(value == "about 110" for _, relation, value in rows(raw) if relation == "population")
    assert "1 cells of population.csv are no number and were kept as text (the first in line 2)" in raw.notes


def test_texts_below_years_stay_columns(tmp_path: Path) -> None:
    policy, _ = proposed("Cup,Town,2019,2020,2021\nA,X,Arlovia,Brent,Coria\nB,Y,Brent,Coria,Arlovia\n", tmp_path)
    assert not policy.tables[0].spread


def test_a_header_that_lacks_a_year_of_the_policy_is_refused(tmp_path: Path) -> None:
    policy, _ = proposed(POPULATION, tmp_path)
    file = written(tmp_path, POPULATION.replace("2021", "2022"), "population.csv")
    with pytest.raises(LoadError, match="no column for a figure"):
        read_sources([file], tables=policy.tables)
