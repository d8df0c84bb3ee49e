"""The confidence in words, and the questions that may have been meant, wherever an answer is shown."""

from __future__ import annotations

import pytest

from client_sdk import Chat
from client_sdk.answers.answer_notes import remarks
from client_sdk.answers.evidence import MIN_SURE, confidence_words, is_unsure
from client_sdk.cli.main import run
from tests.client_sdk.cli.test_main import pipe
from tests.support.fake_service import API_KEY, FakeService

OFFERED = ["Who treats Eq7f2k?", "Whom does Eq7f2k treat?"]
NAMED = ("Who treats Anna Keller?", "Whom does Anna Keller treat?")


@pytest.mark.parametrize(
    ("confidence", "words", "unsure"),
    [
        (None, "", False),
        (0.93, "confidence 0.93", False),
        (MIN_SURE, "confidence 0.70", False),
        (0.55, "not sure: confidence 0.55", True),
    ],
)
def test_the_words(confidence: float | None, words: str, unsure: bool) -> None:
    assert (confidence_words(confidence), is_unsure(confidence)) == (words, unsure)


def test_an_answer_has_them_with_its_names(service: FakeService) -> None:
    service.confidence, service.did_you_mean = 0.55, OFFERED
    with Chat(service.url, API_KEY, "demo") as chat:
        answer = chat.ask("Who?")
    assert (answer.confidence, answer.did_you_mean) == (0.55, NAMED)
    assert "Not sure: confidence 0.55." in answer._repr_html_()
    assert remarks(answer).startswith("\n\nNot sure: confidence 0.55.")


def test_a_changed_confidence_opens_no_name(service: FakeService) -> None:
    service.confidence, service.extra = 0.55, {"confidence": 0.95}
    with Chat(service.url, API_KEY, "demo") as chat, pytest.raises(Exception, match="names can't be opened"):
        chat.ask("Who?")


def test_a_sure_answer_says_so_in_a_notebook_and_not_to_other_programs(service: FakeService) -> None:
    service.confidence = 0.93
    with Chat(service.url, API_KEY, "demo") as chat:
        answer = chat.ask("Who?")
    assert "Confidence 0.93." in answer._repr_html_()
    assert "onfidence" not in remarks(answer)


def test_a_number_asks_what_was_offered(
    service: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AROG_URL", service.url)
    monkeypatch.setenv("AROG_API_KEY", API_KEY)
    service.did_you_mean = OFFERED
    pipe(monkeypatch, "Who?\n2\n3\n")
    assert run(["chat"]) == 0
    printed = capsys.readouterr().out
    assert f"  1. {NAMED[0]}\n  2. {NAMED[1]}\n(type a number, or ask in other words)" in printed
    assert [one["messages"][-1]["content"] for one in service.seen] == ["Who?", NAMED[1], "3"]


def test_a_number_is_a_question_where_nothing_was_offered(
    service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AROG_URL", service.url)
    monkeypatch.setenv("AROG_API_KEY", API_KEY)
    pipe(monkeypatch, "1\nWho?\n1\n")
    assert run(["chat"]) == 0
    assert [one["messages"][-1]["content"] for one in service.seen] == ["1", "Who?", "1"]
