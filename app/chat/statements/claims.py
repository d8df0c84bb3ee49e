"""Says whether a claim that was read is carried: terms stand for names, or for whatever fits their description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from app.chat.statements.evidence import NOTHING, Carriers, Evidence
from app.chat.statements.trees import Claim, Item, Part, Term

MAX_DEPTH: Final = 6
_HAVING: Final = frozenset({"have", "get", "feature", "include", "share"})
_LISTING: Final = frozenset({"include", "comprise", "be", "feature", "remain", "become"})
_NAMING: Final = frozenset({"name", "call", "title", "entitle"})
_SAME: Final = frozenset({"same", "common"})
_MEASURES: Final = frozenset(
    "minute hour second day week month year euro dollar eur usd pound kilogram kg gram km kilometre kilometer metre "
    "meter mile percent point star vote page cm old".split()
)

Bindings = Mapping[Term, tuple[str, ...]]
"""What pronouns and the like stand for."""


class Judge:
    """Judges claims of one reply by its evidence."""

    def __init__(self, evidence: Evidence, bindings: Bindings) -> None:
        self._evidence, self._bindings = evidence, bindings
        self._held: dict[Term, str] = {}
        self._depth = 0

    def carriers(self, claim: Claim) -> Carriers | None:
        """The facts that carry `claim`; None where it is not carried."""
        self._depth += 1
        try:
            return None if self._depth > MAX_DEPTH else self._carried(claim)
        finally:
            self._depth -= 1

    def _carried(self, claim: Claim) -> Carriers | None:
        found = self._own(claim)
        for other in claim.others:
            if found is not None:
                break
            found = self.carriers(other)
        return found

    def _own(self, claim: Claim) -> Carriers | None:
        if claim.kind == "kind":
            return self._of_all(self.stands_for(claim.subject), lambda name: self._evidence.kind(name, claim.words))
        if claim.is_negated:
            return self._negated(claim)
        if claim.kind == "count":
            return self._counted(claim)
        if claim.object is None:
            return self._alone(claim)
        if claim.kind == "compare":
            return self._pairs(claim, self._evidence.compared)
        if claim.kind == "of":
            return self._placed(claim)
        if claim.kind == "attr":
            return self._pairs(claim, self._called)
        return self._is(claim) if claim.kind == "is" else self._done(claim)

    def stands_for(self, term: Term) -> tuple[str, ...]:
        """The names that `term` stands for; empty where it describes something that none is known for."""
        if term in self._held:
            return (self._held[term],)
        if term.alias is not None:
            return self.stands_for(term.alias)
        if term.names:
            return term.names
        if term in self._bindings:
            return self._bindings[term]
        if len(term.attrs) == 1 and term.head in _MEASURES:
            return term.attrs
        return ()

    def _pairs(self, claim: Claim, carry: Callable[[str, str, Claim], Carriers | None]) -> Carriers | None:
        """Every subject with every object; of what is described, any that fits the description."""
        assert claim.object is not None
        return self._each(
            claim.subject, lambda one: self._each(claim.object, lambda other: carry(one, other, claim))
        )

    def _each(self, term: Term | None, carry: Callable[[str], Carriers | None]) -> Carriers | None:
        if term is None:
            return None
        names = self.stands_for(term)
        if names:
            described = self._described(term, names)
            if described is None:
                return None
            said = self._of_any(names, carry) if term.is_either else self._of_all(names, carry)
            return None if said is None else said | described
        for name, facts in self._fitting(term):
            said = carry(name)
            if said is not None:
                return said | facts
        return None

    def _described(self, term: Term, names: Sequence[str]) -> Carriers | None:
        """What stands before a name says something of it: "its director E2", "the V1 film E1"."""
        if not term.names or not (term.nouns or term.attrs or term.holder):
            return NOTHING
        return self._of_all(names, lambda name: self.fits(term, name))

    def _of_all(self, names: Iterable[str], carry: Callable[[str], Carriers | None]) -> Carriers | None:
        found: Carriers | None = None
        for name in names:
            said = carry(name)
            if said is None:
                return None
            found = (found or NOTHING) | said
        return found

    def _of_any(self, names: Iterable[str], carry: Callable[[str], Carriers | None]) -> Carriers | None:
        return next((said for name in names if (said := carry(name)) is not None), None)

    def _fitting(self, term: Term) -> list[tuple[str, Carriers]]:
        """All names of the evidence that a description fits."""
        if term.pronoun or (term.count or 0) > 1:
            return []
        found = ((name, self.fits(term, name)) for name in self._evidence.names)
        return [(name, facts) for name, facts in found if facts is not None]

    def fits(self, term: Term, name: str) -> Carriers | None:
        """The facts by which `name` is what `term` describes; None where it is not."""
        facts = self._called_so(term, name)
        for attr in term.attrs if facts is not None else ():
            said = self._evidence.before_noun(name, attr)
            if said is None and term.nouns:
                said = self._evidence.role(attr, term.nouns, name)
            facts = None if said is None or facts is None else facts | said
        before = self._held.get(term)
        self._held[term] = name
        for claim in _claims_of(term.mods) if facts is not None else ():
            said = self.carriers(claim)
            facts = None if said is None or facts is None else facts | said
        if before is None:
            del self._held[term]
        else:
            self._held[term] = before
        return facts

    def _called_so(self, term: Term, name: str) -> Carriers | None:
        if term.holder is not None:
            return self._each(term.holder, lambda holder: self._role_of(holder, term, name))
        said = self._evidence.kind(name, term.nouns)
        if said is None and len(term.attrs) == 1:
            return self._evidence.role(term.attrs[0], term.nouns, name)
        return said

    def _role_of(self, holder: str, term: Term, name: str) -> Carriers | None:
        said = self._evidence.role(holder, term.nouns, name)
        if said is None and term.nouns:
            by = self._evidence.prep(name, "of", holder) or self._evidence.category(name, holder)
            kind = self._evidence.kind(name, term.nouns)
            return None if by is None or kind is None else by | kind
        return said

    def _called(self, name: str, other: str, _claim: Claim) -> Carriers | None:
        return self._evidence.before_noun(name, other) or self._evidence.category(name, other)

    def _placed(self, claim: Claim) -> Carriers | None:
        def carry(one: str, other: str, _claim: Claim) -> Carriers | None:
            return self._evidence.prep(one, claim.prep, other)

        return self._pairs(claim, carry)

    def _done(self, claim: Claim) -> Carriers | None:
        found = self._pairs(claim, self._evidence.verb)
        target = claim.object
        if found is not None or target is None or claim.is_passive:
            return self._named(claim) if found is None else found
        if _HAVING.intersection(claim.words) and not claim.prep:
            return self._had(claim, target)
        if _HAVING.intersection(claim.words) and claim.prep == "as" and claim.others:
            return self._had_as(claim, target)
        if _LISTING.intersection(claim.words) and not claim.prep:
            return self._is(claim)
        return None

    def _named(self, claim: Claim) -> Carriers | None:
        """ "A director named E2"."""
        if claim.prep or not claim.is_passive or not _NAMING.intersection(claim.words) or claim.object is None:
            return None
        is_same = self.stands_for(claim.subject) == self.stands_for(claim.object)
        return NOTHING if is_same and claim.object.names else None

    def _had(self, claim: Claim, target: Term) -> Carriers | None:
        """ "E1 has V1 beds", "E1 has a director", "E1 and E2 share a director"."""
        subjects = self.stands_for(claim.subject)
        if not target.nouns or target.holder or target.mods or not subjects:
            return None
        nouns = tuple(noun for noun in target.nouns if noun not in _SAME)
        if "share" in claim.words or len(nouns) < len(target.nouns):
            return self._shared(subjects, nouns) if len(subjects) > 1 else None
        if target.attrs:
            return self._of_all(
                subjects,
                lambda one: self._of_all(target.attrs, lambda attr: self._evidence.role(one, nouns, attr)),
            )
        if target.article not in ("a", "an", ""):
            return None
        return self._of_all(subjects, lambda one: next((f for _, f in self._evidence.roles(one, nouns)), None))

    def _had_as(self, claim: Claim, target: Term) -> Carriers | None:
        """ "E1 has E2 as its director"."""
        owned = claim.others[0].subject
        nouns = target.nouns
        return self._each(
            claim.subject, lambda one: self._each(owned, lambda other: self._evidence.role(one, nouns, other))
        )

    def _shared(self, subjects: Sequence[str], nouns: Sequence[str]) -> Carriers | None:
        first = self._evidence.roles(subjects[0], nouns)
        for there, facts in first:
            others = self._of_all(subjects[1:], lambda one, there=there: self._evidence.role(one, nouns, there))  # type: ignore[misc]
            if others is not None:
                return facts | others
        return None

    def _is(self, claim: Claim) -> Carriers | None:
        subject, target = claim.subject, claim.object
        assert target is not None
        if target.names and not (target.nouns or target.holder or target.attrs):
            if not self.stands_for(subject) or (subject.alias is not None and subject.alias.names == target.names):
                return self._each(target, lambda name: self.fits(subject, name))
            return self._pairs(claim, lambda one, other, _claim: self._evidence.category(one, other))
        if target.names:
            return self._each(
                subject, lambda one: self._of_all(target.names, lambda name: self._same(one, name, target))
            )
        return self._each(subject, lambda one: self.fits(target, one))

    def _same(self, one: str, name: str, target: Term) -> Carriers | None:
        """ "It is the E5 film E1" says what it is; "its genre is the genre E5" that it has it."""
        if one == name:
            return self.fits(target, one)
        said, kind = self._evidence.category(one, name), self.fits(target, name)
        return None if said is None or kind is None else said | kind

    def _alone(self, claim: Claim) -> Carriers | None:
        """A verb without an object: that it was done at all."""
        for prep in ("", "in", "on", "at", "for", "with", "by", "to"):
            asked = Claim("verb", claim.subject, claim.words, None, prep, claim.is_passive)
            said = self._of_all(
                self.stands_for(claim.subject), lambda one, asked=asked: self._any(one, asked)  # type: ignore[misc]
            )
            if said is not None:
                return said
        return None

    def _any(self, name: str, claim: Claim) -> Carriers | None:
        return frozenset(step.fact for step in self._evidence.verb_steps(name, claim)) or None

    def _counted(self, claim: Claim) -> Carriers | None:
        target, subjects = claim.object, self.stands_for(claim.subject)
        if target is None or target.count is None or target.mods or target.holder or target.attrs or not subjects:
            return None
        count, bound = target.count, target.bound

        def carry(name: str) -> Carriers | None:
            steps = self._evidence.verb_steps(name, claim)
            if claim.kind == "count" and claim.prep and not claim.words:
                steps = self._evidence.prep_steps(name, claim.prep)
            fitting = self._evidence.fits(steps, target.nouns) if target.nouns else steps
            if not claim.words or _HAVING.intersection(claim.words):
                fitting = [*fitting, *self._evidence.role_steps(name, target.nouns)]
            return self._evidence.counted(name, fitting, bound, count)

        return self._of_all(subjects, carry)

    def _negated(self, claim: Claim) -> Carriers | None:
        """Carried only where the house says that it is not so."""
        target = claim.object
        if target is None or claim.others or not target.names or claim.kind not in ("verb", "of", "is"):
            return self._is_none(claim) if target is not None else None

        def carry(one: str) -> Carriers | None:
            if claim.kind == "verb":
                steps = self._evidence.verb_steps(one, claim)
            elif claim.kind == "is":
                return self._is_not(claim, target, one)
            else:
                steps = [step for step in self._evidence.prep_steps_of(one, claim.prep)]
            fitting = [step for step in steps if self._evidence.is_alike(step.there, target.names[0])]
            return self._of_all(target.names, lambda name: self._evidence.is_not(one, fitting, name))

        subjects = self.stands_for(claim.subject)
        if not subjects and claim.kind == "is":
            return self._is_not(claim, target, "")
        return self._of_all(subjects, carry)

    def _is_not(self, claim: Claim, target: Term, one: str) -> Carriers | None:
        subject = claim.subject
        if not one and subject.holder is not None:
            return self._each(subject.holder, lambda holder: self._not_role(holder, subject.nouns, target.names))
        if target.names and not (target.nouns or target.holder):
            return self._of_all(
                target.names,
                lambda name: self._evidence.is_not(one, self._evidence.category_steps(one), name),
            )
        return None

    def _is_none(self, claim: Claim) -> Carriers | None:
        """ "E2 is not the director of E1"."""
        target = claim.object
        if claim.kind != "is" or target is None or target.holder is None or target.mods or target.attrs:
            return None
        return self._of_all(
            self.stands_for(claim.subject),
            lambda one: self._each(target.holder, lambda holder: self._not_role(holder, target.nouns, (one,))),
        )

    def _not_role(self, holder: str, nouns: Sequence[str], names: Sequence[str]) -> Carriers | None:
        steps = self._evidence.role_steps(holder, nouns)
        return self._of_all(names, lambda name: self._evidence.is_not(holder, steps, name))


def _claims_of(parts: Iterable[Part]) -> Iterable[Claim]:
    for part in parts:
        yield from claims_within(part)


def claims_within(part: Part) -> Iterable[Claim]:
    """All claims of a part and of what lies in it."""
    yield from part.claims
    rows: Iterable[Item] = (item for row in part.rows for item in row)
    for item in rows:
        yield from item.claims
    for inner in (*part.parts, *(each for chain in part.chains for each in chain)):
        yield from claims_within(inner)
