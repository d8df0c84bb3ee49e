"""Chooses concepts that a model may rename, asks for names, and accepts only short, plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.llm.tasks import Cluster, NameInput
from kg_store.terms import Hop, NodeKind, Schema, Signature

MAX_RELATIONS = 15
"""The greatest number of relations shown of one signature, the rarest first, because these say most. Chosen by hand.
"""

IN_ONE_CALL = 20  # clusters are numbered, and numbers up to 99 are public words
_PLAIN = re.compile(r"[^\W\d_]{2,24}(?:[ -][^\W\d_]{2,24}){0,2}")


@dataclass(frozen=True, slots=True)
class RefinementPlan:
    """The signatures that a model is asked about, and how many are left out: too few entities, or a class of their
    own.
    """

    signatures: tuple[Signature, ...]
    too_rare: int
    classed: int

    @property
    def entities(self) -> int:
        return sum(signature.size for signature in self.signatures)

    def batches(self) -> Iterator[Sequence[Signature]]:
        for start in range(0, len(self.signatures), IN_ONE_CALL):
            yield self.signatures[start : start + IN_ONE_CALL]


def askable(schema: Schema, least: int) -> RefinementPlan:
    """Returns signatures of entities that at least `least` entities share, because a rare set of relations may
    identify one.

    Entities with a class keep it, since it is the owner's own word.
    """
    entities = [each for each in schema.signatures if each.kind is NodeKind.ENTITY and _worded(schema, each)]
    unclassed = [each for each in entities if not each.classes]
    shared = tuple(each for each in unclassed if each.size >= least)
    return RefinementPlan(shared, len(unclassed) - len(shared), len(entities) - len(unclassed))


def input_about(schema: Schema, signatures: Sequence[Signature]) -> NameInput:
    """Returns the input that asks about `signatures`, numbered from 1, in words of the schema only."""
    spread = Counter(hop for signature in schema.signatures for hop in signature.hops)
    clusters = [
        Cluster(number=number, relations=[schema.label(hop) for hop in _telling(schema, signature, spread)])
        for number, signature in enumerate(signatures, start=1)
    ]
    return NameInput(question="", clusters=clusters)


def plain_concept(text: str) -> str | None:
    """Returns `text` in lower case; None if it is not one to three words of letters."""
    words = " ".join(text.casefold().split())
    return words if _PLAIN.fullmatch(words) else None


def _worded(schema: Schema, signature: Signature) -> list[Hop]:
    """Its relations that are not masked, because an opaque word says nothing about a concept."""
    return [hop for hop in signature.hops if schema.relations[hop.relation].mask is None]


def _telling(schema: Schema, signature: Signature, spread: Counter[Hop]) -> list[Hop]:
    rarest = sorted(_worded(schema, signature), key=lambda hop: (spread[hop], hop))
    return sorted(rarest[:MAX_RELATIONS])
