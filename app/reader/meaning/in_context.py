"""Chooses among the meanings of a question by comparing the whole question with each meaning, put into words.

Used if a comparison of single words does not decide. A meaning that is not near enough to be answered may still be
offered to the asker (`step.ask_back`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.llm.in_house import ReadingScores
from app.reader.language.relation_wording import voice_of
from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion
from app.reader.meaning.question.token_roles import said_words
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.schema_graph import SchemaGraph, SchemaHop
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.errors import ExpressionError
from kg_store.terms import is_mask_word
from kg_store.text.inflection import plural
from kg_store.text.labels import readable_step
from kg_store.text.words import is_pseudonym

_COMPARED = {">": "above", ">=": "at least", "<": "below", "<=": "at most", "=": "", "!=": "other than"}
_GREATEST = {
    "argmax": ("highest", "latest"), "argmin": ("lowest", "earliest"), "compare": ("higher", "later"),
    "most": ("most", "most"), "fewest": ("fewest", "fewest"),
}  # fmt: skip
_TOTALS = {"count": "number of", "sum": "total", "average": "average", "min": "least", "max": "greatest"}


class MeaningWords:
    """Puts expressions over the hops of one schema into words.

    `things`: the kind of each pseudonym in the question; `whole`: for each kind, the pseudonym of all its things.
    """

    def __init__(self, hops: Iterable[SchemaHop], things: Mapping[str, str], whole: Mapping[str, str]) -> None:
        self._kinds = dict(things) | {name: plural(kind) for kind, name in whole.items()}
        self._hops = {hop.label: hop for hop in hops}

    def question(self, words: tuple[str, ...]) -> str:
        """Returns the question with each pseudonym replaced by its kind."""
        return " ".join(self._name(word) if is_pseudonym(word) else word for word in words)

    def of(self, text: str) -> str:
        """Returns the words of the expression `text`."""
        return self._said(parse(text))

    def _name(self, name: str) -> str:
        kind = self._kinds.get(name, "thing").split(", ")[0]
        return f"the {kind}" if name[0] == "E" else kind

    def _said(self, expression: Expression) -> str:
        if isinstance(expression, Name):
            return self._name(expression.pseudonym)
        first = self._said(expression.operands[0])
        match expression:
            case Call(function="reach", words=(label,)):
                return self._reached(first, label)
            case Call(function="filter", operands=(_, *value), words=(label, operator, *number)):
                said = number[0] if number else self._said(value[0])
                return f"{first} {self._relation(label)} {_COMPARED[operator]} {said}"
            case Call(function="having", words=(label,)):
                return f"{first} with {self._relation(label)}"
            case Call(function="argmax" | "argmin" | "compare" | "most" | "fewest" as function, words=(label,)):
                is_date = self._value(label) == "date"
                return f"{first} with the {_GREATEST[function][is_date]} {self._relation(label)}"
            case Call(function="intersect", operands=(_, other)):
                return f"{first} that are {self._said(other)}"
            case Call(function="difference", operands=(_, other)):
                return f"{first} that are not {self._said(other)}"
            case Call(function="group", words=(label,)):
                return f"number of {first} by {self._relation(label)}"
            case Call(function="count" | "sum" | "average" | "min" | "max" as function, words=words):
                return " ".join((_TOTALS[function], *map(self._relation, words), first))
            case _:
                return first

    def _value(self, label: str) -> str:
        return self._hops[label].value if label in self._hops else ""

    def _relation(self, label: str) -> str:
        return readable_step(self._hops[label].shown if label in self._hops else label).lower()

    def _reached(self, start: str, label: str) -> str:
        relation, voice = self._relation(label), voice_of(self._relation(label))
        noun = relation.removeprefix("has ")
        kind = min(self._hops[label].ends, default="thing").lower() if label in self._hops else "thing"
        if label.split("|")[-1].startswith("^"):
            said = f"whose {noun} is" if voice == "noun" else relation
            return f"{plural(kind)} {said} {start}"
        if voice == "noun" or self._value(label):
            return f"{noun} of {start}"
        return f"{kind} that {start} is {relation}" if voice == "passive" else f"{kind} {start} {relation}"


# Least likeness (cosine) to the whole question, and least lead over the next meaning (MIN_AHEAD), of a meaning that is
# answered. Chosen by hand on natural questions that were also used in development; not fitted.
MIN_LIKENESS: Final = 0.69
MAX_SILENT: Final = 1
"""Greatest number of hops of a meaning that no word of the question expresses. Chosen by hand; not fitted."""
MIN_AHEAD: Final = 0.02
MIN_LIKENESS_OF_ANY: Final = 0.76
MIN_AHEAD_OF_ANY: Final = 0.1
"""MIN_LIKENESS_OF_ANY and MIN_AHEAD_OF_ANY are the stricter bounds for questions that do not tell the kind asked for.

Chosen by hand; not fitted.
"""

# Greatest number of meanings that are compared; limits the time. Chosen by hand.
MAX_COMPARED: Final = 12
MAX_BEHIND: Final = 2.0
"""Greatest difference between the best score and that of a meaning that is compared. Chosen by hand; not fitted."""

SHARE_OF_SCORE: Final = 0.05
"""Weight of the score by single words in the comparison, in which likeness has the weight 1. Chosen by hand."""
ALONE: Final = 1.0
"""The lead of a meaning that is compared with no other."""

_COMBINING: Final = frozenset({"reach", "intersect", "union"})
_ANCHORS: Final = frozenset({"thing", "value", "superlative"})


@dataclass(frozen=True, slots=True)
class Meanings:
    """All meanings of a question, best first, and the objects that produced them.

    `kinds`: the concept of each thing that the question names, by pseudonym.
    """

    asked: AskedQuestion
    graph: SchemaGraph
    builder: ReadingBuilder
    kinds: Mapping[str, str]
    ranked: Sequence[Meaning]

    @property
    def anchors(self) -> int:
        """The number of things and values that the question names, plus its superlatives."""
        return sum(role in _ANCHORS for role in self.asked.roles)


@dataclass(frozen=True, slots=True)
class NearestMeaning:
    """The meaning most like the whole question, the scores of that choice, and all meanings compared, best first."""

    meaning: Meaning
    scores: ReadingScores
    ranked: tuple[Meaning, ...]

    @property
    def is_near(self) -> bool:
        """True if the meaning is like enough to the question, and far enough ahead of the others, to be answered."""
        least, ahead = (MIN_LIKENESS, MIN_AHEAD) if self.scores.fits else (MIN_LIKENESS_OF_ANY, MIN_AHEAD_OF_ANY)
        is_like = self.scores.likeness >= least and self.scores.margin >= ahead
        return is_like and self.scores.accounted and self.meaning.silent <= MAX_SILENT


def nearest_in_context(scorer: PathScorer, found: Meanings) -> NearestMeaning | None:
    """Returns the meaning most like the whole question.

    Returns None if there is nothing to compare, or if no content word of the question tells the relation.
    """
    compared = list(_to_compare(found))
    if not compared or _tells_nothing(found.asked, len(compared)):
        return None
    words = MeaningWords(found.graph.hops, found.kinds, found.graph.kinds)
    texts = [words.of(each.expression) for each in compared]
    likeness = scorer.text_likeness(words.question(tuple(said_words(found.asked.text))), texts)
    scores = [like + SHARE_OF_SCORE * each.score for like, each in zip(likeness, compared, strict=True)]
    order = sorted(range(len(compared)), key=lambda at: -scores[at])
    best = order[0]
    meaning = compared[best]
    unread = {word for at, word in enumerate(found.asked.words) if meaning.left >> at & 1}
    read = words.question(tuple(word for word in said_words(found.asked.text) if word not in unread))
    return NearestMeaning(
        meaning,
        ReadingScores(
            "whole",
            meaning.score,
            scores[best] - scores[order[1]] if len(order) > 1 else ALONE,
            steps=len(set(LABEL.findall(meaning.expression))),
            likeness=likeness[best],
            pull=scorer.text_likeness(read, texts[best : best + 1])[0] - likeness[best] if meaning.left else 0.0,
            fits=meaning.is_whole,
            accounted=_is_accounted_for(found, meaning),
        ),
        tuple(compared[at] for at in order),
    )


def _tells_nothing(asked: AskedQuestion, compared: int) -> bool:
    """Returns True if no content word tells the relation.

    This holds for "was X in Y", and for "who was in X" if there are several relations to choose from.
    """
    return not asked.content and (asked.form == "truth" or (asked.wh == "who" and compared > 1))


def _to_compare(found: Meanings) -> Iterator[Meaning]:
    """Yields the meanings to compare with the question, best first: at most MAX_COMPARED, each with another sense.

    Each executes all operators of the question, such as a superlative. It may leave only content words unexplained.
    """
    seen: set[object] = set()
    for each in found.ranked:
        if each.score < found.ranked[0].score - MAX_BEHIND or len(seen) == MAX_COMPARED:
            return
        sense = sense_of(each.expression)
        if (
            each.may_be_whole
            and not each.left & found.asked.working
            and sense not in seen
            and not _is_masked(found, each)
            and _is_in_bounds(each.expression)
        ):
            seen.add(sense)
            yield each


def _is_in_bounds(expression: str) -> bool:
    """Returns True if the algebra takes the expression, whose number of parts it limits."""
    try:
        parse(expression)
    except ExpressionError:
        return False
    return True


def _is_accounted_for(found: Meanings, meaning: Meaning) -> bool:
    """Returns True if every run of unexplained words may stand for a hop that no word expresses.

    So there must be at least as many such hops as runs (neighbouring unexplained words are one run). False if an
    unexplained word names another relation of the schema.
    """
    if any(found.builder.is_elsewhere(at) for at in range(len(found.asked.words)) if meaning.left >> at & 1):
        return False
    labels = set(LABEL.findall(meaning.expression))
    unsaid = sum(not found.builder.explained(label) & ~meaning.left & found.asked.content for label in labels)
    return _runs(meaning.left) <= unsaid


def _is_masked(found: Meanings, meaning: Meaning) -> bool:
    """Returns True if a relation of the meaning is masked and undescribed, so that there are no words to compare."""
    labels = set(LABEL.findall(meaning.expression))
    shown = (part for hop in found.graph.hops if hop.label in labels for part in hop.shown.split("|"))
    return any(is_mask_word(part.lstrip("^")) for part in shown)


def _runs(bits: int) -> int:
    """Returns the number of runs of 1 bits in `bits`."""
    return (bits & ~(bits << 1)).bit_count()


def sense_of(expression: str) -> tuple[object, ...]:
    """Returns a key of the relations, things and functions of an expression.

    Two paths through the same relations have the same sense, whatever their direction or combination.
    """
    labels = {
        part.lstrip("^").removesuffix(" number") for label in LABEL.findall(expression) for part in label.split("|")
    }
    rest = re.findall(r"[A-Za-z0-9]+|<=|>=|[<>=]", LABEL.sub("", expression))
    said = {word for word in rest if word not in _COMBINING and not (labels and word[0] == "S")}
    return (*sorted(labels), *sorted(said))
