"""Places, facts and candidates: sizes in buckets, one thing alone as itself, orders that tell nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.llm.tasks import PathTriple
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.arog import ArogStrategy
from app.strategies.base import RetrievalResult, Strategy, StrategyInput
from app.strategies.retrieval import (
    CandidatePath,
    NodeSet,
    Vocabulary,
    arrive,
    bucket,
    numbered,
    parse_path,
    show_dialogue,
    show_evidence,
    show_things,
)
from app.strategies.sets.candidates import NearestWays, Paginator, PathRanker
from app.strategies.sets.strategy import SetsStrategy
from app.strategies.start import starting_places
from kg_store.graph.traversal import concept_of, kind_of, steps_from
from kg_store.terms import NodeKind
from tests.support.asking import SECRETS, Asked, Bench
from tests.support.processes.model_server import Canned, Request, reply
from tests.support.talk import Talk

KNOWN = Vocabulary({"Eq7f2k", "Sk3mmd"}, frozenset("treated by date of birth patient".split()))


def triple(head: str, relation: str, tail: str) -> PathTriple:
    return PathTriple(head=head, relation=relation, tail=tail)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Eq7f2k", "Eq7f2k"),
        ("treated by Dr. Brackwater", "treated by"),
        ("the PATIENT's birth", "PATIENT birth"),
        ("Ez9y8x", ""),
        ("Zofia-Quarrel", ""),
        ("", ""),
    ],
)
def test_only_known_words_and_pseudonyms_stay(text: str, kept: str) -> None:
    assert KNOWN.keep(text) == kept


@given(st.text(max_size=80))
def test_no_other_word_ever_stays(text: str) -> None:
    allowed = {"eq7f2k", "sk3mmd", "treated", "by", "date", "of", "birth", "patient"}
    assert {word.casefold() for word in KNOWN.keep(text).split()} <= allowed


def test_what_is_left_of_a_triple_is_a_thing_and_one_without_relation_goes() -> None:
    path = [triple("Eq7f2k", "treated by", "Zofia"), triple("Eq7f2k", "adores", "Patient")]
    assert parse_path(path, KNOWN) == [triple("Eq7f2k", "treated by", "thing")]


def test_a_graphs_vocabulary_is_its_schema_and_general_nouns_and_holds_no_name(asked: Asked) -> None:
    words = Vocabulary.of(asked.graph.blind.schema, ["Eq7f2k"])
    for text in ("treated by", "date of birth", "ward", "person", "Eq7f2k", "has admission"):
        assert words.keep(text) == text
    assert words.keep(" ".join(SECRETS)) == ""


QUESTION = "What place has to do with Zofia Quarrel?"
GENEROUS = 100_000


@pytest.fixture
def asked(bench: Bench, model: PromptedReasoner) -> Asked:
    return bench.asked(model)


def tokens_of(model: PromptedReasoner, request: Request) -> int:
    """The tokens that a call of this prompt is counted for beforehand."""
    texts = [message["content"] for message in request.json["messages"]]
    schema = json.dumps(request.json["response_format"]["json_schema"]["schema"], separators=(",", ":"))
    return model._embedder.count_tokens("\n".join([*texts, schema])) + model.longest_reply


def nothing_fits(request: Request) -> Canned:
    return reply({"action": "not_in_graph", "choices": [], "answer": [], "text": ""})


async def with_budget(talk: Talk, tokens: int, strategy: type[Strategy] = SetsStrategy) -> RetrievalResult:
    inquiry = talk.asked.inquiry(talk.model, QUESTION, most_tokens=tokens, profile=Profile.KIND)
    if strategy is SetsStrategy:
        return await SetsStrategy(talk.embedder, max_shown=0).find(inquiry)
    return await strategy(talk.embedder).find(inquiry)  # type: ignore[call-arg]


def ranked(inquiry: StrategyInput, embedder: Embedder) -> Sequence[tuple[str, ...]]:
    """Every way of the first round by its labels, nearest first."""
    places = list(starting_places(inquiry, embedder).frontier)
    roots = {place.pseudonym: place for place in places}
    first = Paginator(inquiry, PathRanker(), NearestWays(), roots, {}).of(places, [], set()).pages[0]
    schema = inquiry.graph.schema
    return [tuple(schema.label_step(step) for step in way.path) for way in first]


async def test_a_short_budget_shows_the_nearest_ways_alone_and_says_so(talk: Talk) -> None:
    talk.server.replies = nothing_fits
    (cut,) = (await with_budget(talk, GENEROUS)).notes
    whole = talk.server.received[0]
    count = len(whole.input["candidates"])
    talk.server.received.clear()
    finding = await with_budget(talk, tokens_of(talk.model, whole) - 1)
    (given,) = talk.sent("step")
    shown = {tuple(each["path"]) for each in given["candidates"]}
    assert 0 < len(shown) < count
    assert shown == set(
        ranked(talk.asked.inquiry(talk.model, QUESTION, profile=Profile.KIND), talk.embedder)[: len(shown)]
    )
    assert given["further"] == 0
    assert (finding.draft, finding.over_budget) == (None, True)
    (note,) = finding.notes
    assert note.startswith("Step 1: ")
    assert note.endswith("were not offered: the question's budget of tokens was short.")
    assert int(note.split()[2]) == count - len(shown) + whole.input["further"] + int(cut.split()[2])


async def test_a_page_leaves_room_for_the_call_that_answers(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        if request.input["evidence"]:
            return reply(
                {"action": "answer", "choices": [], "answer": [request.input["evidence"][0]["end"]], "text": "{1}"}
            )
        home = [each["number"] for each in request.input["candidates"] if each["path"] == ["lives in"]]
        return reply({"action": "follow", "choices": home, "answer": [], "text": ""})

    talk.server.replies = replies
    await with_budget(talk, GENEROUS)
    first, second = talk.server.received
    budget = tokens_of(talk.model, first) + tokens_of(talk.model, second) - 50
    talk.server.received.clear()
    finding = await with_budget(talk, budget)
    assert finding.draft is not None
    assert len(talk.sent("step")[0]["candidates"]) < len(first.input["candidates"])
    assert not finding.over_budget


@pytest.mark.parametrize("name", ["sets", "arog"])
async def test_where_no_call_fits_nothing_is_sent_and_that_is_told(talk: Talk, name: str) -> None:
    finding = await with_budget(talk, 300, SetsStrategy if name == "sets" else ArogStrategy)
    assert talk.server.received == []
    assert (finding.draft, finding.evidence, finding.over_budget) == (None, (), True)
    assert [note for note in finding.notes if "budget of tokens was used up" in note]


async def test_arog_offers_fewer_relations_by_rank(talk: Talk) -> None:
    def replies(request: Request) -> Canned:
        if request.task == "structure":
            return reply({"thought": "", "path": [], "guess": ""})
        return reply({"choices": []} if request.task == "choose_relations" else _not_yet())

    talk.server.replies = replies
    await with_budget(talk, GENEROUS, ArogStrategy)
    structure, choice = talk.server.received[:2]
    spent = tokens_of(talk.model, structure) - talk.model.longest_reply
    talk.server.received.clear()
    finding = await with_budget(talk, spent + tokens_of(talk.model, choice), ArogStrategy)
    fewer = [each["path"][0] for each in talk.sent("choose_relations")[0]["candidates"]]
    assert 0 < len(fewer) < len(choice.input["candidates"])
    assert "works in" not in fewer or len(fewer) > 1
    assert "treated by" in fewer
    assert [note for note in finding.notes if note.startswith("Step 1: ") and "budget" in note]
    assert finding.over_budget


def _not_yet() -> dict[str, object]:
    return {"thought": "", "sufficient": False, "answer": [], "text": ""}


@pytest.fixture
def inquiry(asked: Asked, embedded: EmbeddedReasoner) -> StrategyInput:
    return asked.inquiry(embedded, "Who is Zofia Quarrel treated by?")


def place(asked: Asked, *names: str) -> NodeSet:
    mids = asked.mids(*names)
    word = asked.table.of_entity(mids[0]) if len(mids) == 1 else asked.table.of_group(mids)
    return NodeSet(word, mids, concept_of(asked.graph.blind, mids), kind_of(asked.graph.blind, mids))


def gone(asked: Asked, inquiry: StrategyInput, start: NodeSet, *labels: str) -> NodeSet:
    found = arrive(inquiry, CandidatePath(start, tuple(asked.step(label) for label in labels)))
    assert found is not None
    reached, fact = found
    assert (fact.start, fact.path, fact.end) == (start.pseudonym, labels, reached.pseudonym)
    assert fact.size == bucket(len(reached.mids))
    return reached


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "1"), (1, "1"), (2, "2-5"), (5, "2-5"), (6, "6-20"), (20, "6-20"), (21, "more"), (10**6, "more")],
)
def test_a_size_is_shown_as_a_bucket(count: int, shown: str) -> None:
    assert bucket(count) == shown


def test_one_thing_is_shown_as_itself_and_several_as_a_set(asked: Asked, inquiry: StrategyInput) -> None:
    doctor = gone(asked, inquiry, place(asked, "Zofia Quarrel"), "treated by")
    assert (doctor.pseudonym[0], doctor.kind, doctor.concept) == ("E", NodeKind.ENTITY, "doctor")
    assert doctor.pseudonym == asked.table.of_entity(asked.mids("Ottoline Brackwater")[0])
    both = gone(asked, inquiry, place(asked, "Aurelio Vantongeren"), "treated by")
    assert both.pseudonym[0] == "S"
    assert asked.names(both.pseudonym) == {"Ottoline Brackwater", "Ptolemy Ashgrove"}


def test_one_value_is_a_value_but_one_that_several_share_is_a_set(asked: Asked, inquiry: StrategyInput) -> None:
    assert gone(asked, inquiry, place(asked, "Zofia Quarrel"), "date of birth").pseudonym[0] == "V"
    shared = gone(asked, inquiry, place(asked, "Zofia Quarrel", "Aurelio Vantongeren"), "lives in")
    assert (shared.pseudonym[0], len(shared.mids)) == ("S", 1)


def test_mediators_are_walked_through(asked: Asked, inquiry: StrategyInput) -> None:
    wards = gone(asked, inquiry, place(asked, "Zofia Quarrel"), "has admission|admitted to")
    assert asked.names(wards.pseudonym) == {"Kestrel Wing", "Gyrfalcon Wing"}


def test_evidence_has_the_conversations_order_however_it_was_found(
    asked: Asked, inquiry: StrategyInput, bench: Bench, embedded: EmbeddedReasoner
) -> None:
    start = place(asked, "Zofia Quarrel")
    ways = [CandidatePath(start, (step,)) for step in steps_from(asked.graph.blind, start.mids)]
    facts = [found[1] for way in ways if (found := arrive(inquiry, way)) is not None]
    assert len(facts) > 5
    shown = show_evidence(inquiry, facts)
    for seed in range(5):
        assert show_evidence(inquiry, random.Random(seed).sample(facts, len(facts))) == shown
    orders = set()
    for _ in range(4):
        other = bench.asked()
        again = other.inquiry(embedded, "Who is Zofia Quarrel treated by?")
        orders.add(tuple(tuple(fact.path) for fact in show_evidence(again, facts)))
    assert len(orders) > 1


def test_candidates_are_numbered_in_the_conversations_order_and_carry_no_size(
    asked: Asked, inquiry: StrategyInput
) -> None:
    start = place(asked, "Zofia Quarrel")
    ways = [CandidatePath(start, (step,)) for step in steps_from(asked.graph.blind, start.mids)]
    shown = numbered(inquiry, ways)
    candidates, by_number = shown.candidates, shown.by_number
    assert [each.number for each in candidates] == list(range(1, len(ways) + 1))
    again = numbered(inquiry, ways[::-1]).candidates
    assert again == candidates
    for each in candidates:
        assert each.path == [asked.graph.blind.schema.label_step(by_number[each.number].path[0])]
        assert not hasattr(each, "size")
    assert {("treated by", "doctor"), ("lives in", "city"), ("has admission|admitted to", "ward")} <= {
        (each.path[0], each.concept) for each in candidates
    }


def test_things_and_turns_are_shown_without_the_question(asked: Asked, embedded: EmbeddedReasoner) -> None:
    inquiry = asked.inquiry(embedded, "Who is Zofia Quarrel?", "It is so.", "And where does she live?")
    assert [(turn.role, "Zofia" in turn.text) for turn in show_dialogue(inquiry)] == [
        ("user", False), ("assistant", False),
    ]  # fmt: skip
    (thing,) = show_things(inquiry, [place(asked, "Zofia Quarrel")])
    assert (thing.concept, thing.size) == ("patient", "1")
