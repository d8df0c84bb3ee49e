"""Finds the passages of a story that a question is about: by its words, words like them, and its sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.episode import Episode, Member
from app.memory.episodes.ranking import EpisodeRanker, words_of
from kg_store.text.dates import WEEKDAYS
from kg_store.text.english import frequent_words, zipf_frequency
from kg_store.text.inflection import lemmas_of, may_be_noun
from kg_store.text.number_expressions import value_of

Scores = npt.NDArray[np.float64]

MIN_LIKENESS_OF_WORDS: Final = 0.75
"""The least cosine at which another word counts as the one that was asked, by as much as it is alike. By hand."""
_COMMON: Final = 150
"""This many most frequent words of English tell nothing of what a question is about. Chosen by hand."""
_RARE: Final = 8.0
"""The Zipf frequency from which the weight of a word is counted down. Chosen by hand."""
_ASKING: Final = frozenset(
    "happen happened kind sort name day time place story tell say said talk do exactly ever".split()
)
_SMALL: Final = frozenset("the on in at that of a an by".split())
_OF_NAME: Final = 1.5
"""The greatest weight of a name, which a pronoun may stand for. Chosen by hand."""
_OF_VERB: Final = 0.5
"""The weight of a word that can be no noun: what is done is said in more ways than with what. Chosen by hand."""
_NEAR: Final = 0.5
"""The weight of a word that stands in a neighbouring sentence beside one in the sentence itself. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A member of an episode: its place in it, and in the whole story."""

    episode: Episode = field(repr=False)
    place: int
    number: int

    @property
    def member(self) -> Member:
        return self.episode.told[self.place]


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The passages' scores for a question, and which share of its words, names apart, each has in or
    near it; both by number."""

    scores: Scores = field(repr=False)
    shares: Scores = field(repr=False)


class Passages:
    """All passages of a story's episodes, in its order."""

    def __init__(self, episodes: Sequence[Episode], embedder: Embedder) -> None:
        self._embedder, self.episodes = embedder, episodes
        pairs = [(episode, place) for episode in episodes for place in range(len(episode.told))]
        self.all = [Passage(episode, place, number) for number, (episode, place) in enumerate(pairs)]
        self._words = [_forms(f"{each.member.sentence} {each.member.speaker}") for each in self.all]
        self.words = frozenset(word for words in self._words for word in words)
        self._vectors = embedder.sentences([self._with_speaker(each.member) for each in self.all])
        self._ranker = EpisodeRanker(embedder, [[member.sentence for member in each.members] for each in episodes])

    def find(self, text: str, times: Collection[str]) -> FoundPassages:
        """Scores all passages for a text: its words' share, the sentence's cosine, its episode, and words of time."""
        weights = content_weights(text)
        own, near = self._found(weights.keys())
        named = {word: min(weight, _OF_NAME) if self.is_name(word) else weight for word, weight in weights.items()}
        weighed = np.array([*named.values()]) / max(sum(named.values()), 1e-9)
        cosines = (self._vectors @ self._embedder.sentences([text])[0]).astype(np.float64)
        ranks = 1 / (1 + np.argsort(np.argsort(-self._ranker.scores(text))))
        of_episode = np.array([ranks[self._index[each.episode.number]] for each in self.all])
        at_time = np.array(
            [
                max(tells_time(each.episode.when, times), 0.8 * tells_time(each.member.sentence, times))
                for each in self.all
            ]
        )
        scores = weighed @ (own + np.maximum(own, _NEAR * near)) + cosines + 0.3 * of_episode + 0.6 * at_time
        is_plain = np.array([not self.is_name(word) for word in weights], dtype=np.float64)
        plain = weighed * is_plain
        shares = plain @ near / plain.sum() if plain.any() else np.ones(len(self.all))
        return FoundPassages(scores, shares)

    def is_name(self, word: str) -> bool:
        """Returns True if the story has the word as a part of a name."""
        return word in self._name_words

    @cached_property
    def _name_words(self) -> frozenset[str]:
        return frozenset(word for episode in self.episodes for name in episode.grounded_by for word in words_of(name))

    @cached_property
    def _index(self) -> dict[int, int]:
        return {episode.number: place for place, episode in enumerate(self.episodes)}

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted({word for each in self.all for word in words_of(each.member.sentence) if len(word) > 2})

    def _found(self, words: Collection[str]) -> tuple[Scores, Scores]:
        """Returns how well each passage has each word, and it or its neighbours, shape (words, passages) both."""
        own = np.zeros((len(words), len(self.all)))
        for row, word in enumerate(words):
            like = self._words_like(word)
            own[row] = [max((like.get(each, 0.0) for each in known), default=0.0) for known in self._words]
        beside = [np.roll(own, shift, axis=1) * self._in_same_episode(shift) for shift in (-2, -1, 1, 2)]
        return own, np.maximum.reduce([own, *beside])

    def _in_same_episode(self, shift: int) -> npt.NDArray[np.bool_]:
        numbers = np.array([each.episode.number for each in self.all])
        moved = np.roll(numbers, shift)
        if shift > 0:
            moved[:shift] = -1
        else:
            moved[shift:] = -1
        same: npt.NDArray[np.bool_] = numbers == moved
        return same

    def _words_like(self, word: str) -> dict[str, float]:
        """Returns the story's words that mean about the same, with how alike each is; 1 for forms of the word."""
        forms = lemmas_of(word)
        exact = {each: 1.0 for each in self.words if each in forms or each == word}
        # A number or a day is near every other one, and never means it.
        if word[:1].isdigit() or word in WEEKDAYS or value_of(word) is not None:
            return exact
        vectors = self._embedder.sentences(self._vocabulary)
        near = vectors @ self._embedder.sentences([word])[0]
        alike = {self._vocabulary[at]: float(near[at]) for at in np.nonzero(near >= MIN_LIKENESS_OF_WORDS)[0].tolist()}
        return alike | exact

    def _with_speaker(self, member: Member) -> str:
        return member.sentence if member.speaker in member.sentence else f"{member.speaker}: {member.sentence}"


def content_weights(text: str) -> dict[str, float]:
    """Returns the words of a question that tell what it is about, each with its weight: rare words weigh more."""
    common = frequent_words("en", _COMMON)
    words = (re.sub(r"['’]s$", "", word) for word in words_of(text))
    return {
        word: max(1.0, _RARE - zipf_frequency(word)) * (1.0 if may_be_noun(word) else _OF_VERB)
        for word in words
        if word == "old" or (word not in common and lemmas_of(word).isdisjoint(_ASKING))
    }


def _forms(text: str) -> frozenset[str]:
    return frozenset(form for word in words_of(text) for form in lemmas_of(re.sub(r"['’]s$", "", word)))


def tells_time(text: str, times: Collection[str]) -> float:
    """Returns which share of the words of `times` a text has, small ones apart; 0 if there are none."""
    asked = {word for time in times for word in words_of(time)} - _SMALL
    return len(asked & set(words_of(text))) / len(asked) if asked else 0.0
