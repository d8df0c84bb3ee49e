"""Columns that tell of a thing in another column of their row are facts of that thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.errors import PolicyError
from kg_store.proposals.propose import propose_policy
from kg_store.sources.policy import Policy
from kg_store.sources.reader import read_sources
from tests.kg_store.sources.test_table_files import rows
from tests.support.stores import written

ORDERS = """order_no,day,customer_id,customer_name,customer_city,product,product_price,paid
1,2024-01-05,C1,Jane Roe,Tarnmouth,Kettle,29.5,29
2,2024-01-09,C2,Bob Field,Gallen,Lamp,49,40
3,2024-02-11,C1,Jane Roe,Tarnmouth,Lamp,49,49
4,2024-02-12,C3,Ilse Quandt,Port Amsel,Sofa,499,400
5,2024-03-01,C2,Bob Field,Gallen,Sofa,499,499
6,2024-03-07,C3,Ilse Quandt,Port Amsel,Kettle,29.5,29
7,2024-03-09,C1,Jane Roe,Tarnmouth,Sofa,499,450
8,2024-04-02,C2,Bob Field,Gallen,Kettle,29.5,20
9,2024-04-03,C3,Ilse Quandt,Port Amsel,Lamp,49,45
10,2024-04-08,C1,Jane Roe,Tarnmouth,Kettle,29.5,29
11,2024-04-09,C2,Bob Field,Gallen,Lamp,49,48
12,2024-05-02,C3,Ilse Quandt,Port Amsel,Sofa,499,480
"""
NAMESAKES = (ORDERS + "".join(f"9{row}\n" for row in ORDERS.splitlines()[1:])).replace("C3,Ilse Quandt", "C3,Jane Roe")


def proposed(text: str, folder: Path) -> tuple[Policy, Path]:
    file = written(folder, text, "orders.csv")
    return propose_policy([file]), file


def told_of(text: str, folder: Path) -> dict[str, str]:
    """Returns, by column, the column whose things it tells of, and a mark if it names them."""
    (table,) = proposed(text, folder)[0].tables
    marked = {name: settings.of for name, settings in table.columns.items() if settings.of}
    return {name: of + (" (name)" if table.columns[name].is_name else "") for name, of in marked.items()}


def test_columns_that_begin_alike_and_hold_the_same_for_each_thing_tell_of_it(tmp_path: Path) -> None:
    assert told_of(ORDERS, tmp_path) == {
        "customer_id": "customer_name",
        "customer_city": "customer_name",
        "product_price": "product",
    }


def test_a_column_that_differs_or_agrees_by_chance_stays_with_the_row(tmp_path: Path) -> None:
    moved = ORDERS.replace("C1,Jane Roe,Tarnmouth,Sofa", "C1,Jane Roe,Gallen,Sofa")
    assert "customer_city" not in told_of(moved, tmp_path)
    few = "".join(ORDERS.splitlines(keepends=True)[:5])
    assert told_of(few, tmp_path) == {}


def test_things_that_share_a_name_are_told_apart_by_their_id(tmp_path: Path) -> None:
    assert told_of(NAMESAKES, tmp_path) == {
        "customer_name": "customer_id (name)",
        "customer_city": "customer_id",
        "product_price": "product",
    }


def test_a_mark_for_nothing_is_no_thing_and_a_list_names_none(tmp_path: Path) -> None:
    unsaid = ORDERS.replace("C1,Jane Roe,Tarnmouth,Kettle", "C1,NULL,Tarnmouth,Kettle", 1)
    unsaid = unsaid.replace("C2,Bob Field,Gallen,Lamp", "C2,NULL,Gallen,Lamp", 1)
    assert told_of(unsaid, tmp_path)["customer_city"] == "customer_name"
    assert "product_price" not in told_of(
        ORDERS.replace(",Kettle,", ",Kettle|Lamp,").replace(",Sofa,", ",Sofa|Pan,"), tmp_path
    )


def test_headers_of_a_survey_are_cut_to_labels(tmp_path: Path) -> None:
    asked = "Which of these tools do you use at least once in every single week of your daily work (choose)"
    content = "How content were you in {} with your work and pay and all that we offer you | x"
    years = ",".join(map(content.format, (2019, 2020, 2021)))
    lines = [
        f"{100 + at},{'Saw' if at % 2 else 'Axe'},{'old' if at % 2 else 'new'},{at}.5,{at + 2}.5,{at + 3}.5"
        for at in range(40)
    ]
    policy, _ = proposed("\n".join([f"respondent,{asked},{asked} kind,{years}", *lines]), tmp_path)
    (table,) = policy.tables
    assert table.columns[f"{asked} kind"].of == asked
    assert len(table.spread[0].columns) == 3
    assert Policy.from_toml(policy.to_toml()) == policy


def test_what_a_row_tells_of_a_thing_is_a_fact_of_it(tmp_path: Path) -> None:
    policy, file = proposed(ORDERS, tmp_path)
    found = rows(read_sources([file], tables=policy.tables))
    of_jane = {fact for fact in found if fact[0] == "Jane%20Roe"}
    assert of_jane == {
        ("Jane%20Roe", "type", "customer"),
        ("Jane%20Roe", "label", "Jane Roe"),
        ("Jane%20Roe", "customer%20id", "C1"),
        ("Jane%20Roe", "city", "Tarnmouth"),
    }
    assert {relation for thing, relation, _ in found if thing == "1"} == {"type", "day", "customer", "product", "paid"}
    assert ("Sofa", "price", "499") in found


def test_a_thing_that_is_named_by_another_column_keeps_its_code(tmp_path: Path) -> None:
    policy, file = proposed(NAMESAKES, tmp_path)
    found = rows(read_sources([file], tables=policy.tables))
    named = {(thing, name) for thing, relation, name in found if relation == "label" and thing[0] == "C"}
    assert named == {("C1", "Jane Roe"), ("C2", "Bob Field"), ("C3", "Jane Roe")}
    assert ("C3", "customer%20id", "C3") in found


def test_what_a_row_tells_of_nothing_is_counted(tmp_path: Path) -> None:
    policy, _ = proposed(ORDERS, tmp_path)
    file = written(tmp_path, ORDERS.replace("2024-01-05,C1,Jane Roe,", "2024-01-05,C1,,"), "orders.csv")
    (note,) = read_sources([file], tables=policy.tables).notes
    assert note.startswith("1 rows of orders.csv name nothing in a column that others tell of")
    assert "line 2" in note


@pytest.mark.parametrize(
    ("column", "is_valid"),
    [
        ('of = "product"', True),
        ('of = "product"\nis_name = true', True),
        ('of = "day"', False),
        ('of = "none"', False),
        ("is_name = true", False),
        ('of = "product"\nis_name = true\nconcept = "x"', False),
    ],
)
def test_a_column_tells_of_things_in_its_row_or_the_policy_is_refused(column: str, is_valid: bool) -> None:
    policy = '[[tables]]\nfile = "o.csv"\nkey = "no"\n[tables.columns.day]\nkind = "date"\n'
    policy += f'[tables.columns.product]\nconcept = "product"\n[tables.columns.price]\n{column}\n'
    if is_valid:
        assert Policy.from_toml(policy).tables[0].telling_of("product")
    else:
        with pytest.raises(PolicyError, match="of"):
            Policy.from_toml(policy)
