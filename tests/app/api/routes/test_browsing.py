"""A graph to look through: names sealed to the key that may inspect, no MID, nothing for others; and suggestions."""

from __future__ import annotations

import logging

import httpx2
import pytest

from client_sdk.crypto.sealing import CannotOpenError, KeyPair, excerpt_context, open_capsule
from client_sdk.protocol import BrowseRequest, GraphExcerpt
from tests.support.service import OPERATOR, SECRET_NAMES, Running

PAIR = KeyPair.generate()
INSPECTS = ("clinic", "inspect:clinic")


async def browsed(service: Running, key: dict[str, str], **wanted: object) -> httpx2.Response:
    body = {"public_key": PAIR.public_text, **wanted}
    return await service.http.post("/graphs/clinic/browse", json=body, headers=key)


def names_in(excerpt: GraphExcerpt) -> dict[str, str]:
    assert excerpt.capsule is not None
    content = open_capsule(excerpt.capsule, PAIR, excerpt_context(excerpt))
    return {word: names.names[0] for word, names in content.table.items() if names.names}


async def test_a_thing_of_a_name_is_found_and_its_facts_lead_on(
    service: Running, caplog: pytest.LogCaptureFixture
) -> None:
    key = service.key("default", *INSPECTS)
    with caplog.at_level(logging.DEBUG):
        found = await browsed(service, key, search="Valdis Ozolkrasts")
        assert found.status_code == 200
        excerpt = GraphExcerpt.model_validate_json(found.content)
        assert list(names_in(excerpt).values()) == ["Valdis Ozolkrasts"]
        (thing,) = excerpt.things
        one = await browsed(service, key, thing=thing.pseudonym, conversation=excerpt.conversation)
    facts = GraphExcerpt.model_validate_json(one.content)
    assert facts.facts
    ends = {end.pseudonym for fact in facts.facts for end in fact.ends}
    assert ends <= names_in(facts).keys()
    # A canary: no name in clear, neither in what is sent back nor in what is logged.
    assert not [name for name in SECRET_NAMES if name in found.text + one.text + caplog.text]


async def test_who_may_only_ask_looks_through_nothing(service: Running) -> None:
    key = service.key("default", "clinic")
    assert (await browsed(service, key, search="Valdis Ozolkrasts")).status_code == 403
    kinds = await service.http.post("/graphs/clinic/table", json={"public_key": PAIR.public_text}, headers=key)
    assert kinds.status_code == 403
    stranger = service.key("default", "other", "inspect:clinic")
    assert (await browsed(service, stranger, search="Valdis Ozolkrasts")).status_code == 404
    assert (await service.http.get("/graphs", headers=key)).json()["inspectable"] == []
    assert (await service.http.get("/graphs", headers=OPERATOR)).json()["inspectable"] == ["clinic"]


async def test_a_conversation_of_another_key_opens_nothing(service: Running) -> None:
    first, second = service.key("default", *INSPECTS), service.key("default", *INSPECTS)
    excerpt = GraphExcerpt.model_validate_json((await browsed(service, first, search="Valdis Ozolkrasts")).content)
    wanted = {"thing": excerpt.things[0].pseudonym, "conversation": excerpt.conversation}
    assert (await browsed(service, second, **wanted)).status_code == 404


async def test_names_open_for_their_own_excerpt_alone(service: Running) -> None:
    reply = await browsed(service, service.key("default", *INSPECTS), search="Valdis Ozolkrasts")
    excerpt = GraphExcerpt.model_validate_json(reply.content)
    with pytest.raises(CannotOpenError):
        names_in(excerpt.model_copy(update={"total": 2}))


@pytest.mark.parametrize("wanted", [{}, {"search": "x", "thing": "y"}, {"search": "x" * 201}])
def test_one_thing_is_looked_at_and_what_was_typed_is_not_quoted(wanted: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="validation error") as raised:
        BrowseRequest.model_validate({"public_key": "k", **wanted})
    assert "xxx" not in str(raised.value)


async def test_suggestions_hold_no_name_and_are_there_for_whoever_may_ask(service: Running) -> None:
    reply = await service.http.get("/graphs/clinic/suggestions", headers=service.key("default", "clinic"))
    assert reply.status_code == 200
    assert not [name for name in SECRET_NAMES if name in reply.text]
    assert (await service.http.get("/graphs/clinic/suggestions", headers=service.key("default"))).status_code == 404
