"""Finds in a text whatever a browser, a mail program or a viewer of Markdown or HTML would follow, fetch or act on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from markdown_it import MarkdownIt

from app.privacy.visible_text import Visible

MAX_ROUNDS: Final = 5

# What browsers map to the signs of an address beyond NFKC (IDNA's full stops), and what people can't tell from them.
_SIGNS: Final = str.maketrans(
    {"。": ".", "｡": ".", "⁄": "/", "∕": "/", "⧸": "/", "╱": "/", "∖": "\\", "⧵": "\\", "⧹": "\\", "∶": ":", "꞉": ":"}
)
# Invisible characters: fillers of Hangul, Khmer and Mongolian, joiners, variation selectors.
_SHOWS_NOTHING: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]"
)
_MARKDOWN_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ASCII_DOTS: Final = re.compile(r"\.{2,}")
# These end or divide sentences in Chinese and Japanese, where no space follows them.
_EAST_ASIAN_STOPS: Final = "，、；！？：（）「」『』《》〈〉【】・"
_LABEL_AHEAD: Final = re.compile(r"(\w{1,4})(?=$|[\s/:?#])")


class EndlessEscapesError(ValueError):
    """The text has escapes nested more deeply than anybody writes."""


def readings(text: str) -> Iterator[str]:
    """Yields the ways in which `text` may be read: as it is, without Markdown escapes, and with backslashes as
    slashes.

    In each of them escapes are undone, letters are normalised (NFKC), full stops and slashes of other scripts are made
    ASCII, and invisible characters are removed. Raises EndlessEscapesError.
    """
    plain = _unescaped(_prose_stops(text))
    yield plain
    yield _MARKDOWN_ESCAPE.sub(r"\1", plain)
    # WHATWG URL: a back slash is a slash, and tabs and line ends inside an address are dropped.
    yield plain.replace("\\", "/")


def joined(text: str) -> str:
    """`text` without tabs and line ends, which browsers remove from an address."""
    return re.sub(r"[\t\r\n]", "", text)


def _unescaped(text: str) -> str:
    for _ in range(MAX_ROUNDS):
        shown = _SHOWS_NOTHING.sub("", unicodedata.normalize("NFKC", text).translate(_SIGNS))
        after = Visible.of_typed(shown).text
        if after == text:
            # No host name has two full stops in a row.
            return _ASCII_DOTS.sub(" ", after)
        text = after
    raise EndlessEscapesError


def _prose_stops(text: str) -> str:
    """East Asian punctuation as spaces, except a full stop that could belong to a host name."""
    return "".join(_as_prose(text, at, letter) for at, letter in enumerate(text)).replace("…", " ")


def _as_prose(text: str, at: int, letter: str) -> str:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if letter in _EAST_ASIAN_STOPS and (is_without_capitals(before) or is_without_capitals(after)):
        return " "
    if letter in "。｡" and is_without_capitals(before) and not after.isascii():
        return " " if _LABEL_AHEAD.match(text, at + 1) is None else letter
    if letter in "。｡" and is_without_capitals(after) and _LABEL_AHEAD.match(text, at + 1) is None:
        return " "
    return letter


def is_without_capitals(letter: str) -> bool:
    """True of a letter of a script that writes words without spaces between them."""
    return bool(letter) and unicodedata.category(letter) == "Lo"


_ACTIVE: Final = frozenset({"link_open", "image", "html_inline", "html_block", "fence"})
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(
    ["linkify", "table", "strikethrough"]
)

# What follows a scheme touches its colon; in prose a space does, or what ends an emphasis or a quotation.
_SCHEME: Final = re.compile(r"(?<!\w)(?:mailto\s*:|[a-z][a-z0-9+.\-]+:(?![\s*_~`)\]}\"'”’»|]|$))", re.IGNORECASE)
_MARKUP: Final = re.compile(
    r"""
      //                                   # an authority: of any scheme, or of the page's own
    | \bwww\.\S
    | [^\s(]@[^\s)] | (?<!\S)@\w           # an e-mail, a mention
    | <[^\s\d=<>-]                         # a tag, a comment, an address in brackets
    | ```|~~~ | !\[ | \]\( | \]\[ | \[\[ | \[\^   # fences, images, links, wiki links, footnotes
    | (?m:^[\s>*+-]*\[[^\]]*\]\s*:)        # a definition of a link
    | \\[a-z]                              # a macro of TeX, some of which link
    | \burl\( | \b(?:href|src|srcset|action|formaction|style|poster|background|xlink:href|on[a-z]{3,})\s*=
    | [\w-]\.[^\W\d_]{2,}(?:/|[?\#:=&]\S)  # a host with what follows one
    | (?<![\d.])\d{1,3}(?:\.\d{1,3}){3}[/:?]
    | \b(?:0x[\da-f]{2,}(?:\.0x[\da-f]+)*|\d{8,10})[/:?\#]   # a host as one number
    """,
    re.IGNORECASE | re.VERBOSE,
)
# An address may hold line ends and tabs, which browsers drop.
_ACROSS_LINES: Final = re.compile(r"//|\b(?:mailto|javascript|vbscript|data):\S", re.IGNORECASE)


def holds_link(text: str) -> bool:
    """True if `text`, read in any of its possible ways, holds an address, a link, an image, a tag, a fence or the
    like.

    Promise: it finds whatever a Markdown parser (markdown-it with its linkifier) finds, and whatever the URL and HTML
    standards treat as the beginning of an address or tag, also after IDNA, entities, percent and other escapes are
    undone. Limit: host names of one word, or under an ending that no linkifier knows, pass if only prose touches them.
    """
    try:
        return any(map(_is_active, dict.fromkeys(readings(text))))
    except EndlessEscapesError:
        return True


def _is_active(text: str) -> bool:
    if _MARKUP.search(text) or _SCHEME.search(text) or _ACROSS_LINES.search(joined(text)):
        return True
    environment: dict[str, object] = {}
    tokens = [each for block in _MARKDOWN.parse(text, environment) for each in (block, *(block.children or ()))]
    return bool(environment.get("references")) or any(token.type in _ACTIVE for token in tokens)
