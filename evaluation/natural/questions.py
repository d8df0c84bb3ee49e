"""Natural questions and their gold answers, as they stand in `sets`, one JSON object a line."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from evaluation.datasets.questions import read_lines

Half = Literal["seen", "shut"]
GoldType = Literal["entities", "values", "number", "boolean", "table", "describe", "smalltalk", "unanswerable"]
Cell = str | bool | int | float

SETS: Final = Path(__file__).parent / "sets"
FILES: Final[dict[Half, Path]] = {"seen": SETS / "seen.jsonl", "shut": SETS / "shut.jsonl.gz"}
"""The shut half is packed, so that nobody who searches the files reads it by chance."""


class Gold(BaseModel):
    """An answer that counts as right. `items`: names, values, one number, one truth, rows of a table, or the facts of
    the thing that is to be described; of these `concept` must be named, and `at_least` so many told. None at all says
    that nobody, or nothing, is right."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    type: GoldType
    items: tuple[Cell | tuple[Cell, ...], ...] = ()
    concept: tuple[str, ...] = ()
    at_least: int = 1

    @property
    def texts(self) -> list[str]:
        return [str(item) for item in self.items if not isinstance(item, tuple)]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [tuple(map(str, item)) for item in self.items if isinstance(item, tuple)]


class NaturalQuestion(BaseModel):
    """One question after its earlier `turns`; `also` are the answers of other fair readings."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    id: str
    graph: str
    kind: str
    turns: tuple[str, ...] = ()
    question: str
    gold: Gold
    also: tuple[Gold, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The user's texts, turn by turn; the last one is asked for."""
        return (*self.turns, self.question)

    @property
    def golds(self) -> tuple[Gold, ...]:
        return (self.gold, *self.also)


def read_natural(half: Half) -> list[NaturalQuestion]:
    """All questions of one half, in their order. Raises QuestionsError, which quotes nothing of the file."""
    return [question for _, question in read_lines(FILES[half], NaturalQuestion)]
