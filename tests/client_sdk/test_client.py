from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx2
import pytest

from client_sdk import (
    ArogError,
    AsyncChat,
    BadAnswerError,
    BadRequestError,
    CannotOpenCapsuleError,
    Chat,
    KeyPair,
    NotAuthenticatedError,
    NotConfiguredError,
    RequestTimeoutError,
    ServerError,
    TooLargeError,
    Turn,
    UnreachableError,
    Wait,
)
from client_sdk.protocol import MAX_MESSAGE_CHARS, MAX_MESSAGES, Names
from tests.support.fake_service import API_KEY, PRIVATE_WORDS, Canned, FakeService, problem
from tests.support.waiting import run_together

pytestmark = pytest.mark.slow

QUESTION = "Who treats Anna Keller?"


# --- answers ----------------------------------------------------------------------------------------------


def test_all_parts_of_an_answer_have_their_names_restored(chat: Chat) -> None:
    answer = chat.ask(QUESTION)
    assert (
        str(answer)
        == answer.text
        == ("Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not.")
    )
    assert answer.pseudonymous_text.startswith("Eq7f2k is treated by Ex81zp")
    assert answer.names == ["Dr. Bruno Weiß", "Lea", "Noah", "Eq7f2k"]
    assert (answer.id, answer.conversation, answer.usage.calls) == ("answer-1", "conversation-1", 2)
    assert answer.answered
    assert answer.grounded
    doctor, patients, unknown = answer.entities
    assert (doctor.name, doctor.names, doctor.total) == ("Dr. Bruno Weiß", ("Dr. Bruno Weiß",), 1)
    assert (patients.name, patients.total, patients.ordered) == ("Lea, Noah, Eq7f2k and 12 more", 15, True)
    assert (unknown.name, unknown.names, unknown.pseudonym) == ("Eunk01", (), "Eunk01")
    assert [str(fact) for fact in answer.evidence] == [
        "Anna Keller (patient), treated by, Dr. Bruno Weiß (doctor)",
        "not named (patient), ward > ^works in, Dr. Bruno Weiß (doctor)",
    ]
    assert answer.ambiguous == {"Anna Keller": ("Anna Keller (patient)", "Ehid01 (nurse)")}
    assert answer.notes == ("3 relations of Anna Keller were left out",)


def test_a_large_set_in_the_evidence_shows_five_names_and_holds_all(service: FakeService, chat: Chat) -> None:
    many = [f"Person {number}" for number in range(9)]
    service.table["Ex81zp"] = Names(names=many, total=40)
    fact = chat.ask(QUESTION).evidence[0]
    assert fact.tail == "Person 0, Person 1, Person 2, Person 3, Person 4 and 35 more"
    assert fact.tail_names == tuple(many)
    assert (fact.head, fact.head_names) == ("Anna Keller", ("Anna Keller",))


def test_fields_of_a_newer_service_are_ignored(service: FakeService, chat: Chat) -> None:
    service.extra = {"mood": "sunny"}
    assert chat.ask(QUESTION).answered


# --- the dialogue -----------------------------------------------------------------------------------------


def test_assistant_turns_travel_as_they_came_and_the_conversation_goes_on(service: FakeService, chat: Chat) -> None:
    chat.ask(QUESTION)
    chat.ask("And who else?")
    first, second = service.seen
    assert first["messages"] == [{"role": "user", "content": QUESTION}]
    assert "conversation" not in first
    assert second["conversation"] == "conversation-1"
    assert second["messages"] == [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": service.text},
        {"role": "user", "content": "And who else?"},
    ]


def test_restored_names_are_never_sent(service: FakeService, chat: Chat) -> None:
    for _ in range(3):
        chat.ask("Who else?")
    sent = json.dumps(service.seen, ensure_ascii=False) + "".join(service.paths)
    assert not [word for word in PRIVATE_WORDS if word in sent]


def test_the_private_key_is_never_sent(service: FakeService) -> None:
    from client_sdk.crypto.sealing import to_base64url

    key = KeyPair.generate()
    with Chat(service.url, API_KEY, "demo", key=key) as chat:
        chat.ask(QUESTION)
    assert service.seen[0]["public_key"] == key.public_text
    assert to_base64url(key.to_bytes()) not in json.dumps(service.seen)


def test_the_history_is_for_the_user_and_ends_with_a_reset(service: FakeService, chat: Chat) -> None:
    with chat.stream(QUESTION) as stream:
        pieces, answer = repr((list(stream), stream)), stream.answer()
    assert chat.history == [Turn("user", QUESTION), Turn("assistant", answer.text)]
    chat.history.clear()
    assert len(chat.history) == 2
    shown = pieces + repr((answer, answer.entities, answer.evidence, chat.history, chat))
    assert not [word for word in PRIVATE_WORDS if word in shown]
    chat.reset()
    assert chat.history == []
    chat.ask("Anew?")
    assert service.seen[1]["messages"] == [{"role": "user", "content": "Anew?"}]
    assert "conversation" not in service.seen[1]


def test_a_fork_begins_with_the_turns_so_far_and_goes_its_own_way(service: FakeService, chat: Chat) -> None:
    chat.ask("a")
    fork = chat.fork("It is about the ward.")
    fork.ask("b")
    chat.ask("c")
    said = [[turn["content"] for turn in seen["messages"]] for seen in service.seen[1:]]
    assert said == [["a", service.text, "It is about the ward.", "b"], ["a", service.text, "c"]]
    assert {seen["conversation"] for seen in service.seen[1:]} == {"conversation-1"}
    assert [turn.text for turn in fork.history][2:4] == ["It is about the ward.", "b"]
    for text in ("", "x" * 8_001):
        with pytest.raises(ArogError):
            chat.fork(text)


def test_a_dialogue_begun_anew_shares_its_settings_and_no_turn(service: FakeService) -> None:
    service.numbers_conversations = True
    with Chat(service.url, API_KEY, "clinic", width=7) as chat:
        chat.ask("a")
        other = chat.anew()
        with chat.stream("b") as open_still:
            next(open_still)
            other.ask("c")
    assert [turn["content"] for turn in service.seen[-1]["messages"]] == ["c"]
    assert "conversation" not in service.seen[-1]
    assert service.seen[-1]["options"]["width"] == 7
    assert len(chat.history) == 2


def test_a_long_dialogue_sends_its_newest_turns(service: FakeService, chat: Chat) -> None:
    for number in range(MAX_MESSAGES // 2 + 3):
        chat.ask(f"question {number}")
    messages = service.seen[-1]["messages"]
    assert len(messages) <= MAX_MESSAGES
    assert [message["role"] for message in messages[:2]] == ["user", "assistant"]
    assert messages[-1]["content"] == f"question {MAX_MESSAGES // 2 + 2}"
    assert len(chat.history) == 2 * (MAX_MESSAGES // 2 + 3)


FAILURES: list[tuple[Callable[[FakeService], None], type[ArogError]]] = [
    (lambda fake: fake.canned.append(problem(401, "not_authenticated")), NotAuthenticatedError),
    (lambda fake: fake.canned.append(problem(500, "internal")), ServerError),
    (lambda fake: fake.canned.append(Canned(200, b"<html>")), BadAnswerError),
    (lambda fake: fake.canned.append(Canned(307, headers={"location": "/else"})), BadAnswerError),
    (lambda fake: fake.canned.append(Canned(200, hang_up=True)), UnreachableError),
    (lambda fake: fake.canned.append(Canned(200, b"xx", {"content-encoding": "gzip"})), BadAnswerError),
    (lambda fake: setattr(fake, "sealed_answer_id", "answer-of-another"), CannotOpenCapsuleError),
    (lambda fake: setattr(fake, "sealed_conversation", "another"), CannotOpenCapsuleError),
    (lambda fake: setattr(fake, "without_capsule", True), BadAnswerError),
    (lambda fake: setattr(fake, "extra", {"graph": "other"}), BadAnswerError),
    (lambda fake: setattr(fake, "extra", {"message": {"role": "user", "content": "x"}}), BadAnswerError),
    (lambda fake: setattr(fake, "extra", {"entities": 3}), BadAnswerError),
]


@pytest.mark.parametrize(("spoil", "kind"), FAILURES)
def test_a_failed_question_leaves_the_dialogue_as_it_was(
    service: FakeService, chat: Chat, spoil: Callable[[FakeService], None], kind: type[ArogError]
) -> None:
    chat.ask(QUESTION)
    before = chat.history
    spoil(service)
    with pytest.raises(kind) as failed:
        chat.ask("What of Anna Keller?")
    assert chat.history == before
    assert "Keller" not in f"{failed.value!r} {failed.value.hint}"
    service.sealed_answer_id = service.sealed_conversation = None
    service.without_capsule, service.extra = False, {}
    chat.ask("And now?")
    assert [message["content"] for message in service.seen[-1]["messages"]][0::2] == [QUESTION, "And now?"]


def test_an_answer_without_names_needs_no_capsule(service: FakeService, chat: Chat) -> None:
    service.without_capsule = True
    service.extra = {"entities": [], "evidence": [], "answered": False}
    answer = chat.ask(QUESTION)
    assert not answer.answered
    assert answer.text == service.text


def test_a_capsule_for_another_key_does_not_open(service: FakeService, chat: Chat) -> None:
    stranger = KeyPair.generate().public_text
    usual = service.answer
    service.answer = lambda request, number: usual(request.model_copy(update={"public_key": stranger}), number)
    with pytest.raises(CannotOpenCapsuleError):
        chat.ask(QUESTION)


# --- requests ---------------------------------------------------------------------------------------------


def test_options_hold_for_all_questions_and_can_be_changed_for_one(service: FakeService) -> None:
    with Chat(service.url, API_KEY, "demo", strategy="arog", width=5, names=7) as chat:
        chat.ask(QUESTION)
        chat.ask(QUESTION, strategy="sets", depth=2, width=1)
        chat.ask(QUESTION)
    options = [(one["strategy"], one["options"]["width"], one["options"]["depth"]) for one in service.seen]
    assert options == [("arog", 5, 3), ("sets", 1, 2), ("arog", 5, 3)]
    assert service.seen[1]["options"]["names"] == 7


def test_a_question_names_public_graphs_beside_the_asked_one(service: FakeService, chat: Chat) -> None:
    for beside in (["common"], ("common",), []):
        chat.ask(QUESTION, beside=beside)
    chat.ask(QUESTION)
    assert [each["options"].get("beside") for each in service.seen] == [["common"], ["common"], [], None]


@pytest.mark.parametrize("options", [{"width": 0}, {"depth": 99}, {"colour": 3}, {"strategy": "magic"}])
def test_bad_options_are_told_before_anything_is_sent(service: FakeService, chat: Chat, options: dict) -> None:
    with pytest.raises(BadRequestError) as refused:
        Chat(service.url, API_KEY, "demo", **options)
    assert next(iter(options)) in str(refused.value)
    with pytest.raises(BadRequestError):
        chat.ask(QUESTION, **options)
    assert service.seen == []


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("", BadRequestError),
        (" \n", BadRequestError),
        ("Keller " * MAX_MESSAGE_CHARS, TooLargeError),
        ("Keller \ud800", BadRequestError),
    ],
)
def test_questions_that_cannot_be_sent_are_refused_without_being_quoted(
    service: FakeService, chat: Chat, question: str, kind: type[ArogError]
) -> None:
    with pytest.raises(kind) as refused:
        chat.ask(question)
    assert "Keller" not in repr(refused.value)
    assert service.seen == []


NO_GRAPHS = ("", "Demo", "a/b", "x" * 64)
NO_KEYS = ("", "a b", "a\nb", "ключ", "a\x00")
NO_URLS = ("", "ftp://127.0.0.1", "file:///etc", "http://u:p@127.0.0.1", "http://[", "http://a?b", "http://a\nb")
NO_PATIENCE = ({"timeout_s": 0.0}, {"connect_timeout_s": -1.0}, {"retries": -1}, {"connect_retries": -1})
NO_CHATS: list[tuple[dict[str, object], type[ArogError]]] = [
    *(({"graph": graph}, BadRequestError) for graph in NO_GRAPHS),
    *(({"api_key": key}, NotConfiguredError) for key in NO_KEYS),
    *(({"url": url}, NotConfiguredError) for url in NO_URLS),
    *((patience, BadRequestError) for patience in NO_PATIENCE),
]


@pytest.mark.parametrize(("bad", "kind"), NO_CHATS)
def test_what_no_chat_can_be_made_of_is_told_at_once_and_no_key_quoted(
    bad: dict[str, object], kind: type[ArogError]
) -> None:
    with pytest.raises(kind) as refused:
        Chat(**{"url": "http://127.0.0.1:1", "api_key": API_KEY, "graph": "demo", **bad})
    key = bad.get("api_key")
    assert not key or str(key) not in str(refused.value)


@pytest.mark.parametrize("url", ["http://arog.example", "http://10.0.0.1:8000", "http://localhost.example"])
def test_plain_http_to_another_machine_needs_a_word(url: str) -> None:
    with pytest.raises(NotConfiguredError, match="readable"):
        Chat(url, API_KEY, "demo")
    Chat(url, API_KEY, "demo", plain_http=True).close()
    for harmless in ("http://localhost:1/", "http://[::1]:1", "http://127.0.0.2", "https://arog.example/base/"):
        Chat(harmless, API_KEY, "demo").close()


def test_a_service_below_a_path_is_found(service: FakeService) -> None:
    service.canned.append(Canned(404))
    with Chat(service.url + "/base/", API_KEY, "demo") as chat, pytest.raises(ArogError):
        chat.ask(QUESTION)
    assert service.paths == ["/base/chat"]


def test_a_slow_service_times_out(service: FakeService, chat: Chat) -> None:
    release = threading.Event()
    service.canned.append(Canned(200, b"{}", held_until=release))
    with pytest.raises(RequestTimeoutError):
        chat.ask(QUESTION, timeout_s=0.5)
    release.set()


def test_an_endless_reply_is_cut_off(service: FakeService, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client_sdk.transport.drivers.MAX_REPLY_BYTES", 100)
    with pytest.raises(BadAnswerError, match="longer than 100 bytes"):
        chat.ask(QUESTION)


def test_threads_ask_one_after_the_other(service: FakeService, chat: Chat) -> None:
    run_together(*(partial(chat.ask, f"question {n}") for n in range(6)))
    assert [len(one["messages"]) for one in service.seen] == [1, 3, 5, 7, 9, 11]
    assert len(chat.history) == 12


def test_the_ledger_shows_what_the_model_saw(service: FakeService, chat: Chat) -> None:
    assert [row.answer for row in chat.ledger()] == ["answer-2", "answer-1"]
    (row,) = chat.ledger("answer-1", limit=5)
    assert row.payload is not None
    assert service.paths == ["/ledger?limit=100", "/ledger?limit=5&answer=answer-1"]


def test_a_trace_shows_prompts_and_replies_and_restores_their_names(service: FakeService, chat: Chat) -> None:
    trace = chat.trace("answer-1/x")
    assert [(step.step, step.outcome) for step in trace.steps] == [
        ("structure", "unusable"), ("step", "none"), ("step", "blocked"), ("answer", "used"),
    ]  # fmt: skip
    first = trace.steps[0]
    assert first.prompt is not None
    assert "Eq7f2k" in first.prompt
    assert trace.with_names(first.reply or "") == "Dr. Bruno Weiß? Or Anna?"
    assert service.paths[0].startswith("/trace/answer-1%2Fx?public_key=")
    assert not [word for word in PRIVATE_WORDS if word in repr(trace) + service.paths[0]]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('"\\nEq7f2k\\n"', '"\\nAnna Keller\\n"'),
        ('\\\\\\"Eq7f2k\\\\\\"', '\\\\\\"Anna Keller\\\\\\"'),
        ("\\\\u00b4Eq7f2k", "\\\\u00b4Anna Keller"),
        ("xEq7f2k Eq7f2kx", "xEq7f2k Eq7f2kx"),
    ],
)
def test_names_of_a_trace_stand_behind_escapes_too(chat: Chat, text: str, named: str) -> None:
    assert chat.trace("answer-1").with_names(text) == named


def test_a_trace_of_another_answer_does_not_open(service: FakeService, chat: Chat) -> None:
    service.sealed_answer_id = "another"
    with pytest.raises(CannotOpenCapsuleError):
        chat.trace("answer-1")


def test_a_client_of_ones_own_is_used_and_not_closed(service: FakeService) -> None:
    with httpx2.Client(headers={"x-proxy": "1"}) as http:
        with Chat(service.url, API_KEY, "demo", http=http) as chat:
            chat.ask(QUESTION)
        assert not http.is_closed


def test_from_env(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotConfiguredError, match="no API key"):
        Chat.from_env()
    monkeypatch.setenv("AROG_URL", service.url)
    monkeypatch.setenv("AROG_API_KEY", API_KEY)
    monkeypatch.setenv("AROG_GRAPH", "clinic")
    with Chat.from_env(width=4) as chat:
        assert (chat.graph, chat.graphs()) == ("clinic", ["clinic", "demo"])
        chat.ask(QUESTION)
    assert (service.seen[0]["graph"], service.seen[0]["options"]["width"]) == ("clinic", 4)


# --- asyncio ----------------------------------------------------------------------------------------------


async def test_an_async_chat_does_what_a_chat_does(service: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_URL", service.url)
    monkeypatch.setenv("AROG_API_KEY", API_KEY)
    async with AsyncChat.from_env() as chat:
        assert (chat.graph, await chat.graphs()) == ("demo", ["clinic", "demo"])
        assert (await chat.ask(QUESTION)).names[0] == "Dr. Bruno Weiß"
        service.canned.append(problem(503, "not_ready", Retry_After="0"))
        await chat.ask("And?")
        await chat.fork("told").ask("b")
        await chat.anew().ask("c")
        assert [len(seen["messages"]) for seen in service.seen] == [1, 3, 3, 6, 1]
        assert [row.answer for row in await chat.ledger("answer-1")] == ["answer-1"]
        assert len((await chat.trace("answer-1")).steps) == 4
        await chat.reset()
        assert chat.history == []


async def test_async_tasks_ask_one_after_the_other(service: FakeService) -> None:
    async with AsyncChat(service.url, API_KEY, "demo") as chat:
        await asyncio.gather(*(chat.ask(f"question {n}") for n in range(4)))
    assert [len(one["messages"]) for one in service.seen] == [1, 3, 5, 7]


async def test_a_cancelled_question_leaves_the_dialogue_as_it_was(service: FakeService) -> None:
    async with AsyncChat(service.url, API_KEY, "demo") as chat:
        release = threading.Event()
        service.canned.append(Canned(200, b"{}", held_until=release))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await chat.ask(QUESTION)
        release.set()
        assert chat.history == []
        assert (await chat.ask(QUESTION)).answered


# --- comfort ----------------------------------------------------------------------------------------------


def test_a_chat_that_restores_no_names_asks_for_none(service: FakeService, config: Path) -> None:
    service.without_capsule = True
    with Chat(service.url, API_KEY, "demo", restore_names=False) as chat:
        answer = chat.ask("Who?")
        streamed = "".join(chat.stream("And who else?").text_pieces)
        assert answer.text == answer.pseudonymous_text == streamed
        assert answer.names == []
        assert "Eq7f2k" in answer.why()
        with pytest.raises(BadRequestError, match="restores no names"):
            chat.trace(answer.id)
    assert all("public_key" not in one for one in service.seen)
    assert not config.exists()


def test_a_wait_that_the_service_asks_for_is_told(service: FakeService, caplog: pytest.LogCaptureFixture) -> None:
    waits: list[Wait] = []
    service.canned = [problem(429, "rate_limited", Retry_After="0"), problem(503, "not_ready", Retry_After="0")]
    with Chat(service.url, API_KEY, "demo", on_wait=waits.append) as chat:
        chat.ask("Who?")
        assert [wait.code for wait in waits] == ["rate_limited", "not_ready"]
    service.canned = [problem(429, "rate_limited", Retry_After="0")]
    with Chat(service.url, API_KEY, "demo") as chat:
        chat.ask("Who?")
    assert [record.getMessage() for record in caplog.records if record.name == "client_sdk"] == [
        "It went wrong. Asking again in 0 s."
    ]
