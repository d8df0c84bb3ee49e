"""Keeps the embedding of a graph version as one sealed file in the version's folder."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, fields
from typing import Any, Final

import numpy as np

from app.memory.embeddings.graph_embedding import Episode, GraphEmbedding
from app.memory.embeddings.growth import FactSample, RelationFit
from app.memory.embeddings.model import EmbeddingModel
from app.memory.embeddings.training import TrainingSettings
from kg_store.storage.vault import VaultScope
from kg_store.version_builder import EMBEDDING_FILE, VersionCipher

_PARTS: Final = {"model": EmbeddingModel, "steps": EmbeddingModel, "fit": RelationFit, "sample": FactSample}


class SealedEmbeddings:
    """Saves and loads embeddings by graph version.

    Promise: the file reveals only its length (AES-256-GCM under the master key, bound to tenant, graph and version),
    and it goes with the version's folder. Condition: the master key is stored elsewhere. Limit: its length tells how
    many entities and relations the graph has.
    """

    def __init__(self, cipher: VersionCipher) -> None:
        self._cipher = cipher

    def save(self, scope: VaultScope, embedding: GraphEmbedding) -> None:
        self._cipher.write(scope, EMBEDDING_FILE, to_bytes(embedding))

    def load(self, scope: VaultScope) -> GraphEmbedding:
        """Returns the embedding of a version. Raises FileNotFoundError if there is none, MasterKeyError."""
        return from_bytes(self._cipher.read(scope, EMBEDDING_FILE))


def to_bytes(embedding: GraphEmbedding) -> bytes:
    """Returns everything of an embedding, its place among random numbers too."""
    arrays = {"mids": embedding.mids, "degrees": embedding.degrees, "waiting": embedding.waiting}
    for name in _PARTS:
        part = getattr(embedding, name)
        arrays |= {f"{name}.{each.name}": getattr(part, each.name) for each in fields(part)}
    episodes = {str(row): (each.members.tolist(), each.updates) for row, each in embedding.episodes.items()}
    drawn = embedding.draw.bit_generator.state
    rest = json.dumps({"how": asdict(embedding.how), "drawn": drawn, "episodes": episodes})
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, rest=np.frombuffer(rest.encode(), np.uint8), **arrays)
    return packed.getvalue()


def from_bytes(packed: bytes) -> GraphEmbedding:
    """Returns the embedding that `to_bytes` wrote."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        rest: dict[str, Any] = json.loads(arrays["rest"].tobytes())
        parts = {
            name: kind(*(arrays[f"{name}.{each.name}"] for each in fields(kind))) for name, kind in _PARTS.items()
        }
        embedding = GraphEmbedding(parts.pop("model"), TrainingSettings(**rest["how"]), arrays["mids"])
        embedding.degrees, embedding.waiting = arrays["degrees"], arrays["waiting"]
    embedding.draw.bit_generator.state = rest["drawn"]
    for name, part in parts.items():
        setattr(embedding, name, part)
    embedding.episodes = {
        int(row): Episode(np.array(members, np.int64), updates) for row, (members, updates) in rest["episodes"].items()
    }
    return embedding
