"""Common nouns that a graph without kinds sorts its things by: they narrow an answer, inside the service alone."""

from __future__ import annotations

import pytest

from app.chat.question_run import QuestionReading
from app.chat.search import in_order
from app.llm.embeddings.embedder import Embedder
from app.strategies import start
from app.wiring.store import ServiceContext
from tests.support.house import House, sets_house
from tests.support.stores import PREFIXES

PEOPLE = ["Zofia Quarrel", "Bertil Oxenhame", "Ottoline Brackwater", "Casimir Thrumble"]
NUMERALS = "I II III IV V VI VII VIII IX".split()
OTHERS = "".join(f':o{each} rdfs:label "Oddny Wexcombe {each}" ; :work :lawyer . ' for each in NUMERALS)
GRAPH = (
    PREFIXES
    + """
:born rdfs:label "place of birth" . :work rdfs:label "profession" . :lawyer rdfs:label "Lawyer" .
:baker rdfs:label "Baker" . :t1 rdfs:label "Vexquilda" .
:p1 rdfs:label "Zofia Quarrel" ; :born :t1 ; :work :lawyer .
:p2 rdfs:label "Bertil Oxenhame" ; :born :t1 ; :work :baker .
:p3 rdfs:label "Ottoline Brackwater" ; :born :t1 ; :work :lawyer . :p4 rdfs:label "Casimir Thrumble" ; :work :lawyer .
"""
    + OTHERS
)


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(start, "MAX_RELATIONS", 0)
    return sets_house(store, embedder)


async def test_a_common_noun_narrows_what_the_named_thing_leads_to(house: House) -> None:
    everybody = await house.ask("Who was born in Vexquilda?")
    assert sorted(everybody.names) == sorted(PEOPLE[:3])
    lawyers = await house.ask("Which lawyers were born in Vexquilda?")
    assert sorted(lawyers.names) == ["Ottoline Brackwater", "Zofia Quarrel"]
    assert house.leaked([word for name in [*PEOPLE, "Vexquilda"] for word in name.split()]) == []


def test_a_model_never_sees_both_readings_of_a_question() -> None:
    plain, by_kinds = QuestionReading(), QuestionReading(by_kinds=True)
    assert in_order([plain, by_kinds], is_model=False) == [by_kinds, plain]
    assert in_order([plain, by_kinds], is_model=True) == [plain]
