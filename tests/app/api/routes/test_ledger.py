"""GET /trace/{id}: what the model was sent and said, with names, for the key that asked and may inspect."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import httpx2
import pytest
from sqlalchemy import update

from app.api.state import state_of
from app.chat.service import ChatService
from app.database.tables import conversations
from app.egress.disclosure import Profile
from app.llm.reasoner import ReasonerUnavailableError
from client_sdk.crypto.sealing import CannotOpenError, KeyPair, open_trace, trace_context
from client_sdk.protocol import ErrorBody, SealedTrace, TraceContent
from tests.support.service import OPERATOR, SECRET_NAMES, Running, question

PAIR = KeyPair.generate()
INSPECTS = ("clinic", "inspect:clinic")


async def asked(service: Running, key: dict[str, str], **more: object) -> str:
    reply = await service.http.post("/chat", json=question(**more), headers=key)
    assert reply.status_code == 200
    answer_id: str = reply.json()["id"]
    return answer_id


async def traced(service: Running, key: dict[str, str], answer_id: str) -> httpx2.Response:
    return await service.http.get(f"/trace/{answer_id}", params={"public_key": PAIR.public_text}, headers=key)


def opened(reply: httpx2.Response) -> TraceContent:
    assert reply.status_code == 200, reply.text
    sealed = SealedTrace.model_validate_json(reply.content)
    return open_trace(sealed.capsule, PAIR, trace_context(sealed.answer))


def names_in(content: TraceContent) -> set[str]:
    return {name for names in content.table.values() for name in names.names}


async def test_prompts_and_replies_come_as_they_left_with_the_names_beside(service: Running) -> None:
    key = service.key("default", *INSPECTS)
    answer_id = await asked(service, key)
    reply = await traced(service, key, answer_id)
    content = opened(reply)
    (call,) = content.calls
    assert (call.step, call.outcome, content.names_kept) == ("step", "used", True)
    assert call.prompt is not None
    assert call.prompt.encode() == service.reasoner.sent[0]
    assert call.reply is not None
    assert '"action":"answer"' in call.reply
    assert not [name for name in SECRET_NAMES if name in call.prompt + call.reply]
    assert names_in(content) == {"Valdis Ozolkrasts"}
    assert all(word in call.prompt for word in content.table)


async def test_names_behind_an_escape_are_found(service: Running) -> None:
    """The question travels as JSON: a line feed in it ends in a letter there."""
    key = service.key("default", *INSPECTS)
    answer_id = await asked(service, key, text="Who is\nValdis Ozolkrasts treated by?")
    content = opened(await traced(service, key, answer_id))
    (word,) = content.table
    assert f"\\n{word}" in (content.calls[0].prompt or "")
    assert names_in(content) == {"Valdis Ozolkrasts"}


async def test_each_answer_is_traced_by_the_words_that_were_sent_for_it(service: Running) -> None:
    """The same thing went out under other words in each of two questions that lean on nothing."""
    chat = service.services.chat
    assert isinstance(chat, ChatService)
    of_kinds = chat.with_options(replace(chat.options, profile=Profile.KIND))
    state_of(service.app).services = replace(service.services, chat=of_kinds)
    key = service.key("default", *INSPECTS)
    reply = (await service.http.post("/chat", json=question(), headers=key)).json()
    again = await asked(service, key, conversation=reply["conversation"])
    contents = [opened(await traced(service, key, answer_id)) for answer_id in (reply["id"], again)]
    assert [names_in(content) for content in contents] == [{"Valdis Ozolkrasts"}] * 2
    assert not contents[0].table.keys() & contents[1].table.keys()
    assert all(word in (content.calls[0].prompt or "") for content in contents for word in content.table)


async def test_all_of_it_is_sealed_the_models_words_too(service: Running) -> None:
    """The model may have guessed a name."""
    service.reasoner.words = "It is {1}. Is it Quenby Thistlewood?"
    key = service.key("default", *INSPECTS)
    reply = await traced(service, key, await asked(service, key))
    assert not [name for name in SECRET_NAMES if name in reply.text]
    assert "step" not in reply.text
    (call,) = opened(reply).calls
    assert "Quenby Thistlewood" in (call.reply or "")
    sealed = SealedTrace.model_validate_json(reply.content)
    for pair, context in ((KeyPair.generate(), trace_context(sealed.answer)), (PAIR, trace_context("other"))):
        with pytest.raises(CannotOpenError):
            open_trace(sealed.capsule, pair, context)


async def test_an_admin_traces_what_any_key_of_the_tenant_asked(service: Running) -> None:
    answer_id = await asked(service, service.key("default", "clinic"))
    for admin in (OPERATOR, service.key("default", role="admin")):
        assert names_in(opened(await traced(service, admin, answer_id))) == {"Valdis Ozolkrasts"}


async def test_to_everybody_else_it_is_as_if_there_were_none(service: Running) -> None:
    owner = service.key("default", "clinic")
    answer_id = await asked(service, owner)
    absent = await traced(service, OPERATOR, "nothing")
    expected = ErrorBody.model_validate_json(absent.content)
    assert (absent.status_code, expected.code) == (404, "unknown_answer")
    service.load("south", "clinic")
    for stranger in (
        owner,  # without the grant
        service.key("default", *INSPECTS),  # it did not ask
        service.key("default", "*", "inspect:*"),
        service.key("south", *INSPECTS),
        service.key("south", role="admin"),
    ):
        reply = await traced(service, stranger, answer_id)
        told = ErrorBody.model_validate_json(reply.content)
        assert (reply.status_code, told.model_copy(update={"id": expected.id})) == (404, expected)


async def test_a_grant_for_another_graph_is_none(service: Running) -> None:
    key = service.key("default", "clinic", "films", "inspect:films")
    assert (await traced(service, key, await asked(service, key))).status_code == 404


@pytest.mark.parametrize("answer_id", ["nothing", ""])
async def test_a_bad_public_key_is_refused_whatever_is_there(service: Running, answer_id: str) -> None:
    key = service.key("default", *INSPECTS)
    place = answer_id or await asked(service, key)
    reply = await service.http.get(f"/trace/{place}", params={"public_key": "x"}, headers=key)
    assert (reply.status_code, reply.json()["code"]) == (422, "bad_public_key")
    missing = await service.http.get(f"/trace/{place}", headers=key)
    assert (missing.status_code, missing.json()["code"]) == (422, "bad_request")


async def test_a_question_that_failed_shows_what_was_sent(service: Running) -> None:
    key = service.key("default", *INSPECTS)
    conversation = (await service.http.post("/chat", json=question(), headers=key)).json()["conversation"]

    def fail() -> None:
        raise ReasonerUnavailableError

    service.reasoner.before = fail
    await service.http.post("/chat", json=question(conversation=conversation), headers=key)
    (entry, _) = (await service.http.get("/ledger", headers=key)).json()["entries"]
    content = opened(await traced(service, key, entry["answer"]))
    (call,) = content.calls
    assert (call.outcome, call.reply) == ("none", None)
    assert call.prompt is not None
    assert names_in(content) == {"Valdis Ozolkrasts"}


async def test_without_its_conversation_a_trace_has_no_names(service: Running) -> None:
    key = service.key("default", *INSPECTS)
    answer_id = await asked(service, key)
    past = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
    with service.services.store.engine.begin() as connection:
        connection.execute(update(conversations).values(expires_at=past))
    content = opened(await traced(service, OPERATOR, answer_id))
    assert (content.names_kept, content.table) == (False, {})
    assert content.calls[0].prompt is not None
    # Nobody can say which graph it was about, and so whether this key may inspect it.
    assert (await traced(service, key, answer_id)).status_code == 404
