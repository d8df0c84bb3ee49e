"""Defines the symbols (°, ™, pictures) that may stand in no text that leaves, and therefore in no label."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Final
from unicodedata import category


def _ranges_of_symbols() -> str:
    def is_symbol(code: int) -> bool:
        kind = category(chr(code))
        return kind in ("So", "Sk", "Sm", "Co") or (kind == "Cn" and code in _PICTURES)

    runs = groupby(enumerate(filter(is_symbol, range(0x80, _PICTURES.stop))), key=lambda pair: pair[1] - pair[0])
    ends = ([code for _, code in run] for _, run in runs)
    return "".join(re.escape(chr(run[0])) + "-" + re.escape(chr(run[-1])) for run in ends)


_PICTURES = range(0x1F000, 0x1FC00)
SYMBOLS: Final = re.compile(f"[{_ranges_of_symbols()}\U000f0000-\U0010ffff]+")
"""Matches runs of characters beyond ASCII that are no letters, punctuation, spaces or currency signs."""
