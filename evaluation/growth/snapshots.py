"""Reads a growing graph: snapshots of training, validation and test facts, with entities numbered as they appear.

The sets are those of LKGE (Cui and others, "Lifelong Embedding Learning and Transfer for Growing Knowledge Graphs",
AAAI 2023): ENTITY, RELATION and FACT, five snapshots each.
"""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from app.memory.embeddings.model import FactRows
from evaluation.datasets.questions import QuestionsError

_SNAPSHOTS: Final = 5
_SPLITS: Final = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """New facts of one snapshot as rows (relations by even numbers), and how much is known by its end."""

    train: FactRows
    valid: FactRows
    test: FactRows
    entities: int
    relations: int


def read_snapshots(folder: Path, name: str) -> tuple[list[Snapshot], list[str]]:
    """Returns the snapshots of one set and the names of its relations, read from `folder`/`name`.tar.xz.

    Raises QuestionsError if there is no such file.
    """
    file = folder / f"{name}.tar.xz"
    if not file.is_file():
        raise QuestionsError(f"no set {name} in the folder that --data names; see docs/evaluation.md")
    texts: dict[str, str] = {}
    with tarfile.open(file, "r|xz") as packed:
        for member in packed:
            if opened := packed.extractfile(member):
                texts[member.name] = opened.read().decode()
    entities: dict[str, int] = {}
    relations: dict[str, int] = {}
    snapshots = []
    for number in range(_SNAPSHOTS):
        train, valid, test = (_rows(texts[f"{name}/{number}/{each}.txt"], entities, relations) for each in _SPLITS)
        snapshots.append(Snapshot(train, valid, test, len(entities), len(relations)))
    return snapshots, list(relations)


def words_of(relation: str) -> str:
    """Returns the words of a Freebase relation: `people person place of birth` for `/people/person/place_of_birth`."""
    return " ".join(re.findall(r"[a-z0-9]+", relation.casefold()))


def _rows(text: str, entities: dict[str, int], relations: dict[str, int]) -> FactRows:
    rows = []
    for line in text.splitlines():
        head, relation, tail = line.split("\t")
        first, last = (entities.setdefault(each, len(entities)) for each in (head, tail))
        rows.append((first, 2 * relations.setdefault(relation, len(relations)), last))
    return np.array(rows, np.int64).reshape(-1, 3)
