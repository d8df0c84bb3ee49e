"""Training: the same head for the same examples, better on topics that it never saw, from gold paths or answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.embeddings.trained_weights import NO_HEAD, RelationAdapter, write_head
from app.reader.scoring.path_scoring import PathScorer
from evaluation.bench.bench import Bench
from evaluation.bench.training_examples import gather
from evaluation.cli_training import app
from evaluation.datasets.questions import read_questions, write_questions
from evaluation.training.reasoner import Example, TrainingError, train

PATHS = (
    WordedPath(("treated by",), ("doctor",)),
    WordedPath(("lives in",), ("city",)),
    WordedPath(("date of birth",), ("date",)),
    WordedPath(("treated by", "lives in"), ("doctor", "city")),
    WordedPath(("treated by", "date of birth"), ("doctor", "date")),
)
# Words of a trade that no sentence model knows.
JARGON = {"what is the gruntle of {}": 2, "which wobbit has {}": 1, "who snorkled {}": 0, "{}'s overgruntle": 4}


def jargon(topics: int) -> list[Example]:
    return [
        Example(
            wording.format(f"E{number:03}ab"),
            f"E{number:03}ab",
            "patient",
            PATHS,
            tuple(at == right for at in range(len(PATHS))),
            f"topic {number}",
        )
        for number in range(topics)
        for wording, right in JARGON.items()
    ]


# A wrong path that reaches an answer of some topics, too.
ALSO = {2: 3, 1: 4, 0: 1, 4: 0}


def answered(topics: int) -> list[Example]:
    """The same without a plan: of every third topic a wrong path reaches as many answers as other things."""
    examples = jargon(topics)
    shares = [[float(flag) for flag in each.right] for each in examples]
    for number, (each, share) in enumerate(zip(examples, shares, strict=True)):
        if number // len(JARGON) % 3 == 0:
            share[ALSO[each.right.index(True)]] = 0.5
    return [replace(each, right=tuple(share)) for each, share in zip(examples, shares, strict=True)]


def hits(embedder: Embedder, examples: Sequence[Example], head: RelationAdapter) -> float:
    scorer = PathScorer(embedder, head=head)
    best = [int(np.argmax(scorer.scores(each.question, each.topic, each.concept, each.paths))) for each in examples]
    return float(np.mean([example.right[at] for example, at in zip(examples, best, strict=True)]))


def test_wordings_that_were_trained_are_understood_of_topics_that_were_not(embedder: Embedder) -> None:
    *known, last = [jargon(31)[at : at + len(JARGON)] for at in range(0, 31 * len(JARGON), len(JARGON))]
    trained = train(embedder, [example for topic in known for example in topic], seed=0)
    assert trained.after > trained.before
    assert hits(embedder, last, NO_HEAD) < 0.8
    assert hits(embedder, last, trained.head) == 1.0


def test_the_same_examples_and_seed_give_the_same_file(tmp_path: Path, embedder: Embedder) -> None:
    files = [tmp_path / "first.npz", tmp_path / "second.npz"]
    for file in files:
        write_head(train(embedder, jargon(20), seed=3).head, file, BOXED_MODEL)
    assert files[0].read_bytes() == files[1].read_bytes()
    write_head(train(embedder, jargon(20), seed=4).head, files[1], BOXED_MODEL)
    assert files[0].read_bytes() != files[1].read_bytes()


def test_paths_are_learnt_from_answers_that_wrong_paths_reach_in_part(embedder: Embedder) -> None:
    trained = train(embedder, answered(30), seed=0)
    assert trained.after > trained.before
    assert hits(embedder, jargon(1), trained.head) == 1.0


@pytest.mark.parametrize("examples", [[], jargon(1)])
def test_too_few_questions_are_told(embedder: Embedder, examples: list[Example]) -> None:
    with pytest.raises(TrainingError, match="too few"):
        train(embedder, examples, seed=0)


@pytest.mark.model
async def test_examples_hold_the_gold_path_among_those_that_the_service_shows() -> None:
    questions = read_questions(QUESTIONS_FILE)
    async with Bench("embedded") as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        gathered = await gather(bench, loaded, questions)
    assert len(gathered.examples) >= 5
    assert gathered.left_out == len(questions) - len(gathered.examples)
    for example in gathered.examples:
        assert sum(example.right) >= 1
        assert len(example.paths) > 1
        assert example.topic in example.question


@pytest.mark.model
async def test_answers_alone_tell_which_of_the_shown_paths_are_right() -> None:
    questions = [each for each in read_questions(QUESTIONS_FILE) if each.plan and len(each.texts) == 1]
    questions = [each for each in questions if each.plan and each.plan.answer == ("A",)]
    async with Bench("embedded") as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        planned = await gather(bench, loaded, questions)
        alone = await gather(bench, loaded, [each.with_answers_alone for each in questions])
    assert len(alone.examples) >= 5
    assert all(0.0 <= share <= 1.0 for each in alone.examples for share in each.right)
    shares = {steps_of(each): dict(zip(labels_of(each), each.right, strict=True)) for each in alone.examples}
    compared = 0
    for each in planned.examples:
        for labels, is_right in zip(labels_of(each), each.right, strict=True):
            if is_right and steps_of(each) in shares:
                compared += 1
                assert shares[steps_of(each)][labels] == max(shares[steps_of(each)].values())
    assert compared >= 3


def steps_of(example: Example) -> tuple[str, str]:
    return example.question.replace(example.topic, ""), example.group


def labels_of(example: Example) -> list[tuple[str, ...]]:
    return [path.steps for path in example.paths]


@pytest.mark.model
def test_the_command_says_that_there_are_too_few_questions(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    write_questions(read_questions(QUESTIONS_FILE)[:2], file)
    out = tmp_path / "head.npz"
    arguments = ["reasoner", "--graph", GRAPH_FILE, "--policy", POLICY_FILE, "--questions", file, "--out", out]
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 2
    assert "too few" in result.output
    assert not out.exists()
