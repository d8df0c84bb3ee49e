"""Whatever is done to a reply on its way: the SDK shows this answer's names in its text, or raises its own error."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk import Answer, ArogError, KeyPair, TextPiece
from client_sdk.answers.answer import open_answer
from client_sdk.crypto.sealing import capsule_context, trace_context
from client_sdk.dialogue import Dialogue
from client_sdk.errors import error_of
from client_sdk.protocol import (
    CapsuleContent,
    ChatAnswer,
    Fact,
    Item,
    LedgerPage,
    Message,
    Names,
    Reading,
    SealedTrace,
    TraceContent,
    Usage,
)
from client_sdk.restore import restore
from client_sdk.streaming import AnswerReader
from client_sdk.trace import open_sealed_trace
from client_sdk.transport.flow import Call, Pause, Reply, RetryPolicy, Send, exchange
from tests.fuzz.examples import drawing, mutated
from tests.support.fake_service import NAMES, PRIVATE_WORDS, events_of, in_sevens, seal_capsule

KEY = KeyPair.generate()
OTHER = KeyPair.generate()
QUESTION = "Who treats Anna Keler?"
TEXT = "It is Ex81zp; Sk3mmd know Eq7f2k."
CHANGES = st.sampled_from(["drop", "double", "swap", "bytes", "foreign", "cut"])


def answer_of(
    number: int,
    conversation: str = "conversation1",
    graph: str = "demo",
    key: KeyPair = KEY,
    table: Mapping[str, Names] = NAMES,
) -> ChatAnswer:
    """An answer as the service sends it, its names sealed to `key`."""
    identity = f"answer{number}"
    content = CapsuleContent(answer_id=identity, table=dict(table))
    answer = ChatAnswer(
        id=identity,
        conversation=conversation,
        graph=graph,
        message=Message(role="assistant", content=TEXT),
        answered=True,
        entities=[Item(pseudonym="Ex81zp", kind="entity", concept="doctor")],
        evidence=[
            Fact(
                head="Eq7f2k", head_concept="patient", path=["treated by"], tail="Ex81zp", tail_concept="doctor",
                cited=True,
            )
        ],
        grounded=True,
        ambiguous=[],
        inexact=[Reading(pseudonym="Eq7f2k", start=11, end=21)],
        usage=Usage(),
    )  # fmt: skip
    capsule = seal_capsule(content, key.public_text, capsule_context(answer))
    return answer.model_copy(update={"capsule": capsule})


ANSWER = answer_of(1)
WRONG = {"Ex81zp": Names(names=["Wrong Person"], total=1)}
# Other answers whose parts somebody could put in the place of this one's. In one conversation a pseudonym has one
# meaning, so the last of them names nobody else.
FOREIGN = [
    answer_of(2, conversation="conversation2", table=WRONG),
    answer_of(1, graph="other", table=WRONG),
    answer_of(1, key=OTHER, table=WRONG),
    answer_of(3),
]
WHOLE = ANSWER.model_dump_json().encode()


@drawing(60)
@given(mutated(WHOLE))
def test_a_changed_reply_is_told_or_shows_its_own_names(body: bytes) -> None:
    try:
        answer = open_answer(read(body, ChatAnswer), KEY, QUESTION)
    except ArogError as error:
        refuse_names(error)
    else:
        # Without its capsule nothing is restored; with it, no sign of the text has changed.
        expected = restore(TEXT, NAMES) if has_capsule(body) else answer.pseudonymous_text
        assert answer.text == expected


@pytest.mark.parametrize("foreign", FOREIGN[:3])
@pytest.mark.parametrize("moved", [(), ("id",), ("conversation",), ("graph",), ("id", "conversation", "graph")])
def test_no_foreign_capsule_opens_in_a_dialogue(foreign: ChatAnswer, moved: tuple[str, ...]) -> None:
    changed = ANSWER.model_copy(
        update={"capsule": foreign.capsule, **{name: getattr(foreign, name) for name in moved}}
    )
    dialogue = Dialogue("demo", KEY, "sets", {})
    dialogue.accept(QUESTION, ANSWER)
    with pytest.raises(ArogError) as caught:
        dialogue.accept(QUESTION, changed)
    refuse_names(caught.value)
    assert len(dialogue.shown) == 2


@drawing(60)
@given(st.lists(st.tuples(CHANGES, st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=4), st.data())
def test_a_changed_stream_is_told_or_shows_its_own_names(
    changes: list[tuple[str, int, int]], data: st.DataObject
) -> None:
    events = events_of(ANSWER, in_sevens(TEXT))
    for change, one, other in changes:
        events = changed(events, change, one, other, data)
    goes_on = data.draw(st.booleans())
    reader = AnswerReader(KEY, "demo", "conversation1" if goes_on else None)
    shown = ""
    try:
        for name, content in events:
            shown += "".join(piece.text for piece in reader.read(name, content) if isinstance(piece, TextPiece))
            if reader.is_done:
                break
        whole: Answer = open_answer(reader.whole(), KEY, QUESTION)
    except ArogError as error:
        refuse_names(error)
        assert shown == ""
    else:
        # Of a new conversation the SDK knows no id: another whole answer to the same key is one there.
        is_own = goes_on or whole.conversation == "conversation1"
        assert shown == whole.text == restore(TEXT, NAMES if is_own else WRONG)


@drawing(50)
@given(
    st.one_of(
        st.binary(max_size=200), mutated(b'{"code":"deadline","message":"Too slow.","hint":"Ask again.","id":"r1"}')
    ),
    st.integers(100, 999),
)
def test_any_error_reply_is_one_of_the_sdks_errors(body: bytes, status: int) -> None:
    error = error_of(status, body)
    assert isinstance(error, ArogError)
    assert str(error).isprintable()


@drawing(40)
@given(mutated(LedgerPage(entries=[]).model_dump_json().encode()))
def test_a_changed_page_of_the_ledger_is_told(body: bytes) -> None:
    try:
        page = read(body, LedgerPage)
    except ArogError as error:
        refuse_names(error)
    else:
        # No change of a few bytes makes an entry of nothing.
        assert page.entries == []


@drawing(50)
@given(st.data())
def test_a_changed_trace_is_told(data: st.DataObject) -> None:
    content = TraceContent(answer_id="a1", calls=[], names_kept=True, table=NAMES)
    sealed = SealedTrace(answer="a1", capsule=seal_capsule(content, KEY.public_text, trace_context("a1")))
    body = data.draw(mutated(sealed.model_dump_json().encode()))
    try:
        trace = open_sealed_trace("a1", read(body, SealedTrace), KEY)
    except ArogError as error:
        refuse_names(error)
    else:
        assert trace.with_names("Ex81zp") == "Dr. Bruno Weiß"
    with pytest.raises(ArogError):
        open_sealed_trace("a2", sealed, KEY)


def changed(
    events: list[tuple[str, str]], change: str, one: int, other: int, data: st.DataObject
) -> list[tuple[str, str]]:
    """One event dropped, doubled, moved, replaced by one of another answer, or with its bytes changed; or a cut."""
    if not events:
        return events
    at, to = one % len(events), other % len(events)
    name, content = events[at]
    match change:
        case "drop":
            return events[:at] + events[at + 1 :]
        case "double":
            return [*events[:at], events[at], *events[at:]]
        case "swap":
            moved = events.copy()
            moved[at], moved[to] = moved[to], moved[at]
            return moved
        case "cut":
            return events[:at]
        case "foreign":
            others = events_of(FOREIGN[other % len(FOREIGN)], in_sevens(TEXT))
            return [*events[:at], others[to % len(others)], *events[at + 1 :]]
    raw = data.draw(mutated(content.encode()))
    return [*events[:at], (name, raw.decode("utf-8", "replace")), *events[at + 1 :]]


def read(body: bytes, expect: type) -> object:
    """The answer that the SDK reads from a reply of status 200."""
    flow = exchange(Call("POST", "/chat"), expect, RetryPolicy(10.0), lambda: 0.0)
    assert isinstance(next(flow), Send | Pause)
    try:
        flow.send(Reply(200, body))
    except StopIteration as done:
        return done.value
    raise AssertionError("the flow goes on")


def has_capsule(body: bytes) -> bool:
    return bool(json.loads(body).get("capsule"))


def refuse_names(error: ArogError) -> None:
    assert not [word for word in (*PRIVATE_WORDS, "Wrong") if word in f"{error} {error.hint} {error!r}"]
