"""Text as a person reads it: look-alike letters, accents, case, width and escapes undone, for the judge alone."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

from confusable_homoglyphs import confusables

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_TOKEN = re.compile(r"[^\W_]+")
_REGIONAL = {0x1F1E6 + at: ord("a") + at for at in range(26)}
_ENCLOSED = {
    start + at: ord("a") + at for start in (0x1F130, 0x1F150, 0x1F170, 0x24B6, 0x24D0, 0x249C) for at in range(26)
}
# Letters without a decomposition.
_BARE = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
_INVISIBLE = frozenset(("Cf", "Mn", "Me", "Cc"))
_LATIN = frozenset("abcdefghijklmnopqrstuvwxyz")


@lru_cache(maxsize=200_000)
def plain(text: str) -> str:
    """`text` in small letters without accents, marks and what is invisible; Latin where a letter looks Latin."""
    wide = text.translate(_REGIONAL).translate(_ENCLOSED)
    compatible = unicodedata.normalize("NFKD", wide).casefold().translate(_BARE)
    kept = (sign for sign in compatible if sign.isspace() or unicodedata.category(sign) not in _INVISIBLE)
    return unicodedata.normalize("NFKD", "".join(map(_latin, kept)))


@lru_cache(maxsize=10_000)
def _latin(sign: str) -> str:
    """The Latin letter that `sign` is confused with; itself where there is none."""
    if sign < "\u0080" or not sign.isalpha():
        return sign
    for found in confusables.is_confusable(sign, greedy=True) or []:
        for alike in found["homoglyphs"]:
            letter = str(alike["c"]).casefold()
            if letter in _LATIN:
                return letter
    return sign


def undone(text: str) -> str:
    """`text` with the escapes of JSON, HTML and addresses undone, until nothing is left to undo."""
    for _ in range(4):
        once = unquote(html.unescape(_ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text)))
        if once == text:
            return text
        text = once
    return text


def tokens(text: str) -> list[str]:
    """The words and numbers of `text`, plain."""
    return _TOKEN.findall(plain(text))
