"""Detects the kind of thing that a question asks for: "who", "when", "which movies"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.llm.embedded.language.morphology import may_be_noun
from app.llm.embedded.language.question_words import GRAMMAR, is_pseudonym, words_in

Wh = Literal["", "who", "when", "where"]

_WH: dict[str, Wh] = {"who": "who", "whom": "who", "when": "when", "where": "where"}
# Nouns that ask for no more than a question word does.
WIDE_NOUNS: dict[str, Wh] = {
    **dict.fromkeys(("people", "person", "persons", "somebody", "someone", "individual", "individuals"), "who"),
    **dict.fromkeys(("place", "places"), "where"),
}
_SORTS = frozenset("kind kinds type types sort sorts name names".split())
_TRUTHS = frozenset("is are was were does do did has have had can could".split())
_TELL = frozenset("list name show give find tell".split())
_DETERMINERS = frozenset({"which", "what"})


@dataclass(frozen=True, slots=True)
class AskedKind:
    """`wh` is the question word that stands for a kind; `nouns` what follows "which" or opens the question.

    Of "which romantic movies" the nouns are romantic movies, movies.
    """

    wh: Wh
    nouns: tuple[str, ...]


def read_asked_kind(question: str) -> AskedKind:
    """Of several question words the first one counts, wherever it stands."""
    words = words_in(question)
    for at, word in enumerate(words):
        if word in _WH:
            return AskedKind(_WH[word], ())
        if word in _DETERMINERS:
            return AskedKind("", ("type",)) if _of_sort(words[at + 1 :]) else _named(words[at + 1 :])
    if words[:1] and words[0] in _TRUTHS:
        return AskedKind("", ())
    return _named(words[1:] if words[:1] and words[0] in _TELL else words)


def _named(words: Sequence[str]) -> AskedKind:
    nouns = tuple(_nouns(words))
    wide = WIDE_NOUNS.get(nouns[-1], "") if nouns else ""
    return AskedKind(wide, ()) if wide else AskedKind("", nouns)


def _of_sort(words: Sequence[str]) -> bool:
    """ "What sort of film is X" asks for the sort; "what sort of films did X direct" for films."""
    return words[:1] != [] and words[0] in _SORTS and words[1:2] == ["of"] and words[3:4] in (["is"], ["are"], ["was"])


def _nouns(words: Sequence[str]) -> Iterator[str]:
    """The first run of content words, whole and then ever shorter, down to its last word."""
    start = 0
    while start < len(words) and (
        words[start] in GRAMMAR or (words[start + 1 : start + 2] == ["of"] and words[start] in _SORTS)
    ):
        start += 1
    run: list[str] = []
    for word in words[start:]:
        # "people live in": what follows the noun is said of it.
        ends = word in GRAMMAR or is_pseudonym(word) or word == "'s"
        if ends or (any(map(may_be_noun, run)) and not may_be_noun(word)):
            break
        run.append(word)
    for at in range(len(run)):
        yield " ".join(run[at:])
