"""Growing graphs: ranks against a slow reference, snapshots as they are packed, and every way on a small graph."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from app.memory.embeddings.model import EmbeddingModel, FactRows
from app.memory.embeddings.training import TrainingSettings
from evaluation.datasets.questions import QuestionsError
from evaluation.growth.lifelong import (
    BY_FACTS,
    BY_MEAN,
    BY_WORDS,
    CLOSED,
    GROWN,
    RETRAINED,
    TUNED,
    UNSEEN,
    USUAL,
    Lifelong,
    SnapshotResult,
    by_way,
    measures,
    of_way,
    transfer,
)
from evaluation.growth.ranks import filtered_ranks
from evaluation.growth.snapshots import read_snapshots

PEOPLE, TOWNS = 30, 6
TESTED = [18, 18, 24, 18, 18]


def lines(people: range) -> list[str]:
    """Returns facts of people who live in one town and work in two others, which the first decides."""
    return [
        f"p{each}\t{relation}\tt{(each + further) % TOWNS}"
        for each in people
        for relation, further in (("lives", 0), ("works", 1), ("meets", 2))
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of five snapshots, each with new people; every fifth fact is tested, and every fifth validates.

    The third snapshot has a new relation of people who are known.
    """
    made = tmp_path_factory.mktemp("lifelong")
    with tarfile.open(made / "ENTITY.tar.xz", "w:xz") as packed:
        for number in range(5):
            facts = lines(range(number * PEOPLE, (number + 1) * PEOPLE))
            facts += [f"p{each}\ttrusts\tt{each % TOWNS}" for each in range(PEOPLE) if number == 2]
            parts = {"test": facts[::5], "valid": facts[1::5], "train": [*facts[2::5], *facts[3::5], *facts[4::5]]}
            for name, held in parts.items():
                text = "".join(f"{each}\n" for each in held).encode()
                member = tarfile.TarInfo(f"ENTITY/{number}/{name}.txt")
                member.size = len(text)
                packed.addfile(member, io.BytesIO(text))
    return made


def test_ranks_are_those_of_a_slow_reference() -> None:
    draw = np.random.default_rng(0)
    model = EmbeddingModel.untrained(9, 2, 3, draw)
    model.vectors[7] = model.vectors[8]  # Equal scores share a rank.
    facts: FactRows = np.unique(draw.integers((9, 4, 9), size=(60, 3)), axis=0)
    asked = facts[::3]
    expected = []
    for head, relation, tail in asked:
        scores = model.score_tails(np.array([head]), np.array([relation]))[0]
        known = {int(each[2]) for each in facts if (each[:2] == (head, relation)).all()} - {int(tail)}
        others = [scores[each] - scores[tail] for each in range(9) if each not in known and each != tail]
        expected.append(1 + sum(1.0 if gap > 1e-5 else 0.5 if gap > -1e-5 else 0.0 for gap in others))
    assert filtered_ranks(model, asked, facts).tolist() == expected


def test_snapshots_number_things_as_they_appear(folder: Path) -> None:
    read, relations = read_snapshots(folder, "ENTITY")
    assert sorted(relations) == ["lives", "meets", "trusts", "works"]
    assert (read[0].entities, read[0].relations) == (PEOPLE + TOWNS, 3)
    assert [each.entities for each in read] == sorted(each.entities for each in read)
    assert [len(each.test) for each in read] == TESTED
    assert set(np.concatenate([each.train for each in read])[:, 1].tolist()) == {0, 2, 4, 6}


def test_a_set_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match="no set FACT"):
        read_snapshots(tmp_path, "FACT")


def test_every_way_is_asked_all_test_facts_so_far(folder: Path) -> None:
    how = TrainingSettings(epochs=20, batch=32, negatives=16)
    results = Lifelong(
        read_snapshots(folder, "ENTITY")[0], np.eye(4, dtype=np.float32), how, 8, 0, lambda *_: None
    ).run()
    for way in (RETRAINED, GROWN, CLOSED, TUNED):
        assert [sum(map(len, each.ranks)) for each in of_way(results, way)] == [
            2 * sum(TESTED[:n]) for n in range(1, 6)
        ]
    for way in (UNSEEN, USUAL):
        assert [len(each.ranks[0]) for each in of_way(results, way)] == [36] * 4
    for way in (BY_FACTS, BY_WORDS, BY_MEAN):
        assert [(each.snapshot, len(each.ranks[0])) for each in of_way(results, way)] == [(2, 12)]
    assert len(measures(results)) == 2 * 4 + 2
    assert by_way(results).count("\n|") > 4 * 5


def test_transfer_is_what_is_known_before_and_what_is_lost_after() -> None:
    results = [
        SnapshotResult(GROWN, 0, [np.array([1.0])], 0.0),
        SnapshotResult(GROWN, 1, [np.array([2.0]), np.array([1.0])], 0.0, forward=0.25),
        SnapshotResult(GROWN, 2, [np.array([2.0]), np.array([4.0]), np.array([1.0])], 0.0, forward=0.75),
    ]
    assert transfer(results) == (0.5, pytest.approx((-0.5 - 0.75) / 2))
