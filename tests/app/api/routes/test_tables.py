"""Kinds as tables over HTTP: pages, orders, filters and counts; and a crawl finds nothing beyond role or budget."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from client_sdk.crypto.sealing import CannotOpenError, KeyPair, excerpt_context, open_capsule
from client_sdk.protocol import GraphTable
from tests.support.service import OPERATOR, Running, running

PAIR = KeyPair.generate()
PATIENTS = 60
SYLLABLES = ("bra", "dol", "fen", "gor", "hul", "jam", "kel", "lun")
WARDS = ("Kestrel Wing", "Merlin Wing", "Osprey Wing")
CANARIES = ("Ottoline Brackwater", "Ptolemy Ashgrove", "843-48", "Quillfeather")
"""Parts that the role `desk` may not see: doctors, security numbers, and a name that only such a relation leads to."""
POLICY = """
types = "concept"
[relations."http://c.invalid/weight"]
mask = true
[roles.desk]
withhold_relations = ["http://c.invalid/ssn", "http://c.invalid/knows"]
withhold_concepts = ["doctor"]
"""


def name_of(at: int) -> str:
    return f"{SYLLABLES[at % 8].title()}{SYLLABLES[at // 8]}ic Varn{SYLLABLES[at % 7]}"


def turtle() -> str:
    """Patients of two doctors on three wards, each with a masked weight and a security number."""
    lines = [
        f':p{at} a :Patient ; rdfs:label "{name_of(at)}" ; :treatedBy :d{at % 2} ; :liesOn :w{at % 3} ;'
        f' :weight {50 + at} ; :ssn "843-48-{1000 + at}" ; :knows :s .'
        for at in range(PATIENTS)
    ]
    lines += [f':w{at} a :Ward ; rdfs:label "{name}" .' for at, name in enumerate(WARDS)]
    lines += [':d0 a :Doctor ; rdfs:label "Ottoline Brackwater" .', ':d1 a :Doctor ; rdfs:label "Ptolemy Ashgrove" .']
    lines += [':s a :Secret ; rdfs:label "Quillfeather" .']
    prefixes = ["@prefix : <http://c.invalid/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    return "\n".join([*prefixes, *lines])


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as service:
        service.load(turtle=turtle(), policy=POLICY)
        yield service


async def sent(service: Running, key: dict[str, str], **wanted: Any) -> httpx2.Response:
    body = {"public_key": PAIR.public_text, **wanted}
    return await service.http.post("/graphs/clinic/table", json=body, headers=key)


async def table_of(service: Running, key: dict[str, str], **wanted: Any) -> GraphTable:
    reply = await sent(service, key, **wanted)
    assert reply.status_code == 200, reply.text
    return GraphTable.model_validate_json(reply.content)


def names_in(table: GraphTable) -> dict[str, str]:
    assert table.capsule is not None
    content = open_capsule(table.capsule, PAIR, excerpt_context(table))
    return {word: names.names[0] for word, names in content.table.items() if names.names}


def cells_in(table: GraphTable) -> list[list[str]]:
    names = names_in(table)
    return [
        [
            names.get(row.thing.pseudonym, ""),
            *(" ".join(names[end.pseudonym] for end in cell.ends) or str(cell.total) for cell in row.cells),
        ]
        for row in table.rows
    ]


async def test_a_kind_is_a_table_with_the_owners_words_and_no_name_in_clear(
    service: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        reply = await sent(service, OPERATOR, kind="patient", sort="lies on")
    table = GraphTable.model_validate_json(reply.content)
    assert {each.kind: each.things for each in table.kinds}["patient"] == PATIENTS
    assert (table.total, len(table.rows), table.offset, table.withheld) == (PATIENTS, 25, 0, 0)
    names = names_in(table)
    masked = next(each for each in table.columns if each.masked)
    assert names[masked.column] == "weight"
    assert "weight" not in [each.column for each in table.columns]
    wards = [each.column for each in table.columns].index("lies on")
    assert {row[1 + wards] for row in cells_in(table)} == {"Kestrel Wing", "Merlin Wing"}
    assert not [each for each in (*WARDS, "ic Varn", *CANARIES) if each in reply.text + caplog.text]
    with pytest.raises(CannotOpenError):
        names_in(table.model_copy(update={"total": 1}))


async def test_pages_follow_one_another_and_one_beyond_the_end_is_the_last(service: Running) -> None:
    pages = [await table_of(service, OPERATOR, kind="patient", offset=at) for at in (0, 25, 50, 4_000)]
    first, second, third, beyond = [[row[0] for row in cells_in(each)] for each in pages]
    assert sorted(first + second + third) == sorted(name_of(at) for at in range(PATIENTS))
    assert (beyond, pages[3].offset) == (third, 50)


async def test_rows_are_chosen_by_value_and_text_and_values_are_counted(service: Running) -> None:
    table = await table_of(service, OPERATOR, kind="patient", choices_of="lies on")
    names = names_in(table)
    assert {names[each.value.pseudonym]: each.rows for each in table.choices if each.value} == dict.fromkeys(WARDS, 20)
    kestrel = next(
        each.value.pseudonym for each in table.choices if each.value and names[each.value.pseudonym] == WARDS[0]
    )
    chosen = {"column": "lies on", "value": kestrel}
    further = {"conversation": table.conversation, "kind": "patient"}
    of_ward = await table_of(service, OPERATOR, filters=[chosen], **further)
    assert of_ward.total == 20
    typed = {"column": "", "contains": "bradolic"}
    both = await table_of(service, OPERATOR, filters=[chosen, typed], **further)
    assert [row[0] for row in cells_in(both)] == [
        name for at in range(0, 60, 3) if "Bradolic" in (name := name_of(at))
    ]


async def test_looks_at_the_same_time_do_not_stop_one_another(service: Running) -> None:
    first = await table_of(service, OPERATOR, kind="patient")
    wanted = {"kind": "patient", "conversation": first.conversation}
    looks = [sent(service, OPERATOR, offset=at, descending=way, **wanted) for at in (0, 25) for way in (False, True)]
    assert {reply.status_code for reply in await asyncio.gather(*looks)} == {200}


async def test_a_table_of_a_conversation_of_another_key_opens_nothing(service: Running) -> None:
    first, second = (service.key("default", "clinic", "inspect:clinic") for _ in range(2))
    table = await table_of(service, first, kind="ward")
    reply = await sent(service, second, kind="ward", conversation=table.conversation)
    assert reply.status_code == 404


async def test_what_a_column_cannot_do_is_refused(service: Running) -> None:
    empty: dict[str, Any] = {"filters": [{"column": "", "is_empty": True}]}
    for wanted in ({"sort": "wages"}, {"choices_of": "ssn"}, {"choices_of": "wages"}, empty):
        reply = await sent(service, OPERATOR, kind="patient", **wanted)
        assert (reply.status_code, reply.json()["code"]) == (422, "unknown_column")


async def test_rows_without_a_name_show_their_cells_and_each_counts_as_a_fact(tmp_path: Path) -> None:
    prefixes = "@prefix : <http://c.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
    visits = '[ :on "2019-01-01" ; :seenBy :d ], [ :on "2019-02-03" ; :seenBy :d ]'
    named = f':p rdfs:label "Jamkel Varnbra" ; :visit {visits} . :d rdfs:label "Medic Dolfen" .'
    async with running(tmp_path) as service:
        service.load(turtle=f"{prefixes}\n{named}", policy="mediators.blank_nodes = true\n")
        key = service.key("default", "clinic", "inspect:clinic")
        kinds = {each.kind: each.things for each in (await table_of(service, key)).kinds}
        assert kinds["visit"] == 2
        table = await table_of(service, key, kind="visit", sort="on")
        assert not table.named
        assert [each.column for each in table.columns] == ["on", "seen by", "^visit"]
        dates = ("2019-01-01", "2019-02-03")
        assert cells_in(table) == [["", date, "Medic Dolfen", "Jamkel Varnbra"] for date in dates]
        # When the doctor was seen, twice, and by whom.
        assert service.services.store.names_read.days("default", "clinic")[0].facts == 3


def looks_at(table: GraphTable) -> Iterator[dict[str, Any]]:
    """Everything that may be asked of a kind: pages, orders, counts, texts, and columns that are not among its own."""
    kind = {"kind": table.kind, "conversation": table.conversation}
    columns = ["", *(each.column for each in table.columns), "ssn", "^ssn", "knows", "treated by", "^treated by"]
    yield from ({**kind, "offset": at} for at in range(0, table.total + 50, 25))
    for column in columns:
        yield from ({**kind, "sort": column, "descending": way} for way in (False, True))
        yield {**kind, "choices_of": column}
        yield {**kind, "filters": [{"column": column, "is_empty": True}]}
        for text in (*CANARIES, "a", "ic", "8"):
            yield {**kind, "filters": [{"column": column, "contains": text}], "choices_of": "lies on"}


async def test_a_crawl_finds_nothing_outside_its_role(tmp_path: Path) -> None:
    async with running(tmp_path, names_per_day=10_000, facts_per_day=100_000, requests_per_minute=100_000) as service:
        service.load(turtle=turtle(), policy=POLICY)
        desk = service.key("default", "clinic#desk", "inspect:clinic")
        seen: set[str] = set()
        for kind in (*(each.kind for each in (await table_of(service, desk)).kinds), "doctor", "secret"):
            table = await table_of(service, desk, kind=kind)
            assert kind not in ("doctor", "secret") or (table.total, table.columns) == (0, [])
            for wanted in looks_at(table):
                reply = await sent(service, desk, **wanted)
                assert reply.status_code in (200, 422)
                assert not [each for each in CANARIES if each in reply.text]
                found = GraphTable.model_validate_json(reply.content) if reply.status_code == 200 else table
                seen |= {*names_in(found).values(), *(each.kind for each in found.kinds)}
                texts = [each.get("contains") for each in wanted.get("filters", ())]
                assert not (found is not table and {*texts} & {*CANARIES} and found.total)
        assert {name_of(at) for at in range(PATIENTS)} | {*WARDS} <= seen
        assert not [
            each for each in seen if any(canary.casefold() in each.casefold() for canary in (*CANARIES, "ssn"))
        ]
        whole = await table_of(service, OPERATOR, kind="doctor")
        assert {row[0] for row in cells_in(whole)} == {*CANARIES[:2]}


async def test_a_crawl_ends_at_the_budget_and_then_no_condition_tells_anything(tmp_path: Path) -> None:
    async with running(tmp_path, names_per_day=40, facts_per_day=100, requests_per_minute=100_000) as service:
        service.load(turtle=turtle(), policy=POLICY)
        key = service.key("default", "clinic", "inspect:clinic")
        table = await table_of(service, key, kind="patient")
        assert 0 < len(table.rows) == 25 - table.withheld < 25
        read = {*names_in(table).values()}
        for wanted in looks_at(table):
            reply = await sent(service, key, **wanted)
            if reply.status_code == 200:
                found = GraphTable.model_validate_json(reply.content)
                read |= {name for name in names_in(found).values() if any(map(str.isalpha, name))}
        counted = service.services.store.names_read.days("default", "clinic")[0]
        assert len({each.casefold() for each in read}) >= counted.names - 1
        assert counted.names <= 40
        assert counted.facts <= 100
        texts = ("kellunic", "nobody at all")
        asked = [{"kind": "patient", "filters": [{"column": "", "contains": text}]} for text in texts]
        there, absent = [await sent(service, key, **each) for each in asked]
        assert (there.status_code, there.json()["code"]) == (429, "budget_used_up")
        assert {**there.json(), "id": ""} == {**absent.json(), "id": ""}
