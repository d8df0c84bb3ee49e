"""The offer of a round: every single step and paths of two, or pages, the nearest first; and from hubs a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.retriever.features import PLACEHOLDER, read_text
from app.retriever.retriever import Retriever
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet, arrive, utterances_of
from app.strategies.sets.candidates import (
    MAX_COMPOSED_FROM,
    MAX_OFFERED,
    RETRIEVED,
    CandidateFinder,
    CandidateList,
    CandidatePages,
    NearestWays,
    Paginator,
    PathPrefix,
    PathRanker,
    RetrievedWays,
    WaySelector,
)
from kg_store.graph.traversal import concept_of, kind_of, steps_from
from kg_store.terms import Path
from tests.support.asking import Asked, Bench, bench_of
from tests.support.retrievers import FavouringRetriever, untrained
from tests.support.stores import PREFIXES


def one(asked: Asked, name: str) -> NodeSet:
    mids, graph = asked.mids(name), asked.graph.blind
    return NodeSet(asked.table.of_entity(mids[0]), mids, concept_of(graph, mids), kind_of(graph, mids))


def labels(asked: Asked, ways: Sequence[CandidatePath]) -> list[tuple[str, ...]]:
    return [tuple(asked.graph.blind.schema.label_step(step) for step in way.path) for way in ways]


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


def offer(
    asked: Asked, embedder: Embedder, question: str, frontier: list[NodeSet], earlier: list[NodeSet]
) -> CandidateList:
    return CandidateFinder(asked.inquiry(EmbeddedReasoner(embedder), question), NearestWays()).of(frontier, earlier)


def paths(asked: Asked, found: CandidateList, start: NodeSet) -> set[tuple[str, ...]]:
    return set(labels(asked, [way for way in found.ways if way.start.pseudonym == start.pseudonym]))


def test_single_steps_and_paths_of_two_are_offered(asked: Asked, embedder: Embedder) -> None:
    zofia = one(asked, "Zofia Quarrel")
    found = offer(asked, embedder, "where does she live", [zofia], [])
    assert found.cut == 0
    singles = {(asked.graph.blind.schema.label_step(step),) for step in steps_from(asked.graph.blind, zofia.mids)}
    offered = paths(asked, found, zofia)
    assert singles <= offered
    assert {("treated by", "works in"), ("lives in", "^lives in"), ("married to", "date of birth")} <= offered
    assert max(len(path) for path in offered) == 2


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
    asking = asked.inquiry(EmbeddedReasoner(embedder), "Who is Gribblewerk treated by?", profile=Profile.KIND)
    shelf = shelves_of(asking, {}, thing).of([thing], [], set())
    assert ("treated by",) in labels(asked, shelf.pages[0])
    assert len(shelf.pages[0]) <= 12
    assert shelf.cut > 0


@pytest.fixture
def inquiry(asked: Asked, embedder: Embedder) -> StrategyInput:
    question = "In which ward does the doctor of Zofia Quarrel work?"
    return asked.inquiry(EmbeddedReasoner(embedder), question, profile=Profile.KIND)


def shelves_of(inquiry: StrategyInput, trails: dict[str, PathPrefix], *places: NodeSet) -> Paginator:
    return Paginator(inquiry, PathRanker(), NearestWays(), {place.pseudonym: place for place in places}, trails)


def test_the_way_that_the_question_words_is_on_the_first_page(asked: Asked, inquiry: StrategyInput) -> None:
    shelf = shelves_of(inquiry, {}, one(asked, "Zofia Quarrel")).of([one(asked, "Zofia Quarrel")], [], set())
    assert ("treated by", "works in") in labels(asked, shelf.pages[0])
    assert len(shelf.pages[0]) < 10 < sum(map(len, shelf.pages))


def test_no_way_is_on_two_pages_and_what_no_page_holds_is_counted(asked: Asked, inquiry: StrategyInput) -> None:
    shelf = shelves_of(inquiry, {}, one(asked, "Zofia Quarrel")).of([one(asked, "Zofia Quarrel")], [], set())
    shown = [path for page in shelf.pages for path in labels(asked, page)]
    assert len(shown) == len(set(shown)) <= MAX_OFFERED
    assert shelf.behind(0) == len(shown) - len(shelf.pages[0])
    assert shelf.behind(len(shelf.pages) - 1) == 0


def test_once_a_walked_path_covers_the_question_little_is_shown(asked: Asked, inquiry: StrategyInput) -> None:
    path: Path = (asked.step("treated by"), asked.step("works in"))
    zofia = one(asked, "Zofia Quarrel")
    ward = replace(one(asked, "Kestrel Wing"), reached=zofia.kin.along(path))
    trails = {ward.pseudonym: PathPrefix(zofia.pseudonym, path)}
    shelf = shelves_of(inquiry, trails, zofia, ward).of([ward], [], set())
    assert len(shelf.pages[0]) == 1
    assert sum(map(len, shelf.pages)) > 10


def test_walked_ways_come_back_on_no_page_and_their_beginnings_come_last(asked: Asked, inquiry: StrategyInput) -> None:
    path: Path = (asked.step("treated by"), asked.step("works in"))
    zofia = one(asked, "Zofia Quarrel")
    ward = replace(one(asked, "Kestrel Wing"), reached=zofia.kin.along(path))
    shelves = shelves_of(inquiry, {ward.pseudonym: PathPrefix(zofia.pseudonym, path)}, zofia, ward)
    pages = shelves.of([ward], [zofia], {(zofia.pseudonym, (asked.step("lives in"),))}).pages
    of_zofia = [label for page in pages for label, way in zip(labels(asked, page), page, strict=True)
                if way.start.pseudonym == zofia.pseudonym]  # fmt: skip
    assert ("lives in",) not in of_zofia
    assert of_zofia[-1] == ("treated by",)


def test_each_thing_that_the_question_names_has_its_own_ways(asked: Asked, inquiry: StrategyInput) -> None:
    both = [one(asked, "Zofia Quarrel"), one(asked, "Bertil Oxenhame")]
    first = shelves_of(inquiry, {}, *both).of(both, [], set()).pages[0]
    assert {way.start.pseudonym for way in first} == {place.pseudonym for place in both}


ADJECTIVES = ("old", "main", "second", "secret", "rural", "joint", "spare", "winter", "royal")
NOUNS = ("factory", "banker", "tailor", "harbour", "orchard", "lawyer", "barge", "museum", "colour")
RELATIONS = tuple(f"{adjective} {noun}" for adjective in ADJECTIVES for noun in NOUNS)
HUBS = ("Gribblewerk", "Wexdolmere")
TURNS = ("I rather like {}.", "It is a fine place.", "Which museum belongs to {}?")


@pytest.fixture(scope="module")
def firms(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Two firms, one of which has every relation; the other has the first of them alone."""
    text = "".join(f':r{at} rdfs:label "{words}" .\n' for at, words in enumerate(RELATIONS))
    text += "".join(
        f':h{hub} a :Firm ; rdfs:label "{name}" ; {links} .\n'
        for hub, name in enumerate(HUBS)
        for links in [" ; ".join(f":r{at} :e{at}" for at in range(len(RELATIONS) if hub == 0 else 1))]
    )
    text += "".join(f':e{at} a :Place ; rdfs:label "Mollusk{at}vane Drax" .\n' for at in range(len(RELATIONS)))
    return bench_of(tmp_path_factory.mktemp("firms"), embedder, PREFIXES + text)


@pytest.fixture
def retrieved(embedder: Embedder) -> RetrievedWays:
    return RetrievedWays(Retriever(untrained(), embedder))


def inquiry_of(asked: Asked, embedder: Embedder, name: str, profile: Profile = Profile.OPEN) -> StrategyInput:
    turns = [turn.format(name) for turn in TURNS]
    return asked.inquiry(EmbeddedReasoner(embedder), *turns, profile=profile)


def offered(asked: Asked, embedder: Embedder, selector: WaySelector, name: str = HUBS[0]) -> list[tuple[str, ...]]:
    finder = CandidateFinder(inquiry_of(asked, embedder, name), selector)
    return labels(asked, finder.of([one(asked, name)], []).ways)


def pages(asked: Asked, embedder: Embedder, selector: WaySelector, name: str) -> CandidatePages:
    inquiry, place = inquiry_of(asked, embedder, name, Profile.KIND), one(asked, name)
    ranker = PathRanker()
    return Paginator(inquiry, ranker, selector, {place.pseudonym: place}, {}).of([place], [], set())


def left_out(labels_offered: list[tuple[str, ...]]) -> str:
    return next(words for words in RELATIONS if (words,) not in labels_offered)


def test_the_last_places_are_the_retrievers_and_the_others_stay(
    firms: Bench, embedder: Embedder, retrieved: RetrievedWays
) -> None:
    own, before = (offered(firms.asked(), embedder, selector) for selector in (retrieved, NearestWays()))
    kept = MAX_OFFERED - MAX_OFFERED // RETRIEVED
    assert len(own) == len(set(own)) == MAX_OFFERED
    assert own[:kept] == before[:kept]
    assert own[kept:] != before[kept:]


def test_what_it_puts_first_is_offered_though_the_words_are_unlike(firms: Bench, embedder: Embedder) -> None:
    favourite = left_out(offered(firms.asked(), embedder, NearestWays()))
    retriever = FavouringRetriever(embedder, favourite)
    assert (favourite,) in offered(firms.asked(), embedder, RetrievedWays(retriever))
    (query,) = retriever.asked
    assert [turn.speaker for turn in query.history] == ["user", "assistant", "user"]
    assert {fact.relation for fact in query.facts} == set(RELATIONS)
    assert {each for turn in query.history for mention in turn.mentions for each in mention.entities} == {0}


def test_pages_hold_it_too_and_count_what_none_holds(firms: Bench, embedder: Embedder) -> None:
    asked = firms.asked()
    before = pages(asked, embedder, NearestWays(), HUBS[0])
    favourite = left_out([label for page in before.pages for label in labels(asked, page)])
    found = pages(asked, embedder, RetrievedWays(FavouringRetriever(embedder, favourite)), HUBS[0])
    assert (favourite,) in labels(asked, found.pages[-1])
    assert [labels(asked, page) for page in found.pages[:-1]] == [labels(asked, page) for page in before.pages[:-1]]
    assert (sum(map(len, found.pages)), found.cut) == (sum(map(len, before.pages)), before.cut)


def test_where_all_may_be_offered_nothing_is_asked(firms: Bench, embedder: Embedder) -> None:
    retriever = FavouringRetriever(embedder, RELATIONS[0])
    found = offered(firms.asked(), embedder, RetrievedWays(retriever), HUBS[1])
    assert 0 < len(found) <= MAX_OFFERED
    assert not retriever.asked


def test_in_another_conversation_the_same_is_offered(
    firms: Bench, embedder: Embedder, retrieved: RetrievedWays
) -> None:
    first, second = firms.asked(), firms.asked()
    one(second, "Mollusk3vane Drax")
    assert first.dialogue(TURNS[0].format(HUBS[0])).topics[0].pseudonym != one(second, HUBS[0]).pseudonym
    assert offered(first, embedder, retrieved) == offered(second, embedder, retrieved)


def test_where_prompts_tell_of_kinds_two_of_a_kind_are_offered_the_same(
    firms: Bench, embedder: Embedder, retrieved: RetrievedWays
) -> None:
    shelves = []
    for name in HUBS:
        asked = firms.asked()
        shelves.append([labels(asked, page) for page in pages(asked, embedder, retrieved, name).pages])
    assert shelves[0] == shelves[1]
    assert sum(map(len, shelves[0])) == MAX_OFFERED


def test_from_what_the_dialogue_does_not_name_the_nearest_are_offered(
    firms: Bench, embedder: Embedder, retrieved: RetrievedWays
) -> None:
    asked = firms.asked()
    named = inquiry_of(asked, embedder, HUBS[0])
    unnamed = replace(named, dialogue=replace(named.dialogue, topics=()))
    ways = CandidateFinder(unnamed, retrieved).of([one(asked, HUBS[0])], []).ways
    assert labels(asked, ways) == offered(firms.asked(), embedder, NearestWays())


def test_every_pseudonym_of_a_dialogue_is_hidden() -> None:
    read = set()
    for first, second in (("Eq7f2k", "S9wmt4"), ("V3kk81", "Eb2xq9")):
        turns = SafeTurn("user", SafeText(f"Is {first}'s harbour near {second}, or {first}?"))
        (utterance,) = utterances_of(SafeDialogue((turns,), ()), {first: (0,)})
        assert [mention.entities for mention in utterance.mentions] == [(0,), (), (0,)]
        read.add(read_text(utterance, PLACEHOLDER)[0])
    assert read == {"Is X's harbour near X, or X?"}
