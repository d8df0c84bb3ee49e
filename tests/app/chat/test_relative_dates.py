"""Questions that are said by today: they are answered by the calendar, and their answers say the real dates."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from app.chat.question_run import ChatOptions
from app.llm.embeddings.embedder import Embedder
from app.wiring.store import ServiceContext
from client_sdk.restore import restore
from tests.support.house import House, sets_house
from tests.support.stores import PREFIXES

GRAPH = (
    PREFIXES
    + """
:on rdfs:label "loaned on" . :by rdfs:label "borrowed by" .
:bo rdfs:label "date of birth" . :of rdfs:label "of book" .
:l1 a :Loan ; rdfs:label "Loan Vexquilda" ; :on "2026-11-22"^^xsd:date ; :by :m1 ; :of :b1 .
:l2 a :Loan ; rdfs:label "Loan Thrombury" ; :on "2026-08-01"^^xsd:date ; :by :m1 ; :of :b2 .
:l3 a :Loan ; rdfs:label "Loan Orvindel" ; :on "2025-03-02"^^xsd:date ; :by :m2 ; :of :b1 .
:l4 a :Loan ; rdfs:label "Loan Jaskworthy" ; :on "2024-12-24"^^xsd:date ; :by :m2 ; :of :b3 .
:m1 a :Member ; rdfs:label "Ottoline Brackwater" ; :bo "1961-02-11"^^xsd:date .
:m2 a :Member ; rdfs:label "Bertil Oxenhame" ; :bo "1990-01-05"^^xsd:date .
:b1 a :Book ; rdfs:label "Kestrel Wing" . :b2 a :Book ; rdfs:label "Yesterday" . :b3 a :Book ; rdfs:label "Umbrathal" .
"""
)
NAMES = ["Vexquilda", "Thrombury", "Orvindel", "Jaskworthy", "Ottoline", "Brackwater", "Bertil", "Oxenhame", "Kestrel"]


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder) -> House:
    return sets_house(store, embedder, ChatOptions(today=lambda: dt.date(2026, 11, 23)))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which loans were loaned in the last six months?", {"Loan Vexquilda", "Loan Thrombury"}),
        ("Which loans were loaned last year?", {"Loan Orvindel"}),
        ("Which loans were loaned since last year?", {"Loan Vexquilda", "Loan Thrombury", "Loan Orvindel"}),
        ("Which loans were loaned more than a year ago?", {"Loan Orvindel", "Loan Jaskworthy"}),
        ("How many loans were loaned this year?", {"2"}),
    ],
)
async def test_a_date_by_today_is_read_as_that_of_the_calendar(house: House, question: str, names: set[str]) -> None:
    assert set((await house.ask(question)).names) == names


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("Which loans were loaned in the last six months?", ["2026-05-23", "2026-11-23"]),
        ("Which loans were loaned last year?", ["2025"]),
    ],
)
async def test_the_line_that_explains_the_answer_says_the_dates(house: House, question: str, dates: list[str]) -> None:
    await house.ask(question)
    explained = restore(" ".join(house.last.worked_out), house.capsule)
    assert all(date in explained for date in dates), explained


async def test_a_question_by_today_is_what_the_same_by_dates_is_for_a_model(house: House) -> None:
    await house.ask("Which loans were loaned last year?")
    assert re.search(rb'"question":"Which loans were loaned in V\w{5}\?"', house.sent)


async def test_names_beside_a_date_by_today_never_leave(house: House) -> None:
    question = "Which loans borrowed by Ottoline Brackwater or tarnsworth oxenhame were loaned in the last six months?"
    await house.ask(question)
    assert house.leaked([*NAMES, "Tarnsworth", "2026-05-23", "2026-11-23"]) == []


async def test_a_name_that_sounds_like_a_date_is_a_name(house: House) -> None:
    assert set((await house.ask("Which loans are of book Yesterday?")).names) == {"Loan Thrombury"}
