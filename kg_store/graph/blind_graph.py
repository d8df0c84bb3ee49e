"""BlindGraph: what strategies may know of a graph. It has MIDs and relations, and no name or value to leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kg_store.terms import Edges, Hop, Mids, Schema, SignatureId


class BlindGraph(Protocol):
    """One version of one graph, immutable; safe to use from several threads.

    Promise: returns MIDs, relation ids and signature ids only. Relations that the policy hides never appear.
    """

    @property
    def schema(self) -> Schema:
        """Relations, signatures and concepts of this version."""
        ...

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        """Every hop that leaves at least one of `mids`, sorted; unknown MIDs add nothing."""
        ...

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        """Every pair that `hop` joins, heads within `mids`; complete, however many there are."""
        ...

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        """Signature id of each MID, in the order given; -1 where this version does not hold the MID."""
        ...

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        """All nodes that have one of `signatures`."""
        ...
