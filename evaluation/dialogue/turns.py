"""The classifier of turns: a logistic regression, trained on labelled turns and measured as the service reads them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from app.chat.dialogue.turn_classifier import KINDS, VECTOR_SCALE, words_row
from app.chat.dialogue.turn_features import LENGTHS, lengths, word_groups
from app.demo import POLICY_FILE
from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import weights_digest_of
from client_sdk.protocol import ChatOptions, ChatRequest, Message
from evaluation.bench.bench import CALLER, Bench
from evaluation.datasets.questions import QuestionsError
from evaluation.natural.run import CLINIC, GRAPHS

SETS: Final = Path(__file__).parent / "sets"
TRAINING: Final = SETS / "turns_training.jsonl"
FURTHER: Final = {
    "films": str(GRAPHS["wikidata"]),
    "hospital": "rdf/hospital.ttl",
    "c360": "rdf/c360.ttl",
    "opendialkg": "opendialkg/triples.tsv",
}
MIN_RIGHT: Final = 0.93
MIN_SEEN: Final = 2
"""A word group that fewer turns hold is left out."""
_STRENGTH: Final = 0.001
"""Of the L2 penalty, for one turn."""


class LabelledTurn(NamedTuple):
    """A turn with names taken out, and its kind."""

    text: str
    kind: str


class ReadTurn(NamedTuple):
    """A turn's label and what it was read as."""

    label: str
    read_as: str
    text: str


def read_labelled(file: Path) -> list[LabelledTurn]:
    """One JSON object a line: `text` and `kind`. Raises ValueError with the line."""
    found = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            turn = LabelledTurn(row["text"], row["kind"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"line {number} is no object with text and kind") from None
        if turn.kind not in KINDS:
            raise ValueError(f"line {number} has another kind than {', '.join(KINDS)}")
        found.append(turn)
    return found


def train_turns(turns: Sequence[LabelledTurn], embedder: Embedder, model: str) -> bytes:
    """The weights as a file; the same turns give the same bytes. `model`: the name of the sentence model."""
    counts = Counter(group for turn in turns for group in word_groups(turn.text))
    groups = {group: at for at, group in enumerate(sorted(each for each, seen in counts.items() if seen >= MIN_SEEN))}
    words = np.stack([words_row(groups, turn.text) for turn in turns])
    length = np.array([lengths(turn.text) for turn in turns], np.float32)
    vectors = VECTOR_SCALE * embedder.sentences([turn.text for turn in turns])
    kinds = [KINDS.index(turn.kind) for turn in turns]
    alone = _fitted(np.hstack([length, words]), kinds)
    both = _fitted(np.hstack([length, words, vectors]), kinds)
    count = LENGTHS + len(groups)
    arrays: dict[str, Any] = {
        "groups": np.array(list(groups)),
        "model": np.array(weights_digest_of(model)),
        "alone_lengths": alone[:LENGTHS],
        "alone_words": alone[LENGTHS:],
        "with_vector_lengths": both[:LENGTHS],
        "with_vector_words": both[LENGTHS:count],
        "with_vector_vector": both[count:],
    }
    file = BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _fitted(features: npt.NDArray[np.float32], kinds: Sequence[int]) -> npt.NDArray[np.float16]:
    """The weights; shape (features, kinds)."""
    from sklearn.linear_model import LogisticRegression

    strength = 1 / (_STRENGTH * len(kinds))
    fit = LogisticRegression(C=strength, fit_intercept=False, max_iter=2_000, tol=1e-5)
    fitted: npt.NDArray[np.float16] = fit.fit(features.astype(np.float64), kinds).coef_.T.astype(np.float16)
    return fitted


async def read_turns(data: Path, half: Literal["seen", "shut"]) -> list[ReadTurn]:
    """Each turn of a half is sent to the service with its history. Raises QuestionsError where a graph is missing."""
    shut = SETS / "turns_shut.jsonl.gz"
    text = gzip.decompress(shut.read_bytes()).decode() if half == "shut" else (SETS / "turns_seen.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    files = {**GRAPHS, **{name: data / path for name, path in FURTHER.items()}}
    graphs = sorted({row["graph"] for row in rows})
    if missing := [graph for graph in graphs if not files[graph].is_file()]:
        raise QuestionsError(f"these graphs are not in the folder of public sets: {', '.join(missing)}")
    found: list[ReadTurn] = []
    async with Bench() as bench:
        for graph in graphs:
            policy = POLICY_FILE.read_text("utf-8") if graph == CLINIC else None
            loaded = bench.load(graph, [files[graph]], policy, masks=graph != "opendialkg")
            for row in (row for row in rows if row["graph"] == graph):
                said = [*row["history"], ("user", row["turn"])]
                request = ChatRequest(
                    graph=loaded.graph,
                    messages=[Message(role=role, content=text) for role, text in said],
                    options=ChatOptions(suggestions=0),
                )
                answer = await bench.services.chat.answer(CALLER, request)
                found.append(ReadTurn(row["kind"], answer.turn, row["turn"]))
    return found


def right(turns: Sequence[ReadTurn]) -> float:
    return sum(turn.label == turn.read_as for turn in turns) / len(turns)


def turns_table(turns: Sequence[ReadTurn]) -> str:
    """Labels by row, what they were read as by column."""
    counts = Counter((turn.label, turn.read_as) for turn in turns)
    rows = []
    for label in KINDS:
        row = [counts[label, kind] for kind in KINDS]
        rows.append((label, *row, f"{counts[label, label] / sum(row):.3f}" if any(row) else "-"))
    rows.append(("all", *[""] * len(KINDS), f"{right(turns):.3f}"))
    return markdown_table(("label", *KINDS, "right"), rows)
