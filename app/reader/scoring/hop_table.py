"""Aligns words of a question with the hops of each path, using one table of likenesses for all hops."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.reader.language.question_words import WalkedQuestion
from app.reader.language.relation_wording import VALUES, HopWords, hop_words, is_described, kinds_in
from kg_store.text.english import kind_words
from kg_store.text.inflection import regular_plural, singular
from kg_store.text.labels import typed_step


@dataclass(frozen=True, slots=True)
class Weights:
    """The costs and gains of path scoring, in units of a cosine.

    Costs: `hop`, for each hop; `inverse`, for a hop walked backwards, unless grammar asks for it; `turning_back`, for
    going straight back; `unsaid_word`, for a content word that no hop explains. Gains: `direction`, if grammar asks
    for the direction of a hop; `kind`, if a word names the kind beside a hop; `asked`, if the path reaches the kind
    asked for.

    All were chosen by hand, one number changed at a time, on samples of PathQuestion, MetaQA and WebQSP;
    docs/performance.md ("The weights of path scoring") has the figures.
    """

    hop: float = 0.4
    inverse: float = 0.2
    turning_back: float = 0.25
    # Cost of a hop that leaves a kind which its relation leaves nowhere else.
    misfit: float = 1.0
    unsaid_word: float = 0.28
    direction: float = 0.15
    kind: float = 0.2
    asked: float = 0.2
    asked_wrong: float = 0.25
    # Gain of one word that expresses two hops, as in "the same director": more than the second hop and the turn cost.
    shared: float = 0.4
    # Likeness of a verb to a passive label of the same verb: "did X direct" expresses `directed by` backwards.
    verb: float = 0.9
    # Factor if words name only the kind at a hop's end ("X's doctor" for `treated by`), which is weaker evidence than
    # the relation's own words.
    kind_alone: float = 0.75
    # Loss for each unit of likeness by which another relation is more like the words. Words do not express a hop that
    # is behind by more than most_outdone, or whose likeness is below `least`.
    rivals: float = 1.0
    most_outdone: float = 0.3
    least: float = 0.15
    # Least likeness at which a phrase names a relation completely; least_kind is the least likeness to name a kind.
    whole: float = 0.95
    least_kind: float = 0.7
    # Weight of the whole question's likeness to the whole path; it grows from `nearness` to `wordy_nearness` as the
    # mean number of words of a label grows from few_words to many_words.
    nearness: float = 0.7
    wordy_nearness: float = 20.0
    wordy_hop: float = 0.2
    wordy_asked: float = 0.25
    few_words: float = 2.8
    many_words: float = 3.6

    def nearness_among(self, words: float) -> float:
        """Returns the weight of the whole question's likeness, if a relation label has `words` words on average.

        The weight grows with that number. Some long labels are like single words by chance, so the whole question
        should decide.
        """
        share = min(1.0, max(0.0, (words - self.few_words) / (self.many_words - self.few_words)))
        return float(self.nearness ** (1 - share) * self.wordy_nearness**share)


Scores = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
Hops = npt.NDArray[np.int64]

IMPOSSIBLE = -1e9


@dataclass(frozen=True, slots=True, eq=False)
class HopGains:
    """The gain in score of each hop for each span of the question, as arrays.

    The row after the last hop stands for "no hop". `said`: gain if the span expresses the hop's relation or what it
    leads to, shape (hops + 1, spans); `by_name`: gain if it expresses the relation. `kinds`: gain if it names the kind
    beside the hop, shape (hops + 2, spans); the last two rows are "no hop" and the start. `staying`: hops that stay
    within one kind, so that the kind's name does not express them, shape (paths, hops). `undoing`: True if the second
    hop walks straight back along the first, shape (hops + 1, hops + 1).
    """

    said: Scores
    by_name: Scores
    kinds: Scores
    staying: Flags
    undoing: Flags


def align(walked: WalkedQuestion, hops: Hops, gains: HopGains, w: Weights) -> Scores:
    """Returns the best score of each path, shape (paths,). `hops`: the row numbers of its hops, padded with "no hop".

    Computed by dynamic programming: `best[position, path, j]` is the best score of the words before `position` with
    the first j hops explained.
    """
    length, (count, longest) = walked.length, hops.shape
    said = _PathGains(hops, gains, walked.is_shared, w.shared)
    best = np.full((length + 1, count, longest + 1), IMPOSSIBLE)
    best[0, :, 0] = 0.0
    for position in range(length):
        here = best[position]
        unsaid = w.unsaid_word if walked.is_content[position] else 0.0
        best[position + 1] = np.maximum(best[position + 1], here - unsaid)
        for number, span in walked.spans_at(position):
            there = best[span.end]
            there[:, 1:] = np.maximum(there[:, 1:], here[:, :-1] + said.of_hop(number))
            there[:, 2:] = np.maximum(there[:, 2:], here[:, :-2] + said.of_two_hops(number))
            np.maximum(there, here + said.of_kind(number, span.beside), out=there)
    ends = (hops != len(gains.kinds) - 2).sum(axis=1)
    result: Scores = best[length, np.arange(count), ends]
    return result


class _PathGains:
    """The gain in score that each span of the question brings to each hop of every path."""

    def __init__(self, hops: Hops, gains: HopGains, is_shared: bool, shared: float) -> None:
        self._hops, self._gains, self._shared = hops, gains, shared
        none, self._start = len(gains.kinds) - 2, len(gains.kinds) - 1
        # Words may name the kind at the end of hop j directly after those for hop j or directly before them.
        self._after = np.concatenate([np.full((len(hops), 1), self._start), hops], axis=1)
        self._before = np.concatenate([hops, np.full((len(hops), 1), none)], axis=1)
        turns = gains.undoing[hops[:, :-1], hops[:, 1:]] & is_shared
        self._there_and_back = turns & (turns.cumsum(axis=1) == 1)  # One word expresses only the first turn.

    def of_hop(self, span: int) -> Scores:
        gains = self._gains
        said: Scores = np.where(gains.staying, gains.by_name[self._hops, span], gains.said[self._hops, span])
        return said

    def of_two_hops(self, span: int) -> Scores:
        """Returns the gain of one word that expresses two hops, there and back: "the same director as X"."""
        by_name = self._gains.by_name[self._hops[:, :-1], span]
        both: Scores = np.where(self._there_and_back, by_name + self._shared, IMPOSSIBLE)
        return both

    def of_kind(self, span: int, is_beside: bool) -> Scores:
        """Returns the gain if the span names a kind at one end of a hop, for each place in every path.

        `is_beside`: the span stands beside the topic, so it may also name the topic's own kind.
        """
        kinds = self._gains.kinds
        kind = np.maximum(kinds[self._after, span], kinds[self._before, span])
        late: Scores = np.maximum(kind, kinds[self._start, span] if is_beside else IMPOSSIBLE)
        return late


def is_inverse_of(then: str, step: str) -> bool:
    """Returns True if the hop `then` walks straight back along `step`; False for hops through a record (`a|b`)."""
    return "|" not in step and then != step and then.lstrip("^") == step.lstrip("^")


_EXAMPLES = {
    "person": "person, employee, doctor, patient, customer, actor, author, politician, student, player, member, "
    "nurse, teacher, fictional character, family",
    "group": "organization, company, team, musical group, school, university, political party, hospital, "
    "institution, ward, department",
    "place": "geographic location, city, country, place, address, building, region, river, room",
    "date": "date, year, time, day",
    "number": "number, amount, price, rating, vote, age, currency",
    "thing": "film, book, song, product, language, genre, tag, medical condition, job title, religion, ethnicity, "
    "gender, award, event, title, animal, food, medicine, text, account, transaction, website, topic, style",
}
_WORDS = [(kind, word) for kind, words in _EXAMPLES.items() for word in words.split(", ")]
EXAMPLES = tuple(word for _, word in _WORDS)
_ASKED_BY = {"who": {"person", "group"}, "when": {"date"}, "where": {"place", "group"}}


class ConceptTypes:
    """Decides if a concept is of the type that a question word asks for, by the example word that is most like it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, str] = {}

    def fits(self, wh: str, kinds: Sequence[str]) -> bool | None:
        """Returns True if one of `kinds` fits `wh` (who, when or where), else False; None if there are no kinds."""
        types = {self.of(kind) for kind in kinds}
        return None if not types else not types.isdisjoint(_ASKED_BY[wh])

    def of(self, kind: str) -> str:
        """Returns the type of the concept `kind`: person, group, place, date, number or thing."""
        if kind not in self._known:
            self._known[kind] = _WORDS[int(self._embedder.similarity(kind, EXAMPLES).argmax())][0]
        return self._known[kind]


Hop = tuple[str, str]
"""The label of a hop and the concept that it leads to."""

Rows = npt.NDArray[np.int64]

MAX_CACHED: Final = 5_000
"""Greatest number of hops in all cached tables together; each takes about ten kilobytes."""


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedWordings:
    """For each row, such as a hop or a kind, the texts that express it, with their vectors. A row may have no text.

    `vectors`: one for each distinct text. `texts_of`: positions in `vectors` of the texts of all rows, one row after
    another. `starts`: where each row that has texts begins in `texts_of`. `worded`: True for each row that has texts.
    """

    vectors: npt.NDArray[np.float32]
    texts_of: Rows
    starts: Rows
    worded: Flags

    @staticmethod
    def of(embedder: Embedder, rows: Sequence[Sequence[str]]) -> EmbeddedWordings:
        texts = sorted({text for row in rows for text in row})
        position = {text: number for number, text in enumerate(texts)}
        vectors = embedder.sentences(texts) if texts else np.zeros((0, 1), dtype=np.float32)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        flat = np.array([position[text] for row in rows for text in row], dtype=np.int64)
        return EmbeddedWordings(vectors, flat, (np.cumsum(lengths) - lengths)[lengths > 0], lengths > 0)

    def likeness(self, spans: npt.NDArray[np.float32]) -> Scores:
        """Returns the likeness (cosine) of each row's nearest text to each span; shape (rows, spans).

        A row without texts has 0.
        """
        result = np.zeros((len(self.worded), len(spans)))
        if len(self.texts_of):
            near = (self.vectors @ spans.T)[self.texts_of]
            result[self.worded] = np.maximum.reduceat(near, self.starts, axis=0)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class HopTable:
    """Everything that scoring knows about a set of hops independently of the question.

    Flags about two hops have shape (hops + 1, hops + 1): a row for the first hop, a column for the next one; the last
    of each stands for "no hop". `undoing`: the next hop walks straight back along the first. `turning`: it uses the
    same relation in the other direction. `leaving_value`: it walks back from a value. `misfit`: it leaves a kind that
    its relation does not leave elsewhere, as happens where two things of one name are one node. `same_kind`: both hops
    lead to the same kind. Other fields: `inside` is 1 if a hop enters and leaves a record by the same relation.
    `kind_of`: the row of each hop in `kinds`, whose last row is "none". `kind_names`: for each synonym of a kind, the
    kind's own name.
    """

    hops: tuple[Hop, ...]
    words: tuple[HopWords, ...]
    inverse: Flags
    inside: Rows
    undoing: Flags
    turning: Flags
    leaving_value: Flags
    misfit: Flags
    same_kind: Flags
    relation: EmbeddedWordings
    reached: EmbeddedWordings
    kinds: tuple[tuple[str, ...], ...]
    kind_of: Rows
    worded_kinds: EmbeddedWordings
    own: EmbeddedWordings
    words_of_a_label: float
    kind_names: Mapping[str, str]

    @staticmethod
    def of(embedder: Embedder, hops: tuple[Hop, ...]) -> HopTable:
        words = tuple(hop_words(*hop) for hop in hops)
        labels, concepts = [label for label, _ in hops], [concept for _, concept in hops]
        undoing = _pairs(labels, _whole_undone) & np.array([*("|" not in label for label in labels), False])[:, None]
        kinds = tuple(sorted({hop.kinds for hop in words}))
        return HopTable(
            hops=hops,
            words=words,
            inverse=np.array([[hop.inverse] for hop in words], dtype=bool),
            inside=np.array([*map(_turns_inside, labels), 0], dtype=np.int64),
            undoing=undoing,
            turning=_pairs(labels, _outer_undone),
            leaving_value=undoing & np.array([*(concept in VALUES for concept in concepts), False])[:, None],
            misfit=_misfits(hops),
            same_kind=_sharing([*(frozenset(hop.kinds) for hop in words), frozenset()]),
            relation=EmbeddedWordings.of(embedder, [hop.relation for hop in words]),
            reached=EmbeddedWordings.of(embedder, [hop.reached for hop in words]),
            kinds=(*kinds, ()),
            kind_of=np.array([*(kinds.index(hop.kinds) for hop in words), len(kinds)], dtype=np.int64),
            worded_kinds=EmbeddedWordings.of(embedder, (*kinds, ())),
            own=EmbeddedWordings.of(embedder, [(*hop.kinds, *(() if hop.inverse else hop.relation)) for hop in words]),
            words_of_a_label=_mean_length(set(labels)),
            kind_names=_kind_names(kinds),
        )

    def as_called(self, noun: str) -> str:
        """Returns `noun` as the graph's own word for its kind ("films" for "movies"), or `noun` if it names no
        kind.
        """
        one = singular(noun)
        kind = self.kind_names.get(one)
        return noun if kind is None else kind if noun == one else regular_plural(kind)

    def rows_of(self, ways: Sequence[Sequence[Hop]]) -> Rows:
        """Returns paths as row numbers of hops, padded with "no hop"; shape (paths, hops of the longest)."""
        position = {hop: row for row, hop in enumerate(self.hops)}
        longest = max(map(len, ways))
        none = [len(self.hops)] * longest
        return np.array([([position[hop] for hop in way] + none)[:longest] for way in ways], dtype=np.int64)

    def starting(self, start: Sequence[str]) -> Flags:
        """Returns True for each hop that leads to one of the kinds `start`; shape (hops + 1,)."""
        return np.array([*(not set(start).isdisjoint(hop.kinds) for hop in self.words), False])


def _kind_names(kinds: Iterable[Sequence[str]]) -> dict[str, str]:
    own = sorted({kind for some in kinds for kind in some})
    further = {word: kind for kind in own for word in sorted(kind_words(kind))}
    return {word: kind for word, kind in further.items() if word not in own}


def _mean_length(labels: Collection[str]) -> float:
    """Returns the mean number of words of `labels`, or 0 if there are none.

    Masked relations with a description are left out, because a description is a whole sentence.
    """
    lengths = [len(typed_step(label).split()) for label in labels if not is_described(label)]
    return float(np.mean(lengths)) if lengths else 0.0


def _pairs(labels: Sequence[str], ends: Callable[[str], tuple[str, str]]) -> Flags:
    """Returns flags for pairs of labels: True if the second walks straight back along the last hop of the first.

    `ends` returns the first and the last hop of a label. Shape (labels + 1, labels + 1); the last row and column are
    False.
    """
    firsts, lasts = zip(*(ends(label) for label in labels), strict=True)
    names = {name: number for number, name in enumerate(dict.fromkeys((*firsts, *lasts)))}
    bare = {name: number for number, name in enumerate(dict.fromkeys(name.lstrip("^") for name in names))}
    first, last = np.array([names[each] for each in firsts]), np.array([names[each] for each in lasts])
    bares = np.array([bare[name.lstrip("^")] for name in names])
    flags = np.zeros((len(labels) + 1, len(labels) + 1), dtype=bool)
    flags[:-1, :-1] = (last[:, None] != first[None, :]) & (bares[last][:, None] == bares[first][None, :])
    return flags


def _whole_undone(label: str) -> tuple[str, str]:
    return label, label


def _outer_undone(label: str) -> tuple[str, str]:
    parts = label.split("|")
    return parts[0], parts[-1]


def _turns_inside(label: str) -> int:
    first, *_, last = parts if len(parts := label.split("|")) > 1 else ("", "")
    return int(first != last and first.lstrip("^") == last.lstrip("^"))


def _misfits(hops: Sequence[Hop]) -> Flags:
    reached: dict[str, set[str]] = {}
    for label, concept in hops:
        reached.setdefault(label, set()).update(kinds_in(concept))
    left = {label: reached.get(label[1:] if label[0] == "^" else f"^{label}", set()) for label in reached}
    before = {concept: set(kinds_in(concept)) for _, concept in hops}
    apart = {
        (concept, label): bool(kinds and left[label]) and left[label].isdisjoint(kinds)
        for concept, kinds in before.items()
        for label in left
    }
    flags = np.zeros((len(hops) + 1, len(hops) + 1), dtype=bool)
    flags[:-1, :-1] = [[apart[concept, label] for label, _ in hops] for _, concept in hops]
    return flags


def _sharing(kinds: Sequence[frozenset[str]]) -> Flags:
    rows = {each: number for number, each in enumerate(dict.fromkeys(kinds))}
    small = np.array([[not a.isdisjoint(b) for b in rows] for a in rows])
    at = np.array([rows[each] for each in kinds])
    flags: Flags = small[at][:, at]
    return flags


class HopTables:
    """Caches the tables of the paths scored most recently, up to MAX_CACHED hops. Thread-safe; holds no questions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._lock = embedder, threading.Lock()
        self._known: OrderedDict[tuple[Hop, ...], HopTable] = OrderedDict()
        self._held = 0

    def of(self, hops: tuple[Hop, ...]) -> HopTable:
        """Returns the table of `hops`, which must be sorted and distinct."""
        with self._lock:
            if table := self._known.get(hops):
                self._known.move_to_end(hops)
                return table
        table = HopTable.of(self._embedder, hops)
        with self._lock:
            if hops not in self._known:
                self._known[hops] = table
                self._held += len(hops)
            while self._held > MAX_CACHED and len(self._known) > 1:
                self._held -= len(self._known.popitem(last=False)[0])
        return table
