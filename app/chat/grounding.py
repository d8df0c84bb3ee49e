"""Checks that a draft cites only pseudonyms of its evidence and question, and that its text is plain prose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from markdown_it import MarkdownIt

from app.privacy.pseudonyms import PseudonymTable, is_shaped, shaped_in, words_in
from app.privacy.safe_text import PrivacyError
from app.privacy.visible_text import Visible
from kg_store.algebra.expressions import Expression, names_in, parse
from kg_store.errors import ExpressionError
from kg_store.terms import is_mask_word

MAX_ROUNDS: Final = 5

# Signs that browsers treat as part of an address although NFKC does not map them (IDNA's full stops), and signs that
# people can't tell from those.
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
    """The text has escapes nested more than MAX_ROUNDS deep, which nobody writes."""


def readings(text: str) -> Iterator[str]:
    """Yields the ways in which programs may read `text`: plainly, without Markdown escapes, and with each backslash as
    a slash.

    In each of them escapes are undone, letters are normalised (NFKC), full stops and slashes of other scripts are made
    ASCII, and invisible characters are removed. Raises EndlessEscapesError.
    """
    plain = _unescaped(_prose_stops(text))
    yield plain
    yield _MARKDOWN_ESCAPE.sub(r"\1", plain)
    # WHATWG URL: a back slash is a slash, and tabs and line ends inside an address are dropped.
    yield plain.replace("\\", "/")


def joined(text: str) -> str:
    """Returns `text` without tabs and line ends, because browsers remove them from an address."""
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
    """Returns `text` with East Asian punctuation as spaces, except a full stop that could belong to a host name."""
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
    """Returns True for a letter of a script without capitals, such as Chinese, Arabic or Hindi (category Lo)."""
    return bool(letter) and unicodedata.category(letter) == "Lo"


_ACTIVE: Final = frozenset({"link_open", "image", "html_inline", "html_block", "fence"})
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(
    ["linkify", "table", "strikethrough"]
)

# After the colon of a URL scheme, the address follows at once. After a colon in prose, a space follows, or a sign that
# ends an emphasis or a quotation.
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
    """Returns True if any of the `readings` of `text` holds an address, link, image, tag, code fence or the like.

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


# Matches `{1}`, which stands for the result of expression 1, and `{1:is|are}`, the word that agrees with its number.
PLACEHOLDER: Final = re.compile(r"\{\s*(\d+)\s*(?::([^{}|]*)\|([^{}|]*))?\}")

# Letters that no language writes: one replaces each pseudonym or `{n}`, the other each word that agrees in number.
# Before addresses are searched for, both become a word that can end one.
_MARK: Final = "ʘ"
_AGREEING: Final = "ɂ"
_WORD: Final = "com"
_PLAIN_SPACE: Final = re.compile(r"[ \t\n]")
_SPACE: Final = re.compile(r"[^\S\n]+")
_NOT_IN_AGREEMENT: Final = re.compile(r"[.:/\\@<>\[\]()&%#=?!`。｡．／：＠]")
# Signs that prose does not put directly before a name, and directly after one.
_NOT_BEFORE: Final = frozenset("./\\@=?&%:<>^")
_NOT_AFTER: Final = frozenset("/\\@=&<>^")
# Matches a name joined to other words without spaces as prose does it; signs beyond ASCII always separate words.
_INNER: Final = re.compile(r"""(?:[^\W\d]|[^\x00-\x7f]|[\d'"(),;&+*~`!|_-]|/|\.(?!\w)|(?<=\d)[.:](?=\d))*""")
_DOTTED: Final = re.compile(rf"\.(?:[{_MARK}{_AGREEING}]|[^\W\d_]{{2,}})")
_BETWEEN_TWO: Final = frozenset("-‐‑–—…/,;&+|()\"'“”’，、；：。！？（）")
_BOTH_SIDES: Final = frozenset("-‐‑–—/&+|")


def parted(text: str, is_pseudonym: Callable[[str], bool]) -> str:
    """Returns `text` with spaces between pseudonyms that only a sign of prose joins: `{1}/{2}` becomes `{1} / {2}`.

    Without the space, a value that is itself an address would run on into the next name. Unusual kinds of spaces
    become plain ones, because some programs do not end an address at them.
    """
    text = _SPACE.sub(lambda found: found.group() if set(found.group()) <= {" ", "\t"} else " ", text)
    done, at = "", 0
    for (_, end), (start, _) in pairwise(_spans(text, is_pseudonym)):
        done += text[at:end] + _spaced(text[end:start])
        at = start
    return done + text[at:]


def is_prose(text: str, is_pseudonym: Callable[[str], bool]) -> bool:
    """Returns True if `text` is plain prose, also once names are restored in it, so that no program acts on it.

    Promise: no expression or pseudonym is part of an address, a link or a tag, or touches a sign that could make it
    one; nor does the text hold any such thing elsewhere. Limit: a name that is itself an address stays one.
    """
    agreements = [part for found in PLACEHOLDER.finditer(text) for part in found.groups()[1:] if part]
    if any(map(_NOT_IN_AGREEMENT.search, agreements)) or _names_touch(text, is_pseudonym):
        return False
    return not any(
        holds_link(as_read.replace(_MARK, _WORD).replace(_AGREEING, _WORD)) or not _stand_alone(as_read)
        for as_read in dict.fromkeys(_marked(text, is_pseudonym, part) for part in (1, 2, None))
    )


def _marked(text: str, is_pseudonym: Callable[[str], bool], part: int | None) -> str:
    """Returns `text` with `_MARK` in place of each pseudonym and each `{n}`.

    `part` says what becomes of `{n:is|are}`: 1 gives "is", 2 gives "are", None gives `_AGREEING`.
    """

    def sign(found: re.Match[str]) -> str:
        if found[2] is None:
            return _MARK
        return _AGREEING if part is None else found[part + 1]

    for start, end in reversed(_pseudonyms(text, is_pseudonym)):
        text = text[:start] + _MARK + text[end:]
    return PLACEHOLDER.sub(sign, text)


def _names_touch(text: str, is_pseudonym: Callable[[str], bool]) -> bool:
    spans = _spans(text, is_pseudonym)
    return any(not _PLAIN_SPACE.search(text[end:start]) for (_, end), (start, _) in pairwise(spans))


def _stand_alone(text: str) -> bool:
    try:
        chunks = {chunk for each in readings(text) for chunk in each.split() if _MARK in chunk or _AGREEING in chunk}
    except EndlessEscapesError:
        return False
    return all(map(_stands_alone, chunks))


def _stands_alone(chunk: str) -> bool:
    """Returns True if nothing around the name in `chunk` could make it part of an address or a link.

    `chunk` is text without spaces that holds a name (`_MARK`), such as `(_MARK),`: signs as in prose may touch it.
    """
    start, end = 0, len(chunk)
    while _is_sign(chunk[start]) and chunk[start] not in _NOT_BEFORE:
        start += 1
    while _is_sign(chunk[end - 1]) and chunk[end - 1] not in _NOT_AFTER:
        end -= 1
    inner = chunk[start:end]
    if inner.count(_MARK) > 1 or inner.count("/") > 1 or inner[0] in _NOT_BEFORE:
        return False
    return _INNER.fullmatch(inner) is not None and _DOTTED.search(inner) is None


def _is_sign(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PS"


def _spans(text: str, is_pseudonym: Callable[[str], bool]) -> Sequence[tuple[int, int]]:
    placed = [found.span() for found in PLACEHOLDER.finditer(text) if found[2] is None]
    return sorted([*placed, *_pseudonyms(text, is_pseudonym)])


def _pseudonyms(text: str, is_pseudonym: Callable[[str], bool]) -> list[tuple[int, int]]:
    return [(word.start, word.end) for word in words_in(text) if is_pseudonym(word.word)]


def _spaced(between: str) -> str:
    if any(letter.isspace() for letter in between):
        return between
    if not between:
        return " "
    if not all(letter in _BETWEEN_TWO or is_without_capitals(letter) for letter in between):
        return between
    if _BOTH_SIDES.issuperset(between):
        return f" {between} "
    words = between.lstrip("".join(_BETWEEN_TWO))
    signs = between.removesuffix(words)
    return f"{signs} {words} " if words else f"{signs} "


MAX_TEXT_CHARS: Final = 2_000
MAX_EXPRESSIONS: Final = 60
"""The greatest number of expressions of a draft: so many cells an answer of rows or pairs may have. Chosen by hand."""

Reason = Literal[
    "too_long",
    "bad_expression",
    "bad_placeholder",
    "unknown_pseudonym",
    "outside_evidence",
    "nothing_cited",
    "address",
]


class NotGroundedError(PrivacyError):
    """A draft is refused; `reason` says why, without words of the draft."""

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason
        super().__init__(f"the draft is not grounded: {reason}")


@dataclass(frozen=True, slots=True)
class Grounded:
    """A draft that passed the check: it cites only pseudonyms of the evidence and the question.

    `{n}` in `text` stands for the result of expression n, counted from 1; `{n:is|are}` for "is" if that is one thing,
    else "are".
    """

    expressions: tuple[Expression, ...]
    text: str = field(repr=False)


def ground(draft_text: str, expressions: Sequence[str], allowed: AbstractSet[str], table: PseudonymTable) -> Grounded:
    """Parses and checks a draft; `allowed`: pseudonyms of evidence and topics. Raises NotGroundedError.

    Promise: a draft that passes cites no pseudonym that was invented or copied from elsewhere, and holds nothing on
    which a browser, a mail program or a viewer of Markdown or HTML would act. Otherwise a restored name could be sent
    away by a click or by loading a picture. Limit: free words of the draft are the model's own, checked by nobody.
    """
    issued = table.issued

    def is_pseudonym(word: str) -> bool:
        return word in issued or is_shaped(word) or is_mask_word(word)

    text = Visible.of(draft_text).text.strip()
    if len(text) > MAX_TEXT_CHARS or len(expressions) > MAX_EXPRESSIONS:
        raise NotGroundedError("too_long")
    text = parted(text, is_pseudonym)
    if not is_prose(text, is_pseudonym):
        raise NotGroundedError("address")
    if any(len(expression) > MAX_TEXT_CHARS for expression in expressions):
        raise NotGroundedError("too_long")
    try:
        parsed = tuple(map(parse, expressions))
    except ExpressionError:
        raise NotGroundedError("bad_expression") from None
    cited = [name for expression in parsed for name in names_in(expression)]
    # Words of the text that look like a pseudonym, also if they differ from an issued one only in capitals.
    folded = {word.casefold() for word in issued}
    almost = [word.word for word in words_in(text) if word.word.casefold() in folded]
    stated = list(dict.fromkeys([*almost, *(word.word for word in shaped_in(text))]))
    for word in [*cited, *stated]:
        if word not in issued:
            raise NotGroundedError("unknown_pseudonym")
        if word not in allowed:
            raise NotGroundedError("outside_evidence")
    placeholders = [int(found[1]) for found in PLACEHOLDER.finditer(text)]
    if not all(1 <= number <= len(parsed) for number in placeholders):
        raise NotGroundedError("bad_placeholder")
    if not cited and not stated:
        raise NotGroundedError("nothing_cited")
    return Grounded(parsed, text)
