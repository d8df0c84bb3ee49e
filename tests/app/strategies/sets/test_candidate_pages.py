"""Pages of ways on: nearest first, complete up to the cut, small once a walked path covers the question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet
from app.strategies.sets.candidates import MAX_OFFERED, CandidatePages, NearestWays, Paginator, PathPrefix, PathRanker
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.terms import Path
from tests.support.asking import Asked, bench_of
from tests.support.stores import PREFIXES

QUESTION = "In which ward does the doctor of Zofia Quarrel work?"


def one(asked: Asked, name: str) -> NodeSet:
    mids = asked.mids(name)
    graph = asked.graph.blind
    return NodeSet(asked.table.of_entity(mids[0]), mids, concept_of(graph, mids), kind_of(graph, mids))


@pytest.fixture
def inquiry(asked: Asked, embedder: Embedder) -> StrategyInput:
    return asked.inquiry(EmbeddedReasoner(embedder), QUESTION, profile=Profile.KIND)


def labels(asked: Asked, ways: tuple[CandidatePath, ...]) -> list[tuple[str, ...]]:
    return [tuple(asked.graph.blind.schema.label_step(step) for step in way.path) for way in ways]


def shelves_of(
    inquiry: StrategyInput, embedder: Embedder, trails: dict[str, PathPrefix], *places: NodeSet
) -> Paginator:
    return Paginator(inquiry, PathRanker(), NearestWays(), {place.pseudonym: place for place in places}, trails)


def shelf_of(
    inquiry: StrategyInput, embedder: Embedder, start: NodeSet, trails: dict[str, PathPrefix] | None = None
) -> CandidatePages:
    return shelves_of(inquiry, embedder, trails or {}, start).of([start], [], set())


def test_the_way_that_the_question_words_is_on_the_first_page(
    asked: Asked, inquiry: StrategyInput, embedder: Embedder
) -> None:
    shelf = shelf_of(inquiry, embedder, one(asked, "Zofia Quarrel"))
    assert ("treated by", "works in") in labels(asked, shelf.pages[0])
    assert len(shelf.pages[0]) < 10 < sum(map(len, shelf.pages))


def test_no_way_is_on_two_pages_and_what_no_page_holds_is_counted(
    asked: Asked, inquiry: StrategyInput, embedder: Embedder
) -> None:
    shelf = shelf_of(inquiry, embedder, one(asked, "Zofia Quarrel"))
    shown = [path for page in shelf.pages for path in labels(asked, page)]
    assert len(shown) == len(set(shown)) <= MAX_OFFERED
    assert shelf.behind(0) == len(shown) - len(shelf.pages[0])
    assert shelf.behind(len(shelf.pages) - 1) == 0


def test_of_three_steps_the_first_two_stand_beside_them(
    asked: Asked, inquiry: StrategyInput, embedder: Embedder
) -> None:
    question = "Who is treated by the doctor of the spouse of Zofia Quarrel?"
    longer = asked.inquiry(EmbeddedReasoner(embedder), question, profile=Profile.KIND)
    page = labels(asked, shelf_of(longer, embedder, one(asked, "Zofia Quarrel")).pages[0])
    assert ("married to", "treated by", "^treated by") in page
    assert {path[:2] for path in page if len(path) == 3} <= set(page)


def test_once_a_walked_path_covers_the_question_little_is_shown(
    asked: Asked, inquiry: StrategyInput, embedder: Embedder
) -> None:
    path: Path = (asked.step("treated by"), asked.step("works in"))
    zofia = one(asked, "Zofia Quarrel")
    ward = replace(one(asked, "Kestrel Wing"), reached=zofia.kin.along(path))
    trails = {ward.pseudonym: PathPrefix(zofia.pseudonym, path)}
    shelf = shelves_of(inquiry, embedder, trails, zofia, ward).of([ward], [], set())
    assert len(shelf.pages[0]) == 1
    assert sum(map(len, shelf.pages)) > 10


def test_walked_ways_come_back_on_no_page_and_their_beginnings_come_last(
    asked: Asked, inquiry: StrategyInput, embedder: Embedder
) -> None:
    path: Path = (asked.step("treated by"), asked.step("works in"))
    zofia = one(asked, "Zofia Quarrel")
    ward = replace(one(asked, "Kestrel Wing"), reached=zofia.kin.along(path))
    shelves = shelves_of(inquiry, embedder, {ward.pseudonym: PathPrefix(zofia.pseudonym, path)}, zofia, ward)
    pages = shelves.of([ward], [zofia], {(zofia.pseudonym, (asked.step("lives in"),))}).pages
    of_zofia = [label for page in pages for label, way in zip(labels(asked, page), page, strict=True)
                if way.start.pseudonym == zofia.pseudonym]  # fmt: skip
    assert ("lives in",) not in of_zofia
    assert of_zofia[-1] == ("treated by",)


def test_each_thing_that_the_question_names_has_its_own_ways(
    asked: Asked, inquiry: StrategyInput, embedder: Embedder
) -> None:
    both = [one(asked, "Zofia Quarrel"), one(asked, "Bertil Oxenhame")]
    first = shelves_of(inquiry, embedder, {}, *both).of(both, [], set()).pages[0]
    assert {way.start.pseudonym for way in first} == {place.pseudonym for place in both}


def test_a_thing_with_very_many_relations_has_a_short_first_page(
    embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    many = range(MAX_OFFERED + 20)
    facts = "".join(f':f1 :hasPart{n}Of :m{n} . :m{n} rdfs:label "Mollusk{n} Vane" .\n' for n in many)
    text = facts + ':f1 rdfs:label "Gribblewerk" ; :treatedBy :d1 . :d1 rdfs:label "Fennimore Draxley" .'
    wide = bench_of(tmp_path_factory.mktemp("wide"), embedder, PREFIXES + text).asked()
    asking = wide.inquiry(EmbeddedReasoner(embedder), "Who is Gribblewerk treated by?", profile=Profile.KIND)
    shelf = shelf_of(asking, embedder, one(wide, "Gribblewerk"))
    assert ("treated by",) in labels(wide, shelf.pages[0])
    assert len(shelf.pages[0]) <= 12
    assert shelf.cut > 0
