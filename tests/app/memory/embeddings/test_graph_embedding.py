"""GraphEmbedding: grows without training, the same for the same seed, better than the mean, and sealed on disk."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from app.memory.embeddings.graph_embedding import GraphEmbedding, UnknownEntityError
from app.memory.embeddings.model import FactRows
from app.memory.embeddings.sealed_embedding import SealedEmbeddings, from_bytes, to_bytes
from app.memory.embeddings.training import TrainingSettings
from kg_store.errors import MasterKeyError
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.vault import VaultScope
from kg_store.version_builder import EMBEDDING_FILE, VersionCipher

HOW = TrainingSettings(epochs=30, batch=64, negatives=32)
WORKS_IN, LIVES_IN, IN_COUNTRY, LIKES = 0, 2, 4, 6
TOWNS, COUNTRIES, FIRST = 12, 3, 1_000
SCOPE = VaultScope("tenant", "graph", "version")


def town(number: int) -> int:
    return 100 + number % TOWNS


def person(number: int) -> list[tuple[int, int, int]]:
    """Returns the facts of a person who works in one town and lives in the next one of the same country."""
    lives = number % TOWNS // 4 * 4 + (number + 1) % 4
    return [(FIRST + number, WORKS_IN, town(number)), (FIRST + number, LIVES_IN, town(lives))]


def graph(people: int) -> FactRows:
    towns = [(town(each), IN_COUNTRY, 10 + each // 4) for each in range(TOWNS)]
    return np.array([*towns, *(fact for each in range(people) for fact in person(each))], np.int64)


@pytest.fixture(scope="module")
def trained() -> GraphEmbedding:
    return GraphEmbedding.trained(graph(120), 3, HOW, 16, seed=1)


@pytest.fixture
def embedding(trained: GraphEmbedding) -> GraphEmbedding:
    return copy.deepcopy(trained)


def rank_of(embedding: GraphEmbedding, fact: tuple[int, int, int]) -> int:
    scores = embedding.score_tails(fact[0], fact[1])
    return int((scores > scores[embedding.row_of(fact[2])]).sum()) + 1


def test_the_same_seed_gives_the_same_vectors_and_another_gives_others() -> None:
    first, again, other = (GraphEmbedding.trained(graph(24), 3, HOW, 8, seed=each) for each in (1, 1, 2))
    assert to_bytes(first) == to_bytes(again) != to_bytes(other)
    for each in (first, again):
        each.add_facts(np.array([(1, WORKS_IN, town(0))]))
        each.refine(np.array([(1, WORKS_IN, town(0))]), graph(24), 50)
    assert to_bytes(first) == to_bytes(again)


def test_unseen_people_are_placed_better_than_at_the_mean(trained: GraphEmbedding) -> None:
    made, usual = [], []
    for number in range(3 * TOWNS):
        works, lives = ((1, relation, tail) for _, relation, tail in person(number))
        grown, mean = copy.deepcopy(trained), copy.deepcopy(trained)
        grown.add_facts(np.array([works]))
        mean.add_episode(1, mean.mids.tolist())
        made.append(1 / rank_of(grown, lives))
        usual.append(1 / rank_of(mean, lives))
        assert {near.mid >= FIRST for near in grown.nearest(1, 3)} == {True}
    assert np.mean(made) > 1.2 * np.mean(usual)


def test_a_new_entity_does_not_push_others_from_their_places(embedding: GraphEmbedding) -> None:
    asked = [fact for number in range(24) for fact in person(number)]
    before = np.mean([1 / rank_of(embedding, fact) for fact in asked])
    embedding.add_facts(np.array([(number, LIVES_IN, town(number)) for number in range(1, 9)]))
    assert np.mean([1 / rank_of(embedding, fact) for fact in asked]) > 0.9 * before


def test_an_old_entity_moves_only_after_enough_new_facts(embedding: GraphEmbedding) -> None:
    row = embedding.row_of(town(0))
    before = embedding.model.vectors[row].copy()
    newcomers = iter(range(1, 99))
    embedding.add_facts(np.array([(next(newcomers), WORKS_IN, town(0))]))
    assert (embedding.model.vectors[row] == before).all()
    embedding.add_facts(np.array([(next(newcomers), WORKS_IN, town(0)) for _ in range(20)]))
    assert (embedding.model.vectors[row] != before).any()


def test_a_new_relation_is_made_of_its_facts(embedding: GraphEmbedding) -> None:
    held_out = [(FIRST + number, LIKES, town(number)) for number in range(60, 72)]
    embedding.add_facts(np.array([(FIRST + number, LIKES, town(number)) for number in range(60)]))
    assert np.mean([1 / rank_of(embedding, fact) for fact in held_out]) > 0.5


def test_a_relation_without_facts_is_as_those_with_words_like_its_own(embedding: GraphEmbedding) -> None:
    embedding.add_relations(np.array([[0.1, 0.9, 0.0]], np.float32))
    asked, like = (embedding.score_tails(FIRST, relation) for relation in (LIKES, LIVES_IN))
    assert np.corrcoef(asked, like)[0, 1] > 0.99
    assert np.argmax(asked) == embedding.row_of(person(0)[1][2])


def test_an_episode_is_the_mean_of_its_members_and_follows_them(embedding: GraphEmbedding) -> None:
    embedding.add_facts(np.array([(1, WORKS_IN, town(0))]))
    embedding.add_episode(5, [1, 2])
    vectors = embedding.model.vectors
    assert vectors[embedding.row_of(5)] == pytest.approx(vectors[embedding.row_of(1)])
    assert vectors[embedding.row_of(2)] == pytest.approx(vectors[embedding.row_of(1)])
    embedding.add_facts(np.array([(1, LIVES_IN, town(9))]))
    vectors = embedding.model.vectors
    mean = vectors[[embedding.row_of(1), embedding.row_of(2)]].mean(axis=0)
    assert vectors[embedding.row_of(5)] == pytest.approx(mean)


def test_what_is_unknown_is_refused(embedding: GraphEmbedding) -> None:
    for ask in (
        lambda: embedding.score_tails(77, WORKS_IN),
        lambda: embedding.score_tails(town(0), 60),
        lambda: embedding.nearest(77, 3),
        lambda: embedding.add_episode(5, [77]),
    ):
        with pytest.raises(UnknownEntityError):
            ask()


def test_an_embedding_is_read_as_it_was_written(embedding: GraphEmbedding) -> None:
    embedding.add_facts(np.array([(1, WORKS_IN, town(0))]))
    embedding.add_episode(5, [1, town(0)])
    read = from_bytes(to_bytes(embedding))
    for each in (read, embedding):
        each.add_facts(np.array([(2, LIVES_IN, town(3)), (1, LIVES_IN, town(3))]))
    assert (read.score_tails(1, WORKS_IN) == embedding.score_tails(1, WORKS_IN)).all()
    assert (read.score_tails(5, WORKS_IN) == embedding.score_tails(5, WORKS_IN)).all()


def test_the_file_tells_nothing_and_opens_for_its_version_alone(tmp_path: Path, trained: GraphEmbedding) -> None:
    folder = DataFolder(tmp_path)
    lock = folder.begin(SCOPE.version_id)
    try:
        store = SealedEmbeddings(VersionCipher(folder, MasterKey.from_text(MasterKey.generate())))
        store.save(SCOPE, trained)
        held = (folder.path_of(SCOPE.version_id) / EMBEDDING_FILE).read_bytes()
        for clear in (trained.mids.tobytes()[:64], trained.model.vectors.tobytes()[:64], b"vectors", b"epochs"):
            assert clear in to_bytes(trained)
            assert clear not in held
        assert (store.load(SCOPE).model.vectors == trained.model.vectors).all()
        with pytest.raises(MasterKeyError):
            SealedEmbeddings(VersionCipher(folder, MasterKey.from_text(MasterKey.generate()))).load(SCOPE)
    finally:
        lock.release()
