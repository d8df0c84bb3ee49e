"""Answers with all that comes beside their text: sentences, suggestions, confidence, the path, tables."""

from __future__ import annotations

import html
import io
import json
import re
import sys

import pytest

from client_sdk import Answer, Chat, NotConfiguredError
from client_sdk.answers.answer import reasons
from client_sdk.answers.answer_notes import remarks
from client_sdk.cli.main import run
from client_sdk.protocol import Fact, Names, Sentence, Usage
from tests.client_sdk.conftest import Spoken
from tests.support.fake_service import API_KEY, FakeService

OFFERED = ["Who treats Eq7f2k?", "Whom does Eq7f2k treat?"]
MEANT = ("Who treats Anna Keller?", "Whom does Anna Keller treat?")
SENTENCES = [Sentence(text="Eq7f2k is treated by Ex81zp.", facts=[0, 1]), Sentence(text="Shall I go on?")]
SUGGESTED = ["Where does Ex81zp live?", "Which wards does Ex81zp work on?"]
NAMED = ("Where does Dr. Bruno Weiß live?", "Which wards does Dr. Bruno Weiß work on?")


@pytest.fixture
def talk(env: FakeService) -> FakeService:
    env.strategy, env.sentences, env.removed = "dialogue", SENTENCES, 2
    env.suggestions, env.usage = SUGGESTED, Usage(attachment=0.5)
    return env


def asked(talk: FakeService) -> Answer:
    with Chat(talk.url, API_KEY, "clinic") as chat:
        return chat.ask("Who?")


def test_sentences_suggestions_and_what_was_removed_come_with_names(talk: FakeService) -> None:
    answer = asked(talk)
    assert [each.text for each in answer.sentences] == ["Anna Keller is treated by Dr. Bruno Weiß.", "Shall I go on?"]
    assert [each.facts for each in answer.sentences] == [answer.evidence, ()]
    assert answer.suggestions == NAMED
    assert (answer.removed, answer.strategy, answer.usage.attachment) == (2, "dialogue", 0.5)


def test_a_position_behind_the_evidence_carries_nothing(talk: FakeService) -> None:
    talk.sentences = [Sentence(text="Eq7f2k sings.", facts=[7, -1, 1])]
    answer = asked(talk)
    assert answer.sentences[0].facts == answer.evidence[1:]


def test_without_a_key_they_stay_in_pseudonyms(talk: FakeService) -> None:
    with Chat(talk.url, API_KEY, "clinic", restore_names=False) as chat:
        answer = chat.ask("Who?")
    assert answer.suggestions == tuple(SUGGESTED)
    assert answer.sentences[0].text == SENTENCES[0].text


def test_how_many_are_suggested_is_an_option_of_a_question(talk: FakeService) -> None:
    with Chat(talk.url, API_KEY, "clinic") as chat:
        assert chat.ask("Who?", suggestions=1).suggestions == NAMED[:1]
        assert chat.ask("Who?", suggestions=0).suggestions == ()


def test_evidence_is_numbered_and_sentences_point_at_it(talk: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?", "--evidence"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Anna Keller is treated by Dr. Bruno Weiß. [1][2] Shall I go on?\n")
    assert "  [1] Anna Keller (patient), treated by, Dr. Bruno Weiß (doctor)\n" in printed
    assert "\n  [2] " in printed
    assert "(2 statements were removed: the graph does not hold them.)\n" in printed


def test_json_holds_all_of_it(talk: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sentences"] == [
        {"text": "Anna Keller is treated by Dr. Bruno Weiß.", "facts": [0, 1], "restated": False},
        {"text": "Shall I go on?", "facts": [], "restated": False},
    ]
    assert (told["removed"], told["suggestions"], told["strategy"]) == (2, list(NAMED), "dialogue")
    assert told["usage"]["attachment"] == 0.5


def test_a_pipe_gets_no_suggestions_and_none_are_made(talk: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?"]) == 0
    assert NAMED[0] not in capsys.readouterr().out
    assert talk.seen[-1]["options"]["suggestions"] == 0


def test_notebooks_and_other_programs_are_told_what_was_removed(talk: FakeService) -> None:
    answer, sentence = asked(talk), "2 statements were removed: the graph does not hold them."
    assert sentence in answer._repr_html_()
    assert sentence in remarks(answer)
    talk.removed = 0
    assert "removed" not in asked(talk)._repr_html_() + remarks(asked(talk))


def test_they_are_told_what_was_written_anew(talk: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    talk.sentences = [SENTENCES[0].model_copy(update={"restated": True}), SENTENCES[1]]
    answer, sentence = (
        asked(talk),
        "1 sentence was written anew from the graph: the model's own could not be confirmed.",
    )
    assert [each.restated for each in answer.sentences] == [True, False]
    assert html.unescape(answer._repr_html_()).count(sentence) == remarks(answer).count(sentence) == 1
    assert run(["ask", "Who?"]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_them_numbered(talk: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert run(["ask", "Who?"]) == 0
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.getvalue().splitlines()]
    assert lines[-3:] == ["You could ask next:", f"  1. {NAMED[0]}", f"  2. {NAMED[1]}"]


# --- /next, and questions that may have been meant ----------------------------------------------------------


def asked_last(service: FakeService) -> list[str]:
    return [one["messages"][-1]["content"] for one in service.seen]


def test_next_lists_the_suggestions_and_asks_the_one_of_a_number(talk: FakeService, spoken: Spoken) -> None:
    _, printed, _ = spoken("/next\nWho?\n/next\n/next 2\n")
    assert printed.startswith("(no answer yet)\n")
    assert printed.count(f"  2. {NAMED[1]}\n") == 3  # below both answers, and where they were listed
    assert "(/next 1 asks the first)" in printed
    assert asked_last(talk) == ["Who?", NAMED[1]]


@pytest.mark.parametrize("line", ["/next 3", "/next 0", "/next 12"])
def test_a_number_that_none_has_asks_nothing(talk: FakeService, spoken: Spoken, line: str) -> None:
    _, printed, _ = spoken(f"Who?\n{line}\n")
    assert "There is no suggestion of that number." in printed
    assert len(talk.seen) == 1


def test_a_program_gets_the_list_as_one_object(talk: FakeService, spoken: Spoken) -> None:
    told = [json.loads(line) for line in spoken("Who?\n/next\n/next 1\n", "--json")[1].splitlines()]
    assert [each["kind"] for each in told] == ["answer", "next", "answer"]
    assert told[1]["suggestions"] == list(NAMED)


def test_a_bare_number_asks_what_may_have_been_meant_and_no_suggestion(env: FakeService, spoken: Spoken) -> None:
    env.did_you_mean, env.suggestions = OFFERED, SUGGESTED
    _, printed, _ = spoken("1\nWho?\n2\n3\n")
    assert f"  1. {MEANT[0]}\n  2. {MEANT[1]}\n(type a number, or ask in other words)" in printed
    assert asked_last(env) == ["1", "Who?", MEANT[1], "3"]


# --- confidence -------------------------------------------------------------------------------------------


def test_an_answer_has_them_with_its_names(service: FakeService) -> None:
    service.confidence, service.did_you_mean = 0.55, OFFERED
    with Chat(service.url, API_KEY, "demo") as chat:
        answer = chat.ask("Who?")
    assert (answer.confidence, answer.did_you_mean) == (0.55, MEANT)
    assert "Not sure: confidence 0.55." in answer._repr_html_()
    assert remarks(answer).startswith("\n\nNot sure: confidence 0.55.")


def test_a_changed_confidence_opens_no_name(service: FakeService) -> None:
    service.confidence, service.extra = 0.55, {"confidence": 0.95}
    with Chat(service.url, API_KEY, "demo") as chat, pytest.raises(Exception, match="names can't be opened"):
        chat.ask("Who?")


# --- the path, tables -------------------------------------------------------------------------------------

TABLE = {
    "Ea1b2c": Names(names=["Rose"], total=1),
    "Ed3e4f": Names(names=["Dr. X"], total=1),
    "Sg5h6i": Names(names=["A", "B"], total=7),
}


def fact(head: str, tail: str, *path: str, cited: bool = True) -> Fact:
    return Fact(head=head, head_concept="patient", path=list(path), tail=tail, tail_concept="doctor", cited=cited)


def test_steps_that_follow_on_one_another_are_one_line_and_another_start_another() -> None:
    found = [
        fact("Ea1b2c", "Ed3e4f", "has admission|by"),
        fact("Ed3e4f", "Sg5h6i", "^lives in"),
        fact("Ezzzz9", "Ed3e4f", "treated by", "works at"),
        fact("Ea1b2c", "Sg5h6i", "knows", cited=False),
    ]
    assert reasons(found, TABLE) == (
        "Rose -> has admission / by (doctor) -> Dr. X; <- lives in (doctor) <- A, B and 5 more",
        "Ezzzz9 -> treated by > works at (doctor) -> Dr. X",
    )
    assert reasons([fact("Sg5h6i", "Ed3e4f", "knows")], TABLE) == ("A, B and 5 more -> knows (doctor) -> Dr. X",)


def test_each_name_is_a_row(chat: Chat) -> None:
    pytest.importorskip("pandas")
    frame = chat.ask("Who?").to_dataframe()
    assert list(frame.columns) == ["part", "name", "concept", "kind", "total"]
    assert list(frame["name"][:4]) == ["Dr. Bruno Weiß", "Lea", "Noah", "Eq7f2k"]
    assert list(frame["part"]) == [1, 2, 2, 2, 3]
    assert list(frame["total"]) == [1, 15, 15, 15, 1]
    assert frame["name"].isna().tolist() == [False, False, False, False, True]


def test_each_fact_is_a_row(chat: Chat) -> None:
    pytest.importorskip("pandas")
    frame = chat.ask("Who?").to_dataframe("evidence")
    assert list(frame["head"]) == ["Anna Keller", "not named"]
    assert list(frame["relation"]) == ["treated by", "ward > ^works in"]
    assert list(frame["cited"]) == [True, False]


def test_without_pandas_it_says_how_to_get_it(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotConfiguredError) as refused:
        chat.ask("Who?").to_dataframe()
    assert refused.value.hint == "in a clone of arog, get it with: pip install '.[pandas]'"
