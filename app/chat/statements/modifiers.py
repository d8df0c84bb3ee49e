"""Reads what is said of a noun right behind it: relative clauses, participles, appositions, brackets."""

from __future__ import annotations

from app.chat.statements.predicates import PredicateReader, Verb
from app.chat.statements.tokens import PREPOSITIONS, is_form, lemmas
from app.chat.statements.trees import Claim, Part, Term


class ModifierReader(PredicateReader):
    """Finds the modifiers of a term, each a part that can be taken out with the marks around it."""

    def modifiers(self, term: Term, at: int, *, is_subject: bool) -> tuple[list[Part], int]:
        parts: list[Part] = []
        while True:
            found = self._modifier(term, at, is_subject)
            if found is None:
                return parts, at
            part, at = found
            parts.append(part)

    def _modifier(self, term: Term, at: int, is_subject: bool) -> tuple[Part, int] | None:
        if self.word(at) in ("(", "[", "–", "—", "-"):
            return self._bracketed(term, at)
        begin = at + (self.word(at) == ",")
        found = (
            self._relative(term, begin)
            or self._participle(term, begin)
            or (self._apposed(term, begin, is_subject) if begin > at else None)
            or (self._placed(term, begin) if begin == at and (is_subject or not term.names) else None)
        )
        if found is None:
            return None
        part, end = found
        if begin > at and self.word(end) == ",":
            end = self._past_comma(end, is_subject)
        part.span = (at, end)
        return part, end

    def _past_comma(self, at: int, is_subject: bool) -> int:
        """The comma that ends what is put in belongs to it before the verb of its subject."""
        return at + 1 if is_subject else at

    def _bracketed(self, term: Term, at: int) -> tuple[Part, int] | None:
        closing = {"(": ")", "[": "]"}.get(self.word(at), self.word(at))
        end = next((k for k in range(at + 1, self.end) if self.word(k) == closing), None)
        if end is None:
            return None
        part = Part((at, end + 1))
        begin = at + 1
        found = self._relative(term, begin) or self._participle(term, begin) or self._placed(term, begin)
        if found is None:
            row = self.row(begin)
            if row is None:
                return None
            other, items, behind = row
            if items:
                for name, place, item in zip(other.names, other.places, items, strict=True):
                    item.claims.append(Claim("attr", term, (), Term(item.span, (name,), (place,))))
                part.rows.append(items)
            else:
                other.alias = None if other.names else term
                part.claims.append(Claim("attr" if other.names else "is", term, (), other))
        else:
            inner, behind = found
            part.parts.append(inner)
            part.span = (at, end + 1)
            part.claims += [Claim("kind", term, ("?",))] if behind != end else []
            return Part((at, end + 1), inner.claims, inner.rows, inner.parts, inner.chains), end + 1
        if behind != end:
            return None
        return part, end + 1

    def _relative(self, term: Term, at: int) -> tuple[Part, int] | None:
        word = self.word(at)
        if word == "whose":
            return self._whose(term, at)
        if word in PREPOSITIONS and self.word(at + 1) in ("which", "whom"):
            return self._clause_about(term, at + 2, word)
        if word in ("who", "which", "that", "whom"):
            found = self.predicates(at + 1, term) if word != "whom" else None
            if found is not None and self.begins_predicate(at + 1):
                chain, end = found
                return Part((at, end), chains=[chain]), end
            return self._clause_about(term, at + 1, "")
        if word in ("where", "when"):
            return self._clause_about(term, at + 1, "in")
        if not term.names and not term.pronoun and self.is_name(at):
            return self._clause_about(term, at, "")
        return None

    def _whose(self, term: Term, at: int) -> tuple[Part, int] | None:
        found = self.phrase(at + 1, is_subject=True)
        if found is None:
            return None
        owned, behind = found
        if owned.names or owned.holder:
            inner = owned.names and not owned.holder
            if not inner:
                return None
            named = Term(owned.span, owned.names, owned.places, nouns=owned.nouns, holder=term, article="poss")
            owned = named
        else:
            owned.holder, owned.article = term, "poss"
        parts, behind = self.modifiers(owned, behind, is_subject=True)
        said = self.predicates(behind, owned)
        if said is None:
            return None
        chain, end = said
        return Part((at, end), parts=parts, chains=[chain]), end

    def _clause_about(self, term: Term, at: int, prep: str) -> tuple[Part, int] | None:
        """A relative clause with a subject of its own: "which E2 directed", "in which E2 stars"."""
        found = self.row(at, is_subject=True)
        if found is None:
            return None
        subject, _, behind = found
        read = self._verb(behind, None)
        if read is None:
            return None
        verb, end = read
        if verb.is_copula:
            return None
        part = Part((at, end))
        if verb.strange:
            part.claims.append(Claim("kind", subject, verb.strange))
        if not prep and self.word(end) in PREPOSITIONS and not self._takes_object(end + 1):
            prep, end = self.word(end), end + 1
        part.claims.append(Claim("verb", subject, verb.words, term, prep, verb.is_passive, verb.is_negated))
        behind_verb = self._phrases(end, subject, verb, term, part)
        if behind_verb is None:
            return None
        return part, behind_verb

    def _participle(self, term: Term, at: int) -> tuple[Part, int] | None:
        word = self.word(at)
        if word == "also" or word.endswith("ly"):
            at, word = at + 1, self.word(at + 1)
        if not self.is_plain(at):
            return None
        if is_form(word, "VBN") and (self.word(at + 1) in PREPOSITIONS or not is_form(word, "VBD")):
            verb = Verb(lemmas(word, "VERB"), is_passive=True, is_copula=False, is_negated=False, strange=())
        elif is_form(word, "VBG"):
            verb = Verb(lemmas(word, "VERB"), is_passive=False, is_copula=False, is_negated=False, strange=())
        else:
            return None
        part = Part((at, at + 1))
        end = self._does_what(at + 1, term, verb, part)
        if end is None:
            return None
        chain = [part]
        part.span = (at, end)
        while self.word(end) in ("and", ","):
            more = self._participle(term, end + 1 + (self.word(end + 1) == "and"))
            if more is None:
                break
            chain.append(more[0])
            end = more[1]
        whole = Part((at, end), chains=[chain]) if len(chain) > 1 else part
        return whole, end

    def _apposed(self, term: Term, at: int, is_subject: bool) -> tuple[Part, int] | None:
        """ "E1, a film by E2," and "E1's director, E2,"."""
        found = self.phrase(at)
        if found is None or found[0].pronoun:
            return None
        other, end = found
        if other.names and term.names and not (other.nouns or other.holder):
            return None
        if not is_subject and self.begins_predicate(end):
            return None
        part = Part((at, end))
        if other.names and not term.names:
            part.claims.append(Claim("is", term, (), other))
            if term.holder is not None or term.mods:
                term.alias = other
            return part, end
        if not other.names:
            other.alias = term
        elif other.holder is None:
            return None
        part.claims.append(Claim("is", term, (), other))
        parts, end = self.modifiers(other, end, is_subject=False)
        part.parts += parts
        return part, end

    def _placed(self, term: Term, at: int) -> tuple[Part, int] | None:
        prep = self.word(at)
        if prep not in PREPOSITIONS or prep in ("before", "after", "as") or self.word(at + 1) in ("which", "whom"):
            return None
        found = self.row(at + 1)
        if found is None:
            return None
        other, row, end = found
        part = Part((at, end))
        end = self._said_of(other, end, part)
        self.of_claims(part, term, prep, other, row)
        return part, end
