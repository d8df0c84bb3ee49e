"""Facts between a history and a reply: which texts are joined by which facts, and how rare a fact is."""

from __future__ import annotations

import math

import pytest

from evaluation.demands.dialogues import DialoguePair
from evaluation.demands.matching import FactRarity, HardMatcher
from evaluation.dialogue.dialogue_sets import Triple

BOIL: Triple = ("kettle", "UsedFor", "boil water")
EAT: Triple = ("go to restaurant", "HasPrerequisite", "be hungry")
MICE: Triple = ("cat", "Desires", "mouse")
ICE: Triple = ("hockey", "ReceivesAction", "play on ice")
SELF: Triple = ("cats", "RelatedTo", "cat")
STOPS: Triple = ("what", "IsA", "that")
GO: Triple = ("get something", "HasSubevent", "mouse")
MATCHER = HardMatcher([BOIL, EAT, MICE, ICE, SELF, STOPS, GO, BOIL])


@pytest.mark.parametrize(
    ("history", "reply", "fact"),
    [
        (["Is the kettle on ?"], "I boiled water.", BOIL),
        (["I am boiling the water ."], "In two kettles?", BOIL),
        (["Hm .", "My cats are mad .", "Why ?"], "They saw mice !", MICE),
        (["Hockey ?"], "It is played on the ice.", ICE),
        (["I was hungry ."], "So we went to a restaurant.", EAT),
        (["Did you get something ?"], "The cat’s mouse.", GO),
        (["the cat ’ s eyes"], "A mouse-trap", MICE),
    ],
)
def test_ends_are_found_in_any_form_on_either_side(history: list[str], reply: str, fact: Triple) -> None:
    assert fact in MATCHER.facts_between(history, reply)


@pytest.mark.parametrize(
    ("history", "reply"),
    [
        (["The kettle boils water ."], "Good."),
        (["Good ."], "The kettle boils water."),
        (["A kettle ."], "Water boils."),
        (["A kettle ."], "Boil. Water."),
        (["A kettle ."], "Boil or water?"),
        (["I get it ."], "A mouse."),
        (["What ?"], "That."),
        (["One cat ."], "Two cats."),
        (["A cat ."], "Mousetraps."),
        ([], ""),
    ],
)
def test_other_texts_are_not_joined(history: list[str], reply: str) -> None:
    assert MATCHER.facts_between(history, reply) == frozenset()


def test_a_negated_auxiliary_is_no_other_word() -> None:
    matcher = HardMatcher([("win", "Causes", "joy"), ("don", "IsA", "river")])
    assert not matcher.facts_between(["It won't , and I don ’ t ."], "What joy on this river!")
    assert matcher.facts_between(["We won ."], "What joy!")


def test_all_facts_between_two_texts_are_found_and_each_once() -> None:
    facts = [("cat", relation, "mouse") for relation in ("Desires", "CapableOf")]
    assert HardMatcher([*facts, *facts]).facts_between(["cat", "cats"], "mouse and mice") == frozenset(facts)


def test_a_matcher_without_facts_finds_none() -> None:
    assert HardMatcher([]).facts_between(["A cat ."], "A mouse.") == frozenset()


def test_a_fact_counts_once_a_pair_and_one_that_never_came_is_rarest() -> None:
    pairs = [
        DialoguePair("1", ("cat cat",), "mouse mouse"),
        DialoguePair("2", ("cat",), "mouse"),
        DialoguePair("3", ("cat",), "dog"),
    ]
    rarity = FactRarity.of(MATCHER, pairs)
    assert (rarity.pairs, rarity.counts) == (3, {MICE: 2})
    assert rarity.idf(MICE) == pytest.approx(math.log(4 / 3))
    assert rarity.idf(BOIL) == pytest.approx(math.log(4))
    assert FactRarity(2, {MICE: 2}).idf(MICE) == 0
    assert FactRarity.of(MATCHER, []).idf(BOIL) == 0
