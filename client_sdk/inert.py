"""Text that a Markdown viewer shows and never acts on: no image, link or HTML comes about in it."""

from __future__ import annotations

import re

# What makes an image, a link, a link's definition, an address in brackets, an HTML tag or a block of code (of which
# viewers draw some), each split before its last sign.
_ACTIVE = re.compile(r"(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])|(?<=``)(?=`)|(?<=~~)(?=~)")
_BEHIND = 2  # signs that the pattern looks back


class Inert:
    """Takes a text in pieces and parts what Markdown would act on with a space: `](`, `][`, `]:`, `<x`, `~~~` ...

    Promise: a viewer of CommonMark or HTML fetches nothing because of this text. A model's words, or a name in the
    graph, could else make an image whose address holds a restored name, and showing the answer would send it away.
    Not promised: a bare `https://...` stays, a value of the graph for one, and viewers may show it as a link that a
    person can follow. Drafts of models hold none (app/privacy/draft_prose.py).
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
