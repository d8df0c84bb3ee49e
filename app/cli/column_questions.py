"""Questions about the columns of files, in a terminal: what each is, and how much of it a model reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.prompt import Prompt
from rich.table import Table
from rich.text import Text

from app.graphs.previews.columns import columns_of, columns_seen
from app.graphs.previews.policy_changes import with_changes
from client_sdk.protocol import ColumnChange, ColumnSeen, PolicyChanges
from kg_store.errors import PolicyError
from kg_store.proposals.propose import preview
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_sources

Ask = Callable[..., str]
DONE = "done"
TYPES = ["number", "date", "text", "truth"]


def ask_columns(
    console: Console, files: Sequence[Path], raw: RawGraph, policy: Policy, ask: Ask | None = None
) -> Policy:
    """`policy` as its owner wants it: shows every column, takes changes one by one, and shows what they lead to."""
    asked = ask or partial(Prompt.ask, console=console)
    while True:
        listed = list(columns_seen(columns_of(files, policy), preview(raw, policy, 0)))
        _show(console, listed)
        chosen = asked("Number of a column to change, or Enter when all is right", default=DONE)
        if chosen == DONE:
            return policy
        if not chosen.isdecimal() or not 1 <= int(chosen) <= len(listed):
            console.print(f"There is no such number: 1 to {len(listed)}, or {DONE}.")
            continue
        try:
            change = _asked_of(listed[int(chosen) - 1], [each.file for each in listed], asked)
            headers = {
                file: [each.column for each in group] for file, group in groupby(listed, lambda each: each.file)
            }
            policy = with_changes(policy, PolicyChanges(columns=[change]), headers)
            raw = read_sources(files, tables=policy.tables, triples=policy.triples)
        except PolicyError as error:
            console.print(f"That can't be: {error}.", markup=False)


def _asked_of(column: ColumnSeen, files: Sequence[str], ask: Ask) -> ColumnChange:
    """Asks what the owner wants of one column; Enter keeps what it is."""
    found: dict[str, Any] = {}
    role = ask("It is a", choices=list(column.roles), default=column.role)
    if role == "value":
        found["type"] = ask("Its cells are", choices=TYPES, default=column.type or "text")
    if role == "value" and found["type"] == "number":
        found["unit"] = ask("They count (EUR, years, ...)", default=column.unit)
    if role == "reference" and column.file:
        others = sorted({file for file in files if file})
        found["refers_to"] = ask("Its cells are keys of", choices=others, default=column.refers_to or others[0])
    if role in ("value", "reference", "concept"):
        found["relation"] = ask("A model reads it as", default=column.relation or column.column)
        exposures = [each for each in ("private", "shown", "masked") if role == "value" or each != "shown"]
        found["exposure"] = ask("Its cells and words are", choices=exposures, default=column.exposure)
    kept = {name: value for name, value in found.items() if value or name == "unit"}
    return ColumnChange(file=column.file, column=column.column, role=None if role == column.role else role, **kept)


def _show(console: Console, columns: Sequence[ColumnSeen]) -> None:
    table = Table("", "file", "column", "is a", "type", "a model reads", "cells", "why")
    for number, each in enumerate(columns, start=1):
        leads = each.refers_to or each.concept or " ".join(filter(None, (each.type, each.unit)))
        cells = (str(number), each.file, each.column, each.role, leads, each.relation, each.exposure, each.why)
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
