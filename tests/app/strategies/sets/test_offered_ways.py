"""The ways offered from a hub: the nearest, and with a retriever its own in the last places, whatever is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.retriever.features import PLACEHOLDER, read_text
from app.retriever.retriever import Retriever
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet, utterances_of
from app.strategies.sets.candidates import (
    MAX_OFFERED,
    RETRIEVED,
    CandidateFinder,
    CandidatePages,
    NearestWays,
    Paginator,
    PathRanker,
    RetrievedWays,
    WaySelector,
)
from kg_store.graph.traversal import concept_of, kind_of
from tests.support.asking import Asked, Bench, bench_of
from tests.support.retrievers import FavouringRetriever, untrained
from tests.support.stores import PREFIXES

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


def place_of(asked: Asked, name: str) -> NodeSet:
    mids, graph = asked.mids(name), asked.graph.blind
    return NodeSet(asked.table.of_entity(mids[0]), mids, concept_of(graph, mids), kind_of(graph, mids))


def inquiry_of(asked: Asked, embedder: Embedder, name: str, profile: Profile = Profile.OPEN) -> StrategyInput:
    turns = [turn.format(name) for turn in TURNS]
    return asked.inquiry(EmbeddedReasoner(embedder), *turns, profile=profile)


def labels(asked: Asked, ways: list[CandidatePath] | tuple[CandidatePath, ...]) -> list[tuple[str, ...]]:
    return [tuple(asked.graph.blind.schema.label_step(step) for step in way.path) for way in ways]


def offered(asked: Asked, embedder: Embedder, selector: WaySelector, name: str = HUBS[0]) -> list[tuple[str, ...]]:
    finder = CandidateFinder(inquiry_of(asked, embedder, name), selector)
    return labels(asked, finder.of([place_of(asked, name)], []).ways)


def pages(asked: Asked, embedder: Embedder, selector: WaySelector, name: str) -> CandidatePages:
    inquiry, place = inquiry_of(asked, embedder, name, Profile.KIND), place_of(asked, name)
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
    place_of(second, "Mollusk3vane Drax")
    assert first.dialogue(TURNS[0].format(HUBS[0])).topics[0].pseudonym != place_of(second, HUBS[0]).pseudonym
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
    ways = CandidateFinder(unnamed, retrieved).of([place_of(asked, HUBS[0])], []).ways
    assert labels(asked, ways) == offered(firms.asked(), embedder, NearestWays())


def test_every_pseudonym_of_a_dialogue_is_hidden() -> None:
    read = set()
    for first, second in (("Eq7f2k", "S9wmt4"), ("V3kk81", "Eb2xq9")):
        turns = SafeTurn("user", SafeText(f"Is {first}'s harbour near {second}, or {first}?"))
        (utterance,) = utterances_of(SafeDialogue((turns,), ()), {first: (0,)})
        assert [mention.entities for mention in utterance.mentions] == [(0,), (), (0,)]
        read.add(read_text(utterance, PLACEHOLDER)[0])
    assert read == {"Is X's harbour near X, or X?"}
