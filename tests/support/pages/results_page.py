"""The tables of results: printed by a command, kept in files of docs/results, and inserted into docs/results.md."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.graphs.markdown_table import markdown_table

ROOT = Path(__file__).parents[3]
PAGES = (ROOT / "docs" / "results.md",)
FIGURES = ROOT / "docs" / "results"
PLACE = re.compile(r"(<!-- Figures: ([\w-]+)(?:, ([^\n]+))?\. -->\n).*?(<!-- End of the figures\. -->)", re.DOTALL)
"""The place of a table in a page; words behind a comma select the rows that begin with them."""
_NOTE = re.compile(r" \([^()]*\)$")
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Figures:
    """One table, with the command, commit and date that it comes from.

    A row is identified by its first `key` cells without a note in brackets at their end. By this title, `before` keeps
    figures of the last measurement that differ now; the page shows neither those nor empty columns.
    """

    command: str
    commit: str
    date: datetime.date
    key: int
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    before: Mapping[str, str]

    def title_of(self, row: tuple[str, ...]) -> str:
        return _NOTE.sub("", ", ".join(row[: self.key]))

    def markdown(self, of: str = "") -> str:
        """Returns the table; with `of`, only the rows that begin with these words, which are left out."""
        shown = [place for place, name in enumerate(self.head) if not name or any(row[place] for row in self.rows)]
        head = [self.head[place] for place in shown]
        rows = [[row[place] for place in shown] for row in self.rows if row[0].startswith(of)]
        rows = [[row[0].removeprefix(of).lstrip(": "), *row[1:]] for row in rows]
        command = f"`{self.command}`" if self.command.startswith(("arog ", "make ")) else self.command
        return f"{command}, version {self.commit}, {self.date}:\n\n{markdown_table(head, rows)}"

    def toml(self) -> str:
        rows = "".join(f"  {_quoted(row)},\n" for row in self.rows)
        before = "".join(f"{_quoted(row)} = {_quoted(told)}\n" for row, told in self.before.items())
        return (
            f"command = {_quoted(self.command)}\ncommit = {_quoted(self.commit)}\n"
            f"date = {self.date}\nkey = {self.key}\nhead = {_quoted(self.head)}\n"
            f"rows = [\n{rows}]\n\n[before]\n{before}"
        )

    def after(self, old: Figures) -> Figures:
        """Returns the same figures with those of `old` that differ kept in `before`.

        Raises ValueError if a row of `old` is missing.
        """
        was = {old.title_of(row): dict(zip(old.head, row, strict=True)) for row in old.rows}
        if lost := was.keys() - map(self.title_of, self.rows):
            raise ValueError(f"rows that were kept are not in the new table: {sorted(lost)}")
        before = dict(old.before)
        for row in self.rows:
            cells = was.get(self.title_of(row), {})
            changed = [name for name, cell in zip(self.head, row, strict=True) if cells.get(name, cell) != cell]
            if changed:
                before[self.title_of(row)] = ", ".join(f"{name} {cells[name]}".strip() for name in changed)
        return Figures(self.command, self.commit, self.date, self.key, self.head, self.rows, before)


def read_figures(file: Path) -> Figures:
    told = tomllib.loads(file.read_text("utf-8"))
    rows = tuple(tuple(row) for row in told.pop("rows"))
    return Figures(head=tuple(told.pop("head")), rows=rows, **told)


def read_tables(text: str) -> list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]:
    """Returns head and rows of each Markdown table in `text`."""
    found = re.findall(r"^(\|.*\n)\|[-|: ]+\n((?:\|.*\n?)*)", text, re.MULTILINE)
    return [(_cells(head), tuple(_cells(row) for row in rows.splitlines())) for head, rows in found]


def page(path: Path) -> str:
    """Returns the text of a page of results with its tables written anew."""
    return PLACE.sub(
        lambda place: f"{place[1]}{read_figures(FIGURES / f'{place[2]}.toml').markdown(place[3] or '')}\n{place[4]}",
        path.read_text("utf-8"),
    )


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip())[1:-1])


def _quoted(told: object) -> str:
    return json.dumps(told, ensure_ascii=False)
