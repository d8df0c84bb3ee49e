"""The measure of masked relations: which are chosen, what is said of them, and how the scripted endpoint reads it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from evaluation.fakes.scripted_replies import Unmasked
from evaluation.tables.masked_table import SHARES, Masked, choices
from kg_store.sources.policy import Policy

BLOCK = json.dumps(
    {
        "question": "who R12abc it?",
        "candidates": [{"number": 1, "start": "Eq7f2k", "path": ["^R12abc|lives in"], "concept": "thing"}],
        "masked_relations": [{"relation": "R12abc", "means": "what somebody does for a living"}],
    }
)
MEANINGS = {"what somebody does for a living": "profession"}


@pytest.mark.parametrize("graph", ["metaqa", "pathquestion"])
def test_larger_shares_mask_what_smaller_ones_do(graph: str) -> None:
    found = [each for each in choices(graph, seed=3) if each.described]
    assert [each.share for each in found] == list(SHARES)
    assert [len(each.means) for each in found] == {"metaqa": [0, 2, 5, 9], "pathquestion": [0, 3, 7, 13]}[graph]
    for smaller, larger in pairwise(found):
        assert smaller.means.items() <= larger.means.items()
    assert choices(graph, seed=3) == choices(graph, seed=3) != choices(graph, seed=4)


@pytest.mark.parametrize("graph", ["metaqa", "pathquestion"])
def test_no_description_holds_what_it_stands_in_the_place_of(graph: str) -> None:
    everything = choices(graph, seed=0)[-2]
    for text in everything.means.values():
        assert not any(f" {words} " in f" {text} " for words in everything.own_words())


def test_a_policy_keeps_what_it_said() -> None:
    policy = Policy.from_toml(Masked(1.0, True, {"a_b": "so", "c": ""}).policy("[relations.a_b]\nlinkable = false\n"))
    assert (policy.of("a_b").mask, policy.of("a_b").linkable, policy.of("a_b").description) == (True, False, "so")
    assert (policy.of("c").mask, policy.of("c").description) == (True, None)


def test_a_question_needs_what_its_path_walks_either_way() -> None:
    masked = Masked(0.5, False, {"place_of_birth": ""})
    for path, needed in ((("^place of birth",), True), (("place_of_birth|x",), True), (("spouse",), False)):
        plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=path)}, answer=("A",))
        question = Question.model_validate({"id": "1", "question": "?", "answers": [], "plan": plan.model_dump()})
        assert masked.is_needed(question) == needed


def test_the_scripted_endpoint_reads_descriptions_and_answers_in_opaque_words() -> None:
    read = Unmasked.read(BLOCK, MEANINGS)
    assert json.loads(read.block)["candidates"][0]["path"] == ["^profession|lives in"]
    reply = json.dumps({"answer": ['reach(Sk3mmd, "^profession|lives in")', "Eq7f2k"]})
    assert json.loads(read.in_its_words(reply))["answer"] == ['reach(Sk3mmd, "^R12abc|lives in")', "Eq7f2k"]


def test_a_description_that_it_does_not_know_stays_unread() -> None:
    assert json.loads(Unmasked.read(BLOCK, {"other": "profession"}).block) == json.loads(BLOCK)
    assert Unmasked.read(BLOCK, {}).block == BLOCK
    assert Unmasked.read(BLOCK, {}).in_its_words("{}") == "{}"
