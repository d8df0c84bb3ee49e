"""BlindGraph: what strategies may know of a graph: MIDs and relations, but no name or value that could leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kg_store.terms import Edges, Hop, Mids, Schema, SignatureId


class BlindGraph(Protocol):
    """One version of one graph, immutable and thread-safe.

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
        """Returns every (head, tail) pair that `hop` joins with heads in `mids`; complete, whatever the number."""
        ...

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        """Returns the signature id of each MID, in order; -1 if this version does not hold the MID."""
        ...

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        """All nodes that have one of `signatures`."""
        ...
