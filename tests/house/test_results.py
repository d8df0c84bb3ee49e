"""The pages of results show what docs/results holds; what is measured anew loses nothing that stood there."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

from tests.support.pages.results_page import FIGURES, PAGES, PLACE, Figures, page, read_figures, read_tables

FILES = sorted(FIGURES.glob("*.toml"))
DAY = datetime.date(2026, 11, 22)
KEPT = Figures("arog eval x", "1234567", DAY, 1, ("set", "hits", ""), (("A|B", "0.5", "pass"), ("C", "1", "")), {})


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_what_its_figures_give(path: Path) -> None:
    assert path.read_text("utf-8") == page(path), "run `python -m tests.write_docs`"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_table_of_results_is_typed_by_hand(path: Path) -> None:
    assert not re.findall(r"^\|.*", PLACE.sub("", path.read_text("utf-8")), re.MULTILINE)


def test_all_figures_are_shown_or_linked() -> None:
    texts = [path.read_text("utf-8") for path in PAGES]
    shown = [place[2] for text in texts for place in PLACE.finditer(text)]
    shown += [name for text in texts for name in re.findall(r"\(results/([\w-]+)\.toml\)", text)]
    assert sorted(set(shown)) == [file.stem for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_figures_are_whole_and_each_row_has_a_name_of_its_own(file: Path) -> None:
    figures = read_figures(file)
    assert {len(row) for row in figures.rows} == {len(figures.head)}
    titles = [figures.title_of(row) for row in figures.rows]
    assert len(set(titles)) == len(titles)
    assert set(figures.before) <= set(titles)


def test_figures_are_read_back_as_they_were_written_and_as_they_were_printed(tmp_path: Path) -> None:
    file = tmp_path / "kept.toml"
    file.write_text(KEPT.toml(), "utf-8")
    assert read_figures(file) == KEPT
    assert read_tables(KEPT.markdown()) == [(KEPT.head, KEPT.rows)]


def test_what_differs_from_before_is_told_beside_it() -> None:
    again = Figures("arog eval x", "89abcde", DAY, 1, KEPT.head, (("A|B", "0.4", "FAIL"), *KEPT.rows[1:]), {})
    assert again.after(KEPT).before == {"A|B": "hits 0.5, pass"}
    assert KEPT.after(again.after(KEPT)).before == {"A|B": "hits 0.4, FAIL"}
    assert again.after(again.after(KEPT)).before == {"A|B": "hits 0.5, pass"}


def test_a_note_in_brackets_is_no_part_of_a_rows_name() -> None:
    again = Figures("arog eval x", "89abcde", DAY, 1, KEPT.head, (KEPT.rows[0], ("C (2 blocked)", "1", "")), {})
    assert again.after(KEPT).before == {"C": "set C"}


def test_a_row_is_not_lost() -> None:
    with pytest.raises(ValueError, match="'C'"):
        Figures("arog eval x", "89abcde", DAY, 1, KEPT.head, KEPT.rows[:1], {}).after(KEPT)
