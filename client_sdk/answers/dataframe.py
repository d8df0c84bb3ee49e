"""An answer as tables of pandas, which is an extra: `pip install '.[pandas]'`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from client_sdk.answers.evidence import Entity, RestoredFact
from client_sdk.errors import NotConfiguredError

if TYPE_CHECKING:
    import pandas

Part = Literal["entities", "evidence"]

_COLUMNS: dict[Part, tuple[str, ...]] = {
    "entities": ("part", "name", "concept", "kind", "total"),
    "evidence": ("head", "head_concept", "relation", "tail", "tail_concept", "size", "cited"),
}


def answer_as_frame(entities: Sequence[Entity], evidence: Sequence[RestoredFact], part: Part) -> pandas.DataFrame:
    """See Answer.to_dataframe. Raises NotConfiguredError where pandas is not installed."""
    try:
        import pandas
    except ModuleNotFoundError:
        hint = "in a clone of arog, get it with: pip install '.[pandas]'"
        raise NotConfiguredError("to_dataframe() needs pandas", code="no_pandas", hint=hint) from None
    rows = _entity_rows(entities) if part == "entities" else _evidence_rows(evidence)
    return pandas.DataFrame(rows, columns=list(_COLUMNS[part]))


def _entity_rows(entities: Sequence[Entity]) -> list[tuple[Any, ...]]:
    return [
        (number, name, entity.concept, entity.kind, entity.total)
        for number, entity in enumerate(entities, start=1)
        for name in entity.names or (None,)
    ]


def _evidence_rows(evidence: Sequence[RestoredFact]) -> list[tuple[Any, ...]]:
    return [
        (fact.head, fact.head_concept, " > ".join(fact.path), fact.tail, fact.tail_concept, fact.size, fact.cited)
        for fact in evidence
    ]
