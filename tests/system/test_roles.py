"""A key with a role of a graph: what is not its own is not found, named, counted or sent, and reads like absence."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from app.accounts.api_keys import BadGrantError, Caller
from client_sdk.crypto.sealing import KeyPair, capsule_context, open_capsule, open_trace, trace_context
from client_sdk.protocol import ChatAnswer, SealedTrace
from evaluation.checks.canaries import GRAPH, POLICY, PREFIXES, canaries_in
from tests.support.service import OPERATOR, Running, running

pytestmark = pytest.mark.model

ROLES = """
[roles.reception]
show_relations = ["treated by", "lives in"]

[roles.finance]
withhold_relations = ["http://house.invalid/treatedBy", "remark", "ssn"]
"""
# The same graph without what the reception is not shown.
LESS = (
    PREFIXES
    + """
:p1 rdfs:label "Vexquilda Thrombury" ; skos:altLabel "Quillowmere", "Grizzlewick's Nook" ;
    :treatedBy :Orvindel_Jaskworthy ; :livesIn :c1 .
:Orvindel_Jaskworthy :livesIn :c1 .
:c1 rdfs:label "Žofštenbrück"@cs .
"""
)
WITHHELD = ("Zimbrelkov", "Quandrovar", "536-22-8174", "1961-07-23", "4841739.25", "Plumbrechtson")
GRANTED = (
    "Who is Vexquilda Thrombury treated by?",
    "Who lives in Žofštenbrück?",
    "How many people live in Žofštenbrück?",
    "Where does orvindel jaskworthy live?",
    "Where does Vexqilda Thrombruy live?",
    "Where does the doctor of Quillowmere live?",
)
UNGRANTED = (
    "Who is employed by Zimbrelkov & Quandrovar?",
    "Who employs Orvindel Jaskworthy?",
    "What is the salary of Vexquilda Thrombury?",
    "Whose ssn is 536-22-8174?",
    "When was Vexquilda Thrombury born?",
    "Who was born on 23 July 1961?",
    "How many companies are there?",
    "Is Zimbrelkow & Quandrowar there?",
)
PAIR = KeyPair.generate()
PSEUDONYM = re.compile(r"\b[EVSR][a-z0-9]{5}\b")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True) as house:
        for name, turtle, policy in (("house", GRAPH, POLICY + ROLES), ("less", LESS, "")):
            file = tmp_path / f"{name}.ttl"
            file.write_text(turtle)
            house.services.graphs.load("default", name, [file], policy).run(lambda _step, _percent: None)
        yield house


async def ask(house: Running, headers: dict[str, str], graph: str, *texts: str, **more: object) -> httpx2.Response:
    """The last of `texts`, after the answers to those before it."""
    turns: list[dict[str, str]] = []
    conversation: dict[str, object] = {}
    for text in texts:
        turns.append({"role": "user", "content": text})
        body = {"graph": graph, "public_key": PAIR.public_text, "messages": turns, **conversation, **more}
        reply = await house.http.post("/chat", json=body, headers=headers)
        if reply.status_code == 200:
            turns.append(reply.json()["message"])
            conversation = {"conversation": reply.json()["conversation"]}
    return reply


def opened(reply: httpx2.Response) -> dict[str, list[str]]:
    answer = ChatAnswer.model_validate_json(reply.content)
    assert answer.capsule is not None
    content = open_capsule(answer.capsule, PAIR, capsule_context(answer))
    return {word: names.names for word, names in content.table.items()}


def read(reply: httpx2.Response) -> tuple[object, ...]:
    """All that an answer tells its caller, whatever the pseudonyms are."""
    assert reply.status_code == 200, reply.text
    answer, table = ChatAnswer.model_validate_json(reply.content), opened(reply)

    def named(text: str) -> str:
        return PSEUDONYM.sub(lambda word: " and ".join(sorted(table.get(word[0], ["?"]))), text)

    facts = [
        (named(f.head), f.head_concept, f.path, named(f.tail), f.tail_concept, f.size, f.tail_count)
        for f in answer.evidence
    ]
    items = [(named(item.pseudonym), item.kind, item.concept, item.size) for item in answer.entities]
    names = sorted(map(sorted, table.values()))
    return (
        answer.answered, named(answer.message.content), items, sorted(facts, key=repr), answer.grounded,
        len(answer.ambiguous), len(answer.inexact), [named(note) for note in answer.notes], names,
        answer.usage.rounds, answer.usage.calls, answer.usage.left_out,
        [(named(each.pseudonym), each.concept) for each in answer.understood],
        [named(each) for each in answer.worked_out], answer.confidence,
        [named(each) for each in answer.did_you_mean], [named(each) for each in answer.suggestions],
    )  # fmt: skip


@pytest.mark.parametrize("strategy", ["sets", "arog"])
async def test_a_role_is_answered_as_if_the_rest_had_never_been_loaded(house: Running, strategy: str) -> None:
    reception, whole = house.key("default", "house#reception"), house.key("default", "less")
    for text in (*GRANTED, *UNGRANTED):
        mine = await ask(house, reception, "house", text, strategy=strategy)
        theirs = await ask(house, whole, "less", text, strategy=strategy)
        told = [read(each) for each in (mine, theirs)]
        if strategy == "arog" and not mine.json()["answered"]:
            # Facts that lie equally near are taken in an order that each conversation draws anew.
            told = [each[:3] + each[4:] for each in told]
        assert told[0] == told[1], text
    why = "Why?"
    for text in (GRANTED[0], UNGRANTED[2]):
        mine, theirs = await ask(house, reception, "house", text, why), await ask(house, whole, "less", text, why)
        assert read(mine) == read(theirs)


async def test_nothing_withheld_is_in_a_reply_a_capsule_a_request_or_a_trace(house: Running) -> None:
    keys = house.key("default", "house#reception", "inspect:house")
    told, sealed, ids = [], [], []
    for text in (*GRANTED, *UNGRANTED):
        for strategy in ("sets", "arog"):
            reply = await ask(house, keys, "house", text, "Why?", strategy=strategy)
            first = await ask(house, keys, "house", text, strategy=strategy)
            told += [reply.content, first.content]
            sealed += [repr(opened(reply)).encode(), repr(opened(first)).encode()]
            ids.append(first.json()["id"])
    assert canaries_in(b"".join(told)) == []
    # A literal that somebody typed comes back to them: that is all that a capsule may hold of it.
    typed = " ".join(UNGRANTED)
    assert set(canaries_in(b"".join(sealed), WITHHELD)) <= set(canaries_in(typed.encode(), WITHHELD))
    ledger = await house.http.get("/ledger", params={"limit": 1000}, headers=OPERATOR)
    payloads = [row["payload"] for row in ledger.json()["entries"] if row["payload"]]
    assert len(payloads) > len(GRANTED)
    assert canaries_in("".join(payloads).encode()) == []
    for relation in ("salary", "ssn", "date of birth", "employed by", "remark"):
        shown = [payload for payload in payloads if f'"{relation}"' in payload.replace("\\", "")]
        assert shown == [], relation
    traced = 0
    for answer in ids:
        reply = await house.http.get(f"/trace/{answer}", params={"public_key": PAIR.public_text}, headers=keys)
        if reply.status_code == 200:
            content = open_trace(SealedTrace.model_validate_json(reply.content).capsule, PAIR, trace_context(answer))
            names = repr(content.table).encode()
            assert set(canaries_in(names, WITHHELD)) <= set(canaries_in(typed.encode(), WITHHELD))
            traced += 1
    assert traced > len(GRANTED)


async def test_a_refusal_tells_a_withheld_name_from_no_other_that_nobody_knows(house: Running) -> None:
    reception = house.key("default", "house#reception")
    told = []
    for name in ("Zimbrelkov & Quandrovar", "Grolmaxion & Tressopal"):
        reply = await ask(house, reception, "house", f"What is the umbrella of {name}?")
        told.append(read(reply)[1])
    assert told[0] == told[1]


async def test_the_whole_graph_answers_what_the_role_is_not_told(house: Running) -> None:
    whole = house.key("default", "house")
    for text, name in ((UNGRANTED[0], "Jaskworthy"), (UNGRANTED[2], "4841739.25"), (UNGRANTED[3], "Vexquilda")):
        reply = await ask(house, whole, "house", text)
        assert reply.json()["answered"], text
        assert canaries_in(repr(opened(reply)).encode(), [name]) == [name]
    finance = house.key("default", "house#finance")
    assert (await ask(house, finance, "house", UNGRANTED[2])).json()["answered"]
    assert not (await ask(house, finance, "house", GRANTED[0])).json()["answered"]


async def test_a_name_that_is_withheld_is_replaced_all_the_same(house: Running) -> None:
    reception = house.key("default", "house#reception")
    await ask(house, reception, "house", "who is employed by zimbrelkov & quandrovar, who has 536-22-8174?")
    ledger = await house.http.get("/ledger", params={"limit": 50}, headers=OPERATOR)
    # A refusal ends with questions to try, which the service asked itself after this one.
    own = [entry for entry in ledger.json()["entries"] if entry["key_id"] != "suggestions"]
    payload = own[0]["payload"]
    assert "employed by" in payload
    assert canaries_in(payload.encode()) == []


async def test_a_role_does_not_read_its_questions_as_they_were_sent(house: Running) -> None:
    """Names are told by the words that were replaced in them."""
    reception, whole = house.key("default", "house#reception"), house.key("default", "house")
    for headers, reads in ((reception, False), (whole, True)):
        await ask(house, headers, "house", GRANTED[0])
        rows = (await house.http.get("/ledger", headers=headers)).json()["entries"]
        assert rows
        assert {row["payload"] is not None for row in rows} == {reads}


async def test_a_role_that_the_graph_does_not_have_is_no_grant(house: Running) -> None:
    unknown, known = house.key("default", "house#surgeon"), house.key("default", "house#reception")
    without = await ask(house, house.key("default", "less"), "house", GRANTED[0])
    refused = await ask(house, unknown, "house", GRANTED[0])
    assert (refused.status_code, refused.json()["code"]) == (without.status_code, without.json()["code"]) == (
        404, "unknown_graph",
    )  # fmt: skip
    assert refused.json()["message"] == without.json()["message"]
    assert (await house.http.get("/graphs", headers=known)).json()["graphs"] == ["house"]


async def test_what_a_newer_policy_withholds_is_not_told_by_an_older_conversation(
    house: Running, tmp_path: Path
) -> None:
    reception = house.key("default", "house#reception")
    first = await ask(house, reception, "house", GRANTED[0])
    assert canaries_in(repr(opened(first)).encode(), ["Jaskworthy"])
    fewer = ROLES.replace('"treated by", "lives in"', '"lives in"')
    house.services.graphs.load("default", "house", [tmp_path / "house.ttl"], POLICY + fewer).run(lambda _s, _p: None)
    turns = [{"role": "user", "content": GRANTED[0]}, first.json()["message"], {"role": "user", "content": "Why?"}]
    body = {
        "graph": "house", "public_key": PAIR.public_text, "messages": turns,
        "conversation": first.json()["conversation"],
    }  # fmt: skip
    reply = await house.http.post("/chat", json=body, headers=reception)
    assert not reply.json()["answered"]
    assert "treated" not in reply.text


GRANTS_THAT_CAN_NOT_BE_MEANT = (
    (["house", "house#reception"], "as a whole and by a role"),
    (["house#reception", "house#finance"], "two roles for one graph"),
    (["*", "house#reception"], "every graph as a whole"),
    (["house#"], "grant 1 is not valid"),
    (["house", "inspect:house#reception"], "grant 2 is not valid"),
    (["*#reception"], "grant 1 is not valid"),
)


async def test_a_grant_that_can_not_be_meant_is_refused(house: Running) -> None:
    for grants, words in GRANTS_THAT_CAN_NOT_BE_MEANT:
        with pytest.raises(BadGrantError, match=words):
            house.services.store.access.create("default", "user", grants)
        body = {"tenant": "default", "grants": grants}
        refused = await house.http.post("/admin/keys", json=body, headers=OPERATOR)
        assert (refused.status_code, refused.json()["code"]) == (422, "bad_grant"), grants


def test_a_caller_has_a_role_where_it_has_no_more() -> None:
    def caller(*grants: str, role: str = "user") -> Caller:
        return Caller("default", "k", role, frozenset(grants))  # type: ignore[arg-type]

    assert caller("house#ward").role_in("house") == "ward"
    assert caller("house#ward").may_ask("house")
    assert caller("house#ward").is_restricted
    assert not caller("house#ward").may_ask("hous")
    assert caller("house").role_in("house") is None
    assert caller("*").role_in("house") is None
    assert not caller("other#ward").may_ask("house")
    assert not caller("house").is_restricted
