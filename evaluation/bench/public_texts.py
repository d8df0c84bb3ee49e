"""The texts of a request that name nothing of a graph: schema words, instructions, headers of any HTTP client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from app.llm.tasks import Size, TaskKind
from evaluation.fakes.contract import TASKS
from evaluation.fakes.recording_reasoner import RecordingReasoner
from kg_store.graph.schema import phrases_of
from kg_store.terms import Schema

# Header lines that any HTTP client sends of itself; all others of a request are scanned like its body.
_TRANSPORT_LINES = frozenset(
    {
        "post /v1/chat/completions http/1.1", "host", "connection", "accept", "accept-encoding", "accept-language",
        "user-agent", "content-type", "content-length", "authorization",
    }
)  # fmt: skip


def public_texts(schema: Schema, kinds: Iterable[TaskKind[Any]], recorder: RecordingReasoner) -> set[str]:
    """Words that a request holds whatever is asked: relation words, concepts, instructions, field names."""
    texts = set(phrases_of(schema))
    for kind in kinds:
        # Line by line, for all dialects have most lines in common.
        texts |= {line for part in recorder.statics_of(kind) for line in part.decode().split("\\n")}
        texts.add(str(kind.instructions))
    for asked, _, _ in TASKS.values():
        texts.add(asked.model_json_schema().__str__())
    return texts | set(get_args(Size))


def own_headers(head: bytes) -> bytes:
    """The lines of a request's head that any HTTP client does not send of itself."""
    lines = head.decode("latin-1").split("\r\n" if b"\r\n" in head else "\n")
    kept = [line for line in lines if line.partition(":")[0].strip().lower() not in _TRANSPORT_LINES]
    # Constant words of the OpenAI package: language, version, platform.
    return "\n".join(line for line in kept if not line.lower().startswith("x-stainless")).encode()
