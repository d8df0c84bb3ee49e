"""Reads predicates: a verb with its auxiliaries, and what it says of its subject, as claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.chat.statements.noun_phrases import NounPhraseReader
from app.chat.statements.tokens import (
    BE,
    DO,
    HAVE,
    MODAL,
    NEGATIONS,
    PREPOSITIONS,
    SHADES,
    is_form,
    lemmas,
)
from app.chat.statements.trees import Claim, Item, Part, Term

_PARTICLES: Final = frozenset("out up off down away back together along over".split())
_SEMI: Final = frozenset("happen seem appear use go get turn prove know say believe think report tend come".split())
_HIDDEN: Final = ("there",)
_MORE: Final = ("earlier", "later", "sooner")


@dataclass(slots=True)
class Verb:
    """`words`: what its base form may be, particle included."""

    words: tuple[str, ...]
    is_passive: bool
    is_copula: bool
    is_negated: bool
    strange: tuple[str, ...]


class PredicateReader(NounPhraseReader):
    """Reads what is said of a subject."""

    def predicates(self, at: int, subject: Term, after: Verb | None = None) -> tuple[list[Part], int] | None:
        """One predicate, or several in a row."""
        found = self.predicate(at, subject, after)
        if found is None:
            return None
        part, verb, end = found
        chain = [part]
        while True:
            begin = end + (self.word(end) == ",")
            if self.word(begin) in ("and", "but", "or", "then") or (begin > end and self._is_joined_later(begin)):
                begin += self.word(begin) in ("and", "but", "or", "then")
            if begin == end:
                break
            more = self.predicate(begin, subject, verb)
            if more is None:
                break
            part, verb, end = more
            chain.append(part)
        return chain, end

    def _is_joined_later(self, at: int) -> bool:
        """ "Wrote E1, directed E2 and produced E3": a row of predicates ends in "and"."""
        return self.begins_predicate(at) and any(self.word(k) == "and" for k in range(at, self.end))

    def predicate(self, at: int, subject: Term, after: Verb | None = None) -> tuple[Part, Verb, int] | None:
        read = self._verb(at, after)
        if read is None:
            return None
        verb, end = read
        part = Part((at, end))
        found = self._is_what(end, subject, verb, part) if verb.is_copula else self._does_what(end, subject, verb, part)
        if found is None:
            return None
        end = self._shaded(found)
        if verb.strange:
            part.claims.append(Claim("kind", subject, verb.strange))
        part.span = (at, end)
        return part, verb, end

    def _verb(self, at: int, after: Verb | None) -> tuple[Verb, int] | None:
        last, negated, strange = "", False, []
        if after is not None and (after.is_passive or after.is_copula) and is_form(self.word(at), "VBN"):
            last = "be" if self.word(at + 1) in PREPOSITIONS or not is_form(self.word(at), "VBD") else ""
        while at < self.end:
            word = self.word(at)
            if word in NEGATIONS:
                negated, at = not negated, at + 1
            elif word in BE or (word == "'s" and last == ""):
                last, at = "be", at + 1
            elif word in MODAL:
                last, at = "modal", at + 1
            elif word in DO and self._is_auxiliary(at, "VB"):
                last, at = "modal", at + 1
            elif word in HAVE and self._is_auxiliary(at, "VBN"):
                last, at = "have", at + 1
            elif word in SHADES or self._is_adverb(at, last):
                strange += [] if word in SHADES else [word]
                at += 1
            elif self._is_semi(at, last):
                at, last = at + 2, "modal"
            else:
                break
        return self._main(at, last, negated, tuple(strange))

    def _is_auxiliary(self, at: int, form: str) -> bool:
        at += 1
        while self.word(at) in NEGATIONS or self.word(at) in SHADES or self._is_adverb(at, ""):
            at += 1
        word = self.word(at)
        return word == "been" or (bool(word) and (is_form(word, form) or (form == "VB" and word in ("have", "be"))))

    def _is_adverb(self, at: int, last: str) -> bool:
        word = self.word(at)
        is_adverb = word.endswith("ly") and bool(lemmas(word, "ADV")) and not lemmas(word, "VERB")
        return is_adverb and (not last or self.is_word(at + 1))

    def _is_semi(self, at: int, last: str) -> bool:
        word = self.word(at)
        if self.word(at + 1) != "to" or not (self.word(at + 2) in (*HAVE, *BE) or is_form(self.word(at + 2), "VB")):
            return False
        return not _SEMI.isdisjoint(lemmas(word, "VERB"))

    def _main(self, at: int, last: str, negated: bool, strange: tuple[str, ...]) -> tuple[Verb, int] | None:
        word = self.word(at)
        passive = last == "be" and is_form(word, "VBN") and not self._is_plain_noun(at)
        if last == "be" and not passive and not (is_form(word, "VBG") and not self._is_plain_noun(at)):
            return Verb((), is_passive=False, is_copula=True, is_negated=negated, strange=strange), at
        forms = {"be": "", "have": "VBN", "modal": "VB"}
        wanted = forms.get(last, "VBD VBZ VB") if last else "VBD VBZ VB"
        if not self.is_word(at) or not (
            passive or last == "be" or any(is_form(word, form) for form in wanted.split())
        ):
            return None
        if word in SHADES or word in PREPOSITIONS:
            return None
        particle = self.word(at + 1) if self.word(at + 1) in _PARTICLES else ""
        bases = tuple(f"{base} {particle}".strip() for base in lemmas(word, "VERB"))
        end = at + 1 + bool(particle)
        return Verb(bases, passive, is_copula=False, is_negated=negated, strange=strange), end

    def _is_plain_noun(self, at: int) -> bool:
        return bool(lemmas(self.word(at), "NOUN")) and not is_form(self.word(at), "VBN") and self.word(at + 1) != "by"

    def _shaded(self, at: int) -> int:
        while self.word(at) in SHADES and not self._begins_clause(at):
            at += 1
        return at

    def _begins_clause(self, at: int) -> bool:
        return self.word(at) in ("while", "then", "so") and (self.is_name(at + 1) or self.is_word(at + 1))

    def _does_what(self, at: int, subject: Term, verb: Verb, part: Part) -> int | None:
        """Objects and prepositional phrases of a full verb."""
        at = self._shaded(at)
        target: Term | None = None
        row: list[Item] = []
        if not (self.word(at) in PREPOSITIONS and self.word(at) not in ("over", "about")):
            found = self.row(at)
            if found is not None and self._is_object(at, found[0]):
                target, row, at = found
                at = self._said_of(target, at, part)
        if target is not None:
            self._object_claims(subject, verb, target, row, part)
        return self._phrases(at, subject, verb, target, part)

    def _is_object(self, at: int, term: Term) -> bool:
        return not (term.is_bare and not term.article and self.word(at).endswith("ly"))

    def _object_claims(self, subject: Term, verb: Verb, target: Term, row: Sequence[Item], part: Part) -> None:
        if target.count is not None and not target.names:
            kind_claim = Claim("count", subject, verb.words, target, "", verb.is_passive, verb.is_negated)
            part.claims.append(kind_claim)
            return
        if not target.names and self._goes_on_with(target.span[1]):
            return
        self.add(part, subject, verb, "", target, row)

    def _goes_on_with(self, at: int) -> bool:
        return self.word(at) in PREPOSITIONS and self.word(at) not in ("before", "after", "since")

    def add(
        self, part: Part, subject: Term, verb: Verb, prep: str, target: Term, row: Sequence[Item],
        others: tuple[Claim, ...] = (),
    ) -> None:  # fmt: skip
        """One claim of all, or one for each item of a row."""
        if not row:
            part.claims.append(
                Claim("verb", subject, verb.words, target, prep, verb.is_passive, verb.is_negated, others)
            )
            return
        if target.is_either or verb.is_negated:
            part.claims.append(
                Claim("verb", subject, verb.words, target, prep, verb.is_passive, verb.is_negated, others)
            )
            return
        for name, place, item in zip(target.names, target.places, row, strict=True):
            one = Term(item.span, (name,), (place,), nouns=target.nouns, attrs=target.attrs)
            item.claims.append(Claim("verb", subject, verb.words, one, prep, verb.is_passive, verb.is_negated, others))
        part.rows.append(list(row))

    def _said_of(self, term: Term, at: int, part: Part) -> int:
        """Modifiers behind an object: parts of their own where it is named, conditions where it is described."""
        parts, end = self.modifiers(term, at, is_subject=False)
        if term.names or term.alias:
            part.parts += parts
        else:
            term.mods += parts
        return end

    def _phrases(self, at: int, subject: Term, verb: Verb, target: Term | None, part: Part) -> int | None:
        found_any = target is not None
        while True:
            at = self._shaded(at)
            if (end := self._than(at, subject, verb, part)) is not None:
                at, found_any = end, True
                continue
            begin = at + (self.word(at) in (",", "and") and self.word(at + 1) in PREPOSITIONS and found_any)
            prep = self.word(begin)
            if prep not in PREPOSITIONS or self.word(begin + 1) in ("which", "whom"):
                break
            found = self.row(begin + 1)
            if found is None:
                return None if begin == at else at
            other, row, at = found
            at = self._said_of(other, at, part)
            self._phrase_claims(subject, verb, target, (prep, other, row), part)
            found_any = True
        if not found_any:
            part.claims.append(Claim("verb", subject, verb.words, None, "", verb.is_passive, verb.is_negated))
        return at

    def _phrase_claims(
        self, subject: Term, verb: Verb, target: Term | None, phrase: tuple[str, Term, list[Item]], part: Part
    ) -> None:
        prep, other, row = phrase
        others: tuple[Claim, ...] = ()
        if target is not None and (target.names or target.pronoun):
            others = (
                Claim("of", target, (), other, prep, is_negated=verb.is_negated),
                Claim("verb", target, verb.words, other, prep, not verb.is_passive, verb.is_negated),
            )
        elif target is not None:
            joint = tuple(f"{base} {target.head}" for base in verb.words)
            described = Term(target.span, nouns=target.nouns, attrs=target.attrs, holder=target.holder)
            described.article, described.count, described.bound = target.article, target.count, target.bound
            described.mods = [*target.mods, Part(other.span, [Claim("of", described, (), other, prep)])]
            whole = Claim("verb", subject, verb.words, described, "", verb.is_passive, verb.is_negated)
            if target.count is None and not target.attrs and not target.mods and len(target.nouns) == 1:
                others = (Claim("verb", subject, joint, other, prep, verb.is_passive, verb.is_negated),)
            others = (whole, *others)
        self.add(part, subject, verb, prep, other, row, others)

    def _than(self, at: int, subject: Term, verb: Verb, part: Part) -> int | None:
        """ "Before E2", "earlier than E2 did": a comparison with another thing."""
        word = self.word(at)
        if word in _MORE and self.word(at + 1) == "than":
            prep, begin = ("before" if word != "later" else "after"), at + 2
        elif word in ("before", "after"):
            prep, begin = word, at + 1
        else:
            return None
        found = self.phrase(begin)
        if found is None or not (found[0].names or found[0].pronoun or found[0].holder):
            return None
        other, end = found
        if self.word(end) in (*DO, "was", "is", "were"):
            end += 1
        part.claims.append(Claim("compare", subject, verb.words, other, prep, verb.is_passive, verb.is_negated))
        return end

    def _is_what(self, at: int, subject: Term, verb: Verb, part: Part) -> int | None:
        """The complement of "to be": a comparison, a phrase with a preposition, a name or a noun."""
        at = self._shaded(at)
        if (end := self._compared(at, subject, verb, part)) is not None:
            return end
        if self.word(at) in PREPOSITIONS:
            found = self.row(at + 1)
            if found is None:
                return None
            other, row, end = found
            end = self._said_of(other, end, part)
            self.of_claims(part, subject, self.word(at), other, row, is_negated=verb.is_negated)
            return self._more_phrases(end, subject, verb, part)
        return self._is_noun(at, subject, verb, part)

    def of_claims(
        self, part: Part, subject: Term, prep: str, other: Term, row: Sequence[Item], *, is_negated: bool = False
    ) -> None:
        if not row or other.is_either or is_negated:
            part.claims.append(Claim("of", subject, (), other, prep, is_negated=is_negated))
            return
        for name, place, item in zip(other.names, other.places, row, strict=True):
            item.claims.append(Claim("of", subject, (), Term(item.span, (name,), (place,)), prep))
        part.rows.append(list(row))

    def _more_phrases(self, at: int, subject: Term, verb: Verb, part: Part) -> int:
        while self.word(at) in PREPOSITIONS and self.word(at + 1) not in ("which", "whom"):
            prep = self.word(at)
            found = self.row(at + 1)
            if found is None:
                break
            other, row, end = found
            at = self._said_of(other, end, part)
            self.of_claims(part, subject, prep, other, row, is_negated=verb.is_negated)
        return at

    def _compared(self, at: int, subject: Term, verb: Verb, part: Part) -> int | None:
        """ "Older than E2", "more expensive than E2"."""
        if self.word(at) in ("much", "slightly", "somewhat", "far", "even"):
            at += 1
        words = self.word(at)
        end = at + 1
        if words in ("more", "less") and self.is_plain(end):
            words, end = f"{words} {self.word(end)}", end + 1
        if self.word(end) != "than":
            return None
        found = self.phrase(end + 1)
        if found is None:
            return None
        other, end = found
        if self.word(end) in BE:
            end += 1
        part.claims.append(Claim("compare", subject, (words,), other, "than", is_negated=verb.is_negated))
        return end

    def _is_noun(self, at: int, subject: Term, verb: Verb, part: Part) -> int | None:
        found = self.row(at)
        if found is None:
            return self._is_adjective(at, subject, verb, part)
        term, row, end = found
        if not term.names and not term.pronoun:
            term.alias = subject
        parts, end = self.modifiers(term, end, is_subject=False)
        part.parts += parts
        if self.word(end) in PREPOSITIONS and not term.names:
            return self._noun_phrases(end, subject, verb, term, part)
        if row and not term.is_either and not verb.is_negated:
            for name, place, item in zip(term.names, term.places, row, strict=True):
                item.claims.append(Claim("is", subject, (), Term(item.span, (name,), (place,))))
            part.rows.append(list(row))
        else:
            part.claims.append(Claim("is", subject, (), term, is_negated=verb.is_negated))
        return self._further_nouns(end, subject, verb, part)

    def _noun_phrases(self, at: int, subject: Term, verb: Verb, term: Term, part: Part) -> int | None:
        """ "A film by E2", "friends with E2", "in charge of E2": the noun alone, or with its preposition."""
        prep = self.word(at)
        found = self.row(at + 1)
        if found is None:
            part.claims.append(Claim("is", subject, (), term, is_negated=verb.is_negated))
            return at
        other, row, end = found
        end = self._said_of(other, end, part)
        described = Term(term.span, nouns=term.nouns, attrs=term.attrs, holder=term.holder, alias=subject)
        described.article = term.article
        described.mods = [Part(other.span, [Claim("of", described, (), other, prep)])]
        whole = Claim("is", subject, (), described, is_negated=verb.is_negated)
        words = (f"be {term.head}",)
        joint = Claim("verb", subject, words, other, prep, is_negated=verb.is_negated, others=(whole,))
        part.claims.append(joint)
        return self._more_phrases(end, subject, verb, part)

    def _further_nouns(self, at: int, subject: Term, verb: Verb, part: Part) -> int:
        """ "A director and a writer"."""
        while self.word(at) in ("and", ",") and self.word(at + 1) in ("a", "an", "the") and not verb.is_negated:
            found = self.phrase(at + 1)
            if found is None or self.begins_predicate(found[1]):
                break
            term, end = found
            if not term.names:
                term.alias = subject
            more = Part((at, end), [Claim("is", subject, (), term)])
            parts, end = self.modifiers(term, end, is_subject=False)
            more.parts += parts
            more.span = (at, end)
            part.parts.append(more)
            at = end
        return at

    def _is_adjective(self, at: int, subject: Term, verb: Verb, part: Part) -> int | None:
        if at >= self.end or self.word(at) in (",", "and", "but", ".", "!"):
            return None
        return None
