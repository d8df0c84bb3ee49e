"""Results of the last few questions are kept, and no more of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder, Vectors
from app.reader.scoring import similarity as module
from app.reader.scoring.path_scoring import PathScorer
from app.reader.scoring.similarity import CacheWarmer, Latest, step_text, texts_of, wholes_of
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Concept, Hop, NodeKind, Relation, RelationId, Schema, Signature, SignatureId
from kg_store.text.labels import worded


def counted(calls: list[str], result: str | None) -> Callable[[], str | None]:
    def work_out() -> str | None:
        calls.append("worked out")
        return result

    return work_out


def test_a_result_is_worked_out_once_even_if_it_is_none() -> None:
    latest, calls = Latest(), list[str]()
    assert [latest.of("key", counted(calls, None)) for _ in range(3)] == [None, None, None]
    assert len(calls) == 1


def test_the_oldest_result_goes_first() -> None:
    latest, calls = Latest(size=2), list[str]()
    for key in ("a", "b", "c", "a"):
        assert latest.of(key, counted(calls, key)) == key
    assert len(calls) == 4


LABELS = ("treated by", "people.person.place of birth", "directed by", "has child")


class Counting:
    """Encodes every text alike; keeps what it was asked, and waits where the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.go_on.wait(30)
        self.asked += texts
        return np.ones((len(texts), 4), dtype=np.float32) / 2

    def count_tokens(self, text: str) -> int:
        return len(text)


@pytest.fixture
def encoder() -> Counting:
    return Counting()


@pytest.fixture
def embedder(encoder: Counting) -> Embedder:
    embedder = Embedder()
    embedder._encoder = encoder
    return embedder


def schema_of(*labels: str) -> Schema:
    relations = tuple(Relation(RelationId(n), f"http://r/{n}", label, label) for n, label in enumerate(labels))
    return Schema(relations, (Signature(SignatureId(0), NodeKind.ENTITY, (), ()),), (Concept("doctor, film"),))


def test_what_ranks_and_scores_paths_is_embedded_before(embedder: Embedder, encoder: Counting) -> None:
    warming = CacheWarmer(embedder)
    warming.begin(schema_of(*LABELS))
    warming.wait()
    assert sorted(encoder.asked) == sorted({*texts_of(schema_of(*LABELS)), *wholes_of(schema_of(*LABELS))})
    encoder.asked.clear()
    paths = [WordedPath((way,), ("thing",)) for label in LABELS for way in (label, f"^{label}")]
    PathScorer(embedder).scores("who treats Eq7f2k", "Eq7f2k", "thing", paths)
    assert encoder.asked
    assert all(text in "who treats Eq7f2k" for text in encoder.asked)


def test_a_question_that_comes_meanwhile_waits_for_a_few_texts_only(
    embedder: Embedder, encoder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_A_TIME", 2)
    encoder.go_on.clear()
    warming = CacheWarmer(embedder)
    warming.begin(schema_of(*(f"relation {number}" for number in range(200))))
    assert encoder.begun.wait(30)
    asker = threading.Thread(target=embedder.sentences, args=(["who is it"],))
    asker.start()
    while not embedder._runs._waiting:
        """The question does not queue yet."""
    encoder.go_on.set()
    asker.join()
    warming.wait()
    assert encoder.asked.index("who is it") == 2


def test_it_stops_when_it_is_closed(embedder: Embedder, encoder: Counting) -> None:
    encoder.go_on.clear()
    warming = CacheWarmer(embedder)
    warming.begin(schema_of(*(f"relation {number}" for number in range(200))))
    assert encoder.begun.wait(30)
    warming._ends.set()
    encoder.go_on.set()
    warming.close()
    assert len(encoder.asked) == module.TEXTS_AT_A_TIME


def test_the_steps_through_what_only_joins_others_are_embedded_too() -> None:
    schema = schema_of("people.person.employment", "business.employment.employer")
    person, employer = Hop(RelationId(0)), Hop(RelationId(1))
    joining = Signature(SignatureId(1), NodeKind.MEDIATOR, (), (person.reversed(), employer))
    joined = Schema(schema.relations, (*schema.signatures, joining), (*schema.concepts, Concept("employment")))
    through = step_text(worded(joined, (person, employer)), tail_concept(joined, (person, employer)))
    assert through in wholes_of(joined)
    assert through not in wholes_of(schema)


def test_no_more_is_embedded_than_fits_beside_what_questions_bring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TEXTS", 3)
    assert len(texts_of(schema_of(*LABELS))) == 3
