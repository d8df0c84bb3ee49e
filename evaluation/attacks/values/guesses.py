"""Guesses of values by somebody who knows how the values of a relation are spread, and has learnt from half of all
conversations, whose truth is given away, what orders and sizes say of the other half."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.attacks.values.observations import Observation, ranks

NEIGHBOURS = 15
_TAIL = 5
_MIN_FORM_LENGTH = 3

Feature = Callable[[Observation], float]
Floats = npt.NDArray[np.float64]


def by_orders_and_sizes(seen: Sequence[Observation], spread: Counter[int], order: Mapping[int, int]) -> list[int]:
    """A guess for each, in two folds: the feature, and the way to read it, that told most in one half guesses the
    other. `order` is the rank of each value."""
    guesses = [0] * len(seen)
    features = _features(seen)
    for fold in (0, 1):
        known = [each for each in seen if each.talk % 2 != fold]
        learners = [
            _Learner(feature, way, spread, order) for feature in features.values() for way in (_like, _between)
        ]
        best = max(learners, key=lambda learner: learner.right_among(known))
        for at, each in enumerate(seen):
            if each.talk % 2 == fold:
                guesses[at] = best.guess(each, known)
    return guesses


def by_dictionary(seen: Sequence[Observation], spread: Counter[int], texts: Mapping[int, str]) -> list[int]:
    """The value whose digest, number or code the pseudonym is; the commonest where it is none's."""
    known = {code: mid for mid, text in texts.items() for code in codes_of(text)}
    return [known.get(each.word[1:], _commonest(spread)) for each in seen]


def by_generalised_forms(seen: Sequence[Observation], spread: Counter[int], texts: Mapping[int, str]) -> list[int]:
    """The commonest among the values of which a form (year, decade, round number) stands in the prompt."""
    forms = {mid: set(forms_of(text)) for mid, text in texts.items()}
    holding: dict[str, set[int]] = {}
    for mid, told in forms.items():
        for form in told:
            holding.setdefault(form, set()).add(mid)
    guesses = []
    for each in seen:
        fitting = [holding[token] for token in each.tokens if token in holding]
        among = min(fitting, key=len) if fitting else spread.keys()
        guesses.append(max(among, key=lambda mid: (spread[mid], -mid)))
    return guesses


def codes_of(text: str) -> Iterator[str]:
    """Five signs made of a value in the ways that come to mind, as a pseudonym would end with them."""
    data = text.encode()
    for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
        digest = hashlib.new(name, data, usedforsecurity=False)
        yield digest.hexdigest()[:_TAIL]
        yield base64.b32encode(digest.digest()).decode().lower()[:_TAIL]
        yield in_base_36(int.from_bytes(digest.digest(), "big"))[:_TAIL]
    yield in_base_36(zlib.crc32(data)).zfill(_TAIL)[:_TAIL]
    if text.isdigit():
        yield in_base_36(int(text)).zfill(_TAIL)


def forms_of(text: str) -> Iterator[str]:
    """`1961-07-23`: itself, 1961-07, 1961, 1960s. `4250`: itself, 4000, 4200."""
    yield text
    if text[:4].isdigit() and text[4:5] == "-":
        yield from (text[:7], text[:4], f"{text[:3]}0s")
    elif text.isdigit() and len(text) >= _MIN_FORM_LENGTH:
        yield from (text[0] + "0" * (len(text) - 1), text[:2] + "0" * (len(text) - 2))


def in_base_36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, at = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[at] + digits
    return digits


def _features(seen: Sequence[Observation]) -> dict[str, Feature]:
    place = ranks(seen)
    return {
        "nothing": lambda _each: 0.0,
        "word": lambda each: float(int(each.word[1:], 36)),
        "rank of the word": lambda each: place[each.talk, each.word],
        "place of the line": lambda each: each.place,
        "first appearance": lambda each: each.appeared,
        "length of the line": lambda each: float(each.row),
        "length of the request": lambda each: each.body,
        "who won": lambda each: float(each.won),
    }


@dataclass(frozen=True, slots=True)
class _Learner:
    """One feature, read in one way. `order` is the rank of each value."""

    feature: Feature
    way: Callable[[_Learner, float, Floats, Sequence[int]], int]
    spread: Counter[int]
    order: Mapping[int, int]

    def guess(self, each: Observation, known: Sequence[Observation]) -> int:
        """Where the feature tells nothing, the commonest of all."""
        measured = np.array([self.feature(other) for other in known])
        if not len(measured) or measured.min() == measured.max():
            return _commonest(self.spread)
        return self.way(self, self.feature(each), measured, [other.truth for other in known])

    def right_among(self, known: Sequence[Observation]) -> int:
        """Counts the known values that the other known values would have given away."""
        return sum(self.guess(each, [other for other in known if other is not each]) == each.truth for each in known)

    def most_frequent(self, found: Sequence[int]) -> int:
        counts = Counter(found)
        return max(counts, key=lambda mid: (counts[mid], self.spread[mid], -mid))


def _like(learner: _Learner, told: float, measured: Floats, truths: Sequence[int]) -> int:
    """The commonest value among the nearest."""
    nearest = np.argsort(np.abs(measured - told), kind="stable")[:NEIGHBOURS]
    return learner.most_frequent([truths[int(at)] for at in nearest])


def _between(learner: _Learner, told: float, measured: Floats, truths: Sequence[int]) -> int:
    """The commonest of those that measure the same; else the value that lies between those of the two next to it."""
    same = np.flatnonzero(measured == told)
    if len(same):
        return learner.most_frequent([truths[int(at)] for at in same])
    below, above = np.flatnonzero(measured < told), np.flatnonzero(measured > told)
    sides = [side[np.argmin(np.abs(measured[side] - told))] for side in (below, above) if len(side)]
    ranks_of_sides = [learner.order[truths[int(at)]] for at in sides]
    low, high = min(ranks_of_sides), max(ranks_of_sides)
    between = [mid for mid, rank in learner.order.items() if low < rank < high] or [truths[int(sides[0])]]
    middle = (low + high) / 2
    return max(between, key=lambda mid: (learner.spread[mid], -abs(learner.order[mid] - middle), -mid))


def _commonest(spread: Counter[int]) -> int:
    return max(spread, key=lambda mid: (spread[mid], -mid))
