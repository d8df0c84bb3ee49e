"""Judges each piece of a reply: carried by facts, saying nothing of the world, or neither, and then taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from app.chat.statements.carrying import (
    MAX_UNKNOWN,
    all_counted,
    alone,
    beside_row,
    called,
    checked,
    fits_verb,
    says_shared,
    steps_shared,
)
from app.chat.statements.coverage import has_who, is_of, is_of_all
from app.chat.statements.directions import Piece
from app.chat.statements.evidence import Evidence, Step
from app.chat.statements.quantities import (
    EXCLUDING,
    Carriers,
    comparator,
    compared,
    content,
    counts_in,
    denied,
    has_truth_step,
    is_denying,
    is_so,
)
from app.chat.statements.references import Discourse, Reference
from app.chat.statements.segments import Segment
from app.chat.statements.talk import is_talk, names_topic
from app.chat.statements.vocabulary import check_words
from app.chat.statements.words.tokens import Token

MAX_IMPLIED: Final = 3
MAX_OPEN: Final = 3
"""References of a piece up to which each is tried with all that it may stand for."""
_AMONG: Final = frozenset("among instance being including such namely".split())
_NAMING: Final = frozenset("call name title".split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """`facts` is None where the piece has to go; `stood_for`: what references of it stand for, by token; `subject`:
    the thing that it is said of where it does not name it; `near`: what one that has to go may speak of without its
    name, the likeliest first.
    """

    facts: Carriers | None
    states: bool = True
    stood_for: dict[int, tuple[Reference, str]] = field(default_factory=dict)
    subject: str = ""
    near: Sequence[str] = ()


@dataclass(slots=True)
class SentenceReader:
    """Judges the pieces of one sentence, in order."""

    discourse: Discourse
    tokens: Sequence[Token]
    is_question: bool
    subjects: list[str] = field(default_factory=list)
    clause: Sequence[Token] = ()
    """The clause or predicate before."""
    front: int = 0
    """Where the first piece begins that is not fronted."""
    last: Carriers = frozenset()
    """The facts of the clause before."""

    @property
    def evidence(self) -> Evidence:
        return self.discourse.evidence

    def judge(self, segment: Segment) -> Verdict:
        tokens = self.tokens[segment.body : segment.end]
        ahead = [token.word for token in self.tokens[self.front :] if token.is_name] if segment.is_fronted else []
        references = self.discourse.references(self.tokens, segment.body, segment.end, ahead)
        names = list(dict.fromkeys(token.word for token in tokens if token.is_name))
        if is_talk(tokens, names, references, is_question=self.is_question and self._is_asked(segment)):
            return Verdict(frozenset(), states=False)
        if segment.is_fronted and names_topic(tokens):
            return Verdict(frozenset(), states=False, subject=names[0])
        if segment.kind == "subject" and (verdict := self._bare(tokens, names)) is not None:
            return verdict
        alone = [each for each in references if not each.is_all]
        denies = any(map(is_denying, tokens))
        tried = 1 if denies or len(alone) > MAX_OPEN else None
        for chosen in product(*(each.candidates[:tried] for each in alone)):
            stood_for = {each.start: (each, name) for each, name in zip(alone, chosen, strict=True)}
            verdict = self._with(segment, names, references, stood_for)
            if verdict.facts is not None:
                return verdict
        return self._of_roles(segment, references) or Verdict(None, near=self._near(segment, names, references))

    def _near(self, segment: Segment, names: Sequence[str], references: Sequence[Reference]) -> list[str]:
        """What the references stand for, the subject, and whatever the sentence and those before it speak of; nothing
        for a clause about one thing that it names."""
        meant = [name for each in references for name in each.candidates[: None if each.is_all else 1]]
        if segment.kind == "clause" and not meant and len(names) == 1 and names[0][0] != "V":
            return []
        before = [token.word for token in reversed(self.tokens[: segment.start]) if token.is_name]
        behind = [token.word for token in self.tokens[segment.end :] if token.is_name]
        near = [*meant, *self._implied(segment, names, meant), *self.subjects[-1:], *before, *behind]
        return list(dict.fromkeys([*near, *self.discourse.subjects[-1:], *self.discourse.recent(())]))

    def _is_asked(self, segment: Segment) -> bool:
        """True of the question itself; what it says of a thing beside is stated all the same."""
        return segment.kind in ("clause", "predicate", "phrase") or segment.start == 0

    def _of_roles(self, segment: Segment, references: Sequence[Reference]) -> Verdict | None:
        """ "The director of E1 was born in E2": the one who is that by the facts."""
        found = self.discourse.role_reference(self.tokens, segment.body, segment.end)
        if (
            found is None
            or self.tokens[min(found.end, segment.end - 1)].is_name
            or any(each.candidates for each in references if each.start >= found.end)
        ):
            return None
        names = [self.tokens[at].word for at in range(found.end, segment.end) if self.tokens[at].is_name]
        for name in found.candidates:
            verdict = self._with(segment, names, [found], {found.start: (found, name)})
            if names and verdict.facts and content(self.tokens[found.end : segment.end]):
                return Verdict(verdict.facts, subject=name)
        return None

    def _bare(self, tokens: Sequence[Token], names: Sequence[str]) -> Verdict | None:
        """A subject that stands alone says nothing, but what it is called."""
        check = check_words(self.evidence, tokens, (), names)
        if check.fitting or check.foreign or check.unknown or len(names) != 1:
            return None
        return Verdict(frozenset(), states=False, subject=names[0])

    def _with(
        self, segment: Segment, names: list[str], references: Sequence[Reference],
        stood_for: dict[int, tuple[Reference, str]],
    ) -> Verdict:  # fmt: skip
        places = {
            at - segment.body: self.tokens[at].word
            for at in range(segment.body, segment.end)
            if self.tokens[at].is_name and not any(each.start <= at < each.end for each in references)
        }
        meant = [name for _, name in stood_for.values()]
        for each in references:
            if each.is_all:
                meant += each.candidates
        places |= {at - segment.body: name for at, (_, name) in stood_for.items()}
        implied = self._implied(segment, names, meant)
        tokens = self.tokens[segment.body : segment.end]
        skipped = {at for each in references if each.is_certain for at in range(each.start, each.end)}
        said = [token for at, token in enumerate(tokens, segment.body) if at not in skipped]
        for subject in [implied[0] if implied else "", *implied[1:]]:
            piece = Piece(tokens, places, subject)
            facts = self._facts(piece, said, names, meant, subject, segment)
            if facts is not None and self._goes_on(segment, said, facts) and self._covers(segment, facts, references, subject):
                return Verdict(facts, stood_for=stood_for, subject=subject)
            if len(names) + len(meant) > 1 and segment.kind in ("clause",):
                break
        return Verdict(None)

    def _covers(self, segment: Segment, facts: Carriers, references: Sequence[Reference], subject: str) -> bool:
        """True where `facts` are about the subject, and about each of several that a word stands for."""
        every = [name for each in references if each.is_all for name in each.candidates]
        if facts and not is_of_all(self.evidence, facts, every):
            return False
        is_of_subject = segment.kind == "predicate" or (
            segment.kind == "relative" and has_who(self.tokens[segment.body : segment.end])
        )
        if not facts or not is_of_subject:
            return True
        return is_of(self.evidence, facts, subject or next(iter(self._implied(segment, (), ())), ""))

    def _goes_on(self, segment: Segment, said: Sequence[Token], facts: Carriers) -> bool:
        """A clause without a verb, and one of those that were counted, say what the one before them says."""
        is_one = segment.kind in ("phrase", "apposed", "participle") and any(token.word in _AMONG for token in said)
        is_one = is_one or (segment.kind == "apposed" and segment.start > 0 and len(said) == 1)
        if not (segment.kind == "gapped" or is_one) or not self.last or not facts:
            return True
        return not self.evidence.labels(facts).isdisjoint(self.evidence.labels(self.last))

    def _implied(self, segment: Segment, names: Sequence[str], meant: Sequence[str]) -> list[str]:
        """Things that a piece without a subject of its own may speak of, the likeliest first."""
        before = [token.word for token in self.tokens[: segment.start] if token.is_name]
        behind = [token.word for token in self.tokens[self.front :] if token.is_name]
        if segment.is_fronted and segment.kind in ("relative", "apposed", "bracket"):
            order = [*before[-1:], *behind[:1]]
        elif segment.is_fronted:
            order = [name for name in behind if name[0] != "V"] or self.discourse.recent(before)
        elif segment.kind in ("relative", "participle", "apposed", "bracket"):
            order = [*before[-1:], *self.subjects[-1:], *before[:1]]
        elif segment.kind in ("predicate", "phrase"):
            order = [*self.subjects[-1:], *before[:1], *reversed(before)]
        else:
            order = [*self.subjects[-1:], *before, *self.discourse.subjects[-1:], *self.discourse.recent(())]
        if not segment.is_fronted and not order:
            order += self.discourse.recent(before)[:MAX_IMPLIED]
        own = {*names, *meant}
        fitting = [name for name in dict.fromkeys(order) if name not in own and name[0] != "V"]
        return fitting[:MAX_IMPLIED] if not meant or len(names) + len(meant) < 2 else []

    def _facts(
        self, piece: Piece, said: Sequence[Token], names: Sequence[str], meant: Sequence[str], subject: str,
        segment: Segment,
    ) -> Carriers | None:  # fmt: skip
        evidence, words = self.evidence, content(said)
        things = list(dict.fromkeys([*names, *meant]))
        everyone = things if len(things) > 1 or not subject else [*things, subject]
        denies = any(map(is_denying, said))
        for name in [*things, *([subject] if subject else [])]:
            if has_truth_step(evidence, name, words) and not [each for each in names if each != name]:
                return checked(self.evidence, piece, said, is_so(evidence, name, words, denies=denies), everyone)
        found = comparator(piece.tokens)
        if found is not None and not (segment.kind == "gapped" and found[0] in ("before", "after")):
            return self._compared(piece, said, subject, found, denies=denies)
        if denies:
            return self._denied(names, meant, subject, words)
        if any(token.word in EXCLUDING for token in said if not token.is_name):
            rest = [token for token in said if token.is_name or token.word not in EXCLUDING]
            facts = self._alone(piece, names, meant, subject)
            return checked(evidence, piece, rest, facts, everyone) if content(rest) else facts
        return self._plain(piece, said, names, meant, subject, has_subject=self._has_subject(segment))

    def _has_subject(self, segment: Segment) -> bool:
        """True where the piece names what it speaks of; "a film by E1" behind a name does not."""
        return segment.kind in ("clause", "gapped") or (segment.kind == "apposed" and segment.start == 0)

    def _compared(
        self, piece: Piece, said: Sequence[Token], subject: str, found: tuple[str, int], *,
        denies: bool,
    ) -> Carriers | None:  # fmt: skip
        word, at = found
        ordered = [piece.places[place] for place in sorted(piece.places)]
        ordered = list(dict.fromkeys(name for name in ordered if name[0] != "V"))
        if subject and len(ordered) < 2:
            ordered = [*ordered, subject] if piece.places and min(piece.places) < at else [subject, *ordered]
        if len(ordered) == 1:
            kinds = self.evidence.kinds(ordered[0])
            before = [token.word for token in self.tokens if token.is_name]
            others = [
                name
                for name in self.discourse.recent(before)
                if name != ordered[0] and self.evidence.kinds(name) == kinds
            ]
            ordered += others[:1]
        if len(ordered) < 2 or denies or len(ordered) > 2:
            return None
        facts = compared(self.evidence, ordered[0], ordered[1], word, content(said))
        if facts is None:
            return None
        steps = [step for step in self.evidence.steps(ordered[0]) if step.fact in facts]
        check = check_words(self.evidence, said, steps, ordered)
        return None if len(check.unknown) > MAX_UNKNOWN + 2 else facts

    def _denied(
        self, names: Sequence[str], meant: Sequence[str], subject: str, words: frozenset[str]
    ) -> Carriers | None:
        ends = [*names, *meant] if len(names) + len(meant) > 1 else [*names, *meant, subject]
        if len(ends) != 2 or not all(ends):
            return None
        return denied(self.evidence, ends[0], ends[1], words) or denied(self.evidence, ends[1], ends[0], words)

    def _alone(self, piece: Piece, names: Sequence[str], meant: Sequence[str], subject: str) -> Carriers | None:
        ends = list(dict.fromkeys([*names, *meant]))
        ends = ends if len(ends) > 1 else [*ends, subject]
        return alone(self.evidence, piece, ends) if len(ends) == 2 and all(ends) else None

    def _plain(
        self, piece: Piece, said: Sequence[Token], names: Sequence[str], meant: Sequence[str], subject: str, *,
        has_subject: bool,
    ) -> Carriers | None:  # fmt: skip
        evidence, clause = self.evidence, () if has_subject else self.clause
        steps: list[Step] = []
        shared = steps_shared(self.evidence, names, meant, content(said))
        if not shared and says_shared(said):
            return None
        for name in names:
            others = beside_row(piece, name, [*names, *meant])
            found = [step for other in others for step in evidence.between(name, other)]
            if not found and subject and (len(names) + len(meant) < 2 or not has_subject):
                found = evidence.between(name, subject)
            found = found or [step for step in shared if step.name == name]
            if not found and not (counts_in(piece.tokens) and len(names) == 1):
                return self._named(piece, names, meant, subject, said)
            if found and not fits_verb([*clause, *piece.tokens], piece, name, found):
                return None
            steps += found
        facts: Carriers = frozenset(step.fact for step in steps)
        if numbers := counts_in(piece.tokens):
            owners = [name for name in [*names, *meant] if name[0] != "V"] or ([subject] if subject else [])
            more = all_counted(self.evidence, numbers, owners, content(said))
            if more is None:
                return None
            facts |= more
            steps += [step for name in evidence.names for step in evidence.steps(name) if step.fact in more]
        elif not steps:
            return called(self.evidence, piece, said, [*names, *meant], subject)
        near = [step.there for step in steps]
        return checked(
            self.evidence, piece, said, facts, [*names, *meant, *near, *([subject] if subject else [])], steps
        )

    def _named(
        self, piece: Piece, names: Sequence[str], meant: Sequence[str], subject: str, said: Sequence[Token]
    ) -> Carriers | None:
        """ "Whose name is X" of X itself."""
        check = check_words(self.evidence, said, (), names)
        if (
            _NAMING & content(piece.tokens)
            and not check.unknown
            and not check.foreign
            and len(set(names)) == 1
            and subject in ("", names[0])
            and not any(token.word == "of" for token in said)
            and not meant
        ):
            return frozenset()
        return (
            called(self.evidence, piece, said, [*names, *meant], subject) if len(names) == 1 and not subject else None
        )
