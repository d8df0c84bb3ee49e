"""Answers as tables of pandas."""

from __future__ import annotations

import sys

import pytest

from client_sdk import Chat, NotConfiguredError
from tests.support.fake_service import API_KEY, FakeService


@pytest.fixture
def answer(service: FakeService):
    with Chat(service.url, API_KEY, "demo") as chat:
        return chat.ask("Who treats Anna Keller?")


def test_each_name_is_a_row(answer) -> None:
    pytest.importorskip("pandas")
    frame = answer.to_dataframe()
    assert list(frame.columns) == ["part", "name", "concept", "kind", "total"]
    assert list(frame["name"][:4]) == ["Dr. Bruno Weiß", "Lea", "Noah", "Eq7f2k"]
    assert list(frame["part"]) == [1, 2, 2, 2, 3]
    assert list(frame["total"]) == [1, 15, 15, 15, 1]
    assert frame["name"].isna().tolist() == [False, False, False, False, True]


def test_each_fact_is_a_row(answer) -> None:
    pytest.importorskip("pandas")
    frame = answer.to_dataframe("evidence")
    assert list(frame["head"]) == ["Anna Keller", "not named"]
    assert list(frame["relation"]) == ["treated by", "ward > ^works in"]
    assert list(frame["cited"]) == [True, False]


def test_without_pandas_it_says_how_to_get_it(answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotConfiguredError) as refused:
        answer.to_dataframe()
    assert refused.value.hint == "in a clone of arog, get it with: pip install '.[pandas]'"
