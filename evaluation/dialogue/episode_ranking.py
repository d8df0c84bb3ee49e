"""Measures how high the episode of a held-out utterance is ranked, on DialogRE's dialogues: `arog eval episodes`.

Each dialogue is an episode. The utterance is taken out of it before its episode is looked for among all of the part.
The plain sentence model beside it takes the nearest utterance's cosine, or the mean of an episode's, whichever finds
more.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from app.graphs.markdown_table import markdown_table
from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.ranking import EpisodeRanker, Scores, words_of
from evaluation.bench.question_sets import Show
from evaluation.datasets.questions import QuestionsError
from evaluation.tables.measures import Measure

MIN_RATIO: Final = 1.2
MIN_WORDS: Final = 5
"""The least words of a held-out utterance: "Yes, it was" belongs to any episode."""
HELD_OUT_OF_EACH: Final = 3
OURS, NEAREST, MEAN = "episodes", "sentence model, nearest utterance", "sentence model, mean of the episode"
_PLAIN: Final = (NEAREST, MEAN)


@dataclass(slots=True)
class RankingFigures:
    """The place, from 0, at which each way ranks the right episode, for each held-out utterance."""

    places: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in (OURS, *_PLAIN)})

    def among(self, name: str, count: int) -> float:
        """Returns the share of utterances whose episode is among the first `count`."""
        return float(np.mean(np.array(self.places[name]) < count)) if self.places[name] else 0.0


def read_episodes(data: Path, part: str) -> list[list[str]]:
    """Returns the utterances of each dialogue of a part of DialogRE, without its speakers. Raises QuestionsError."""
    try:
        dialogues = json.loads((data / "dialogre" / f"{part}.json").read_text("utf-8"))
    except (OSError, ValueError):
        raise QuestionsError(f"there is no DialogRE file {part}.json in this folder") from None
    return [[turn.partition(": ")[2] or turn for turn in turns] for turns, _ in dialogues]


def run_episodes(episodes: Sequence[Sequence[str]], seed: int, embedder: Embedder, show: Show) -> RankingFigures:
    """Ranks the episodes for utterances drawn from each, at most HELD_OUT_OF_EACH of MIN_WORDS words or more."""
    show("embedding", 0, 1)
    ranker, figures, first = EpisodeRanker(embedder, episodes), RankingFigures(), 0
    drawn = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    for right, utterances in enumerate(episodes):
        show("ranking", right, len(episodes))
        long = [place for place, text in enumerate(utterances) if len(words_of(text)) >= MIN_WORDS]
        chosen = drawn.sample(long, min(HELD_OUT_OF_EACH, len(long))) if len(utterances) > 1 else []
        for place in chosen:
            nearest, mean = ranker.of_sentences(utterances[place], first + place)
            ours = ranker.scores(utterances[place], first + place)
            for name, scores in ((OURS, ours), (NEAREST, nearest), (MEAN, mean)):
                figures.places[name].append(_place(scores, right))
        first += len(utterances)
    return figures


def episode_measures(part: str, figures: RankingFigures) -> list[Measure]:
    """Returns the lines with bounds of a part: how much more often than the plain model the episode is found."""
    lines = []
    for count, said in ((1, "first"), (5, "among the first five")):
        ours, plain = figures.among(OURS, count), max(figures.among(name, count) for name in _PLAIN)
        lines.append(
            Measure(
                name=f"{part}: its episode {said}, against the sentence model's",
                questions=len(figures.places[OURS]),
                bound=f"{MIN_RATIO} x",
                reached=f"{ours / plain if plain else 0:.2f} x",
                passed=plain > 0 and ours >= MIN_RATIO * plain,
            )
        )
    return lines


def episode_table(figures: dict[str, RankingFigures]) -> str:
    """Returns a row for each part and way of ranking."""
    rows = [
        [part, name, str(len(places)), f"{each.among(name, 1):.3f}", f"{each.among(name, 5):.3f}"]
        for part, each in figures.items()
        for name, places in each.places.items()
    ]
    return markdown_table(["part", "ranking", "utterances", "first", "first five"], rows)


def _place(scores: Scores, right: int) -> int:
    """Returns how many episodes stand before the right one; one that scores the same stands before it."""
    return int((scores >= scores[right]).sum()) - 1
