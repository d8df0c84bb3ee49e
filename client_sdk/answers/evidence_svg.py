"""The evidence as a small picture (SVG): things from left to right, an arrow as each relation points.

Colours are the page's own (`currentColor`), so that it is readable on light and on dark.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from client_sdk.answers.evidence import RestoredFact
from client_sdk.answers.evidence_layout import Arrow, Layout, Thing, lay_out
from client_sdk.answers.safe_output import Element, element

MAX_FACTS = 24

_NAME_CHARS, _LABEL_CHARS = 28, 34
_ROW_PX, _BOX_PX, _MARGIN_PX = 58, 40, 8
_NAME_PX, _LABEL_PX, _MIN_GAP_PX = 7.4, 6.2, 70


def evidence_picture(facts: Sequence[RestoredFact]) -> Element | None:
    """The first 24 of the facts that lead to the answer (of all, where none is marked); None where there is none."""
    chosen = ([fact for fact in facts if fact.cited] or list(facts))[:MAX_FACTS]
    return _Picture(lay_out(chosen)).drawn() if chosen else None


class _Picture:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._widths = [self._box_width(column) for column in range(len(layout.rows))]
        self._lefts = [float(_MARGIN_PX)]
        for column in range(len(layout.rows) - 1):
            self._lefts.append(self._lefts[-1] + self._widths[column] + self._gap(column))
        self._height = max(layout.rows) * _ROW_PX + 2 * _MARGIN_PX
        self._tails = [arrow.tail for arrow in layout.arrows]
        self._heads = [arrow.head for arrow in layout.arrows]

    def drawn(self) -> Element:
        # Room at the right for arrows that do not lead to the next column.
        bows = any(self._is_bow(arrow) for arrow in self._layout.arrows)
        width = self._lefts[-1] + self._widths[-1] + _MARGIN_PX + (_ROW_PX if bows else 0)
        parts = [*self._arrows(), *(self._box(thing) for thing in self._layout.things.values())]
        return element(
            "svg",
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            aria_label=f"{len(self._layout.things)} things and how they are related",
            viewBox=f"0 0 {width:.0f} {self._height}",
            width=f"{width:.0f}",
            style="max-width:100%;height:auto;font-family:sans-serif",
        )

    def _box(self, thing: Thing) -> Element:
        left, middle = self._lefts[thing.column], self._middle(thing)
        width, top = self._widths[thing.column], middle - _BOX_PX / 2
        line = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.6}
        frame = element("rect", x=left, y=top, width=width, height=_BOX_PX, rx=7, **line)
        # A set looks like a pile.
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

    def _arrows(self) -> Iterator[Element]:
        for arrow in self._layout.arrows:
            head, tail = self._layout.things[arrow.head], self._layout.things[arrow.tail]
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
        # The tip points into the box that it touches: to the left at the end of a bow, and at an arrow's own start.
        x, y = start if backward else end
        back = 8 if backward or bow else -8
        tip = element("path", d=f"M{x} {y}l{back} -4v8z", fill="currentColor")
        return element("g", curve, tip, opacity=0.7)

    def _label(self, arrow: Arrow, start: tuple[float, float], end: tuple[float, float], bow: bool) -> Element:
        """On the side where fewer lines meet, and on that side of its own line to which the line does not bend."""
        at_head = bow or self._tails.count(arrow.tail) > self._heads.count(arrow.head)
        x, y = (start[0] + 12, start[1]) if at_head else (end[0] - 12, end[1])
        bends_up = end[1] < start[1] if at_head else start[1] < end[1]
        label = _label_of(arrow)
        return element(
            "text",
            element("title", ", ".join(arrow.labels)),
            _short(label, _LABEL_CHARS),
            x=x,
            y=y + 14 if bends_up else y - 5,
            text_anchor="start" if at_head else "end",
            font_size=11,
            font_style="italic",
            fill="currentColor",
        )

    def _is_bow(self, arrow: Arrow) -> bool:
        return self._layout.things[arrow.tail].column <= self._layout.things[arrow.head].column

    def _middle(self, thing: Thing) -> float:
        """Each column stands in the middle of the picture's height."""
        return self._height / 2 + (thing.row - (self._layout.rows[thing.column] - 1) / 2) * _ROW_PX

    def _box_width(self, column: int) -> float:
        here = [thing for thing in self._layout.things.values() if thing.column == column]
        return 24 + _NAME_PX * _widest([part for thing in here for part in (thing.name, thing.concept)], _NAME_CHARS)

    def _gap(self, column: int) -> float:
        things = self._layout.things
        labels = [_label_of(one) for one in self._layout.arrows if things[one.head].column == column]
        return max(_MIN_GAP_PX, 44 + _LABEL_PX * _widest(labels, _LABEL_CHARS))


def _label_of(arrow: Arrow) -> str:
    return ", ".join(arrow.labels)


def _widest(texts: Iterable[str], most: int) -> int:
    """Columns of the widest text, shortened; letters of CJK take two."""
    return max((sum(_columns_of(letter) for letter in _short(text, most)) for text in texts), default=0)


def _columns_of(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
