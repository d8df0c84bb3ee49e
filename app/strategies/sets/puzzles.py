"""Five fixed questions about books by which a model shows whether it can write answers of its own.

They hold nothing of any graph. A model that solves fewer than `app.llm.endpoint.capability_probe.ENOUGH` chooses from
lists from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.llm.endpoint.capability_probe import Puzzle
from app.llm.tasks import Candidate, StepInput, Task, Thing
from app.strategies.sets.prompts import STEP

_AUTHOR, _OTHER, _BOOK = "Ea1b2c", "Ed3f4g", "Eh5j6k"
_WAYS: Final = {
    _AUTHOR: [(["^written by"], "book"), (["born in"], "city"), (["^written by", "translated by"], "person")],
    _OTHER: [(["^translated by"], "book"), (["lives in"], "city")],
    _BOOK: [(["written by"], "person"), (["published on"], "date"), (["translated by"], "person")],
}


def _puzzle(question: str, named: Sequence[str], *right: str) -> Puzzle:
    things = [Thing(name=name, concept=_kind(name)) for name in named]
    ways = [(name, path, concept) for name in named for path, concept in _WAYS.get(name, ())]
    candidates = [
        Candidate(number=number, start=start, path=path, concept=concept)
        for number, (start, path, concept) in enumerate(ways, start=1)
    ]
    return Puzzle(Task(STEP, StepInput(question=question, things=things, evidence=[], candidates=candidates)), right)


def _kind(name: str) -> str:
    return "book" if name == _BOOK else "person"


PUZZLES: Final = (
    _puzzle(f"Who translated {_BOOK}?", [_BOOK], "way(3)", f'reach({_BOOK}, "translated by")'),
    _puzzle(f"How many books did {_AUTHOR} write?", [_AUTHOR], "count(way(1))"),
    _puzzle(
        f"Was {_BOOK} written by {_AUTHOR}?",
        [_BOOK, _AUTHOR],
        f"exists(intersect(way(1), {_AUTHOR}))",
        f"exists(intersect({_AUTHOR}, way(1)))",
        f"exists(intersect({_BOOK}, way(4)))",
        f"exists(intersect(way(4), {_BOOK}))",
    ),
    _puzzle(
        f"Which books by {_AUTHOR} were translated by {_OTHER}?",
        [_AUTHOR, _OTHER],
        "intersect(way(1), way(4))",
        "intersect(way(4), way(1))",
    ),
    _puzzle(
        f"Which books by {_AUTHOR} were not translated by {_OTHER}?", [_AUTHOR, _OTHER], "difference(way(1), way(4))"
    ),
)
