"""Pairs of a question and the relation path that answers it, from public sets, worded as the service compares them."""

from __future__ import annotations

import json
import lzma
import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.reader.language.answer_form import read_form
from app.reader.scoring.similarity import step_text
from kg_store.text.pseudonymous import asked_words

TOPIC = "X"
_PSEUDONYM = "E7f2ka"
_TOPIC = re.compile(rf"\b{TOPIC}\b")
# Relations that are nearer than this to each other may well mean the same.
MAX_SIBLING_LIKENESS = 0.93
SIBLINGS = 20


class PairsError(Exception):
    """The file holds no pairs. The text says what is missing, and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """`question` without its topic, as `asked_words` gives it; `way`: the path's place among `MatcherPairs.ways`."""

    question: str
    way: int


@dataclass(frozen=True, slots=True)
class MatcherPairs:
    """`ways`: each the texts of its steps, without and with the kind that a step leads to. `siblings`: for each way
    others of the same graph that are near to it."""

    pairs: Sequence[Pair]
    ways: Sequence[tuple[tuple[str, str], ...]]
    siblings: Sequence[Sequence[int]]


def recipe_of() -> tuple[list[str], int]:
    """The sets that weights may be made from, and how many questions of one path."""
    recipe = tomllib.loads(resources.files("evaluation.training").joinpath("matcher.toml").read_text("utf-8"))
    return [each["source"] for each in recipe["data"]], int(recipe["most_of_a_path"])


def read_pairs(file: Path, sources: Sequence[str], most: int, seed: int, embedder: Embedder) -> MatcherPairs:
    """At most `most` questions a path, drawn by `seed`, of the sets `sources`. Raises PairsError.

    One JSON object a line, plain or compressed by xz: `question` with X for its topic, `path`, `source`, `kg`.
    """
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    by_way: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for row in _rows(file):
        if row.get("source") in sources and _TOPIC.search(str(row.get("question"))):
            labels = tuple(str(label).replace("_", " ") for label in row["path"])
            by_way[str(row.get("kg")), labels].append(str(row["question"]))
    if len(by_way) < 2:
        raise PairsError("the file holds no questions with X for their topic of the sets that the recipe names")
    ordered = sorted(by_way)
    pairs = [
        Pair(_worded(question), number)
        for number, way in enumerate(ordered)
        for question in draw.sample(by_way[way], min(most, len(by_way[way])))
    ]
    draw.shuffle(pairs)
    kinds = _kinds(ConceptNamer(embedder))
    ways = [tuple((step_text(label, ""), step_text(label, kinds(label))) for label in labels) for _, labels in ordered]
    return MatcherPairs(pairs, ways, _siblings([graph for graph, _ in ordered], ways, embedder))


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with file.open("rb") as opened, lzma.open(opened) if file.suffix == ".xz" else opened as lines:
            for line in lines:
                row = json.loads(line)
                if isinstance(row, dict) and isinstance(row.get("path"), list):
                    yield row
    except (OSError, ValueError, lzma.LZMAError):
        raise PairsError("the file of pairs can't be read: one JSON object a line is needed") from None


def _worded(question: str) -> str:
    asked = _TOPIC.sub(_PSEUDONYM, question)
    return asked_words(read_form(f"{asked}?", 1).rest)


def _kinds(namer: ConceptNamer) -> Callable[[str], str]:
    """Names what a step leads to by its relation alone: nothing else is known of these graphs."""
    known: dict[str, str] = {}

    def kind_of(label: str) -> str:
        last = label.split("|")[-1]
        if last not in known:
            known[last] = namer.name_relations([last[1:] if last.startswith("^") else f"^{last}"])
        return known[last]

    return kind_of


def _siblings(
    graphs: Sequence[str], ways: Sequence[tuple[tuple[str, str], ...]], embedder: Embedder
) -> list[list[int]]:
    vectors = embedder.sentences([" ".join(text for text, _ in way) for way in ways])
    members = {graph: np.flatnonzero(np.array(graphs) == graph) for graph in set(graphs)}
    found: list[list[int]] = []
    for row, graph in enumerate(graphs):
        likeness = vectors[members[graph]] @ vectors[row]
        order = members[graph][np.argsort(-likeness)]
        near = [int(each) for each in order if vectors[each] @ vectors[row] < MAX_SIBLING_LIKENESS]
        found.append(near[:SIBLINGS])
    return found
