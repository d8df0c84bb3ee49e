"""Hand-written labels: of one thing of a graph, the nouns that are right for its concept, and nouns that are wrong."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.datasets.questions import QuestionsError

Verdict = Literal["right", "wrong", "not judged", "no concept"]
VERDICTS: Final[tuple[Verdict, ...]] = ("right", "wrong", "not judged", "no concept")

SETS: Final = Path(__file__).parent / "sets"
LABELS: Final = (SETS / "seen.jsonl", SETS / "shut.jsonl.gz")
"""The shut part is packed, so that nobody who searches the files reads it by chance."""


class ConceptLabel(BaseModel):
    """`node` stands for all things with the same relations around them."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    graph: str
    node: str
    accept: frozenset[str]
    reject: frozenset[str]

    def judge(self, concept: str | None) -> Verdict:
        """`concept` may join several by commas, the surest first: right where the first is, or where all are."""
        if not concept:
            return "no concept"
        first, *further = (part.strip().lower() for part in concept.split(","))
        if first in self.accept:
            return "right"
        return "wrong" if not self.reject.isdisjoint((first, *further)) else "not judged"


def read_labels(file: Path) -> list[ConceptLabel]:
    """All labels of a file, packed or not. Raises QuestionsError, which quotes nothing of the file."""
    try:
        packed = file.read_bytes()
        lines = (gzip.decompress(packed) if file.suffix == ".gz" else packed).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise QuestionsError(f"{file.name} can't be read") from None
    return _parsed(lines, file.name)


def is_shut(file: Path) -> bool:
    """True of a file whose lines nobody looks at: no concept of it is printed."""
    return file.name.startswith("shut")


def _parsed(lines: Sequence[str], name: str) -> list[ConceptLabel]:
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(ConceptLabel.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise QuestionsError(f"{name}, line {number}: {place}: {first['msg']}") from None
    return found
