"""Answers as words in order: every expression has its words, and no words make anything but an expression."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.endpoint.answer_words import (
    MAX_WORDS,
    WORDS,
    TreeError,
    expression_of,
    flat,
    step_reply_of,
    tree_of,
    tree_of_reply,
)
from app.llm.tasks import StepReply
from kg_store.algebra.expressions import parse

LABELS = ("lives in", "^treated by", "has admission|admitted to", "count")
OFFERED = (*WORDS, "Eq7f2k", "Vx81zp", "Sk3mmd", "way(1)", "way(2)", "hint", *LABELS)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("Eq7f2k", ["Eq7f2k"]),
        ("way(2)", ["way(2)"]),
        ('count(reach(Eq7f2k, "lives in"))', ["count", "reach", "Eq7f2k", "lives in"]),
        ('filter(way(1), "born on", <, Vx81zp)', ["filter", "way(1)", "born on", "<", "Vx81zp"]),
        ('limit(sort(Sk3mmd, "a|^b", descending), 3)', ["limit", "sort", "Sk3mmd", "a|^b", "descending", "3"]),
        ('most(Sk3mmd, "a", "b")', ["most", "Sk3mmd", "a", "b"]),
        ('intersect(most(Sk3mmd, "a"), Eq7f2k)', ["intersect", "most", "Sk3mmd", "a", "Eq7f2k"]),
        ('counted(Sk3mmd, "a", >, 3, Eq7f2k)', ["counted", "Sk3mmd", "a", ">", "3", "Eq7f2k"]),
        ('sums(Sk3mmd, "a", "b", month)', ["sums", "Sk3mmd", "a", "b", "month"]),
        ("sum(Sk3mmd)", ["sum", "Sk3mmd"]),
        ('minus(sum(Sk3mmd), max(Eq7f2k, "q"))', ["minus", "sum", "Sk3mmd", "max", "Eq7f2k", "q"]),
        ('reach(Sk3mmd, "count")', ["reach", "Sk3mmd", "count"]),
        ('reach(Sk3mmd, "Rz9y8x")', ["reach", "Sk3mmd", "Rz9y8x"]),
    ],
)
def test_an_expression_and_its_words_are_the_same(expression: str, words: list[str]) -> None:
    assert tree_of(expression) == words
    assert expression_of(words) == expression


def test_more_than_two_sets_are_taken_two_by_two() -> None:
    assert (
        expression_of(tree_of("intersect(Eq7f2k, Ex1y2z, Sk3mmd)")) == "intersect(Eq7f2k, intersect(Ex1y2z, Sk3mmd))"
    )


@pytest.mark.parametrize(
    "reply",
    [
        StepReply(action="not_in_graph"),
        StepReply(action="follow"),
        StepReply(action="follow", choices=[3, 1]),
        StepReply(action="answer", answer=["count(way(2))"]),
        StepReply(action="answer", answer=["Eq7f2k", 'reach(Eq7f2k, "lives in")']),
    ],
)
def test_every_kind_of_reply_has_its_words(reply: StepReply) -> None:
    assert step_reply_of(tree_of_reply(reply)) == reply


def test_the_hint_stands_for_its_expression() -> None:
    assert step_reply_of(["count", "hint"], "way(2)").answer == ["count(way(2))"]
    with pytest.raises(TreeError):
        step_reply_of(["hint"])


@pytest.mark.parametrize(
    "words",
    [[], ["count"], ["Eq7f2k", "Eq7f2k"], ["follow"], ["follow", "Eq7f2k"], ["both", "Eq7f2k"], ["lives in"],
     ["reach", "Eq7f2k", "<"], ["limit", "Eq7f2k", "lives in"], ["exists", "none"], ["more", "Eq7f2k"]],
)  # fmt: skip
def test_words_that_mean_nothing_are_refused(words: list[str]) -> None:
    with pytest.raises(TreeError):
        step_reply_of(words)


@pytest.mark.parametrize("value", [5, None, {"a": 1}, [["count"], 5], ["way(1)"] * (MAX_WORDS + 1)])
def test_what_is_no_list_of_words_is_refused(value: Any) -> None:
    with pytest.raises(TreeError):
        flat(value)


@given(st.lists(st.sampled_from(OFFERED), max_size=MAX_WORDS))
def test_whatever_is_chosen_is_an_expression_that_parses_or_is_refused(words: list[str]) -> None:
    try:
        reply = step_reply_of(words, "way(1)")
    except TreeError:
        return
    for expression in reply.answer:
        parse(expression.replace("way(1)", "WAY1").replace("way(2)", "WAY2"))


@pytest.mark.parametrize(
    ("words", "expression"),
    [
        ("group S e_b then c", 'group(S, "e_b then c")'),
        ("group S a then b then c year", 'group(S, "a then b then c", year)'),
        ("sums S a then b m", 'sums(S, "a then b", "m")'),
        ("reach S a then b", 'reach(reach(S, "a"), "b")'),
        ("argmax S back minus taken", 'argmax(S, "back minus taken")'),
        ("averages S a then b back minus taken", 'averages(S, "a then b", "back minus taken")'),
        ("filter S back minus taken > V", 'filter(S, "back minus taken", >, V)'),
        ("minus sum S a sum S b", 'minus(sum(S, "a"), sum(S, "b"))'),
        ("minus minus S S V", "minus(minus(S, S), V)"),
        ("pairs S a b then c", 'pairs(S, "a", "b then c")'),
    ],
)
def test_relations_stand_in_a_row_or_differ(words: str, expression: str) -> None:
    stand_ins = {"S": "Sk3mmd", "V": "Vx81zp"}
    said = [stand_ins.get(word, word) for word in words.split()]
    meant = re.sub(r"\b[SV]\b", lambda found: stand_ins[found[0]], expression)
    assert expression_of(said) == meant


@pytest.mark.parametrize(
    ("words", "at", "wants"),
    [
        (["argmax", "lives in", "Sk3mmd"], 1, {"s"}),
        (["filter", "Sk3mmd", "lives in", "Vx81zp"], 3, {"o"}),
        (["filter", "Sk3mmd", "lives in", ">"], 4, {"m", "s"}),
        (["sort", "Sk3mmd", "lives in"], 3, {"d"}),
        (["reach", "Sk3mmd", "Vx81zp"], 2, {"r"}),
        (["reach", "Sk3mmd", "lives in", "then"], 4, {"r"}),
        (["count", "Sk3mmd", "Sk3mmd"], 2, {""}),
        (["both", "Sk3mmd", "count"], 3, {"s"}),
    ],
)
def test_an_error_says_where_the_words_go_wrong(words: list[str], at: int, wants: set[str]) -> None:
    with pytest.raises(TreeError) as caught:
        step_reply_of(words)
    assert (caught.value.at, caught.value.wants) == (at, wants)
