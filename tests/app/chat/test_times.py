"""Questions about a time: who held an office then, who holds it now, who was the first."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

import pytest

from app.chat.question_run import ChatOptions
from app.llm.embeddings.embedder import Embedder
from app.llm.reasoner import Reasoner
from app.strategies import start
from app.wiring.store import ServiceContext
from evaluation.checks.canaries import canaries_in
from tests.support.house import House, clinic_store, sets_house
from tests.support.service import ScriptedReasoner
from tests.support.stores import PREFIXES

TENURES = (
    PREFIXES
    + """
:direct rdfs:label "directorship" . :held rdfs:label "held by" . :since rdfs:label "took office since" .
:until rdfs:label "served until" . :spouse rdfs:label "spouse" . :begin rdfs:label "begin" . :end rdfs:label "end" .
:contract rdfs:label "contract" . :club rdfs:label "club" . :from rdfs:label "valid from" . :to rdfs:label "valid to" .
:born rdfs:label "date of birth" . :show rdfs:label "exhibition" . :lives rdfs:label "lives in" .
:m rdfs:label "Vexquilda Museum" ; :show :s1 , :s2 , :s3 ;
  :direct [ :held :p1 ; :since "1994-02-01"^^xsd:date ; :until "2003-06-30"^^xsd:date ] ,
    [ :held :p2 ; :since "2003-07-01"^^xsd:date ; :until "2011-12-31"^^xsd:date ] ,
    [ :held :p3 ; :since "2012-01-01"^^xsd:date ] .
:s1 rdfs:label "Umbrathal 1996" . :s2 rdfs:label "Orvindel 2004" . :s3 rdfs:label "Jaskworthy 2019" .
:t rdfs:label "Thrombury Theatre" ; :direct [ :held :p4 ] , [ :held :p5 ] .
[] :spouse :p1 , :p2 ; :begin "1985"^^xsd:gYear ; :end "1997"^^xsd:gYear .
[] :spouse :p1 , :p4 ; :begin "1999"^^xsd:gYear .
:p5 :contract [ :club :c1 ; :from "2004"^^xsd:gYear ; :to "2007"^^xsd:gYear ] ,
  [ :club :c2 ; :from "2007"^^xsd:gYear ; :to "2012"^^xsd:gYear ] ,
  [ :club :c3 ; :from "2012"^^xsd:gYear ; :to "2031"^^xsd:gYear ] .
:p1 rdfs:label "Ottoline Brackwater" ; :born "1951-04-03"^^xsd:date . :p2 rdfs:label "Bertil Oxenhame" .
:p3 rdfs:label "Zofia Quarrel" . :p4 rdfs:label "Marlo Fenwhistle" .
:p5 rdfs:label "Ivo Saltmarsh" ; :born "2006-09-13"^^xsd:date ; :lives :v .
:c1 rdfs:label "Kestrel Eleven" . :c2 rdfs:label "Gyrfalcon United" . :c3 rdfs:label "Plover Rovers" .
:v rdfs:label "Hexamby" .
"""
)
KINDS = """
:m a :Institution . :t a :Institution . :p1 a :Person . :p2 a :Person . :p3 a :Person . :p4 a :Person . :p5 a :Person .
:c1 a :Club . :c2 a :Club . :c3 a :Club . :s1 a :Exhibition . :s2 a :Exhibition . :s3 a :Exhibition . :v a :Village .
"""
NAMES = ["Vexquilda", "Thrombury", "Ottoline", "Brackwater", "Bertil", "Oxenhame", "Zofia", "Quarrel", "Marlo"]
DATES = ["1998", "2007", "1951-04-03", "2006-09-13", "1994-02-01", "2026-11-23", "2003-06-30"]
TODAY = dt.date(2026, 11, 23)

OF_OFFICES = [
    ("Who was the director of Vexquilda Museum in 1998?", {"Ottoline Brackwater"}),
    ("Who is the current director of Vexquilda Museum?", {"Zofia Quarrel"}),
    ("Which directors did Vexquilda Museum have in the 1990s?", {"Ottoline Brackwater"}),
    ("Who were the directors of Vexquilda Museum between 2002 and 2005?", {"Ottoline Brackwater", "Bertil Oxenhame"}),
    ("Who was the director of Vexquilda Museum when Ivo Saltmarsh was born?", {"Bertil Oxenhame"}),
    ("Who was the first director of Vexquilda Museum?", {"Ottoline Brackwater"}),
    ("Which club had a contract with Ivo Saltmarsh in 2009?", {"Gyrfalcon United"}),
]
OF_UNTYPED = [
    ("Who was Ottoline Brackwater's spouse in 1990?", {"Bertil Oxenhame"}),
    ("Who is Ottoline Brackwater's spouse now?", {"Marlo Fenwhistle"}),
    ("What is the current club of Ivo Saltmarsh?", {"Plover Rovers"}),
    ("What are the former clubs of Ivo Saltmarsh?", {"Kestrel Eleven", "Gyrfalcon United"}),
]


@pytest.fixture(scope="module")
def untyped(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("times"), embedder, TENURES) as store:
        yield store


@pytest.fixture(scope="module")
def typed(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("typed_times"), embedder, TENURES + KINDS) as store:
        yield store


def house_of(store: ServiceContext, embedder: Embedder, reasoner: Reasoner | None = None) -> House:
    return sets_house(store, embedder, ChatOptions(today=lambda: TODAY), reasoner)


@pytest.mark.parametrize(("question", "names"), OF_OFFICES + OF_UNTYPED)
async def test_who_held_it_then(untyped: ServiceContext, embedder: Embedder, question: str, names: set[str]) -> None:
    assert set((await house_of(untyped, embedder).ask(question)).names) == names


@pytest.mark.parametrize(("question", "names"), OF_OFFICES)
async def test_where_kinds_are_declared(
    typed: ServiceContext, embedder: Embedder, question: str, names: set[str]
) -> None:
    assert set((await house_of(typed, embedder).ask(question)).names) == names


@pytest.mark.parametrize(("question", "names"), OF_OFFICES[:1] + OF_OFFICES[5:8] + OF_UNTYPED[:3])
async def test_where_things_are_voted_for(
    untyped: ServiceContext, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, question: str, names: set[str]
) -> None:
    monkeypatch.setattr(start, "MAX_RELATIONS", 0)
    assert set((await house_of(untyped, embedder).ask(question)).names) == names


async def test_years_in_all_of_the_names_say_which_was_the_first(untyped: ServiceContext, embedder: Embedder) -> None:
    house = house_of(untyped, embedder)
    assert (await house.ask("What was the first exhibition of Vexquilda Museum?")).names == ["Umbrathal 1996"]
    assert (await house.ask("What was the latest exhibition of Vexquilda Museum?")).names == ["Jaskworthy 2019"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who are the directors of Thrombury Theatre now?", {"Marlo Fenwhistle", "Ivo Saltmarsh"}),
        ("Where does Ivo Saltmarsh live now?", {"Hexamby"}),
    ],
)
async def test_where_nothing_says_when_all_stays_as_it_is(
    untyped: ServiceContext, embedder: Embedder, question: str, names: set[str]
) -> None:
    assert set((await house_of(untyped, embedder).ask(question)).names) == names


async def test_no_name_and_no_date_leaves_for_a_question_about_a_time(
    untyped: ServiceContext, embedder: Embedder
) -> None:
    house = house_of(untyped, embedder)
    for question, _ in OF_OFFICES[:3] + OF_OFFICES[4:5]:
        await house.ask(question)
        assert house.leaked(NAMES + DATES) == []


async def test_a_model_is_asked_the_question_as_it_stands(untyped: ServiceContext, embedder: Embedder) -> None:
    """With its time, and no date: what fits a time is looked up for the reasoner inside the service alone."""
    reasoner = ScriptedReasoner()
    house = house_of(untyped, embedder, reasoner)
    await house.ask("Who was the director of Vexquilda Museum in 1998?")
    sent = b"".join(reasoner.sent)
    assert re.search(rb"Who was the director of E\w{5} in V\w{5}\?", sent)
    assert b"filter(" not in sent
    assert canaries_in(sent, NAMES + DATES) == []


@pytest.mark.parametrize(
    "text",
    ["Who was the director of Vexquilda Museum in 1950?", "Which directors did Vexquilda Museum have in the 1960s?"],
)
async def test_a_time_at_which_nobody_held_it_is_no_answer(
    typed: ServiceContext, untyped: ServiceContext, embedder: Embedder, text: str
) -> None:
    """Everybody who ever held it would be wrong, and look sure."""
    for store in (typed, untyped):
        answer = await house_of(store, embedder).ask(text)
        assert not answer.answered
        assert answer.names == []
