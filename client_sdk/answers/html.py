"""An answer as HTML, as notebooks show it: text, what it names, and the evidence as a picture and as a table.

Promise: whatever comes from the graph, the question or the service is shown as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from client_sdk.answers.confidence import confidence_words
from client_sdk.answers.evidence import Entity, RestoredFact
from client_sdk.answers.evidence_svg import MAX_FACTS, evidence_picture
from client_sdk.answers.safe_output import Element, as_html, element

MAX_NAMES, MAX_ROWS = 20, 100
_CHIP = "display:inline-block;margin:2px 4px 2px 0;padding:1px 9px;border:1px solid currentColor;border-radius:11px"
_FAINT = "opacity:.75;font-size:90%"
_CELL = "text-align:left;padding:2px 12px 2px 0"


def cautions(
    is_grounded: bool,
    inexact: Mapping[str, str],
    ambiguous: Mapping[str, Sequence[str]],
    confidence: float | None = None,
) -> tuple[str, ...]:
    """Sentences that the asker should read before they believe the answer, its confidence first."""
    words = confidence_words(confidence)
    return (
        *((f"{words[0].upper()}{words[1:]}.",) if words else ()),
        *(() if is_grounded else ("Not everything in this answer is in the evidence.",)),
        *(f"“{typed}” was read as {name}." for typed, name in inexact.items()),
        *(
            f"{mention} may be: {'; '.join(choices)}. Ask again with a full name, or “the second one”."
            for mention, choices in ambiguous.items()
        ),
    )


def answer_as_html(
    text: str,
    warnings: Iterable[str],
    entities: Sequence[Entity],
    evidence: Sequence[RestoredFact],
    notes: Sequence[str],
) -> str:
    """One <div>; it needs no script, no style sheet and no network. `warnings` stand right after the text."""
    return as_html(
        element(
            "div",
            element("p", text, style="white-space:pre-wrap;margin:.3em 0"),
            *(_remark(warning) for warning in warnings),
            *_parts(entities, evidence, notes),
            class_="arog-answer",
        )
    )


def _parts(entities: Sequence[Entity], evidence: Sequence[RestoredFact], notes: Sequence[str]) -> Iterator[Element]:
    if chips := [chip for entity in entities for chip in _chips(entity)]:
        yield element("p", *chips, style="margin:.3em 0")
    if (picture := evidence_picture(evidence)) is not None:
        yield picture
        yield _table(evidence)
    if notes:
        lines = element("ul", *(element("li", note) for note in notes))
        yield element("details", element("summary", "How it was searched for"), lines, style=_FAINT)


def _remark(sentence: str) -> Element:
    return element("p", sentence, style=f"margin:.2em 0;{_FAINT}")


def _chips(entity: Entity) -> Iterator[Element]:
    names = entity.names[:MAX_NAMES] or (entity.pseudonym,)
    for name in names:
        yield element("span", name, element("small", f" {entity.concept}", style=_FAINT), style=_CHIP)
    if (more := entity.total - len(names)) > 0:
        yield element("span", f"and {more} more ", style=_FAINT)


def _table(evidence: Sequence[RestoredFact]) -> Element:
    rows = [
        (fact.head, fact.head_concept, _relation(fact.path), fact.tail, fact.tail_concept)
        for fact in sorted(evidence, key=lambda fact: not fact.cited)[:MAX_ROWS]
    ]
    heads = ("from", "", "relation", "to", "")
    body = [element("tr", *(element("td", cell, style=_CELL) for cell in row)) for row in rows]
    head = element("tr", *(element("th", cell, style=_CELL) for cell in heads))
    table = element("table", element("thead", head), element("tbody", *body))
    return element("details", element("summary", _summary(evidence)), table)


def _relation(path: Sequence[str]) -> str:
    """A relation that is walked backwards has an arrow before it."""
    return " > ".join(step.replace("|", " / ").replace("^", "← ") for step in path)


def _summary(evidence: Sequence[RestoredFact]) -> str:
    count = len(evidence)
    cited = sum(fact.cited for fact in evidence)
    parts = [f"Evidence: {count} fact{'' if count == 1 else 's'}"]
    if 0 < cited < count:
        parts.append(f"{cited} of them {'leads' if cited == 1 else 'lead'} to the answer")
    if (cited or count) > MAX_FACTS:
        parts.append(f"the picture shows the first {MAX_FACTS}")
    if count > MAX_ROWS:
        parts.append(f"the table the first {MAX_ROWS}")
    return ", ".join(parts)
