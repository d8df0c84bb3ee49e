"""Templates of what people type: `{name:lower|by=_}` is a text with its letters small and underscores for spaces."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus

from evaluation.attacks.forms.corpus.words import bare, plain

Write = Callable[[str], str]


def letters(latin: str, other: str) -> Write:
    """One alphabet for another, letter by letter."""
    table = str.maketrans(latin, other)
    return lambda text: text.translate(table)


def alphabet(small: int, capital: int | None = None) -> Write:
    """Letters a to z from a code point on; all are written with those of `small` without another."""
    table = {ord("a") + at: small + at for at in range(26)}
    table |= {ord("A") + at: (small if capital is None else capital) + at for at in range(26)}
    return lambda text: text.translate(table)


def _in_longest_word(text: str, change: Write, least: int = 0) -> str:
    longest = max(text.split(" "), key=len)
    return text.replace(longest, change(longest), 1) if len(longest) >= least else text


def _in_alphabet(text: str, small: int, capital: int | None = None) -> str:
    return alphabet(small, capital)(plain(text) if text.islower() else bare(text))


CHANGES: Mapping[str, Write] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "capitalize": str.capitalize,
    "bare": bare,
    "plain": plain,
    "half": lambda text: text[: len(text) // 2],
    "backwards": lambda text: text[::-1],
    "words backwards": lambda text: " ".join(reversed(text.split(" "))),
    "letter dropped": lambda text: _in_longest_word(text, lambda word: word[:2] + word[3:], 6),
    "percent": quote,
    "plus": quote_plus,
    "JSON": lambda text: json.dumps({"name": text}),
    "JSON string": json.dumps,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "entity": lambda text: f"&#{ord(text[0])};{text[1:]}",
    "escape": lambda text: f"\\u{ord(text[0]):04x}{text[1:]}",
    "full width": lambda text: text.translate({code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}),
    "bold": alphabet(0x1D41A, 0x1D400),
    "alike": letters("aceopxyi", "асеорхуі"),
    "small capitals": letters("abcdefghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ"),
    "tags": lambda text: "".join(chr(0xE0000 + ord(sign)) for sign in text if sign.isascii()),
    "figures": letters("aeios", "43105"),
}
_WITH_A_SIGN: Mapping[str, Callable[[str, str], str]] = {
    "by": lambda text, sign: text.replace(" ", sign),
    "apart": lambda text, sign: sign.join(text),
    "over": lambda text, sign: "".join(each + sign if each.isalnum() else each for each in text),
    "after": lambda text, sign: "".join(each + sign if each != " " else each for each in text),
    "every": lambda text, sign: " ".join(sign + word for word in text.split(" ")),
    "inside": lambda text, sign: _in_longest_word(text, lambda w: w[: len(w) // 2] + sign + w[len(w) // 2 :]),
    "each": lambda text, form: "".join(form % ord(sign) for sign in text),
    "bytes": lambda text, form: "".join(form % byte for byte in text.encode()),
    "letters": lambda text, both: letters(*both.split(">"))(text),
    "alphabet": lambda text, codes: _in_alphabet(text, *(int(code, 16) for code in codes.split(","))),
    "from": lambda text, at: text[int(at) :],
    "to": lambda text, at: text[: int(at)],
}


class Piece(str):
    """A text that a template changes: by the names of `CHANGES`, or with a sign or a place behind "="."""

    def __format__(self, changes: str) -> str:
        text = str(self)
        for change in changes.split("|") if changes else ():
            name, given, sign = change.partition("=")
            text = _WITH_A_SIGN[name](text, sign) if given else CHANGES[name](text)
        return text
