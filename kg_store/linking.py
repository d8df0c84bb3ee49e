"""EntityLinker: which spans of a user's text name which entities and values of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kg_store.name_marks import COMMON_WORDS, NameMarks
from kg_store.names import NameHit, NameIndex
from kg_store.normalising import normalise
from kg_store.public_words import PublicWords
from kg_store.terms import ValueKind
from kg_store.values import LiteralSpan, find_literals


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the original text and every node it may mean, ascending. `value_kind` is set for values."""

    start: int
    end: int
    mids: tuple[int, ...] = field(repr=False)
    value_kind: ValueKind | None


@dataclass(frozen=True, slots=True)
class EntityLinker:
    """Finds what the index knows, and guesses nothing: no fuzzy match, no model."""

    index: NameIndex = field(repr=False)

    def find_mentions(self, text: str) -> list[Mention]:
        """Mentions in order, none overlapping: of those that overlap the longest wins, then the leftmost.

        The whole content of quotes or [brackets] goes before any other match. A public word counts only where
        the text marks it as a name. Numbers and dates are matched by what they mean, however they are written.
        """
        marks = NameMarks.of(text)
        literals = find_literals(text)
        found = [*self._named(text, marks, literals), *self._meant(text, literals)]
        return _merge(_longest(found, marks))

    def find_unmarked(self, text: str, public: PublicWords) -> list[Mention]:
        """Public words that may name entities in a text without any capital letter, where nothing else is linked.

        For a dialogue that names nothing else: "what countries does england border". On WebQSP all topics are
        found for 74 % of the questions instead of 65 %. Words of our own phrases and question words are left out.
        """
        if any(character.isupper() for character in text):
            return []
        hits = [hit for hit in self.index.find(text) if hit.linkable and hit.public and hit.role == "name"]
        named = [hit for hit in hits if hit.text not in COMMON_WORDS and not public.is_own(hit.text)]
        found = [Mention(hit.start, hit.end, hit.mids, None) for hit in named]
        return _merge(_longest(found, NameMarks.of(text)))

    def _named(self, text: str, marks: NameMarks, literals: list[LiteralSpan]) -> Iterator[Mention]:
        for hit in self.index.find(text):
            if not hit.linkable or (hit.public and not marks.is_marked(hit.start, hit.end)):
                continue
            if not _is_part_of_literal(hit, literals):
                yield Mention(hit.start, hit.end, hit.mids, hit.value_kind if hit.role == "value" else None)

    def _meant(self, text: str, literals: list[LiteralSpan]) -> Iterator[Mention]:
        for literal in literals:
            if _is_small_number(text[literal.start : literal.end]):
                continue
            for kind in _kinds_to_try(literal):
                mids = self.index.mids_of_value(kind, literal.lexical)
                if mids:
                    yield Mention(literal.start, literal.end, mids, kind)
                    break


def _is_part_of_literal(hit: NameHit, literals: list[LiteralSpan]) -> bool:
    """A number or date inside a written one says something else: 120 is not -120. Its meaning decides instead."""
    if hit.value_kind not in (ValueKind.NUMBER, ValueKind.DATE):
        return False
    return any(literal.start <= hit.start and hit.end <= literal.end for literal in literals)


def _is_small_number(written: str) -> bool:
    """Numbers up to 99 are public, as candidates are numbered with them."""
    plain = normalise(written).text
    return plain.isdecimal() and len(plain) <= 2


def _kinds_to_try(literal: LiteralSpan) -> tuple[ValueKind, ...]:
    if literal.kind is ValueKind.DATE and literal.lexical.isdecimal():
        return (ValueKind.DATE, ValueKind.NUMBER)  # 1990 may be a year or a number: the graph knows which.
    return (literal.kind,) if literal.kind in (ValueKind.NUMBER, ValueKind.DATE) else ()


def _longest(found: Sequence[Mention], marks: NameMarks) -> list[Mention]:
    """The winners among overlapping mentions; of the same span all that are of the better role."""

    def rank(mention: Mention) -> tuple[bool, int, int, str]:
        is_whole = (mention.start, mention.end) in marks.enclosed
        return not is_whole, mention.start - mention.end, mention.start, mention.value_kind or ""

    taken: dict[tuple[int, int], list[Mention]] = {}
    covered = bytearray(max((mention.end for mention in found), default=0))
    for mention in sorted(found, key=rank):
        span = (mention.start, mention.end)
        if span in taken and taken[span][0].value_kind == mention.value_kind:
            taken[span].append(mention)
        elif not any(covered[mention.start : mention.end]):
            covered[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            taken[span] = [mention]
    return [mention for span in sorted(taken) for mention in taken[span]]


def _merge(mentions: list[Mention]) -> list[Mention]:
    merged: dict[tuple[int, int], Mention] = {}
    for mention in mentions:
        span = (mention.start, mention.end)
        mids = {*mention.mids, *(merged[span].mids if span in merged else ())}
        merged[span] = Mention(*span, tuple(sorted(mids)), mention.value_kind)
    return list(merged.values())
