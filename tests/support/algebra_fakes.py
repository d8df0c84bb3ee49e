"""A small graph in memory with its values, for tests of the set algebra."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg_store.terms import (
    Concept,
    Edges,
    Hop,
    Mids,
    NodeKind,
    Relation,
    RelationId,
    Schema,
    Signature,
    SignatureId,
    ValueKind,
    as_mids,
)

_KINDS = (NodeKind.ENTITY, NodeKind.VALUE, NodeKind.MEDIATOR)


@dataclass(frozen=True, slots=True)
class FakeRecord:
    kind: NodeKind = NodeKind.ENTITY
    value_kind: ValueKind | None = None
    lexical: str | None = None
    names: tuple[str, ...] = ()


def literal(lexical: str, kind: ValueKind) -> FakeRecord:
    return FakeRecord(NodeKind.VALUE, kind, lexical)


MEDIATOR = FakeRecord(NodeKind.MEDIATOR)


class FakeGraph:
    """A BlindGraph over triples (head, label, tail), and the vault of the same nodes.

    Text behind `#` in a label is not shown; it keeps relations with the same words apart.
    """

    def __init__(self, triples: Iterable[tuple[int, str, int]], values: Mapping[int, FakeRecord]) -> None:
        self._triples, self._values = set(triples), values
        self._labels = sorted({label for _, label, _ in self._triples})
        nodes = {mid for head, _, tail in self._triples for mid in (head, tail)}
        self._nodes = {mid: values.get(mid, FakeRecord()) for mid in nodes}
        self.asked: list[int] = []
        relations = [
            Relation(RelationId(number), f"r:{number}", label.split("#")[0], "", self._kind_of(label))
            for number, label in enumerate(self._labels)
        ]
        signatures = [Signature(SignatureId(number), kind, (), ()) for number, kind in enumerate(_KINDS)]
        self.schema = Schema(tuple(relations), tuple(signatures), tuple(Concept(kind) for kind in _KINDS))

    def _kind_of(self, label: str) -> ValueKind | None:
        kinds = Counter(self._nodes[tail].value_kind for _, step, tail in self._triples if step == label)
        return None if None in kinds else kinds.most_common(1)[0][0]

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        raise AssertionError("the algebra does not look around")

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        pairs = {(head, tail) for head, label, tail in self._triples if label == self._labels[hop.relation]}
        pairs = {(tail, head) for head, tail in pairs} if hop.inverse else pairs
        kept = sorted(pair for pair in pairs if pair[0] in set(mids.tolist()))
        columns = np.array(kept, dtype=np.int64).reshape(-1, 2)
        return Edges(columns[:, 0], columns[:, 1])

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        kinds = [self._nodes[mid].kind if mid in self._nodes else None for mid in mids.tolist()]
        return np.array([-1 if kind is None else _KINDS.index(kind) for kind in kinds], dtype=np.int32)

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        return as_mids([mid for mid, record in self._nodes.items() if _KINDS.index(record.kind) in signatures])

    def records(self, mids: Sequence[int] | Mids) -> dict[int, FakeRecord]:
        """Returns the records of the MIDs, leaving out unknown ones as the vault does; note the MIDs in `asked`."""
        wanted = [int(mid) for mid in mids]
        self.asked.extend(wanted)
        return {mid: self._nodes[mid] for mid in wanted if mid in self._nodes}
