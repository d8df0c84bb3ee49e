"""TableFile: one reader for lines of cells, which tells delimiters apart and quotes nothing in an error."""

from __future__ import annotations

import io

import pytest

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import TableFile


def opened(text: str, encoding: str = "utf-8") -> TableFile:
    return TableFile(io.BytesIO(text.encode(encoding)), "cells.csv", encoding)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [("id;name;born, in\n1;A;B\n", ";"), ("id,name\n", ","), ("id\tname\n", "\t"), ("id|name\n", "|"), ("", ",")],
)
def test_a_header_tells_its_delimiter(text: str, delimiter: str) -> None:
    assert opened(text).header_delimiter() == delimiter


@pytest.mark.parametrize(
    ("text", "prefer_comma", "delimiter"),
    [
        ("a\tb, c, d\te\n", False, "\t"),
        ("a\tb, c, d\te\n", True, ","),
        ("a|b|c\nd|e|f\n", True, "|"),
        ("a,b,c\nd|e|f\n", False, ","),
        ("a;b;c\n", False, None),
    ],
)
def test_triples_tell_their_delimiter(text: str, prefer_comma: bool, delimiter: str | None) -> None:
    assert opened(text).triples_delimiter(prefer_comma) == delimiter


def test_what_was_looked_at_is_read_again() -> None:
    table = opened('id,name\n\n1,"A,\nB"\n2, C \n')
    assert table.header_delimiter() == ","
    assert list(table.quoted_rows(",")) == [(1, ["id", "name"]), (2, []), (4, ["1", "A,\nB"]), (5, ["2", "C"])]


def test_quotes_are_letters_in_plain_rows() -> None:
    assert list(opened('a\t"b\tc\n').plain_rows("\t")) == [(1, ["a", '"b', "c"])]


@pytest.mark.parametrize("text", ['a,"b" c,d\n', '"Wendolphine'])
def test_an_error_names_the_line_and_no_cell(text: str) -> None:
    with pytest.raises(LoadError, match=r"quotes of this line") as told:
        list(opened("x,y,z\n" + text).quoted_rows(","))
    assert told.value.line == 2
    assert "Wendolphine" not in str(told.value)


def test_bytes_of_another_encoding_are_told_by_line() -> None:
    with pytest.raises(LoadError, match="not UTF-8 text"):
        list(TableFile(io.BytesIO(b"a,b\n\xff,c\n"), "cells.csv").quoted_rows(","))
