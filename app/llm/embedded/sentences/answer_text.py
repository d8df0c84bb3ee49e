"""The sentence of an answer, made of its expression, the facts behind it and the relations' own words.

Promise: a sentence holds our own words, relation labels, concepts and pseudonyms, never a word of the question.
Limit: where a relation's words do not make good English for certain, the sentence does without them.
`{1}` stands for the answer; `{1:is|are}` for its first part where the answer is one thing, else for its second.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.llm.embedded.sentences.evidence_paths import KnownFacts
from app.llm.embedded.sentences.noun_phrases import Speaker, Things, agree_with_count, many, one, things_of
from app.llm.embedded.sentences.question_text import of_two
from app.llm.embedded.sentences.relation_phrases import RelationPhrase, phrase_of, with_article
from app.llm.tasks import StepInput
from kg_store.algebra.expressions import Call, Expression, Name, parse

_IS = agree_with_count(" is", " are")
_EXTREMES = {
    "date": {"max": "latest", "min": "earliest"},
    "number": {"max": "highest", "min": "lowest"},
}
_COMPARED = {
    "date": {"compare": "later", "argmin": "earlier"},
    "number": {"compare": "greater", "argmin": "smaller"},
}
_ORDERS = {
    "date": {"<": "before", "<=": "not after", ">": "after", ">=": "not before"},
    "number": {"<": "below", "<=": "of at most", ">": "above", ">=": "of at least"},
}


def reply_text(expression: str, shown: StepInput) -> str:
    """One sentence or two for an answer of one expression; `shown` is what the reasoner was asked with."""
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
        case "difference":
            return _without(expression, facts)
        case "average" | "sum":
            return _of_values(expression, facts)
        case "argmax" | "argmin" | "max" | "min" | "compare":
            return _greatest(expression, facts)
        case "group":
            return _per_group(expression, facts)
        case _:
            things = _things(expression, facts)
            return f"{_opening(things)}{_IS} {{1}}" if things else _holds(expression, facts)


def _counted(operand: Expression, facts: KnownFacts) -> str:
    things = _things(operand, facts)
    if things is None:
        return "the number is {1}"
    if isinstance(operand, Name) and things.clauses:
        things = Things("", things.clauses)  # A few of a set may be of another kind, and all of it is counted.
    return f"the number of {things.said(many)} is {{1}}"


def _holds(call: Call, facts: KnownFacts) -> str:
    things = _things(call.operands[0], facts) if call.function == "filter" else None
    if things and things.kind:
        return f"that holds for {things.definite(agree_with_count)} {{1}}"
    return "that holds for {1}"


def _of_name(name: str, facts: KnownFacts) -> str:
    """`X is treated by Y`; as what it was reached, or what kind of thing it is, where that can't be said."""
    found = _last_step(name, facts)
    if found is None:
        kind = _noun([facts.last_step_to(name) or ""]) or facts.kind(name)
        return f"{_opening(Things(kind))}{_IS} {{1}}" if kind else f"{agree_with_count('It is', 'They are')} {{1}}"
    speaker, phrase = found
    if phrase.inverse and phrase.form == "noun" and speaker.agree is one:
        article = with_article(phrase.words) if phrase.had else f"the {phrase.words}"
        return f"{speaker.subject} {facts.be[0]} {article} of {{1}}"
    if phrase.inverse or phrase.form == "noun":
        return f"{_opening(things_of(speaker, phrase, facts.kind(name), facts.be))}{_IS} {{1}}"
    return f"{speaker.subject} {speaker.predicate(phrase, facts.be)} {{1}}"


def _last_step(name: str, facts: KnownFacts) -> tuple[Speaker, RelationPhrase] | None:
    """Who stands before the last step to `name`, and the step."""
    way = facts.way_to(name)
    phrases = [phrase for step in way.steps if (phrase := phrase_of(step))] if way else []
    if way is None or len(phrases) != len(way.steps):
        return None
    speaker = facts.speaker(way.start)
    if len(phrases) == 2:
        number = one if way.middle_is_one else many
        speaker = things_of(speaker, phrases[0], way.middle, facts.be).as_speaker(number)
    return speaker, phrases[-1]


def _opening(things: Things) -> str:
    """As a subject at the beginning of a sentence."""
    if things.owner is None and not things.kind:
        return things.definite(agree_with_count).replace("{1:the one|those}", "{1:The one|Those}", 1)
    text = things.definite(agree_with_count)
    return f"{text[:1].upper()}{text[1:]}"


def _things(expression: Expression, facts: KnownFacts) -> Things | None:
    """Describes a set in words; None where they can't be told for certain."""
    if isinstance(expression, Name):
        name = expression.pseudonym
        if facts.is_kind(name):
            return Things(facts.kind(name)) if facts.kind(name) else None
        found = _last_step(name, facts)
        return things_of(*found, facts.kind(name), facts.be) if found else None
    if expression.function == "filter":
        return _filtered(expression, facts)
    if expression.function == "having":
        return _having(expression, facts)
    if expression.function != "intersect" or len(expression.operands) != 2:
        return None
    first, second = (_things(operand, facts) for operand in expression.operands)
    if first is None or second is None or first.owner or second.owner:
        return None
    # What is said of both comes first where only one of them says more than its kind.
    return Things(second.kind if not second.clauses else first.kind, (*first.clauses, *second.clauses))


def _filtered(call: Call, facts: KnownFacts) -> Things | None:
    things, relation = _things(call.operands[0], facts), phrase_of(call.words[0])
    order = _ORDERS.get(facts.value_kind(call.words[0]), {}).get(call.words[1])
    value = call.operands[1]
    if things is None or relation is None or order is None or not isinstance(value, Name):
        return None
    if relation.form == "noun" and not relation.inverse:
        words = f"with {with_article(relation.words)} {order} {value.pseudonym}"
        return things.also(lambda _agree: words)
    return None


def _having(call: Call, facts: KnownFacts) -> Things | None:
    things, relation = _things(call.operands[0], facts), phrase_of(call.words[0])
    if things is None or relation is None or relation.form != "noun" or relation.inverse:
        return None
    return things.also(lambda _agree: f"with {with_article(relation.words)}")


def _without(call: Call, facts: KnownFacts) -> str:
    """ "All drugs but those made by X"."""
    whole, left = (_things(operand, facts) for operand in call.operands)
    if whole is None or left is None:
        return f"when those that were left out are taken away, {agree_with_count('it is', 'they are')} {{1}}"
    return f"all {whole.said(many)} but {left.definite(many)}: {{1}}"


def _question(expression: Expression, facts: KnownFacts) -> str:
    """`Is X treated by Y?` for what X's step and Y share; empty where it can't be asked in good English."""
    if not isinstance(expression, Call) or expression.function != "intersect":
        return ""
    left, right = expression.operands[:2]
    if not isinstance(left, Name) or not isinstance(right, Name) or len(expression.operands) != 2:
        return ""
    found, other = _last_step(left.pseudonym, facts), facts.speaker(right.pseudonym)
    if found is None or other.agree is many:
        return ""
    speaker, phrase = found
    return of_two(speaker, other, phrase, facts.be)


def _of_values(call: Call, facts: KnownFacts) -> str:
    word = "average" if call.function == "average" else "total"
    noun = _noun(call.words)
    if not noun:
        return "on average it is {1}" if call.function == "average" else "in total it is {1}"
    return f"the {word} {noun}{_of_things(call, facts)} is {{1}}"


def _greatest(call: Call, facts: KnownFacts) -> str:
    kind, noun = facts.value_kind(call.words[0]) if call.words else "", _noun(call.words)
    plain = f"{agree_with_count('It is', 'They are')} {{1}}"
    if call.function == "compare" or _of_two(call, facts):
        word = _COMPARED.get(kind, {}).get(call.function)
        return f"the {word} {noun} is that of {{1}}" if word and noun else plain
    word = _EXTREMES.get(kind, {}).get(call.function.removeprefix("arg"))
    if word is None:
        return plain
    if not call.function.startswith("arg"):
        return f"the {word} {noun}{_of_things(call, facts)} is {{1}}" if noun else f"the {word} {kind} is {{1}}"
    things = _things(call.operands[0], facts)
    if things is None or not noun:
        return plain
    return f"{_opening(things.also(lambda _agree: f'with the {word} {noun}'))}{_IS} {{1}}"


def _of_two(call: Call, facts: KnownFacts) -> bool:
    """True where it compares two things that are named: argmin(union(X, Y), ...)."""
    operand = call.operands[0]
    return (
        call.function == "argmin"
        and isinstance(operand, Call)
        and operand.function == "union"
        and all(isinstance(each, Name) and not facts.is_kind(each.pseudonym) for each in operand.operands)
    )


def _per_group(call: Call, facts: KnownFacts) -> str:
    things, kind = _things(call.operands[0], facts), facts.target_kind(call.words[0])
    if things is None or not kind:
        return "per group: {1}"
    return f"the numbers of {things.said(many)} per {kind} are {{1}}"


def _of_things(call: Call, facts: KnownFacts) -> str:
    things = _things(call.operands[0], facts)
    return f" of {things.definite(many)}" if things else ""


def _noun(words: Sequence[str]) -> str:
    phrase = phrase_of(words[0]) if words else None
    return phrase.words if phrase is not None and phrase.form == "noun" and not phrase.inverse else ""
