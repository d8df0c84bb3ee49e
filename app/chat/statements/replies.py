"""Checks a model's reply sentence by sentence: what the facts carry stays, what they do not carry is taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from app.chat.statements.evidence import Evidence, StatementContext
from app.chat.statements.pruning import Kept, kept_text, row_of_names, spelled_out, with_row
from app.chat.statements.quantities import content
from app.chat.statements.reading import SentenceReader, Verdict
from app.chat.statements.references import Discourse
from app.chat.statements.restating import RemovedPiece, facts_meant, restated
from app.chat.statements.subjects import Subjects
from app.chat.statements.talk import asks, begins_question
from app.chat.statements.words.segments import Segment, Segmenter
from app.chat.statements.words.tokens import Token, tokenize
from app.strategies.base import FoundFact

MIN_ROW: Final = 2
_LIKE: Final = frozenset({"as", "just", "like", "unlike"})
"""Words before a clause about something beside: "X is a ward, just as Y is, and has ten beds"."""


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence that stays; `facts`: positions in the facts given, empty where it states none. `is_restated`: the
    service's own, in place of what had to go."""

    text: str
    facts: tuple[int, ...]
    is_restated: bool = False


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """The rest of a reply. Of its `stated` pieces the evidence carries `carried`; `removed` were taken out and have
    nothing in their place."""

    sentences: tuple[CheckedSentence, ...]
    stated: int
    carried: int
    removed: int

    @property
    def restated(self) -> int:
        """The sentences of the service's own."""
        return sum(sentence.is_restated for sentence in self.sentences)


def check_reply(sentences: Sequence[str], facts: Sequence[FoundFact], beside: StatementContext) -> CheckedReply:
    """`sentences` hold pseudonyms, never names. Promise: a piece stays only where facts tie its things together, its
    words say no other relation and turn none round, and the house confirms what it counts, compares or denies. In the
    place of one that goes stand the facts between the things that it speaks of."""
    checker = _Checker(Discourse(Evidence(facts, beside)))
    for sentence in sentences:
        checker.check(sentence)
    kept, removed = checker.with_facts(facts)
    return CheckedReply(tuple(kept), checker.stated, checker.carried, removed)


class _Checker:
    """Checks the sentences of one reply in order."""

    def __init__(self, discourse: Discourse) -> None:
        self._discourse = discourse
        self._shown = {name for name, _ in discourse.evidence.beside.topics}
        self._kept: list[CheckedSentence] = []
        self._gone: list[tuple[int, RemovedPiece]] = []
        """The pieces that had to go, each with the place in `_kept` where its facts may stand."""
        self._cut = 0
        self.stated = self.carried = 0

    def check(self, sentence: str) -> None:
        kept = self._read(sentence)
        if (shorter := self._with_shorter_row(kept)) is not None:
            kept, dropped = shorter
            self.stated += dropped
            self._cut += dropped
        if (spelled := spelled_out(kept, self._shown)) != kept.sentence:
            kept = self._read(spelled)
        verdicts = [verdict for _, verdict in kept.pieces]
        self.stated += sum(verdict.states for verdict in verdicts)
        self.carried += sum(verdict.states and verdict.facts is not None for verdict in verdicts)
        text = kept_text(kept) if self._discourse.evidence.beside.words == "model" else ""
        left = [verdict.facts or () for segment, verdict in kept.pieces if _stands_in(kept, segment, text)]
        if text:
            found = {fact for facts in left for fact in facts}
            self._kept.append(CheckedSentence(text, tuple(sorted(found))))
            self._shown |= {token.word for token in tokenize(text) if token.is_name}
        for segment, verdict in kept.pieces:
            if verdict.facts is None or (verdict.facts and not _stands_in(kept, segment, text)):
                self._gone.append((len(self._kept), _removed(kept, segment, verdict)))
        self._settle(kept)

    def with_facts(self, facts: Sequence[FoundFact]) -> tuple[list[CheckedSentence], int]:
        """The sentences with the facts that pieces which had to go were about, and how many pieces left none."""
        told = {fact for sentence in self._kept for fact in sentence.facts}
        sentences, removed = list(self._kept), self._cut
        added = 0
        for place, group in groupby(self._gone, key=lambda each: each[0]):
            pieces = list(group)
            meant = [facts_meant(self._discourse.evidence, piece, told) for _, piece in pieces]
            written = restated(facts, set[int]().union(*meant))
            now = {fact for each in written for fact in each.facts}
            removed += sum(
                now.isdisjoint(each) and not piece.facts for each, (_, piece) in zip(meant, pieces, strict=True)
            )
            told |= now
            sentences[place + added : place + added] = [
                CheckedSentence(each.text, each.facts, True) for each in written
            ]
            added += len(written)
        return sentences, removed

    def _read(self, sentence: str) -> Kept:
        tokens = tokenize(sentence)
        is_question = asks(sentence, tokens)
        while tokens and tokens[-1].word in (".", "!", "?", '"', "”"):
            tokens.pop()
        if not tokens:
            return Kept(sentence, tokens, [])
        reader = SentenceReader(self._discourse, tokens, is_question, Subjects(self._discourse, tokens))
        pieces = []
        segments = Segmenter(tokens).segments()
        reader.asked = next((each.start for each in segments if begins_question(tokens[each.body : each.end])), None)
        reader.subjects.front = next((segment.start for segment in segments if not segment.is_fronted), 0)
        for segment in segments:
            verdict = reader.judge(segment)
            pieces.append((segment, verdict))
            if segment.kind in ("clause", "predicate"):
                reader.clause = tokens[segment.start : segment.end]
            if segment.kind in ("clause", "subject"):
                reader.last = verdict.facts or frozenset()
                if tokens[segment.start + (tokens[segment.start].word in (",", "just"))].word not in _LIKE:
                    spoken_of = _subject(tokens, segment, verdict)
                    reader.subjects.found += spoken_of
                    self._discourse.focus = spoken_of[0] if spoken_of else self._discourse.focus
            elif verdict.facts is not None and verdict.subject:
                reader.subjects.found.append(verdict.subject)
        return Kept(sentence, tokens, pieces)

    def _settle(self, kept: Kept) -> None:
        """Tells the sentences that follow about whom this one was."""
        subjects = [
            name
            for segment, verdict in kept.pieces
            if segment.kind in ("clause", "subject")
            for name in _subject(kept.tokens, segment, verdict)
        ]
        self._discourse.subjects += subjects[:1]
        self._discourse.said.append(kept.names())

    def _with_shorter_row(self, kept: Kept) -> tuple[Kept, int] | None:
        """The sentence without the names of a list that no fact holds, where it holds others; and how many go."""
        row = row_of_names(kept)
        if len(row) < MIN_ROW:
            return None
        holding = [place for place in row if self._holds(kept, row, [place])]
        if not 0 < len(holding) < len(row):
            return None
        return self._read(with_row(kept, row, holding)), len(row) - len(holding)

    def _holds(self, kept: Kept, row: Sequence[int], places: Sequence[int]) -> bool:
        shorter = self._read(with_row(kept, row, places))
        word = kept.tokens[places[0]].word
        return any(
            verdict.facts
            for segment, verdict in shorter.pieces
            if any(token.word == word for token in shorter.tokens[segment.start : segment.end])
        )


def _removed(kept: Kept, segment: Segment, verdict: Verdict) -> RemovedPiece:
    tokens = kept.tokens[segment.start : segment.end]
    names = list(dict.fromkeys(token.word for token in tokens if token.is_name))
    return RemovedPiece(names, verdict.near, content(tokens), verdict.facts or frozenset())


def _stands_in(kept: Kept, segment: Segment, text: str) -> bool:
    """True where the words of the piece are part of `text`."""
    words = kept.sentence[kept.tokens[segment.body].start : kept.tokens[segment.end - 1].end]
    return (words.partition(" ")[2] or words) in text


def _subject(tokens: Sequence[Token], segment: Segment, verdict: Verdict) -> list[str]:
    """The first thing that a clause names, or stands for; the last one of "E1's director, E2"."""
    if segment.kind == "subject":
        names = [token.word for token in tokens[segment.body : segment.end] if token.is_name]
        return names[-1:]
    for at in range(segment.body, segment.end):
        if tokens[at].is_name and tokens[at].word[0] != "V":
            return [tokens[at].word]
        if at in verdict.stood_for:
            return [verdict.stood_for[at][1]]
    return [verdict.subject] if verdict.subject else []
