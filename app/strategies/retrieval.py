"""Walks candidate paths, and writes things, evidence and candidates as a prompt shows them, as many as fit in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.egress.disclosure import BUCKETS, Profile
from app.llm.embeddings.embedder import Likeness
from app.llm.reasoner import TaskRunner
from app.llm.tasks import Candidate, Evidence, MaskedRelation, PathTriple, Size, Task, Thing, Turn
from app.privacy.safe_text import SafeDialogue
from app.retriever.features import Mention, Utterance
from app.strategies.base import FoundFact, RetrievalResult, StrategyInput
from kg_store.graph.traversal import (
    ConceptScope,
    concept_of,
    kind_of,
    leads_to_values,
    reached,
    tail_concept,
    tail_concepts,
    walk,
)
from kg_store.terms import Hop, Mid, Mids, NodeKind, Path, Schema, Step, as_mids, cached_by_version
from kg_store.text.english import GENERAL_NOUNS
from kg_store.text.words import asked_words, is_pseudonym

_WORD = re.compile(r"[^\W_]+")


def utterances_of(dialogue: SafeDialogue, numbers: Mapping[str, tuple[int, ...]]) -> tuple[Utterance, ...]:
    """Returns the turns of the dialogue as the retriever reads them, with every pseudonym marked as a mention.

    `numbers`: for each pseudonym, the numbers of its things in the query; mentions of other pseudonyms get none.
    """
    return tuple(Utterance(turn.role, turn.text, tuple(_mentions(turn.text, numbers))) for turn in dialogue.turns)


def relation_words(schema: Schema, step: Step) -> str:
    """Returns the words of a step's relations, without their direction, for example "has admission ward".

    A masked relation is given in its owner's description if there is one.
    """
    known = _words_by_step(schema)
    if step not in known:
        relations = [schema.relations[hop.relation] for hop in step]
        known[step] = " ".join((each.description if each.mask is not None else "") or each.label for each in relations)
    return known[step]


def _mentions(text: str, numbers: Mapping[str, tuple[int, ...]]) -> list[Mention]:
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    return [
        Mention(start, end, numbers.get(word, ()))
        for word, start, end in words
        if word in numbers or is_pseudonym(word)
    ]


@cached_by_version
def _words_by_step(_schema: Schema) -> dict[Step, str]:
    return {}


PhrasesByPath = dict[tuple[str, ...], str]
"""Phrases of candidates that have been worded, by their start, concept and path."""


def phrases_of(inquiry: StrategyInput, candidates: Sequence[Candidate], known: PhrasesByPath) -> tuple[str, ...]:
    """Returns each candidate in plain words, in the order of `candidates`; `known` gets those that are new.

    The phrase is "" if there is no good wording, or if the wording must not be sent to a model.
    """
    keys = [(each.start, each.concept, *each.path) for each in candidates]
    fresh = {key: each for key, each in zip(keys, candidates, strict=True) if key not in known}
    worded = {key: inquiry.language.word_candidate(each) for key, each in fresh.items()}
    may_leave = dict(zip(worded, inquiry.may_leave(list(worded.values())), strict=True))
    known |= {key: phrase if may_leave[key] else "" for key, phrase in worded.items()}
    return tuple(known[key] for key in keys)


_RUN = re.compile(r"[0-9A-Za-z]+")


def bucket(count: int) -> Size:
    """Returns the size class of `count`, such as "2-5", because prompts never show an exact size."""
    return next(size for size, (_, most) in BUCKETS.items() if most is None or count <= most)


@dataclass(frozen=True, slots=True, eq=False)
class NodeSet:
    """A set of things that retrieval has reached: its pseudonym, its members `mids`, and their concept.

    `reached`: if a path led to the set, the concept where the path began, and the path.
    """

    pseudonym: str
    mids: Mids
    concept: str
    kind: NodeKind
    reached: ConceptScope | None = None

    @property
    def kin(self) -> ConceptScope:
        return self.reached or ConceptScope(self.concept)


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePath:
    """A path from the set `start` that could be followed next."""

    start: NodeSet
    path: Path


def arrive(inquiry: StrategyInput, way: CandidatePath) -> tuple[NodeSet, FoundFact] | None:
    """Walks a candidate path; returns the set that it reaches and the fact that states it.

    Under the open profile, None if it reaches nothing. Under the others never None, because prompts must not show that
    a thing lacks a relation.
    """
    if not inquiry.profile.is_open:
        return _arrive_unseen(inquiry, way)
    edges = walk(inquiry.graph, way.start.mids, way.path)
    members = as_mids(edges.tails)
    if not len(members):
        return None
    kind = kind_of(inquiry.graph, members)
    # If one start reaches one end, the end is shown as a single thing. If several starts share one value, it stays a
    # set, which holds the pairs of start and end: a sum counts the value once for each start.
    if len(edges.tails) == 1 and kind is not NodeKind.MEDIATOR:
        one = Mid(int(members[0]))
        pseudonyms = inquiry.pseudonyms
        pseudonym = pseudonyms.of_value(one) if kind is NodeKind.VALUE else pseudonyms.of_entity(one)
    else:
        pseudonym = inquiry.pseudonyms.of_set(way.start.pseudonym, way.path, members)
    concept = concept_of(inquiry.graph, members)
    if len(members) > 1:
        # The concepts that the schema gives for the relation's end are added: some members may have further ones.
        further = tail_concept(inquiry.graph.schema, way.path[-1])
        concept = ", ".join(dict.fromkeys([*concept.split(", "), *further.split(", ")]))
    place = NodeSet(pseudonym, members, concept, kind, way.start.kin.along(way.path))
    return place, fact_of(inquiry, way, place)


def _arrive_unseen(inquiry: StrategyInput, way: CandidatePath) -> tuple[NodeSet, FoundFact]:
    """Walks a candidate, but describes its end by the schema alone, so a prompt can't tell if anything was reached."""
    members = reached(inquiry.graph, way.start.mids, way.path)
    pseudonym = inquiry.pseudonyms.of_set(way.start.pseudonym, way.path, members)
    schema, last = inquiry.graph.schema, way.path[-1]
    kind = NodeKind.VALUE if leads_to_values(schema, last) else NodeKind.ENTITY
    place = NodeSet(pseudonym, members, tail_concept(schema, last), kind, way.start.kin.along(way.path))
    return place, fact_of(inquiry, way, place)


Ways = Sequence[CandidatePath]


def fact_of(inquiry: StrategyInput, way: CandidatePath, place: NodeSet) -> FoundFact:
    return FoundFact(
        start=way.start.pseudonym,
        start_concept=way.start.concept,
        path=labels_of(inquiry, way.path),
        end=place.pseudonym,
        end_concept=place.concept,
        size=bucket(len(place.mids)) if inquiry.profile.is_open else "",
    )


def labels_of(inquiry: StrategyInput, path: Path) -> tuple[str, ...]:
    return tuple(inquiry.graph.schema.label_step(step) for step in path)


def show_dialogue(inquiry: StrategyInput) -> list[Turn]:
    """Returns the turns before the question, as prompts show them."""
    return [Turn(role=turn.role, text=turn.text) for turn in inquiry.dialogue.turns[:-1]]


def show_things(inquiry: StrategyInput, places: Iterable[NodeSet]) -> list[Thing]:
    sized = inquiry.profile.is_open
    return [Thing(name=p.pseudonym, concept=p.concept, size=bucket(len(p.mids)) if sized else "") for p in places]


def show_evidence(inquiry: StrategyInput, facts: Sequence[FoundFact], told: Collection[str] = ()) -> list[Evidence]:
    """Returns facts as evidence for a prompt, shuffled in the same way in all prompts of a thread.

    A thread is a row of questions that depend on each other. `told`: pseudonyms whose concept the prompt shows
    elsewhere; it is not repeated.
    """
    keys = [f"{fact.start} {fact.path} {fact.end}" for fact in facts]
    return [evidence_of(facts[i], is_told=facts[i].start in told) for i in inquiry.pseudonyms.shuffled_order(keys)]


def evidence_of(fact: FoundFact, *, is_told: bool = False) -> Evidence:
    """Returns a fact as a prompt shows it. `is_told`: the prompt shows the concept of its start elsewhere."""
    return Evidence(
        start=fact.start,
        start_concept="" if is_told else fact.start_concept,
        path=list(fact.path),
        end=fact.end,
        end_concept=fact.end_concept,
        size=fact.size,
    )


@dataclass(frozen=True, slots=True, eq=False)
class NumberedWays:
    """Candidate paths with the numbers by which a reply refers to them.

    `candidates`: the paths as a prompt shows them, shuffled. `by_number`: the path of each number. `nearest`: the
    numbers in the order of `ways`, which begins with the path most like the question.
    """

    ways: Ways
    candidates: list[Candidate]
    by_number: Mapping[int, CandidatePath]
    nearest: tuple[int, ...]


def numbered(inquiry: StrategyInput, ways: Ways) -> NumberedWays:
    """Numbers candidate paths from 1, shuffled in the same way in all prompts of a thread.

    A thread is a row of questions that depend on each other.
    """
    labels = [labels_of(inquiry, way.path) for way in ways]
    keys = [f"{way.start.pseudonym} {told}" for way, told in zip(ways, labels, strict=True)]
    order = inquiry.pseudonyms.shuffled_order(keys)
    concepts = tail_concepts(inquiry.graph.schema)
    candidates = [
        Candidate(
            number=number,
            start=ways[at].start.pseudonym,
            path=list(labels[at]),
            concept=concepts.get(ways[at].path[-1][-1], "thing"),
        )
        for number, at in enumerate(order, start=1)
    ]
    numbers = {at: number for number, at in enumerate(order, start=1)}
    by_number = {number: ways[at] for at, number in numbers.items()}
    return NumberedWays(ways, candidates, by_number, tuple(numbers[at] for at in range(len(ways))))


def show_masked(inquiry: StrategyInput, *shown: str) -> list[MaskedRelation]:
    """Returns the owner's descriptions of the masked relations that occur in the texts `shown`, shuffled."""
    means = _described(inquiry.graph.schema)
    met = sorted({run for text in shown for run in _RUN.findall(text)} & means.keys()) if means else []
    ordered = [met[at] for at in inquiry.pseudonyms.shuffled_order(met)]
    return [MaskedRelation(relation=word, means=means[word]) for word in ordered]


MAX_RELATIONS = 6
"""The greatest number of relations that a prompt names beside those of its paths. Chosen by hand; not fitted."""


def near_relations(inquiry: StrategyInput, likeness: Likeness) -> list[str]:
    """Returns all relation labels, those most like the question first.

    An answer may filter, sort or group by a relation that is on no path. Empty without a model, and under the strict
    profile, where the order would say something about the question.
    """
    if not inquiry.reasoner.is_model or inquiry.profile is Profile.STRICT:
        return []
    schema = inquiry.graph.schema
    told = {relation.label: schema.described((Hop(relation.id),)) for relation in schema.relations}
    labels = list(told)
    near = likeness(asked_words(inquiry.dialogue.question), list(told.values()))
    return [labels[int(at)] for at in np.argsort(-near, kind="stable")]


def beside(labels: Sequence[str], shown: Iterable[str], most: int = MAX_RELATIONS) -> list[str]:
    """Returns the first `most` of the relation labels that no step in `shown` uses."""
    named = {part.lstrip("^") for step in shown for part in step.split("|")}
    return [label for label in labels if label not in named][:most]


def steps_shown(*parts: Iterable[Candidate | Evidence]) -> list[str]:
    return [step for part in parts for each in part for step in each.path]


def described_path(inquiry: StrategyInput, path: Iterable[str]) -> str:
    """Returns the labels of a path as text, with the owner's description after the mask of each masked relation."""
    means = _described(inquiry.graph.schema)
    return _RUN.sub(lambda run: f"{run[0]} {means[run[0]]}" if run[0] in means else run[0], " ".join(path))


@cached_by_version
def _described(schema: Schema) -> Mapping[str, str]:
    return {each.label: each.description for each in schema.relations if each.mask is not None and each.description}


def as_many_as_fit(reasoner: TaskRunner, ways: Ways, width: int, task_of: Callable[[Ways], Task[Any]]) -> Ways:
    """Returns the first of `ways` (nearest first), as many as the token budget lets one prompt show.

    Room is kept for one more call that answers; if then no candidate fits, that room is used too. `task_of` makes the
    prompt's task from candidates; a reply chooses at most `width` of them. Without a model, all are returned.
    """
    if not reasoner.is_model:
        return ways  # The embedded reasoner costs no tokens.
    # The next prompt shows the chosen paths as facts, and one fact takes fewer tokens than two candidates.
    answering = task_of(ways[: 2 * width])
    if reasoner.fits(task_of(ways), answering):
        return ways
    with_an_answer = _most(len(ways), lambda count: reasoner.fits(task_of(ways[:count]), answering))
    return ways[: with_an_answer or _most(len(ways), lambda count: reasoner.fits(task_of(ways[:count])))]


def cut_note(number: int, count: int) -> str:
    return (
        f"Step {number}: {count} possible paths, ranked last, were not offered: "
        "the question's budget of tokens was short."
    )


def over_budget(finding: RetrievalResult) -> RetrievalResult:
    """Returns `finding` marked as ended by the token budget, with a note for the asker."""
    where = f"in step {finding.rounds}" if finding.rounds else "before the first step"
    told = f"The question's budget of tokens was used up {where}."
    return replace(finding, notes=(*finding.notes, told), over_budget=True)


def _most(count: int, fits: Callable[[int], bool]) -> int:
    """Returns the greatest number up to `count` that fits, 0 if none does.

    Searches by bisection, so if a number fits, all smaller ones must fit.
    """
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


_WORD = re.compile(r"[^\W_]+")
# Longer concept paths of a model are cut, which bounds the prompt. Chosen by hand.
MAX_TRIPLES = 8


class Vocabulary:
    """The words that a model's concept path may use: pseudonyms that were sent, concepts and relation words."""

    def __init__(self, pseudonyms: Collection[str], words: frozenset[str]) -> None:
        self._pseudonyms, self._words = frozenset(pseudonyms), words

    @classmethod
    def of(cls, schema: Schema, pseudonyms: Collection[str]) -> Vocabulary:
        """Returns the vocabulary of a graph's schema and these pseudonyms."""
        return cls(pseudonyms, _words_of(schema))

    def keep(self, text: str) -> str:
        """Returns `text` without words outside the vocabulary, so that a name the model guessed is not sent again."""
        kept = [word for word in _WORD.findall(text) if word in self._pseudonyms or word.casefold() in self._words]
        return " ".join(kept)


def parse_path(path: Iterable[PathTriple], vocabulary: Vocabulary) -> list[PathTriple]:
    """Returns the first MAX_TRIPLES triples of `path`, reduced to words of the vocabulary.

    A triple whose relation has no such word is dropped; an emptied head or tail becomes "thing".
    """
    parsed = []
    for triple in list(path)[:MAX_TRIPLES]:
        relation = vocabulary.keep(triple.relation)
        if relation:
            head, tail = vocabulary.keep(triple.head), vocabulary.keep(triple.tail)
            parsed.append(PathTriple(head=head or "thing", relation=relation, tail=tail or "thing"))
    return parsed


@cached_by_version
def _words_of(schema: Schema) -> frozenset[str]:
    labels = [words for relation in schema.relations for words in (relation.label, relation.inverse_label)]
    phrases = {*labels, *schema.concepts, *GENERAL_NOUNS}
    return frozenset(word.casefold() for phrase in phrases for word in _WORD.findall(phrase))
