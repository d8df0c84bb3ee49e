"""Cuts a sentence into the pieces that can be taken out alone: clauses, predicates, and what is said of a thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from app.chat.statements.words.tokens import (
    ARTICLES,
    BE,
    DO,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    SHADES,
    is_form,
    is_grammar,
)
from app.chat.statements.words.word_reader import WordReader

SegmentKind = Literal[
    "clause", "subject", "predicate", "relative", "participle", "apposed", "gapped", "phrase", "bracket"
]
_BREAKS: Final = frozenset({";", ":", "–", "—", "("})
_CLOSING: Final = frozenset({")", "–", "—"})
_JOINS: Final = frozenset("and but or while whereas although though because since so yet when where whilst as".split())
_RELATIVES: Final = frozenset("who which whose whom".split())
_ASIDES: Final = frozenset(
    (
        "in contrast", "by contrast", "in turn", "in fact", "of course", "for example", "on the other hand", "as well",
        "in addition", "after all", "as it happens", "by the way", "as far as i know", "as far as i can see",
        "if i read the record correctly", "if i am not mistaken", "i think", "i believe", "it seems", "at least",
    )
)  # fmt: skip
_OPENING: Final = frozenset("in on at for to from with by against during under".split())
_ALONE: Final = frozenset("however though too apparently indeed also then actually namely moreover".split())


@dataclass(slots=True)
class Segment:
    """Tokens from `start` to `end`; `lead` counts marks and joining words before what is said.

    `kind`: a clause has a subject of its own; a predicate shares that of the clause or the bare subject before it; a
    gapped one has a subject and no verb ("the second from V1"); the others say something of a thing named before
    them, or behind them where the segment `is_fronted`.
    """

    start: int
    end: int
    lead: int
    kind: SegmentKind
    is_fronted: bool = False
    has_aside: bool = False
    """True where it ends in words between commas that say nothing."""

    @property
    def body(self) -> int:
        return self.start + self.lead


class Segmenter(WordReader):
    """Cuts one sentence."""

    def segments(self) -> list[Segment]:
        cuts = [at for at in range(1, self._end) if self._is_cut(at)]
        bounds = [0, *cuts, self._end]
        found = [self._segment(start, end) for start, end in pairwise(bounds) if end > start]
        merged: list[Segment] = []
        for segment in found:
            if merged and self._belongs_to_last(segment, merged):
                merged[-1].has_aside = self._is_aside(segment)
                merged[-1].end = segment.end
            else:
                merged.append(segment)
        self._front(merged)
        return merged

    def _is_cut(self, at: int) -> bool:
        word, before = self.word(at), self.word(at - 1)
        if word in _BREAKS or before in (")",):
            return True
        if word == ",":
            return not self._in_row(at)
        if before == "," or before in _BREAKS:
            return False
        if word in _RELATIVES:
            return self.is_name(at - 1) and not (self.word(0) == "it" and at == 3)
        if word in _JOINS:
            return self._joins_here(at)
        return self._is_modifier(at)

    def _in_row(self, at: int) -> bool:
        """A comma, or "and", between names of one list."""
        if not self.is_name(at - 1):
            return False
        behind = at + 1 + (self.word(at + 1) in ("and", "or"))
        if not self.is_name(behind):
            return False
        if self.word(at) in ("and", "or") or self.word(at + 1) in ("and", "or"):
            return not self.begins_predicate(behind + 1) or self._is_subject_row(at)
        while behind < self._end and (self.is_name(behind) or self.word(behind) == ","):
            behind += 1
        return self.word(behind) in ("and", "or") and self.is_name(behind + 1)

    def _is_subject_row(self, at: int) -> bool:
        """True where nothing that could be a verb stands before the list."""
        return not any(self.is_finite(k) for k in range(at))

    def _joins_here(self, at: int) -> bool:
        word, behind = self.word(at), at + 1
        if word in ("where", "when") and self.word(at - 1) in BE:
            return False
        if word in ("and", "or") and self.is_name(at - 1) and self.is_name(behind) and self._in_row(at):
            return False
        if word == "as":
            return self.begins_predicate(behind) and self.word(behind) in DO | BE
        if word in ("and", "or") and at > 1 and is_form(self.word(at - 1), "VBD") and not self.is_noun_or_name(at - 1):
            return False
        if word in ("and", "but", "or"):
            while self.word(behind) in SHADES:
                behind += 1
            if self.begins_predicate(behind) or self.is_participle(behind):
                return self.has_finite(0, at) or self.is_participle(behind)
            if self.word(behind) in PREPOSITIONS and self.names_within(behind, self._end):
                return True
            return self._is_clause(behind) and self.has_finite(self.last_mark(at), at)
        return self._is_clause(behind)

    def _is_clause(self, at: int) -> bool:
        """A subject and a finite verb, before the next mark."""
        seen_noun = False
        while at < self._end and self.word(at) not in (",", ";", ":", ")"):
            if seen_noun and self.is_finite(at):
                return True
            seen_noun = seen_noun or self.is_name(at) or self.word(at) in PERSONAL or self.is_noun_or_name(at)
            at += 1
        return False

    def _is_modifier(self, at: int) -> bool:
        """A participle behind its noun, or a further phrase with a preposition behind a name."""
        before = self.word(at - 1)
        if self.has_be(at) or self.has_finite(max(0, at - 2), at):
            return False
        if self.is_participle(at) and (self.is_name(at - 1) or self.is_common_noun(at - 1)):
            return self.has_finite(0, at) or not is_form(self.word(at), "VBD")
        if self.word(at) in PREPOSITIONS and self.word(at) != "of" and self.is_name(at - 1):
            return self._opens_phrase(at) and self.has_finite(0, at) and before != "'s" and self._is_further(at)
        if self.word(at) in PREPOSITIONS and self.word(at) in ("at", "in", "with", "alongside") and before != "of":
            return self._is_measure(at - 1) and self._opens_phrase(at) and self.names_within(0, at - 2)
        return False

    def _is_measure(self, at: int) -> bool:
        return self.is_name(at - 1) and self.is_common_noun(at)

    def _is_further(self, at: int) -> bool:
        """True where two names, or one and a subject without a name, stand before it."""
        names = [k for k in range(at) if self.is_name(k)]
        last_break = max((k for k in range(at) if self.word(k) in (",", ";", "and")), default=-1)
        own = [k for k in names if k > last_break]
        if last_break >= 0 and not self.has_finite(last_break, at):
            return False
        return len(names) > 1 or any(self.word(k) in PERSONAL for k in range(at)) or not own

    def _opens_phrase(self, at: int) -> bool:
        behind = at + 1
        while self.word(behind) in ARTICLES or self.word(behind) in POSSESSIVES:
            behind += 1
        return self.is_name(behind) or (
            self.is_name(behind + 1) and not is_grammar(self.word(behind)) and self.word(behind) != ","
        )

    def _segment(self, start: int, end: int) -> Segment:
        at = start
        while at < end and (self.word(at) in _BREAKS or self.word(at) in (",", ")")):
            at += 1
        joined = at
        while at < end - 1 and self.word(at) in _JOINS and not (self.word(at) == "as" and not self._is_clause(at + 1)):
            at += 1
        while at < end - 1 and self.word(at) in _ALONE:
            at += 1
        if self.word(joined) == "as" and self.word(joined + 1) in DO | BE:
            return Segment(start, end, joined - start, "predicate")
        return Segment(start, end, at - start, self._kind(at, end, start))

    def _kind(self, at: int, end: int, start: int) -> SegmentKind:
        word = self.word(at)
        if self.word(start) == "(":
            return "bracket"
        if word in _RELATIVES or (word in PREPOSITIONS and self.word(at + 1) in ("which", "whom")):
            return "relative"
        if word == "that" and self.begins_predicate(at + 1):
            return "relative"
        if self.is_participle(at) and not self._has_finite_clause(at, end):
            return "participle"
        if self.begins_predicate(at) and not self.is_name(at):
            return "predicate"
        if self._has_finite_clause(at, end):
            return "clause"
        return "phrase" if word in PREPOSITIONS else "apposed"

    def _has_finite_clause(self, at: int, end: int) -> bool:
        return any(self.is_finite(k) and self._has_subject(at, k) for k in range(at + 1, end))

    def _has_subject(self, at: int, verb: int) -> bool:
        return any(
            self.is_name(k)
            or self.word(k) in PERSONAL
            or self.is_noun_or_name(k)
            or self.word(k) in ("there", "you", "we", "i")
            for k in range(at, verb)
        )

    def _belongs_to_last(self, segment: Segment, before: Sequence[Segment]) -> bool:
        """ "Apparently", "however" and "label: value" are no pieces of their own."""
        body = range(segment.body, segment.end)
        if all(self.word(at) in SHADES | _ALONE | {",", ")", '"'} for at in body):
            return True
        if self._is_aside(segment):
            return True
        last = before[-1]
        if (self.word(last.end - 1) in _ALONE or last.has_aside) and not self.has_finite(last.body, last.end):
            return last.kind != "participle"
        if self.word(segment.start) == ":" and not self.has_finite(segment.body, segment.end):
            return self.names_within(segment.body, segment.end)
        return False

    def _is_aside(self, segment: Segment) -> bool:
        """ "In contrast", "as far as I can see"."""
        words = " ".join(self.word(at) for at in range(segment.body, segment.end) if self.word(at) != ",")
        return words in _ASIDES

    def _front(self, segments: list[Segment]) -> None:
        """Marks the pieces before the first clause, which are said of its subject, and subjects that stand alone."""
        if len(segments) > 1 and self._opens_clause(segments[0]) and segments[1].kind == "clause":
            segments[1].start, segments[1].lead = segments[0].start, segments[0].lead
            del segments[0]
        first = segments[0]
        if first.kind in ("participle", "phrase") and len(segments) > 1 and self.word(segments[1].start) == ",":
            first.is_fronted = True
            for segment in segments[1:]:
                if segment.kind in ("clause", "predicate"):
                    break
                segment.is_fronted = True
        predicates = [place for place, segment in enumerate(segments) if segment.kind == "predicate"]
        clauses = [place for place, segment in enumerate(segments) if segment.kind == "clause"]
        for place, segment in enumerate(segments):
            if segment.kind != "apposed":
                continue
            is_first = place == 0 or segments[place - 1].is_fronted
            if is_first and predicates and (not clauses or predicates[0] < clauses[0]):
                segment.kind, segment.is_fronted = "subject", False
                self._take_in_name(segments, place)
                return
            if place and clauses and clauses[0] < place and self._is_gapped(segment):
                segment.kind = "gapped"

    def _opens_clause(self, segment: Segment) -> bool:
        """ "In E1, ..." and "As its composer, ...": a phrase that says something with the clause alone."""
        if segment.kind != "phrase" or self.word(segment.end) != ",":
            return False
        words = [self.word(at) for at in range(segment.body, segment.end) if not self.is_name(at)]
        return (words[0] in _OPENING and all(is_grammar(word) for word in words)) or (
            words[0] == "as" and not self.names_within(segment.body, segment.end)
        )

    def _take_in_name(self, segments: list[Segment], place: int) -> None:
        """ "E1's director, E2, was born": who that is belongs to the subject."""
        subject, behind = segments[place], segments[place + 1]
        is_described = any(self.word(at) in ("'s", "of") for at in range(subject.body, subject.end))
        body = range(behind.body, behind.end)
        if is_described and behind.kind == "apposed" and len(body) == 1 and self.is_name(behind.body):
            subject.end = behind.end
            del segments[place + 1]

    def _is_gapped(self, segment: Segment) -> bool:
        """A thing, and behind it a phrase or a further thing: "E1 on V1", "the second V1"."""
        at = segment.body
        if self.is_name(at):
            return (self.word(at + 1) in PREPOSITIONS and at + 2 < segment.end) or self._is_elliptic(at + 1)
        if self.word(at) == "that" and self.word(at + 1) == "of":
            return True
        ordinals = ("first", "second", "former", "latter", "other", "one")
        return self.word(at) == "the" and self.word(at + 1) in ordinals and at + 2 < segment.end

    def _is_elliptic(self, at: int) -> bool:
        """ "E1 the elder"."""
        return self.word(at) == "the" and self.word(at + 1).endswith("er")
