"""Makes questions to follow an answer: about the things it mentions or was asked about, by relations not used yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from app.chat.browsing.question_candidates import QuestionMaker
from app.chat.dialogue.completion import are_persons
from app.chat.next_questions.said_before import is_said
from app.chat.question_run import QuestionRun
from app.chat.reply import cited_by
from app.language.readings import AskedStep
from kg_store.graph.traversal import concept_of, kind_of, reached, steps_from
from kg_store.storage.vault import NO_NAME, readable_name
from kg_store.terms import (
    NO_MIDS,
    Hop,
    Mid,
    Mids,
    NodeKind,
    Schema,
    Step,
    ValueKind,
    as_mids,
    cached_by_version,
)
from kg_store.text.english import synonyms_of
from kg_store.text.labels import plain_words, reversed_label

THING: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for the thing in a wording, until its pseudonym or name is inserted."""
MAX_SUBJECTS: Final = 5
MAX_FEW: Final = 5
MAX_ENDS: Final = 20
MAX_OF_A_KIND: Final = 20_000
MAX_OF_THEM: Final = 200
"""The greatest number of things of a set that "they" may stand for. Chosen by hand."""
_NO_NEWS: Final = frozenset({"name", "names", "id", "identifier", "code", "uri", "url", "label"})
"""Last words of relations that tell nothing new about a thing whose name is known."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question: one thing, or the set of things in the answer if `mid` is None."""

    mids: Mids = field(repr=False)
    mid: Mid | None = None


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """One question: its `wordings`, with THING in place of its subject, and the things `expected` as its answer.

    `relation`: the words of its hop, in either direction.
    """

    subject: Subject
    wordings: tuple[str, ...]
    relation: str
    expected: Mids = field(repr=False)


def next_questions(run: QuestionRun) -> list[list[NextQuestion]]:
    """Returns questions for each subject, the newest first, by the relations that tell most.

    Promise: only relations that the asker sees are used, by their own words, and none that was already asked or told
    of the thing.
    """
    subjects = list(islice(_subjects(run), MAX_SUBJECTS))
    return [list(_of_subject(run, subject)) for subject in subjects] or [_of_kinds(run)]


def _subjects(run: QuestionRun) -> Iterator[Subject]:
    """The things in the answer, then those asked about, then the answer's set and its first member by name."""
    table, graph = run.conversation.table, run.graph.blind
    items = run.ended.conclusion.items if run.ended.conclusion else ()
    told = [(item, table.resolve(item.pseudonym, graph)[0]) for item in items if item.kind in ("entity", "set")]
    asked = [topic.mids for topic in run.read.dialogue.topics if topic.newest and not topic.value_kind]
    singles = [mids for mids in (*(mids for _, mids in told), *asked) if len(mids) == 1]
    seen = set[int]()
    for mids in singles:
        if (mid := int(mids[0])) not in seen and kind_of(graph, mids) is NodeKind.ENTITY:
            seen.add(mid)
            yield Subject(mids, Mid(mid))
    for _, mids in told:
        if 1 < len(mids) <= MAX_OF_THEM and kind_of(graph, mids) is NodeKind.ENTITY:
            yield Subject(mids)
            first = _first_of(run, mids)
            if first is not None and first not in seen:
                seen.add(first)
                yield Subject(as_mids([first]), first)


def _first_of(run: QuestionRun, mids: Mids) -> Mid | None:
    """The first thing by name among those whose names are restored; it gets a pseudonym only if it is suggested."""
    records = run.graph.vault.records(mids[: run.request.options.names].tolist())
    named = {mid: readable_name(record, run.language) for mid, record in records.items()}
    return min((Mid(mid) for mid, name in named.items() if name != NO_NAME), key=lambda mid: named[mid], default=None)


def _of_kinds(run: QuestionRun) -> list[NextQuestion]:
    """Questions after an answer about all things of a kind, such as their number."""
    table, draft = run.conversation.table, run.found.draft
    meanings = [table.meaning(word) for word in table.known(" ".join(draft.expressions))] if draft else []
    maker, found = QuestionMaker(run.graph.blind, run.graph.algebra, run.reader), list[NextQuestion]()
    for meaning in meanings:
        if meaning is None or meaning.concept is None or not len(meaning.mids) <= MAX_OF_A_KIND:
            continue
        for each in islice(maker.greatest_of(meaning.concept), MAX_SUBJECTS):
            found.append(NextQuestion(Subject(meaning.mids), each.wordings, each.relation, each.members))
    return found


@dataclass(frozen=True, slots=True)
class _Way:
    step: Step
    label: str
    members: Mids
    value: ValueKind | None
    spread: int
    """The number of things in the graph that have this hop."""

    @property
    def worth(self) -> tuple[bool, bool, bool, bool, int, str]:
        """A sort key: few results first, own relations before those that lead to it, descriptions first, things before
        values, common relations first.
        """
        inverse, is_value = self.label.startswith("^"), self.value is not None
        describes = not inverse and "describe" in synonyms_of(self.label)
        return len(self.members) > MAX_FEW, inverse, not describes, is_value, -self.spread, self.label


def _of_subject(run: QuestionRun, subject: Subject) -> Iterator[NextQuestion]:
    graph = run.graph.blind
    told = _told_of(run, subject)
    known = {int(mid) for each in _subjects_named(run) for mid in each.tolist()}
    for way in sorted(_ways(run, subject), key=lambda way: way.worth):
        if way.label in told or known.issuperset(way.members.tolist()):
            continue
        if subject.mid is not None and is_said(run, subject.mid, way.label):
            continue
        kinds = () if way.value is not None else tuple(concept_of(graph, way.members).split(", "))
        is_somebody = way.value is None and are_persons(graph, way.members)
        thing = "" if subject.mid is None else THING
        asked = AskedStep(thing, way.label, kinds, way.value, len(way.members) == 1, is_somebody)
        if texts := run.reader.word_question(asked):
            # A source may state a fact twice, plainly and through a node of its own.
            relation = " ".join(dict.fromkeys(plain_words(way.label).replace("^", "").split("|")))
            yield NextQuestion(subject, tuple(texts), relation, way.members)


@cached_by_version
def _spreads(schema: Schema) -> Mapping[Hop, int]:
    """The number of things that have each hop."""
    sizes = Counter[Hop]()
    for signature in schema.signatures:
        sizes.update(dict.fromkeys(signature.hops, signature.size))
    return sizes


def _ways(run: QuestionRun, subject: Subject) -> Iterator[_Way]:
    graph, schema = run.graph.blind, run.graph.blind.schema
    spreads = _spreads(schema)
    for step in steps_from(graph, subject.mids):
        relations = [schema.relations[hop.relation] for hop in step]
        if any(each.mask is not None or not each.label.isascii() for each in relations):
            continue
        words = plain_words(relations[-1].label).lower().split()
        if words[-1] in _NO_NEWS or words == ["number"] or relations[-1].value_kind is ValueKind.TRUTH:
            continue
        members = as_mids(reached(graph, subject.mids, (step,)))
        kind = kind_of(graph, members) if len(members) else NodeKind.MEDIATOR
        if kind is NodeKind.MEDIATOR or len(members) > MAX_ENDS:
            continue
        value = (relations[-1].value_kind or ValueKind.TEXT) if kind is NodeKind.VALUE else None
        if value is not None and subject.mid is None:
            continue  # The values of many things say little without the things.
        yield _Way(step, schema.label_step(step), members, value, spreads.get(step[0], 0))


def _told_of(run: QuestionRun, subject: Subject) -> set[str]:
    """The hops from the subject that led to this answer."""
    table, graph = run.conversation.table, run.graph.blind
    told = set[str]()
    for fact in cited_by(table, run.found, run.ended.conclusion):
        if len(fact.path) != 1:
            continue
        if _is_same(table.resolve(fact.start, graph)[0], subject.mids):
            told.add(fact.path[0])
        if _is_same(table.resolve(fact.end, graph)[0], subject.mids) and subject.mid is None:
            told.add(reversed_label(fact.path[0]))
    return told


def _subjects_named(run: QuestionRun) -> Iterator[Mids]:
    """Everything that the question named or the answer told; a question answered by only these would
    tell nothing new.
    """
    table, graph = run.conversation.table, run.graph.blind
    yield from (topic.mids for topic in run.read.dialogue.topics if topic.newest)
    for item in run.ended.conclusion.items if run.ended.conclusion else ():
        yield table.resolve(item.pseudonym, graph)[0] if item.kind in ("entity", "set", "value") else NO_MIDS


def _is_same(mids: Mids, others: Mids) -> bool:
    return len(mids) == len(others) and bool((mids == others).all())
