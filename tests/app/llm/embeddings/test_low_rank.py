"""A matcher: a small file that is merged into a second sentence model, and refused where it does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.low_rank import LowRankError, read_update, write_update
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.embeddings.onnx_encoder import OnnxEncoder
from app.llm.embeddings.onnx_export import MAX_DIFFERENCE
from app.reader.scoring.similarity import nearness

PLACE = "encoder.layer.5.output.dense"
TEXTS = ["treated by doctor", "who is it treated by", "place of birth"]


def maps(scale: float = 0.02, outputs: int = 384) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    draw = np.random.default_rng(0)
    return {PLACE: (draw.normal(0, scale, (outputs, 4)), draw.normal(0, 1, (4, 1536)))}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_update(maps(), tmp_path / "matcher.npz", BOXED_MODEL)
    return tmp_path / "matcher.npz"


def test_what_was_written_is_read(file: Path) -> None:
    update = read_update(file, BOXED_MODEL)
    up, down = maps()[PLACE]
    assert np.allclose(update.added_to(PLACE), up @ down, atol=0.02)


def test_the_same_maps_give_the_same_file(file: Path, tmp_path: Path) -> None:
    write_update(maps(), tmp_path / "again.npz", BOXED_MODEL)
    assert file.read_bytes() == (tmp_path / "again.npz").read_bytes()
    write_update(maps(0.03), tmp_path / "again.npz", BOXED_MODEL)
    assert read_update(file, BOXED_MODEL).digest != read_update(tmp_path / "again.npz", BOXED_MODEL).digest


@pytest.mark.parametrize("spoilt", [b"", b"no archive", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_matcher_is_refused(tmp_path: Path, spoilt: bytes) -> None:
    (tmp_path / "matcher.npz").write_bytes(spoilt)
    with pytest.raises(LowRankError, match="arog train matcher"):
        read_update(tmp_path / "matcher.npz", BOXED_MODEL)


def test_a_matcher_for_another_model_is_refused(tmp_path: Path) -> None:
    write_update(maps(), tmp_path / "matcher.npz", "another-model")
    with pytest.raises(LowRankError, match="another sentence model"):
        read_update(tmp_path / "matcher.npz", BOXED_MODEL)


def test_half_a_matcher_is_refused(tmp_path: Path) -> None:
    up, down = maps()[PLACE]
    for odd in ((up[:, :3], down), (np.full_like(up, np.inf), down), (up[0], down)):
        write_update({PLACE: odd}, tmp_path / "matcher.npz", BOXED_MODEL)
        with pytest.raises(LowRankError, match="not whole"):
            read_update(tmp_path / "matcher.npz", BOXED_MODEL)


@pytest.mark.model
def test_a_matcher_of_other_shapes_than_the_model_is_refused(tmp_path: Path) -> None:
    write_update(maps(outputs=380), tmp_path / "matcher.npz", BOXED_MODEL)
    with pytest.raises(LowRankError, match="does not fit"):
        Embedder(matcher=read_update(tmp_path / "matcher.npz", BOXED_MODEL)).load()


@pytest.mark.model
def test_wholes_alone_are_the_matchers(embedder: Embedder, file: Path) -> None:
    matched = Embedder(matcher=read_update(file, BOXED_MODEL))
    assert np.abs(matched.sentences(TEXTS) - embedder.sentences(TEXTS)).max() <= MAX_DIFFERENCE
    assert np.array_equal(embedder.wholes(TEXTS), embedder.sentences(TEXTS))
    moved = matched.wholes(TEXTS)
    assert np.abs(moved - embedder.sentences(TEXTS)).max() > 0.01
    assert np.allclose(np.linalg.norm(moved, axis=1), 1.0, atol=1e-5)
    ways = [[("treated by", "doctor")], [("place of birth", "place")]]
    asked = "who is it treated by"
    assert not np.allclose(nearness(matched, asked, ways), nearness(embedder, asked, ways), atol=1e-3)


@pytest.mark.model
def test_the_exported_matcher_gives_the_vectors_that_torch_gives(tmp_path: Path, file: Path) -> None:
    update = read_update(file, BOXED_MODEL)
    exported = Embedder(cache_dir=tmp_path / "cache", update=update)
    exported.load()
    assert isinstance(exported._encoder, OnnxEncoder)
    assert np.abs(exported.sentences(TEXTS) - Embedder(update=update).sentences(TEXTS)).max() <= MAX_DIFFERENCE
