"""POST /admin/preview: what a model would see of files under a policy, before they are loaded."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from client_sdk.protocol.base import Wire
from client_sdk.protocol.capsule import Capsule
from client_sdk.protocol.columns import ColumnSeen, TableSeen
from client_sdk.protocol.graph_report import MaskedWord

PredicateUseName = Literal["name", "class", "schema", "relation", "masked", "hidden"]


class PredicateSeen(Wire):
    """One predicate of the files as the policy treats it, and the number of triples it stands in.

    `label` is what a prompt shows, `description` what it shows beside an opaque word. `hidden`: the relation is not
    in the graph, or its values are not. `value_kind` where it leads to values, and how those are `shown_as`.
    """

    predicate: str
    use: PredicateUseName
    triples: int
    label: str = ""
    description: str = ""
    value_kind: str | None = None
    shown_as: str | None = None


class FactSeen(Wire):
    """`relation` as a prompt shows it, and what stands at its end: a placeholder, never a name or value."""

    relation: str
    end: str


class EntitySeen(Wire):
    """One entity as a model would see it; its name is in the capsule, under the pseudonym."""

    pseudonym: str
    concept: str
    facts: list[FactSeen]


class GraphPreview(Wire):
    """Counts, predicates and a sample; `masked` lists what shows no words until the policy says that it may.

    `policy` is the one that was used, as TOML: proposed where none was given, with the `changes` that were sent. A
    load with it does what the preview shows. `columns` and `tables` are the same policy as a list of choices.

    `capsule` holds the names of the sample, a CapsuleContent sealed to the caller's key, and opens for this sample
    alone (docs/api.md).
    """

    id: str
    policy: str
    is_proposed: bool
    triples: int
    entities: int
    values: int
    mediators: int
    predicates: list[PredicateSeen]
    concepts: list[str]
    sample: list[EntitySeen] = Field(repr=False)
    notes: list[str]
    masked: list[MaskedWord] = Field(default_factory=list, repr=False)
    columns: list[ColumnSeen] = Field(default_factory=list, repr=False)
    tables: list[TableSeen] = Field(default_factory=list, repr=False)
    capsule: Capsule | None = None
