"""Tables in Markdown: cells stand as they are given, and nothing in one ends it."""

from __future__ import annotations

from markdown_it import MarkdownIt

from app.graphs.markdown_table import markdown_table


def cells(table: str) -> list[str]:
    """The texts of a table's cells, as a reader of Markdown sees them."""
    tokens = MarkdownIt().enable("table").parse(table)
    return [token.content for token in tokens if token.type == "inline"]


def test_a_table_is_read_back_as_it_was_given() -> None:
    rows = [("hop|hop", "0.50"), ("1e3", ""), ("two\nlines", 7), ("007", "-0")]
    told = ["name", "", "hop|hop", "0.50", "1e3", "", "two lines", "7", "007", "-0"]
    assert cells(markdown_table(("name", ""), rows)) == told


def test_cells_are_not_padded_and_a_table_without_rows_has_its_head() -> None:
    lines = markdown_table(("a", "b"), [("long " * 9, "x"), ("y", "z")]).splitlines()
    assert (lines[1], lines[-1]) == ("|---|---|", "| y | z |")
    assert cells(markdown_table(("a", "b"), [])) == ["a", "b"]
