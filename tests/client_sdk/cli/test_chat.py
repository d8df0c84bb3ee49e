"""`arog chat`: its commands, for people and for programs; its lines, its colours, and what the shell completes."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from client_sdk import Answer, ArogError, Chat
from client_sdk.cli.chat import ChatLoop, ConsoleDisplay, completing
from client_sdk.cli.main import run
from client_sdk.cli.render import make_console
from tests.client_sdk.cli.test_main import REPOSITORY, TEXT
from tests.client_sdk.conftest import Spoken
from tests.support.fake_service import API_KEY, PRIVATE_WORDS, FakeService, problem


def test_an_answer_is_rated_by_command(env: FakeService, spoken: Spoken) -> None:
    code, printed, _ = spoken("/right\nWho?\n/right\n/wrong\n/wrong Anna Keller; Lea\n/quit\n")
    assert code == 0
    told = [(each.rating, each.correct) for each in env.ratings]
    assert told == [("right", None), ("wrong", None), ("wrong", ["Anna Keller", "Lea"])]
    assert {(each.conversation, each.answer) for each in env.ratings} == {("conversation-1", "answer-1")}
    assert printed.startswith("(no answer yet)")
    assert "(Thank you: similar questions will lean on this.)" in printed


# --- commands ---------------------------------------------------------------------------------------------


def test_chat_answers_piped_lines_in_one_dialogue(env: FakeService, spoken: Spoken) -> None:
    first = ["/why", "Who?", "", "/why", "/evidence", "/seen", "And who else?", "/history", "/reset", "Anew?"]
    code, printed, _ = spoken("\n".join([*first, "/help", "/nonsense", "/why not", "/quit", "Never asked"]))
    assert code == 0
    assert printed.startswith("(no answer yet)\n" + TEXT)
    assert "Anna Keller -> treated by (doctor) -> Dr. Bruno Weiß" in printed
    assert "Anna Keller (patient), treated by" in printed
    assert "[user]\nWho treats" in printed
    assert "Ex81zp? Or Anna?\n--- reply, with names, on this machine alone\nDr. Bruno Weiß? Or Anna?" in printed
    assert "(a new dialogue)" in printed
    assert f"> Who?\n  {TEXT}\n> And who else?\n  {TEXT}\n" in printed
    assert printed.count("There is no such command.") == 2
    assert [len(one["messages"]) for one in env.seen] == [1, 3, 1]


def test_an_error_ends_the_line_and_not_the_dialogue(env: FakeService, spoken: Spoken) -> None:
    env.canned.append(problem(404, "unknown_conversation"))
    code, printed, errors = spoken("Who?\nAnd?\n")
    assert code == 4
    assert TEXT in printed
    assert "/reset begins a new conversation" in errors
    assert [len(one["messages"]) for one in env.seen] == [1, 1]


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_chat_by_hand_ends_with_ctrl_d_and_exits_with_zero(
    env: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    env.canned.append(problem(500, "internal"))
    monkeypatch.setattr(sys, "stdin", Keyboard())
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("Who?\n\nAnd?\n\x04")
        assert run(["chat"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Ask away. /help lists the commands.\n")
    assert "Dr. Bruno Weiß" in printed.out
    assert "(id err-1)" in printed.err


def test_what_the_model_saw_is_in_pseudonyms_without_the_grant_and_says_so(env: FakeService, spoken: Spoken) -> None:
    env.may_inspect = False
    seen = spoken("Who?\n/seen\n")[1].partition("(in pseudonyms alone: ")[2]
    assert seen.startswith("the names behind them are for keys with the grant inspect:demo, ")
    assert "[user]\nWho treats\nEq7f2k?" in seen
    assert not [word for word in PRIVATE_WORDS if word in seen]


def test_another_graph_is_another_dialogue(env: FakeService, spoken: Spoken) -> None:
    _, printed, _ = spoken("Who?\n/graph\n/graph other\nWho else?\n/graph clinic\n/why\nWho there?\n")
    assert "  clinic\n* demo\n" in printed
    assert "This key may not ask that graph, or there is none of that name." in printed
    assert printed.count("(a new dialogue with clinic)\n(no answer yet)\n") == 1
    assert [(one["graph"], len(one["messages"])) for one in env.seen] == [("demo", 1), ("demo", 3), ("clinic", 1)]


def test_the_options_of_the_command_hold_for_another_graph(env: FakeService, spoken: Spoken) -> None:
    spoken("/graph clinic\nWho?\n", "--strategy", "arog", "--names", "7", "--language", "de", "--beside", "common")
    options = env.seen[0]["options"]
    assert (env.seen[0]["strategy"], options["names"], options["language"]) == ("arog", 7, "de")
    assert options["beside"] == ["common"]


class Interrupted(ConsoleDisplay):
    """Somebody who presses Ctrl-C at the first question."""

    asked = 0

    def ask(self, chat: Chat, question: str) -> Answer:
        self.asked += 1
        if self.asked == 1:
            raise KeyboardInterrupt
        return super().ask(chat, question)


def test_ctrl_c_ends_the_question_and_not_the_dialogue(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    face = Interrupted(make_console())
    talk = ChatLoop(lambda graph: Chat(env.url, API_KEY, graph or "demo"), face)
    assert talk.go_through(["Who?", "Who?"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("(stopped)\n" + TEXT)
    assert [len(one["messages"]) for one in env.seen] == [1]


# --- one JSON object a line -------------------------------------------------------------------------------


def objects(told: tuple[int, str, str]) -> list[dict[str, Any]]:
    assert told[2] == ""
    return [json.loads(line) for line in told[1].splitlines()]


def test_every_line_is_answered_by_one_object(env: FakeService, spoken: Spoken) -> None:
    lines = ["/why", "Who?", "/why", "/evidence", "/seen", "/history", "/graph", "/graph clinic", "/reset", "/help"]
    told = objects(spoken("\n".join([*lines, "/x"]), "--json"))
    assert [one["kind"] for one in told] == [
        *("nothing", "answer", "why", "evidence", "seen", "history", "graph", "graph", "reset", "help", "help")
    ]
    _, answer, why, evidence, seen, history, graph, switched, _, _, unknown = told
    assert answer["text"] == TEXT
    assert why["why"] == ["Anna Keller -> treated by (doctor) -> Dr. Bruno Wei\u00df"]
    assert evidence["evidence"][0] == "Anna Keller (patient), treated by, Dr. Bruno Wei\u00df (doctor)"
    assert seen["steps"][0]["reply_with_names"] == "Dr. Bruno Wei\u00df? Or Anna?"
    assert history["turns"] == [{"role": "user", "text": "Who?"}, {"role": "assistant", "text": TEXT}]
    assert (graph["graph"], graph["graphs"]) == ("demo", ["clinic", "demo"])
    assert switched == {"kind": "graph", "graph": "clinic"}
    assert unknown["problem"] == "There is no such command."


def test_an_error_is_an_object_too(env: FakeService, spoken: Spoken) -> None:
    env.canned.append(problem(404, "unknown_conversation"))
    env.may_inspect = False
    first, _, seen = objects(spoken("Who?\nWho?\n/seen\n", "--json"))
    assert first == {
        "kind": "error",
        "code": "unknown_conversation",
        "message": "It went wrong.",
        "hint": "/reset begins a new conversation.",
        "id": "err-1",
    }
    assert seen["names_kept"] is False
    assert not [word for word in PRIVATE_WORDS if word in json.dumps(seen["requests"])]


# --- typing and completing --------------------------------------------------------------------------------


def test_commands_and_graphs_are_completed() -> None:
    def unreachable() -> list[str]:
        raise ArogError("x")

    complete = completing(["/why", "/graph", "/help"], lambda: ["clinic", "demo"])
    assert complete("/") == ["/why", "/graph", "/help"]
    assert complete("/w") == ["/why"]
    assert complete("/graph c") == ["clinic"]
    assert complete("Where ") == []
    assert completing([], unreachable)("/graph ") == []


class Terminal:
    """`arog chat` in a terminal of its own, as a person has it."""

    def __init__(self, environment: dict[str, str], *options: str) -> None:
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "client_sdk", "chat", *options]
        told = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        told |= {
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "PYTHONPATH": str(REPOSITORY),
            **environment,
        }
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=told, close_fds=True, start_new_session=True
        )
        os.close(theirs)
        self.screen, self._bytes, self._read = "", b"", 0
        self._read_until("demo>")

    def _read_until(self, text: str) -> None:
        while (at := self.screen.find(text, self._read)) < 0:
            ready, _, _ = select.select([self._ours], [], [], 20)
            assert ready, self.screen
            self._bytes += os.read(self._ours, 65536)
            self.screen = self._bytes.decode(errors="replace")
        self._read = at + len(text)

    def type(self, text: str, until: str) -> None:
        """Types a line once it is asked for, and waits for its answer and the next prompt."""
        os.write(self._ours, text.encode())
        self._read_until(until)
        self._read_until("demo>")

    def end(self) -> int:
        os.write(self._ours, b"\x04")
        return self._process.wait(20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


@pytest.mark.process
def test_in_a_terminal_it_has_colours_completes_and_keeps_lines_only_where_it_is_told(
    env: FakeService, tmp_path: Path
) -> None:
    kept = tmp_path / "lines"
    with Terminal({}, "--history-file", str(kept)) as terminal:
        terminal.type("Who treats Anna Keller?\n", until="is not.")
        terminal.type("/wh\t\n", until="Dr. Bruno Weiß")
        assert terminal.end() == 0
    assert "\x1b[0;36;1m" in terminal.screen
    assert "\x1b[36m" in terminal.screen
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "Who treats Anna Keller?" in kept.read_text()


@pytest.mark.process
def test_without_colours_there_are_none_and_nothing_is_kept(env: FakeService, config: Path, tmp_path: Path) -> None:
    with Terminal({"NO_COLOR": "1", "HOME": str(tmp_path)}) as terminal:
        terminal.type("Who treats Anna Keller?\n", until="is not.")
        terminal.type("/why\n", until="Dr. Bruno Weiß")
        assert terminal.end() == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", terminal.screen)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 1  # the key pair
    assert b"Anna" not in written[0]
