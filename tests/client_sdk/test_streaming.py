"""Streams: pieces with names as they come, and every way in which a stream can go wrong."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from itertools import chain, combinations, pairwise, repeat

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk import (
    Answer,
    ArogError,
    AsyncChat,
    BadAnswerError,
    BadRequestError,
    CannotOpenCapsuleError,
    Chat,
    ConversationBusyError,
    KeyPair,
    ModelUnavailableError,
    NotAuthenticatedError,
    Piece,
    RequestTimeoutError,
    Stage,
    StreamCutError,
    TextPiece,
    TooLargeError,
    UnreachableError,
)
from client_sdk.crypto.sealing import capsule_context
from client_sdk.protocol import MAX_MESSAGE_CHARS, CapsuleContent, ChatAnswer, ErrorEvent, Message, Usage
from client_sdk.restore import restore
from client_sdk.streaming import AnswerReader
from tests.client_sdk.test_restore import TABLE, cut, texts
from tests.support.fake_service import API_KEY, Canned, FakeService, Step, events_of, problem, seal_capsule, sse

pytestmark = pytest.mark.slow

QUESTION = "Who treats Anna Keller?"
TEXT = "Anna Keller is treated by Dr. Bruno Weiß, and so are Lea, Noah, Eq7f2k and 12 more; Ezzzz9 is not."

Events = list[tuple[str, str]]


def read_blocking(service: FakeService, timeout_s: float = 20.0) -> list[Piece]:
    with Chat(service.url, API_KEY, "demo") as chat:
        pieces: list[Piece] = []
        try:
            with chat.stream(QUESTION, timeout_s=timeout_s) as stream:
                pieces += stream
        finally:
            assert len(chat.history) == (2 if pieces and isinstance(pieces[-1], Answer) else 0)
        assert chat.ask("And?").answered
        return pieces


def read_on_asyncio(service: FakeService, timeout_s: float = 20.0) -> list[Piece]:
    async def read() -> list[Piece]:
        async with AsyncChat(service.url, API_KEY, "demo") as chat:
            pieces: list[Piece] = []
            try:
                async with chat.stream(QUESTION, timeout_s=timeout_s) as stream:
                    async for piece in stream:
                        pieces.append(piece)
            finally:
                assert len(chat.history) == (2 if pieces and isinstance(pieces[-1], Answer) else 0)
            assert (await chat.ask("And?")).answered
            return pieces

    return asyncio.run(read())


Read = Callable[..., list[Piece]]


@pytest.fixture(params=[read_blocking, read_on_asyncio])
def read(request: pytest.FixtureRequest) -> Read:
    """Reads one stream to its end, in both worlds; the dialogue goes on after it."""
    chosen: Read = request.param
    return chosen


# --- what comes -------------------------------------------------------------------------------------------


def test_stages_then_text_with_names_then_the_answer(service: FakeService, read: Read) -> None:
    pieces = read(service)
    assert pieces[:2] == [Stage("linking"), Stage("round", 1)]
    texts = [piece for piece in pieces[2:-1] if isinstance(piece, TextPiece)]
    assert len(texts) == len(pieces) - 3 > 3
    assert "".join(map(str, texts)) == TEXT
    answer = pieces[-1]
    assert isinstance(answer, Answer)
    assert (answer.text, answer.names[0], answer.evidence[0].head) == (TEXT, "Dr. Bruno Weiß", "Anna Keller")
    assert [str(stage) for stage in pieces[:2]] == ["linking", "round 1"]
    assert service.seen[0]["stream"] is True


def test_the_answer_is_the_one_that_ask_gives(service: FakeService) -> None:
    with Chat(service.url, API_KEY, "demo") as one, Chat(service.url, API_KEY, "demo") as other:
        stream = one.stream(QUESTION)  # It needs no `with`.
        assert "".join(stream.text_pieces) == TEXT
        streamed, asked = stream.answer(), other.ask(QUESTION)
        assert one.history == other.history
        # Each answer is rated through the chat that asked.
        fields = [name for name, field in Answer.__dataclass_fields__.items() if name != "id" and field.compare]
        assert [getattr(streamed, name) for name in fields] == [getattr(asked, name) for name in fields]


def test_stages_are_shown_as_they_come(service: FakeService, chat: Chat) -> None:
    more = threading.Event()
    service.steps = lambda events: [sse(events[:4]), more, sse(events[4:])]
    with chat.stream(QUESTION) as stream:
        assert [next(stream) for _ in range(2)] == [Stage("linking"), Stage("round", 1)]
        more.set()
        assert next(stream) == TextPiece("Anna Keller ")
        assert stream.answer().text == TEXT


def test_options_travel_and_bad_questions_are_told_at_once(service: FakeService, chat: Chat) -> None:
    with chat.stream(QUESTION, strategy="arog", width=7) as stream:
        stream.answer()
    assert (service.seen[0]["strategy"], service.seen[0]["options"]["width"]) == ("arog", 7)
    for bad, kind in (("", BadRequestError), ("x" * (MAX_MESSAGE_CHARS + 1), TooLargeError)):
        with pytest.raises(kind):
            chat.stream(bad)
    with pytest.raises(BadRequestError):
        chat.stream(QUESTION, width=0)


@pytest.mark.parametrize(
    "more", [b"", b"data: [DONE]\n\n", b": ping\n\n", b"event: answer\ndata: {}\n\n", b"event: text\nda"]
)
def test_the_answer_ends_the_stream_whatever_follows(service: FakeService, read: Read, more: bytes) -> None:
    never = threading.Event()
    service.steps = lambda events: [sse(events) + more, never]
    assert isinstance(read(service)[-1], Answer)
    never.set()


def test_comments_and_events_of_a_newer_service_are_passed_over(service: FakeService, read: Read) -> None:
    def steps(events: Events) -> list[Step]:
        with_more = [("mood", '"sunny"'), *events, ("mood", "x")]
        return [b": ping\n\n".join(sse([event]) for event in with_more).replace(b"\n", b"\r\n")]

    service.steps = steps
    assert isinstance(read(service)[-1], Answer)


# --- what goes wrong --------------------------------------------------------------------------------------


def event(name: str, **content: object) -> tuple[str, str]:
    return name, json.dumps(content)


OTHER = "See evil.invalid?Eq7f2k"


def message(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def told(status: int, code: str) -> tuple[str, str]:
    error = ErrorEvent(status=status, code=code, message="It went wrong.", hint="Do it otherwise.", id="err-1")
    return "error", error.model_dump_json()


def only(*chosen: str) -> Callable[[Events], Events]:
    return lambda events: [each for each in events if each[0] in chosen]


def swapped(**changes: object) -> Callable[[Events], Events]:
    """The answer, changed."""

    def change(events: Events) -> Events:
        return [(name, json.dumps({**json.loads(data), **changes}) if name == "answer" else data)
                for name, data in events]  # fmt: skip

    return change


WRONG: dict[str, tuple[Callable[[Events], Events], type[ArogError]]] = {
    "told busy": (lambda events: [*events[:2], told(409, "conversation_busy")], ConversationBusyError),
    "told no model": (lambda events: [*events[:2], told(502, "model_unavailable")], ModelUnavailableError),
    "told late": (lambda events: [*events[:5], told(500, "internal")], ArogError),
    "another text": (
        lambda events: [event("text", text=OTHER), *swapped(message=message(OTHER))(events[-1:])],
        CannotOpenCapsuleError,
    ),
    "ends after a stage": (lambda events: events[:1], StreamCutError),
    "ends in its text": (lambda events: events[:6], StreamCutError),
    "ends before the answer": (lambda events: events[:-1], StreamCutError),
    "ends with [DONE]": (lambda events: [*events[:-1], ("message", "[DONE]")], StreamCutError),
    "nothing": (lambda events: [], StreamCutError),
    "no text": (only("answer"), BadAnswerError),
    "text too many": (lambda events: [*events[:-1], event("text", text="!"), events[-1]], BadAnswerError),
    "pieces in another order": (lambda events: [events[3], events[2], *events[4:]], BadAnswerError),
    "no names": (swapped(capsule=None), BadAnswerError),
    "names of another": (swapped(id="answer-0"), CannotOpenCapsuleError),
    "other conversation": (swapped(conversation="other"), CannotOpenCapsuleError),
    "other evidence": (swapped(evidence=[]), CannotOpenCapsuleError),
    "other choices": (swapped(ambiguous=[]), CannotOpenCapsuleError),
    "other notes": (swapped(notes=["see evil.invalid?Eq7f2k"]), CannotOpenCapsuleError),
    "no JSON": (lambda events: [("stage", "{"), *events], BadAnswerError),
    "Keller": (lambda events: [("stage", '{"name": ["Keller"]}'), *events], BadAnswerError),
    "no answer in it": (lambda events: [*events[:-1], ("answer", "{}")], BadAnswerError),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_stream_that_is_not_right_is_a_typed_error(service: FakeService, read: Read, name: str) -> None:
    change, kind = WRONG[name]
    service.steps = lambda events: [sse(change(events))]
    with pytest.raises(kind) as failed:
        read(service)
    assert "Keller" not in f"{failed.value!r} {failed.value.hint}"
    assert failed.value.code
    assert type(failed.value) is not ArogError


@pytest.mark.parametrize("whole", [1, 4, 8])
@pytest.mark.parametrize("extra", [0, 20])
def test_a_connection_that_breaks_on_the_way_is_a_typed_error(
    service: FakeService, read: Read, whole: int, extra: int
) -> None:
    service.cut = True
    service.steps = lambda events: [sse(events)[: len(sse(events[:whole])) + extra]]
    with pytest.raises(UnreachableError) as failed:
        read(service)
    assert failed.value.code in ("connection_broken", "stream_cut")


@pytest.mark.parametrize(
    ("canned", "kind"),
    [
        (problem(401, "not_authenticated"), NotAuthenticatedError),
        (Canned(200, b"<html>", {"content-type": "text/html"}), BadAnswerError),
        (Canned(200, b"{}", {"content-type": "application/json"}), BadAnswerError),
        (Canned(0, hang_up=True), UnreachableError),
    ],
)
def test_a_reply_that_is_no_stream_is_a_typed_error(
    service: FakeService, read: Read, canned: Canned, kind: type[ArogError]
) -> None:
    service.canned.append(canned)
    with pytest.raises(kind):
        read(service)


def test_a_busy_service_is_asked_again(service: FakeService, read: Read) -> None:
    service.canned.append(problem(503, "not_ready", Retry_After="0"))
    assert isinstance(read(service)[-1], Answer)


def test_a_stream_that_falls_silent_times_out(service: FakeService, read: Read) -> None:
    never = threading.Event()
    service.steps = lambda events: [sse(events[:4]), never]
    with pytest.raises(RequestTimeoutError):
        read(service, timeout_s=0.8)
    never.set()


def test_heartbeats_do_not_keep_a_stream_past_its_deadline(service: FakeService, read: Read) -> None:
    service.steps = lambda events: chain([sse(events[:4])], repeat(b": ping\n\n"))
    with pytest.raises(RequestTimeoutError):
        read(service, timeout_s=0.8)
    assert service.hung_up.wait(10)


def test_an_endless_stream_is_cut_off(service: FakeService, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("client_sdk.transport.drivers.MAX_REPLY_BYTES", 400)
    with pytest.raises(BadAnswerError, match="longer than 400 bytes"):
        read(service)


# --- streams that are left ------------------------------------------------------------------------------------


def test_a_stream_that_is_closed_hangs_up_and_leaves_the_dialogue_as_it_was(service: FakeService, chat: Chat) -> None:
    service.steps = lambda events: chain([sse(events[:4])], repeat(b": ping\n\n"))
    with chat.stream(QUESTION) as stream:
        assert next(stream) == Stage("linking")
    assert service.hung_up.wait(10)
    assert chat.history == []
    with pytest.raises(ArogError) as closed:
        stream.answer()
    assert closed.value.code == "stream_closed"
    service.steps = lambda events: [sse(events)]
    assert chat.ask(QUESTION).answered


async def test_an_async_stream_that_is_closed_leaves_the_dialogue_as_it_was(service: FakeService) -> None:
    async with AsyncChat(service.url, API_KEY, "demo") as chat:
        async with chat.stream(QUESTION) as stream:
            assert await anext(stream) == Stage("linking")
        assert chat.history == []
        with pytest.raises(ArogError):
            await stream.answer()
        assert (await chat.ask(QUESTION)).answered


def test_a_thread_that_would_wait_for_its_own_stream_is_refused(service: FakeService, chat: Chat) -> None:
    with chat.stream(QUESTION) as stream:
        next(stream)
        for ask in (lambda: chat.ask("And?"), lambda: list(chat.stream("And?")), chat.reset):
            with pytest.raises(BadRequestError) as refused:
                ask()
            assert refused.value.code == "stream_open"
        assert stream.answer().answered
    assert chat.ask("And?").answered


async def test_a_task_that_would_wait_for_its_own_stream_is_refused(service: FakeService) -> None:
    async with AsyncChat(service.url, API_KEY, "demo") as chat, chat.stream(QUESTION) as stream:
        await anext(stream)
        with pytest.raises(BadRequestError):
            await chat.ask("And?")
        waiting = asyncio.create_task(chat.ask("And?"))
        assert (await stream.answer()).answered
        assert (await waiting).answered
    assert [len(one["messages"]) for one in service.seen] == [1, 3]


# --- every split of every stream ------------------------------------------------------------------------------

KEY = KeyPair.generate()
POST = httpx2.Request("POST", "http://service/chat")


def answer_with(text: str) -> ChatAnswer:
    answer = ChatAnswer(
        id="a", conversation="c", graph="g", message=Message(role="assistant", content=text), answered=True,
        entities=[], evidence=[], grounded=True, ambiguous=[], usage=Usage(),
    )  # fmt: skip
    content = CapsuleContent(answer_id="a", table=TABLE)
    return answer.model_copy(update={"capsule": seal_capsule(content, KEY.public_text, capsule_context(answer))})


def shown(events: Events) -> str:
    """The pieces that a reader makes of `events`."""
    reader = AnswerReader(KEY, "g", None)
    pieces = [piece for name, data in events for piece in reader.read(name, data)]
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


@pytest.mark.parametrize(("graph", "conversation"), [("other", None), ("g", "d")])
def test_an_answer_of_another_dialogue_shows_nothing(graph: str, conversation: str | None) -> None:
    *pieces, answer = events_of(answer_with("E1."), ["E1."])
    reader = AnswerReader(KEY, graph, conversation)
    assert not [piece for each in pieces for piece in reader.read(*each) if isinstance(piece, TextPiece)]
    with pytest.raises(BadAnswerError, match="something else"):
        reader.read(*answer)


@pytest.mark.parametrize("text", ["Eq7f2k", "It is E1, not Sk3mmd."])
def test_a_text_that_was_changed_on_the_way_shows_no_name_however_it_is_split(text: str) -> None:
    """Whoever changes the pieces changes the whole answer with them, so that the two agree."""
    *_, (name, whole) = events_of(answer_with(text), [])
    for place in range(len(text)):
        other = text[:place] + "/" + text[place + 1 :]
        changed = name, json.dumps({**json.loads(whole), "message": message(other)})
        for places in combinations(range(len(other) + 1), 2):
            reader = AnswerReader(KEY, "g", None)
            for piece in cut(other, places):
                assert reader.read(*event("text", text=piece)) == []
            with pytest.raises(CannotOpenCapsuleError):
                reader.read(*changed)
            assert not reader.is_done


@given(data=st.data(), text=texts.filter(len))
def test_bytes_may_be_split_anywhere(data: st.DataObject, text: str) -> None:
    body = sse(events_of(answer_with(text), list(text)))
    places = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
    chunks = [body[start:end] for start, end in pairwise((0, *places, len(body)))]
    reply = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=iter(chunks), request=POST)
    assert shown([(event.event, event.data) for event in httpx2.EventSource(reply)]) == restore(text, TABLE)


@given(texts.filter(len))
def test_nothing_is_shown_before_the_whole_answer_is_there(text: str) -> None:
    *before, last = events_of(answer_with(text), list(text))
    assert shown(before) == ""
    assert shown([*before, last]) == restore(text, TABLE)
