"""Reads a question as a set expression, and judges how certain the reading is."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from app.llm.confidence import is_likely
from app.llm.in_house import HeldMeaning, ReadingScores
from app.llm.tasks import SchemaStep, StepInput
from app.reader.language.question_words import names_a_group, words_in
from app.reader.language.relation_wording import Wordings, nouns_made_of, particle_verbs, unmask_words
from app.reader.meaning.answer_forms import AnswerForms, Meaning
from app.reader.meaning.in_context import Meanings, NearestMeaning, nearest_in_context, sense_of
from app.reader.meaning.question.one_question import one_question
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion, read_question, without_apposed
from app.reader.meaning.question.token_roles import is_contrary
from app.reader.meaning.reading import is_chain_of_places, within_parts
from app.reader.meaning.readings import ReadingBuilder
from app.reader.meaning.said_hops import SaidHops
from app.reader.meaning.schema_graph import NamedThings, NearHop, SchemaGraph, SchemaHop
from app.reader.meaning.spoken_of import OF_THEM, points_back, spoken_of, wordings
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import (
    ExpressionResult,
    of_one_row,
    parse,
    with_joined_steps,
    with_relations,
    written,
)
from kg_store.errors import ExpressionError
from kg_store.text.inflection import singular
from kg_store.text.labels import with_words
from kg_store.text.words import is_pseudonym

# A reading is certain if its score lies at least MIN_MARGIN ahead of the next one and its worst explained hop has at
# least likeness MIN_WEAKEST. Chosen by hand on natural questions used in development (`arog eval natural`). The
# confidence that is computed from these figures is fitted: `arog eval confidence`.
MIN_MARGIN = 0.14
MIN_WEAKEST = 0.65
MAX_LEADING = 5
"""A step that no word says may lead to things from which one of this many nearest hops of the schema goes on: the
repairs of an item, in "who mended it". Chosen by hand."""
# Greatest number of other readings that are kept for asking back. Chosen by hand; not fitted.
MAX_OTHERS = 5
NO_OTHER = 9.0
"""The margin of a reading that has no competitor."""
_PLACES = frozenset({"place", "group"})
_NOW = re.compile(
    r"\b(?:still|currently|now|nowadays|right now|at (?:the|this) moment|at present|presently|these days"
    r"|no longer|any ?more|former|formerly|previous|previously)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadMeaning:
    """The best meaning of a question, and how certain it is.

    `margin`: its lead in score over the next meaning of another sense. `left`: the words that it does not explain.
    `others`: the next complete meanings, each with another sense, best first. `nearest`: the meaning most like the
    whole question, if single words do not decide. `by_whole`: the likeness to the whole question decided for
    `meaning`.
    """

    meaning: Meaning
    margin: float
    left: tuple[str, ...]
    others: tuple[Meaning, ...] = ()
    nearest: NearestMeaning | None = None
    by_whole: bool = False

    @property
    def scores(self) -> ReadingScores:
        """The figures from which the confidence of an answer is computed."""
        return self.nearest.scores if self.nearest and self.by_whole else scores_of(self.meaning, self.margin)

    @property
    def is_whole(self) -> bool:
        """True if the best meaning explains the whole question."""
        return self.meaning.is_whole and not self.left

    @property
    def is_sure(self) -> bool:
        """True if the reading is certain, by likeness to the whole question or by its single words."""
        is_said = self.is_whole and self.margin >= MIN_MARGIN and self.meaning.weakest >= MIN_WEAKEST
        return self.by_whole or (is_said and not self.meaning.doubts)

    def joining(self, labels: Collection[str]) -> ReadMeaning:
        """Returns this result with two steps over a nameless node as the one step of `labels` that they make."""
        text = joined(self.meaning.expression, labels)
        same = text == self.meaning.expression
        return self if same else replace(self, meaning=replace(self.meaning, expression=text))

    def by_nearest(self, nearest: NearestMeaning) -> ReadMeaning:
        """Returns this result with `nearest` as the best meaning."""
        return ReadMeaning(nearest.meaning, nearest.scores.margin, (), nearest=nearest, by_whole=True)


def joined(text: str, labels: Collection[str]) -> str:
    """Returns the expression `text` with two steps over a nameless node as the one step of `labels` that they make."""
    return written(with_joined_steps(parse(text), labels))


def all_meanings(scorer: PathScorer, given: StepInput) -> Iterator[tuple[Meanings, bool]]:
    """Yields all meanings of each wording of the question, with hops that are only like the whole question.

    Those over a schema with nameless nodes as kinds come last, with True. Nothing if the turn asks several questions.
    """
    question = one_question(given.question)
    if question:
        given = given.model_copy(update={"question": question})
        yield from ((found, False) for found in meanings(scorer, given, by_likeness=True))
        if given.row_steps:
            yield from ((found, True) for found in meanings(scorer, _with_rows(given), by_likeness=True))


def says_now(question: str) -> bool:
    """Returns True if a question asks what is so at present, or is no longer so."""
    return _NOW.search(question) is not None


def executed(scorer: PathScorer, given: StepInput, text: str) -> str:
    """Returns the expression that is executed for the reading `text`.

    In it, several conditions on a record must hold for the same record, and what is in a place includes what is in its
    parts.
    """
    places = {
        thing.name: thing.concept for thing in given.things
        if "^" in text and thing.name in text
        and any(scorer.type_of(kind) == "place" for kind in thing.concept.split(", "))
    }  # fmt: skip
    return of_one_row(within_parts(text, given.steps, places) if places else text)


def scores_of(meaning: Meaning, margin: float) -> ReadingScores:
    """Returns the scores of `meaning`, with its lead `margin` over the next meaning of another sense."""
    # Each label counts once: both ends of a range use the same hop, as do a set and the set taken out of it.
    steps = 1 if is_chain_of_places(meaning.expression) else len(set(LABEL.findall(meaning.expression)))
    return ReadingScores("meaning", meaning.score, margin, meaning.weakest, steps, meaning.silent)


Tried = list[tuple[Meanings, bool]]
"""All meanings of each wording that was read, with True for those over a schema with nameless nodes as kinds."""


def read_meaning(scorer: PathScorer, given: StepInput) -> ReadMeaning | None:
    """Returns the meaning of the question, or None if none can be built or the turn asks several questions.

    The result is cached for all rounds of a question.
    """
    return scorer.latest.of(_key(given), lambda: _read(scorer, given, []))


def read_with_others(scorer: PathScorer, given: StepInput) -> tuple[ReadMeaning | None, Tried]:
    """Returns what `read_meaning` returns, which it then has in its cache, and all the meanings it was chosen from."""
    tried: Tried = []
    read = _read(scorer, given, tried)
    return scorer.latest.of(_key(given), lambda: read), tried


def _key(given: StepInput) -> tuple[object, ...]:
    """Returns everything that a reading depends on, as a cache key; facts found so far are not part of it."""
    schema = (given.steps, tuple(given.wordings.items()), tuple(given.kind_words.items()))
    told = tuple((turn.role, turn.text) for turn in given.dialogue)
    known = *given.things, *given.kinds, *given.row_kinds
    things = tuple((thing.name, thing.concept, thing.size) for thing in known)
    return given.question, told, things, tuple(given.own.items()), hash(schema)


def _read(scorer: PathScorer, given: StepInput, tried: Tried) -> ReadMeaning | None:
    question = one_question(given.question)
    if not question:
        return None
    now, given = _NOW.search(given.question), given.model_copy(update={"question": question})
    labels = {step.label for step in given.steps}

    def best(of_rows: bool) -> ReadMeaning | None:
        read: ReadMeaning | None = None
        for found in meanings(scorer, _with_rows(given) if of_rows else given):
            tried.append((found, of_rows))
            read = _best_of(scorer, found) if found.ranked else None
            if read is not None and now and found.graph.may_be_over(LABEL.findall(read.meaning.expression)):
                read = ReadMeaning(read.meaning, read.margin, (*read.left, now[0]))
            if read is not None and read.is_sure:
                break
        return read.joining(labels) if read and given.row_steps else read

    says_rows = bool(given.row_steps) and _says_rows(given)
    if says_rows and (found := best(of_rows=True)) and found.is_sure and is_likely(found.scores):
        return found
    read = best(of_rows=False)
    if not given.row_steps or says_rows or (read and read.is_sure):
        return read
    # Rows are one more way to be like a question by chance, so words must say each step, but for those to its values.
    found, values = best(of_rows=True), sum(word[0] == "V" for word in words_in(given.question) if is_pseudonym(word))
    return found if found and found.is_sure and not found.by_whole and found.meaning.silent <= values else read


def _says_rows(given: StepInput) -> bool:
    """Returns True if the question has the whole name of nameless nodes: "how many rentals", but no "members" alone
    for rows called "committee member". The verb of such a name counts too: "walked" for rows called "walk", "rented"
    for "rental".
    """
    names = {name for thing in given.row_kinds for name in thing.concept.split(" or ")}
    words = words_in(given.question)
    said = f" {' '.join(map(singular, words))} "
    done = frozenset[str]().union(*map(nouns_made_of, words))
    return any(f" {name.lower()} " in said or name.lower() in done for name in names)


def _with_rows(given: StepInput) -> StepInput:
    """Returns `given` with its nameless nodes (rows, events) as kinds of things, which steps lead to and from."""
    own = {name: (*labels, *{label.partition("|")[0] for label in labels}) for name, labels in given.own.items()}
    kinds = *given.kinds, *given.row_kinds
    return given.model_copy(update={"steps": given.row_steps, "kinds": kinds, "own": own})


def _best_of(scorer: PathScorer, found: Meanings) -> ReadMeaning:
    best = found.ranked[0]
    next_best = next(
        (each for each in found.ranked[1:] if sense_of(each.expression) != sense_of(best.expression)), None
    )
    margin = best.score - next_best.score if next_best else NO_OTHER
    left = tuple(word for at, word in enumerate(found.asked.words) if best.left >> at & 1)
    read = ReadMeaning(best, margin, left, others=tuple(_whole_others(best, found.ranked[1:])))
    if read.is_sure:
        return read
    nearest = nearest_in_context(scorer, found)
    return read.by_nearest(nearest) if nearest and nearest.is_near else replace(read, nearest=nearest)


def _whole_others(best: Meaning, ranked: Sequence[Meaning]) -> Iterator[Meaning]:
    senses = {sense_of(best.expression)}
    for each in ranked:
        sense = sense_of(each.expression)
        if each.is_whole and not each.left and sense not in senses:
            senses.add(sense)
            yield each
        if len(senses) > MAX_OTHERS:
            return


def meanings(scorer: PathScorer, given: StepInput, by_likeness: bool = False) -> Iterator[Meanings]:
    """Yields, for each wording of the question (see `wordings`), all its meanings, best first.

    With `by_likeness`, hops that are among the most like the whole question may be taken without a word for them.
    """
    values = {thing.name: thing.concept for thing in given.things if thing.name[0] == "V"}
    units = frozenset(name for name, kind in values.items() if kind == "text" and name not in given.own)
    numbers = [name for name, kind in values.items() if kind == "number"]
    plain = _schema_graph(given, given.steps)
    persons = frozenset(kind for kind in plain.kinds if plain.is_person(kind, scorer.type_of(kind)))
    groups = frozenset(kind for kind in plain.kinds if names_a_group(kind, scorer.type_of(kind)))
    named = NamedThings(
        things={thing.name: frozenset(thing.concept.split(", ")) for thing in given.things},
        values=values,
        own=given.own,
        persons=persons,
        spoken=spoken_of(given),
        groups=groups,
        places=groups | {kind for kind in plain.kinds if scorer.type_of(kind) in _PLACES},
    )
    for wording in wordings(given, plain, persons, ranked=by_likeness):
        question, graph = _unmasked(wording, given, plain)
        further = {hop.label: given.wordings.get(hop.label.split("|")[-1], ()) for hop in graph.hops}
        phrases = {tuple(words.lower().split()) for hop in graph.hops for words in (hop.shown, hop.label)}
        said_as = [words for each in further.values() for words in each]
        phrases |= {tuple(words.lower().split()) for words in (*said_as, *graph.kinds) if " " in words}
        said = [with_words(hop.shown, further[hop.label]) for hop in graph.hops]
        verbs = frozenset[tuple[str, str]]().union(*map(particle_verbs, said))
        asked = read_question(question, units, phrases, numbers, verbs)
        asked = without_apposed(asked, graph.kinds_said, named.things)
        near = _nearest_hops(scorer, asked, graph, named, further) if by_likeness else {}
        builder = ReadingBuilder(asked, graph, SaidHops(scorer, asked, graph, given.wordings), named, scorer, near)
        about_earlier = bool(given.dialogue) and _is_about_earlier(asked, builder)
        is_unread = about_earlier or any(is_contrary(asked.words, phrase) for phrase in phrases)
        ranked = [] if is_unread else AnswerForms(asked, graph, builder, named).meanings(builder.readings())
        ranked = list(_without_twins(ranked, {step.label: step.twin for step in given.steps if step.twin}))
        yield Meanings(asked, graph, builder, {thing.name: thing.concept for thing in given.things}, ranked)


def _nearest_hops(
    scorer: PathScorer, asked: AskedQuestion, graph: SchemaGraph, named: NamedThings, further: Wordings
) -> dict[SchemaHop, NearHop]:
    """Returns how like each hop is to the whole question, among the hops that leave the same kind; may be empty.

    `further`: the owner's words for each relation, by label.
    """
    kinds = {name: min(concepts, default="thing") for name, concepts in named.things.items()} | dict(named.values)
    words = [kinds.get(word, "thing").lower() if is_pseudonym(word) else word for word in asked.words]
    scores = scorer.late.of(words, [" ".join((hop.text, *further.get(hop.label, ()))) for hop in graph.hops])
    if scores is None:
        return {}
    by_kind: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for at, hop in enumerate(graph.hops):
        by_kind[hop.kind].append((float(scores.whole[at]), at))
    nearest = {graph.hops[at].kind for at in np.argsort(-scores.whole, kind="stable")[:MAX_LEADING]}
    found: dict[SchemaHop, NearHop] = {}
    for each in by_kind.values():
        ranked = sorted(each, reverse=True)
        for place, (score, at) in enumerate(ranked):
            hop, by_word = graph.hops[at], tuple(map(float, scores.by_word[:, at]))
            found[hop] = NearHop(score, ranked[0][0] - score, place, by_word, not hop.ends.isdisjoint(nearest))
    return found


def _without_twins(ranked: Sequence[Meaning], twins: Mapping[str, str]) -> Iterator[Meaning]:
    """Yields the meanings without those of which the same meaning by a relation's twin is said as well."""
    scores = {each.expression: each.score for each in ranked}
    for each in ranked:
        other = LABEL.sub(lambda found: f'"{_by_twins(found[1], twins)}"', each.expression)
        if other == each.expression or scores.get(other, -math.inf) < each.score:
            yield each


def _by_twins(label: str, twins: Mapping[str, str]) -> str:
    return "|".join(
        f"{'^' * part.startswith('^')}{twins.get(bare := part.lstrip('^'), bare)}" for part in label.split("|")
    )


def _unmasked(wording: str, given: StepInput, plain: SchemaGraph) -> tuple[str, SchemaGraph]:
    """Returns the question and the schema with masked relations as plain words, if the user named such relations."""
    question, shown = unmask_words(wording, [step.shown for step in given.steps])
    if question == wording:
        return question, plain
    steps = [step._replace(shown=words) for step, words in zip(given.steps, shown, strict=True)]
    return question, _schema_graph(given, steps)


def _schema_graph(given: StepInput, steps: Sequence[SchemaStep]) -> SchemaGraph:
    rows = frozenset(thing.concept for thing in given.row_kinds)
    return SchemaGraph(steps, given.kinds, given.kind_words, given.things, rows)


def _is_about_earlier(asked: AskedQuestion, builder: ReadingBuilder) -> bool:
    """Returns True if the subject of the question is in earlier turns.

    That is so if it asks nothing of the things that it names, or names nothing.
    """
    if OF_THEM.search(" ".join(asked.words)):
        return True
    if any(role in ("thing", "value") for role in asked.roles):
        joins = asked.asks_members and (asked.roles.count("thing") > 1 or "value" in asked.roles)
        return not (asked.content | asked.working or joins or asked.wh in ("where", "when"))
    return points_back(asked) or not (builder.nouns or "person" in asked.roles)


MAX_TRIED: Final = 60
"""Greatest number of readings of one question that are executed; limits the time."""
MAX_HELD: Final = 12
"""Greatest number of readings with a result that are compared with each other."""
MIN_SHARED: Final = 0.5
"""Least part of the smaller of two results that the other one must share for the two to count as the same answer."""
MIN_MARGIN_OF_CHAIN: Final = 0.3
"""Least lead of a path from one thing; higher than MIN_MARGIN, because a single step from it is likely as well."""
_BOUNDED: Final = re.compile(r'filter\((\w{6}), "[^"]*", [<>]')
_ONE_STEP: Final = re.compile(r'(?:union\()?reach\([ES]\w{5}, "[^"]*"\)(?:, reach\([ES]\w{5}, "[^"]*"\))*\)?')


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """Functions and data by which readings are executed.

    `alike`: for each label, the other labels with the same words; `named`: ids of the entities that the question
    names; `result_of` executes an expression.
    """

    alike: Mapping[str, Sequence[str]]
    named: Collection[int]
    result_of: Callable[[str], ExpressionResult | None]


def held_meaning(scorer: PathScorer, given: StepInput, known: KnownGraph) -> HeldMeaning | None:
    """Returns the best reading that explains all words and has a result in the graph, or None.

    Returns None also if that reading is a single step from one thing, because ranking the paths reads those better.
    """
    for found in meanings(scorer, given):
        held = list(islice(_held(found, known), MAX_HELD))
        meant = _meant(scorer, found, held) if held else None
        if meant is not None:
            return None if _ONE_STEP.fullmatch(meant.expression) else meant
    return None


@dataclass(frozen=True, slots=True)
class _HeldReading:
    meaning: Meaning
    result: ExpressionResult

    def agrees(self, other: _HeldReading) -> bool:
        """Returns True if the two results are the same, or share at least MIN_SHARED of the smaller one."""
        ours, theirs = set(self.result.mids), set(other.result.mids)
        if ours and theirs:
            return len(ours & theirs) >= MIN_SHARED * min(len(ours), len(theirs))
        return self.result == other.result


def _meant(scorer: PathScorer, found: Meanings, held: Sequence[_HeldReading]) -> HeldMeaning | None:
    best = held[0]
    rival = next((each for each in held[1:] if not best.agrees(each)), None)
    margin = best.meaning.score - rival.meaning.score if rival else NO_OTHER
    is_chain = found.asked.form == "things" and found.anchors == 1
    if _is_whole(found, best.meaning) and margin >= (MIN_MARGIN_OF_CHAIN if is_chain else MIN_MARGIN):
        return HeldMeaning(best.meaning.expression, scores_of(best.meaning, margin))
    if is_chain:
        return None
    nearest = nearest_in_context(scorer, replace(found, ranked=[each.meaning for each in held]))
    if nearest is None or not nearest.is_near or not _is_whole(found, nearest.meaning):
        return None
    return HeldMeaning(nearest.meaning.expression, nearest.scores)


def _is_whole(found: Meanings, meaning: Meaning) -> bool:
    """Returns True if the meaning leaves no word unexplained and few of its steps are expressed by no word.

    If the question asks for things, such steps must be fewer than the things, values and superlatives that it names:
    between two of these a step is plausible, but from a single thing it could lead anywhere.
    """
    silent = found.asked.form != "things" or meaning.silent < found.anchors
    return meaning.may_be_whole and not meaning.left and silent


def _held(found: Meanings, known: KnownGraph) -> Iterator[_HeldReading]:
    """Yields the readings that have a result, best first.

    Skips results that are only what the question itself names.
    """
    readings = (each for each in found.ranked if not _bounds_a_thing(each.expression, found))
    for each in islice(readings, MAX_TRIED):
        held = next(filter(None, (_executed(each, text, known) for text in _worded(each.expression, known))), None)
        if held and not (found.asked.form == "things" and _gives_what_is_named(held, known)):
            yield held


def _gives_what_is_named(held: _HeldReading, known: KnownGraph) -> bool:
    """Returns True if the result is only what the question names.

    If the path goes there and back, one named thing in the result is enough.
    """
    labels, given = set(LABEL.findall(held.meaning.expression)), set(held.result.mids)
    if any(f"^{label}" in labels for label in labels):
        return bool(given.intersection(known.named))
    return bool(given) and given.issubset(known.named)


def _worded(expression: str, known: KnownGraph) -> Iterator[str]:
    """Yields `expression`, then the expression with one label replaced by another of the same words.

    A source may have stored its values under either relation.
    """
    yield expression
    for label in dict.fromkeys(LABEL.findall(expression)):
        for other in known.alike.get(label, ()):
            yield expression.replace(f'"{label}"', f'"{other}"')


def _bounds_a_thing(expression: str, found: Meanings) -> bool:
    """Returns True if a comparison narrows a thing that the question names instead of the things that it asks for.

    Example: the director in "films by the director of X after 2005".
    """
    return found.asked.form != "truth" and any(name in found.kinds for name in _BOUNDED.findall(expression))


def _executed(meaning: Meaning, text: str, known: KnownGraph) -> _HeldReading | None:
    """Executes `text`, in which each label also stands for the labels of the same words.

    Returns None if the result is empty or the number 0, or if the expression has more parts than are allowed.
    """
    try:
        expression = written(with_relations(parse(text), known.alike))
    except ExpressionError:
        return None
    result = known.result_of(expression)
    if result is None or result.number == 0:
        return None
    return _HeldReading(replace(meaning, expression=expression), result)
