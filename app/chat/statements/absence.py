"""Statements that something is not on record: "its director isn't given", "I have no date for it"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.chat.statements.evidence import Evidence, inverse
from app.chat.statements.quantities import content, is_denying
from app.chat.statements.vocabulary import is_derived, relation_words, words_of_labels
from app.chat.statements.words.tokens import SPEAKERS, Token, is_form, lemmas

MAX_BEFORE: Final = 3
_RECORDING: Final = frozenset(
    "record know state give mention list say specify note name provide include describe detail show tell see find "
    "confirm identify indicate document disclose clear available store register hold".split()
)
_LACKING: Final = frozenset("unknown unrecorded unnamed unspecified unlisted unstated missing".split())
_NOBODY: Final = frozenset("nothing nobody none neither".split())
_BESIDE: Final = frozenset("here yet there record file itself so far and or for in to the evidence graph data".split())
_ASKED: Final = frozenset("who whom whose what which when where how whether".split())
_GENERAL: Final = frozenset("date number name type kind status".split())
_FURTHER: Final = frozenset("other others else more further another only just".split())


def is_absence(tokens: Sequence[Token]) -> bool:
    """True of a piece that says what is not recorded, and not what is not so."""
    words = [token.word for token in tokens]
    if not _LACKING.isdisjoint(words):
        return True
    if not any(map(is_denying, tokens)):
        return False
    if not SPEAKERS.isdisjoint(words[:MAX_BEFORE]) or words[:1] == ["there"]:
        return True  # "I have no date for it", "there is no date".
    places = [at for at, token in enumerate(tokens) if _records(token)]
    if not places and words[-1] not in ("record", "file", "data", "evidence", "graph", "records", "files"):
        return False
    behind = tokens[places[-1] + 1 :] if places else ()
    is_last = all(token.is_name or token.word in _BESIDE for token in behind) or behind[0].word in _ASKED
    return is_last or not _NOBODY.isdisjoint(words) or "no" in words


def _is_said(label: frozenset[str], words: frozenset[str]) -> bool:
    """True of "insurance" for "insured by"."""
    return not label.isdisjoint(words) or any(is_derived(word, label) for word in words)


def is_unknowing(tokens: Sequence[Token]) -> bool:
    """True of "I don't know", "it isn't known" and "I can't say", behind which a question stands."""
    return bool(tokens) and not any(token.is_name for token in tokens) and is_absence(tokens)


def begins_indirect(tokens: Sequence[Token]) -> bool:
    """True of "when it came out" and "who wrote it"."""
    return bool(tokens) and not tokens[0].is_name and tokens[0].word in _ASKED


def _records(token: Token) -> bool:
    if token.is_name or _RECORDING.isdisjoint((token.word, *lemmas(token.word, "VERB"))):
        return False
    return is_form(token.word, "VBN") or not lemmas(token.word, "NOUN") or token.word in _RECORDING


def is_absent(evidence: Evidence, tokens: Sequence[Token], things: Sequence[str]) -> bool:
    """True where the house finds nothing at `things` by any relation that the piece may speak of. "There were no
    delays" is about the world, where no relation is spoken of."""
    words = content(tokens) - (_RECORDING - {"name"})
    words = words - _GENERAL or words
    labels = evidence.beside.labels
    said = [label for label in labels if _is_said(words_of_labels((label,)), words)]
    is_of_world = tokens[0].word == "there" and not any(map(_records, tokens))
    if not _FURTHER.isdisjoint(token.word for token in tokens) or (is_of_world and not (said and things)):
        return False
    said = said or [label for label in labels if not relation_words(label).isdisjoint(words)]
    for thing in things:
        for label in said:
            for step in (label, inverse(label)):
                if evidence.is_true(f'exists(reach({thing}, "{step}"))') is not False:
                    return False
        if not said and "when" in (token.word for token in tokens):
            return not any(step.sort == "date" for step in evidence.steps(thing))
    return True
