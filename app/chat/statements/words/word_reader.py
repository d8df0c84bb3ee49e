"""Tells what the words of a sentence do, by their forms and by the words around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.chat.statements.words.tokens import (
    ARTICLES,
    BE,
    DO,
    HAVE,
    MODAL,
    NEGATIONS,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    SHADES,
    SPEAKERS,
    Token,
    is_form,
    is_grammar,
    lemmas,
    noun_base,
)  # fmt: skip

_FINITE: Final = BE | HAVE | DO | MODAL
_BARE: Final = frozenset("come become run set put cut hit let cost".split())
"""Participles that look like the verb itself."""


class WordReader:
    """The tokens of one sentence, read by place."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._end = len(tokens)

    def word(self, at: int) -> str:
        return self._tokens[at].word if 0 <= at < self._end and not self._tokens[at].is_name else ""

    def is_name(self, at: int) -> bool:
        return 0 <= at < self._end and self._tokens[at].is_name

    def names_within(self, start: int, end: int) -> bool:
        return any(self.is_name(at) for at in range(start, end))

    def is_common_noun(self, at: int) -> bool:
        word = self.word(at)
        return bool(word) and not is_grammar(word) and bool(lemmas(word, "NOUN"))

    def is_noun_or_name(self, at: int) -> bool:
        return self.is_name(at) or self.is_common_noun(at)

    def takes_object(self, at: int) -> bool:
        word = self.word(at)
        return (
            self.is_name(at) or word in ARTICLES or word in PREPOSITIONS or word in POSSESSIVES or word in SHADES
            or word in NEGATIONS or word in PERSONAL
        )  # fmt: skip

    def has_be(self, at: int) -> bool:
        return any(self.word(k) in BE for k in range(max(0, at - 3), at))

    def has_finite(self, start: int, end: int) -> bool:
        return any(self.is_finite(k) for k in range(start, end))

    def last_mark(self, at: int) -> int:
        return max((k + 1 for k in range(at) if self.word(k) in (",", ";", ":")), default=0)

    def _is_participle_here(self, at: int) -> bool:
        """ "Directed by", "born in": a participle unless a verb with an object could stand so."""
        return self.word(at + 1) == "by" or not self.names_within(0, at) or self.has_be(at)

    def is_participle(self, at: int) -> bool:
        word = self.word(at)
        if is_grammar(word) or not word or word in _BARE:
            return False
        if is_form(word, "VBG") and word not in ("during", "including", "following", "being"):
            return self.takes_object(at + 1) and self.word(at - 1) not in BE
        follows = self.word(at + 1) in PREPOSITIONS or (self.is_name(at + 1) and not is_form(word, "VBD"))
        return is_form(word, "VBN") and follows and self.word(at - 1) not in BE | HAVE

    def begins_predicate(self, at: int) -> bool:
        while self.word(at) in SHADES:
            at += 1
        word = self.word(at)
        if word in _FINITE:
            return word not in ("being", "having", "been")
        if is_grammar(word) or not word or self.word(at - 1) in ARTICLES:
            return False
        if at == 0 and lemmas(word, "NOUN"):
            return False
        return (
            is_form(word, "VBZ")
            or is_form(word, "VBD")
            or (is_form(word, "VB") and self.takes_object(at + 1) and not lemmas(word, "ADJ"))
        )

    def is_finite(self, at: int) -> bool:
        """A finite verb, as far as the words around it tell."""
        word, before = self.word(at), self.word(at - 1)
        if not word:
            return False
        if word == "'s":
            return before in PERSONAL or before in ("there", "that", "who", "here")
        if word in _FINITE:
            return word not in ("being", "having", "been")
        if is_grammar(word) or not lemmas(word, "VERB"):
            return False
        if before in ARTICLES or before in POSSESSIVES or before == "'s" or before in PREPOSITIONS - {"to"}:
            return False
        begin = self.last_mark(at)
        if is_form(word, "VBN") and begin and self.word(begin) in ("a", "an") and self.word(at + 1) in PREPOSITIONS:
            return False
        if is_form(word, "VBD"):
            if self.word(begin) == "the" and self.is_common_noun(at - 1) and not self._has_verb_behind(at + 1):
                return self.word(at + 1) != "by"  # "The price amounted to V1".
            return not (is_form(word, "VBN") and self.word(at + 1) in PREPOSITIONS and self._is_participle_here(at))
        if is_form(word, "VBZ") and before not in PERSONAL:
            if lemmas(word, "NOUN") and self.word(at + 1) in PREPOSITIONS and self._has_verb_behind(at + 1):
                return False
            if lemmas(word, "NOUN") and self.is_name(at - 1) and self._tokens[at - 1].word[0] == "V":
                return False
            return not lemmas(word, "NOUN") or self.takes_object(at + 1) or self.is_name(at - 1)
        if before in PERSONAL or before in SPEAKERS:
            return is_form(word, "VB") or is_form(word, "VBZ")
        plural = self.is_name(at - 1) and self.word(at - 2) in ("and", "or", "of")
        plural = plural or (self.is_common_noun(at - 1) and noun_base(before) != before)
        return is_form(word, "VB") and (before in MODAL | DO | {"to"} or (self.takes_object(at + 1) and plural))

    def _has_verb_behind(self, at: int) -> bool:
        """True where a word that can be nothing but a verb stands before the next mark."""
        while at < self._end and self.word(at) not in (",", ";", ":"):
            word = self.word(at)
            if word in BE or word in MODAL or (is_form(word, "VBD") and not lemmas(word, "NOUN") and word not in DO):
                return True
            at += 1
        return False
