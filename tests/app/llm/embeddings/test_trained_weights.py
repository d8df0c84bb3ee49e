"""Files of what is trained: they give back what was written, and are refused where they are another or not whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from safetensors import safe_open
from safetensors.numpy import load, save

from app.language.readings import WordedPath
from app.llm.embeddings import trained_weights as heads
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.embeddings.trained_weights import (
    Adapter,
    AdapterError,
    NetworkWeightsError,
    RelationAdapter,
    TrainedNetwork,
    read_head,
    read_network,
    write_head,
    write_network,
)
from app.reader.scoring.path_scoring import PathScorer

pytestmark = pytest.mark.model
NAME = "retriever"
ARRAYS = {
    "up.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "down.weight": np.arange(6, 12, dtype=np.float32).reshape(2, 3).T,
}


@dataclass(frozen=True, slots=True)
class Config:
    width: int = 2


def shapes_of(config: Config) -> dict[str, tuple[int, ...]]:
    return {"up.weight": (config.width, 3), "down.weight": (3, config.width)}


def read(file: Path, name: str = NAME) -> TrainedNetwork[Config]:
    return read_network(name, Config, shapes_of, file, BOXED_MODEL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_network(NAME, TrainedNetwork(Config(), ARRAYS), tmp_path / "weights", BOXED_MODEL)
    return tmp_path / "weights"


def parts_of(file: Path) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, object]]:
    """Its tensors, and what is told of them."""
    with safe_open(str(file), framework="numpy") as opened:
        return load(file.read_bytes()), json.loads(opened.metadata()[NAME])


def test_a_file_gives_back_what_was_written_and_then_the_same_bytes(file: Path) -> None:
    found = read(file)
    arrays = found.arrays
    assert found.config == Config()
    assert arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(array, arrays[place]) for place, array in ARRAYS.items())
    content = file.read_bytes()
    write_network(NAME, TrainedNetwork(Config(), dict(reversed(arrays.items()))), file, BOXED_MODEL)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ({"format": 0}, "of this version"),
        ({"model": "another"}, "another sentence model"),
        ({"config": {"width": 64}}, "not whole"),
        ({"config": None}, "not whole"),
    ],
)
def test_a_file_of_another_shape_or_for_another_model_is_refused(
    file: Path, spoiled: dict[str, object], said: str
) -> None:
    tensors, told = parts_of(file)
    file.write_bytes(save(tensors, {NAME: json.dumps(told | spoiled)}))
    with pytest.raises(NetworkWeightsError, match=said):
        read(file)


def test_a_file_that_is_not_whole_is_refused(file: Path) -> None:
    tensors, told = parts_of(file)
    for spoiled in (dict(list(tensors.items())[1:]), {place: value * np.nan for place, value in tensors.items()}):
        file.write_bytes(save(spoiled, {NAME: json.dumps(told)}))
        with pytest.raises(NetworkWeightsError, match="not whole"):
            read(file)


@pytest.mark.parametrize("content", [b"", b"no tensors"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(NetworkWeightsError, match="arog train retriever"):
        read(tmp_path / "file")
    with pytest.raises(NetworkWeightsError, match="can't be read"):
        read(tmp_path / "none")


def test_the_file_of_one_network_is_none_of_another(file: Path) -> None:
    with pytest.raises(NetworkWeightsError, match="no extractor"):
        read(file, "extractor")


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
