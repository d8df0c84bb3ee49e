"""GraphInfo: the counts and notes of one version, and how the catalog keeps them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kg_store.loading.default_masks import MaskedTerm, MaskReason
from kg_store.loading.load import LoadedGraph
from kg_store.terms import NodeKind


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """The part of a graph that its owner sees. `public_words` are names that equal common words, `masked` words that
    may be cells: not for logs."""

    tenant: str
    name: str
    version: str
    triples: int
    entities: int
    values: int
    mediators: int
    relations: int
    loaded_at: datetime
    public_words: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    masked: tuple[MaskedTerm, ...] = field(default=(), repr=False)


def info_of(
    tenant: str, name: str, version: str, loaded: LoadedGraph, public_words: tuple[str, ...], notes: tuple[str, ...]
) -> GraphInfo:
    """`triples` counts the distinct facts that the policy shows."""
    return GraphInfo(
        tenant,
        name,
        version,
        loaded.facts,
        loaded.counts[NodeKind.ENTITY],
        loaded.counts[NodeKind.VALUE],
        loaded.counts[NodeKind.MEDIATOR],
        len(loaded.relations),
        datetime.now(UTC).replace(microsecond=0),
        public_words,
        (*loaded.notes, *notes),
        loaded.masked,
    )


def info_bytes(info: GraphInfo) -> bytes:
    """All but tenant, name and version, which stand in the row; the catalog seals it."""
    kept = ("triples", "entities", "values", "mediators", "relations", "public_words", "notes")
    content = {field_name: getattr(info, field_name) for field_name in kept}
    content["masked"] = [[each.kind, each.term, each.word, each.reason.name] for each in info.masked]
    return json.dumps({**content, "loaded_at": info.loaded_at.isoformat()}).encode()


def read_info(tenant: str, name: str, version: str, data: bytes) -> GraphInfo:
    """Reads what `info_bytes` wrote."""
    content = json.loads(data)
    loaded_at = datetime.fromisoformat(content.pop("loaded_at"))
    words, notes = tuple(content.pop("public_words")), tuple(content.pop("notes"))
    masked = tuple(
        MaskedTerm(kind, term, word, MaskReason[reason]) for kind, term, word, reason in content.pop("masked")
    )
    return GraphInfo(
        tenant, name, version, loaded_at=loaded_at, public_words=words, notes=notes, masked=masked, **content
    )
