"""Writes a set expression as the question that it answers: `Which doctors treat Eq7f2k?`.

Promise: a question holds only fixed wordings of this module and `plain_wording`, relation labels, concepts and
pseudonyms, never a word that the user typed. The caller (`app/reader/step.py`) checks that a question is read back as
its expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.llm.tasks import StepInput
from app.reader.language.question_words import PREPOSITIONS
from app.reader.sentences.phrases import RelationPhrase, Speaker, Things, base_form, many, one, phrase_of, things_of
from app.reader.sentences.plain_wording import PlainWording
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.text.inflection import is_participle, plural, verbs_of, with_article

_BE: Final = ("is", "are")
_EXTREMES: Final = {
    ("argmax", "date"): ("latest",),
    ("argmin", "date"): ("earliest",),
    ("argmax", "number"): ("highest", "greatest"),
    ("argmin", "number"): ("lowest", "smallest"),
}
_ORDERS: Final = {
    "date": {"<": "before", ">": "after", "=": "on"},
    "number": {"<": "below", ">": "above", "<=": "of at most", ">=": "of at least", "=": "of"},
}
_TOTALS: Final = {"average": "average", "sum": "total"}


@dataclass(frozen=True, slots=True)
class _Ends:
    """The concepts that a hop leads to, or the type of its values."""

    kinds: frozenset[str]
    value: str


class QuestionWriter:
    """Writes questions for expressions over the schema of one StepInput and the things that its question names.

    `plain`: a function that removes from a label the words that say how it is stored, such as units and a source's
    prefixes.
    """

    def __init__(self, given: StepInput, plain: Callable[[str], str]) -> None:
        self._plain = plain
        self._kinds = {kind.name: kind.concept for kind in given.kinds}
        self._ends: dict[str, _Ends] = {}
        for step in given.steps:
            before = self._ends.get(step.label, _Ends(frozenset(), ""))
            kinds = before.kinds if step.value else before.kinds | set(step.concept.split(", "))
            self._ends[step.label] = _Ends(kinds, step.value or before.value)
        starts: dict[str, set[str]] = {}
        for step in given.steps:
            starts.setdefault(step.label, set()).add(step.kind)
        ends = {label: each.kinds for label, each in self._ends.items()}
        values = {label: each.value for label, each in self._ends.items()}
        self._stiff = PlainWording(self._kinds, starts, ends, values, plain)

    def questions(self, expression: str) -> list[str]:
        """Returns questions for `expression`, the plainest first; empty if it has no words."""
        asked = parse(expression)
        found = [*self._asked(asked)] or [self._stiff.question(asked)]
        return list(dict.fromkeys(f"{each[:1].upper()}{each[1:]}?" for each in found if each))

    def _asked(self, asked: Expression) -> Iterator[str]:
        if isinstance(asked, Call) and asked.function in _TOTALS and asked.words:
            things, noun = self._things(asked.operands[0]), self._noun(asked.words[0])
            if things and noun:
                yield f"what is the {_TOTALS[asked.function]} {noun} of {things.definite(many)}"
        elif isinstance(asked, Call) and asked.function == "group":
            things, ends = self._things(asked.operands[0]), self._ends.get(asked.words[0])
            if things and ends and len(ends.kinds) == 1:
                yield f"how many {things.said(many)} are there per {next(iter(ends.kinds))}"
        elif isinstance(asked, Call) and asked.function == "exists":
            yield from self._of_two(asked.operands[0])
        elif isinstance(asked, Call) and asked.function == "holds":
            yield from self._of_truth(asked.operands[0])
        elif isinstance(asked, Call) and asked.function == "count":
            yield from self._of_set(asked.operands[0], "how many")
        elif isinstance(asked, Name) or asked.function not in ("none", "compare", "min", "max", "limit"):
            yield from self._of_set(asked, "which")

    def _of_set(self, asked: Expression, how: str) -> Iterator[str]:
        kind, rest = self._narrowed(asked)
        if isinstance(rest, Call) and rest.function == "reach":
            speaker, phrase, ends = self._speaker(rest.operands[0]), self._phrase(rest.words[0]), self._end(rest)
            if speaker and ends and ends.value == "date" and how == "which":
                yield from self._when(speaker, rest.words[0])
            if speaker is None or phrase is None or ends is None:
                return
            if not phrase.inverse:
                noun = kind or _only(ends)
                what = f"{how} {plural(noun)}" if noun else "what" if how == "which" else ""
                yield from _forwards(what, how, speaker, phrase, is_value=bool(ends.value))
                return
        things = self._things(asked)
        if things is None or things.owner is not None or not things.kind:
            return
        predicates = [predicate for clause in things.clauses if (predicate := _predicate(clause(many)))]
        if len(predicates) == len(things.clauses):
            yield f"{how} {plural(things.kind)} {' and '.join(predicates) or 'are there'}"

    def _when(self, speaker: Speaker, label: str) -> Iterator[str]:
        """Yields `when was X bought` for a date called `bought on`."""
        verb, _, preposition = self._plain(label).partition(" ")
        if is_participle(verb) and preposition in ("on", "at", "in"):
            yield f"when {speaker.agree('was', 'were')} {speaker.subject} {verb}"

    def _of_truth(self, asked: Expression) -> Iterator[str]:
        """Yields the question for a yes/no property: `does X have an elevator`."""
        if isinstance(asked, Call) and asked.function == "reach":
            speaker, noun = self._speaker(asked.operands[0]), self._noun(asked.words[0])
            if speaker and noun:
                yield f"{speaker.agree('does', 'do')} {speaker.subject} have {with_article(noun)}"

    def _of_two(self, asked: Expression) -> Iterator[str]:
        """Yields the question for the intersection of one thing's hop with another thing: `is X treated by Y`."""
        if not isinstance(asked, Call) or asked.function != "intersect" or len(asked.operands) != 2:
            return
        for walked, named in (asked.operands, asked.operands[::-1]):
            if isinstance(walked, Call) and walked.function == "reach" and _is_named(named):
                speaker, other = self._speaker(walked.operands[0]), self._speaker(named)
                phrase = self._phrase(walked.words[0])
                if speaker and other and phrase and (question := of_two(speaker, other, phrase, _BE)):
                    yield question.removesuffix("?")

    def _narrowed(self, asked: Expression) -> tuple[str, Expression]:
        """Returns the kind to which a set is narrowed (empty if to none), and the set without that narrowing."""
        if isinstance(asked, Call) and asked.function == "intersect" and len(asked.operands) == 2:
            for kind, rest in (asked.operands, asked.operands[::-1]):
                if isinstance(kind, Name) and kind.pseudonym in self._kinds:
                    return self._kinds[kind.pseudonym], rest
        return "", asked

    def _things(self, asked: Expression) -> Things | None:
        """Describes a set in words, or returns None if no words are certain."""
        if isinstance(asked, Name):
            kind = self._kinds.get(asked.pseudonym, "")
            return Things(kind) if kind and kind != "thing" and "," not in kind else None
        match asked.function:
            case "reach":
                speaker, ends = self._speaker(asked.operands[0]), self._end(asked)
                phrase = self._phrase(asked.words[0])
                return things_of(speaker, phrase, _only(ends), _BE) if speaker and phrase and ends else None
            case "intersect":
                return self._shared([self._things(each) for each in asked.operands])
            case "having":
                return self._having(asked, "with")
            case "difference":
                return self._without(asked)
            case "filter":
                return self._filtered(asked)
            case "argmax" | "argmin":
                return self._extreme(asked)
        return None

    def _shared(self, parts: Sequence[Things | None]) -> Things | None:
        known = [part for part in parts if part is not None]
        owned = [part for part in known if part.owner is not None]
        if len(known) < len(parts) or len(owned) > 1 or (owned and any(part.clauses for part in known)):
            return None
        plain = [part.kind for part in known if part.kind and not part.clauses]
        kind = next(iter([*plain, *(part.kind for part in known if part.kind)]), "")
        first = owned[0] if owned else Things("")
        return replace(first, kind=kind, clauses=tuple(clause for part in known for clause in part.clauses))

    def _having(self, asked: Call, word: str) -> Things | None:
        things, ends = self._things(asked.operands[0]), self._end(asked)
        noun = self._noun(asked.words[0]) or (_only(ends) if ends else "")
        if things is None or things.owner or not noun:
            return None
        return things.also(lambda _agree: f"{word} {with_article(noun)}")

    def _without(self, asked: Call) -> Things | None:
        whole, left = asked.operands
        if isinstance(left, Call) and left.function == "having" and left.operands[0] == whole:
            return self._having(left, "without")
        things = self._things(whole)
        if not isinstance(left, Call) or left.function != "reach" or things is None or things.owner:
            return None
        speaker, phrase = self._speaker(left.operands[0]), self._phrase(left.words[0])
        if speaker is None or phrase is None or not phrase.inverse:
            return None
        if phrase.form == "passive":
            return things.also(lambda _agree: f"not {phrase.words} {speaker.object}")
        if phrase.form == "verb":
            return things.also(lambda _agree: f"that do not {base_form(phrase.words)} {speaker.object}")
        return None

    def _filtered(self, asked: Call) -> Things | None:
        things, noun, value = self._things(asked.operands[0]), self._noun(asked.words[0]), asked.operands[-1]
        ends = self._end(asked)
        order = _ORDERS.get(ends.value, {}).get(asked.words[1]) if ends else None
        if things is None or things.owner or not noun or order is None or not isinstance(value, Name):
            return None
        return things.also(lambda _agree: f"with {with_article(noun)} {order} {value.pseudonym}")

    def _extreme(self, asked: Call) -> Things | None:
        things, noun, ends = self._things(asked.operands[0]), self._noun(asked.words[0]), self._end(asked)
        words = _EXTREMES.get((asked.function, ends.value if ends else ""))
        if things is None or things.owner or not noun or words is None:
            return None
        return things.also(lambda _agree: f"with the {words[0]} {noun}")

    def _speaker(self, asked: Expression) -> Speaker | None:
        if _is_named(asked):
            return Speaker.named(asked.pseudonym) if isinstance(asked, Name) else None
        things = self._things(asked)
        if things is None or (not things.kind and things.owner is None):
            return None
        return things.as_speaker(many)

    def _end(self, asked: Call) -> _Ends | None:
        return self._ends.get(asked.words[0])

    def _phrase(self, label: str) -> RelationPhrase | None:
        """Returns the phrase of a label; None for a past event ("occurred on trip"), which is not used as a noun."""
        phrase = phrase_of(self._plain(label))
        words = phrase.words.split() if phrase is not None and phrase.form == "noun" else []
        return None if words and is_participle(words[0]) and not set(PREPOSITIONS).isdisjoint(words[1:]) else phrase

    def _noun(self, label: str) -> str:
        phrase = self._phrase(label)
        return phrase.words if phrase is not None and phrase.form == "noun" and not phrase.inverse else ""


def of_two(speaker: Speaker, other: Speaker, phrase: RelationPhrase, be: tuple[str, str]) -> str:
    """Writes `Is X treated by Y?` for a hop from `speaker` to `other`; empty if no form makes good English.

    `be`: (is, are) or (was, were).
    """
    doer, done = (other, speaker) if phrase.inverse else (speaker, other)
    match phrase.form:
        case "passive":
            return f"{doer.agree(*be)} {doer.subject} {phrase.words} {done.object}?"
        case "verb":
            return f"{doer.agree('does', 'do')} {doer.subject} {base_form(phrase.words)} {done.object}?"
        case "noun" if doer.possessive:
            return f"{be[0]} {done.object} {doer.has(phrase.words, one)}?"
        case _:
            return ""


def _forwards(asked: str, how: str, speaker: Speaker, phrase: RelationPhrase, *, is_value: bool) -> Iterator[str]:
    """Yields questions for the end of a hop: `which cities does X live in`, `what is X's salary`."""
    does = speaker.agree("does", "do")
    match phrase.form:
        case "noun" if is_value and how == "which":
            yield f"what {speaker.agree(*_BE)} {speaker.has(phrase.words, speaker.agree)}"
        case "noun":
            yield f"{how} {plural(phrase.words)} {does} {speaker.subject} have"
        case _ if is_value or not asked:
            return
        case "passive":
            yield f"{asked} {speaker.agree(*_BE)} {speaker.subject} {phrase.words}"
        case "verb":
            yield f"{asked} {does} {speaker.subject} {base_form(phrase.words)}"
        case "past":
            first, _, rest = phrase.words.partition(" ")
            for verb in sorted(verbs_of(first)):
                yield f"{asked} did {speaker.subject} {f'{verb} {rest}'.strip()}"
        case "noun_of":
            yield f"{asked} {speaker.agree(*_BE)} {speaker.subject} {with_article(phrase.words)}"


def _predicate(clause: str) -> str:
    """Returns the predicate for a clause: `treated by X` -> `are treated by X`, `with a ward` -> `have a ward`."""
    opening, _, rest = clause.partition(" ")
    match opening:
        case "that":
            return rest
        case "with":
            return f"have {rest}"
        case "without":
            return f"have no {rest.removeprefix('an ').removeprefix('a ')}"
        case "whose":
            noun, found, owner = rest.partition(" is ")
            return f"have {owner} as {noun}" if found else ""
    return f"are {clause}"


def _only(ends: _Ends) -> str:
    """Returns the only concept that a hop leads to; empty for values and for several concepts."""
    kind = next(iter(ends.kinds), "") if len(ends.kinds) == 1 and not ends.value else ""
    return "" if kind == "thing" else kind


def _is_named(asked: Expression) -> bool:
    return isinstance(asked, Name) and asked.pseudonym[0] in "EV"
