"""Computes the likeness of texts by the sentence model, caches results, and embeds texts of a schema in advance."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import CACHED_TEXTS, Embedder
from app.llm.embeddings.trained_weights import NO_HEAD, RelationAdapter
from app.reader.language.relation_wording import hop_words, kinds_in, unmask_words
from app.reader.scoring.hop_table import EXAMPLES
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Hop, NodeKind, Schema, Step
from kg_store.text.labels import typed_step, worded
from kg_store.text.words import asked_words

MAX_KEPT: Final = 64

T = TypeVar("T")
_MISSING: Final = object()


class Latest:
    """Keeps the `size` most recently computed results by key and drops the oldest first.

    Thread-safe; two threads that ask for the same missing key at once may both compute it.
    """

    def __init__(self, size: int = MAX_KEPT) -> None:
        self._size, self._lock = size, threading.Lock()
        self._kept: OrderedDict[Hashable, object] = OrderedDict()

    def of(self, key: Hashable, work_out: Callable[[], T]) -> T:
        with self._lock:
            known = self._kept.get(key, _MISSING)
        if known is not _MISSING:
            return cast(T, known)
        fresh = work_out()
        with self._lock:
            self._kept[key] = fresh
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return fresh


Way = Sequence[tuple[str, str]]
"""The label and the concept of each step of a path; at least one step."""


def nearness(
    embedder: Embedder, question: str, ways: Sequence[Way], head: RelationAdapter = NO_HEAD
) -> npt.NDArray[np.floating[Any]]:
    """Returns the likeness (cosine) of the whole question to each path, after the adapter `head`; shape (paths,).

    Each distinct step is embedded once. Pseudonyms are left out, because they are random.
    """
    if not ways:
        return np.zeros(0)
    question, ways = unmask_paths(question, ways)
    rows: dict[tuple[str, str], int] = {}
    flat = [rows.setdefault(step, len(rows)) for way in ways for step in way]
    embedded = embedder.sentences([*(step_text(*step) for step in rows), asked_words(question)])
    vectors, asked = head.moved("step", embedded[:-1]), head.moved("question", embedded[-1:])[0]
    lengths = np.array([len(way) for way in ways])
    sums = np.add.reduceat(vectors[flat], np.cumsum(lengths) - lengths, axis=0)
    near: npt.NDArray[np.floating[Any]] = sums @ asked / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    return head.gain * near + head.offset + head.of_lengths(embedded[-1], lengths)


def unmask_paths(question: str, ways: Sequence[Way]) -> tuple[str, Sequence[Way]]:
    """Returns the question and the paths with their opaque words (for masked relations) in lower case, as plain words.

    See `unmask_words`. Returns the same objects if the question has no opaque word.
    """
    asked, labels = unmask_words(question, [label for way in ways for label, _ in way])
    if asked == question:
        return question, ways
    given = iter(labels)
    return asked, [[(next(given), concept) for _, concept in way] for way in ways]


@lru_cache(maxsize=65_536)
def step_text(label: str, concept: str) -> str:
    """Returns a step in words: the type that its relation belongs to, the relation, and the concept it leads to."""
    return f"{typed_step(label)} {concept}".strip()


# Texts embedded at a time; a question that arrives meanwhile waits for at most these. Chosen by hand; not fitted.
TEXTS_AT_A_TIME = 16
# Greatest number of texts embedded in advance, so that half of the cache stays free for the texts of questions.
MAX_TEXTS = CACHED_TEXTS // 2


def texts_of(schema: Schema) -> list[str]:
    """Returns the texts that ranking and scoring embed for any question on `schema`, at most MAX_TEXTS."""
    words = [hop_words(*way) for way in _ways_of(schema)]
    texts = [text for each in words for text in (*each.relation, *each.reached, *each.kinds)]
    kinds = [kind for concept in schema.concepts for kind in kinds_in(str(concept))]
    return list(dict.fromkeys([*EXAMPLES, *kinds, *texts]))[:MAX_TEXTS]


def wholes_of(schema: Schema) -> list[str]:
    """Returns the texts of whole steps, which are compared with whole questions; at most MAX_TEXTS."""
    return list(dict.fromkeys(step_text(*way) for way in _ways_of(schema)))[:MAX_TEXTS]


def _ways_of(schema: Schema) -> list[tuple[str, str]]:
    """Returns the words of each step, and the concept that it leads to."""
    hops = [(Hop(relation.id, inverse),) for relation in schema.relations for inverse in (False, True)]
    return [(worded(schema, step), tail_concept(schema, step)) for step in (*hops, *_through_mediators(schema))]


def _through_mediators(schema: Schema) -> list[Step]:
    """Returns the steps through mediators (nodes that only join others), those of most mediators first.

    The order matters if there are too many steps to embed in advance: then the last ones are embedded when needed.
    """
    things: Counter[Step] = Counter()
    for signature in schema.signatures:
        if signature.kind is NodeKind.MEDIATOR:
            pairs = permutations(signature.hops, 2)
            things.update({(into.reversed(), out): signature.size for into, out in pairs})
    return [step for step, _ in things.most_common()]


class CacheWarmer:
    """Embeds texts in background threads, which stop with the process or when `close` is called."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._ends = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, schema: Schema) -> None:
        """Starts to embed the words of `schema` and returns at once."""
        thread = threading.Thread(target=self._embed, args=(schema,), name="warming", daemon=True)
        self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        thread.start()

    def wait(self) -> None:
        """Waits until everything that was begun is embedded."""
        for thread in self._threads:
            thread.join()

    def close(self) -> None:
        """Stops after the batch that is being embedded."""
        self._ends.set()
        self.wait()

    def _embed(self, schema: Schema) -> None:
        wholes = wholes_of(schema)
        for texts in (wholes, texts_of(schema)[: MAX_TEXTS - len(wholes)]):
            self._run(texts)

    def _run(self, texts: Sequence[str]) -> None:
        # Texts of similar length are embedded together, so that little padding is needed.
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), TEXTS_AT_A_TIME):
            if self._ends.is_set():
                return
            self._embedder.sentences(ordered[start : start + TEXTS_AT_A_TIME])
