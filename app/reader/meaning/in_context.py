"""Chooses among meanings by the likeness of the whole question to their words, where its single words don't decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.reader.meaning.answer_forms import Meaning
from app.reader.meaning.question.question_tokens import AskedQuestion
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.schema_graph import SchemaGraph
from app.reader.scoring.path_scoring import PathScorer
from app.reader.sentences.meaning_words import MeaningWords
from kg_store.terms import is_mask_word

MIN_LIKENESS: Final = 0.69
MAX_SILENT: Final = 1
"""Steps that no word of the question says, where its single words don't decide."""
MIN_AHEAD: Final = 0.02
MIN_LIKENESS_OF_ANY: Final = 0.76
MIN_AHEAD_OF_ANY: Final = 0.1
"""Where nothing tells the kind of what is asked for."""

MAX_COMPARED: Final = 12
MAX_BEHIND: Final = 2.0
"""Of the score of the best meaning: what lies further behind is not compared."""

SHARE_OF_SCORE: Final = 0.05
"""Of the score by single words, in the choice."""

_COMBINING: Final = frozenset({"reach", "intersect", "union"})
_LABEL: Final = re.compile(r'"([^"]*)"')
_ANCHORS: Final = frozenset({"thing", "value", "superlative"})


@dataclass(frozen=True, slots=True)
class Meanings:
    """All that a question may mean, best first, and what it was read with; `kinds`: those of what it names."""

    asked: AskedQuestion
    graph: SchemaGraph
    builder: ReadingBuilder
    kinds: Mapping[str, str]
    ranked: Sequence[Meaning]

    @property
    def anchors(self) -> int:
        """The number of things, dates and numbers that the question names, and of extremes that it asks for."""
        return sum(role in _ANCHORS for role in self.asked.roles)


@dataclass(frozen=True, slots=True)
class NearestMeaning:
    """A meaning, the likeness of its words to the question, and how far it lies ahead of the next one."""

    meaning: Meaning
    likeness: float
    margin: float

    @property
    def is_near(self) -> bool:
        """True where it is near enough to the question, and nothing else is about as near."""
        if self.meaning.is_whole:
            return self.likeness >= MIN_LIKENESS and self.margin >= MIN_AHEAD
        return self.likeness >= MIN_LIKENESS_OF_ANY and self.margin >= MIN_AHEAD_OF_ANY


def nearest_in_context(scorer: PathScorer, found: Meanings) -> NearestMeaning | None:
    """The meaning that says what the whole question says; None where none lies near enough, or two about as near."""
    compared = list(_to_compare(found))
    if not compared or _tells_nothing(found.asked, len(compared)):
        return None
    words = MeaningWords(found.graph.hops, found.kinds, found.graph.kinds)
    texts = [words.of(each.expression) for each in compared]
    likeness = scorer.text_likeness(words.question(found.asked.words), texts)
    scores = [like + SHARE_OF_SCORE * each.score for like, each in zip(likeness, compared, strict=True)]
    order = sorted(range(len(compared)), key=lambda at: -scores[at])
    best = order[0]
    ahead = scores[best] - scores[order[1]] if len(order) > 1 else 1.0
    nearest = NearestMeaning(compared[best], likeness[best], ahead)
    if nearest.meaning.silent > MAX_SILENT:
        return None
    return nearest if nearest.is_near and _is_accounted_for(found, nearest.meaning) else None


def _tells_nothing(asked: AskedQuestion, compared: int) -> bool:
    """True where no word says a step: who was in a film, its director or its composer; and was X in it at all."""
    return not asked.content and (asked.form == "truth" or (asked.wh == "who" and compared > 1))


def _to_compare(found: Meanings) -> Iterator[Meaning]:
    """Meanings of different senses that leave over nothing but words for a step."""
    seen: set[object] = set()
    for each in found.ranked:
        if each.score < found.ranked[0].score - MAX_BEHIND or len(seen) == MAX_COMPARED:
            return
        sense = sense_of(each.expression)
        if each.may_be_whole and not each.left & found.asked.working and sense not in seen and not _is_masked(each):
            seen.add(sense)
            yield each


def _is_accounted_for(found: Meanings, meaning: Meaning) -> bool:
    """True where there is a step that no word says for each run of words that says none: "electric" of electric trucks
    narrows them, and no context explains it away; nor a word that another step of the schema is called by."""
    if any(found.builder.is_elsewhere(at) for at in range(len(found.asked.words)) if meaning.left >> at & 1):
        return False
    labels = set(_LABEL.findall(meaning.expression))
    unsaid = sum(not found.builder.explained(label) & ~meaning.left & found.asked.content for label in labels)
    return _runs(meaning.left) <= unsaid


def _is_masked(meaning: Meaning) -> bool:
    """True where a relation has no words that could be compared."""
    hops = (hop.lstrip("^") for label in _LABEL.findall(meaning.expression) for hop in label.split("|"))
    return any(map(is_mask_word, hops))


def _runs(bits: int) -> int:
    """The number of runs of ones."""
    return (bits & ~(bits << 1)).bit_count()


def sense_of(expression: str) -> tuple[object, ...]:
    """The relations, things and functions of a meaning: two ways through the same relations are one."""
    labels = {
        part.lstrip("^").removesuffix(" number") for label in _LABEL.findall(expression) for part in label.split("|")
    }
    rest = re.findall(r"[A-Za-z0-9]+|<=|>=|[<>=]", _LABEL.sub("", expression))
    said = {word for word in rest if word not in _COMBINING and not (labels and word[0] == "S")}
    return (*sorted(labels), *sorted(said))
