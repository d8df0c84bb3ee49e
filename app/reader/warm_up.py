"""Embeds the words of a graph's schema in the background, before questions need them.

Without this, the first questions on a graph with thousands of relations are slow. Vectors are kept in memory only: the
words of a schema are sealed on disk, so their vectors are not written there either.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from app.llm.embeddings.embedder import CACHED_TEXTS, Embedder
from app.reader.language.relation_wording import hop_words, kinds_in
from app.reader.scoring.hop_table import EXAMPLES
from app.reader.scoring.similarity import step_text
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Hop, NodeKind, Schema, Step
from kg_store.text.labels import worded

# A question that arrives meanwhile waits for at most this many short texts. Chosen by hand; not fitted.
TEXTS_AT_A_TIME = 16
# Half of the cache stays free for the texts of questions.
MAX_TEXTS = CACHED_TEXTS // 2


def texts_of(schema: Schema) -> list[str]:
    """Returns the texts that ranking and scoring embed for any question on `schema`."""
    words = [hop_words(*way) for way in _ways_of(schema)]
    texts = [text for each in words for text in (*each.relation, *each.reached, *each.kinds)]
    kinds = [kind for concept in schema.concepts for kind in kinds_in(str(concept))]
    return list(dict.fromkeys([*EXAMPLES, *kinds, *texts]))[:MAX_TEXTS]


def wholes_of(schema: Schema) -> list[str]:
    """Returns the texts of whole steps, which are compared with whole questions."""
    return list(dict.fromkeys(step_text(*way) for way in _ways_of(schema)))[:MAX_TEXTS]


def _ways_of(schema: Schema) -> list[tuple[str, str]]:
    """The words of each step, and the concept that it leads to."""
    hops = [(Hop(relation.id, inverse),) for relation in schema.relations for inverse in (False, True)]
    return [(worded(schema, step), tail_concept(schema, step)) for step in (*hops, *_through_mediators(schema))]


def _through_mediators(schema: Schema) -> list[Step]:
    """The steps through mediators (nodes that only join others), by falling number of things.

    With very many steps the last are not warmed and wait for a question that needs them.
    """
    things: Counter[Step] = Counter()
    for signature in schema.signatures:
        if signature.kind is NodeKind.MEDIATOR:
            pairs = permutations(signature.hops, 2)
            things.update({(into.reversed(), out): signature.size for into, out in pairs})
    return [step for step, _ in things.most_common()]


class CacheWarmer:
    """Embeds texts in background threads, which end with the process or at `close`."""

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
        """Returns when everything that was begun is embedded."""
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
        # Texts of like length run together, so little is padded.
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), TEXTS_AT_A_TIME):
            if self._ends.is_set():
                return
            self._embedder.sentences(ordered[start : start + TEXTS_AT_A_TIME])
