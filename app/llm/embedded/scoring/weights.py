"""Weights of each piece of evidence for a path."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """In units of a cosine. docs/performance.md says how they were chosen.

    Costs: of every `hop`, of one walked `inverse` that no grammar asks for, of going straight back, of a word that
    nothing explains. Gains: of `direction`, of naming the `kind` beside a hop, of the kind that was `asked` for.
    """

    hop: float = 0.4
    inverse: float = 0.2
    turning_back: float = 0.25
    # A step from things of a kind that its relation does not leave elsewhere.
    misfit: float = 1.0
    unsaid_word: float = 0.28
    direction: float = 0.15
    kind: float = 0.2
    asked: float = 0.2
    asked_wrong: float = 0.25
    # One word for two steps, as in "the same director": the second step and the turn are free, and more.
    shared: float = 0.4
    # "did X direct" says `directed by` backwards, word by word.
    verb: float = 0.9
    # "X's doctor" for `treated by`: what a step leads to may stand for it, but its own words say more.
    kind_alone: float = 0.75
    # Words that say another relation better are weaker evidence for this one, or none.
    rivals: float = 1.0
    most_outdone: float = 0.3
    least: float = 0.15
    # From here on a phrase says a relation in whole.
    whole: float = 0.95
    least_kind: float = 0.7
    # The whole question beside the whole path; it counts for more where relations have long names.
    nearness: float = 0.7
    wordy_nearness: float = 20.0
    wordy_hop: float = 0.2
    wordy_asked: float = 0.25
    few_words: float = 2.8
    many_words: float = 3.6

    def nearness_among(self, words: float) -> float:
        """Of relations that have so many words on average, some are like single words by chance: the more of them,
        the more the whole question decides."""
        share = min(1.0, max(0.0, (words - self.few_words) / (self.many_words - self.few_words)))
        return float(self.nearness ** (1 - share) * self.wordy_nearness**share)
