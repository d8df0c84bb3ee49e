"""A round offers every single step, paths of two, hubs too; and a cut is told."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.retrieval import NodeSet, arrive
from app.strategies.sets.candidates import MAX_COMPOSED_FROM, MAX_OFFERED, CandidateFinder, CandidateList, NearestWays
from kg_store.graph.traversal import concept_of, kind_of, members_of, steps_from
from tests.support.asking import Asked, Bench, bench_of
from tests.support.stores import PREFIXES

RESIDENTS = MAX_COMPOSED_FROM + 100


@pytest.fixture(scope="module")
def hub(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A city in which more people live than paths of two are composed from."""
    people = "".join(
        f':p{n} a :Patient ; rdfs:label "Quillon{n} Marsh{n}ock" ; :livesIn :c1 ; :treatedBy :d{n % 7} .\n'
        for n in range(RESIDENTS)
    )
    doctors = "".join(f':d{n} a :Doctor ; rdfs:label "Fennimore{n} Drax{n}ley" ; :livesIn :c2 .\n' for n in range(7))
    cities = ':c1 a :City ; rdfs:label "Zemgalburg" . :c2 a :City ; rdfs:label "Umbrathal" .'
    return bench_of(tmp_path_factory.mktemp("hub"), embedder, PREFIXES + people + doctors + cities)


@pytest.fixture(scope="module")
def wide(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """One thing that has more relations than a round may offer."""
    facts = "".join(
        f':f1 :hasPart{n}Of :m{n} . :m{n} rdfs:label "Mollusk{n} Vane" .\n' for n in range(MAX_OFFERED + 9)
    )
    text = facts + ':f1 rdfs:label "Gribblewerk" ; :treatedBy :d1 . :d1 rdfs:label "Fennimore Draxley" .'
    return bench_of(tmp_path_factory.mktemp("wide"), embedder, PREFIXES + text)


def kind_place(asked: Asked, concept: str) -> NodeSet:
    mids = members_of(asked.graph.blind, concept)
    return NodeSet(asked.table.of_kind(concept, mids), mids, concept, kind_of(asked.graph.blind, mids))


def one(asked: Asked, name: str) -> NodeSet:
    mids = asked.mids(name)
    concept = concept_of(asked.graph.blind, mids)
    return NodeSet(asked.table.of_entity(mids[0]), mids, concept, kind_of(asked.graph.blind, mids))


def offer(
    asked: Asked, embedder: Embedder, question: str, frontier: list[NodeSet], earlier: list[NodeSet]
) -> CandidateList:
    return CandidateFinder(asked.inquiry(EmbeddedReasoner(embedder), question), NearestWays()).of(frontier, earlier)


def paths(asked: Asked, found: CandidateList, start: NodeSet) -> set[tuple[str, ...]]:
    schema = asked.graph.blind.schema
    mine = [way for way in found.ways if way.start.pseudonym == start.pseudonym]
    return {tuple(schema.label_step(step) for step in way.path) for way in mine}


def test_single_steps_and_paths_of_two_are_offered(asked: Asked, embedder: Embedder) -> None:
    zofia = one(asked, "Zofia Quarrel")
    found = offer(asked, embedder, "where does she live", [zofia], [])
    assert found.cut == 0
    singles = {(asked.graph.blind.schema.label_step(step),) for step in steps_from(asked.graph.blind, zofia.mids)}
    offered = paths(asked, found, zofia)
    assert singles <= offered
    assert {("treated by", "works in"), ("lives in", "^lives in"), ("married to", "date of birth")} <= offered
    assert max(len(path) for path in offered) == 2


def test_nothing_is_composed_from_a_value(asked: Asked, embedder: Embedder) -> None:
    zofia = one(asked, "Zofia Quarrel")
    starts = {path[0] for path in paths(asked, offer(asked, embedder, "q", [zofia], []), zofia) if len(path) == 2}
    assert "date of birth" not in starts
    assert "treated by" in starts


def test_of_earlier_places_the_single_steps_stay_on_offer(asked: Asked, embedder: Embedder) -> None:
    zofia, doctor = one(asked, "Zofia Quarrel"), one(asked, "Ottoline Brackwater")
    found = offer(asked, embedder, "which ward does the doctor work in", [doctor], [zofia])
    assert ("treated by",) in paths(asked, found, zofia)
    assert {len(path) for path in paths(asked, found, zofia)} == {1}
    assert ("works in",) in paths(asked, found, doctor)


def test_a_hub_keeps_all_its_ways_and_all_its_members(hub: Bench, embedder: Embedder) -> None:
    asked = hub.asked()
    city = one(asked, "Zemgalburg")
    found = offer(asked, embedder, "who lives there", [city], [])
    offered = paths(asked, found, city)
    assert {("^lives in",), ("^lives in", "treated by")} <= offered
    (way,) = [way for way in found.ways if way.start is city and len(way.path) == 1]
    arrival = arrive(asked.inquiry(EmbeddedReasoner(embedder), "who lives there"), way)
    assert arrival is not None
    assert len(arrival[0].mids) == RESIDENTS


def test_from_very_many_things_single_steps_are_still_offered(hub: Bench, embedder: Embedder) -> None:
    asked = hub.asked()
    patients = kind_place(asked, "patient")
    assert len(patients.mids) == RESIDENTS
    found = offer(asked, embedder, "where do patients live", [patients], [])
    assert paths(asked, found, patients) == {("lives in",), ("treated by",)}
    assert found.cut == 0


def test_a_cut_keeps_what_the_question_is_about_and_is_counted(wide: Bench, embedder: Embedder) -> None:
    asked = wide.asked()
    thing = one(asked, "Gribblewerk")
    found = offer(asked, embedder, "who is Gribblewerk treated by", [thing], [])
    assert len(found.ways) == MAX_OFFERED
    singles = len(steps_from(asked.graph.blind, thing.mids))
    assert singles == MAX_OFFERED + 10
    assert found.cut >= singles - MAX_OFFERED
    offered = paths(asked, found, thing)
    assert ("treated by",) in offered
    assert {len(path) for path in offered} == {1}
