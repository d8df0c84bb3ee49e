"""Pieces of a reply that state nothing of the world: questions, thanks, offers, opinions of the one who speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.chat.statements.references import Reference
from app.chat.statements.words.tokens import (
    ARTICLES,
    BE,
    DO,
    MODAL,
    NUMBERS,
    PERSONAL,
    SHADES,
    SPEAKERS,
    Token,
    is_form,
    is_grammar,
)

MIN_TAGGED: Final = 4
_ASKING: Final = BE | DO | MODAL | frozenset("who whom whose what which when where why how have has".split())
_TOPICAL: Final = frozenset(
    (
        "as for", "as to", "regarding", "concerning", "with regard to", "with respect to", "when it comes to",
        "turning to", "speaking of", "talking of", "in case of", "moving on to", "coming to", "for", "about",
    )
)  # fmt: skip
_GREETING: Final = frozenset(
    "yes no sure certainly hello hi hey oh ah well ok okay right thanks thank sorry please great absolutely "
    "definitely good nice glad happy welcome hmm alas wow indeed gladly".split()
)
_TALKING: Final = frozenset(
    "recommend like enjoy love watch see try check suggest hope think let know help wonder ask tell want need "
    "keep mind look read listen find show say give mention afraid sure glad happy sorry guess believe suppose "
    "remember understand feel free hurry take go here found record please worth fun great good nice "
    "interesting question choice something similar anything else more details information interested one it "
    "them that this future luck enjoy pick would".split()
)


def asks(sentence: str, tokens: Sequence[Token]) -> bool:
    """True of a question; "did you know that ..." and "..., right?" state something all the same."""
    if not sentence.rstrip(' "”’').endswith("?"):
        return False
    words = [token.word for token in tokens]
    if "know" in words[:4] and "you" in words[:3] and ("that" in words[:5] or words[0] == "did"):
        return False
    return not (tokens[0].is_name or words[0] in PERSONAL) or len(words) < MIN_TAGGED


def begins_question(tokens: Sequence[Token]) -> bool:
    """True of a clause that begins as questions do."""
    return bool(tokens) and not tokens[0].is_name and tokens[0].word in _ASKING


def names_topic(tokens: Sequence[Token]) -> bool:
    """ "As for E1", "with regard to E1": no more than what the sentence is about."""
    words = [token.word for token in tokens[:-1] if token.word not in ARTICLES]
    return tokens[-1].is_name and " ".join(words) in _TOPICAL


def is_talk(
    tokens: Sequence[Token], names: Sequence[str], references: Sequence[Reference], *, is_question: bool
) -> bool:
    """True where nothing is claimed that a graph could hold."""
    words = [token.word for token in tokens if token.is_word]
    if is_question:
        return True
    if not words:
        return not names
    plain = [word for word in words if not is_grammar(word)]
    if words[0] == "if" and not SPEAKERS.isdisjoint(words[:3]) and len(names) < 2:
        return True
    if (words[:3] == ["as", "far", "as"] or words[:2] == ["according", "to"]) and not names:
        return True
    if any(word in NUMBERS or word.isdigit() for word in plain):
        return False
    if all(word in _GREETING or word in SHADES for word in words):
        return True
    talks = words[0] in _GREETING | SPEAKERS | {"let", "here"} or any(word in SPEAKERS for word in words[:2])
    orders = is_form(words[0], "VB") and words[0] in _TALKING
    if names and words[0] in ("like", "unlike"):
        return False
    if names:
        is_bare = len(names) == 1 and not references
        return (talks or orders) and is_bare and all(word in _TALKING | _GREETING for word in plain)
    if talks or orders or "please" in words:
        return all(word in _TALKING | _GREETING for word in plain) or (not references and "please" in words)
    return len(plain) < 3 and not references and all(word in _TALKING | _GREETING for word in plain)
