"""The meanings of pseudonyms, in the form that is kept between two requests: JSON, sealed by the caller."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from kg_store.terms import NO_MIDS, Hop, Mids, Path, RelationId, Schema, ValueKind, as_mids

FORM = 1

MeaningKind = Literal["entity", "value", "set", "group", "kind", "literal", "outcome"]

RawPath = list[list[list[object]]]
"""Steps of hops of [relation IRI, inverse]: ids may differ in the next version of the graph, IRIs don't."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """The meaning of one pseudonym.

    | kind | fields |
    |---|---|
    | entity, value | `mids`: one |
    | group | `mids`: the entities that share a name |
    | set | `start` (a pseudonym) and `path`; `mids` are set while the request that made it lasts |
    | kind | `concept`; `mids` as for a set |
    | literal | `literal`: the text as typed, once it stood in a turn of this request; `mids` that equal it |
    | outcome | `expression`; `mids` where the outcome is a set |

    `path` is None too where this version of the graph lacks one of its relations.
    """

    kind: MeaningKind
    mids: Mids = field(default_factory=lambda: NO_MIDS, repr=False)
    start: str | None = None
    path: Path | None = None
    concept: str | None = None
    value_kind: ValueKind | None = None
    literal: str | None = field(default=None, repr=False)
    expression: str | None = None


@dataclass(slots=True)
class TableState:
    """The part of a table kept between requests: no typed text. `threads`: of each answer, the oldest first."""

    order_key: bytes = field(repr=False)
    meanings: dict[str, Meaning] = field(default_factory=dict, repr=False)
    digests: dict[str, str] = field(default_factory=dict, repr=False)
    settled: dict[int, bool] = field(default_factory=dict, repr=False)
    lost_paths: dict[str, RawPath] = field(default_factory=dict, repr=False)
    threads: dict[str, str] = field(default_factory=dict)


def write_state(state: TableState, schema: Schema) -> bytes:
    """Members of sets stay out: they are found anew. So does the text of literals: each request brings it."""
    rows = [_row(word, meaning, state, schema) for word, meaning in state.meanings.items()]
    settled = list(state.settled.items())
    content = {"form": FORM, "key": state.order_key.hex(), "settled": settled, "threads": state.threads, "rows": rows}
    return json.dumps(content, separators=(",", ":")).encode()


def read_state(data: bytes, schema: Schema) -> TableState:
    """Raises ValueError on anything that `write_state` did not make."""
    try:
        content = json.loads(data)
        if content["form"] != FORM:
            raise ValueError("the conversation was kept in another form")
        state = TableState(bytes.fromhex(content["key"]), settled=dict(content["settled"]))
        state.threads = dict(content.get("threads", {}))
        relations = {relation.iri: relation.id for relation in schema.relations}
        for word, row in content["rows"]:
            _read_row(word, row, state, relations)
        return state
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("the kept conversation can't be read") from None


def _row(word: str, meaning: Meaning, state: TableState, schema: Schema) -> tuple[str, dict[str, Any]]:
    row: dict[str, Any] = {"kind": meaning.kind}
    if meaning.kind not in ("set", "kind") and len(meaning.mids):
        row["mids"] = meaning.mids.tolist()
    if meaning.kind == "set":
        row["path"] = state.lost_paths.get(word) or _raw_path(meaning.path or (), schema)
    texts = {"start": meaning.start, "concept": meaning.concept, "expression": meaning.expression}
    texts |= {"value_kind": meaning.value_kind, "digest": state.digests.get(word)}
    return word, row | {name: text for name, text in texts.items() if text is not None}


def _raw_path(path: Path, schema: Schema) -> RawPath:
    return [[[schema.relations[hop.relation].iri, hop.inverse] for hop in step] for step in path]


def _read_row(word: str, row: dict[str, Any], state: TableState, relations: dict[str, RelationId]) -> None:
    path: Path | None = None
    if row["kind"] == "set":
        try:
            path = tuple(tuple(Hop(relations[iri], inverse) for iri, inverse in step) for step in row["path"])
        except KeyError:
            state.lost_paths[word] = row["path"]
    if "digest" in row:
        state.digests[word] = row["digest"]
    value_kind = ValueKind(row["value_kind"]) if "value_kind" in row else None
    state.meanings[word] = Meaning(
        row["kind"], as_mids(row.get("mids", [])), row.get("start"), path, row.get("concept"), value_kind,
        expression=row.get("expression"),
    )  # fmt: skip
