"""The matcher's training: the recipe's sets alone, texts as the service compares them, the same file again."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.low_rank import read_update, write_update
from app.llm.embeddings.model_files import BOXED_MODEL
from evaluation.cli_training import app
from evaluation.training.matcher import Maps, MatcherConfig, fit_matcher, open_encoder
from evaluation.training.matcher_pairs import MatcherPairs, PairsError, read_pairs, recipe_of

SOURCE = "made up"
# Words of a trade that no sentence model knows.
JARGON = {
    "what is the gruntle of X": ["date of birth"],
    "which wobbit has X": ["lives in"],
    "who snorkled X": ["treated by"],
    "what zibbles in X": ["^lives in"],
    "X's overgruntle": ["treated by", "date of birth"],
    "the frimp of X": ["people.person.employer"],
}
SHORT = MatcherConfig(batch=6, steps=30, warm_up=3, rate=2e-3, dropped=0.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = [{"question": question, "path": path, "source": SOURCE, "kg": "a"} for question, path in JARGON.items()]
    rows += [{"question": "who left X out", "path": ["left out"], "source": "another", "kg": "a"}]
    rows += [{"question": "which topic stands here", "path": ["not masked"], "source": SOURCE, "kg": "a"}]
    with lzma.open(tmp_path / "pairs.jsonl.xz", "wt") as opened:
        opened.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path / "pairs.jsonl.xz"


def fitted(data: MatcherPairs, seed: int = 0) -> Maps:
    return fit_matcher(open_encoder(BOXED_MODEL), data, seed, SHORT)


@pytest.mark.model
def test_pairs_are_worded_as_the_service_compares_them(embedder: Embedder, file: Path) -> None:
    data = read_pairs(file, [SOURCE], 5, 0, embedder)
    assert {pair.question for pair in data.pairs} >= {"what is the gruntle of", "who snorkled"}
    texts = {step[0] for way in data.ways for step in way}
    assert texts == {"date of birth", "lives in", "treated by", "person employer"}
    assert all(step[1].startswith(step[0]) for way in data.ways for step in way)
    assert len(data.pairs) == len(JARGON)
    assert all(row not in near for row, near in enumerate(data.siblings))


@pytest.mark.model
def test_questions_come_to_lie_near_their_paths(embedder: Embedder, file: Path, tmp_path: Path) -> None:
    data = read_pairs(file, [SOURCE], 5, 0, embedder)
    write_update(fitted(data), tmp_path / "matcher.npz", BOXED_MODEL)
    matched = Embedder(matcher=read_update(tmp_path / "matcher.npz", BOXED_MODEL))

    def first(embedder: Embedder) -> float:
        steps = [embedder.wholes([step[1] for step in way]).sum(axis=0) for way in data.ways]
        ways = np.stack([each / np.linalg.norm(each) for each in steps])
        asked = embedder.wholes([pair.question for pair in data.pairs])
        near = asked @ ways.T
        gold = near[np.arange(len(asked)), [pair.way for pair in data.pairs]]
        return float(np.mean(gold >= near.max(axis=1) - 1e-6))

    assert first(embedder) < 0.7
    assert first(matched) > 0.9


@pytest.mark.model
def test_the_same_pairs_and_seed_give_the_same_maps(embedder: Embedder, file: Path) -> None:
    data = read_pairs(file, [SOURCE], 5, 0, embedder)
    first, second, other = fitted(data), fitted(data), fitted(data, seed=1)
    assert all(np.array_equal(first[place][0], second[place][0]) for place in first)
    assert any(not np.array_equal(first[place][0], other[place][0]) for place in first)


@pytest.mark.parametrize("content", ["", "no json\n", '{"question": "X", "path": ["a"], "source": "other"}\n'])
def test_a_file_without_pairs_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(content)
    with pytest.raises(PairsError):
        read_pairs(tmp_path / "pairs.jsonl", [SOURCE], 5, 0, Embedder())


@pytest.mark.model
def test_the_command_writes_a_matcher(monkeypatch: pytest.MonkeyPatch, file: Path, tmp_path: Path) -> None:
    monkeypatch.setattr("evaluation.training.matcher.MatcherConfig", lambda: SHORT)
    monkeypatch.setattr("evaluation.training.matcher_pairs.recipe_of", lambda: ([SOURCE], 5))
    out = tmp_path / "matcher.npz"
    result = CliRunner().invoke(app, ["matcher", "--pairs", str(file), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "6 questions of 6 paths" in result.output
    assert len(read_update(out, BOXED_MODEL).maps) == 18


def test_the_command_says_that_there_are_no_pairs_of_the_recipe(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "matcher.npz"
    result = CliRunner().invoke(app, ["matcher", "--pairs", str(file), "--out", str(out)])
    assert result.exit_code == 2
    assert "no questions" in result.output
    assert not out.exists()


def test_the_recipe_names_sets_with_their_licences() -> None:
    sources, most = recipe_of()
    assert len(sources) == len(set(sources)) > 1
    assert most > 0
