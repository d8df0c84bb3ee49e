"""Collect what the requests of a conversation show of each value, and guess values from it.

The attacker knows how often each value of a relation occurs. It is told the true values of half of the conversations
and learns from them what orders and sizes say about the values of the other half.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from evaluation.attacks.exchanges import Exchange, Prompt, prompt_of
from kg_store.terms import ALMOST_PSEUDONYM

NEIGHBOURS = 15
_TAIL = 5
_MIN_FORM_LENGTH = 3
_TOKEN = re.compile(r"[0-9A-Za-z][0-9A-Za-z.:-]*")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Observation:
    """One value of one conversation, as seen in the prompts.

    `word`: its pseudonym. `place`: the position of its line among the prompt's lines of values, 0 for the first and 1
    for the last. `appeared`: the same for the order in which pseudonyms first appeared. `row`: the length of its line.
    `body`: the bytes of the request, less the mean of requests at this turn. `won`: 1 if its holder answered a
    question for the greatest or least, -1 if it was compared and lost, else 0. `truth`: the value's MID (its id inside
    the server), known only to the judge.
    """

    talk: int
    word: str
    place: float
    appeared: float
    row: int
    body: float
    won: int
    tokens: frozenset[str] = field(repr=False)
    truth: int = field(repr=False)


def seen_in(exchanges: Sequence[Exchange], label: str) -> list[Observation]:
    """Returns an observation of each single value that the relation `label` leads to, once per conversation.

    A value is observed where it first stands in the evidence.
    """
    lengths: dict[int, list[int]] = defaultdict(list)
    for exchange in exchanges:
        for turn, bodies in enumerate(exchange.turns):
            lengths[turn] += [len(body) for body in bodies[-1:]]
    usual = {turn: sum(found) / len(found) for turn, found in lengths.items() if found}
    return [each for talk, exchange in enumerate(exchanges) for each in _of_talk(talk, exchange, label, usual)]


def _of_talk(talk: int, exchange: Exchange, label: str, usual: Mapping[int, float]) -> list[Observation]:
    found: dict[str, Observation] = {}
    for turn, bodies in enumerate(exchange.turns):
        prompt = prompt_of(bodies[-1]) if bodies else None
        if prompt is None:
            continue
        # If prompts show only kinds, a single value is shown as a set too.
        rows = [row for row in prompt.evidence if row.end[0] in "VS" and row.path == [label]]
        for at, row in enumerate(rows):
            mids = exchange.truth.get(row.end)
            if row.end not in found and mids is not None and len(mids) == 1:
                found[row.end] = Observation(
                    talk=talk,
                    word=row.end,
                    place=at / max(1, len(rows) - 1),
                    appeared=float(len(found)),
                    row=len(row.model_dump_json()),
                    body=len(bodies[-1]) - usual[turn],
                    won=_won(prompt, row.start),
                    tokens=frozenset(_TOKEN.findall(f"{prompt.question} {prompt.evidence} {prompt.things}")),
                    truth=int(mids[0]),
                )
    return [replace(each, appeared=each.appeared / max(1, len(found) - 1)) for each in found.values()]


def _won(prompt: Prompt, holder: str) -> int:
    """Returns 1, -1 or 0 as `Observation.won`, read off the first question of the dialogue and its answer."""
    said = [ALMOST_PSEUDONYM.findall(turn.text) for turn in prompt.dialogue[:2]]
    if len(said) < 2:
        return 0
    return 1 if holder in said[1] else -1 if holder in said[0] else 0


def by_orders_and_sizes(seen: Sequence[Observation], spread: Counter[int], order: Mapping[int, int]) -> list[int]:
    """Returns a guess for each observation, by the feature and the way to read it that guess best elsewhere.

    "Elsewhere" is the other half of the conversations, whose true values the attacker is told. `spread` counts how
    often each value occurs; `order` maps each value to its rank.
    """
    learners = [_Learner(feature, way, spread, order) for feature in _features(seen) for way in (_like, _between)]
    halves = [[each for each in seen if each.talk % 2 != fold] for fold in (0, 1)]
    best = [max(learners, key=lambda learner: learner.right_among(known)) for known in halves]
    return [best[each.talk % 2].guess(each, halves[each.talk % 2]) for each in seen]


def by_dictionary(seen: Sequence[Observation], spread: Counter[int], texts: Mapping[int, str]) -> list[int]:
    """Returns a guess for each observation: the value of which its pseudonym is a digest, number or code (`codes_of`).

    If there is none, the guess is the commonest value.
    """
    known = {code: mid for mid, text in texts.items() for code in codes_of(text)}
    return [known.get(each.word[1:], _commonest(spread)) for each in seen]


def by_generalised_forms(seen: Sequence[Observation], spread: Counter[int], texts: Mapping[int, str]) -> list[int]:
    """Returns a guess for each observation: the commonest value of which a generalised form stands in the prompt.

    Generalised forms are a year, a decade or a round number (`forms_of`).
    """
    holding: dict[str, set[int]] = defaultdict(set)
    for mid, text in texts.items():
        for form in forms_of(text):
            holding[form].add(mid)
    guesses = []
    for each in seen:
        fitting = [holding[token] for token in each.tokens if token in holding]
        among = min(fitting, key=len) if fitting else spread.keys()
        guesses.append(max(among, key=lambda mid: (spread[mid], -mid)))
    return guesses


def codes_of(text: str) -> Iterator[str]:
    """Yields five-character codes of a value that a careless service could use as the end of a pseudonym."""
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
    """Yields the value and its generalised forms: `1961-07-23`, 1961-07, 1961, 1960s; or `4250`, 4000, 4200."""
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


Feature = Callable[[Observation], float]


def _features(seen: Sequence[Observation]) -> list[Feature]:
    """Returns the features to learn from, each a number per observation.

    They are: a constant; the pseudonym as a number, and its rank in the conversation; `place`, `appeared`, `row`,
    `body` and `won` of the observation.
    """
    by_talk: dict[int, set[str]] = defaultdict(set)
    for each in seen:
        by_talk[each.talk].add(each.word)
    ranks = {
        (talk, word): at / max(1, len(words) - 1)
        for talk, words in by_talk.items()
        for at, word in enumerate(sorted(words))
    }
    return [
        lambda _each: 0.0,
        lambda each: float(int(each.word[1:], 36)),
        lambda each: ranks[each.talk, each.word],
        lambda each: each.place,
        lambda each: each.appeared,
        lambda each: float(each.row),
        lambda each: each.body,
        lambda each: float(each.won),
    ]


@dataclass(frozen=True, slots=True)
class _Learner:
    """Guesses values by one feature, such as the length of the line, read in one way (`_like` or `_between`).

    `spread` counts how often each value occurs; `order` maps each value to its rank.
    """

    feature: Feature
    way: Callable[[_Learner, float, Floats, Sequence[int]], int]
    spread: Counter[int]
    order: Mapping[int, int]

    def guess(self, each: Observation, known: Sequence[Observation]) -> int:
        """Returns a guess for the observation `each`, given the observations `known` with their true values.

        If the feature has the same number for all of `known`, it is the commonest value.
        """
        measured = np.array([self.feature(other) for other in known])
        if not len(measured) or measured.min() == measured.max():
            return _commonest(self.spread)
        return self.way(self, self.feature(each), measured, [other.truth for other in known])

    def right_among(self, known: Sequence[Observation]) -> int:
        """Returns how many of the `known` values this learner guesses right, each from the others."""
        return sum(self.guess(each, [other for other in known if other is not each]) == each.truth for each in known)

    def most_frequent(self, found: Sequence[int]) -> int:
        counts = Counter(found)
        return max(counts, key=lambda mid: (counts[mid], self.spread[mid], -mid))


def _like(learner: _Learner, told: float, measured: Floats, truths: Sequence[int]) -> int:
    """Returns the commonest value of the `NEIGHBOURS` observations whose feature is nearest to `told`.

    `measured` and `truths` hold the feature and the true value of the known observations.
    """
    nearest = np.argsort(np.abs(measured - told), kind="stable")[:NEIGHBOURS]
    return learner.most_frequent([truths[int(at)] for at in nearest])


def _between(learner: _Learner, told: float, measured: Floats, truths: Sequence[int]) -> int:
    """Returns a guess by a feature that keeps the order of the values: the commonest value with the feature `told`.

    If there is none, it is a value that ranks between those of the next smaller and the next greater feature.
    `measured` and `truths` hold the feature and the true value of the known observations.
    """
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
