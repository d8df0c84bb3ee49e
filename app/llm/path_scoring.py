"""How well a relation path covers a question: both are walked from the topic outwards and aligned, word by word.

Coverage both ways: every content word that no hop explains costs, and so does every hop, unless words pay for it.
Hops are aligned in order, because "X's mother's children" and "X's children's mother" have the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from app.llm.alignment import (
    IMPOSSIBLE,
    Flags,
    Scores,
    align,
    turns_back,
    turns_twice,
    turns_within,
    undoes,
    undoing_hops,
)
from app.llm.asked_kind import WIDE_NOUNS, AskedKind, read_asked_kind
from app.llm.concept_types import ConceptTypes
from app.llm.directions import way_of
from app.llm.embedder import Embedder
from app.llm.english import verbs_of
from app.llm.head import NO_HEAD, Head
from app.llm.masks import is_described, openly
from app.llm.nearness import nearness
from app.llm.question_words import IRREGULAR, Span, WalkedQuestion, walks
from app.llm.weights import Weights
from app.llm.wording import VALUES, HopWords, hop_words, kinds_in, typed, verbs_named


@dataclass(frozen=True, slots=True)
class WordedPath:
    """A path from the topic, as labels (`^directed by`, `a|b`), and the concept that its last step leads to.

    `concepts` holds one concept a step where they are known, else empty texts.
    """

    steps: tuple[str, ...]
    concepts: tuple[str, ...]


class PathScorer:
    """Scores paths against one wording. Higher is better; 0 is about where chance begins."""

    def __init__(self, embedder: Embedder, weights: Weights | None = None, head: Head = NO_HEAD) -> None:
        self._embedder, self._w, self._head = embedder, weights or Weights(), head
        self._types = ConceptTypes(embedder)

    def scores(self, question: str, topic: str, concept: str, paths: Sequence[WordedPath]) -> Scores:
        """One score a path; shape (paths,). `topic` is the pseudonym that the paths start from."""
        if not paths:
            return np.zeros(0)
        question, paths = _openly(question, paths)
        hops = sorted({hop for path in paths for hop in zip(path.steps, path.concepts, strict=True)})
        position = {hop: row for row, hop in enumerate(hops)}
        chosen = [[position[hop] for hop in zip(path.steps, path.concepts, strict=True)] for path in paths]
        worded = [hop_words(*hop) for hop in hops]
        undoing = undoing_hops([label for label, _ in hops])
        kind = read_asked_kind(question)
        asked = self._asked(kind, worded)[[row[-1] for row in chosen]]
        walked = walks(question, topic)
        aligned = [self._aligned(each, worded, kinds_in(concept), chosen, undoing) for each in walked]
        turns = np.array([turns_back(path.steps) for path in paths])
        score: Scores = np.max(aligned, axis=0) + asked - self._w.turning_back * turns
        idle = _idle_turns(paths, walked[0].is_shared)
        score = score - self._w.misfit * (_misfits(hops, paths) + idle)
        return self._with_nearness(score, asked if kind.wh else np.zeros(len(paths)), question, paths)

    def _with_nearness(self, score: Scores, asked: Scores, question: str, paths: Sequence[WordedPath]) -> Scores:
        """Where the whole question counts for more, words count for less. It then counts double, so that one scale
        tells what to refuse: a cosine says less than aligned words do."""
        w = self._w
        labels = {step for path in paths for step in path.steps}
        # A description is a sentence by nature, and says nothing of how many relations there are.
        lengths = [len(typed(label).split()) for label in labels if not is_described(label)]
        weight = w.nearness_among(float(np.mean(lengths)) if lengths else w.few_words)
        ways = [[*zip(p.steps, p.concepts, strict=True)] for p in paths]
        near = nearness(self._embedder, question, ways, self._head)
        share = w.nearness / weight
        further = np.array([len(path.steps) - 1 + turns_within(path.steps) for path in paths])
        near = near + (1 - share) * (w.wordy_asked * asked - w.wordy_hop * further)
        both = share * np.maximum(score, -2.0 / share) + w.nearness * near
        return (2.0 - share) * both

    def _aligned(
        self,
        walked: WalkedQuestion,
        hops: Sequence[HopWords],
        start: tuple[str, ...],
        chosen: Sequence[Sequence[int]],
        undoing: Flags,
    ) -> Scores:
        if not walked.spans:
            return np.array([-self._w.hop * len(row) for row in chosen])
        said, by_name = self._said(walked.spans, hops)
        kinds = self._kinds(walked.spans, [hop.kinds for hop in hops], start)
        # "the film X": the word says what X is, and no step.
        beside = np.array([span.beside for span in walked.spans])
        names_topic = np.array([span.names_topic for span in walked.spans])
        doers = _doers(walked)
        for gains in (said, by_name):
            gains[:, (beside & (kinds[-1] > 0)) | names_topic | doers] = IMPOSSIBLE
        kinds[-1, names_topic | doers] = np.maximum(kinds[-1, names_topic | doers], 0.0)
        staying = _staying([hop.kinds for hop in hops], start, chosen)
        return align(walked, said, by_name, kinds, chosen, staying, undoing, self._w)

    def _said(self, spans: Sequence[Span], hops: Sequence[HopWords]) -> tuple[Scores, Scores]:
        """What each hop gains on each span, by its own words or those of what it leads to, and by its own alone.

        The last row is none.
        """
        w = self._w
        vectors = self._embedder.sentences([span.text for span in spans])
        verbs = [frozenset(verb for word in span.text.split() for verb in verbs_of(word)) for span in spans]
        done = np.array([[not hop.verbs.isdisjoint(each) for each in verbs] for hop in hops])
        worded = self._likeness(vectors, [hop.relation for hop in hops])
        own = np.maximum(worded, w.verb * done)
        reached = np.maximum(
            self._likeness(vectors, [hop.reached for hop in hops]),
            w.kind_alone * self._likeness(vectors, [hop.kinds for hop in hops]),
        )
        ways = np.array(
            [
                [way_of(hop, span.usages, bool(by)) for span, by in zip(spans, row, strict=True)]
                for hop, row in zip(hops, done, strict=True)
            ]
        )
        inverse = np.array([[hop.inverse] for hop in hops])
        best = np.maximum(own, reached).max(axis=0)
        # What is said in whole is not said in parts: the contact of "emergency contact" says no other relation.
        whole = worded >= w.whole
        parts = _within(spans) & whole.any(axis=0)
        hidden = np.array([[bool((row & ~own_words).any()) for row in parts] for own_words in whole])
        by_name = self._gains(own, best, inverse, ways)
        said = np.maximum(by_name, self._gains(reached, best, inverse, ways.clip(0)))
        none = np.full((1, len(spans)), IMPOSSIBLE)
        said[hidden] = by_name[hidden] = IMPOSSIBLE
        return np.concatenate([said, none]), np.concatenate([by_name, none])

    def _gains(self, likeness: Scores, best: Scores, inverse: Flags, ways: Scores) -> Scores:
        w = self._w
        gains = (
            likeness - w.rivals * (best - likeness) - w.hop - w.inverse * (inverse & (ways <= 0)) + w.direction * ways
        )
        return np.where((likeness < w.least) | (best - likeness > w.most_outdone), IMPOSSIBLE, gains)

    def _likeness(self, spans: Scores, wordings: Sequence[Sequence[str]]) -> Scores:
        """The nearest of each hop's wordings to each span; shape (hops, spans)."""
        known = sorted({text for texts in wordings for text in texts})
        if not known:
            return np.zeros((len(wordings), len(spans)))
        near = self._embedder.sentences(known) @ spans.T
        position = {text: row for row, text in enumerate(known)}
        none = np.zeros(len(spans))
        return np.stack([near[[position[t] for t in texts]].max(axis=0) if texts else none for texts in wordings])

    def _kinds(self, spans: Sequence[Span], kinds: Sequence[tuple[str, ...]], start: tuple[str, ...]) -> Scores:
        """What naming the kind beside a hop gains on each span; shape (hops + 2, spans): then none, then the start."""
        w, named = self._w, [*kinds, (), start]
        vectors = self._embedder.sentences([IRREGULAR.get(span.text, span.text) for span in spans])
        likeness = self._likeness(vectors, named)
        wide = [WIDE_NOUNS.get(span.text) for span in spans]
        fits = np.array([[bool(wh and words and self._types.fits(wh, words)) for wh in wide] for words in named])
        return np.where(fits, w.kind, np.where(likeness < w.least_kind, IMPOSSIBLE, w.kind * likeness))

    def _asked(self, asked: AskedKind, hops: Sequence[HopWords]) -> Scores:
        """What it gains or costs that a path ends with each hop; shape (hops,)."""
        w = self._w
        if asked.wh:
            fits = [self._types.fits(asked.wh, hop.kinds) for hop in hops]
            return np.array([w.asked if fit else 0.0 if fit is None else -w.asked_wrong for fit in fits])
        if not asked.nouns:
            return np.zeros(len(hops))
        names = [(*hop.kinds, *(() if hop.inverse else hop.relation)) for hop in hops]
        near = self._likeness(self._embedder.sentences(asked.nouns), names).max(axis=1)
        verbs = frozenset(verb for noun in asked.nouns for word in noun.split() for verb in verbs_of(word))
        agents = np.array([not hop.inverse and not hop.verbs.isdisjoint(verbs) for hop in hops])
        near = np.maximum(near, w.verb * agents)
        return np.where(near >= max(near.max(), 0.5) - 0.1, w.asked, -w.asked_wrong)


def _openly(question: str, paths: Sequence[WordedPath]) -> tuple[str, Sequence[WordedPath]]:
    """A question that calls a masked relation by its opaque word, and the paths as it calls them."""
    asked = openly(question, ())[0]
    if asked == question:
        return question, paths
    return asked, [WordedPath(tuple(openly(question, path.steps)[1]), path.concepts) for path in paths]


def _within(spans: Sequence[Span]) -> Flags:
    """Which span is a part of which longer one; shape (spans, spans)."""
    starts, ends = np.array([span.start for span in spans]), np.array([span.end for span in spans])
    inside = (starts[:, None] >= starts[None, :]) & (ends[:, None] <= ends[None, :])
    longer: Flags = inside & ((ends - starts)[:, None] < (ends - starts)[None, :])
    return longer


def _doers(walked: WalkedQuestion) -> Flags:
    """Which spans only call the topic by what it is said to do ("the screenwriter X wrote"); shape (spans,).

    Else the agent's noun may say how the topic is met; and so it does where something is shared with others.
    """
    done = frozenset[str]().union(*(verbs_of(span.text) for span in walked.spans if not span.beside))
    doing = [span.apposed and not done.isdisjoint(verbs_named(span.text)) for span in walked.spans]
    return np.array(doing, dtype=bool) & (not walked.is_shared)


def _staying(kinds: Sequence[tuple[str, ...]], start: tuple[str, ...], paths: Sequence[Sequence[int]]) -> Flags:
    """Which steps lead from things of one kind to things of the same; shape (paths, most steps)."""
    flags = np.zeros((len(paths), max(len(path) for path in paths)), dtype=bool)
    for row, path in enumerate(paths):
        met = [start, *(kinds[hop] for hop in path)]
        flags[row, : len(path)] = [bool(set(a) & set(b)) for a, b in pairwise(met)]
    return flags


def _idle_turns(paths: Sequence[WordedPath], is_shared: bool) -> Flags:
    """Which paths go there, back and there again, or back from a value though nothing that has the same is asked for;
    shape (paths,)."""
    return np.array([turns_twice(path.steps) or (not is_shared and _leaves_value_again(path)) for path in paths])


def _leaves_value_again(path: WordedPath) -> bool:
    turns = zip(pairwise(path.steps), path.concepts, strict=False)
    return any(concept in VALUES and undoes(then, step) for (step, then), concept in turns)


def _misfits(hops: Sequence[tuple[str, str]], paths: Sequence[WordedPath]) -> Scores:
    """How many steps of each path leave things of a kind that the relation does not leave elsewhere; shape (paths,).

    Where two things share a name they are one node, and a film then has what only people have.
    """
    reached: dict[str, set[str]] = {}
    for label, concept in hops:
        reached.setdefault(label, set()).update(kinds_in(concept))
    left = {label: reached.get(label[1:] if label[0] == "^" else f"^{label}", set()) for label in reached}
    counts = [
        sum(
            bool(left[step] and kinds_in(before)) and left[step].isdisjoint(kinds_in(before))
            for step, before in zip(path.steps[1:], path.concepts, strict=False)
        )
        for path in paths
    ]
    return np.array(counts, dtype=float)
