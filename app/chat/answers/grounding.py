"""The grounding check: a draft may cite only what its evidence and its question hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from app.chat.answers.link_finder import EndlessEscapesError, holds_link, is_without_capitals, readings
from app.privacy.pseudonyms import PseudonymTable, is_shaped, shaped_in, words_in
from app.privacy.safe_text import PrivacyError
from app.privacy.visible_text import Visible
from kg_store.algebra.expressions import Expression, names_in, parse
from kg_store.errors import ExpressionError
from kg_store.terms import is_mask_word

# `{1}`, or words that agree in number with what expression 1 gives: `{1:is|are}`.
PLACEHOLDER: Final = re.compile(r"\{\s*(\d+)\s*(?::([^{}|]*)\|([^{}|]*))?\}")

# One letter for whatever a name is put in place of, another for words that agree, neither of which languages write;
# and a word for parsers of addresses.
_MARK: Final = "ʘ"
_AGREEING: Final = "ɂ"
_WORD: Final = "com"
_PLAIN_SPACE: Final = re.compile(r"[ \t\n]")
_SPACE: Final = re.compile(r"[^\S\n]+")
_NOT_IN_AGREEMENT: Final = re.compile(r"[.:/\\@<>\[\]()&%#=?!`。｡．／：＠]")
# Signs that do not stand before a name in prose, or after one.
_NOT_BEFORE: Final = frozenset("./\\@=?&%:<>^")
_NOT_AFTER: Final = frozenset("/\\@=&<>^")
# Signs that may join a name to another word without a space; signs beyond ASCII separate words in all scripts.
_INNER: Final = re.compile(r"""(?:[^\W\d]|[^\x00-\x7f]|[\d'"(),;&+*~`!|_-]|/|\.(?!\w)|(?<=\d)[.:](?=\d))*""")
_DOTTED: Final = re.compile(rf"\.(?:[{_MARK}{_AGREEING}]|[^\W\d_]{{2,}})")
_BETWEEN_TWO: Final = frozenset("-‐‑–—…/,;&+|()\"'“”’，、；：。！？（）")
_BOTH_SIDES: Final = frozenset("-‐‑–—/&+|")


def parted(text: str, is_pseudonym: Callable[[str], bool]) -> str:
    """Returns `text` with spaces where two of its pseudonyms touch by a sign of prose: `{1}/{2}` becomes `{1} / {2}`.

    Otherwise a value that is itself an address would continue into the other name. All kinds of spaces become plain
    ones, because some programs read an address across the others.
    """
    text = _SPACE.sub(lambda found: found.group() if set(found.group()) <= {" ", "\t"} else " ", text)
    done, at = "", 0
    for (_, end), (start, _) in pairwise(_spans(text, is_pseudonym)):
        done += text[at:end] + _spaced(text[end:start])
        at = start
    return done + text[at:]


def is_prose(text: str, is_pseudonym: Callable[[str], bool]) -> bool:
    """True if no program would act on anything in `text`, and names restored in it stay words of a sentence.

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
    """`text` with one sign for each name; words that agree in number become their first or second form, or a sign of
    their own.
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
    """True if a name in a stretch without spaces is surrounded only as prose does it."""
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
    """The start and end of every place for a name, in order."""
    placed = [found.span() for found in PLACEHOLDER.finditer(text) if found[2] is None]
    return sorted([*placed, *_pseudonyms(text, is_pseudonym)])


def _pseudonyms(text: str, is_pseudonym: Callable[[str], bool]) -> list[tuple[int, int]]:
    return [(word.start, word.end) for word in words_in(text) if is_pseudonym(word.word)]


def _spaced(between: str) -> str:
    """The signs between two names, with spaces added."""
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
MAX_EXPRESSIONS: Final = 20

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
    """A draft was refused; `reason` says why, without words of the draft."""

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason
        super().__init__(f"the draft is not grounded: {reason}")


@dataclass(frozen=True, slots=True)
class Grounded:
    """A draft whose every pseudonym is in the evidence.

    `{n}` in `text` stands for expression n, counted from 1; `{n:is|are}` for "is" if expression n gives one thing,
    else "are".
    """

    expressions: tuple[Expression, ...]
    text: str = field(repr=False)


def ground(draft_text: str, expressions: Sequence[str], allowed: AbstractSet[str], table: PseudonymTable) -> Grounded:
    """Parses and checks a draft; `allowed` are the pseudonyms of the evidence and of the question's topics.

    Promise: a draft that passes cites no pseudonym that was invented or copied from elsewhere, and holds nothing on
    which a browser, a mail program or a viewer of Markdown or HTML would act. Otherwise a restored name could be sent
    away by a click or by loading a picture. Limit: free words of the draft are the model's own and nobody has checked
    them.

    Raises NotGroundedError.
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
    parsed = tuple(_parsed(expression) for expression in expressions)
    cited = [name for expression in parsed for name in names_in(expression)]
    stated = _cited_in(text, table)
    _check_cited([*cited, *stated], allowed, table)
    placeholders = [int(found[1]) for found in PLACEHOLDER.finditer(text)]
    if not all(1 <= number <= len(parsed) for number in placeholders):
        raise NotGroundedError("bad_placeholder")
    if not cited and not stated:
        raise NotGroundedError("nothing_cited")
    return Grounded(parsed, text)


def _parsed(expression: str) -> Expression:
    if len(expression) > MAX_TEXT_CHARS:
        raise NotGroundedError("too_long")
    try:
        return parse(expression)
    except ExpressionError:
        raise NotGroundedError("bad_expression") from None


def _cited_in(text: str, table: PseudonymTable) -> list[str]:
    """Words that are pseudonyms or look like one, and words that differ from an issued pseudonym by capitals only."""
    folded = {word.casefold() for word in table.issued}
    almost = [word.word for word in words_in(text) if word.word.casefold() in folded]
    return list(dict.fromkeys([*almost, *(word.word for word in shaped_in(text))]))


def _check_cited(cited: Iterable[str], allowed: AbstractSet[str], table: PseudonymTable) -> None:
    for word in cited:
        if word not in table.issued:
            raise NotGroundedError("unknown_pseudonym")
        if word not in allowed:
            raise NotGroundedError("outside_evidence")
