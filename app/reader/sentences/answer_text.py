"""Writes an answer as a sentence: things, numbers, yes or no, and the values that decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.llm.tasks import StepInput
from app.reader.sentences.described_things import (
    EXTREMES,
    HELD,
    IS,
    KnownFacts,
    last_step,
    measure_of,
    noun_of,
    opening,
    things_in,
)
from app.reader.sentences.phrases import (
    RelationPhrase,
    Speaker,
    Things,
    agree_with_count,
    many,
    one,
    phrase_of,
    things_of,
)
from app.reader.sentences.question_text import of_two
from kg_store.algebra.expressions import PERIODS, Call, Expression, Name, parse, written
from kg_store.text.inflection import plural, with_article

_TWO = ("compare", "argmin", "argmax")


def deciding_values(expression: str, shown: StepInput) -> list[tuple[str, str]]:
    """Returns the values that decide the yes/no `expression`, as pairs: an expression to evaluate and its sentence.

    In the sentence, `{1}` stands for the value. A pair that only states a kind has an empty expression. Raises
    ExpressionError if `expression` cannot be parsed.
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
        elif sentence := _deciding_sentence(*found) if found else "":
            yield first.pseudonym, sentence


def _compared(call: Call) -> Iterator[tuple[str, str]]:
    """Yields the value of each of two compared things, as a pair: an expression and its sentence."""
    union = call.operands[0]
    pair = union.operands if isinstance(union, Call) and union.function == "union" else call.operands
    if len(pair) == 2 and call.words:
        for each in pair:
            yield from _told(each.pseudonym, call.words[0]) if isinstance(each, Name) else ()


def _told(name: str, relation: str) -> Iterator[tuple[str, str]]:
    phrase = phrase_of(relation)
    sentence = _deciding_sentence(Speaker.named(name), phrase) if phrase and name[0] == "E" else ""
    if sentence:
        yield f'reach({name}, "{relation}")', sentence


def _deciding_sentence(speaker: Speaker, phrase: RelationPhrase) -> str:
    """Returns `X lives in {1}` or `X's salary is {1}`; empty for hops backwards, which lead to many things."""
    if phrase.inverse or "S" in speaker.subject[:1]:
        return ""
    if phrase.form == "noun":
        return f"{speaker.has(phrase.words, speaker.agree)} {{1:is|are}} {{1}}"
    return f"{speaker.subject} {speaker.predicate(phrase, ('is', 'are'))} {{1}}"


def per_group(call: Call, facts: KnownFacts) -> str:
    period = next((word for word in call.words if word in PERIODS), "")
    group = period or facts.target_kind(call.words[0])
    if call.function != "group":
        noun, word = measure_of(call.words[1:], facts), "average" if call.function == "averages" else "total"
        return f"the {totalled(word, noun)} per {group} is {{1}}" if noun and group else "per group: {1}"
    things = things_in(call.operands[0], facts)
    if things is None or not group:
        return f"per {group}: {{1}}" if group else "per group: {1}"
    return f"the numbers of {things.said(many)} per {group} are {{1}}"


def nothing_but(call: Call, facts: KnownFacts) -> str:
    """Returns words for B if the expression selects the members of A that are related to nothing but B, such as gout.

    Such an expression is `difference(A, reach(difference(S, B), label))`. Empty for other expressions.
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
    """Returns the sentence of a difference: "X's salary less Y's salary is 200"; for dates, the years between them."""
    first, second = (_measured(operand, facts) for operand in call.operands)
    if not first or not second:
        return "the difference is {1}"
    if first[1] == "date":
        return f"from {second[0]} to {first[0]} it is {{1}} years"
    return f"{first[0]} less {second[0]} is {{1}}"


def _measured(side: Expression, facts: KnownFacts) -> tuple[str, str] | None:
    """Returns `X's date of birth` and the type of that value, or None if no words are certain."""
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
    """Returns the sentence that says if one set has more members than another, with both numbers."""
    first, second = (things_in(operand, facts) for operand in call.operands)
    if first is None or second is None:
        return "the answer is {1}: {2} against {3}"
    return f"the answer is {{1}}. {opening_of(first)}: {{2}}, {second.said(many)}: {{3}}"


def opening_of(things: Things) -> str:
    said = things.said(many)
    return f"{said[:1].upper()}{said[1:]}"


def in_order(call: Call, facts: KnownFacts) -> str:
    """Returns the sentence for the first members of a set in the order of a value, or for the one at a rank."""
    ordered = call.operands[0]
    if not isinstance(ordered, Call) or ordered.function != "sort":
        return f"{agree_with_count('It is', 'They are')} {{1}}"
    inner, (label, direction), noun = ordered.operands[0], ordered.words, measure_of(ordered.words, facts)
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
    """Returns the sentence for "the clinic with the most wards"; for a sum, "with the highest total of beds"."""
    operand = call.operands[0]
    step = facts.last_step_to(operand.pseudonym) if isinstance(operand, Name) else None
    if isinstance(operand, Call) and operand.function == "reach":
        step = operand.words[0]
    if step and call.words == (f"^{step}",) and len(call.operands) == 1:
        noun = noun_of([step])
        frequent = f"the {'most' if call.function == 'most' else 'least'} frequent"
        return f"{frequent} {agree_with_count(noun, plural(noun))}{IS} {{1}}" if noun else HELD
    things, word = things_in(operand, facts), "highest" if call.function == "most" else "lowest"
    if len(call.operands) > 1:
        some = things_in(call.operands[1], facts)
        clause = f"with the {call.function} {some.said(many)}" if some else ""
    elif len(call.words) > 1:
        clause = f"with the {word} {totalled('total', noun)}" if (noun := measure_of(call.words[1:], facts)) else ""
    else:
        counted = facts.target_kind(call.words[0])
        clause = f"with the {call.function} {plural(counted)}" if counted else ""
    return f"{opening(things.also(lambda _agree: clause))}{IS} {{1}}" if things and clause else HELD


def totalled(word: str, noun: str) -> str:
    """Returns `noun` after `word` ("total weight"), unless it begins with that word already ("total amount")."""
    return noun if noun.startswith(word) else f"{word} {noun}"


_COMPARED = {
    "date": {"compare": "later", "argmin": "earlier"},
    "number": {"compare": "greater", "argmin": "smaller"},
}


def told_answer(expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
    """Returns the expressions of an answer and its text; to a yes or no, the values that decide it are added."""
    asked, parts = parse(expressions[0]), [*expressions]
    text = reply_text(expressions[0], shown)
    if len(parts) == 1 and isinstance(asked, Call) and asked.function == "outnumbers":
        return [*parts, *(f"count({written(each)})" for each in asked.operands)], text
    if len(parts) == 2:
        text = text.removesuffix(".") + (": {2}." if expressions[0].startswith("count(") else " ({2} in all).")
    for expression, sentence in deciding_values(expressions[0], shown) if len(expressions) == 1 else ():
        parts += [expression] if expression else []
        text += f" {sentence.replace('{1', f'{{{len(parts)}')}."
    return parts, text


def reply_text(expression: str, shown: StepInput) -> str:
    """Returns one or two sentences for an answer of one expression; `shown` is the reasoner's input."""
    sentence = _sentence(parse(expression), KnownFacts(shown))
    return f"{sentence[:1].upper()}{sentence[1:]}."


def _sentence(expression: Expression, facts: KnownFacts) -> str:
    if isinstance(expression, Name):
        return _of_name(expression.pseudonym, facts)
    match expression.function:
        case "count":
            return _counted(expression.operands[0], facts)
        case "exists":
            question = _question(expression.operands[0], facts)
            return f"{question} The answer is {{1}}" if question else "the answer is {1}"
        case "holds" | "none":
            return "the answer is {1}"
        case "outnumbers":
            return more_than(expression, facts)
        case "difference":
            return _without(expression, facts)
        case "average" | "sum":
            return _of_values(expression, facts)
        case "argmax" | "argmin" | "max" | "min" | "compare":
            return _greatest(expression, facts)
        case "group" | "sums" | "averages":
            return per_group(expression, facts)
        case "minus":
            return minus_text(expression, facts)
        case "limit":
            return in_order(expression, facts)
        case "most" | "fewest":
            return with_most(expression, facts)
        case _:
            things = things_in(expression, facts)
            return f"{opening(things)}{IS} {{1}}" if things else _holds(expression, facts)


def _counted(operand: Expression, facts: KnownFacts) -> str:
    things = things_in(operand, facts)
    if things is None:
        return "the number is {1}"
    if isinstance(operand, Name) and things.clauses:
        things = Things("", things.clauses)  # Some members of a set may be of another kind, but all are counted.
    return f"the number of {things.said(many)} is {{1}}"


def _holds(call: Call, facts: KnownFacts) -> str:
    things = things_in(call.operands[0], facts) if call.function == "filter" else None
    if things and things.kind:
        return f"that holds for {things.definite(agree_with_count)} {{1}}"
    return HELD


def _of_name(name: str, facts: KnownFacts) -> str:
    """Returns `X is treated by Y`, or else a sentence with the relation or the kind by which Y was found."""
    found = last_step(name, facts)
    if found is None:
        kind = noun_of([facts.last_step_to(name) or ""]) or facts.kind(name)
        return f"{opening(Things(kind))}{IS} {{1}}" if kind else f"{agree_with_count('It is', 'They are')} {{1}}"
    speaker, phrase = found
    if phrase.inverse and phrase.form == "noun" and speaker.agree is one:
        article = with_article(phrase.words) if phrase.had else f"the {phrase.words}"
        return f"{speaker.subject} {facts.be[0]} {article} of {{1}}"
    if phrase.inverse or phrase.form == "noun":
        return f"{opening(things_of(speaker, phrase, facts.kind(name), facts.be))}{IS} {{1}}"
    return f"{speaker.subject} {speaker.predicate(phrase, facts.be)} {{1}}"


def _without(call: Call, facts: KnownFacts) -> str:
    """Returns the sentence of an exclusion: "all drugs but those made by X", "with nothing but gout"."""
    if inner := nothing_but(call, facts):
        return f"with nothing but {inner}: {{1}}"
    whole, left = (things_in(operand, facts) for operand in call.operands)
    if whole is None:
        return "what is left is {1}"
    if left is None:
        kind = agree_with_count(whole.said(one), whole.said(many))
        return f"the {kind} that {agree_with_count('is', 'are')} left {agree_with_count('is', 'are')} {{1}}"
    return f"all {whole.said(many)} but {left.definite(many)}: {{1}}"


def _question(expression: Expression, facts: KnownFacts) -> str:
    """Returns `Is X treated by Y?` for the intersection of X's hop with Y; empty if it makes no good English."""
    if not isinstance(expression, Call) or expression.function != "intersect":
        return ""
    left, right = expression.operands[:2]
    if not isinstance(left, Name) or not isinstance(right, Name) or len(expression.operands) != 2:
        return ""
    found, other = last_step(left.pseudonym, facts), facts.speaker(right.pseudonym)
    if found is None or other.agree is many or right.pseudonym[0] == "S":
        return ""
    speaker, phrase = found
    return of_two(speaker, other, phrase, facts.be)


def _of_values(call: Call, facts: KnownFacts) -> str:
    word = "average" if call.function == "average" else "total"
    noun = measure_of(call.words, facts)
    if not noun:
        return "on average it is {1}" if call.function == "average" else "in total it is {1}"
    return f"the {totalled(word, noun)}{_of_things(call, facts)} is {{1}}"


def _greatest(call: Call, facts: KnownFacts) -> str:
    kind, noun = facts.value_kind(call.words[0]) if call.words else "", measure_of(call.words, facts)
    plain = f"{agree_with_count('It is', 'They are')} {{1}}"
    if call.function == "compare" or _of_two(call, facts):
        word = _COMPARED.get(kind, {}).get(call.function)
        return f"the {word} {noun} is that of {{1}}" if word and noun else plain
    word = EXTREMES.get(kind, {}).get(call.function.removeprefix("arg"))
    if word is None:
        return plain
    if not call.function.startswith("arg"):
        return f"the {word} {noun}{_of_things(call, facts)} is {{1}}" if noun else f"the {word} {kind} is {{1}}"
    things = things_in(call.operands[0], facts)
    if things is None or not noun:
        return plain
    return f"{opening(things.also(lambda _agree: f'with the {word} {noun}'))}{IS} {{1}}"


def _of_two(call: Call, facts: KnownFacts) -> bool:
    """Returns True if the expression compares two named things: argmin(union(X, Y), ...)."""
    operand = call.operands[0]
    return (
        call.function == "argmin"
        and isinstance(operand, Call)
        and operand.function == "union"
        and all(isinstance(each, Name) and not facts.is_kind(each.pseudonym) for each in operand.operands)
    )


def _of_things(call: Call, facts: KnownFacts) -> str:
    things = things_in(call.operands[0], facts)
    return f" of {things.definite(many)}" if things else ""
