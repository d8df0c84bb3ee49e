"""Reads labelled turns as the service does, and compares the kind of each with its label."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from app.demo import POLICY_FILE
from app.graphs.markdown_table import markdown_table
from app.strategies.base import TurnKind
from client_sdk.protocol import ChatOptions, ChatRequest, Message
from evaluation.bench.bench import CALLER, Bench, LoadedSet
from evaluation.datasets.questions import QuestionsError
from evaluation.natural.run import CLINIC, GRAPHS

SETS: Final = Path(__file__).parent / "sets"
TurnsHalf = Literal["seen", "shut"]
FILES: Final[dict[TurnsHalf, Path]] = {"seen": SETS / "turns_seen.jsonl", "shut": SETS / "turns_shut.jsonl.gz"}
FURTHER: Final = {
    "films": str(GRAPHS["wikidata"]), "hospital": "rdf/hospital.ttl", "c360": "rdf/c360.ttl",
    "opendialkg": "opendialkg/triples.tsv",
}  # fmt: skip
TRAINING: Final = SETS / "turns_training.jsonl"
MIN_RIGHT: Final = 0.93
KINDS: Final[tuple[TurnKind, ...]] = get_args(TurnKind)


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn's label and what it was read as."""

    label: str
    read_as: str
    text: str = field(repr=False)


async def read_turns(data: Path, half: TurnsHalf) -> list[ReadTurn]:
    """Each turn is sent to the service with its history. Raises QuestionsError where a graph is missing."""
    packed = FILES[half].read_bytes()
    lines = (gzip.decompress(packed) if half == "shut" else packed).decode().splitlines()
    rows = [json.loads(line) for line in lines]
    files = {**GRAPHS, **{name: data / path for name, path in FURTHER.items()}}
    if missing := sorted({row["graph"] for row in rows if not files[row["graph"]].is_file()}):
        raise QuestionsError(f"these graphs are not in the folder of public sets: {', '.join(missing)}")
    found: list[ReadTurn] = []
    async with Bench() as bench:
        for graph in sorted({row["graph"] for row in rows}):
            policy = POLICY_FILE.read_text("utf-8") if graph == CLINIC else None
            loaded = bench.load(graph, [files[graph]], policy, masks=graph != "opendialkg")
            found += [await _read(bench, loaded, row) for row in rows if row["graph"] == graph]
    return found


def right(turns: Sequence[ReadTurn]) -> float:
    return sum(turn.label == turn.read_as for turn in turns) / len(turns)


def turns_table(turns: Sequence[ReadTurn]) -> str:
    """Labels by row, what they were read as by column."""
    counts = Counter((turn.label, turn.read_as) for turn in turns)
    rows = []
    for label in KINDS:
        total = sum(counts[label, kind] for kind in KINDS)
        share = f"{counts[label, label] / total:.3f}" if total else "-"
        rows.append((label, *(str(counts[label, kind]) for kind in KINDS), share))
    rows.append(("all", *("",) * len(KINDS), f"{right(turns):.3f}"))
    return markdown_table(("label", *KINDS, "right"), rows)


async def _read(bench: Bench, loaded: LoadedSet, row: dict[str, object]) -> ReadTurn:
    history = [Message(role=role, content=text) for role, text in row["history"]]  # type: ignore[attr-defined]
    text = str(row["turn"])
    request = ChatRequest(
        graph=loaded.graph,
        messages=[*history, Message(role="user", content=text)],
        options=ChatOptions(suggestions=0),
    )
    answer = await bench.services.chat.answer(CALLER, request)
    return ReadTurn(str(row["kind"]), answer.turn, text)
