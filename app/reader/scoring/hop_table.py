"""HopTable: everything that scoring needs about the hops of some paths, independent of the question; built once for
them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.reader.language.relation_wording import VALUES, HopWords, hop_words, is_described, kinds_in
from app.reader.scoring.alignment import Flags, Scores
from kg_store.text.english import kind_words
from kg_store.text.inflection import regular_plural, singular
from kg_store.text.labels import typed_step

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
    """Decides whether a concept is of the type that a question word asks for, by the example word it is most like."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, str] = {}

    def fits(self, wh: str, kinds: Sequence[str]) -> bool | None:
        """True if one of `kinds` fits `wh` (who, when or where), False if none does, None if there are no kinds."""
        types = {self.of(kind) for kind in kinds}
        return None if not types else not types.isdisjoint(_ASKED_BY[wh])

    def of(self, kind: str) -> str:
        """Returns person, group, place, date, number or thing."""
        if kind not in self._known:
            self._known[kind] = _WORDS[int(self._embedder.similarity(kind, EXAMPLES).argmax())][0]
        return self._known[kind]


Hop = tuple[str, str]
"""The label of a hop and the concept that it leads to."""

Rows = npt.NDArray[np.int64]

MAX_CACHED: Final = 5_000
"""The greatest number of hops in all cached tables together, at about ten kilobytes each."""


@dataclass(frozen=True, slots=True, eq=False)
class Wordings:
    """The texts of each row, with their vectors; some rows may have none."""

    vectors: npt.NDArray[np.float32]
    texts_of: Rows
    starts: Rows
    worded: Flags

    @staticmethod
    def of(embedder: Embedder, rows: Sequence[Sequence[str]]) -> Wordings:
        texts = sorted({text for row in rows for text in row})
        position = {text: number for number, text in enumerate(texts)}
        vectors = embedder.sentences(texts) if texts else np.zeros((0, 1), dtype=np.float32)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        flat = np.array([position[text] for row in rows for text in row], dtype=np.int64)
        return Wordings(vectors, flat, (np.cumsum(lengths) - lengths)[lengths > 0], lengths > 0)

    def likeness(self, spans: npt.NDArray[np.float32]) -> Scores:
        """The likeness (cosine) of each row's nearest text to each span, 0 for a row without texts; shape (rows,
        spans).
        """
        result = np.zeros((len(self.worded), len(spans)))
        if len(self.texts_of):
            near = (self.vectors @ spans.T)[self.texts_of]
            result[self.worded] = np.maximum.reduceat(near, self.starts, axis=0)
        return result


@dataclass(frozen=True, slots=True, eq=False)
class HopTable:
    """Everything that scoring knows about a set of hops, whatever the question.

    Flags of pairs have shape (hops + 1, hops + 1): row for the hop before, column for the hop after; the last one
    stands for "no hop". `undoing`: the second hop walks back along the first. `turning`: it uses the same relation
    backwards. `leaving_value`: it walks back from a value. `misfit`: it leaves a kind that its relation does not leave
    elsewhere, as happens where two things of one name are one node. `same_kind`: it leads from a kind to the same
    kind. `inside`: 1 if it enters and leaves a record by the same relation. `kind_of`: the row of each hop in `kinds`,
    whose last row is "none". `kind_names`: the kind that each further word means.
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
    relation: Wordings
    reached: Wordings
    kinds: tuple[tuple[str, ...], ...]
    kind_of: Rows
    worded_kinds: Wordings
    own: Wordings
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
            relation=Wordings.of(embedder, [hop.relation for hop in words]),
            reached=Wordings.of(embedder, [hop.reached for hop in words]),
            kinds=(*kinds, ()),
            kind_of=np.array([*(kinds.index(hop.kinds) for hop in words), len(kinds)], dtype=np.int64),
            worded_kinds=Wordings.of(embedder, (*kinds, ())),
            own=Wordings.of(embedder, [(*hop.kinds, *(() if hop.inverse else hop.relation)) for hop in words]),
            words_of_a_label=_mean_length(set(labels)),
            kind_names=_kind_names(kinds),
        )

    def as_called(self, noun: str) -> str:
        """Returns `noun` in the graph's own word for the kind: "films" for "movies"; `noun` itself if it names no
        kind.
        """
        one = singular(noun)
        kind = self.kind_names.get(one)
        return noun if kind is None else kind if noun == one else regular_plural(kind)

    def rows_of(self, ways: Sequence[Sequence[Hop]]) -> Rows:
        """Returns paths as rows of hops, filled up with "no hop"; shape (paths, hops of the longest)."""
        position = {hop: row for row, hop in enumerate(self.hops)}
        longest = max(map(len, ways))
        none = [len(self.hops)] * longest
        return np.array([([position[hop] for hop in way] + none)[:longest] for way in ways], dtype=np.int64)

    def starting(self, start: Sequence[str]) -> Flags:
        """Returns which hops lead to one of the kinds `start`; shape (hops + 1,)."""
        return np.array([*(not set(start).isdisjoint(hop.kinds) for hop in self.words), False])


def _kind_names(kinds: Iterable[Sequence[str]]) -> dict[str, str]:
    own = sorted({kind for some in kinds for kind in some})
    further = {word: kind for kind in own for word in sorted(kind_words(kind))}
    return {word: kind for word, kind in further.items() if word not in own}


def _mean_length(labels: Collection[str]) -> float:
    """The mean number of words of `labels`, 0 without any; masked relations with a description are left out, since a
    description is a whole sentence.
    """
    lengths = [len(typed_step(label).split()) for label in labels if not is_described(label)]
    return float(np.mean(lengths)) if lengths else 0.0


def _pairs(labels: Sequence[str], ends: Callable[[str], tuple[str, str]]) -> Flags:
    """Which label goes back along the end of another one; `ends` gives the first and the last hop of a label."""
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
    """The tables of the paths scored most recently, up to MAX_CACHED hops. Thread-safe; holds schemas, never
    questions.
    """

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
