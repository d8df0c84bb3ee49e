"""Reads a question by meaning: scores the candidates by the words that speak for them, and executes the best.

A question is refused if a word of it is left over, if a step is neither said nor the only possible one, or if two
candidates with different results score about the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from app.llm.embeddings.multilingual import MultilingualEmbedder
from app.llm.in_house import HeldMeaning, ReadingScores
from app.llm.tasks import StepInput
from app.reader.other_languages.asked_words import AskedWords
from app.reader.other_languages.candidates import MEASURES, Candidate, candidates, label_words
from kg_store.algebra.expressions import ExpressionResult

ResultOf = Callable[[str], ExpressionResult | None]

MIN_SAID: Final = 0.03
"""The least lift with which a word names a kind or a relation."""
MIN_ALONE: Final = 0.052
"""The least sum of a lift and its lead over all other words of the schema, for a word that alone speaks for a step."""
MIN_END: Final = 0.035
"""The same for a word that names the kind of what is asked for."""
MAX_SHORT: Final = 0.015
"""The most by which a word may be nearer to a word of the schema that the reading does not use."""
MIN_MARGIN: Final = 0.012
"""The least lead in lift over the next candidate with another result."""
MIN_SAME_WORD: Final = 0.89
"""The least cosine of a noun that is the label itself, as "Vorgesetzte" and "vorgesetzter"."""
SILENT, STEP = 0.02, 0.015
"""The costs of a step that no word names, and of each step."""


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate with its score. `weakest`: the lift of the step that is said worst; `silent`: the steps not said."""

    candidate: Candidate
    score: float
    weakest: float
    silent: int


class OtherLanguageReader:
    """Reads questions in the languages of `question_words.toml`. Thread-safe."""

    def __init__(self, embedder: MultilingualEmbedder) -> None:
        self._embedder = embedder

    def read(self, given: StepInput, language: str, result_of: ResultOf) -> HeldMeaning | None:
        """Returns the certain reading of the question over the schema `given.steps`, or None if there is none."""
        ranked = self.ranked(given, language)
        best = ranked[0] if ranked else None
        result = result_of(best.candidate.expression) if best else None
        if best is None or result is None:
            return None
        margin = 1.0
        for other in ranked[1:]:
            margin = best.score - other.score
            if margin >= MIN_MARGIN:
                break
            if result_of(other.candidate.expression) != result:
                return None
        scores = ReadingScores("other", best.score, margin, best.weakest, len(best.candidate.steps), best.silent)
        return HeldMeaning(best.candidate.expression, scores)

    def ranked(self, given: StepInput, language: str) -> list[ScoredCandidate]:
        """Returns the candidates that explain the whole question, best first."""
        asked = AskedWords.of(given, language, self._embedder)
        if asked is None:
            return []
        found = (_scored(asked, each) for each in candidates(given, asked.operator))
        return sorted((each for each in found if each is not None), key=lambda each: -each.score)


def _scored(asked: AskedWords, candidate: Candidate) -> ScoredCandidate | None:
    """Returns the candidate with its score; None if it leaves a word over, or a step of it has no reason."""
    parts = _parts(asked, candidate)
    if not (_has_form(asked, candidate) and _is_right_way(asked, candidate) and _gives_asked(asked, candidate)):
        return None
    covered = _covered(asked, [place for part in (*parts.steps, parts.ends, parts.starts) for place in part])
    if covered is None:
        return None
    free, said = set(range(len(asked.words))), list[float]()
    for step in parts.steps:
        lift, word = max(((_spoken(asked, word, step), word) for word in free), default=(0.0, -1))
        said.append(lift)
        free -= {word} if lift >= MIN_SAID else set()
    if not _has_reason(asked, candidate, parts, said):
        return None
    silent = sum(lift < MIN_SAID for lift in said)
    return ScoredCandidate(
        candidate, covered - SILENT * silent - STEP * len(said), min(said, default=MIN_SAID), silent
    )


class _Parts(NamedTuple):
    """The columns of a candidate's words: those of each step, of the kinds at its end, and of those at its start."""

    steps: list[list[int]]
    ends: list[int]
    starts: list[int]


def _parts(asked: AskedWords, candidate: Candidate) -> _Parts:
    steps = [[asked.places[part] for part in label_words(step)] for step in candidate.steps]
    ends = [asked.places[kind] for kind in candidate.ends if kind in asked.places]
    return _Parts(steps, ends, [asked.places[kind] for kind in candidate.starts if kind in asked.places])


def _has_reason(asked: AskedWords, candidate: Candidate, parts: _Parts, said: Sequence[float]) -> bool:
    """Returns True if each step is said, or follows from the rest of what is said."""
    is_end_said = bool(parts.ends) and _lead(asked, parts.ends) >= MIN_END
    silent = sum(lift < MIN_SAID for lift in said)
    if not said:
        return is_end_said
    if silent > 1 or (silent and candidate.turns):
        return False
    if silent:
        # A step in between may be silent, and so may the last one where the kind is said that it leads to.
        return is_end_said or (len(said) > 1 and said[-1] >= MIN_SAID and _lead(asked, parts.steps[-1]) >= MIN_ALONE)
    is_date = "date" in asked.forms and candidate.value == "date"
    return is_end_said or is_date or len(said) > 1 or _lead(asked, parts.steps[0]) >= MIN_ALONE


def _lead(asked: AskedWords, places: Sequence[int]) -> float:
    """Returns the greatest sum of a word's lift towards `places` and its lead over all other words of the schema."""
    inside = asked.lifts[:, list(places)].max(axis=1)
    others = np.delete(asked.lifts, list(places), axis=1).max(axis=1, initial=-1.0)
    return float((2 * inside - np.maximum(others, 0.0)).max())


def _gives_asked(asked: AskedWords, candidate: Candidate) -> bool:
    """Returns True if the noun after "which" or "how many" names what the candidate gives, if it names anything."""
    last = candidate.steps[-1] if candidate.steps and not candidate.steps[-1].startswith("^") else ""
    gives = [*candidate.ends, *(label_words(last) if last and "filter(" not in candidate.expression else ())]
    places = [asked.places[each] for each in gives if each in asked.places]
    return all(
        _spoken(asked, at, places) > 0
        for at, word in enumerate(asked.words)
        if word.is_asked and float(asked.lifts[at].max()) >= MIN_SAID
    )


def _covered(asked: AskedWords, used: Sequence[int]) -> float | None:
    """Returns the sum of the lifts with which the words speak for `used`; None if a word speaks for something else."""
    total = 0.0
    for word, lifts in zip(asked.words, asked.lifts, strict=True):
        covered, best = float(lifts[list(used)].max(initial=0.0)), float(lifts.max())
        if best >= MIN_SAID and covered < best - MAX_SHORT:
            return None
        if best < MIN_SAID and not word.may_stay:
            return None
        total += covered if best >= MIN_SAID else covered / 2
    return total


def _spoken(asked: AskedWords, word: int, places: Sequence[int]) -> float:
    """Returns the lift of a word towards `places`; 0 if it is nearer to another word of the schema."""
    lifts = asked.lifts[word]
    lift = float(lifts[list(places)].max(initial=0.0))
    return lift if lift >= float(lifts.max()) - MAX_SHORT else 0.0


def _is_right_way(asked: AskedWords, candidate: Candidate) -> bool:
    """Returns False for the wrong direction of a step between things of one kind.

    "The supervisor of X" is walked forwards: its noun is the label, and stands before the name. Any other wording of
    such a step is not read forwards.
    """
    if not candidate.turns:
        return True
    places = [asked.places[part] for step in candidate.steps for part in label_words(step)]
    same = asked.cosines[:, places].max(axis=1) >= MIN_SAME_WORD
    is_noun = any(same[at] for at, word in enumerate(asked.words) if word.is_owned)
    return is_noun if candidate.turns == "forth" else not same.any()


def _has_form(asked: AskedWords, candidate: Candidate) -> bool:
    forms = asked.forms
    if "date" in forms:
        return candidate.value == "date" and not candidate.is_count
    if forms & {"count", "number"}:
        return candidate.is_count or candidate.value == "number"
    if "who" in forms and not _may_be_somebody(asked, candidate):
        return False
    return not candidate.is_count and not (forms & {"who", "place"} and candidate.value in MEASURES)


def _may_be_somebody(asked: AskedWords, candidate: Candidate) -> bool:
    """Returns True if "who" may ask for this: things with relations of their own, or a text.

    What leads to a thing may be somebody only if that is a place or the like: "who leads X" asks for no order of X.
    """
    if candidate.value == "text":
        return True
    is_led_to = bool(candidate.steps) and candidate.steps[-1].startswith("^")
    is_of_somebody = is_led_to and not candidate.turns and not candidate.starts.isdisjoint(asked.described)
    return not candidate.ends.isdisjoint(asked.described) and not is_of_somebody
