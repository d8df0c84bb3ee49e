"""Writes a sentence with names for pronouns that have lost theirs, or with fewer names in a list."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from app.chat.statements.pruning import Kept
from app.chat.statements.tokens import PERSONAL, POSSESSIVES

_OWNING: Final = POSSESSIVES - {"her"}


def spelled_out(kept: Kept, shown: Collection[str]) -> str:
    """The sentence with the name for each pronoun whose thing nobody has read of, or that more than one may be."""
    edits: list[tuple[int, int, str]] = []
    named: set[str] = set()
    for segment, verdict in kept.pieces:
        for at in range(segment.start, segment.end):
            token = kept.tokens[at]
            if token.is_name and verdict.facts is not None:
                named.add(token.word)
            if verdict.facts is None or at not in verdict.stood_for or token.word not in PERSONAL | POSSESSIVES:
                continue
            reference, name = verdict.stood_for[at]
            if name in named or (name in shown and name == reference.candidates[0]):
                continue
            owns = token.word in _OWNING or (token.word == "her" and reference.is_owner)
            edits.append((token.start, token.end, f"{name}'s" if owns else name))
            named.add(name)
    text = kept.sentence
    for start, end, word in reversed(edits):
        text = f"{text[:start]}{word}{text[end:]}"
    return text


def row_of_names(kept: Kept) -> list[int]:
    """The places of the names of the first list that stands in a piece that has to go."""
    for segment, verdict in kept.pieces:
        if verdict.facts is None:
            for at in range(segment.start, segment.end):
                row = _row_from(kept, at, segment.end)
                if len(row) > 1:
                    return row
    return []


def _row_from(kept: Kept, at: int, end: int) -> list[int]:
    """Names with commas between them and "and" or "or" before the last one."""
    tokens, row = kept.tokens, []
    while at < end and tokens[at].is_name:
        row.append(at)
        at += 1
        if at < end and tokens[at].word == "," and at + 1 < end:
            at += 1
        if at < end and tokens[at].word in ("and", "or"):
            return [*row, at + 1] if at + 1 < end and tokens[at + 1].is_name else []
    return []


def with_row(kept: Kept, row: Sequence[int], places: Sequence[int]) -> str:
    """The sentence with no more than the names at `places` in its list."""
    tokens = kept.tokens
    names = [tokens[place].word for place in places]
    joint = tokens[row[-1] - 1].word
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"
    return f"{kept.sentence[: tokens[row[0]].start]}{text}{kept.sentence[tokens[row[-1]].end :]}"
