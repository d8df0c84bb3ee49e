"""Finds the values that decide a yes or no, to be said with it: "no: X was opened on 2015-02-02".

Promise: only hops forwards from what the question names are said. Limit: the service leaves out values that are empty,
large, or say no more than the yes (app/chat/execution.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from app.llm.tasks import StepInput
from app.reader.sentences.described_things import last_step
from app.reader.sentences.evidence_paths import KnownFacts
from app.reader.sentences.noun_phrases import Speaker
from app.reader.sentences.relation_phrases import RelationPhrase, phrase_of
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.text.plurals import with_article

_TWO = ("compare", "argmin", "argmax")


def deciding_values(expression: str, shown: StepInput) -> list[tuple[str, str]]:
    """Returns expressions to evaluate beside the yes/no `expression`, each with its sentence, where `{1}` is the
    value.

    A kind comes without an expression. Raises ExpressionError.
    """
    asked = parse(expression)
    if not isinstance(asked, Call) or asked.function not in ("exists", "none"):
        return []
    return list(_deciding(asked.operands[0], KnownFacts(shown)))


def _deciding(asked: Expression, facts: KnownFacts) -> Iterator[tuple[str, str]]:
    if not isinstance(asked, Call):
        return
    first = asked.operands[0]
    if asked.function == "filter" and isinstance(first, Name) and first.pseudonym[0] == "E":
        yield from _told(first.pseudonym, asked.words[0])
    elif asked.function == "intersect" and isinstance(first, Call) and first.function in _TWO:
        yield from _compared(first)
    elif asked.function == "intersect" and isinstance(first, Call) and first.function == "reach":
        inner = first.operands[0]
        yield from _told(inner.pseudonym, first.words[0]) if isinstance(inner, Name) else ()
    elif asked.function == "intersect" and isinstance(first, Name) and isinstance(asked.operands[1], Name):
        found, kind = last_step(first.pseudonym, facts), asked.operands[1].pseudonym
        if first.pseudonym[0] == "E" and facts.is_kind(kind) and (own := facts.kind(first.pseudonym)):
            yield "", f"{first.pseudonym} is {with_article(own)}"
        elif sentence := _sentence(*found) if found else "":
            yield first.pseudonym, sentence


def _compared(call: Call) -> Iterator[tuple[str, str]]:
    """The value of each of two things that are compared."""
    union = call.operands[0]
    pair = union.operands if isinstance(union, Call) and union.function == "union" else call.operands
    if len(pair) == 2 and call.words:
        for each in pair:
            yield from _told(each.pseudonym, call.words[0]) if isinstance(each, Name) else ()


def _told(name: str, relation: str) -> Iterator[tuple[str, str]]:
    phrase = phrase_of(relation)
    sentence = _sentence(Speaker.named(name), phrase) if phrase and name[0] == "E" else ""
    if sentence:
        yield f'reach({name}, "{relation}")', sentence


def _sentence(speaker: Speaker, phrase: RelationPhrase) -> str:
    """`X lives in {1}`, `X's salary is {1}`; empty for hops backwards, which lead to many things."""
    if phrase.inverse or "S" in speaker.subject[:1]:
        return ""
    if phrase.form == "noun":
        return f"{speaker.has(phrase.words, speaker.agree)} {{1:is|are}} {{1}}"
    return f"{speaker.subject} {speaker.predicate(phrase, ('is', 'are'))} {{1}}"
