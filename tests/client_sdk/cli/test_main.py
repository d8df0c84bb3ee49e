from __future__ import annotations

import io
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from rich.console import Console

from client_sdk import Chat, Piece, Stream
from client_sdk.answers.safe_output import printable
from client_sdk.cli import main
from client_sdk.cli.main import join_commands, run
from client_sdk.cli.render import make_console, show_answer, show_stream
from client_sdk.cli.settings import choose
from client_sdk.crypto.key_file import create_private, key_path, load_key
from client_sdk.errors import NotConfiguredError
from client_sdk.protocol import Reading
from tests.support.fake_service import API_KEY, PRIVATE_WORDS, FakeService, problem, sse

pytestmark = pytest.mark.slow

TEXT = "Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not."
REPOSITORY = Path(main.__file__).parents[2]


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


# --- ask --------------------------------------------------------------------------------------------------


def test_ask_prints_the_answer_with_names(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == TEXT
    assert "(Anna Keller may be: 1. Anna Keller (patient); 2. Ehid01 (nurse). Say which: " in printed.out
    assert "treated by, " not in printed.out
    assert printed.err == ""


def test_ask_shows_evidence_and_what_the_model_saw(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?", "--evidence", "--seen"]) == 0
    printed = capsys.readouterr().out
    assert "  Anna Keller (patient), treated by, Dr. Bruno Weiß (doctor)" in printed
    assert printed.count("were left out") == 1
    seen = printed[printed.index("2026-01-02") :]
    assert "[user]\nWho treats\nEq7f2k?" in seen
    assert "answer answer-1" in seen
    assert "answer-2" not in seen
    assert not [word for word in PRIVATE_WORDS if word in seen]


def test_a_streamed_answer_reads_the_same_in_a_pipe(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?", "--evidence", "--seen"]) == 0
    whole = capsys.readouterr().out
    assert run(["ask", "Who?", "--evidence", "--seen", "--stream"]) == 0
    assert capsys.readouterr().out == whole.replace("answer-1", "answer-2")
    assert [one["stream"] for one in env.seen] == [False, True]


def test_a_terminal_shows_stages_and_then_text_as_it_comes(env: FakeService) -> None:
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, markup=False, highlight=False, soft_wrap=True)
    text_may_come = threading.Event()
    env.steps = lambda events: [sse(events[:2]), text_may_come, sse(events[2:])]

    def until_shown(words: str) -> None:
        while words not in shown.getvalue():
            text_may_come.wait(0.01)

    def watched(pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The spinner has its own thread: each stage is waited for before the next piece is asked for."""
        for words, piece in zip(("looking for names", "round 1", "Anna Keller "), pieces, strict=False):
            yield piece
            until_shown(words)
            if words == "round 1":
                assert "Anna" not in shown.getvalue()
                text_may_come.set()
        yield from pieces

    with Chat(env.url, API_KEY, "demo") as chat, chat.stream("Who?") as stream:
        show_stream(terminal, Stream(watched(stream)))  # type: ignore[arg-type]
    assert f"{TEXT}\n" in shown.getvalue()


def test_an_error_in_a_stream_shows_no_text_and_has_its_exit_code(
    env: FakeService, capsys: pytest.CaptureFixture[str]
) -> None:
    error = json.dumps({"status": 502, "code": "c", "message": "It went wrong.", "hint": "Wait.", "id": "err-1"})
    env.steps = lambda events: [sse([*events[:5], ("error", error)])]
    assert run(["ask", "Who?", "--stream"]) == 5
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "arog: It went wrong. Wait. (id err-1)\n")
    env.steps = lambda events: [sse(events[:2])]
    assert run(["ask", "Who?", "--stream"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "ended before the answer was whole" in printed.err


def test_json_is_not_streamed(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?", "--stream", "--json"]) == 2
    assert "--json" in capsys.readouterr().err
    assert env.seen == []


def test_ask_reads_the_question_from_standard_input(env: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, "Who treats her?\n")
    assert run(["ask", "-", "--strategy", "arog", "--names", "9", "--graph", "clinic"]) == 0
    (request,) = env.seen
    assert request["messages"][0]["content"] == "Who treats her?"
    assert (request["strategy"], request["options"]["names"], request["graph"]) == ("arog", 9, "clinic")


def test_ask_names_public_graphs_beside_the_asked_one(env: FakeService) -> None:
    assert run(["ask", "Who?", "--beside", "common", "--beside", "drugs"]) == 0
    assert run(["ask", "Who?"]) == 0
    assert [request["options"].get("beside") for request in env.seen] == [["common", "drugs"], None]


def test_ask_wants_names_in_a_language(
    env: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ask", "Who?", "--language", "de"]) == 0
    monkeypatch.setenv("AROG_LANGUAGE", "fr")
    assert run(["ask", "Who?"]) == 0
    assert run(["ask", "Who?", "--language", "in German"]) == 4
    assert "language" in capsys.readouterr().err
    assert [request["options"]["language"] for request in env.seen] == ["de", "fr"]


def test_a_name_that_was_read_otherwise_is_shown(service: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    service.inexact = [Reading(pseudonym="Eq7f2k", start=11, end=20)]
    with Chat(service.url, API_KEY, "demo") as chat:
        show_answer(make_console(), chat.ask("Who treats Ana Keler?"))
    assert '("Ana Keler" was read as Anna Keller)' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("status", "exit_code"), [(401, 4), (403, 4), (404, 4), (422, 4), (429, 4), (500, 5), (503, 5), (302, 6)]
)
def test_an_error_is_one_line_with_what_to_do_and_the_id(
    env: FakeService, capsys: pytest.CaptureFixture[str], status: int, exit_code: int
) -> None:
    env.canned += [problem(status, "code"), problem(401, "not_authenticated"), problem(404, "unknown_graph")]
    assert run(["ask", "Where is Anna Keller?"]) == exit_code
    assert capsys.readouterr() == ("", "arog: It went wrong. Do it otherwise. (id err-1)\n")
    for named in ("AROG_API_KEY", "--graph"):  # Hints that speak of HTTP are replaced.
        assert run(["ask", "Where is Anna Keller?"]) == 4
        told = capsys.readouterr().err
        assert named in told
        assert "Do it otherwise" not in told


def test_a_wrong_capsule_has_its_own_exit_code(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    env.sealed_answer_id = "another"
    assert run(["ask", "Who?"]) == 6
    assert "(id answer-1)" in capsys.readouterr().err


def test_nothing_listening_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "Who?", "--url", "http://127.0.0.1:9", "--api-key", "k"]) == 3
    told = "arog: no connection to the service at http://127.0.0.1:9. Is the service running there? "
    assert capsys.readouterr().err == f"{told}AROG_URL or --url names another place.\n"


def test_a_wait_that_the_service_asks_for_is_told(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    env.canned.append(problem(429, "rate_limited", Retry_After="0"))
    assert run(["ask", "Who?"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "arog: It went wrong. Asking again in 0 s.\n"
    assert printed.out.startswith(TEXT)


@pytest.mark.parametrize("arguments", [["ask"], ["ask", "Who?"], ["ask", "Who?", "--names", "0"], ["chat", "--bad"]])
def test_wrong_usage_or_a_missing_setting_is_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err


# --- settings ---------------------------------------------------------------------------------------------


def test_options_come_before_the_file_and_the_file_before_defaults(config: Path) -> None:
    assert choose(None, "k", None).url == "http://127.0.0.1:8000"
    assert choose(None, "k", None).graph == "demo"
    create_private(config / "client.toml", b'url = "https://arog.example"\napi_key = "kept"\ngraph = "clinic"\n')
    kept = choose(None, None, None)
    assert (kept.url, kept.api_key, kept.graph) == ("https://arog.example", "kept", "clinic")
    assert choose("http://127.0.0.1:1", "given", "other").api_key == "given"
    assert "kept" not in repr(kept)


def test_the_address_follows_the_services_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_PORT", "8010")
    assert choose(None, "k", None).url == "http://127.0.0.1:8010"
    assert choose("http://127.0.0.1:1", "k", None).url == "http://127.0.0.1:1"
    for port in ("0", "http", "70000", "-1"):
        monkeypatch.setenv("AROG_PORT", port)
        with pytest.raises(NotConfiguredError, match="AROG_PORT is no port"):
            choose(None, "k", None)


def test_the_api_key_may_lie_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "demo.key"
    create_private(path, b"kept\n")
    monkeypatch.setenv("AROG_API_KEY_FILE", str(path))
    assert choose(None, None, None).api_key == "kept"
    assert choose(None, "given", None).api_key == "given"
    path.chmod(0o644)
    with pytest.raises(NotConfiguredError, match="others can read the file of AROG_API_KEY_FILE"):
        choose(None, None, None)
    monkeypatch.setenv("AROG_API_KEY", "there too")
    with pytest.raises(NotConfiguredError, match="are both set"):
        choose(None, None, None)


def test_a_client_file_that_others_can_read_is_refused(config: Path) -> None:
    create_private(config / "client.toml", b'api_key = "kept"\n')
    (config / "client.toml").chmod(0o644)
    with pytest.raises(NotConfiguredError, match="by others"):
        choose(None, None, None)


@pytest.mark.parametrize("content", [b"api_key = ", b"\xff", b"api_key = 3", b'secret_thing = "s3cret"', b"[api_key]"])
def test_a_client_file_that_is_not_valid_is_refused_without_its_values(config: Path, content: bytes) -> None:
    create_private(config / "client.toml", content)
    with pytest.raises(NotConfiguredError) as refused:
        choose(None, "k", None)
    assert "s3cret" not in str(refused.value)


# --- keygen, ledger ---------------------------------------------------------------------------------------


def test_keygen_makes_one_key_and_keeps_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keygen"]) == 0
    first = capsys.readouterr()
    assert run(["keygen"]) == 0
    second = capsys.readouterr()
    kept = load_key()
    assert kept is not None
    assert first.out == second.out == kept.public_text + "\n"
    assert first.err == f"made: {key_path()}\n"
    assert second.err == f"there is one already: {key_path()}\n"


def test_keygen_makes_a_hybrid_key_where_there_is_none_at_all(
    capsys: pytest.CaptureFixture[str], env: FakeService
) -> None:
    for _ in range(2):
        assert run(["keygen", "--post-quantum"]) == 0
    kept = load_key()
    assert kept is not None
    assert capsys.readouterr().out == f"{kept.public_text}\n" * 2
    assert len(kept.public_text) == 1622
    assert run(["ask", "Who treats Anna?"]) == 0
    assert "Anna Keller" in capsys.readouterr().out
    key_path().unlink()
    assert run(["keygen"]) == 0
    capsys.readouterr()
    assert run(["keygen", "--post-quantum"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "X25519 alone" in told.err


def test_ledger_shows_payloads_only_when_asked(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    run(["ledger", "--payload", "--answer", "answer-1"])
    assert "Eq7f2k?" in capsys.readouterr().out
    run(["ledger", "--json"])
    assert "payload" not in json.loads(capsys.readouterr().out)[0]
    run(["ledger", "--json", "--payload"])
    assert "Eq7f2k" in json.loads(capsys.readouterr().out)[0]["payload"]
    run(["ledger", "--answer", "none"])
    assert capsys.readouterr().out == "the model was sent nothing\n"


TRACED = """\
1. structure  2026-01-02T03:04:05+00:00  (the reply broke its rules)
(entities of the graph that match what it shows of a thing: 1,234)
--- prompt, as the model had it
[user]
Who treats
Eq7f2k?
--- prompt, with names, on this machine alone
[user]
Who treats
Anna Keller?
--- reply, as the model had it
Ex81zp? Or Anna?
--- reply, with names, on this machine alone
Dr. Bruno Weiß? Or Anna?
"""


def test_a_trace_shows_each_text_as_it_left_and_with_names(
    env: FakeService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", "answer-1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(TRACED)
    assert "2. step  2026-01-02T03:04:05+00:00  (nothing came back)\n--- prompt" in printed
    assert "3. step  2026-01-02T03:04:05+00:00  (the guard stopped it: nothing was sent)\n4. answer" in printed
    assert printed.count("(no longer kept)") == 4


def test_a_trace_as_json(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", "answer-1", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert (whole["answer"], whole["names_kept"]) == ("answer-1", True)
    first, second, *_ = whole["steps"]
    assert (first["reply"], first["reply_with_names"]) == ("Ex81zp? Or Anna?", "Dr. Bruno Weiß? Or Anna?")
    assert "Anna Keller?" in first["prompt_with_names"]
    assert (first["anonymity"], second["anonymity"]) == (1234, None)
    assert (second["outcome"], second["reply"], second["reply_with_names"]) == ("none", None, None)


def test_a_trace_without_names_says_so(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    env.names_kept = False
    assert run(["trace", "answer-1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("(the conversation is not kept any more: there are no names)\n1. structure")
    assert "Anna Keller" not in printed


# --- what others wrote --------------------------------------------------------------------------------------


def test_names_cannot_steer_the_terminal(env: FakeService, capsys: pytest.CaptureFixture[str]) -> None:
    env.table["Ex81zp"] = env.table["Ex81zp"].model_copy(update={"names": ["\x1b[2J\x9b31m[red]Bo\u202eb[/red]\x07"]})
    assert run(["ask", "Who?", "--evidence"]) == 0
    printed = capsys.readouterr().out
    assert "[2J31m[red]Bob[/red]" in printed
    assert not set(printed) & set("\x1b\x07\x9b\u202e")


def test_letters_of_every_script_stay_printable() -> None:
    text = "Zoë\tŁukasz\n李小龙 می‌خواهم 👩‍👩‍👧 שלום"
    assert printable(text) == text


# --- joining server commands ------------------------------------------------------------------------------


Entry = Callable[[str], EntryPoint]


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """Makes an entry point whose module is a source."""

    def make(source: str) -> EntryPoint:
        (tmp_path / "plugin_of_tests.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "plugin_of_tests", raising=False)
        return EntryPoint("server", "plugin_of_tests:commands", main.GROUP)

    return make


def new_app() -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None)
    app.command("ask")(lambda: None)
    app.command("chat")(lambda: None)
    return app


def test_a_server_command_without_its_extra_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], entry: Entry
) -> None:
    # Another test of this process may have had the service's commands join.
    monkeypatch.setattr("client_sdk.cli.commands.app", new_app())
    monkeypatch.setattr(main, "entry_points", lambda group: [entry("import a_library_nobody_has")])
    assert run(["serve"]) == 2
    assert "pip install '.[server]' (missing: a_library_nobody_has)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import client_sdk.nothing_here", "ModuleNotFoundError: No module named 'client_sdk.nothing_here'"),
        ("from client_sdk.cli.main import nothing_here", "ImportError: cannot import name 'nothing_here'"),
        ("raise ValueError('s3cret')", "ValueError"),
        ("def commands(app):\n    1 / 0", "ZeroDivisionError"),
        ("def commands(:", "SyntaxError"),
    ],
)
def test_a_broken_import_is_reported_and_stops_nothing(
    entry: Entry, capsys: pytest.CaptureFixture[str], source: str, told: str
) -> None:
    app = new_app()
    joined = join_commands(app, [entry(source)])
    assert joined.lacking == []
    assert main._run_app(app, ["--help"], joined) == 0
    printed = capsys.readouterr()
    assert f"arog: the commands of 'server' are broken: {told}" in printed.err
    assert "s3cret" not in printed.err
    assert "ask" in printed.out


def test_the_sdks_own_commands_do_not_load_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "entry_points", lambda group: pytest.fail("loaded"))
    assert run(["keygen"]) == 0


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert re.fullmatch(r"arog \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_ctrl_c_ends_a_command_without_a_traceback(
    env: FakeService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_arguments: object, **_settings: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Chat, "ask", interrupt)
        assert run(["ask", "Who?"]) == 130
    monkeypatch.setattr(main, "join_commands", interrupt)
    assert run(["serve"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("shell", "called"), [("bash", "$1 )"), ("zsh", "${words[1]})"), ("fish", "(commandline -opc)[1])")]
)
def test_completion_calls_the_command_as_it_was_typed(
    shell: str, called: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setattr(main, "entry_points", lambda group: [])
    assert run(["--show-completion", shell]) == 0
    printed = capsys.readouterr().out
    assert f" {called}" in printed
    assert " arog)" not in printed


def test_without_the_evaluation_its_commands_say_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("client_sdk.cli.commands.app", new_app())
    monkeypatch.setattr(main, "entry_points", lambda group: [])
    monkeypatch.setattr(main, "find_spec", lambda _name: None)
    assert run(["eval", "qa"]) == 2
    assert "pip install ./evaluation" in capsys.readouterr().err
