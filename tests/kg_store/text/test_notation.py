"""Numbers and dates in the notation of six places, in the cells of a column and as people type them."""

from __future__ import annotations

import pytest

from kg_store.sources import cell_values
from kg_store.sources.cell_values import read_cell
from kg_store.sources.table_policy import ColumnPolicy
from kg_store.terms import ValueKind
from kg_store.text.literals import canonical
from kg_store.text.notation import DecimalMark, FirstPart, Notation, decimal_mark, in_plain_notation, unclear_in

NUMBER, DATE = ValueKind.NUMBER, ValueKind.DATE


@pytest.mark.parametrize(
    ("cells", "is_money", "mark"),
    [
        (["41.000,50", "850"], False, ","),
        (["41,000.50", "850"], False, "."),
        (["12,5", "7"], False, ","),
        (["12.5", "7"], False, "."),
        (["1.234.567"], False, ","),
        (["41.000", "850"], False, ","),
        (["41.000 €", "52.300 €"], False, ","),
        (["41.000", "52.300"], True, ","),
        # Weights, perhaps; and cells of both kinds.
        (["1.250", "3.125"], False, None),
        (["0.125", "3.125"], False, "."),
        (["12,5", "12.5"], False, None),
        (["850", "7"], True, None),
        (["1 234,5", "80"], False, ","),
    ],
)
def test_the_mark_before_decimals_is_that_of_the_whole_column(
    cells: list[str], is_money: bool, mark: DecimalMark | None
) -> None:
    assert decimal_mark(cells, is_money=is_money) == mark


@pytest.mark.parametrize(
    ("cell", "column", "read"),
    [
        ("41.000,50 €", ColumnPolicy(kind=NUMBER, decimal=","), "41000.5"),
        ("1\u202f234,5", ColumnPolicy(kind=NUMBER, decimal=","), "1234.5"),
        ("1 200 kg", ColumnPolicy(kind=NUMBER), "1200"),
        ("CHF 41'000", ColumnPolicy(kind=NUMBER), "41000"),
        ("64,9 %", ColumnPolicy(kind=NUMBER, decimal=","), "64.9"),
        ("pending", ColumnPolicy(kind=NUMBER, decimal=","), None),
        ("24/08/17", ColumnPolicy(kind=DATE), "2017-08-24"),
        ("05/10/45", ColumnPolicy(kind=DATE, first="day"), "1945-10-05"),
        ("5/10/2022", ColumnPolicy(kind=DATE, first="month"), "2022-05-10"),
        ("5/10/2022", ColumnPolicy(kind=DATE), None),
        ("2.1.2019", ColumnPolicy(kind=DATE), "2019-01-02"),
        ("31/02/2021", ColumnPolicy(kind=DATE, first="day"), None),
        ("3 Mar 2020", ColumnPolicy(kind=DATE), "2020-03-03"),
        ("3 de marzo de 2020", ColumnPolicy(kind=DATE), "2020-03-03"),
        ("14 juillet 2018", ColumnPolicy(kind=DATE), "2018-07-14"),
        ("43000", ColumnPolicy(kind=DATE, serial=True), "2017-09-22"),
        ("20180820", ColumnPolicy(kind=DATE), "2018-08-20"),
    ],
)
def test_cells_are_read_as_their_column_says(cell: str, column: ColumnPolicy, read: str | None) -> None:
    found = read_cell(cell, column)
    assert (found if found is None else canonical(found, column.kind)) == read


def test_a_plain_number_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(cell_values, "is_of", lambda cell, _kind: parsed.append(cell) or True)
    assert read_cell("1250", ColumnPolicy(kind=NUMBER)) == "1250"
    assert parsed == ["1250"]


@pytest.mark.parametrize(
    ("typed", "decimal", "first", "plain"),
    [
        ("more than 41.000?", ",", None, "more than 41000?"),
        ("more than 41.000 €?", None, None, "more than 41000 €?"),
        ("more than 41 000?", None, None, "more than 41000?"),
        ("more than 1 234,5?", None, None, "more than 1234.5?"),
        ("on 24/08/17?", None, None, "on 2017-08-24?"),
        ("on 5/10/2022?", None, "day", "on 2022-10-05?"),
        ("on 5/10/2022?", None, "month", "on 2022-05-10?"),
        ("on 5.10.22?", None, "month", "on 2022-05-10?"),
        ("on 5.10.22?", None, None, "on 2022-10-05?"),
        ("more than 0.125 or 41,000?", None, None, "more than 0.125 or 41,000?"),
        ("between 60,000 and 80,000 euros", None, None, "between 60,000 and 80,000 euros"),
        ("version 10.000.1 in 2019 and 100 more", None, None, "version 10.000.1 in 2019 and 100 more"),
    ],
)
def test_typed_forms_are_read_in_the_notation_of_the_files(
    typed: str, decimal: DecimalMark | None, first: FirstPart | None, plain: str
) -> None:
    for each in reversed(list(in_plain_notation(typed, Notation(decimal, first)))):
        typed = typed[: each.start] + each.instead + typed[each.end :]
    assert typed == plain


@pytest.mark.parametrize(
    ("typed", "notation", "kinds"),
    [
        ("more than 41.000?", Notation(), ["number"]),
        ("more than 41,000?", Notation(decimal=","), ["number"]),
        ("on 5/10/2022?", Notation(), ["date"]),
        ("on the 3rd of March?", Notation(), []),
        ("on 24/08/2017, for 41 000 or 12.5 or 41,000?", Notation(), []),
    ],
)
def test_forms_with_two_readings_are_asked_back(typed: str, notation: Notation, kinds: list[str]) -> None:
    assert [kind for _, _, kind in unclear_in(typed, notation)] == kinds
