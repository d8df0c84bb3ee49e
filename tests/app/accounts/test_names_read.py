"""Names that leave: a budget for each person and key, and a record by digest that goes with what it is of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.accounts.api_keys import Caller
from app.accounts.names_read import PERSONS_OF_A_KEY, NamesRead, NamesUsedUpError, Reader, ReadKind, ReadLimit
from app.chat.names_budget import LEAST, NamesBudget, RestoredNames, limit_of
from app.database.tables import names_read
from client_sdk import AsyncChat, KeyPair
from client_sdk.errors import RefusedError
from client_sdk.protocol import Names
from tests.support.rated_graph import PEOPLE, SECRETS, turtle
from tests.support.service import OPERATOR, OPERATOR_KEY, Running, bearer, running

NOON = dt.datetime(2031, 5, 7, 12, tzinfo=dt.UTC)
ANN, BO = Reader("t", "g", "k", "ann"), Reader("t", "g", "k", "bo")
KINDS: tuple[ReadKind, ...] = ("names", "facts")
KEYS = [b"new" * 11, b"old" * 11]


def reads(engine: Engine, keys: Sequence[bytes] = KEYS, now: dt.datetime = NOON) -> NamesRead:
    return NamesRead(engine, lambda: keys, lambda: now)


def take(
    engine: Engine, reader: Reader, names: Sequence[str], most: ReadLimit, now: dt.datetime = NOON
) -> tuple[int, int]:
    return reads(engine, now=now).take(reader, {"names": names}, {"names": most})["names"]


def at_most(names: int) -> ReadLimit:
    return ReadLimit(day=names, hour=names)


def test_what_goes_over_the_limit_is_not_recorded_and_tells_when_it_renews(engine: Engine) -> None:
    take(engine, ANN, ["a", "b"], at_most(3))
    with pytest.raises(NamesUsedUpError) as caught:
        take(engine, ANN, ["b", "c", "d"], at_most(3))
    assert (caught.value.most, caught.value.renews_in_s) == (3, 12 * 3600)
    assert take(engine, ANN, ["b", "c"], at_most(3)) == (2, 3)
    assert take(engine, ANN, ["a"], at_most(3)) == (3, 3)


def test_persons_that_are_made_up_do_not_read_more_than_a_key_may(engine: Engine) -> None:
    for at in range(PERSONS_OF_A_KEY):
        take(engine, Reader("t", "g", "k", f"person {at}"), [f"{at} a", f"{at} b"], at_most(2))
    with pytest.raises(NamesUsedUpError):
        take(engine, Reader("t", "g", "k", "one more"), ["another"], at_most(2))
    assert take(engine, Reader("t", "g", "another", "one more"), ["another"], at_most(2)) == (0, 1)


def test_new_names_of_an_hour_have_a_limit_of_their_own_also_around_midnight(engine: Engine) -> None:
    most, late = ReadLimit(day=9, hour=2), dt.datetime(2031, 5, 7, 23, 30, tzinfo=dt.UTC)
    take(engine, ANN, ["a", "b"], most, late)
    take(engine, ANN, ["a"], most, late)
    with pytest.raises(NamesUsedUpError) as caught:
        take(engine, ANN, ["c"], most, late + dt.timedelta(minutes=45))
    assert (caught.value.most, caught.value.period, caught.value.renews_in_s) == (2, "hour", 15 * 60)
    assert take(engine, ANN, ["c"], most, late + dt.timedelta(minutes=60)) == (0, 1)
    with pytest.raises(NamesUsedUpError) as caught:
        take(engine, ANN, ["d", "e", "f"], most, late + dt.timedelta(hours=9))
    assert caught.value.fits_never
    (newest, _older) = reads(engine, now=late + dt.timedelta(minutes=61)).days("t", "g")
    assert (newest.names, newest.last_hour) == (1, 1)


def test_an_admin_has_no_limit_and_is_recorded(engine: Engine) -> None:
    admin = Reader("t", "g", "k", "", is_admin=True)
    assert take(engine, admin, ["a", "b", "c"], at_most(1)) == (0, 3)
    assert [each.names for each in reads(engine).days("t", "g")] == [3]


def test_who_read_a_name_is_found_also_after_the_master_key_was_rotated(engine: Engine) -> None:
    reads(engine, KEYS[1:]).take(ANN, {"names": ["Lea Moreno", "Bo Reed"]}, {"names": at_most(9)})
    take(engine, BO, ["Lea Moreno"], at_most(9))
    found = reads(engine).days("t", "g", "lea moreno")
    assert {(each.person, each.names, each.day) for each in found} == {("ann", 1, NOON.date()), ("bo", 1, NOON.date())}
    assert {(each.person, each.names) for each in reads(engine).days("t", "g")} == {("ann", 2), ("bo", 1)}
    assert reads(engine).days("t", "other") == []
    assert reads(engine).days("another", "g") == []


def test_rows_go_with_a_name_a_graph_and_time(engine: Engine) -> None:
    take(engine, ANN, ["Lea Moreno", "Bo Reed"], at_most(9))
    assert reads(engine).forget("t", "g", ["Lea Moreno"]) == 1
    assert reads(engine).days("t", "g", "Lea Moreno") == []
    assert reads(engine).purge(NOON.date()) == 0
    assert reads(engine).purge(NOON.date() + dt.timedelta(days=1)) == 1
    take(engine, ANN, ["Bo Reed"], at_most(9))
    assert reads(engine).forget("t", "g") == 1


FOUND = ("E1", ("works at", "^employs|based in"), "E2")


def test_a_fact_is_one_fact_from_either_end_and_counted_once() -> None:
    names = {"E1": Names(names=["Lea"], total=1), "E2": Names(names=["Umbrathal"], total=1)}
    back = ("E2", ("^based in|employs", "^works at"), "E1")
    assert len(RestoredNames(names, facts=[FOUND, back, FOUND]).told_facts) == 1
    assert not RestoredNames({"E1": names["E1"]}, facts=[FOUND]).told_facts


def test_a_list_is_as_many_facts_as_it_has_members() -> None:
    many = {"E1": Names(names=["Lea"], total=1), "E2": Names(names=["4", "1984", "Bo"], total=3)}
    assert len(RestoredNames(many, facts=[FOUND]).told_facts) == 3
    sets = {"E1": Names(names=["Lea", "Ann"], total=2), "E2": Names(names=["a", "b", "c"], total=3)}
    assert len(RestoredNames(sets, facts=[FOUND]).told_facts) == 3


def test_facts_have_a_limit_of_their_own_over_all_persons_and_replicas(engine: Engine) -> None:
    most = {"names": ReadLimit(9, 9), "facts": ReadLimit(2, 2)}
    replicas = reads(engine), reads(engine)
    for at, person in enumerate((ANN, BO)):
        told = replicas[at].take(person, {"names": ["Lea"], "facts": [f"{at} a", f"{at} b"]}, most)
        assert told == {"names": (0, 1), "facts": (0, 2)}
    for person in (ANN, Reader("t", "g", "k", "one more")):
        with pytest.raises(NamesUsedUpError) as caught:
            replicas[0].take(person, {"names": [], "facts": ["another"]}, most)
        assert (caught.value.kind, caught.value.most, caught.value.period) == ("facts", 2, "day")
    assert [(each.names, each.facts) for each in reads(engine).days("t", "g")] == [(1, 2), (1, 2)]
    assert reads(engine).forget("t", "g", ["Lea"]) == 6  # Nobody can tell which facts were about the name.


def test_the_default_limits_keep_a_key_under_a_tenth_of_a_graph() -> None:
    for size in (202, 1_000, 2_000, 5_000, 20_000, 1_000_000):
        for kind in KINDS:
            limit = limit_of(kind, size)
            assert max(1.0, limit.of_key) * limit.day < max(0.1 * size, LEAST[kind] + 1)
    assert limit_of("names", 50).day == LEAST["names"]


async def test_an_alarm_comes_before_a_twentieth_is_given_out(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        facts = "".join(f'<x:p{at}> <x:name> "Person {at}" ; <x:knows> <x:p{at + 1}> .\n' for at in range(1_000))
        house.load(name="many", turtle=facts, policy='names = ["x:name"]\n')
        store = house.services.store
        graph, caller = store.catalog.open("default", "many"), Caller("default", "k", "user", frozenset({"many"}))
        budget = NamesBudget(store.names_read, store.access_record)

        def alarms() -> int:
            return sum(each.event == "alarm" for each in store.access_record.entries("default"))

        for at in range(0, 36, 4):
            read = {f"E{n}": Names(names=[f"Person {n}"], total=1) for n in range(at, at + 4)}
            budget.take(graph, caller, RestoredNames(read, answer=f"a{at}"))
        assert alarms() == 0
        read = {f"E{n}": Names(names=[f"Person {n}"], total=1) for n in range(36, 49)}
        budget.take(graph, caller, RestoredNames(read, answer="b"))
        assert alarms() == 1


async def test_rows_without_a_name_count_for_the_facts_that_may_be_read(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        loans = "".join(f"[] <x:by> <x:p1> ; <x:fee> {at} ; <x:days> {at} .\n" for at in range(1_000))
        house.load(name="many", turtle=f'<x:p1> <x:name> "Person" .\n{loans}', policy='names = ["x:name"]\n')
        store = house.services.store
        graph, caller = store.catalog.open("default", "many"), Caller("default", "k", "user", frozenset({"many"}))
        budget = NamesBudget(store.names_read, store.access_record)
        names = {"E1": Names(names=["Person"], total=1), "S1": Names(names=list(map(str, range(150))), total=150)}
        budget.take(graph, caller, RestoredNames(names, answer="a", facts=[("E1", ("^by|fee",), "S1")]))
        more = {**names, "S1": Names(names=list(map(str, range(350))), total=350)}
        with pytest.raises(NamesUsedUpError):
            budget.take(graph, caller, RestoredNames(more, answer="b", facts=[("E1", ("^by|fee",), "S1")]))


async def test_the_owner_of_a_graph_sets_its_budget_over_that_of_the_service(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        store, caller = house.services.store, Caller("default", "k", "user", frozenset({"few", "usual"}))
        facts = "".join(f'<x:p{at}> <x:name> "Person {at}" ; <x:knows> <x:p{at + 1}> .\n' for at in range(30))
        house.load(name="few", turtle=facts, policy='names = ["x:name"]\nbudget.names_per_day = 2\n')
        house.load(name="usual", turtle=facts, policy='names = ["x:name"]\n')
        for per_day, graph, most in ((5, "few", 2), (None, "few", 2), (5, "usual", 5), (None, "usual", 20)):
            budget = NamesBudget(store.names_read, store.access_record, per_day)
            read = {f"E{n}": Names(names=[f"Person {n}"], total=1) for n in range(most + 1)}
            with pytest.raises(NamesUsedUpError) as caught:
                budget.take(store.catalog.open("default", graph), caller, RestoredNames(read, answer="a"))
            assert caught.value.most == most


async def read_all(house: Running, key: str, person: str = "") -> tuple[set[str], RefusedError | None]:
    """The names that a crawl of every person's towns reads, and the error that ended it."""
    chat = AsyncChat("http://service", key, "towns", key=KeyPair.generate(), plain_http=True, http=house.http)
    names: set[str] = set()
    for person_asked in PEOPLE:
        for text in ("Where was {} born?", "Where does {} live?", "Where does {} work?"):
            try:
                answer = await chat.anew().ask(text.format(person_asked), person=person)
            except RefusedError as refused:
                return names, refused
            names.update(answer.names)
    return names, None


@pytest.mark.model
async def test_a_crawl_ends_at_the_budget_with_a_clear_error_and_the_owner_sees_it(tmp_path: Path) -> None:
    async with running(tmp_path, thinks=True, names_per_day=6) as house:
        house.load(name="towns", turtle=turtle())
        key = house.services.store.access.create("default", "user", ("towns",)).key
        names, refused = await read_all(house, key)
        assert refused is not None
        assert refused.code == "budget_used_up"
        assert "may read no more names" in str(refused)
        assert 0 < len(names) <= 6
        again, _ = await read_all(house, key, person="somebody else")
        assert 0 < len(again) <= 6
        (first, _second) = house.services.store.names_read.days("default", "towns")
        assert first.names <= 6
        assert (await house.http.delete("/admin/graphs/towns", headers=OPERATOR)).status_code == 204
        assert house.services.store.names_read.days("default", "towns") == []


@pytest.mark.model
async def test_what_browse_and_an_admin_read_is_counted_too(tmp_path: Path) -> None:
    async with running(tmp_path, thinks=True, names_per_day=3) as house:
        house.load(name="towns", turtle=turtle())
        key = house.services.store.access.create("default", "user", ("towns", "inspect:towns")).key
        wanted = {"search": PEOPLE[0], "public_key": KeyPair.generate().public_text}
        found = await house.http.post("/graphs/towns/browse", json=wanted, headers=bearer(key))
        (thing,) = found.json()["things"]
        one = {"public_key": wanted["public_key"], "thing": thing["pseudonym"]}
        one["conversation"] = found.json()["conversation"]
        facts = await house.http.post("/graphs/towns/browse", json=one, headers=bearer(key))
        assert (facts.status_code, facts.json()["code"]) == (429, "budget_used_up")
        assert int(facts.headers["Retry-After"]) > 0
        _, refused = await read_all(house, OPERATOR_KEY)
        assert refused is None
        assert sorted(each.names for each in house.services.store.names_read.days("default", "towns"))[0] == 1


@pytest.mark.model
async def test_no_name_is_in_a_row_and_a_small_graph_may_be_read_by_default(tmp_path: Path) -> None:
    async with running(tmp_path, thinks=True) as house:
        house.load(name="towns", turtle=turtle())
        key = house.services.store.access.create("default", "user", ("towns",)).key
        names, refused = await read_all(house, key)
        assert refused is None
        assert len(names) == 8
        with house.services.store.engine.connect() as connection:
            rows = connection.execute(select(names_read)).all()
        assert len(rows) >= 8
        kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert not any(secret in str(rows) or secret.encode() in kept for secret in SECRETS)


async def test_numbers_and_dates_do_not_count(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        house.load(name="towns", turtle=turtle())
        store = house.services.store
        table = {"V1": Names(names=["1984-02-11", "41,000", "8"], total=3), "E1": Names(names=["Lea"], total=1)}
        caller = Caller("default", "k", "user", frozenset({"towns"}))
        budget = NamesBudget(store.names_read, store.access_record)
        budget.take(store.catalog.open("default", "towns"), caller, RestoredNames(table))
        assert [each.names for each in store.names_read.days("default", "towns")] == [1]


@pytest.mark.model
async def test_who_read_a_person_that_is_forgotten_is_forgotten_too(tmp_path: Path) -> None:
    async with running(tmp_path, thinks=True) as house:
        house.load(name="towns", turtle=turtle())
        key = house.services.store.access.create("default", "user", ("towns",)).key
        chat = AsyncChat("http://service", key, "towns", key=KeyPair.generate(), plain_http=True, http=house.http)
        assert PEOPLE[0] in (await chat.ask("Who lives in Umbrathal?")).names
        reads_of = house.services.store.names_read
        assert reads_of.days("default", "towns", PEOPLE[0])
        job = await house.http.post("/admin/graphs/towns/forget", json={"name": PEOPLE[0]}, headers=OPERATOR)
        assert (await house.ended(str(job.json()["id"]), OPERATOR))["state"] == "done"
        assert reads_of.days("default", "towns", PEOPLE[0]) == []
        assert reads_of.days("default", "towns")
