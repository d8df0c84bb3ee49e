"""The embedder: unit vectors, the same every time, from several threads at once, and from trusted weights alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from app.llm.embeddings import embedder as module
from app.llm.embeddings import model_files
from app.llm.embeddings.embedder import BatchingEncoder, Embedder, Vectors
from app.llm.embeddings.model_files import ModelNotTrustedError


class Lengths:
    """Encodes a text as its length and its first letter; keeps what it was asked, and can be held."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(list(texts))
        self.begun.set()
        assert self.go_on.wait(30)
        if "broken" in texts:
            raise ValueError("broken")
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


def waiting(runs: BatchingEncoder, count: int) -> None:
    """Returns when so many wait for the one that runs."""
    for _ in range(3000):
        if len(runs._waiting) == count:
            return
        sleep(0.01)
    raise AssertionError("they do not queue")


def held(encode: Lengths, runs: BatchingEncoder, pool: ThreadPoolExecutor, *requests: list[str]) -> list[Vectors]:
    """Asks all of `requests` while a first one runs."""
    encode.go_on.clear()
    first = pool.submit(runs.vectors, ["first"])
    assert encode.begun.wait(30)
    futures = []
    for number, texts in enumerate(requests, 1):
        futures.append(pool.submit(runs.vectors, texts))
        waiting(runs, number)
    encode.go_on.set()
    assert first.result()[0, 0] == 5
    return [future.result() for future in futures]


def test_a_lone_caller_runs_at_once() -> None:
    encode = Lengths()
    assert BatchingEncoder(encode).vectors(["ab", "c", "ab"]).tolist() == [[2, 97], [1, 99], [2, 97]]
    assert encode.asked == [["ab", "c"]]


def test_those_who_wait_share_one_run_and_each_gets_its_own_rows() -> None:
    encode = Lengths()
    requests = [["z" * (number + 1), "same", chr(97 + number)] for number in range(8)]
    with ThreadPoolExecutor(9) as pool:
        answers = held(encode, BatchingEncoder(encode), pool, *requests)
    assert len(encode.asked) == 2
    assert len(encode.asked[1]) == len({text for texts in requests for text in texts})
    for texts, vectors in zip(requests, answers, strict=True):
        assert vectors.tolist() == [[len(text), ord(text[0])] for text in texts]


def test_a_run_is_no_longer_than_so_many_texts_and_the_first_come_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_OF_A_RUN", 4)
    encode = Lengths()
    with ThreadPoolExecutor(4) as pool:
        held(encode, BatchingEncoder(encode), pool, ["a", "b", "c"], ["d"], ["e", "f", "g", "h", "i"])
    assert encode.asked[1:] == [["a", "b", "c", "d"], ["e", "f", "g", "h", "i"]]


def test_an_error_reaches_all_in_the_run_and_the_next_run_works() -> None:
    encode = Lengths()
    runs = BatchingEncoder(encode)
    with pytest.raises(ValueError, match="broken"):
        runs.vectors(["broken"])
    assert runs.vectors(["whole"]).tolist() == [[5, 119]]


TEXTS = ["treated by", "lives in", "date of birth", "treated by"]


def test_vectors_are_of_unit_length_and_equal_for_equal_texts(embedder: Embedder) -> None:
    vectors = embedder.sentences(TEXTS)
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert np.array_equal(vectors[0], vectors[3])
    assert np.array_equal(embedder.sentences(["lives in"])[0], vectors[1])


def test_tokens_are_counted(embedder: Embedder) -> None:
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("lives in") == 2
    assert embedder.count_tokens("word " * 2000) == 2000


@pytest.mark.slow
def test_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        Embedder(str(tmp_path / "no-such-model")).load()


@pytest.mark.model
def test_other_weights_in_the_box_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "BOXED_WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(ModelNotTrustedError):
        Embedder().load()
