"""A graph that is asked once: the same answers as the graph behind it, however often and in whatever order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kg_store.graph.blind_graph import MAX_CACHED, RememberedGraph
from kg_store.terms import Edges, Hop, Mids, RelationId, as_mids
from tests.kg_store.graph.test_compact_graph import HOPS, NODES, TRIPLES, built, mid
from tests.support.algebra_fakes import FakeGraph

QUESTIONS = st.lists(st.tuples(st.lists(st.integers(0, NODES + 3)), st.sampled_from(HOPS)))


class Counting(FakeGraph):
    """A fake that counts what it is asked."""

    calls = 0

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        self.calls += 1
        return super().neighbours(mids, hop)


@given(TRIPLES, QUESTIONS)
def test_it_gives_what_the_graph_behind_it_gives(
    triples: list[tuple[int, int, int]], questions: list[tuple[list[int], Hop]]
) -> None:
    graph = built(triples)
    remembered = RememberedGraph(graph)
    assert remembered.schema is graph.schema
    for nodes, hop in [*questions, *questions]:
        mids = as_mids([mid(node) for node in nodes])
        asked, behind = remembered.neighbours(mids, hop), graph.neighbours(mids, hop)
        assert (asked.heads.tolist(), asked.tails.tolist()) == (behind.heads.tolist(), behind.tails.tolist())
        assert remembered.signatures_of(mids).tolist() == graph.signatures_of(mids).tolist()
        assert remembered.relations_of(mids) == graph.relations_of(mids)
    ids = [signature.id for signature in graph.schema.signatures]
    assert remembered.members(ids).tolist() == graph.members(ids).tolist()


def test_the_graph_behind_is_asked_once() -> None:
    graph = Counting([(1, "knows", 2), (2, "knows", 3)], {})
    remembered = RememberedGraph(graph)
    forwards, backwards = Hop(RelationId(0)), Hop(RelationId(0), inverse=True)
    for _ in range(3):
        assert remembered.neighbours(as_mids([1, 2]), forwards).tails.tolist() == [2, 3]
        assert remembered.neighbours(as_mids([2]), backwards).tails.tolist() == [1]
    assert graph.calls == 2


def test_large_sets_are_not_kept() -> None:
    graph = Counting([(1, "knows", 2)], {})
    remembered = RememberedGraph(graph)
    for _ in range(2):
        remembered.neighbours(np.arange(MAX_CACHED + 1), Hop(RelationId(0)))
    assert graph.calls == 2
