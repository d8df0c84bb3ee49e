"""HPKE's `info` of what is sealed: it binds names to what they are restored in."""

from __future__ import annotations

import hashlib
import json

from client_sdk.protocol.answers import ChatAnswer
from client_sdk.protocol.browsing import GraphExcerpt
from client_sdk.protocol.preview import GraphPreview


def capsule_context(answer: ChatAnswer) -> bytes:
    """Binds a capsule to all of its answer but `usage` and the capsule itself.

    Promise: where the text, the evidence or anything else that names are restored in was changed on the way, the
    capsule does not open. Not promised: that the answer is one to this question.
    """
    bound = answer.model_dump(mode="json", exclude={"usage", "capsule"})
    return "\n".join(("arog capsule 2", _digest(bound))).encode()


def trace_context(answer_id: str) -> bytes:
    """Of a trace, all of which is sealed."""
    return "\n".join(("arog trace 1", answer_id)).encode()


def preview_context(preview: GraphPreview) -> bytes:
    """Binds the names in a preview to its sample."""
    sample = [entity.model_dump(mode="json") for entity in preview.sample]
    return "\n".join(("arog preview 2", preview.id, _digest(sample))).encode()


def excerpt_context(excerpt: GraphExcerpt) -> bytes:
    """Binds the names in an excerpt of a graph to all of it."""
    bound = excerpt.model_dump(mode="json", exclude={"capsule"})
    return "\n".join(("arog excerpt 1", _digest(bound))).encode()


def _digest(content: object) -> str:
    """SHA-256, hex, of JSON as RFC 8785 writes it; that holds for texts, truths and whole numbers."""
    written = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()
