"""Writes the sentences of groups, differences, orders and superlatives of number."""

from __future__ import annotations

from app.reader.sentences.described_things import EXTREMES, HELD, IS, last_step, noun_of, opening, things_in
from app.reader.sentences.evidence_paths import KnownFacts
from app.reader.sentences.noun_phrases import Things, agree_with_count, many, one
from app.reader.sentences.relation_phrases import phrase_of
from kg_store.algebra.expressions import PERIODS, Call, Expression, Name
from kg_store.text.inflection import plural


def per_group(call: Call, facts: KnownFacts) -> str:
    period = next((word for word in call.words if word in PERIODS), "")
    group = period or facts.target_kind(call.words[0])
    if call.function != "group":
        noun, word = noun_of(call.words[1:]), "average" if call.function == "averages" else "total"
        return f"the {totalled(word, noun)} per {group} is {{1}}" if noun and group else "per group: {1}"
    things = things_in(call.operands[0], facts)
    if things is None or not group:
        return f"per {group}: {{1}}" if group else "per group: {1}"
    return f"the numbers of {things.said(many)} per {group} are {{1}}"


def nothing_but(call: Call, facts: KnownFacts) -> str:
    """The only things that are left if everything related to others is excluded ("with nothing but
    gout"); else empty.
    """
    others = call.operands[1]
    inner = others.operands[0] if isinstance(others, Call) and others.function == "reach" else others
    if inner is others or not isinstance(inner, Call) or inner.function != "difference":
        return ""
    alone = inner.operands[1]
    if isinstance(alone, Name) and facts.is_named(alone.pseudonym):
        return facts.speaker(alone.pseudonym).object
    things = things_in(alone, facts)
    return things.definite(many) if things else ""


def minus_text(call: Call, facts: KnownFacts) -> str:
    """ "X's salary less Y's salary is 200"; for dates the years between them."""
    first, second = (_measured(operand, facts) for operand in call.operands)
    if not first or not second:
        return "the difference is {1}"
    if first[1] == "date":
        return f"from {second[0]} to {first[0]} it is {{1}} years"
    return f"{first[0]} less {second[0]} is {{1}}"


def _measured(side: Expression, facts: KnownFacts) -> tuple[str, str] | None:
    """`X's date of birth` and the type of that value; None if there are no certain words."""
    if isinstance(side, Call) and side.function == "count":
        things = things_in(side.operands[0], facts)
        return (f"the number of {things.said(many)}", "number") if things else None
    if isinstance(side, Name):
        found, step = last_step(side.pseudonym, facts), facts.last_step_to(side.pseudonym) or ""
    elif side.function == "reach" and isinstance(side.operands[0], Name) and (phrase := phrase_of(side.words[0])):
        found, step = (facts.speaker(side.operands[0].pseudonym), phrase), side.words[0]
    else:
        return None
    if found is None or found[1].form != "noun" or found[1].inverse:
        return None
    return found[0].has(found[1].words, one), facts.value_kind(step)


def more_than(call: Call, facts: KnownFacts) -> str:
    """Says whether one set has more members than another, with both numbers."""
    first, second = (things_in(operand, facts) for operand in call.operands)
    if first is None or second is None:
        return "the answer is {1}: {2} against {3}"
    return f"the answer is {{1}}. {opening_of(first)}: {{2}}, {second.said(many)}: {{3}}"


def opening_of(things: Things) -> str:
    said = things.said(many)
    return f"{said[:1].upper()}{said[1:]}"


def in_order(call: Call, facts: KnownFacts) -> str:
    """The first members of a set in the order of a value, or the last of these if a rank is asked for."""
    ordered = call.operands[0]
    if not isinstance(ordered, Call) or ordered.function != "sort":
        return f"{agree_with_count('it is', 'they are')} {{1}}"
    inner, (label, direction), noun = ordered.operands[0], ordered.words, noun_of(ordered.words)
    if isinstance(inner, Call) and inner.function == "limit":
        return f"in the order of {noun} it is {{1}}" if noun else "in that order it is {1}"
    word = EXTREMES.get(facts.value_kind(label), {}).get("max" if direction == "descending" else "min")
    if isinstance(inner, Call) and inner.function == "having" and inner.words[0] == label:
        inner = inner.operands[0]
    if not word or not noun:
        return f"in that order {agree_with_count('it is', 'they are')} {{1}}"
    things = (things_in(inner, facts) or Things("")).also(lambda _agree: f"with the {word} {noun}")
    return f"{opening(things)}, in order,{IS} {{1}}"


def with_most(call: Call, facts: KnownFacts) -> str:
    """ "The clinic with the most wards"; for a sum, "with the highest total number of beds"."""
    operand = call.operands[0]
    step = facts.last_step_to(operand.pseudonym) if isinstance(operand, Name) else None
    if isinstance(operand, Call) and operand.function == "reach":
        step = operand.words[0]
    if step and call.words == (f"^{step}",) and len(call.operands) == 1:
        noun = noun_of([step])
        return f"the {'most' if call.function == 'most' else 'least'} frequent {noun}{IS} {{1}}" if noun else HELD
    things, word = things_in(operand, facts), "highest" if call.function == "most" else "lowest"
    if len(call.operands) > 1:
        some = things_in(call.operands[1], facts)
        clause = f"with the {call.function} {some.said(many)}" if some else ""
    elif len(call.words) > 1:
        clause = f"with the {word} {totalled('total', noun)}" if (noun := noun_of(call.words[1:])) else ""
    else:
        counted = facts.target_kind(call.words[0])
        clause = f"with the {call.function} {plural(counted)}" if counted else ""
    return f"{opening(things.also(lambda _agree: clause))}{IS} {{1}}" if things and clause else HELD


def totalled(word: str, noun: str) -> str:
    """ "Total weight"; a noun that already begins with the word stays as it is ("total amount")."""
    return noun if noun.startswith(word) else f"{word} {noun}"
