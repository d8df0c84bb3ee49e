"""Pseudonyms: their form and their threads, what each means, on the graph and in the conversation's row."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.follow_ups import needs_context
from app.privacy.pseudonyms import PseudonymTable, draw_word, is_shaped
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn, Topic
from kg_store.terms import NO_MIDS, Hop, Mid, Path, RelationId, Schema, ValueKind, as_mids
from tests.support.clinic import BORN, PARTNER, TREATS, FakeGraph


@given(st.sampled_from("EVS"))
def test_a_drawn_word_has_its_letter_a_digit_and_a_small_letter(letter: str) -> None:
    word = draw_word(letter, ())  # type: ignore[arg-type]
    assert word[0] == letter
    assert len(word) == 6
    assert is_shaped(word)
    assert any(c.isdigit() for c in word[1:])
    assert any(c.isalpha() for c in word[1:])


def test_a_word_that_is_taken_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = iter("a1b2c" * 2 + "zzzzz" + "12345" + "d3e4f")
    monkeypatch.setattr("secrets.choice", lambda _letters: next(letters))
    # Taken, no digit, no letter: three draws are thrown away.
    assert draw_word("E", {"Ea1b2c"}) == "Ed3e4f"


SCHEMA = Schema((), (), ())
TURNS = ("Who treats E11aaa?", "It is S22bbb.", "Where does S22bbb work?", "In S33ccc.")


def dialogue(question: str, *, newest: bool = True, leans: bool = False) -> SafeDialogue:
    roles = ("user", "assistant")
    turns = [SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate((*TURNS, question))]  # type: ignore[arg-type]
    return SafeDialogue(tuple(turns), (Topic("E11aaa", as_mids([1]), newest=newest),), leans)


@pytest.mark.parametrize(
    "question", ["Who treats her?", "Is E11aaa in that ward?", "Does E11aaa live there too?", "Which is the same one?"]
)  # fmt: skip
def test_words_that_mean_something_earlier_lean_on_it(question: str) -> None:
    assert needs_context(dialogue(question))


@pytest.mark.parametrize("question", ["Who treats E11aaa?", "the films that share actors with E11aaa were by whom"])
def test_a_question_that_names_what_it_asks_about_leans_on_nothing(question: str) -> None:
    assert not needs_context(dialogue(question))


def test_a_question_that_names_nothing_or_was_completed_leans() -> None:
    assert needs_context(dialogue("How many are old?", newest=False))
    assert needs_context(dialogue("Who treats E11aaa?", leans=True))


def asked(*leaning: bool) -> tuple[PseudonymTable, list[dict[str, str]], list[int | None]]:
    """A conversation of answers a0, a1, ..., each about thing 1 and one new thing."""
    table, earlier = PseudonymTable.new(), []
    for number, leans in enumerate(leaning):
        earlier.append(table.assign_thread(f"a{number}", leans))
        table.of_entity(Mid(1))
        table.of_entity(Mid(10 + number))
    return table, [table.wire_pseudonyms(SCHEMA, f"a{number}") for number in range(len(leaning))], earlier


def test_a_thread_has_its_own_words_and_the_one_that_leans_on_it_has_the_same() -> None:
    _, (first, second, third, fourth), earlier = asked(False, True, False, True)
    assert earlier == [0, 1, 0, 1]
    assert first == second
    assert third == fourth
    assert not set(first.values()) & set(third.values())
    assert first.keys() == third.keys()


def test_a_conversation_that_begins_by_leaning_is_one_thread_and_sends_its_pseudonyms_as_they_are() -> None:
    _, words, earlier = asked(True, True)
    assert (words, earlier) == ([{}, {}], [None, None])


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_words_are_one_to_one_shaped_alike_and_the_same_after_reopening(leaning: list[bool]) -> None:
    table, words, _ = asked(*leaning)
    again = PseudonymTable.from_bytes(table.to_bytes(SCHEMA), SCHEMA)
    assert again.answers == table.answers == tuple(f"a{number}" for number in range(len(leaning)))
    for number, sent in enumerate(words):
        assert len(set(sent.values())) == len(sent)
        assert all(own[0] == word[0] and len(own) == len(word) for own, word in sent.items())
        assert again.wire_pseudonyms(SCHEMA, f"a{number}") == sent


def test_each_thread_has_its_own_order() -> None:
    keys = [str(number) for number in range(30)]
    table, orders = PseudonymTable.new(), []
    for number, leans in enumerate((False, True, False)):
        table.assign_thread(f"a{number}", leans)
        orders.append(table.shuffled_order(keys))
    assert orders[0] == orders[1] != orders[2]


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


def test_a_set_is_told_by_where_it_starts_and_how_it_goes_on(table: PseudonymTable) -> None:
    one, two = table.of_entity(Mid(1)), table.of_entity(Mid(2))
    words = {table.of_set(start, path, as_mids([3])) for start in (one, two) for path in (PATIENTS, BIRTHS, SPOUSES)}
    assert len(words) == 6
    assert table.of_set(one, PATIENTS, as_mids([99])) in words  # Members may change, the set is the same.


def test_a_literal_has_one_pseudonym_however_it_is_spelled(table: PseudonymTable) -> None:
    assert table.of_literal("Zorbon  City", ValueKind.TEXT) == table.of_literal("ZORBON city", ValueKind.TEXT)


def test_a_public_term_has_another_pseudonym_than_the_same_words_in_a_turn(table: PseudonymTable) -> None:
    term = table.of_public_term("price")
    assert term == table.of_public_term("price")
    assert term != table.of_literal("price", ValueKind.TEXT)


def test_no_repr_shows_a_mid_or_a_literal(table: PseudonymTable) -> None:
    words = [table.of_entity(Mid(987654321)), table.of_literal("Zorbon", ValueKind.TEXT)]
    shown = repr([table.meaning(word) for word in words]) + repr(table) + repr(table._state)
    assert "987654321" not in shown
    assert "Zorbon" not in shown


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


def test_a_set_is_walked_and_tells_where_its_members_hang(table: PseudonymTable, graph: FakeGraph) -> None:
    one = table.of_entity(Mid(1))
    mids, edges = table.resolve(table.of_set(one, BIRTHS, NO_MIDS), graph)
    assert mids.tolist() == [21, 22]
    assert edges is not None
    assert list(zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)) == [(2, 21), (3, 21), (4, 22)]


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
