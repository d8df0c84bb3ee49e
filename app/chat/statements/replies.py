"""Checks a model's reply sentence by sentence: what the facts carry stays, what they do not carry is taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.chat.statements.evidence import Evidence, StatementContext
from app.chat.statements.pruning import Kept, kept_text
from app.chat.statements.reading import SentenceReader, Verdict
from app.chat.statements.references import Discourse
from app.chat.statements.segments import Segment, Segmenter
from app.chat.statements.tokens import Token, tokenize
from app.strategies.base import FoundFact


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence that stays; `facts`: positions in the facts given, empty where it states none."""

    text: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """The rest of a reply. Of its `stated` pieces the evidence carries `carried`; `removed` were taken out."""

    sentences: tuple[CheckedSentence, ...]
    stated: int
    carried: int
    removed: int


def check_reply(sentences: Sequence[str], facts: Sequence[FoundFact], beside: StatementContext) -> CheckedReply:
    """`sentences` hold pseudonyms, never names. Promise: a piece stays only where facts tie its things together, its
    words say no other relation and turn none round, and the house confirms what it counts, compares or denies."""
    evidence = Evidence(facts, beside)
    discourse = Discourse(evidence)
    checked: list[CheckedSentence] = []
    stated = carried = removed = 0
    for sentence in sentences:
        kept = _read(sentence, evidence, discourse)
        stated += sum(verdict.states for _, verdict in kept.pieces)
        carried += sum(verdict.states and verdict.facts is not None for _, verdict in kept.pieces)
        removed += sum(verdict.facts is None for _, verdict in kept.pieces)
        text = kept_text(kept)
        if text:
            found = {fact for _, verdict in kept.pieces if verdict.facts is not None for fact in verdict.facts}
            checked.append(CheckedSentence(text, tuple(sorted(found))))
        discourse.said.append(kept.names())
    return CheckedReply(tuple(checked), stated, carried, removed)


def _read(sentence: str, evidence: Evidence, discourse: Discourse) -> Kept:
    tokens = tokenize(sentence)
    is_question = sentence.rstrip(' "”’').endswith("?")
    while tokens and tokens[-1].word in (".", "!", "?", '"', "”"):
        tokens.pop()
    if not tokens:
        return Kept(sentence, tokens, [])
    reader = SentenceReader(evidence, discourse, tokens, is_question)
    pieces = []
    segments = Segmenter(tokens).segments()
    reader.front = next((segment.start for segment in segments if not segment.is_fronted), 0)
    for segment in segments:
        verdict = reader.judge(segment)
        pieces.append((segment, verdict))
        if segment.kind in ("clause", "subject"):
            reader.last = verdict.facts or frozenset()
            reader.subjects += _subject(tokens, segment, verdict)
            discourse.focus = reader.subjects[-1] if reader.subjects else ""
        elif verdict.facts is not None and verdict.subject:
            reader.subjects.append(verdict.subject)
    discourse.subjects += reader.subjects[:1]
    return Kept(sentence, tokens, pieces)


def _subject(tokens: Sequence[Token], segment: Segment, verdict: Verdict) -> list[str]:
    """The first thing that a clause names, or stands for."""
    for at in range(segment.body, segment.end):
        if tokens[at].is_name and tokens[at].word[0] != "V":
            return [tokens[at].word]
        if at in verdict.stood_for:
            return [verdict.stood_for[at][1]]
    return [verdict.subject] if verdict.subject else []
