"""Describes the sets of an expression in words, if certain words exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.llm.tasks import Candidate, Evidence, StepInput, Thing
from app.reader.sentences.evidence_paths import KnownFacts
from app.reader.sentences.noun_phrases import Speaker, Things, agree_with_count, many, one, things_of
from app.reader.sentences.relation_phrases import RelationPhrase, phrase_of
from kg_store.algebra.expressions import Call, Expression, Name
from kg_store.text.inflection import with_article

_END: Final = "S00000"
IS: Final = agree_with_count(" is", " are")
HELD: Final = "that holds for {1}"
EXTREMES: Final = {
    "date": {"max": "latest", "min": "earliest"},
    "number": {"max": "highest", "min": "lowest"},
}
_ORDERS: Final = {
    "date": {"<": "before", "<=": "not after", ">": "after", ">=": "not before"},
    "number": {"<": "below", "<=": "of at most", ">": "above", ">=": "of at least"},
}


def things_in(expression: Expression, facts: KnownFacts) -> Things | None:
    """Describes a set in words, or returns None if no words are certain."""
    if isinstance(expression, Name):
        name = expression.pseudonym
        if facts.is_kind(name):
            return Things(facts.kind(name)) if facts.kind(name) else None
        found = last_step(name, facts)
        return things_of(*found, facts.kind(name), facts.be) if found else None
    if expression.function == "filter":
        return _filtered(expression, facts)
    if expression.function == "having":
        return _having(expression, facts)
    if expression.function != "intersect" or len(expression.operands) != 2:
        return None
    first, second = (things_in(operand, facts) for operand in expression.operands)
    if first is None or second is None or first.owner or second.owner:
        return None
    # If only one of them says more than its kind, that one comes first.
    return Things(second.kind if not second.clauses else first.kind, (*first.clauses, *second.clauses))


def _filtered(call: Call, facts: KnownFacts) -> Things | None:
    things, relation = things_in(call.operands[0], facts), phrase_of(call.words[0])
    order = _ORDERS.get(facts.value_kind(call.words[0]), {}).get(call.words[1])
    value = call.operands[1] if len(call.operands) > 1 else Name(call.words[2])
    if things is None or relation is None or order is None or not isinstance(value, Name):
        return None
    if relation.form == "noun" and not relation.inverse:
        words = f"with {with_article(relation.words)} {order} {value.pseudonym}"
        return things.also(lambda _agree: words)
    return None


def _having(call: Call, facts: KnownFacts) -> Things | None:
    things, relation = things_in(call.operands[0], facts), phrase_of(call.words[0])
    if things is None or relation is None or relation.form != "noun" or relation.inverse:
        return None
    return things.also(lambda _agree: f"with {with_article(relation.words)}")


def last_step(name: str, facts: KnownFacts) -> tuple[Speaker, RelationPhrase] | None:
    """The subject and the words of the last hop to `name`; None if they are not known for certain."""
    way = facts.way_to(name)
    phrases = [phrase for step in way.steps if (phrase := phrase_of(step))] if way else []
    if way is None or len(phrases) != len(way.steps):
        return None
    speaker = facts.speaker(way.start)
    if len(phrases) == 2:
        number = one if way.middle_is_one else many
        speaker = things_of(speaker, phrases[0], way.middle, facts.be).as_speaker(number)
    return speaker, phrases[-1]


def opening(things: Things) -> str:
    """The description as the subject at the beginning of a sentence."""
    if things.owner is None and not things.kind:
        return things.definite(agree_with_count).replace("{1:the one|those}", "{1:The one|Those}", 1)
    text = things.definite(agree_with_count)
    return f"{text[:1].upper()}{text[1:]}"


def noun_of(words: Sequence[str]) -> str:
    phrase = phrase_of(words[0]) if words else None
    return phrase.words if phrase is not None and phrase.form == "noun" and not phrase.inverse else ""


def candidate_phrase(way: Candidate) -> str:
    """Returns what a candidate leads to in plain words: `the patients that Eq7f2k treats`; empty if they are not
    certain.
    """
    start = Thing(name=way.start, concept="thing", size="1")
    steps = [f"S0000{at}" for at in range(1, len(way.path))]
    ends = [*steps, _END]
    walked = [
        Evidence(start=before, path=[step], end=end, end_concept=way.concept if end == _END else "thing")
        for before, step, end in zip([way.start, *steps], way.path, ends, strict=True)
    ]
    shown = StepInput(question=way.start, things=[start], evidence=walked, candidates=[])
    things = things_in(Name(_END), KnownFacts(shown))
    return things.definite(many) if things else ""
