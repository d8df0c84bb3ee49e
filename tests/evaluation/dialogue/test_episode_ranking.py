"""The measure of episodes: what is held out is taken out, and a bound is a ratio."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.llm.embeddings.embedder import Embedder
from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.characters import (
    StoryOutcome,
    StoryQuestion,
    character_measures,
    read_story_questions,
    run_character,
)
from evaluation.dialogue.episode_ranking import (
    MEAN,
    NEAREST,
    OURS,
    RankingFigures,
    episode_measures,
    read_episodes,
    run_episodes,
)
from tests.app.memory.episodes.stories import STORY


def test_dialogues_are_read_without_their_speakers(tmp_path: Path) -> None:
    (tmp_path / "dialogre").mkdir()
    (tmp_path / "dialogre" / "dev.json").write_text(json.dumps([[["Speaker 1: Hey: you!", "Speaker 2: Yes?"], []]]))
    assert read_episodes(tmp_path, "dev") == [["Hey: you!", "Yes?"]]
    with pytest.raises(QuestionsError):
        read_episodes(tmp_path, "train")


def test_an_utterance_that_stands_alone_finds_nothing_by_itself(embedder: Embedder) -> None:
    talk = [["The old red boat leaks a lot.", "Yes."], ["Our red boat?", "The boat, yes."]]
    figures = run_episodes(talk, 0, embedder, lambda _title, _done, _total: None)
    assert figures.places[OURS] == [1]


def test_a_bound_is_missed_below_the_ratio() -> None:
    figures = RankingFigures({OURS: [0, 0, 5], NEAREST: [0, 2, 3], MEAN: [9, 9, 9]})
    first, five = episode_measures("dev", figures)
    assert (first.reached, first.passed) == ("2.00 x", True)
    assert (five.reached, five.passed) == ("0.67 x", False)


def test_a_reply_needs_a_word_of_each_list_and_refusals_are_asked_for(embedder: Embedder, tmp_path: Path) -> None:
    asked = [
        {"text": "Who sold the boat?", "expect": [["Orr", "captain"], ["boat"]]},
        {"text": "Who is Henry?", "expect": [], "refuse": True},
        {"text": "Who is Henry?", "expect": [["Henry"]], "refuse": False},
    ]
    (tmp_path / "asked.json").write_text(json.dumps({"questions": asked}))
    outcomes = run_character(STORY, read_story_questions(tmp_path / "asked.json"), embedder)
    assert [each.is_right for each in outcomes] == [True, True, False]
    assert [each.reached for each in character_measures(outcomes)] == ["0.667", "0.500", "1.000"]
    assert not StoryOutcome(StoryQuestion(text="?", expect=[["a"], ["b"]]), "only a").is_right
    (tmp_path / "asked.json").write_text("[]")
    with pytest.raises(QuestionsError):
        read_story_questions(tmp_path / "asked.json")
