"""The exported network: torch's vectors or torch itself, whatever happens to the file."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from app.llm.embeddings import onnx_export as module
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.encoders import OnnxEncoder, TorchEncoder
from app.llm.embeddings.model_files import ModelFolder, encoder_config_of, find_model, sha256_of
from app.llm.embeddings.onnx_export import MAX_DIFFERENCE, is_plain_bert, main, open_exported
from app.settings import ConfigurationError, load_settings
from app.wiring.services import embedder_of
from tests.support.processes.tiny_model import make_tiny_model
from tests.support.service import settings_in
from tests.support.waiting import run_together

pytestmark = pytest.mark.model

WORDS = (
    "treated by", "lives in", "Žofštenbrück", "дата рождения", "出生地", "تاريخ", "जन्म", "생년월일", "ημερομηνία",
    "people.person.place_of_birth", "Eq7f2k", "1961-07-23", "O'Brien-Smith", "🙂", "e\u0301tude",
)  # fmt: skip
TEXTS = [
    " ".join(WORDS[(start + 3 * place) % len(WORDS)] for place in range(length))
    for start in range(len(WORDS))
    for length in (1, 2, 3, 5, 8, 16)
] + [f"relation {number} of a thing" for number in range(40)]
# Longer than the model reads; three hold every word, and each costs as much as fifty others.
TEXTS += [" ".join(WORDS[(start + 3 * place) % len(WORDS)] for place in range(120)) for start in range(3)]
CANARY = "Vexquilda Thrombury"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    found = find_model(str(make_tiny_model(tmp_path_factory.mktemp("tiny"), activation="relu")))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    found = find_model(str(make_tiny_model(tmp_path_factory.mktemp("plain"))))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def exported(tiny: ModelFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the tiny network, made as the service makes it: by a process of its own."""
    cache = tmp_path_factory.mktemp("exported")
    assert open_exported(tiny, cache) is not None
    return cache


@pytest.fixture
def cache(exported: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    for file in exported.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


@pytest.fixture
def exports(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Exports happen in this process, which has torch already; the folders that they went to."""
    done: list[Path] = []

    def here(model: ModelFolder, cache: Path) -> None:
        done.append(cache)
        main(str(model.path), str(cache))

    monkeypatch.setattr(module, "_export_apart", here)
    return done


@pytest.fixture
def made_again(monkeypatch: pytest.MonkeyPatch, exported: Path) -> list[Path]:
    """Instead of exporting anew, what a process of its own exported comes; the folders that it went to."""
    done: list[Path] = []

    def copied(_model: ModelFolder, cache: Path) -> None:
        done.append(cache)
        for file in exported.iterdir():
            (cache / file.name).write_bytes(file.read_bytes())

    monkeypatch.setattr(module, "_export_apart", copied)
    return done


def network_in(cache: Path) -> Path:
    (network,) = cache.glob("*.onnx")
    return network


@pytest.fixture(scope="module")
def reference() -> Embedder:
    """The boxed model as torch runs it."""
    return Embedder()


def test_the_boxed_model_gives_the_vectors_that_torch_gives(embedder: Embedder, reference: Embedder) -> None:
    assert isinstance(embedder._encoder, OnnxEncoder)
    assert np.abs(embedder.sentences(TEXTS) - reference.sentences(TEXTS)).max() <= MAX_DIFFERENCE
    for text in [*WORDS, *TEXTS[:60]]:
        assert embedder.count_tokens(text) == reference.count_tokens(text)


def test_a_bert_model_is_written_without_torch_and_gives_its_vectors(
    plain: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = TorchEncoder(str(plain.path)).encode(TEXTS)
    monkeypatch.setitem(sys.modules, "torch", None)
    first = open_exported(plain, tmp_path)
    assert first is not None
    assert np.abs(first.encode(TEXTS) - reference).max() <= MAX_DIFFERENCE


def test_a_file_of_the_model_that_changes_has_another_digest(plain: ModelFolder, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(plain.path, tmp_path / "model"))
    first = find_model(str(copied))
    assert first is not None
    assert first.digests == plain.digests
    weights = copied / "model.safetensors"
    before = weights.stat()
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = find_model(str(copied))
    assert changed is not None
    assert changed.digests["model.safetensors"] == sha256_of(weights) != plain.digests["model.safetensors"]


def test_what_is_no_plain_bert_is_left_to_torch(tiny: ModelFolder, plain: ModelFolder, tmp_path: Path) -> None:
    assert is_plain_bert(plain.path)
    assert not is_plain_bert(tiny.path)
    assert not is_plain_bert(tmp_path)
    (tmp_path / "config.json").write_text("{")
    assert not is_plain_bert(tmp_path)


def test_without_torch_a_model_that_needs_it_is_refused_in_words(
    tiny: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(module, "_export_apart", _no_torch)
    with pytest.raises(ConfigurationError, match="light installation"):
        embedder_of(settings_in(tmp_path, embedder=str(tiny.path)))


def test_without_torch_a_cache_that_can_not_be_written_is_named(
    plain: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="AROG_CACHE_DIR can be written"):
        embedder_of(settings_in(tmp_path, embedder=str(plain.path), cache_dir=tmp_path / "file"))


def _no_torch(_model: ModelFolder, _cache: Path) -> None:
    raise subprocess.CalledProcessError(1, "export")


def test_alone_or_in_company_a_text_has_the_same_vector(embedder: Embedder) -> None:
    assert embedder._encoder is not None
    some = TEXTS[::5]
    together = embedder._encoder.encode(some)
    for row in range(0, len(some), 8):
        assert np.abs(embedder._encoder.encode([some[row]])[0] - together[row]).max() <= MAX_DIFFERENCE


def test_the_tokens_vectors_are_those_that_torch_gives(embedder: Embedder, reference: Embedder) -> None:
    texts = ["Who wrote it?", "", "Žofštenbrück", TEXTS[-1]]
    given, expected = embedder.tokens(texts), reference.tokens(texts)
    for text, one, other in zip(texts, given, expected, strict=True):
        assert np.array_equal(one.spans, other.spans)
        assert np.abs(one.vectors - other.vectors).max() <= 1e-4
        mean = one.vectors.mean(axis=0)
        assert np.allclose(mean / np.linalg.norm(mean), embedder.sentences([text])[0], atol=1e-4)
    assert [texts[0][start:end] for start, end in given[0].spans] == ["", "Who", "wrote", "it", "?", ""]


def test_an_owners_model_is_exported_once_and_gives_the_vectors_that_torch_gives(
    tiny: ModelFolder, cache: Path, exports: list[Path]
) -> None:
    first = open_exported(tiny, cache)
    assert first is not None
    assert not exports
    assert np.abs(first.encode(TEXTS) - TorchEncoder(str(tiny.path)).encode(TEXTS)).max() <= MAX_DIFFERENCE


@pytest.mark.parametrize(
    "spoil",
    [
        lambda network: network.write_bytes(network.read_bytes()[:-100]),
        lambda network: network.write_bytes(network.read_bytes()[:-100] + bytes(100)),
        lambda network: network.unlink(),
        lambda network: network.with_suffix(".json").write_text('{"sha256": '),
        lambda network: network.with_suffix(".json").unlink(),
    ],
    ids=["truncated", "changed", "missing", "verdict cut", "no verdict"],
)
def test_a_broken_file_is_made_again(
    tiny: ModelFolder, cache: Path, exported: Path, made_again: list[Path], spoil: Callable[[Path], object]
) -> None:
    spoil(network_in(cache))
    again = open_exported(tiny, cache)
    assert made_again == [cache]
    assert again is not None
    whole = open_exported(tiny, exported)
    assert whole is not None
    assert np.array_equal(again.encode(TEXTS[:50]), whole.encode(TEXTS[:50]))


def test_a_broken_file_that_can_not_be_made_again_leaves_it_to_torch(
    tiny: ModelFolder, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_export_apart", _no_torch)
    network_in(cache).write_bytes(b"no network")
    with caplog.at_level(logging.WARNING, "arog.embedder"):
        embedder = Embedder(str(tiny.path), cache)
        vectors = embedder.sentences(TEXTS[:20])
    assert isinstance(embedder._encoder, TorchEncoder)
    assert np.allclose(vectors, TorchEncoder(str(tiny.path)).encode(TEXTS[:20]), atol=1e-6)
    assert "torch runs the sentence model" in caplog.text


def test_without_onnxruntime_torch_runs_the_model(
    tiny: ModelFolder, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    embedder = Embedder(str(tiny.path), cache)
    assert embedder.sentences(["lives in"]).shape == (1, 32)
    assert isinstance(embedder._encoder, TorchEncoder)


def test_a_folder_that_can_not_be_written_leaves_it_to_torch(tiny: ModelFolder, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert open_exported(tiny, tmp_path / "file") is None


def test_a_network_with_other_vectors_is_never_used_and_not_tried_again(
    tiny: ModelFolder, tmp_path: Path, exports: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_DIFFERENCE", -1.0)
    assert open_exported(tiny, tmp_path) is None
    assert not list(tmp_path.glob("*.onnx"))
    assert open_exported(tiny, tmp_path) is None
    assert exports == [tmp_path]


def test_a_model_that_does_not_take_the_mean_runs_on_torch(tmp_path: Path, cache: Path, exports: list[Path]) -> None:
    folder = make_tiny_model(tmp_path / "first", pooling="cls_token")
    assert encoder_config_of(folder) is None
    embedder = Embedder(str(folder), cache)
    assert embedder.sentences(["lives in"]).shape == (1, 32)
    assert isinstance(embedder._encoder, TorchEncoder)
    assert not exports


def test_a_model_that_was_fetched_earlier_is_found_by_its_name(
    tiny: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "models--someone--tiny"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("0" * 40)
    (kept / "snapshots").mkdir()
    (kept / "snapshots" / ("0" * 40)).symlink_to(tiny.path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    found = find_model("someone/tiny")
    assert found is not None
    assert found.digests == tiny.digests
    assert find_model("someone/other") is None


def test_no_text_that_was_embedded_is_in_a_file(tiny: ModelFolder, cache: Path) -> None:
    before = {file: file.read_bytes() for file in cache.iterdir()}
    embedder = Embedder(str(tiny.path), cache)
    embedder.sentences([CANARY, f"who treats {CANARY}"])
    embedder.count_tokens(CANARY)
    assert {file: file.read_bytes() for file in cache.iterdir()} == before
    assert not any(CANARY.encode() in data for data in before.values())


def test_many_threads_get_their_own_vectors_and_counts(tiny: ModelFolder, cache: Path) -> None:
    embedder, alone = Embedder(str(tiny.path), cache), TorchEncoder(str(tiny.path))
    wrong: list[str] = []
    expected = {
        text: (vector, alone.count_tokens(text)) for text, vector in zip(TEXTS, alone.encode(TEXTS), strict=True)
    }

    def work(start: int) -> None:
        for at in range(start, len(TEXTS), 12):
            texts = [TEXTS[at], TEXTS[-at], TEXTS[at // 2]]
            for text, vector in zip(texts, embedder.sentences(texts), strict=True):
                right, count = expected[text]
                if np.abs(vector - right).max() > MAX_DIFFERENCE or embedder.count_tokens(text) != count:
                    wrong.append(text)

    run_together(*(partial(work, start) for start in range(12)))
    assert not wrong


@pytest.mark.process
def test_an_exported_model_is_loaded_without_torch(embedder: Embedder) -> None:
    program = (
        "import sys; from pathlib import Path; from app.llm.embeddings.embedder import Embedder; "
        "Embedder(cache_dir=Path(sys.argv[1])).sentences(['lives in']); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'sentence_transformers')))"
    )
    subprocess.run([sys.executable, "-c", program, str(load_settings(None).cache_dir)], check=True)
