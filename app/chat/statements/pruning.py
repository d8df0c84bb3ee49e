"""Writes a sentence without the pieces that had to go, with names for pronouns that have lost theirs, or with fewer
names in a list, so that what is left is still a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.chat.statements.quantities import is_denying
from app.chat.statements.reading import Verdict
from app.chat.statements.words.segments import Segment
from app.chat.statements.words.tokens import BE, PERSONAL, POSSESSIVES, PREPOSITIONS, Token, is_form

_OWNING: Final = POSSESSIVES - {"her"}


@dataclass(slots=True)
class Kept:
    """A sentence with the verdicts of its pieces."""

    sentence: str = field(repr=False)
    tokens: Sequence[Token]
    pieces: list[tuple[Segment, Verdict]]

    def names(self) -> list[str]:
        """The names that the sentence speaks of, in order; those of pieces that go as well."""
        found: list[str] = []
        for segment, verdict in self.pieces:
            for at in range(segment.start, segment.end):
                if self.tokens[at].is_name:
                    found.append(self.tokens[at].word)
                elif at in verdict.stood_for:
                    found.append(verdict.stood_for[at][1])
        return found


def kept_text(kept: Kept) -> str:
    """The sentence without its pieces that go, in one sentence or in several; empty where nothing is left."""
    if not kept.pieces:
        return kept.sentence.strip()
    if all(verdict.facts is not None for _, verdict in kept.pieces):
        return kept.sentence.strip()
    if not any(_is_worth_keeping(kept, segment, verdict) for segment, verdict in kept.pieces):
        return ""
    return _Writer(kept).text()


def _is_worth_keeping(kept: Kept, segment: Segment, verdict: Verdict) -> bool:
    """A bare subject, "yes", "if you like" and "I can't tell" are nothing without the rest."""
    if verdict.facts is None:
        return False
    words = kept.tokens[segment.body : segment.end]
    is_whole = (
        segment.kind == "clause" and len(words) > 1 and words[0].word != "if" and not any(map(is_denying, words))
    )
    return verdict.states or is_whole


class _Writer:
    """Writes the pieces that stay; what hung on one that goes becomes a sentence of its own."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._done: list[str] = []
        self._now = ""
        self._has_verb = False
        self._subject = ""
        self._hung: list[tuple[Segment, Verdict]] = []

    def text(self) -> str:
        pieces = self._kept.pieces
        for place, (segment, verdict) in enumerate(pieces):
            if verdict.facts is None:
                if segment.kind == "clause":
                    self._end()
                continue
            follows = place > 0 and pieces[place - 1][1].facts is not None and bool(self._now)
            self._add(place, segment, verdict, follows=follows)
        self._end()
        return " ".join(self._done)

    def _add(self, place: int, segment: Segment, verdict: Verdict, *, follows: bool) -> None:
        whole, body = self._words(segment.start, segment.end), self._words(segment.body, segment.end)
        if segment.is_fronted:
            if self._stays_behind(place):
                self._now += whole if not self._now else f" {whole}"
            elif made := self._made(segment, verdict, body):
                self._end()
                self._now, self._has_verb = made, True
                self._end()
        elif segment.kind in ("clause", "subject"):
            if follows:
                self._now = _joined(self._now, whole)
            elif self._now and not self._has_verb and not self._hung:
                self._now = f"{self._now}, {body}"
            else:
                self._end()
                self._now = body
            self._has_verb = segment.kind == "clause"
            self._subject = verdict.subject
        elif self._now and not self._has_verb and segment.kind != "predicate":
            self._hung.append((segment, replace(verdict, subject=self._subject)))
            self._now = _joined(self._now, whole)
        elif follows and (self._has_verb or segment.kind != "participle"):
            self._now = _joined(self._now, whole)
            self._has_verb = self._has_verb or segment.kind == "predicate"
        elif segment.kind == "predicate" and self._now:
            mark = "," if "," in self._now and not self._has_verb else " and" if self._has_verb else ""
            self._now, self._has_verb = f"{self._now}{mark} {body}", True
        else:
            self._alone(segment, verdict, body)

    def _alone(self, segment: Segment, verdict: Verdict, body: str) -> None:
        if made := self._made(segment, verdict, body):
            self._end()
            self._now, self._has_verb = made, True

    def _stays_behind(self, place: int) -> bool:
        """True where the clause behind a fronted piece stays."""
        for segment, verdict in self._kept.pieces[place + 1 :]:
            if segment.kind in ("clause", "subject"):
                return verdict.facts is not None
        return False

    def _made(self, segment: Segment, verdict: Verdict, body: str) -> str:
        """A piece as a sentence of its own; empty where it can't be one."""
        first = self._kept.tokens[segment.body].word
        if verdict.is_whole:  # "Who wrote it isn't recorded".
            return body
        subject = verdict.subject
        if segment.kind == "gapped":
            return self._with_verb(segment)
        if not subject:
            return ""
        if segment.kind == "predicate":
            return f"{subject} {body}"
        if segment.kind == "relative":
            rest = body.partition(" ")[2]
            return (
                f"{subject}'s {rest}" if first == "whose" else f"{subject} {rest}" if first in ("who", "which") else ""
            )
        if segment.kind == "participle":
            return f"{subject} {'is' if is_form(first, 'VBG') else 'was'} {body[:1].lower()}{body[1:]}"
        if segment.kind == "apposed":
            return "" if self._kept.tokens[segment.body].is_name else f"{subject} is {body}"
        return ""

    def _with_verb(self, segment: Segment) -> str:
        """ "The second from V1" with the verb of the clause before it."""
        tokens, at = self._kept.tokens, segment.body
        split = next(
            (k for k in range(at + 1, segment.end) if tokens[k].word in PREPOSITIONS and tokens[k].word != "of"), -1
        )
        place = next(k for k, (each, _) in enumerate(self._kept.pieces) if each is segment)
        clause = next((each for each, _ in reversed(self._kept.pieces[:place]) if each.kind == "clause"), None)
        if clause is None or split < 0:
            return ""
        verb = next(
            (
                k
                for k in range(clause.body, clause.end)
                if tokens[k].word in BE or is_form(tokens[k].word, "VBD") or is_form(tokens[k].word, "VBZ")
            ),
            -1,
        )
        stop = next((k for k in range(verb + 1, clause.end) if tokens[k].word == tokens[split].word), -1)
        if verb < 0 or stop < 0 or any(tokens[k].is_name for k in range(verb, stop)):
            return ""
        return f"{self._words(at, split)} {self._words(verb, stop)} {self._words(split, segment.end)}"

    def _words(self, start: int, end: int) -> str:
        tokens = self._kept.tokens
        return self._kept.sentence[tokens[start].start : tokens[end - 1].end] if end > start else ""

    def _end(self) -> None:
        hung, self._hung = self._hung, []
        if hung and not self._has_verb:
            made = (self._made(segment, verdict, self._words(segment.body, segment.end)) for segment, verdict in hung)
            self._done += [_finished(each, self._kept.sentence) for each in made if each]
            self._now = ""
            return
        text = _finished(self._now, self._kept.sentence)
        if text and (self._has_verb or " " in text.strip(".")) and self._is_sentence():
            self._done.append(text)
        self._now, self._has_verb = "", False

    def _is_sentence(self) -> bool:
        return self._has_verb or not any(segment.kind in ("clause", "subject") for segment, _ in self._kept.pieces)


def _joined(before: str, text: str) -> str:
    return before + (text if text.startswith((",", ";", ":", ")", "'")) or not before else f" {text}")


def _finished(text: str, sentence: str) -> str:
    text = re.sub(r"\s+([,;:.])", r"\1", text).strip().strip(",;:–—").strip()
    if not text:
        return ""
    if text[0].islower():
        text = text[0].upper() + text[1:]
    end = sentence.rstrip()[-1:]
    return text + (end if end in ".!?" else ".")


def spelled_out(kept: Kept, shown: Collection[str]) -> str:
    """The sentence with the name for each pronoun whose thing nobody has read of, or that more than one may be."""
    edits: list[tuple[int, int, str]] = []
    named: set[str] = set()
    for segment, verdict in kept.pieces:
        for at in range(segment.start, segment.end):
            token = kept.tokens[at]
            if token.is_name and verdict.facts is not None:
                named.add(token.word)
            if verdict.facts is None or at not in verdict.stood_for or token.word not in PERSONAL | POSSESSIVES:
                continue
            reference, name = verdict.stood_for[at]
            if name in named or (name in shown and name == reference.candidates[0]):
                continue
            owns = token.word in _OWNING or (token.word == "her" and reference.is_owner)
            edits.append((token.start, token.end, f"{name}'s" if owns else name))
            named.add(name)
    text = kept.sentence
    for start, end, word in reversed(edits):
        text = f"{text[:start]}{word}{text[end:]}"
    return text


def row_of_names(kept: Kept) -> list[int]:
    """The places of the names of the first list that stands in a piece that has to go."""
    for segment, verdict in kept.pieces:
        if verdict.facts is None:
            for at in range(segment.start, segment.end):
                row = _row_from(kept, at, segment.end)
                if len(row) > 1:
                    return row
    return []


def _row_from(kept: Kept, at: int, end: int) -> list[int]:
    """Names with commas between them and "and" or "or" before the last one."""
    tokens, row = kept.tokens, []
    while at < end and tokens[at].is_name:
        row.append(at)
        at += 1
        if at < end and tokens[at].word == "," and at + 1 < end:
            at += 1
        if at < end and tokens[at].word in ("and", "or"):
            return [*row, at + 1] if at + 1 < end and tokens[at + 1].is_name else []
    return []


def with_row(kept: Kept, row: Sequence[int], places: Sequence[int]) -> str:
    """The sentence with no more than the names at `places` in its list."""
    tokens = kept.tokens
    names = [tokens[place].word for place in places]
    joint = tokens[row[-1] - 1].word
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"
    return f"{kept.sentence[: tokens[row[0]].start]}{text}{kept.sentence[tokens[row[-1]].end :]}"
