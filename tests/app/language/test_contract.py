"""The contract of a `Language`, held by the reader of English and by a language of one pattern.

Whoever writes another language adds it to `LANGUAGES`, with a question of its own, and passes these tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from app.chat.question_run import ChatOptions
from app.chat.service import ChatService
from app.egress.guard import StaticSegments
from app.language.protocol import Language
from app.language.readings import AskedOfKind, AskedStep, WordedPath, schema_steps
from app.llm.embeddings.embedder import Embedder
from app.llm.reasoner import Reasoner
from app.llm.tasks import Candidate, Evidence, ReplyInput, StepInput, Thing
from app.strategies.sets.strategy import SetsStrategy
from app.wiring.store import ServiceContext
from kg_store.algebra.expressions import names_in, parse
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of
from tests.support.house import House, clinic_store
from tests.support.languages import english
from tests.support.one_pattern import OnePattern, OnePatternReasoner

THING = "Eq7f2k"
FACT = Evidence(
    start=THING, start_concept="patient", path=["treated by"], end="Eb3x9m", end_concept="doctor", size="1"
)
PSEUDONYM = re.compile(r"[A-Z]\w*\d\w*")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A language, a reasoner that reads it, and how it asks for one step from a thing."""

    language: Language
    reasoner: Reasoner
    question: str

    def asks(self, thing: str) -> str:
        return self.question.format(thing)


@pytest.fixture(scope="module", params=["english", "one pattern"])
def spoken(request: pytest.FixtureRequest, embedder: Embedder) -> Spoken:
    if request.param == "english":
        reader = english(embedder)
        return Spoken(reader, reader.reasoner, "Who is {} treated by?")
    return Spoken(OnePattern(), OnePatternReasoner(), "treated by of {}?")


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("languages"), embedder) as store:
        yield store


@pytest.fixture(scope="module")
def graph(store: ServiceContext) -> BlindGraph:
    return store.catalog.open("default", "clinic").blind


def shown(graph: BlindGraph, question: str) -> StepInput:
    kinds = [Thing(name=f"S0000{at}", concept=kind) for at, kind in enumerate(kinds_of(graph.schema))]
    things = [Thing(name=THING, concept="patient")]
    steps = schema_steps(graph)
    return StepInput(question=question, things=things, evidence=[], candidates=[], steps=steps, kinds=kinds)


def test_a_reading_holds_only_what_it_was_shown(spoken: Spoken, graph: BlindGraph) -> None:
    given = shown(graph, spoken.asks(THING))
    found = spoken.language.read_question(given)
    assert found is not None
    assert found.expression == f'reach({THING}, "treated by")'
    assert set(names_in(parse(found.expression))) <= {thing.name for thing in (*given.things, *given.kinds)}


def test_a_question_that_says_nothing_is_not_read_surely(spoken: Spoken, graph: BlindGraph) -> None:
    assert spoken.language.read_question(shown(graph, "Brumble wexdol quirt?")) is None


def test_a_path_that_the_question_says_is_ranked_first(spoken: Spoken) -> None:
    paths = [WordedPath(("lives in",), ("city",)), WordedPath(("treated by",), ("doctor",))]
    scores = spoken.language.paths.read(paths).scores(spoken.asks(THING), THING)
    assert scores.shape == (2,)
    assert int(np.argmax(scores)) == 1
    ways = [[("lives in", "city")], [("treated by", "doctor")]]
    assert int(np.argmax(spoken.language.paths.nearness(spoken.asks(THING), ways))) == 1


def test_words_that_nothing_stands_for_are_told(spoken: Spoken, graph: BlindGraph) -> None:
    question = spoken.asks(THING).replace("treated by", "umbrella")
    found = spoken.language.read_unanswered(question, graph.schema, kinds_of(graph.schema))
    assert "umbrella" in found.lacking
    assert spoken.language.read_unanswered(question, graph.schema, ()).lacking == ()


def test_a_plain_question_asks_for_things_at_no_time(spoken: Spoken, graph: BlindGraph) -> None:
    assert spoken.language.read_form(spoken.asks(THING), 1).form == "things"
    assert spoken.language.read_time(spoken.asks(THING), ()) is None
    assert not spoken.language.said_labels(spoken.asks(THING), graph).is_measured


def test_a_right_draft_contradicts_nothing(spoken: Spoken, graph: BlindGraph) -> None:
    given = shown(graph, spoken.asks(THING))
    checks = spoken.language.draft_checks(given.question, [THING], graph, None)
    assert checks is None or checks.contradiction([f'reach({THING}, "treated by")'], given) is None


def test_sentences_hold_no_pseudonym_that_was_not_shown(spoken: Spoken, graph: BlindGraph) -> None:
    given = shown(graph, spoken.asks(THING)).model_copy(update={"evidence": [FACT]})
    parts, text = spoken.language.word_answer([FACT.end], given)
    way = Candidate(number=1, start=THING, path=["treated by"], concept="doctor")
    replies = spoken.language.word_reply(ReplyInput(question="", things=given.things, evidence=[FACT]))
    said = (text, spoken.language.word_candidate(way), *(each.text for each in replies))
    assert parts[0] == FACT.end
    assert "{1" in text
    assert {word for each in said for word in PSEUDONYM.findall(each)} <= {THING, FACT.end}
    assert [each.facts for each in replies] == [(0,)]
    assert spoken.language.can_word("treated by")


def test_a_question_that_it_words_is_one_that_it_reads(spoken: Spoken, graph: BlindGraph) -> None:
    asked = AskedStep(THING, "treated by", ("doctor",), None, is_one=True, is_somebody=True)
    first, *_ = spoken.language.word_question(asked)
    found = spoken.language.read_question(shown(graph, first))
    assert found is not None
    assert found.expression == f'reach({THING}, "treated by")'


def test_a_question_about_a_kind_has_no_pseudonym(spoken: Spoken) -> None:
    worded = spoken.language.word_question(AskedOfKind("total", "patient"))
    assert PSEUDONYM.findall(" ".join(worded)) == []


def test_each_signature_gets_a_concept(spoken: Spoken, graph: BlindGraph) -> None:
    assert len(spoken.language.name_concepts(graph.schema)) == len(graph.schema.signatures)


async def test_the_service_answers_in_it(spoken: Spoken, store: ServiceContext, embedder: Embedder) -> None:
    strategies = {"sets": SetsStrategy(embedder)}
    parts = store.catalog, store.conversations, store.ledger
    chat = ChatService(*parts, spoken.reasoner, spoken.language, strategies, StaticSegments(), ChatOptions())
    house = House(chat, store.ledger)
    answer = await house.ask(spoken.asks("Zofia Quarrel"))
    assert house.last.answered
    assert "Ottoline Brackwater" in answer.text
