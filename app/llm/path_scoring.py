"""How well a relation path covers a question: both are walked from the topic outwards and aligned, word by word.

Coverage both ways: every content word that no hop explains costs, and so does every hop, unless words pay for it.
Hops are aligned in order, because "X's mother's children" and "X's children's mother" have the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.asked_kind import AskedKind, read_asked_kind
from app.llm.embedder import Embedder
from app.llm.english import verbs_of
from app.llm.question_words import IRREGULAR, Span, Usage, WalkedQuestion, walks
from app.llm.wording import WEIGHT_OF_KIND_ALONE, HopWords, Voice, hop_words, kinds_in

Scores = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each piece of evidence is worth, in units of a cosine."""

    hop: float = 0.35
    inverse: float = 0.2
    turning_back: float = 0.25
    unsaid_word: float = 0.28
    direction: float = 0.2
    rivals: float = 1.0
    most_outdone: float = 0.3
    verb: float = 0.9
    reached: float = 0.9
    kind: float = 0.1
    least_kind: float = 0.7
    least: float = 0.15
    asked: float = 0.2
    asked_wrong: float = 0.25
    shared: float = 0.1


_IMPOSSIBLE = -1e9
_WAYS: dict[tuple[Usage, Voice], int] = {
    (Usage.SUBJECT, "passive"): -1, (Usage.SUBJECT, "active"): 1,
    (Usage.OBJECT, "passive"): 1, (Usage.OBJECT, "active"): -1,
    (Usage.UNDERGOES, "noun"): 1, (Usage.UNDERGOES, "passive"): 1, (Usage.UNDERGOES, "active"): 1,
    (Usage.HOLDER, "noun"): 1, (Usage.HOLDER, "passive"): 1,
    (Usage.FILLER, "noun"): -1, (Usage.FILLER, "passive"): -1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordedPath:
    """A path from the topic, as labels (`^directed by`, `a|b`), and the concept that its last step leads to.

    `concepts` holds one concept a step where they are known, else empty texts.
    """

    steps: tuple[str, ...]
    concepts: tuple[str, ...]


class PathScorer:
    """Scores paths against one wording. Higher is better; 0 is about where chance begins."""

    def __init__(self, embedder: Embedder, weights: Weights = Weights()) -> None:
        self._embedder, self._w = embedder, weights
        self._types = ConceptTypes(embedder)

    def scores(self, question: str, topic: str, concept: str, paths: Sequence[WordedPath]) -> Scores:
        """One score a path; shape (paths,). `topic` is the pseudonym that the paths start from."""
        if not paths:
            return np.zeros(0)
        return np.max([self._of_walk(w, question, concept, paths) for w in walks(question, topic)], axis=0)

    def _of_walk(self, walked: WalkedQuestion, question: str, concept: str, paths: Sequence[WordedPath]) -> Scores:
        if not walked.spans:
            return np.array([-self._w.hop * len(path.steps) for path in paths])
        hops = sorted({hop for path in paths for hop in zip(path.steps, path.concepts, strict=True)})
        position = {hop: row for row, hop in enumerate(hops)}
        chosen = [[position[hop] for hop in zip(path.steps, path.concepts, strict=True)] for path in paths]
        worded = [hop_words(label, kind) for label, kind in hops]
        said = self._said(walked.spans, worded)
        things = self._embedder.sentences([IRREGULAR.get(span.text, span.text) for span in walked.spans])
        kinds = self._kinds(things, [kinds_in(kind) for _, kind in hops], kinds_in(concept))
        # "the film X": the word says what X is, and no step.
        said[:, np.array([span.beside for span in walked.spans]) & (kinds[-1] > 0)] = _IMPOSSIBLE
        turns = np.array([_turns_back(path.steps) for path in paths])
        asked = self._asked(read_asked_kind(question), worded)
        last = asked[np.array([row[-1] for row in chosen])]
        aligned = _align(walked, said, kinds, chosen, _undoing([label for label, _ in hops]), self._w)
        return aligned + last - self._w.turning_back * turns

    def _said(self, spans: Sequence[Span], hops: Sequence[HopWords]) -> Scores:
        """What each hop gains on each span; shape (hops + 1, spans), the last row impossible."""
        w = self._w
        vectors = self._embedder.sentences([span.text for span in spans])
        verbs = [frozenset(verb for word in span.text.split() for verb in verbs_of(word)) for span in spans]
        done = np.array([[not hop.verbs.isdisjoint(each) for each in verbs] for hop in hops])
        own = np.maximum(self._likeness(vectors, [hop.relation for hop in hops]), w.verb * done)
        reached = w.reached * self._likeness(vectors, [hop.reached for hop in hops])
        reached = np.maximum(reached, WEIGHT_OF_KIND_ALONE * self._likeness(vectors, [hop.kinds for hop in hops]))
        best = np.maximum(own, reached).max(axis=0)
        ways = np.array([[_way(hop, span, meant) for span, meant in zip(spans, row)] for hop, row in zip(hops, done)])
        inverse = np.array([hop.inverse for hop in hops])[:, None]
        branches = []
        for likeness, way in ((own, ways), (reached, np.maximum(ways, 0))):
            # Words that say another relation far better are no evidence for this one.
            gains = likeness - w.rivals * (best - likeness) - w.hop - w.inverse * (inverse & (way <= 0)) + w.direction * way
            outdone = (likeness < w.least) | (best - likeness > w.most_outdone)
            branches.append(np.where(outdone, _IMPOSSIBLE, gains))
        return np.concatenate([np.maximum(*branches), np.full((1, len(spans)), _IMPOSSIBLE)])

    def _likeness(self, spans: Scores, wordings: Sequence[Sequence[str]]) -> Scores:
        """The nearest of each hop's wordings to each span; shape (hops, spans)."""
        known = sorted({text for texts in wordings for text in texts})
        position = {text: row for row, text in enumerate(known)}
        near = self._embedder.sentences(known) @ spans.T if known else np.zeros((0, len(spans)))
        none = np.zeros(len(spans))
        return np.stack([near[[position[t] for t in texts]].max(axis=0) if texts else none for texts in wordings])

    def _kinds(self, spans: Scores, kinds: Sequence[tuple[str, ...]], start: tuple[str, ...]) -> Scores:
        """What naming the kind beside a hop gains on each span; shape (hops + 2, spans): then none, then the start."""
        gains = np.full((len(kinds) + 2, len(spans)), _IMPOSSIBLE)
        for row, words in enumerate([*kinds, (), start]):
            if words:
                likeness = (self._embedder.sentences(words) @ spans.T).max(axis=0)
                gains[row] = np.where(likeness < self._w.least_kind, _IMPOSSIBLE, self._w.kind * likeness)
        return gains

    def _asked(self, asked: AskedKind, hops: Sequence[HopWords]) -> Scores:
        """What it gains or costs that a path ends with each hop; shape (hops,)."""
        w = self._w
        if asked.wh:
            fits = [self._types.fits(asked.wh, hop.kinds) for hop in hops]
            return np.array([w.asked if fit else 0.0 if fit is None else -w.asked_wrong for fit in fits])
        if not asked.nouns:
            return np.zeros(len(hops))
        nouns = self._embedder.sentences(asked.nouns)
        near = self._likeness(nouns, [(*hop.kinds, *(hop.relation if not hop.inverse else ())) for hop in hops]).max(axis=1)
        verbs = frozenset(verb for noun in asked.nouns for word in noun.split() for verb in verbs_of(word))
        agents = [not hop.inverse and not hop.verbs.isdisjoint(verbs) for hop in hops]
        near = np.maximum(near, w.verb * np.array(agents))
        best = max(near.max(), 0.5)
        return np.where(near >= best - 0.1, w.asked, -w.asked_wrong)


class ConceptTypes:
    """Whether a concept is of the kind that a question word asks for, by its nearest example."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, str] = {}

    def fits(self, wh: str, kinds: Sequence[str]) -> bool | None:
        """None where nothing is known of the kinds."""
        types = {self._type(kind) for kind in kinds}
        return None if not types else not types.isdisjoint(_ASKS[wh])

    def _type(self, kind: str) -> str:
        if kind not in self._known:
            names = [(name, word) for name, words in _EXAMPLES.items() for word in words]
            near = self._embedder.similarity(kind, [word for _, word in names])
            self._known[kind] = names[int(near.argmax())][0]
        return self._known[kind]


_EXAMPLES = {
    "person": ("person", "employee", "doctor", "patient", "customer", "actor", "author", "politician", "student",
               "player", "member", "nurse", "teacher", "fictional character", "family"),
    "group": ("organization", "company", "team", "musical group", "school", "university", "political party",
              "hospital", "institution", "ward", "department"),
    "place": ("geographic location", "city", "country", "place", "address", "building", "region", "river", "room"),
    "date": ("date", "year", "time", "day"),
    "number": ("number", "amount", "price", "rating", "vote", "age", "currency"),
    "thing": ("film", "book", "song", "product", "language", "genre", "tag", "medical condition", "job title",
              "religion", "ethnicity", "gender", "award", "event", "title", "animal", "food", "medicine",
              "text", "account", "transaction", "website", "topic", "style"),
}  # fmt: skip
_ASKS = {"who": {"person", "group"}, "when": {"date"}, "where": {"place", "group"}}


def _way(hop: HopWords, span: Span, by_verb: bool) -> float:
    """1 where the question walks `hop` in its direction, -1 where it walks against it, 0 where it does not say."""
    said = [_WAYS.get((usage, hop.voice), 0) if hop.voice != "noun" else _of_noun(usage, by_verb) for usage in span.usages]
    said = [way * (-1 if hop.inverse else 1) for way in said if way]
    return float(max(said)) if said else 0.0


def _of_noun(usage: Usage, by_verb: bool) -> int:
    """The holder of a noun that tells an agent has something done to it: a film has a director."""
    if usage is Usage.SUBJECT:
        return -1 if by_verb else 1
    if usage is Usage.OBJECT:
        return 1 if by_verb else 0
    return _WAYS.get((usage, "noun"), 0)


def _undoing(labels: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which hop walks back along which; shape (hops + 1, hops + 1), the last one none."""
    undoing = np.zeros((len(labels) + 1, len(labels) + 1), dtype=bool)
    for row, first in enumerate(labels):
        for column, second in enumerate(labels):
            undoing[row, column] = "|" not in first and first != second and first.lstrip("^") == second.lstrip("^")
    return undoing


def _align(
    walked: WalkedQuestion,
    said: Scores,
    kinds: Scores,
    paths: Sequence[Sequence[int]],
    undoing: npt.NDArray[np.bool_],
    w: Weights,
) -> Scores:
    """The best monotone alignment of each path's hops with spans of the question (dynamic programming).

    `best[at, path, j]`: the best score of the words before `at` with the first j hops said.
    """
    length, longest = walked.length, max(len(path) for path in paths)
    none, start = len(kinds) - 2, len(kinds) - 1
    hops = np.array([[*path, *[none] * (longest - len(path))] for path in paths])
    # The kind at the end of hop j may be said right after hop j, or right before it.
    after = np.concatenate([np.full((len(paths), 1), start), hops], axis=1)
    before = np.concatenate([hops, np.full((len(paths), 1), none)], axis=1)
    there_and_back = undoing[hops[:, :-1], hops[:, 1:]] & walked.is_shared
    best = np.full((length + 1, len(paths), longest + 1), _IMPOSSIBLE)
    best[0, :, 0] = 0.0
    for at in range(length):
        here = best[at]
        unsaid = w.unsaid_word if walked.is_content[at] else 0.0
        best[at + 1] = np.maximum(best[at + 1], here - unsaid)
        for number, span in walked.spans_at(at):
            there = best[span.end]
            there[:, 1:] = np.maximum(there[:, 1:], here[:, :-1] + said[hops, number])
            both = np.where(there_and_back, said[hops[:, :-1], number] + w.shared, _IMPOSSIBLE)
            there[:, 2:] = np.maximum(there[:, 2:], here[:, :-2] + both)
            kind = np.maximum(kinds[after, number], kinds[before, number])
            # What the topic is may be read late, though it stands beside it: "the film X starred which actors".
            np.maximum(there, here + np.maximum(kind, kinds[start, number] if span.beside else _IMPOSSIBLE), out=there)
    ends = np.array([len(path) for path in paths])
    result: Scores = best[length, np.arange(len(paths)), ends]
    return result


def _turns_back(steps: Sequence[str]) -> int:
    """How often a step goes back over the relation that the one before it came by: `spouse`, then `^spouse`."""
    ends = [(step.split("|")[0], step.split("|")[-1]) for step in steps]
    return sum(last != first and last.lstrip("^") == first.lstrip("^") for (_, last), (first, _) in pairwise(ends))
