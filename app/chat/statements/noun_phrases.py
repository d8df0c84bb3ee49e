"""Reads noun phrases: pseudonyms, pronouns and described things, alone or several in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.chat.statements.tokens import (
    ARTICLES,
    BE,
    DO,
    HAVE,
    MODAL,
    NEGATIONS,
    NUMBERS,
    PERSONAL,
    POINTING,
    POSSESSIVES,
    PREPOSITIONS,
    SHADES,
    Token,
    is_form,
    is_grammar,
    lemmas,
    noun_base,
)
from app.chat.statements.trees import Item, Part, Term

_VAGUE: Final = {"several": 2, "multiple": 2, "various": 2, "some": 1, "any": 1}
_BOUNDS: Final = {
    ("at", "least"): ">=", ("more", "than"): ">", ("over",): ">", ("at", "most"): "<=", ("fewer", "than"): "<",
    ("less", "than"): "<", ("exactly",): "=", ("a", "total", "of"): "=", ("the",): "=", ("up", "to"): "<=",
}  # fmt: skip
_PARTED: Final = ("one", "two", "three", "some", "several", "many", "part")


class Cursor:
    """The tokens of a sentence, read by place."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.end = len(tokens)

    def word(self, at: int) -> str:
        """Empty behind the end, and for a pseudonym."""
        return self.tokens[at].word if 0 <= at < self.end and not self.tokens[at].is_name else ""

    def is_name(self, at: int) -> bool:
        return 0 <= at < self.end and self.tokens[at].is_name

    def is_word(self, at: int) -> bool:
        return 0 <= at < self.end and self.tokens[at].is_word

    def is_plain(self, at: int) -> bool:
        """True of a content word, and of no number."""
        return self.is_word(at) and not is_grammar(self.word(at)) and not self.tokens[at].is_number

    def begins_predicate(self, at: int) -> bool:
        """True where a finite verb stands at `at`, little words before it left out."""
        while self.word(at) in SHADES or self.word(at).endswith("ly"):
            at += 1
        word = self.word(at)
        if word in BE or word in HAVE or word in DO or word in MODAL or word in NEGATIONS:
            return word not in ("being", "having", "been", "be")
        return self.is_plain(at) and (is_form(word, "VBD") or is_form(word, "VBZ") or is_form(word, "VB"))


class NounPhraseReader(Cursor):
    """Reads a noun phrase at a place; gives it with the place behind it, or None."""

    def modifiers(self, term: Term, at: int, *, is_subject: bool) -> tuple[list[Part], int]:
        """What is said of `term` right behind it; the pieces with the place behind them."""
        raise NotImplementedError

    def phrase(self, at: int, *, is_subject: bool = False) -> tuple[Term, int] | None:
        """One noun phrase without others beside it, and without what is said of it behind a comma."""
        if self.word(at) == "both":
            at += 1
        if self.word(at) in ("there", "who", "which"):
            return None
        if self.word(at) in PERSONAL or (self.word(at) in POINTING and not self._begins_noun(at + 1)):
            return Term((at, at + 1), pronoun=self.word(at), places=(at,)), at + 1
        return self._described(at, is_subject)

    def row(self, at: int, *, is_subject: bool = False) -> tuple[Term, list[Item], int] | None:
        """A noun phrase, or several names joined by commas, "and" or "or"; then with an item for each."""
        first = self.phrase(at, is_subject=is_subject)
        if first is None:
            return None
        term, end = first
        if len(term.names) != 1 or term.holder:
            return term, [], end
        names, places, items, is_either = [*term.names], [*term.places], [Item((at, end))], False
        while (more := self._next_in_row(end, is_subject)) is not None:
            other, begin, behind, is_or = more
            names += other.names
            places += other.places
            items.append(Item((begin, behind)))
            is_either, end = is_either or is_or, behind
        if len(items) == 1:
            return term, [], end
        joined = Term((at, end), tuple(names), tuple(places), is_either, nouns=term.nouns, attrs=term.attrs)
        return joined, items, end

    def _next_in_row(self, at: int, is_subject: bool) -> tuple[Term, int, int, bool] | None:
        begin, joined = at, False
        if self.word(begin) == ",":
            begin += 1
        if self.word(begin) in ("and", "or", "&") or (self.word(begin) in ("plus",) and begin > at):
            joined, begin = True, begin + 1
        elif self.word(begin) == "as" and self.word(begin + 1) == "well" and self.word(begin + 2) == "as":
            joined, begin = True, begin + 3
        if begin == at or not self.is_name(begin):
            return None
        found = self.phrase(begin, is_subject=is_subject)
        if found is None or len(found[0].names) != 1 or found[0].holder or self.word(found[1]) == "'s":
            return None
        term, end = found
        if not joined and not self._goes_on(end):
            return None
        if not is_subject and joined and self.begins_predicate(end):
            return None
        return term, begin, end, joined and self.word(begin - 1) == "or"

    def _goes_on(self, at: int) -> bool:
        """True where a row that began with commas ends in "and": what else stands between commas is said apart."""
        while at < self.end:
            if self.word(at) in ("and", "or", "&"):
                return True
            if self.word(at) != "," and not self.is_name(at):
                return False
            at += 1
        return False

    def _described(self, at: int, is_subject: bool) -> tuple[Term, int] | None:
        start = at
        term = Term((at, at))
        at = self._counted(term, at)
        if self.word(at) in ARTICLES or self.word(at) in POINTING:
            term.article, at = term.article or self.word(at), at + 1
            at = self._counted(term, at) if term.count is None else at
        elif self.word(at) in POSSESSIVES:
            term.holder = Term((at, at + 1), pronoun=self.word(at), places=(at,))
            term.article, at = "poss", at + 1
            at = self._counted(term, at)
        elif self.word(at) == "another":
            term.article, at = "a", at + 1
        found = self._run(term, at, is_subject)
        if found is None:
            return None
        at = self._of(term, found)
        term.span = (start, at)
        return term, at

    def _counted(self, term: Term, at: int) -> int:
        for words, bound in _BOUNDS.items():
            behind = at + len(words)
            if all(self.word(at + k) == each for k, each in enumerate(words)) and self._number(behind) is not None:
                term.bound, at = bound, behind
                break
        if self.word(at) == "a" and self.word(at + 1) in ("couple", "dozen", "total"):
            at += 1
        number = self._number(at)
        if number is not None:
            term.count, at = number, at + 1
        elif self.word(at) in _VAGUE:
            term.count, term.bound, at = _VAGUE[self.word(at)], ">=", at + 1
        if term.count is not None and self.word(at) == "of" and self.word(at - 1) in (*_PARTED, "couple", "number"):
            if term.count == 1 and term.bound == "=":
                term.count = None
            at += 1
        return at

    def _number(self, at: int) -> int | None:
        word = self.word(at)
        if word.isdigit() and len(word) < 4:
            return int(word)
        return NUMBERS.get(word)

    def _run(self, term: Term, at: int, is_subject: bool) -> int | None:
        """The words and names up to the head; None where there is no head."""
        nouns: list[str] = []
        names: list[int] = []
        begin = at
        while at < self.end:
            if self.is_name(at):
                if self._is_possessive(at + 1):
                    self._own(term, nouns, names, at)
                    nouns, names, at = [], [], at + 2
                    begin = at
                    continue
                names.append(at)
                at += 1
                if not self._continues(term, at):
                    break
            elif self._is_noun_here(at, nouns, begin):
                nouns.append(self.word(at))
                at += 1
                if self._is_possessive(at) and nouns:
                    term.holder = Term((begin, at), nouns=tuple(map(noun_base, nouns)), article=term.article or "the")
                    nouns, at, term.article = [], at + 1, "poss"
                    begin = at
            else:
                break
        if not nouns and not names:
            return self._pronoun_like(term, at)
        term.is_plural = bool(nouns) and noun_base(nouns[-1]) != nouns[-1]
        if names and names[-1] == at - 1:
            term.names, term.places = (self.tokens[at - 1].word,), (at - 1,)
            names = names[:-1]
        term.attrs = tuple(self.tokens[place].word for place in names)
        term.nouns = (*nouns[:-1], noun_base(nouns[-1])) if nouns else ()
        return at

    def _pronoun_like(self, term: Term, at: int) -> int | None:
        """ "Two of them", "three" alone: a number is enough."""
        return at if term.count is not None and term.article != "poss" else None

    def _own(self, term: Term, nouns: list[str], names: list[int], at: int) -> None:
        owner = Term((at, at + 1), (self.tokens[at].word,), (at,), nouns=tuple(map(noun_base, nouns)))
        owner.attrs = tuple(self.tokens[place].word for place in names)
        term.holder, term.article = owner, "poss"

    def _is_possessive(self, at: int) -> bool:
        """True of an 's behind which a noun stands."""
        if self.word(at) not in ("'s", "'"):
            return False
        behind = self.word(at + 1)
        if self.is_name(at + 1):
            return True
        return self.is_plain(at + 1) and (bool(lemmas(behind, "NOUN")) or not is_form(behind, "VBN"))

    def _continues(self, term: Term, at: int) -> bool:
        """True where a name before `at` stands before the noun that is meant: "the V1 film"."""
        if self.is_name(at):
            return term.article != ""
        if not self.is_plain(at):
            return False
        word = self.word(at)
        if not (lemmas(word, "NOUN") or (lemmas(word, "ADJ") and not is_form(word, "VBN"))):
            return False
        if is_form(word, "VBZ") or is_form(word, "VBD"):
            return self._is_head_behind(at) and noun_base(word) == word
        if is_form(word, "VB") and not term.article and self._takes_object(at + 1):
            return False
        return True

    def _is_head_behind(self, at: int) -> bool:
        return not self._takes_object(at + 1)

    def _takes_object(self, at: int) -> bool:
        word = self.word(at)
        return self.is_name(at) or word in ARTICLES or word in PREPOSITIONS or word in POSSESSIVES or word in SHADES

    def _begins_noun(self, at: int) -> bool:
        return self.is_name(at) or (self.is_plain(at) and not self.begins_predicate(at)) or bool(
            self.is_plain(at) and lemmas(self.word(at), "NOUN") and not is_form(self.word(at), "VBD")
        )

    def _is_noun_here(self, at: int, nouns: list[str], begin: int) -> bool:
        if not self.is_plain(at):
            return False
        word = self.word(at)
        is_noun = bool(lemmas(word, "NOUN"))
        if not nouns and at == begin:
            return is_noun or bool(lemmas(word, "ADJ")) or not lemmas(word, "VERB") or is_form(word, "VBN")
        if (is_form(word, "VBD") or is_form(word, "VBN")) and not is_noun:
            return not lemmas(nouns[-1], "NOUN") if nouns else self._takes_noun(at + 1)
        if is_form(word, "VBZ") and is_noun and noun_base(word) != word and nouns:
            return not self._takes_object(at + 1) or noun_base(nouns[-1]) != nouns[-1]
        if is_form(word, "VBG") and nouns and self._takes_object(at + 1):
            return False
        if is_form(word, "VB") and nouns and noun_base(nouns[-1]) != nouns[-1] and self._takes_object(at + 1):
            return False
        return is_noun or bool(lemmas(word, "ADJ")) or not lemmas(word, "VERB") or not nouns

    def _takes_noun(self, at: int) -> bool:
        return self.is_name(at) or (self.is_plain(at) and bool(lemmas(self.word(at), "NOUN")))

    def _of(self, term: Term, at: int) -> int:
        """ "The director of E1": whose it is."""
        if self.word(at) != "of" or term.names or term.holder or not term.nouns:
            return at
        found = self.row(at + 1)
        if found is None:
            return at
        term.holder = found[0]
        return found[2]
