"""Makes text of others safe to show: as HTML and SVG elements, in Markdown, and on a terminal.

Promise: no name, concept or relation becomes markup, if everything that is shown as HTML goes through `element`.
"""

from __future__ import annotations

import re
import unicodedata
from xml.etree.ElementTree import Element, tostring  # nosec B405

__all__ = ["Element", "as_html", "element"]


def element(tag: str, *inside: Element | str, **attributes: object) -> Element:
    """Returns an element with children and texts in their order; the keyword `stroke_width=1` becomes stroke-width."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): printable(str(at)) for name, at in attributes.items()})
    last: Element | None = None
    for one in inside:
        if isinstance(one, Element):
            made.append(one)
            last = one
        elif last is None:
            made.text = (made.text or "") + printable(one)
        else:
            last.tail = (last.tail or "") + printable(one)
    return made


def as_html(root: Element) -> str:
    return tostring(root, encoding="unicode", method="html")


# Matches where an image, a link, a link's definition, an address in brackets, an HTML tag or a code block (some of
# which viewers draw) begins to be one: before the last sign of `](`, `<a` and the like.
_ACTIVE = re.compile(r"(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])|(?<=``)(?=`)|(?<=~~)(?=~)")
_BEHIND = 2  # characters that the pattern looks back


class MarkdownNeutraliser:
    """Separates by a space the signs that Markdown would act on: `](`, `][`, `]:`, `<x`, `~~~` and others.

    It takes a text in pieces. Promise: a viewer of CommonMark or HTML fetches nothing because of this text. Otherwise
    a model's words, or a name in the graph, could make an image whose address contains a restored name, and showing
    the answer would send it away. Not promised: a bare `https://...`, for example a value of the graph, stays, and
    viewers may show it as a link that a person can follow. Drafts of models contain none (app/chat/grounding.py).
    """

    def __init__(self) -> None:
        self._last = ""

    def push(self, piece: str) -> str:
        """Returns `piece` with a space inside each sign that Markdown would act on.

        A sign may have begun in an earlier piece.
        """
        whole, told = self._last + piece, len(self._last)
        self._last = whole[-_BEHIND:]
        cuts = [match.start() for match in _ACTIVE.finditer(whole) if match.start() >= told]
        parts = [whole[start:end] for start, end in zip([told, *cuts], [*cuts, len(whole)], strict=True)]
        return " ".join(parts)


_DIRECTION_CHANGERS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Returns `text` without control characters (except line ends and tabs) and marks that set its direction."""
    return "".join(letter for letter in text if letter in "\n\t" or _is_harmless(letter))


def _is_harmless(letter: str) -> bool:
    return unicodedata.category(letter) not in ("Cc", "Cs") and letter not in _DIRECTION_CHANGERS
