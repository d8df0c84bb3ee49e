"""Writes the sentence of an answer from its expression, the facts behind it and the relations' own words.

Promise: a sentence holds fixed wordings of this module, relation labels, concepts and pseudonyms, never a word of the
question. Limit: relation words that do not certainly make good English are left out.

`{1}` stands for the answer; `{1:is|are}` for "is" if the answer is one thing, else for "are".
"""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.tasks import StepInput
from app.reader.sentences.deciding_values import deciding_values
from app.reader.sentences.described_things import EXTREMES, HELD, IS, last_step, noun_of, opening, things_in
from app.reader.sentences.evidence_paths import KnownFacts
from app.reader.sentences.noun_phrases import Things, agree_with_count, many, one, things_of
from app.reader.sentences.numbers_text import (
    in_order,
    minus_text,
    more_than,
    nothing_but,
    per_group,
    totalled,
    with_most,
)
from app.reader.sentences.question_text import of_two
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.text.inflection import with_article

_COMPARED = {
    "date": {"compare": "later", "argmin": "earlier"},
    "number": {"compare": "greater", "argmin": "smaller"},
}


def told_answer(expressions: Sequence[str], shown: StepInput) -> tuple[list[str], str]:
    """Returns the expressions of an answer and its text; a yes or no gets the values that decide it as well."""
    text, parts = reply_text(expressions[0], shown), [*expressions]
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
    """`X is treated by Y`; if that cannot be said, the relation or the kind by which it was found."""
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
    """The sentence of an exclusion: "all drugs but those made by X", "with nothing but gout"."""
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
    """`Is X treated by Y?` for the intersection of X's hop with Y; empty if it makes no good English."""
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
    noun = noun_of(call.words)
    if not noun:
        return "on average it is {1}" if call.function == "average" else "in total it is {1}"
    return f"the {totalled(word, noun)}{_of_things(call, facts)} is {{1}}"


def _greatest(call: Call, facts: KnownFacts) -> str:
    kind, noun = facts.value_kind(call.words[0]) if call.words else "", noun_of(call.words)
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
    """True if the expression compares two named things: argmin(union(X, Y), ...)."""
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
