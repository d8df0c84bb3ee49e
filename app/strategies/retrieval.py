"""The findings of a question so far: things, evidence and ways on, in the words that a task shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.llm.tasks import Candidate, Evidence, MaskedRelation, Size, Thing, Turn
from app.strategies.base import FoundFact, StrategyInput
from kg_store.graph.concept_paths import ConceptScope
from kg_store.graph.traversal import concept_of, kind_of, leads_to_values, reached, tail_concept, walk
from kg_store.graph.version_cache import cached_by_version
from kg_store.terms import Mid, Mids, NodeKind, Path, Schema, as_mids

_RUN = re.compile(r"[0-9A-Za-z]+")


def bucket(count: int) -> Size:
    """The only form in which a size is shown."""
    return "1" if count <= 1 else "2-5" if count <= 5 else "6-20" if count <= 20 else "more"


@dataclass(frozen=True, slots=True, eq=False)
class NodeSet:
    """Somewhere retrieval stands: a pseudonym, the things that it stands for, and their concept.

    `reached` is set where a path led here: all that the kin of where it began come to by it.
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
    """A path that leads on from a place, not yet walked."""

    start: NodeSet
    path: Path


def arrive(inquiry: StrategyInput, way: CandidatePath) -> tuple[NodeSet, FoundFact] | None:
    """Walks `way`: the place it leads to and the fact that says so, or None where nothing is there."""
    if not inquiry.profile.is_open:
        return _arrive_unseen(inquiry, way)
    edges = walk(inquiry.graph, way.start.mids, way.path)
    members = as_mids(edges.tails)
    if not len(members):
        return None
    kind = kind_of(inquiry.graph, members)
    # One pair alone is shown as the thing itself; a value that many share must stay a bag.
    if len(edges.tails) == 1 and kind is not NodeKind.MEDIATOR:
        one = Mid(int(members[0]))
        pseudonyms = inquiry.pseudonyms
        pseudonym = pseudonyms.of_value(one) if kind is NodeKind.VALUE else pseudonyms.of_entity(one)
    else:
        pseudonym = inquiry.pseudonyms.of_set(way.start.pseudonym, way.path, members)
    concept = concept_of(inquiry.graph, members)
    if len(members) > 1:
        # What the schema tells of the relation: a few of them may be of further kinds.
        concept = _joined(concept, tail_concept(inquiry.graph.schema, way.path[-1]))
    place = NodeSet(pseudonym, members, concept, kind, way.start.kin.along(way.path))
    return place, fact_of(inquiry, way, place)


def _joined(concept: str, further: str) -> str:
    return ", ".join(dict.fromkeys([*concept.split(", "), *further.split(", ")]))


def _arrive_unseen(inquiry: StrategyInput, way: CandidatePath) -> tuple[NodeSet, FoundFact]:
    """The same, with a fact that tells what the schema tells: not how much is there, or whether anything is."""
    members = reached(inquiry.graph, way.start.mids, way.path)
    pseudonym = inquiry.pseudonyms.of_set(way.start.pseudonym, way.path, members)
    schema, last = inquiry.graph.schema, way.path[-1]
    kind = NodeKind.VALUE if leads_to_values(schema, last) else NodeKind.ENTITY
    place = NodeSet(pseudonym, members, tail_concept(schema, last), kind, way.start.kin.along(way.path))
    return place, fact_of(inquiry, way, place)


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
    """The turns before the question."""
    return [Turn(role=turn.role, text=turn.text) for turn in inquiry.dialogue.turns[:-1]]


def show_things(inquiry: StrategyInput, places: Iterable[NodeSet]) -> list[Thing]:
    sized = inquiry.profile.is_open
    return [Thing(name=p.pseudonym, concept=p.concept, size=bucket(len(p.mids)) if sized else "") for p in places]


def show_evidence(inquiry: StrategyInput, facts: Sequence[FoundFact], told: Collection[str] = ()) -> list[Evidence]:
    """Facts in the thread's own order: in a thread the same facts give the same bytes, however they were found.

    `told` are pseudonyms whose concept the prompt says elsewhere.
    """
    keys = [f"{fact.start} {fact.path} {fact.end}" for fact in facts]
    return [
        Evidence(
            start=facts[i].start,
            start_concept="" if facts[i].start in told else facts[i].start_concept,
            path=list(facts[i].path),
            end=facts[i].end,
            end_concept=facts[i].end_concept,
            size=facts[i].size,
        )
        for i in inquiry.pseudonyms.in_sent_order(keys)
    ]


def show_candidates(
    inquiry: StrategyInput, ways: Sequence[CandidatePath]
) -> tuple[list[Candidate], dict[int, CandidatePath]]:
    """Candidates numbered from 1 in the thread's order, and the way that each number means."""
    shown = [(way, labels_of(inquiry, way.path)) for way in ways]
    order = inquiry.pseudonyms.in_sent_order([f"{way.start.pseudonym} {labels}" for way, labels in shown])
    candidates, by_number = [], {}
    for number, position in enumerate(order, start=1):
        way, labels = shown[position]
        concept = tail_concept(inquiry.graph.schema, way.path[-1])
        candidates.append(Candidate(number=number, start=way.start.pseudonym, path=list(labels), concept=concept))
        by_number[number] = way
    return candidates, by_number


def show_masked(inquiry: StrategyInput, *shown: str) -> list[MaskedRelation]:
    """The owner's words on the masked relations that stand in `shown`, in the thread's own order."""
    means = _described(inquiry.graph.schema)
    met = sorted({run for text in shown for run in _RUN.findall(text)} & means.keys()) if means else []
    ordered = [met[at] for at in inquiry.pseudonyms.in_sent_order(met)]
    return [MaskedRelation(relation=word, means=means[word]) for word in ordered]


def steps_shown(*parts: Iterable[Candidate | Evidence]) -> list[str]:
    return [step for part in parts for each in part for step in each.path]


def described_path(inquiry: StrategyInput, path: Iterable[str]) -> str:
    """The labels of a path with each description behind its opaque word: what may be compared with a question."""
    means = _described(inquiry.graph.schema)
    return _RUN.sub(lambda run: f"{run[0]} {means[run[0]]}" if run[0] in means else run[0], " ".join(path))


@cached_by_version
def _described(schema: Schema) -> Mapping[str, str]:
    return {each.label: each.description for each in schema.relations if each.mask is not None and each.description}
