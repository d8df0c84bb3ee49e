"""Elements of HTML and SVG with text of others in them; the tree escapes it when it is written.

Promise: no name, concept or relation becomes markup. It holds while whatever is shown goes through `element`.
"""

from __future__ import annotations

# Written, never parsed.
from xml.etree.ElementTree import Element, tostring  # nosec B405

from client_sdk.printable import printable

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
