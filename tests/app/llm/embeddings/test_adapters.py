"""A head's file comes back as it was; a wrong one is told; without training nothing changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.language.readings import WordedPath
from app.llm.embeddings import trained_weights as heads
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.embeddings.trained_weights import Adapter, AdapterError, RelationAdapter, read_head, write_head
from app.reader.scoring.path_scoring import PathScorer

DIMENSIONS = 384
PATHS = [WordedPath(("treated by",), ("doctor",)), WordedPath(("treated by", "lives in"), ("doctor", "city"))]


def drawn(scale: float = 0.1) -> RelationAdapter:
    draw = np.random.default_rng(0)

    def adapter() -> Adapter:
        down, up = draw.normal(size=(DIMENSIONS, 4)), draw.normal(size=(4, DIMENSIONS))
        return Adapter(down.astype(np.float32), (scale * up).astype(np.float32))

    hops = (scale * draw.normal(size=(DIMENSIONS, heads.MAX_LENGTH))).astype(np.float32)
    return RelationAdapter({"question": adapter(), "step": adapter()}, 1.5, -0.25, hops)


def scores(embedder: Embedder, head: RelationAdapter) -> list[float]:
    found = PathScorer(embedder, head=head).scores("where does the doctor of Eq7f2k live", "Eq7f2k", "patient", PATHS)
    return [float(score) for score in found]


def test_a_head_comes_back_as_it_was_written(tmp_path: Path, embedder: Embedder) -> None:
    file = tmp_path / "head.npz"
    write_head(drawn(), file, BOXED_MODEL)
    again = read_head(file, BOXED_MODEL)
    assert (again.gain, again.offset) == (1.5, -0.25)
    assert scores(embedder, again) == scores(embedder, drawn())
    assert file.stat().st_size < 2_000_000


def test_a_head_that_has_learnt_nothing_changes_nothing(embedder: Embedder) -> None:
    untrained = drawn(scale=0.0)
    same = RelationAdapter(untrained.adapters, hops=untrained.hops)
    assert scores(embedder, same) == pytest.approx(scores(embedder, heads.NO_HEAD), abs=1e-6)
    assert scores(embedder, drawn()) != pytest.approx(scores(embedder, heads.NO_HEAD), abs=1e-3)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_file_of_something_else_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "head.npz"
    file.write_bytes(content)
    with pytest.raises(AdapterError, match="arog train reasoner"):
        read_head(file, BOXED_MODEL)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="can't be read"):
        read_head(tmp_path / "none.npz", BOXED_MODEL)


@pytest.mark.model
def test_a_head_of_another_sentence_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "head.npz"
    write_head(drawn(), file, "another/model")
    with pytest.raises(AdapterError, match="another sentence model"):
        read_head(file, BOXED_MODEL)


def test_arrays_that_run_code_when_they_are_read_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "head.npz"
    np.savez(file, format=np.array([print], dtype=object))
    with pytest.raises(AdapterError, match="can't be read"):
        read_head(file, BOXED_MODEL)


@pytest.mark.model
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", np.array(99)),
        ("gain", None),
        ("gain", np.array(np.nan)),
        ("question_up", None),
        ("question_up", np.zeros((3, DIMENSIONS))),
        ("question_down", np.full((DIMENSIONS, 4), np.inf)),
        ("hops", np.zeros((DIMENSIONS, 1))),
    ],
)
def test_a_head_that_is_not_whole_is_refused(tmp_path: Path, name: str, value: np.ndarray | None) -> None:
    file = tmp_path / "head.npz"
    write_head(drawn(), file, BOXED_MODEL)
    with np.load(file) as opened:
        arrays = {key: opened[key] for key in opened.files if key != name}
    np.savez(file, **arrays, **({} if value is None else {name: value}))
    with pytest.raises(AdapterError, match="arog train reasoner"):
        read_head(file, BOXED_MODEL)
