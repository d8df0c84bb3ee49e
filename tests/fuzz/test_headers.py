"""A policy is proposed for tables whatever stands in their headers, or a typed error tells why not."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import Workbook

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import Policy
from tests.fuzz.examples import drawing

Rows = list[list[str]]

# Headers without a word, with one of signs, doubled ones, numbers, and words that the proposals look for.
WORDS = "|| |?|#|%|€|()|__|'|No.|#1|(kg)|1|2020|1.5|id|id id|key|nr|name|Name|name name|common name|type|city|of|by"
HEADERS = st.sampled_from(WORDS.split("|")) | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=4)
KINDS = "1 2 3 4 5|A1 B2 C3 D4|Ann Bob Cy Di|? -|red blue|2020-01-01 3.5 10%|a;b b;c A1;B2|Bern Ann"
CELLS = st.sampled_from([kind.split() for kind in KINDS.split("|")])


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """A header and some lines; a column's cells come again, or are all different as keys are."""
    count = draw(st.integers(1, 6))
    columns = []
    for _ in range(draw(st.integers(1, 5))):
        cells, are_keys = draw(CELLS), draw(st.booleans())
        rest = [f"{cells[at % len(cells)]}{at // len(cells) or ''}" for at in range(count)]
        columns.append(
            [draw(HEADERS), *(rest if are_keys else draw(st.lists(st.sampled_from(cells), min_size=count)))]
        )
    return [list(line) for line in zip(*columns, strict=False)]


@drawing(60)
@given(st.lists(tables(), min_size=1, max_size=3), st.booleans())
@example(
    [[["id", "?"], ["1", "1"], ["2", "2"], ["3", "3"]], [["id", "name"], ["1", "A"], ["2", "B"], ["3", "C"]]], True
)
@example([[[""], [""]]], False)
def test_any_header_gives_a_policy_or_a_typed_error(drawn: list[Rows], is_book: bool) -> None:
    titles = ("orders", "people", "---")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "book.xlsx"] if is_book else [Path(folder) / f"{each}.csv" for each in titles]
        book = Workbook()
        for at, rows in enumerate(drawn):
            sheet = book.create_sheet(titles[at])
            for row in rows:
                sheet.append(row)
            if not is_book:
                with files[at].open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows(rows)
        if is_book:
            del book["Sheet"]
            book.save(files[0])
        try:
            policy = read_and_propose([file for file in files if file.exists()])[1]
        except LoadError:
            return
        assert Policy.from_toml(policy.to_toml()) == policy
