"""Finds what a browser, a mail program or a viewer of Markdown or HTML would follow, fetch or act on in a text."""

from __future__ import annotations

import re
from typing import Final

from markdown_it import MarkdownIt

from app.chat.answers.link_readings import EndlessEscapesError, joined, readings

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
# Line ends and tabs within it do not save an address from being one.
_ACROSS_LINES: Final = re.compile(r"//|\b(?:mailto|javascript|vbscript|data):\S", re.IGNORECASE)


def holds_link(text: str) -> bool:
    """Whether `text`, in any of the ways in which it may be read, holds an address, a link, an image, a tag, a fence
    or anything else that a program would act on.

    Promise: what is found by a parser of Markdown (markdown-it, with its linkifier), by the rules of the URL and HTML
    standards for where an address or a tag begins, or by them after IDNA, entities, percent and other escapes, is
    told. Limit: hosts of one word, or under a name that no linkifier knows, pass where nothing but prose touches them.
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
