"""Finds what an unknown word in lower case was meant to say, in words that every prompt shows anyway."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.privacy.words.grammar_words import KIN, MEASURING
from app.privacy.words.lexicon import Lexicon, base_of
from app.privacy.words.name_slots import stands_as_a_name
from app.privacy.words.turn_tokens import Stand, TurnTokens
from app.privacy.words.unknown_words import Taken, turn_of
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.names.name_words import one_slip_away

MIN_MISTYPED: Final = 5
MIN_SHORTENED: Final = 4
MIN_PIECE: Final = 4
"""The least length of a word that is recognised inside joined words. Chosen by hand."""

_KIN: Final = KIN | frozenset(("children", "spouse", "couple", "offspring", "partner"))
_TOLD_OF: Final = frozenset("dead died born birth death name date place".split())
_INSIDE: Final = "of"


@dataclass(frozen=True, slots=True)
class SchemaReading:
    """text[start:end] read as `instead`."""

    start: int
    end: int
    instead: str = field(repr=False)


def schema_readings(
    text: str, words: Collection[tuple[int, int]], taken: Sequence[Taken], lexicon: Lexicon
) -> list[SchemaReading]:
    """Returns readings of `words`, spans of `text` in lower case that may not leave; `taken` is what is replaced
    already.

    Promise: a reading holds only words of the shown schema and of a closed list. A word that is similar to one of a
    name of the tenant, or that stands where a name would, is not read. Limit: English only.
    """
    if not words:
        return []
    turn = turn_of(text, taken, lexicon)
    if not _is_english(turn):
        return []
    found = []
    for at, token in enumerate(turn.tokens):
        if token.stand is not Stand.WORD or (token.start, token.end) not in words:
            continue
        meant = _meant(token.word, lexicon)
        if meant and not stands_as_a_name(turn, at):
            found.append(SchemaReading(token.start, token.end, meant))
    return found


def _is_english(turn: TurnTokens) -> bool:
    """True if at least half of the words are English, because the language of a short text cannot be told reliably."""
    known = [in_lexicon(base_of(token.word)) for token in turn.tokens if token.stand is Stand.WORD]
    return sum(known) * 2 >= len(known)


def _meant(word: str, lexicon: Lexicon) -> str:
    """The meaning of a misspelt word; empty if nothing or several words are near, or it may be somebody's name."""
    if len(word) < MIN_SHORTENED or not (word.isascii() and word.isalpha()):
        return ""
    meant = _shortened(word, lexicon.schema)
    if not meant and len(word) >= MIN_MISTYPED:
        meant = _mistyped(word, lexicon.schema | MEASURING) or _run_together(word, lexicon)
    return "" if not meant or lexicon.names.has_near(word) else meant


def _shortened(word: str, schema: frozenset[str]) -> str:
    """The only word of the schema that `word` abbreviates, in the same number: profs, dept; else empty."""
    stem = word.removesuffix("s")
    longer = [own for own in schema if len(own) > len(stem) + 1 and own.isalpha() and _begins(own, stem)]
    if len(longer) != 1 or len(stem) < MIN_SHORTENED:
        return ""
    return longer[0] if stem == word else _forms(longer[0])[-1]


def _begins(own: str, stem: str) -> bool:
    """True if `stem` is the beginning of `own`, or its beginning and last letter: prof, dept."""
    return own.startswith(stem) or (own[-1] == stem[-1] and own.startswith(stem[:-1]))


def _mistyped(word: str, schema: frozenset[str]) -> str:
    """The only word of the schema that `word` misspells by one slip, with the same ending; else empty."""
    slips = set(one_slip_away(word))
    near = {own: [form for form in _forms(own) if form in slips] for own in schema}
    meant = [forms for forms in near.values() if forms]
    return max(meant[0], key=lambda form: form[-1] == word[-1]) if len(meant) == 1 else ""


def _forms(own: str) -> tuple[str, ...]:
    """A word of the schema and its plural; none if it is not a plain word."""
    if len(own) < MIN_PIECE or not (own.isascii() and own.isalpha()):
        return ()
    plural = (
        f"{own[:-1]}ies" if own.endswith("y") else f"{own}es" if own.endswith(("s", "x", "ch", "sh")) else f"{own}s"
    )
    return own, plural


def _run_together(word: str, lexicon: Lexicon) -> str:
    """`word` as separate words of the schema, of kinship and of facts about people: childrendead, placeofbirth.

    Two joined common words are often somebody's name (goodfriend, townsend), so they are not read.
    """
    own = {form for each in lexicon.schema for form in _forms(each)} | _KIN
    pieces = {piece for piece in own | _TOLD_OF if len(piece) >= MIN_PIECE and piece in word}
    told = {piece for piece in pieces if not lexicon.names_somebody(piece)}
    splits = [split for split in _splits(word, told) if not own.isdisjoint(split)]
    return " ".join(splits[0]) if len(splits) == 1 else ""


def _splits(word: str, pieces: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yields every way to split all of `word` into two or more pieces, with only "of" between them."""
    for piece in pieces:
        if not word.startswith(piece):
            continue
        rest = word[len(piece) :]
        for inside, left in (((), rest), ((_INSIDE,), rest.removeprefix(_INSIDE))):
            if inside and left == rest:
                continue
            if left in pieces:
                yield piece, *inside, left
            yield from ((piece, *inside, *more) for more in _splits(left, pieces))
