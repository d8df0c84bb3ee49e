"""Asks an owner in a terminal about the columns of files: what each is, and how much of it a model reads."""

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

from app.graphs.previews.policy_changes import with_changes
from app.graphs.previews.previewer import columns_of, columns_seen
from client_sdk.protocol import ColumnChange, ColumnSeen, PolicyChanges
from kg_store.errors import StoreError
from kg_store.proposals.propose import preview
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy

Ask = Callable[..., str]
DONE, UNDO, BACK = "done", "undo", "back"
TYPES = ["number", "date", "text", "truth"]


class _BackError(Exception):
    """The owner goes back to the list without a change to the current column."""


def ask_columns(
    console: Console, files: Sequence[Path], raw: RawGraph, policy: Policy, ask: Ask | None = None
) -> Policy:
    """Shows every column, lets the owner change one after the other, and returns the policy with these changes.

    A change that is not possible leaves all as it was. Raises KeyboardInterrupt if the owner breaks off at the list.
    """
    asked = ask or partial(Prompt.ask, console=console)
    before: list[tuple[RawGraph, Policy]] = []
    listed = _shown(console, files, raw, policy)
    while True:
        undo = f", {UNDO} for the last change" if before else ""
        chosen = asked(f"Number of a column to change{undo}, or Enter when all is right", default=DONE)
        if chosen == DONE:
            return policy
        if chosen == UNDO and before:
            raw, policy = before.pop()
        elif chosen.isdecimal() and 1 <= int(chosen) <= len(listed):
            try:
                changed = _changed(console, listed, int(chosen) - 1, files, policy, asked)
            except StoreError as error:
                console.print(f"That can't be, so nothing has changed: {error}.", markup=False)
                continue
            except (_BackError, KeyboardInterrupt, EOFError):
                console.print("Nothing of this column has changed.")
                continue
            before.append((raw, policy))
            raw, policy = changed
        else:
            console.print(f"Give a number from 1 to {len(listed)}, or {DONE}.", highlight=False)
            continue
        listed = _shown(console, files, raw, policy)


def _shown(console: Console, files: Sequence[Path], raw: RawGraph, policy: Policy) -> list[ColumnSeen]:
    """Prints a table for each file, with one row for each column, and returns the columns in that order."""
    listed = list(columns_seen(columns_of(files, policy), preview(raw, policy, 0)))
    numbered = list(enumerate(listed, start=1))
    for file, group in groupby(numbered, lambda each: each[1].file):
        table = Table(title=Text(file or "Relations"), title_justify="left", show_edge=False, pad_edge=False)
        for header in ("", "column", "is a", "of", "a model reads", "cells"):
            table.add_column(header, overflow="fold")
        for number, each in group:
            of = each.refers_to or each.concept or " ".join(filter(None, (each.type, each.unit)))
            words = "(masked)" if each.exposure == "masked" else each.relation
            cells = (str(number), each.column, each.role, of, words, each.exposure)
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table, "")
    return listed


def _changed(
    console: Console, listed: Sequence[ColumnSeen], place: int, files: Sequence[Path], policy: Policy, asked: Ask
) -> tuple[RawGraph, Policy]:
    """Asks the owner about the column `listed[place]`, and changes the policy as they answer.

    Returns the triples of the files as the changed policy reads them, and the changed policy. Raises StoreError if
    the change is not possible, _BackError if the owner goes back.
    """
    column = listed[place]
    console.print(Text(f"{column.column}: {column.why} ({BACK} leaves it as it is.)"))
    change = _asked_of(column, [each.file for each in listed], partial(_asked, asked))
    headers = {file: [each.column for each in group] for file, group in groupby(listed, lambda each: each.file)}
    policy = with_changes(policy, PolicyChanges(columns=[change]), headers)
    return read_by_policy(files, policy), policy


def _asked(asked: Ask, question: str, default: str, choices: Sequence[str] | None = None) -> str:
    """Asks a question and returns the answer; Enter gives `default`. Raises _BackError if the answer is "back"."""
    # As a plain string, text in square brackets would be read as markup.
    shown = Text(f"{question} [{'/'.join(choices)}]" if choices else question)
    more: dict[str, Any] = {"choices": [*choices, BACK], "show_choices": False} if choices else {}
    answer = asked(shown, default=default, show_default=bool(default), **more)
    if answer == BACK:
        raise _BackError
    return answer


def _asked_of(column: ColumnSeen, files: Sequence[str], ask: Callable[..., str]) -> ColumnChange:
    """Asks the owner what a column is and what a model reads of it; Enter keeps each as it is."""
    found: dict[str, Any] = {}
    role = ask("It is a", choices=list(column.roles), default=column.role)
    if role == "value":
        found["type"] = ask("Its cells are", choices=TYPES, default=column.type or "text")
    if role == "value" and found["type"] == "number":
        found["unit"] = ask("They count (EUR, years, ...)", default=column.unit)
    if role == "reference" and column.file:
        others = sorted({file for file in files if file})
        found["refers_to"] = ask("Its cells lead to rows of", choices=others, default=column.refers_to or others[0])
    if role in ("value", "reference", "concept"):
        found["relation"] = ask("A model reads it as", default=column.relation or column.column)
        exposures = [each for each in ("private", "shown", "masked") if role == "value" or each != "shown"]
        found["exposure"] = ask("Its cells and words are", choices=exposures, default=column.exposure)
    kept = {name: value for name, value in found.items() if value or name == "unit"}
    return ColumnChange(file=column.file, column=column.column, role=None if role == column.role else role, **kept)
