"""Tables of companies, labelled by hand: a proposal alone is right for at least 28 of their 30 columns."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kg_store.proposals.table_proposals import propose_tables
from kg_store.sources.table_policy import TablePolicy

FOLDER = Path(__file__).parent / "companies"
COMPANIES = sorted(each.name for each in FOLDER.iterdir() if each.is_dir())
MIN_RIGHT = 28


def expected_of(company: str) -> dict[tuple[str, str], str]:
    labels = tomllib.loads((FOLDER / company / "expected.toml").read_text("utf-8"))
    return {(file, column): said for file, columns in labels.items() for column, said in columns.items()}


def proposed_of(company: str) -> dict[tuple[str, str], str]:
    tables = propose_tables(sorted((FOLDER / company).glob("*.csv"))).tables
    return {(table.file, column): said for table in tables for column, said in described(table).items()}


def described(table: TablePolicy) -> dict[str, str]:
    """Each column that the table reads, in the words of `expected.toml`."""
    found = {table.key: "key"} if table.key is not None else {}
    for place, name in enumerate(table.names):
        for part in (name,) if isinstance(name, str) else name:
            found.setdefault(part, "alias" if place else "name")
    for column, settings in table.columns.items():
        if column == table.key:
            continue  # People may ask for the key too.
        if settings.table is not None:
            found[column] = f"reference {settings.table}"
        elif settings.concept is not None:
            found[column] = "concept"
        else:
            unit = f" {settings.unit.lower()}" if settings.unit else ""
            found[column] = f"value {settings.kind.value}{unit}"
    return found


@pytest.mark.parametrize("company", COMPANIES)
def test_a_proposal_is_right_for_nearly_every_column(company: str) -> None:
    expected, proposed = expected_of(company), proposed_of(company)
    assert len(expected) == 30
    wrong = [
        f"{place}: {said}, not {proposed.get(place)}"
        for place, said in expected.items()
        if proposed.get(place) != said
    ]
    print(f"{company}: {len(expected) - len(wrong)} of {len(expected)}", *wrong, sep="\n  ")
    assert len(expected) - len(wrong) >= MIN_RIGHT, wrong
