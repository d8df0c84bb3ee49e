"""Shows an answer as HTML, as in notebooks: text, entities, and the evidence as a picture and a table.

Promise: everything that comes from the graph, the question or the service is shown as text, never as markup.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from client_sdk.answers.evidence import Entity, RestoredFact, confidence_words
from client_sdk.answers.safe_output import Element, as_html, element

MAX_NAMES, MAX_ROWS, MAX_FACTS = 20, 100, 24
_NAME_CHARS, _LABEL_CHARS = 28, 34
_ROW_PX, _BOX_PX, _MARGIN_PX = 58, 40, 8
_NAME_PX, _LABEL_PX, _MIN_GAP_PX = 7.4, 6.2, 70
_CHIP = "display:inline-block;margin:2px 4px 2px 0;padding:1px 9px;border:1px solid currentColor;border-radius:11px"
_FAINT = "opacity:.75;font-size:90%"
_CELL = "text-align:left;padding:2px 12px 2px 0"


def cautions(
    is_grounded: bool,
    inexact: Mapping[str, str],
    ambiguous: Mapping[str, Sequence[str]],
    confidence: float | None = None,
) -> tuple[str, ...]:
    """Returns sentences that the asker should read before believing the answer, the one on confidence first."""
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
    """Returns one <div> that needs no script, style sheet or network. `warnings` come right after the text."""
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
    """Returns a path as text; a relation that is walked backwards has an arrow before it."""
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


def evidence_picture(facts: Sequence[RestoredFact]) -> Element | None:
    """Returns a small SVG picture of at most 24 facts: those that lead to the answer, or all if none is cited.

    None if there are no facts. Things are placed from left to right, and arrows point in the relation's direction.
    Colours are the page's own (`currentColor`), so that the picture is readable on light and dark pages.
    """
    chosen = ([fact for fact in facts if fact.cited] or list(facts))[:MAX_FACTS]
    return _Picture(chosen).drawn() if chosen else None


@dataclass(slots=True)
class _Thing:
    """One entity, value or set in the picture. `column` and `row` count from 0."""

    name: str = field(repr=False)
    concept: str
    is_set: bool
    column: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class _Arrow:
    """All facts that lead from one thing to another. `backward`: the relation itself points from `tail` to `head`."""

    head: str
    tail: str
    label: str
    backward: bool


def _arrows_of(facts: Iterable[RestoredFact]) -> Iterator[_Arrow]:
    """Yields one arrow for each pair of things, in the facts' order."""
    between: dict[tuple[str, str], dict[str, bool]] = {}
    for fact in facts:
        label = " > ".join(step.replace("|", " / ").replace("^", "") for step in fact.path)
        backward = bool(fact.path) and all(step.startswith("^") for step in fact.path)
        between.setdefault((fact.head_key, fact.tail_key), {})[label] = backward
    for (head, tail), labels in between.items():
        yield _Arrow(head, tail, ", ".join(labels), all(labels.values()))


def _columns_of(things: Iterable[str], arrows: Sequence[_Arrow]) -> dict[str, int]:
    """Returns the column of each thing: its distance in arrows from the nearest thing that no arrow leads to.

    In a ring, which has no such thing, the first one counts as the start.
    """
    tails = {arrow.tail for arrow in arrows}
    columns: dict[str, int] = {}
    for start in [*(key for key in things if key not in tails), *things]:
        if start in columns:
            continue
        columns[start], waiting = 0, [start]
        while waiting:
            here = waiting.pop(0)
            for arrow in arrows:
                if arrow.head == here and arrow.tail not in columns:
                    columns[arrow.tail] = columns[here] + 1
                    waiting.append(arrow.tail)
    return columns


class _Picture:
    """The layout of one picture. Things are told apart by pseudonym, so that two with the same name are two boxes."""

    def __init__(self, facts: Sequence[RestoredFact]) -> None:
        self._things: dict[str, _Thing] = {}
        for fact in facts:
            self._things.setdefault(fact.head_key, _Thing(fact.head, fact.head_concept, len(fact.head_names) > 1))
            self._things.setdefault(fact.tail_key, _Thing(fact.tail, fact.tail_concept, fact.size != "1"))
        self._arrows = tuple(_arrows_of(facts))
        columns = _columns_of(self._things, self._arrows)
        self._rows = [0] * (1 + max(columns.values()))
        for key, thing in self._things.items():
            thing.column = columns[key]
            thing.row, self._rows[thing.column] = self._rows[thing.column], self._rows[thing.column] + 1
        self._widths = [self._box_width(column) for column in range(len(self._rows))]
        self._lefts = [float(_MARGIN_PX)]
        for column in range(len(self._rows) - 1):
            self._lefts.append(self._lefts[-1] + self._widths[column] + self._gap(column))
        self._height = max(self._rows) * _ROW_PX + 2 * _MARGIN_PX

    def drawn(self) -> Element:
        # Adds room at the right for arrows that bend back to the same column or an earlier one.
        bows = any(self._is_bow(arrow) for arrow in self._arrows)
        width = self._lefts[-1] + self._widths[-1] + _MARGIN_PX + (_ROW_PX if bows else 0)
        parts = [*self._drawn_arrows(), *(self._box(thing) for thing in self._things.values())]
        return element(
            "svg",
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            aria_label=f"{len(self._things)} things and how they are related",
            viewBox=f"0 0 {width:.0f} {self._height}",
            width=f"{width:.0f}",
            style="max-width:100%;height:auto;font-family:sans-serif",
        )

    def _box(self, thing: _Thing) -> Element:
        left, middle = self._lefts[thing.column], self._middle(thing)
        width, top = self._widths[thing.column], middle - _BOX_PX / 2
        line = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.6}
        frame = element("rect", x=left, y=top, width=width, height=_BOX_PX, rx=7, **line)
        # A second border behind the box shows that it is a set.
        behind = f"M{left + 6} {top + _BOX_PX + 4}h{width - 8}q6 0 6 -6v{10 - _BOX_PX}"
        pile = [element("path", d=behind, **line)] if thing.is_set else []
        text = {"text_anchor": "middle", "fill": "currentColor", "x": left + width / 2}
        return element(
            "g",
            element("title", f"{thing.name} ({thing.concept})"),
            *pile,
            frame,
            element("text", _short(thing.name, _NAME_CHARS), y=middle - 2, font_size=13, **text),
            element("text", _short(thing.concept, _NAME_CHARS), y=middle + 13, font_size=10, opacity=0.75, **text),
        )

    def _drawn_arrows(self) -> Iterator[Element]:
        for arrow in self._arrows:
            head, tail = self._things[arrow.head], self._things[arrow.tail]
            start = (self._lefts[head.column] + self._widths[head.column], self._middle(head))
            bow = self._is_bow(arrow)
            end = (self._lefts[tail.column] + (self._widths[tail.column] if bow else 0), self._middle(tail))
            yield self._line(start, end, bow, arrow.backward)
            yield self._label(arrow, start, end, bow)

    def _line(self, start: tuple[float, float], end: tuple[float, float], bow: bool, backward: bool) -> Element:
        (x1, y1), (x2, y2) = start, end
        reach = max(x1, x2) + _ROW_PX if bow else (x1 + x2) / 2
        curve = element(
            "path", d=f"M{x1} {y1}C{reach} {y1} {reach} {y2} {x2} {y2}", fill="none", stroke="currentColor"
        )
        # The tip points into the box that it touches: to the left for a bow, and for a backward arrow at its start.
        x, y = start if backward else end
        back = 8 if backward or bow else -8
        tip = element("path", d=f"M{x} {y}l{back} -4v8z", fill="currentColor")
        return element("g", curve, tip, opacity=0.7)

    def _label(self, arrow: _Arrow, start: tuple[float, float], end: tuple[float, float], bow: bool) -> Element:
        """Returns the label of an arrow as an element.

        It stands near that end of the arrow where fewer lines meet, and does not cover the arrow.
        """
        meeting = sum(other.tail == arrow.tail for other in self._arrows)
        parting = sum(other.head == arrow.head for other in self._arrows)
        at_head = bow or meeting > parting
        x, y = (start[0] + 12, start[1]) if at_head else (end[0] - 12, end[1])
        bends_up = end[1] < start[1] if at_head else start[1] < end[1]
        return element(
            "text",
            element("title", arrow.label),
            _short(arrow.label, _LABEL_CHARS),
            x=x,
            y=y + 14 if bends_up else y - 5,
            text_anchor="start" if at_head else "end",
            font_size=11,
            font_style="italic",
            fill="currentColor",
        )

    def _is_bow(self, arrow: _Arrow) -> bool:
        return self._things[arrow.tail].column <= self._things[arrow.head].column

    def _middle(self, thing: _Thing) -> float:
        """Returns the vertical middle of a thing; each column is centred in the picture's height."""
        return self._height / 2 + (thing.row - (self._rows[thing.column] - 1) / 2) * _ROW_PX

    def _box_width(self, column: int) -> float:
        here = [thing for thing in self._things.values() if thing.column == column]
        return 24 + _NAME_PX * _widest([part for thing in here for part in (thing.name, thing.concept)], _NAME_CHARS)

    def _gap(self, column: int) -> float:
        labels = [arrow.label for arrow in self._arrows if self._things[arrow.head].column == column]
        return max(_MIN_GAP_PX, 44 + _LABEL_PX * _widest(labels, _LABEL_CHARS))


def _widest(texts: Iterable[str], most: int) -> int:
    """Returns the width of the widest text in characters, after shortening to `most`; letters of CJK count as two."""
    return max(
        (sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in _short(text, most)) for text in texts),
        default=0,
    )


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
