from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from app.privacy.pseudonyms import PseudonymTable
from kg_store.terms import NO_MIDS, Hop, Mid, Path, RelationId, ValueKind, as_mids
from tests.support.clinic import BORN, PARTNER, TREATS, FakeGraph

PATIENTS: Path = ((Hop(RelationId(TREATS)),),)
BIRTHS: Path = (*PATIENTS, (Hop(RelationId(BORN)),))
SPOUSES: Path = ((Hop(RelationId(PARTNER), inverse=True), Hop(RelationId(PARTNER))),)


def reopened(table: PseudonymTable, before: FakeGraph, after: FakeGraph | None = None) -> PseudonymTable:
    return PseudonymTable.from_bytes(table.to_bytes(before.schema), (after or before).schema)


def issue_all(table: PseudonymTable) -> list[str]:
    one = table.of_entity(Mid(1))
    return [
        one,
        table.of_value(Mid(21), ValueKind.DATE),
        table.of_set(one, PATIENTS, as_mids([2, 3, 4])),
        table.of_set(one, BIRTHS, as_mids([21, 22])),
        table.of_kind("patient", as_mids([2, 3, 4])),
        table.of_group([2, 3]),
        table.of_literal("Zorbon", ValueKind.TEXT),
        table.of_literal("Zorbon", ValueKind.NUMBER),
        table.of_outcome(f"count({one})"),
        table.of_outcome(f"sort({one})", as_mids([2, 3])),
    ]


def test_each_thing_has_one_pseudonym_and_no_two_things_share_one(table: PseudonymTable) -> None:
    first = issue_all(table)
    assert issue_all(table) == first
    assert len(set(first)) == len(first)
    assert "".join(word[0] for word in first) == "EVSSSSVVVS"
    assert table.issued == frozenset(first)


def test_an_entity_and_a_value_never_share_a_pseudonym(table: PseudonymTable) -> None:
    assert table.of_entity(Mid(5)) != table.of_value(Mid(5))


def test_a_set_is_told_by_where_it_starts_and_how_it_goes_on(table: PseudonymTable) -> None:
    one, two = table.of_entity(Mid(1)), table.of_entity(Mid(2))
    words = {table.of_set(start, path, as_mids([3])) for start in (one, two) for path in (PATIENTS, BIRTHS, SPOUSES)}
    assert len(words) == 6
    assert table.of_set(one, PATIENTS, as_mids([99])) in words  # Members may change, the set is the same.


def test_a_group_is_told_by_its_members_in_any_order(table: PseudonymTable) -> None:
    assert table.of_group([3, 2, 3]) == table.of_group(as_mids([2, 3]))


def test_a_literal_has_one_pseudonym_however_it_is_spelled(table: PseudonymTable) -> None:
    assert table.of_literal("Zorbon  City", ValueKind.TEXT) == table.of_literal("ZORBON city", ValueKind.TEXT)


def test_meanings_say_what_was_given(table: PseudonymTable) -> None:
    one = table.of_entity(Mid(1))
    meaning = table.meaning(table.of_set(one, PATIENTS, as_mids([3, 2])))
    assert meaning is not None
    assert (meaning.kind, meaning.start, meaning.path, meaning.mids.tolist()) == ("set", one, PATIENTS, [2, 3])
    literal = table.meaning(table.of_literal("12 mg", ValueKind.NUMBER, [7]))
    assert literal is not None
    assert (literal.kind, literal.literal, literal.mids.tolist()) == ("literal", "12 mg", [7])
    outcome = table.meaning(table.of_outcome("count(Sk3mmd)"))
    assert outcome is not None
    assert (outcome.kind, outcome.expression, len(outcome.mids)) == ("outcome", "count(Sk3mmd)", 0)
    assert table.meaning("Ezzzz9") is None


def test_the_kind_of_a_value_is_kept_once_a_mention_told_it(table: PseudonymTable) -> None:
    word = table.of_value(Mid(21), ValueKind.DATE)
    assert table.of_value(Mid(21)) == word
    meaning = table.meaning(word)
    assert meaning is not None
    assert meaning.value_kind is ValueKind.DATE


def test_no_repr_shows_a_mid_or_a_literal(table: PseudonymTable) -> None:
    words = [table.of_entity(Mid(987654321)), table.of_literal("Zorbon", ValueKind.TEXT)]
    shown = repr([table.meaning(word) for word in words]) + repr(table) + repr(table._state)
    assert "987654321" not in shown
    assert "Zorbon" not in shown


def test_known_finds_whole_issued_words_once_and_in_order(table: PseudonymTable) -> None:
    one, two = table.of_entity(Mid(1)), table.of_value(Mid(2))
    assert table.known(f"{two}, {one}; {two}x Ezzzz9 ({one})") == [two, one]


def test_two_conversations_share_no_pseudonym() -> None:
    tables = [PseudonymTable.new() for _ in range(2)]
    one, other = (frozenset(table.of_entity(Mid(mid)) for mid in range(500)) for table in tables)
    assert len(one & other) <= 1  # By chance alone: 500 of 59 million.


def test_pseudonyms_of_values_follow_neither_their_order_nor_when_they_were_met() -> None:
    table = PseudonymTable.new()
    words = [table.of_value(Mid(mid), ValueKind.NUMBER) for mid in range(2_000)]
    assert {(len(word), word[0]) for word in words} == {(6, "V")}
    place = {word: at for at, word in enumerate(sorted(words))}
    # Of 2,000 words in random order these ranks correlate by 0.02, give or take.
    assert abs(np.corrcoef(np.arange(2_000), [place[word] for word in words])[0, 1]) < 0.15


def test_conversations_in_many_threads_never_meet() -> None:
    def talk(number: int) -> tuple[PseudonymTable, dict[str, int]]:
        table = PseudonymTable.new()
        return table, {table.of_entity(Mid(mid)): mid for mid in range(number * 100, number * 100 + 100)}

    with ThreadPoolExecutor(8) as pool:
        for table, issued in pool.map(talk, range(16)):
            assert table.issued == frozenset(issued)
            for word, mid in issued.items():
                meaning = table.meaning(word)
                assert meaning is not None
                assert meaning.mids.tolist() == [mid]


def test_one_conversation_used_by_many_threads_stays_one_to_one(table: PseudonymTable) -> None:
    with ThreadPoolExecutor(8) as pool:
        lists = list(pool.map(lambda _: [table.of_entity(Mid(mid)) for mid in range(200)], range(8)))
    assert all(words == lists[0] for words in lists)
    assert len(set(lists[0])) == 200


def test_facts_have_one_order_in_a_conversation_and_another_in_the_next(
    table: PseudonymTable, graph: FakeGraph
) -> None:
    facts = [f"fact {number}" for number in range(40)]
    ordered = [facts[at] for at in table.in_order(facts)]
    backwards = list(reversed(facts))
    assert [backwards[at] for at in table.in_order(backwards)] == ordered
    assert [facts[at] for at in reopened(table, graph).in_order(facts)] == ordered
    assert [facts[at] for at in PseudonymTable.new().in_order(facts)] != ordered
    assert table.in_order(["same", "same"]) == [0, 1]


# --- what a pseudonym stands for on the graph -----------------------------------------------------------------


def test_things_and_groups_stand_for_their_mids(table: PseudonymTable, graph: FakeGraph) -> None:
    assert table.resolve(table.of_entity(Mid(3)), graph)[0].tolist() == [3]
    assert table.resolve(table.of_group([2, 3]), graph)[0].tolist() == [2, 3]
    assert table.resolve(table.of_literal("12", ValueKind.NUMBER, [22]), graph)[0].tolist() == [22]
    assert table.resolve("Ezzzz9", graph)[0].tolist() == []


def test_a_set_is_walked_and_tells_where_its_members_hang(table: PseudonymTable, graph: FakeGraph) -> None:
    one = table.of_entity(Mid(1))
    mids, edges = table.resolve(table.of_set(one, BIRTHS, NO_MIDS), graph)
    assert mids.tolist() == [21, 22]
    assert edges is not None
    assert list(zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)) == [(2, 21), (3, 21), (4, 22)]


def test_a_set_of_a_set_goes_on_from_its_members(table: PseudonymTable, graph: FakeGraph) -> None:
    patients = table.of_set(table.of_entity(Mid(1)), PATIENTS, NO_MIDS)
    births = table.of_set(patients, BIRTHS[1:], NO_MIDS)
    assert table.resolve(births, graph)[0].tolist() == [21, 22]


def test_through_a_mediator_nobody_meets_themselves(table: PseudonymTable, graph: FakeGraph) -> None:
    two = table.of_entity(Mid(2))
    assert table.resolve(table.of_set(two, SPOUSES, NO_MIDS), graph)[0].tolist() == [3]


def test_a_kind_is_everything_of_its_concept(table: PseudonymTable, graph: FakeGraph) -> None:
    assert table.resolve(table.of_kind("patient", NO_MIDS), graph)[0].tolist() == [2, 3, 4]
    assert table.resolve(table.of_kind("spaceship", NO_MIDS), graph)[0].tolist() == []


# --- the conversation's row -----------------------------------------------------------------------------------


def test_a_reopened_table_gives_the_same_pseudonyms(table: PseudonymTable, graph: FakeGraph) -> None:
    words = issue_all(table)
    again = reopened(table, graph)
    assert again.issued == table.issued
    assert issue_all(again) == words
    meaning = again.meaning(words[3])
    assert meaning is not None
    assert (meaning.start, meaning.path) == (words[0], BIRTHS)


def test_members_of_sets_are_found_anew_on_the_present_version(table: PseudonymTable, graph: FakeGraph) -> None:
    word = table.of_set(table.of_entity(Mid(1)), PATIENTS, as_mids([2, 3, 4]))
    newer = FakeGraph(triples=((1, "urn:treats", 2), (1, "urn:treats", 5)))
    assert reopened(table, graph, newer).resolve(word, newer)[0].tolist() == [2, 5]


def test_paths_follow_relations_whose_ids_change(table: PseudonymTable, graph: FakeGraph) -> None:
    word = table.of_set(table.of_entity(Mid(1)), BIRTHS, NO_MIDS)
    newer = FakeGraph(relations=("urn:new", "urn:partner", "urn:born", "urn:treats"))
    again = reopened(table, graph, newer)
    assert again.resolve(word, newer)[0].tolist() == [21, 22]


def test_a_set_whose_relation_is_gone_is_empty_until_it_comes_back(table: PseudonymTable, graph: FakeGraph) -> None:
    word = table.of_set(table.of_entity(Mid(1)), BIRTHS, NO_MIDS)
    newer = FakeGraph(relations=("urn:treats",))
    lost = reopened(table, graph, newer)
    assert lost.resolve(word, newer)[0].tolist() == []
    assert reopened(lost, newer, graph).resolve(word, graph)[0].tolist() == [21, 22]


def test_the_row_holds_no_text_that_anybody_typed(table: PseudonymTable, graph: FakeGraph) -> None:
    word = table.of_literal("Zorbon 4711", ValueKind.TEXT)
    data = table.to_bytes(graph.schema)
    assert b"orbon" not in data
    assert b"4711" not in json.dumps(json.loads(data)["rows"]).encode()
    again = PseudonymTable.from_bytes(data, graph.schema)
    meaning = again.meaning(word)
    assert meaning is not None
    assert meaning.literal is None
    assert again.of_literal("Zorbon 4711", ValueKind.TEXT) == word
    meaning = again.meaning(word)
    assert meaning is not None
    assert meaning.literal == "Zorbon 4711"


def test_who_was_named_alone_is_kept_and_a_users_word_counts_more(table: PseudonymTable, graph: FakeGraph) -> None:
    table.settle(Mid(1), by_user=False)
    table.settle(Mid(2), by_user=False)
    assert reopened(table, graph).settled_among([3, 2, 1]) == (2, 1)
    table.settle(Mid(1), by_user=True)
    table.settle(Mid(1), by_user=False)
    assert reopened(table, graph).settled_among([3, 2, 1]) == (1,)
    assert table.settled_among([3]) == ()


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff", b"[]", b"null", b"7", b"{}", b'{"form":2}', b'{"form":1}',
        b'{"form":1,"key":"zz","settled":[]}',
        b'{"form":1,"key":"00","settled":[],"rows":[["Ea1b2c"]]}',
        b'{"form":1,"key":"00","settled":[],"rows":[["E",{}]]}',
        b'{"form":1,"key":"00","settled":[],"rows":[["S",{"kind":"set"}]]}',
        b'{"form":1,"key":"00","settled":[],"rows":[["V",{"kind":"literal","value_kind":"colour"}]]}',
    ],
)  # fmt: skip
def test_a_row_in_another_form_is_refused(data: bytes, graph: FakeGraph) -> None:
    with pytest.raises(ValueError, match=r"."):
        PseudonymTable.from_bytes(data, graph.schema)
