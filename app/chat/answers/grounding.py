"""The grounding check: a draft may cite nothing but what its evidence and its question hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Literal

from app.chat.answers.draft_prose import PLACEHOLDER, is_prose, parted
from app.privacy.errors import PrivacyError
from app.privacy.pseudonym_format import is_shaped, shaped_in, words_in
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.visible_text import Visible
from kg_store.algebra.expressions import Expression, names_in, parse
from kg_store.errors import ExpressionError
from kg_store.terms import is_mask_word

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
    """A draft is refused; `reason` says why, without its words."""

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason
        super().__init__(f"the draft is not grounded: {reason}")


@dataclass(frozen=True, slots=True)
class Grounded:
    """A draft whose every pseudonym is in the evidence. `{n}` in `text` stands for expression n, from 1;
    `{n:is|are}` for its first part where expression n gives one thing, else for its second.
    """

    expressions: tuple[Expression, ...]
    text: str = field(repr=False)


def ground(draft_text: str, expressions: Sequence[str], allowed: AbstractSet[str], table: PseudonymTable) -> Grounded:
    """Parses and checks a draft; `allowed` are the pseudonyms of the evidence and of the question's topics.

    Promise: nothing that passes cites a pseudonym that was invented, or echoed from elsewhere, or holds anything that
    a browser, a mail program or a viewer of Markdown or HTML would act on: a name would be restored into that, and
    sent away by a click or by showing a picture. Limit: free words of the draft are the model's own, and nobody has
    checked that they are true. Raises NotGroundedError.
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
    """Words that are or look like pseudonyms, and those that differ from an issued one by capitals alone."""
    folded = {word.casefold() for word in table.issued}
    almost = [word.word for word in words_in(text) if word.word.casefold() in folded]
    return list(dict.fromkeys([*almost, *(word.word for word in shaped_in(text))]))


def _check_cited(cited: Iterable[str], allowed: AbstractSet[str], table: PseudonymTable) -> None:
    for word in cited:
        if word not in table.issued:
            raise NotGroundedError("unknown_pseudonym")
        if word not in allowed:
            raise NotGroundedError("outside_evidence")
