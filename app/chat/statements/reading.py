"""Judges each piece of a reply: carried by facts, saying nothing of the world, or neither, and then taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.chat.statements.absence import begins_indirect, is_absence, is_absent, is_unknowing
from app.chat.statements.carrying import (
    all_counted,
    alone_between,
    beside_row,
    called,
    checked,
    denied_between,
    fits_verb,
    had,
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
    has_truth_step,
    is_denying,
    is_so,
)
from app.chat.statements.references import Discourse, Reference
from app.chat.statements.subjects import Subjects
from app.chat.statements.talk import is_talk, names_topic
from app.chat.statements.vocabulary import check_words
from app.chat.statements.words.segments import Segment
from app.chat.statements.words.tokens import Token

_AMONG: Final = frozenset("among instance being including such namely".split())
MAX_BESIDE: Final = 3
"""Words of a comparison that say nothing of what is compared."""
MIN_TIED: Final = 2
"""Things that a piece names which says what is between them."""
_DIFFERING: Final = frozenset("another different elsewhere".split())
_NAMING: Final = frozenset("call name title".split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """`facts` is None where the piece has to go; `stood_for`: what references of it stand for, by token; `subject`:
    the thing that it is said of where it does not name it; `near`: what one that has to go may speak of without its
    name, the likeliest first; `is_whole`: it can stand alone as it is.
    """

    facts: Carriers | None
    states: bool = True
    stood_for: dict[int, tuple[Reference, str]] = field(default_factory=dict)
    subject: str = ""
    is_whole: bool = False
    near: Sequence[str] = ()


@dataclass(slots=True)
class SentenceReader:
    """Judges the pieces of one sentence, in order."""

    discourse: Discourse
    tokens: Sequence[Token]
    is_question: bool
    subjects: Subjects
    clause: Sequence[Token] = ()
    """The clause or predicate before."""
    last: Carriers = frozenset()
    """The facts of the clause before."""
    asked: int | None = None
    """Where the first clause begins that asks something; None where none begins so."""

    @property
    def evidence(self) -> Evidence:
        return self.discourse.evidence

    def judge(self, segment: Segment) -> Verdict:
        tokens = self.tokens[segment.body : segment.end]
        ahead = self.subjects.ahead() if segment.is_fronted else []
        references = self.discourse.references(self.tokens, segment.body, segment.end, ahead)
        if segment.kind == "apposed":  # "X is treated by Y, the parent of Z" tells of Y.
            references = [each for each in references if each.is_certain or each.start > segment.body]
        names = list(dict.fromkeys(token.word for token in tokens if token.is_name))
        if is_talk(tokens, names, references, is_question=self.is_question and self._is_asked(segment)):
            return Verdict(frozenset(), states=False)
        if segment.is_fronted and names_topic(tokens):
            return Verdict(frozenset(), states=False, subject=names[0])
        if segment.kind == "subject" and (verdict := self._bare(tokens, names)) is not None:
            return verdict
        if is_absence(tokens) or (begins_indirect(tokens) and is_unknowing(self.clause)):
            spoken_of = [each for each in references if tokens[0].word != "it" or each.start != segment.body]
            if len(names) + len(spoken_of) < MIN_TIED:
                return self._absent(segment, names, spoken_of)
        if len(names) > 1 and any(token.word == "respectively" for token in self.tokens):
            return Verdict(None, near=self.subjects.near(segment, names, references))
        alone = [each for each in references if not each.is_all]
        verdict = self._with(segment, names, references, {each.start: (each, each.candidates[0]) for each in alone})
        if verdict.facts is None:
            verdict = self._of_roles(segment, references) or verdict
        return replace(verdict, near=self.subjects.near(segment, names, references))

    def _absent(self, segment: Segment, names: Sequence[str], references: Sequence[Reference]) -> Verdict:
        """That something is not on record, where it is not."""
        meant = [*names, *(name for each in references for name in each.candidates[:1])]
        things = meant or self.subjects.likeliest(segment)
        tokens = self.tokens[segment.body : segment.end]
        return Verdict(frozenset() if is_absent(self.evidence, tokens, things) else None, is_whole=True)

    def _is_asked(self, segment: Segment) -> bool:
        """True of the question itself; what it says of a thing beside is stated all the same."""
        is_behind = self.asked is None or segment.start >= self.asked
        return is_behind and (segment.kind in ("clause", "predicate", "phrase") or segment.start == 0)

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
        meant += [name for each in references if each.is_all for name in each.candidates]
        places |= {at - segment.body: name for at, (_, name) in stood_for.items()}
        tokens = self.tokens[segment.body : segment.end]
        implied = self.subjects.implied(segment, names, meant)[: 1 if any(map(is_denying, tokens)) else None]
        skipped = {at for each in references if each.is_certain for at in range(each.start, each.end)}
        said = [token for at, token in enumerate(tokens, segment.body) if at not in skipped]
        if segment.kind == "clause" and not meant and self.subjects.is_open(names, implied):
            return Verdict(None)
        for subject in [implied[0] if implied else "", *implied[1:]]:
            piece = Piece(tokens, places, subject)
            facts = self._facts(piece, said, names, meant, subject, segment)
            if self._is_carried(segment, said, facts, references, subject):
                return Verdict(facts, stood_for=stood_for, subject=subject)
            if len(names) + len(meant) > 1 and segment.kind in ("clause",):
                break
        return Verdict(None)

    def _is_carried(
        self, segment: Segment, said: Sequence[Token], facts: Carriers | None, references: Sequence[Reference],
        subject: str,
    ) -> bool:  # fmt: skip
        """True where `facts` are about the subject, and about each of several that a word stands for."""
        if facts is None or not self._goes_on(segment, said, facts):
            return False
        every = [name for each in references if each.is_all for name in each.candidates]
        if facts and not is_of_all(self.evidence, facts, every):
            return False
        is_of_subject = segment.kind == "predicate" or (
            segment.kind == "relative" and has_who(self.tokens[segment.body : segment.end])
        )
        if not facts or not is_of_subject:
            return True
        meant = subject or next(iter(self.subjects.implied(segment, (), ())), "")
        return not meant or is_of(self.evidence, facts, meant)

    def _goes_on(self, segment: Segment, said: Sequence[Token], facts: Carriers) -> bool:
        """A clause without a verb, and one of those that were counted, say what the one before them says."""
        is_one = segment.kind in ("phrase", "apposed", "participle") and any(token.word in _AMONG for token in said)
        is_one = is_one or (segment.kind == "apposed" and segment.start > 0 and len(said) == 1)
        if not (segment.kind == "gapped" or is_one) or not self.last or not facts:
            return True
        return not self.evidence.labels(facts).isdisjoint(self.evidence.labels(self.last))

    def _facts(
        self, piece: Piece, said: Sequence[Token], names: Sequence[str], meant: Sequence[str], subject: str,
        segment: Segment,
    ) -> Carriers | None:  # fmt: skip
        evidence, words = self.evidence, content(said)
        things = list(dict.fromkeys([*names, *meant]))
        everyone = things if len(things) > 1 or not subject else [*things, subject]
        denies = any(map(is_denying, said))
        for name in dict.fromkeys([*things, *filter(None, [subject])]):
            if has_truth_step(evidence, name, words) and not [each for each in names if each != name]:
                return checked(self.evidence, piece, said, is_so(evidence, name, words, denies=denies), everyone)
        found = comparator(piece.tokens)
        if found is not None and not (segment.kind == "gapped" and found[0] in ("before", "after")):
            return self._compared(piece, said, subject, found, denies=denies)
        if denies:
            return denied_between(evidence, [*names, *meant], subject, words)
        if any(token.word in EXCLUDING for token in said if not token.is_name):
            rest = [token for token in said if token.is_name or token.word not in EXCLUDING]
            facts = alone_between(evidence, piece, [*names, *meant], subject)
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
            recent = self.discourse.recent([token.word for token in self.tokens if token.is_name])
            ordered += [name for name in recent if name != ordered[0] and self.evidence.kinds(name) == kinds][:1]
        if len(ordered) < 2 or denies or len(ordered) > 2:
            return None
        facts = compared(self.evidence, ordered[0], ordered[1], word, content(said))
        if facts is None:
            return None
        steps = [step for step in self.evidence.steps(ordered[0]) if step.fact in facts]
        check = check_words(self.evidence, said, steps, ordered)
        return None if len(check.unknown) > MAX_BESIDE else facts

    def _plain(
        self, piece: Piece, said: Sequence[Token], names: Sequence[str], meant: Sequence[str], subject: str, *,
        has_subject: bool,
    ) -> Carriers | None:  # fmt: skip
        evidence, clause = self.evidence, () if has_subject else self.clause
        steps: list[Step] = []
        shared = steps_shared(self.evidence, names, meant, content(said))
        is_figure = any(token.is_number for token in said) and not counts_in(piece.tokens)  # A year nobody gave.
        if is_figure or (not shared and says_shared(said)) or any(token.word in _DIFFERING for token in said):
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
            return called(self.evidence, piece, said, [*names, *meant], subject) or had(evidence, piece, subject)
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
