"""Figures of the papers, read from a file, and their tables with ours beside them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

PublishedTable = Literal["llm_kat", "impossible", "pairwise", "replies", "modified"]
Cell = str | float


@cache
def published(table: PublishedTable) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Head and rows, as printed there (times 100)."""
    found = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))[table]
    return tuple(found["head"]), tuple(tuple(row) for row in found["rows"])


def published_rows(table: PublishedTable, *columns: str) -> list[list[str]]:
    """The rows as text, with those of `columns` that the table has, and blanks for the rest."""
    head, rows = published(table)
    return [[text_of(row[head.index(column)]) if column in head else "" for column in columns] for row in rows]


def text_of(cell: Cell) -> str:
    return cell if isinstance(cell, str) else f"{cell:.1f}"


def percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]
