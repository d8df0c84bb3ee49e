"""Reads a question as a set expression, and tells how sure that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.llm.embedded.language.question_words import is_pseudonym, words_in
from app.llm.embedded.language.relation_wording import unmask_words
from app.llm.embedded.meaning.answer_forms import AnswerForms, Meaning
from app.llm.embedded.meaning.in_context import Meanings, nearest_in_context, sense_of
from app.llm.embedded.meaning.question.question_tokens import AskedQuestion, read_question
from app.llm.embedded.meaning.readings import ReadingBuilder
from app.llm.embedded.meaning.said_hops import SaidHops
from app.llm.embedded.meaning.schema_graph import NamedThings, SchemaGraph
from app.llm.embedded.scoring.path_scoring import PathScorer
from app.llm.tasks import StepInput

MIN_MARGIN = 0.14
MIN_WEAKEST = 0.65
_PRONOUNS = frozenset("they them those these he she him his her hers their it its there that".split())
_SINGULAR = re.compile(r"\b(?:it|there|he|she|him|that one|this one|that|this|one)\b", re.IGNORECASE)
_PLURAL = re.compile(r"\b(?:they|them|those|these|ones|one)\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:his|her|its|their)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadMeaning:
    """The best meaning, its margin over the next one that means something else, and the words it leaves over.

    `likeness` of its words to the whole question, where that decided and not each word; else 0.
    """

    meaning: Meaning
    margin: float
    left: tuple[str, ...]
    likeness: float = 0.0

    @property
    def is_sure(self) -> bool:
        if self.likeness:
            return True
        whole = self.meaning.is_whole and not self.left
        return whole and self.margin >= MIN_MARGIN and self.meaning.weakest >= MIN_WEAKEST


def read_meaning(scorer: PathScorer, given: StepInput) -> ReadMeaning | None:
    """None where nothing can be built, and for several questions at once."""
    if "? " in given.question.strip():
        return None
    found = meanings(scorer, given)
    if not found.ranked:
        return None
    best = found.ranked[0]
    other = next(
        (each.score for each in found.ranked[1:] if sense_of(each.expression) != sense_of(best.expression)),
        best.score - 9,
    )
    left = tuple(word for at, word in enumerate(found.asked.words) if best.left >> at & 1)
    read = ReadMeaning(best, best.score - other, left)
    if read.is_sure:
        return read
    chosen = nearest_in_context(scorer, found)
    return read if chosen is None else ReadMeaning(chosen.meaning, chosen.margin, (), chosen.likeness)


def meanings(scorer: PathScorer, given: StepInput) -> Meanings:
    """All that the question may mean, best first."""
    values = {thing.name: thing.concept for thing in given.things if thing.name[0] == "V"}
    units = frozenset(name for name, kind in values.items() if kind == "text" and name not in given.own)
    question, shown = unmask_words(_pronouns_resolved(given), [step.shown for step in given.steps])
    graph = SchemaGraph([step._replace(shown=s) for step, s in zip(given.steps, shown, strict=True)], given.kinds)
    phrases = {tuple(hop.shown.lower().split()) for hop in graph.hops}
    asked = read_question(question, units, phrases)
    named = NamedThings(
        things={thing.name: frozenset(thing.concept.split(", ")) for thing in given.things},
        values=values,
        own=given.own,
        persons=frozenset(kind for kind in graph.kinds if graph.is_person(kind, scorer.type_of(kind))),
        spoken=_spoken(given),
        groups=frozenset(kind for kind in graph.kinds if graph.is_group(kind, scorer.type_of(kind))),
    )
    builder = ReadingBuilder(asked, graph, SaidHops(scorer, asked, graph), named, scorer)
    about_earlier = _is_about_earlier(given, asked)
    ranked = [] if about_earlier else AnswerForms(asked, graph, builder, named).meanings(builder.readings())
    return Meanings(asked, graph, builder, {thing.name: thing.concept for thing in given.things}, ranked)


def _is_about_earlier(given: StepInput, asked: AskedQuestion) -> bool:
    """True where a question with turns before it names nothing itself: it may well be about what they named."""
    names = any(role in ("thing", "value") for role in asked.roles)
    return not names and bool(given.dialogue) and ("person" not in asked.roles or bool(set(asked.words) & _PRONOUNS))


def _pronouns_resolved(given: StepInput) -> str:
    """The question with its first pronoun replaced by what an earlier turn spoke of, where it names nothing itself."""
    question = given.question
    for kind in given.kinds:
        question = question.replace(kind.name, kind.concept)
    words = words_in(question)
    if any(is_pseudonym(word) for word in words):
        return _as_before(words, given) or question
    for name in _spoken(given):
        if _POSSESSIVE.search(question):
            return _POSSESSIVE.sub(f"{name}'s", question, count=1)
        pattern = _PLURAL if name[0] == "S" else _SINGULAR
        if pattern.search(question):
            return pattern.sub(name, question, count=1)
    return question


def _spoken(given: StepInput) -> tuple[str, ...]:
    """The things and sets that earlier turns spoke of and this one does not, the latest first."""
    told = " ".join(turn.text for turn in given.dialogue)
    spoken = [thing.name for thing in given.things if thing.name[0] in "ES" and thing.name in told]
    fresh = [name for name in spoken if name not in given.question]
    return tuple(sorted(fresh, key=lambda name: -told.rfind(name)))


def _as_before(words: Sequence[str], given: StepInput) -> str:
    """ "And X?" asks of X what the turn before asked of one thing; empty where it asks more."""
    if len(words) != 2 or words[0] != "and" or words[1][0] != "E":
        return ""
    asked = next((turn.text for turn in reversed(given.dialogue) if turn.role == "user"), "")
    named = [word for word in words_in(asked) if is_pseudonym(word)]
    return asked.replace(named[0], words[1]) if len(named) == 1 and named[0][0] == "E" else ""
