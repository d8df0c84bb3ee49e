"""The file of a small network: it gives back what was written, and is refused where it is another or not whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from safetensors import safe_open
from safetensors.numpy import load, save

from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.embeddings.trained_weights import Arrays, NetworkWeightsError, read_network, write_network

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


def read(file: Path, name: str = NAME) -> tuple[Config, Arrays]:
    return read_network(name, Config, shapes_of, file, BOXED_MODEL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_network(NAME, Config(), ARRAYS, tmp_path / "weights", BOXED_MODEL)
    return tmp_path / "weights"


def parts_of(file: Path) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, object]]:
    """Its tensors, and what is told of them."""
    with safe_open(str(file), framework="numpy") as opened:
        return load(file.read_bytes()), json.loads(opened.metadata()[NAME])


def test_a_file_gives_back_what_was_written_and_then_the_same_bytes(file: Path) -> None:
    config, arrays = read(file)
    assert config == Config()
    assert arrays.keys() == ARRAYS.keys()
    assert all(np.array_equal(array, arrays[place]) for place, array in ARRAYS.items())
    content = file.read_bytes()
    write_network(NAME, config, dict(reversed(arrays.items())), file, BOXED_MODEL)
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


@pytest.mark.parametrize("told", ["[]", "no json"])
def test_a_file_that_tells_nothing_of_itself_is_refused(file: Path, told: str) -> None:
    file.write_bytes(save(parts_of(file)[0], {NAME: told}))
    with pytest.raises(NetworkWeightsError, match="of this version"):
        read(file)


def test_the_file_of_one_network_is_none_of_another(file: Path) -> None:
    with pytest.raises(NetworkWeightsError, match="no extractor"):
        read(file, "extractor")
