"""Finds what a piece of a sentence speaks of where it does not name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from app.chat.statements.references import Discourse, Reference
from app.chat.statements.words.segments import Segment
from app.chat.statements.words.tokens import ARTICLES, PERSONAL, POSSESSIVES, Token

MAX_IMPLIED: Final = 3


@dataclass(slots=True)
class Subjects:
    """The subjects of one sentence so far, in order."""

    discourse: Discourse
    tokens: Sequence[Token]
    found: list[str] = field(default_factory=list)
    front: int = 0
    """Where the first piece begins that is not fronted."""

    def ahead(self) -> list[str]:
        """The names of the sentence behind its fronted pieces."""
        return [token.word for token in self.tokens[self.front :] if token.is_name]

    def implied(self, segment: Segment, own: Sequence[str], meant: Sequence[str]) -> list[str]:
        """Things that a piece without a subject of its own may speak of, the likeliest first. `own`: its names."""
        before = [token.word for token in self.tokens[: segment.start] if token.is_name]
        behind = self.ahead()
        if segment.is_fronted and segment.kind in ("relative", "apposed", "bracket"):
            order = [*before[-1:], *behind[:1]]
        elif segment.is_fronted:
            order = [name for name in behind if name[0] != "V"] or self.discourse.recent(before)
        elif segment.kind in ("relative", "participle", "apposed", "bracket"):
            order = [*before[-1:], *self.found[-1:], *before[:1]]
        elif segment.kind in ("predicate", "phrase"):
            order = [*self.found[-1:], *before[:1], *reversed(before)]
        else:
            order = [*self.found[-1:], *before, *self.discourse.subjects[-1:], *self.discourse.recent(())]
        if not segment.is_fronted and not order:
            order += self.discourse.recent(before)[:MAX_IMPLIED]
        taken = {*own, *meant}
        fitting = [name for name in dict.fromkeys(order) if name not in taken and name[0] != "V"]
        is_behind = segment.kind == "apposed" and self.tokens[segment.body].word in ARTICLES
        most = 1 if segment.kind == "predicate" or is_behind else MAX_IMPLIED
        return fitting[:most] if not meant or len(own) + len(meant) < 2 else []

    def likeliest(self, segment: Segment) -> list[str]:
        """The things that a piece which names none may be about: of its sentence, the one before, and the dialogue."""
        topics = [name for name, _ in self.discourse.evidence.beside.topics[:1]]
        before = [token.word for token in self.tokens[: segment.start] if token.is_name and token.word[0] != "V"]
        return [*before, *self.implied(segment, (), ())[:1], *self.discourse.subjects[-1:], *topics]

    def is_open(self, own: Sequence[str], implied: Sequence[str]) -> bool:
        """True of "the price was V1" where the sentence before, or this one, speaks of two that have prices."""
        if not implied or any(name[0] != "V" for name in own):
            return False
        evidence = self.discourse.evidence
        spoken_of = dict.fromkeys(self.discourse.said[-1] if self.discourse.said else ())
        alike = [name for name in spoken_of if name[0] != "V" and evidence.kinds(name) == evidence.kinds(implied[0])]
        return implied[0] in alike and len(alike) > 1

    def near(self, segment: Segment, own: Sequence[str], references: Sequence[Reference]) -> list[str]:
        """The things that references stand for, the subject, and whatever the sentence and those before it speak of;
        none for a clause about one thing that it names."""
        meant = [name for each in references for name in each.candidates[: None if each.is_all else 1]]
        words = {token.word for token in self.tokens[segment.body : segment.end]}
        is_of_itself = segment.kind == "clause" and not meant and words.isdisjoint(PERSONAL | POSSESSIVES | {"same"})
        if is_of_itself and len(own) == 1 and own[0][0] != "V":
            return []
        before = [token.word for token in reversed(self.tokens[: segment.start]) if token.is_name]
        behind = [token.word for token in self.tokens[segment.end :] if token.is_name]
        near = [*meant, *self.implied(segment, own, meant), *self.found[-1:], *before, *behind]
        return list(dict.fromkeys([*near, *self.discourse.subjects[-1:], *self.discourse.recent(())]))
