"""Tells the asker which things a question was understood to name, and how its answer was computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from app.chat.concluding import words_left
from app.chat.question_run import QuestionRun
from app.chat.turns import with_knowledge
from app.language.readings import schema_steps
from app.llm.embeddings.embedder import Likeness
from app.strategies.start import declares_kinds
from client_sdk.protocol import Understood
from kg_store.algebra.expressions import PERIODS, Call, Expression, Name, parse
from kg_store.errors import ExpressionError
from kg_store.graph.traversal import are_of_one_concept, concept_of
from kg_store.terms import Mids, ValueKind, is_mask_word
from kg_store.text.inflection import plural, with_article
from kg_store.text.labels import plain_words, readable_step

MAX_UNDERSTOOD: Final = 10
_OPERATORS: Final = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "", "!=": "not"}
_OF_DATES: Final = {"<": "before", "<=": "not after", ">": "after", ">=": "not before"}
_SENTENCES: Final = {
    "count": "{0}, counted",
    "exists": "any of {0}",
    "kind": "the kind of thing that {0} is",
    "none": "{0}, none at all",
    "outnumbers": "whether {0} are more than {1}",
    "holds": "whether {0} is true",
    "having": 'those of {0} that have "{r}"',
    "most": 'of {0} those with the most "{r}"',
    "fewest": 'of {0} those with the fewest "{r}"',
    "intersect": "those that are among {0}",
    "union": "those that are among {0}",
    "difference": "{0} without {1}",
    "sum": "the sum of {0}",
    "average": "the average of {0}",
    "min": "the least of {0}",
    "max": "the greatest of {0}",
    "argmax": 'of {0} the greatest "{r}"',
    "argmin": 'of {0} the least "{r}"',
    "group": '{0}, counted for each "{r}"',
    "pairs": '{0}, each with its "{r}"',
    "sums": 'the sum of "{m}" of {0} for each "{r}"',
    "averages": 'the average of "{m}" of {0} for each "{r}"',
    "minus": "{0}, less {1}",
    "reach": '"{r}" of {0}',
    "^reach": 'those whose "{r}" is {0}',
    "compare": '{0} and {1}, compared by "{r}"',
}
_OF_DATES_ALONE: Final = {"argmax": 'of {0} the latest "{r}"', "argmin": 'of {0} the earliest "{r}"'}
_FIRST: Final = {
    (False, "descending"): "greatest",
    (False, "ascending"): "least",
    (True, "descending"): "latest",
    (True, "ascending"): "earliest",
}
_OF_THINGS: Final = frozenset({"reach", "difference", "argmax", "argmin", "having"})
_ALL: Final = "all "
LOOKED_FOR: Final = "Looked for what is publicly known about {}."
_Describe = Callable[[str], str]


def count_of(run: QuestionRun, pseudonym: str) -> int | None:
    """Returns the number of things in the graph that `pseudonym` stands for; None if it stands for none."""
    return len(run.conversation.table.resolve(pseudonym, run.graph.blind)[0]) or None


def understood(run: QuestionRun) -> list[Understood]:
    """Returns the things that the service recognised in a question without an answer; empty if there is an answer.

    Promise: only single things in the asker's own view of the graph. Values, unknown words and names outside of this
    view are all left out, because a difference would reveal what is hidden. Names that several things share are left
    out too, as the answer's choices list them.
    """
    if run.ended.conclusion is not None:
        return []
    table, found = run.conversation.table, {}
    for topic in run.read.dialogue.topics:
        meaning = table.meaning(topic.pseudonym)
        is_entity = meaning is not None and meaning.kind == "entity" and topic.value_kind is None
        if topic.newest and is_entity and len(topic.mids):
            concept = _concept(run, topic.mids)
            found[topic.pseudonym] = Understood(pseudonym=topic.pseudonym, concept=concept)
    return list(found.values())[:MAX_UNDERSTOOD]


def worked_out(run: QuestionRun) -> list[str]:
    """Returns one sentence for each part of the answer that says how it was computed.

    Parts that the evidence explains by itself get none, and lists of what goes with each of several things.
    """
    if run.ended.conclusion is None or run.found.draft is None or run.found.draft.things:
        return []
    sentences = [LOOKED_FOR.format(", ".join(run.found.demanded))] if run.found.demanded else []
    for text in run.found.draft.expressions:
        try:
            expression = parse(text)
        except ExpressionError:
            continue
        if isinstance(expression, Call) and not _is_told_by_facts(expression):
            words = in_words(expression, lambda word: _described(run, word), lambda word: _is_date(run, word))
            sentences.append(words[:1].upper() + words[1:] + ".")
    return sentences


def in_words(expression: Expression, describe: _Describe, is_date: Callable[[str], bool]) -> str:
    """Returns `expression` as an English phrase; `describe` returns the words for a pseudonym."""
    if isinstance(expression, Name):
        return describe(expression.pseudonym)
    parts = [in_words(each, describe, is_date) for each in expression.operands]
    words = [each.replace("^", "").replace("|", " / ") for each in expression.words]
    dates = bool(words) and is_date(expression.words[0])
    if expression.function == "exists" and (asked := _one_value(expression.operands[0], describe, is_date)):
        return asked
    if expression.function == "filter":
        return _narrowed(parts[0], words[0], _operator(expression, is_date), parts[1] if parts[1:] else words[2])
    if expression.function in _OF_THINGS:
        parts = list(map(_as_things, parts))
    if expression.function == "counted":
        number, *some = [*words[2:], *parts[1:]]
        of_them = f" among {some[0]}" if some else ""
        return f'of {parts[0]} those with {f"{_OPERATORS[words[1]]} {number}".strip()} "{words[0]}"{of_them}'
    if expression.function == "matching":
        return _narrowed(parts[0], words[0], _OPERATORS[words[1]], f'their "{words[2]}"')
    if expression.function == "sort":
        return f'{parts[0]} by "{words[0]}", {_FIRST[dates, words[1]]} first'
    if expression.function in ("intersect", "union"):
        narrow = [part for part in parts if not _is_all_of(part, parts)] or parts
        if len(narrow) == 1:
            return narrow[0]
        parts = [f" {'and' if expression.function == 'intersect' else 'or'} among ".join(narrow)]
    if expression.function in ("sum", "average", "min", "max") and words:
        parts[0] = f'"{words[0]}" of {_as_things(parts[0])}'
    if expression.function in ("most", "fewest") and len(words) > 1:
        return f'of {parts[0]} those with the {expression.function} "{words[1]}" of all their "{words[0]}"'
    if expression.function in ("most", "fewest") and len(parts) > 1:
        return f'of {parts[0]} those with the {expression.function} of {parts[1]} by "{words[0]}"'
    if expression.function == "limit":
        return f"the first {words[0] if words else parts[1]} of {parts[0]}"
    if expression.function == "reach" and all(step.startswith("^") for step in expression.words[0].split("|")):
        return _SENTENCES["^reach"].format(*parts, r=words[0])
    if dates and expression.function in _OF_DATES_ALONE:
        return _OF_DATES_ALONE[expression.function].format(parts[0], r=words[0])
    period = f", by {words[-1]}" if words and words[-1] in PERIODS else ""
    return _SENTENCES[expression.function].format(*parts, **dict(zip("rm", (*words, "", ""), strict=False))) + period


def _narrowed(part: str, relation: str, operator: str, value: str) -> str:
    """Returns the words of a filter, "of A those whose B is C"; a second filter is joined to the first by "and"."""
    whose = f'whose "{relation}" is {f"{operator} {value}".strip()}'
    is_narrow = part.startswith("of ") and " those whose " in part
    return f"{part} and {whose}" if is_narrow else f"of {part} those {whose}"


def _as_things(part: str) -> str:
    """Returns a phrase reworded so that it can follow "of": "of A those whose B" as "those of A whose B".

    Superlatives are reworded likewise; other phrases are returned as they are.
    """
    if not part.startswith("of "):
        return part
    for first in ("latest", "earliest", "greatest", "least"):
        before, the, by = part.rpartition(f' the {first} "')
        if the and '" ' not in by:
            return f'the {first} {before} by "{by}'
    before, those, after = part.rpartition(" those whose ")
    return f"those {before} whose {after}" if those else part


def _operator(asked: Call, is_date: Callable[[str], bool]) -> str:
    value = asked.operands[1] if len(asked.operands) > 1 else None
    dated = isinstance(value, Name) and is_date(value.pseudonym)
    return ({**_OPERATORS, **_OF_DATES} if dated else _OPERATORS)[asked.words[1]]


def _one_value(asked: Expression, describe: _Describe, is_date: Callable[[str], bool]) -> str:
    """Returns the words for a yes-no question about a value: `whether "opened on" of X is before 2015`.

    Empty if the expression is not a filter of a single pseudonym by a value.
    """
    is_one = isinstance(asked, Call) and asked.function == "filter" and isinstance(asked.operands[0], Name)
    if not (is_one and isinstance(asked, Call)) or len(asked.operands) < 2:
        return ""
    thing, value = (in_words(each, describe, is_date) for each in asked.operands[:2])
    words = asked.words[0].replace("^", "").replace("|", " / ")
    return f'whether "{words}" of {thing} is {f"{_operator(asked, is_date)} {value}".strip()}'


def _is_told_by_facts(expression: Expression) -> bool:
    """Returns True if the evidence explains the expression by itself: it is a pseudonym, or consists only of steps
    along relations, existence, truth, intersections and unions."""
    if isinstance(expression, Name):
        return True
    shared = expression.function in ("exists", "holds", "intersect", "union", "reach")
    return shared and all(map(_is_told_by_facts, expression.operands))


def _is_all_of(part: str, parts: Sequence[str]) -> bool:
    """Returns True if `part` may be left out of a sentence, because it is a whole kind ("all 90 patients") and another
    of `parts` is a set of that kind ("4 patients")."""
    kind = part.removeprefix(_ALL).partition(" ")[2]
    return part.startswith(_ALL) and any(each != part and each.endswith(f" {kind}") for each in parts)


def _described(run: QuestionRun, pseudonym: str) -> str:
    """Returns the words for a pseudonym: "all 12 cities" for a whole kind, "4 patients" for a set.

    A single thing keeps its pseudonym, which its name will replace.
    """
    meaning = run.conversation.table.meaning(pseudonym)
    if meaning is None or meaning.kind not in ("set", "kind", "outcome"):
        return pseudonym
    mids = run.conversation.table.resolve(pseudonym, run.graph.blind)[0]
    if len(mids) < 2:
        return pseudonym
    # A set of several concepts is not called by the most common one: patients and nurses are not "4 patients".
    concept = _concept(run, mids) if are_of_one_concept(run.graph.blind, mids) else "thing"
    words = f"{len(mids):,} {plural(concept)}"
    return f"{_ALL}{words}" if meaning.kind == "kind" else words


def _concept(run: QuestionRun, mids: Mids) -> str:
    return concept_of(run.graph.blind, mids) if len(mids) else "thing"


def _is_date(run: QuestionRun, word: str) -> bool:
    """Returns True if `word` is the pseudonym of a date, or the label of a relation that leads to dates."""
    meaning = run.conversation.table.meaning(word)
    if meaning is not None:
        return meaning.value_kind is ValueKind.DATE
    return any(each.label == word and each.value_kind is ValueKind.DATE for each in run.graph.blind.schema.relations)


MAX_RELATIONS: Final = 4
MAX_KNOWN: Final = 2


def with_nearest(run: QuestionRun, sentence: str, likeness: Likeness) -> str:
    """Returns `sentence` followed by at most two things that were understood, and by relations that may be asked for.

    The relations are those of the first thing's kind, by their likeness to the words that were not understood. The
    thing itself may lack them; masked relations are left out. Promise: the text depends only on what was typed, on
    what `understood` returns, and on the schema that the asker sees.
    """
    schema = run.graph.blind.schema
    known = understood(run)[:MAX_KNOWN] if declares_kinds(schema) else []
    if not known:
        return sentence
    told = [f"{each.pseudonym}, {_kind(each.concept)}" if _kind(each.concept) else each.pseudonym for each in known]
    relations = list(dict.fromkeys(_relations(run, known[0].concept.split(", "))))
    near = likeness(" ".join(words_left(run)), relations).tolist()
    order = sorted(range(len(relations)), key=lambda at: (-round(near[at], 4), relations[at]))
    return with_knowledge(sentence, told, _kind(known[0].concept), [relations[at] for at in order[:MAX_RELATIONS]])


def _kind(concept: str) -> str:
    kinds: Sequence[str] = [kind for kind in concept.split(", ") if kind not in ("", "thing")]
    return " or ".join(map(with_article, kinds))


def _relations(run: QuestionRun, kinds: Sequence[str]) -> Iterator[str]:
    for step in schema_steps(run.graph.blind):
        hops = step.label.split("|")
        is_plain = not any(hop.startswith("^") or is_mask_word(hop) for hop in hops)
        if step.kind in kinds and is_plain and (words := readable_step(plain_words(step.label)).removeprefix("has ")):
            yield words
