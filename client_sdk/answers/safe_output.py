"""Elements of HTML and SVG with text of others in them; the tree escapes it when it is written.

Promise: no name, concept or relation becomes markup. It holds while whatever is shown goes through `element`.
"""

from __future__ import annotations

import re
import unicodedata
from xml.etree.ElementTree import Element, tostring  # nosec B405

__all__ = ["Element", "as_html", "element"]


def element(tag: str, *inside: Element | str, **attributes: object) -> Element:
    """`tag` with children and texts in their order; `stroke_width=1` is the attribute stroke-width."""
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


# What makes an image, a link, a link's definition, an address in brackets, an HTML tag or a block of code (of which
# viewers draw some), each split before its last sign.
_ACTIVE = re.compile(r"(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])|(?<=``)(?=`)|(?<=~~)(?=~)")
_BEHIND = 2  # signs that the pattern looks back


class MarkdownNeutraliser:
    """Takes a text in pieces and parts what Markdown would act on with a space: `](`, `][`, `]:`, `<x`, `~~~` ...

    Promise: a viewer of CommonMark or HTML fetches nothing because of this text. A model's words, or a name in the
    graph, could else make an image whose address holds a restored name, and showing the answer would send it away.
    Not promised: a bare `https://...` stays, a value of the graph for one, and viewers may show it as a link that a
    person can follow. Drafts of models hold none (app/chat/grounding.py).
    """

    def __init__(self) -> None:
        self._last = ""

    def push(self, piece: str) -> str:
        """`piece` made inert, where it stands after the pieces before."""
        whole, told = self._last + piece, len(self._last)
        self._last = whole[-_BEHIND:]
        cuts = [match.start() for match in _ACTIVE.finditer(whole) if match.start() >= told]
        parts = [whole[start:end] for start, end in zip([told, *cuts], [*cuts, len(whole)], strict=True)]
        return " ".join(parts)


_DIRECTION_CHANGERS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """`text` without control characters but line ends and tabs, and without those that change its direction."""
    return "".join(letter for letter in text if letter in "\n\t" or _is_harmless(letter))


def _is_harmless(letter: str) -> bool:
    return unicodedata.category(letter) not in ("Cc", "Cs") and letter not in _DIRECTION_CHANGERS
