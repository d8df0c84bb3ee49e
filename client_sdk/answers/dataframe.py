"""An answer as tables of pandas, which is an extra: `pip install 'arog[pandas]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from client_sdk.errors import NotConfiguredError

if TYPE_CHECKING:
    import pandas

    from client_sdk.answers.answer import Answer

Part = Literal["entities", "evidence"]

_COLUMNS: dict[Part, tuple[str, ...]] = {
    "entities": ("part", "name", "concept", "kind", "total"),
    "evidence": ("head", "head_concept", "relation", "tail", "tail_concept", "size", "cited"),
}


def answer_as_frame(answer: Answer, part: Part) -> pandas.DataFrame:
    """See Answer.to_dataframe. Raises NotConfiguredError where pandas is not installed."""
    try:
        import pandas
    except ModuleNotFoundError:
        hint = "get it with: pip install 'arog[pandas]'"
        raise NotConfiguredError("to_dataframe() needs pandas", code="no_pandas", hint=hint) from None
    rows = _entity_rows(answer) if part == "entities" else _evidence_rows(answer)
    return pandas.DataFrame(rows, columns=list(_COLUMNS[part]))


def _entity_rows(answer: Answer) -> list[tuple[Any, ...]]:
    return [
        (number, name, entity.concept, entity.kind, entity.total)
        for number, entity in enumerate(answer.entities, start=1)
        for name in entity.names or (None,)
    ]


def _evidence_rows(answer: Answer) -> list[tuple[Any, ...]]:
    return [
        (fact.head, fact.head_concept, " > ".join(fact.path), fact.tail, fact.tail_concept, fact.size, fact.cited)
        for fact in answer.evidence
    ]
