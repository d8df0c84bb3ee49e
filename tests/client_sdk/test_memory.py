"""`chat.memory` and `arog memory`: listed with names, saved, and forgotten."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from client_sdk import Chat, RefusedError
from client_sdk.cli.main import run
from client_sdk.protocol import MemoryFact
from tests.support.fake_service import API_KEY, FakeService

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FACTS = [
    MemoryFact(id="f2", made_at=AT, text="Ex81zp prefers mornings.", form="words", conversation="c2"),
    MemoryFact(id="f1", made_at=AT, text="Eq7f2k is treated by Ex81zp.", form="fact", conversation="c1"),
]
WORDS = ["Dr. Bruno Weiß prefers mornings.", "Anna Keller is treated by Dr. Bruno Weiß."]


@pytest.fixture(autouse=True)
def _remembers(service: FakeService) -> None:
    service.memory = list(FACTS)


def test_a_chat_lists_and_forgets(service: FakeService) -> None:
    with Chat(service.url, API_KEY, "demo", person="ann@example.org") as chat:
        assert [(each.id, each.text, each.form) for each in chat.memory.list()] == [
            ("f2", WORDS[0], "words"),
            ("f1", WORDS[1], "fact"),
        ]
        chat.memory.forget("f2")
        with pytest.raises(RefusedError):
            chat.memory.forget("f2")
        assert chat.memory.forget_all() == 1
    assert not any("ann" in path or "Keller" in path for path in service.paths)
    assert len({path.partition("person=")[2].partition("&")[0] for path in service.paths}) == 1


def test_the_command_lists_with_names_and_days(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"f2  2026-01-02  {WORDS[0]}  (in your own words)",
        f"f1  2026-01-02  {WORDS[1]}",
    ]
    env.memory.clear()
    assert run(["memory", "list"]) == 0
    assert capsys.readouterr().out == "nothing is remembered\n"


def test_the_command_saves_each_sentence_as_a_line_of_json(
    env: FakeService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["memory", "export", "--graph", "clinic"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {
        "id": "f2", "made_at": "2026-01-02T03:04:05+00:00", "text": WORDS[0], "form": "words", "conversation": "c2",
        "offer": "",
    }  # fmt: skip
    assert second["text"] == WORDS[1]
    assert run(["memory", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [first, second]


def test_the_command_forgets_one_or_all_and_never_all_by_mistake(
    env: FakeService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["memory", "forget"]) == 2
    assert run(["memory", "forget", "f1", "--all"]) == 2
    assert len(env.memory) == 2
    capsys.readouterr()
    assert run(["memory", "forget", "f1"]) == 0
    assert capsys.readouterr().out == "forgotten: 1 sentence\n"
    assert [each.id for each in env.memory] == ["f2"]
    assert run(["memory", "forget", "--all"]) == 0
    assert env.memory == []
