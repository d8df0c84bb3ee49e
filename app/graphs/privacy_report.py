"""Makes the privacy report of a graph, and the summary of it that a load shows."""

from __future__ import annotations

from collections.abc import Iterator

from client_sdk.protocol import (
    GraphReport,
    LexiconReport,
    MaskedWord,
    NameGaps,
    PrivacySummary,
    ProfileRisk,
    RelationUse,
    SetSizes,
)
from kg_store.errors import StoreError
from kg_store.graph import anonymity
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.anonymity import Anonymity, measure_anonymity
from kg_store.lexicon.lexicon import size, sources
from kg_store.names.index import NameIndex, NameReport
from kg_store.names.name_words import NameWords
from kg_store.sources.policy import Policy
from kg_store.storage.version_reports import GraphInfo
from kg_store.terms import Schema, ValueView
from kg_store.text.english import PublicWords

WORTH_A_WARNING = 0.05
"""A warning is given if fewer than k entities match at least this share of a graph's entities, or of its prompts.

Chosen by hand.
"""

SHOWN = {
    "concept": "its concept",
    "path of one": "one of its relations",
    "path of two": "one of its paths of two relations",
    "relations": "all its relations",
    "paths of two": "all its paths of two relations",
}
"""The facts about an entity that prompts of each profile show, beside its concept."""

_OPEN = (ValueView.CLEAR, ValueView.YEAR)


def summarise(adjacency: Adjacency, schema: Schema, names: NameReport, k: int) -> PrivacySummary:
    """Returns how well prompts about a version of a graph hide its entities, in short, for the graph's owner.

    It counts and warns of prompts that fewer than `k` entities match. It contains only counts and fixed words, because
    it is stored in a job's row, which is not sealed.
    """
    try:
        measured = measure_anonymity(adjacency, schema, k)
    except StoreError as error:
        return PrivacySummary(k=k, profiles=[], warnings=[f"how well prompts hide entities is not known: {error}"])
    return PrivacySummary(k=k, profiles=_profiles(measured), warnings=[*_warnings(measured, names)])


def report_of(
    info: GraphInfo,
    measured: Anonymity,
    names: NameIndex,
    policy: Policy,
    public: PublicWords,
    words: NameWords,
) -> GraphReport:
    """Returns the whole report.

    `names` are the graph's, with its public words marked by `public`; `words` are of the names in all graphs of the
    tenant.
    """
    told, counts = names.report(), dict(sources())
    taken_out = counts.pop("taken_out")
    return GraphReport(
        k=measured.k,
        profiles=_profiles(measured),
        warnings=[*_warnings(measured, told)],
        graph=info.name,
        version=info.version,
        loaded_at=info.loaded_at,
        triples=info.triples,
        entities=info.entities,
        relations=info.relations,
        hidden_relations=sum(each.hide or each.values is ValueView.NEVER for each in policy.relations.values()),
        bounds=list(measured.bounds),
        whole=_sizes(measured.whole),
        concepts=[_sizes(each) for each in measured.concepts],
        rare_relations=[_use(each) for each in sorted(measured.rare, key=lambda each: (each.subjects, each.label))],
        value_relations=[_use(each) for each in measured.relations if each.value_kind is not None],
        names=_gaps(told, public),
        lexicon=LexiconReport(words=size(), sources=counts, taken_out=taken_out, in_names=sorted(words.parts)),
        masked=[
            MaskedWord(kind=each.kind, term=each.term, word=each.word, reason=each.reason.value)
            for each in info.masked
        ],
    )


def _profiles(measured: Anonymity) -> list[ProfileRisk]:
    return [
        ProfileRisk(
            profile=each.profile, prompts=each.prompts, expected=each.expected, few=each.few, smallest=each.smallest
        )
        for each in measured.profiles
    ]


def _warnings(measured: Anonymity, names: NameReport) -> Iterator[str]:
    k = measured.k
    for each in measured.profiles:
        if each.profile != "concept" and each.few >= WORTH_A_WARNING:
            yield f"{each.few:.1%} of the prompts that show {SHOWN[each.profile]} match fewer than {k} entities"
    rare_concepts = sum(each.entities < k for each in measured.concepts)
    if rare_concepts:
        yield f"{rare_concepts} concepts have fewer than {k} entities: the concept alone nearly tells who it is"
    if measured.rare:
        yield (
            f"{len(measured.rare)} of {len(measured.relations)} relations have fewer than {k} subjects or objects: "
            "look at them, and rename or hide what should not be known"
        )
    shown = sum(each.value_kind is not None and each.value_view in _OPEN for each in measured.relations)
    if shown:
        yield f"the policy shows the values of {shown} relations in clear or as years: the guard lets those pass"
    if names.unguarded:
        yield f"{names.unguarded} things have no name that the guard can hold back: all of theirs are public words"


def _sizes(each: anonymity.ConceptSets) -> SetSizes:
    return SetSizes(
        concept=each.concept, entities=each.entities, one_hop=list(each.one_hop), two_hops=list(each.two_hops)
    )


def _use(each: anonymity.RelationUse) -> RelationUse:
    kind, view = (each.value_kind.value, each.value_view.value) if each.value_kind is not None else (None, None)
    return RelationUse(
        relation=each.label, subjects=each.subjects, objects=each.objects, value_kind=kind, shown_as=view
    )


def _gaps(told: NameReport, public: PublicWords) -> NameGaps:
    words = [word for word in told.public_words if len(word) > 1]
    return NameGaps(
        names=told.names,
        values=told.values,
        like_own_words=[word for word in words if public.is_own(word)],
        like_frequent_words=[word for word in words if not public.is_own(word)],
        of_one_character=[word for word in told.public_words if len(word) == 1],
        too_short=len(told.too_short),
        unguarded=told.unguarded,
    )
