"""Measures of replies, each with values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from evaluation.dialogue.anonymised import pseudonyms
from evaluation.dialogue.dialogue_sets import (
    DialogueTurn,
    SpanQuestion,
    Triple,
    estimate,
    graph_of,
    names_of,
    squad_f1,
)
from evaluation.dialogue.replies import (
    ReplyQuestions,
    all_triples,
    bleu,
    distinct,
    embedded_replies,
    gold_replies,
    kqa_scores,
    reply_figures,
    reply_input,
    rouge,
)

WROTE: Triple = ("Wexdol", "written by", "Gorfen Bradol")
ALSO: Triple = ("Wexdol", "written by", "Narvost")
OTHER: Triple = ("Pellquin", "written by", "Tarvlum")
GRAPH = graph_of({WROTE, ALSO, OTHER, ("Pellquin", "has genre", "Drama")})
TURN = DialogueTurn("1", "d", (("user", "Who wrote Wexdol?"),), (WROTE,), "Gorfen Bradol did.")
QUESTION = SpanQuestion("", "Wexdol", "written by", False, ("Gorfen Bradol", "Narvost"), "1", "d")


def test_a_fact_between_history_and_gold_reply_asks_for_all_that_the_graph_has() -> None:
    assert ReplyQuestions(GRAPH).of(TURN) == [QUESTION]


def test_the_known_end_may_be_the_tail() -> None:
    turn = DialogueTurn("1", "d", (("user", "I like Narvost."),), (), "Then read Wexdol.")
    (question,) = ReplyQuestions(GRAPH).of(turn)
    assert (question.known, question.unknown_is_head, question.acceptable) == ("Narvost", True, ("Wexdol",))
    assert question.triplet == "(X, written by, Narvost)"


def test_a_gold_fact_is_asked_for_where_the_reply_spells_it_otherwise() -> None:
    turn = DialogueTurn("1", "d", (("user", "Who wrote Wexdol?"),), (WROTE,), "G. Bradol did.")
    assert ReplyQuestions(GRAPH).of(turn) == [QUESTION]
    unasked = DialogueTurn("1", "d", (("user", "Hello."),), (WROTE,), "Gorfen Bradol wrote Wexdol.")
    assert ReplyQuestions(GRAPH).of(unasked) == []


class Fixed:
    """An extractor that says the same of everything."""

    def __init__(self, *spans: str) -> None:
        self._spans = spans
        self.seen: list[SpanQuestion] = []

    def answers_to(self, batch: Sequence[SpanQuestion]) -> list[tuple[str, ...]]:
        self.seen += batch
        return [self._spans for _ in batch]


def test_kqa_reads_history_and_reply_together() -> None:
    extractor = Fixed("nobody", "the Gorfen")
    assert kqa_scores([QUESTION], {"1": TURN}, {"1": "He did."}, extractor.answers_to) == [(0.0, pytest.approx(2 / 3))]
    assert extractor.seen == [replace(QUESTION, context="Who wrote Wexdol? He did.")]
    assert kqa_scores([QUESTION], {"1": TURN}, {"1": ""}, Fixed("NARVOST!").answers_to) == [(1.0, 1.0)]
    assert kqa_scores([QUESTION], {"1": TURN}, {"1": ""}, Fixed().answers_to) == [(0.0, 0.0)]


def test_shares_of_words() -> None:
    assert squad_f1("the cat sat", ["A cat sat down"]) == pytest.approx(2 * 2 / (2 + 3))
    assert squad_f1("Gorfen Bradol wrote Wexdol", QUESTION.acceptable) == pytest.approx(2 * 2 / (4 + 2))


def test_variety() -> None:
    assert distinct(["a b a", "A c"], 1) == pytest.approx(3 / 5)
    assert distinct(["a b a", "A c"], 2) == pytest.approx(3 / 3)
    assert distinct(["one"], 2) == 0.0


def test_bleu_by_hand() -> None:
    # Of six words five are right, of five pairs three, of four triples one; as long as the gold reply.
    found = bleu(["the cat sat on the mat"], ["The cat is on the mat"])
    assert found[0] == pytest.approx(5 / 6)
    assert found[1] == pytest.approx(math.sqrt(5 / 6 * 3 / 5))
    assert found[2] == pytest.approx((5 / 6 * 3 / 5 * 1 / 4) ** (1 / 3))
    short = bleu(["the cat"], ["the cat sat on"])
    assert short[0] == pytest.approx(math.exp(1 - 4 / 2)), "the penalty for short replies"
    assert bleu([], []) == (0.0,) * 4


def test_rouge_by_hand() -> None:
    found = rouge(["the cat sat on the mat", ""], ["the cat is on the mat", "so"])
    assert found == pytest.approx((5 / 6 / 2, 3 / 5 / 2, 5 / 6 / 2))
    assert rouge([], []) == (0.0,) * 3


def test_an_interval_is_drawn_by_dialogue() -> None:
    same = estimate([0.5, 0.5, 0.5], ["a", "a", "b"])
    assert (same.mean, same.low, same.high, same.of) == (0.5, 0.5, 0.5, 3)
    two = estimate([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"], seed=1)
    assert (two.mean, two.low, two.high) == (0.5, 0.0, 1.0), "two dialogues: one of four samples holds one alone"
    many = estimate([float(at % 2) for at in range(400)], [str(at) for at in range(400)], seed=1)
    assert 0.44 < many.low < 0.46 < many.mean == 0.5 < 0.54 < many.high < 0.56
    assert many == estimate([float(at % 2) for at in range(400)], [str(at) for at in range(400)], seed=1)
    assert estimate([], []).of == 0


def test_figures_of_a_writer() -> None:
    turns = [TURN, DialogueTurn("2", "e", (("user", "Who wrote Pellquin?"),), (OTHER,), "Tarvlum did.")]
    questions = [question for turn in turns for question in ReplyQuestions(GRAPH).of(turn)]
    gold = reply_figures(turns, ["Gorfen Bradol did.", "Tarvlum did."], questions)
    assert (gold.questions, gold.string_match.mean, gold.unigram_f1.mean, gold.rouge) == (2, 1.0, 1.0, (1.0,) * 3)
    assert gold.kqa_f1 is None
    assert gold.bleu[0] == pytest.approx(1.0)
    assert gold.distinct == (4 / 5, 3 / 3)
    assert gold.length == 5 / 2
    # "wexdol written by gorfen bradol narvost" are six words, of which the reply has two of its three, and so on.
    assert gold.knowledge_f1.mean == pytest.approx((2 * 2 / (3 + 6) + 2 * 1 / (2 + 4)) / 2)
    half = reply_figures(turns, ["it was narvost, I think", "It was Tarvluma"], questions, Fixed("Narvost").answers_to)
    assert half.string_match.mean == 0.5
    assert half.kqa_exact is not None
    assert half.kqa_exact.mean == 0.5


TOLD = DialogueTurn(
    "1", "d", (), (("Wexdol", "written by", "Gorfen"),), "It was Gorfen.", (("Wexdol", "has genre", "Drama"),)
)


def test_replies_need_no_model_where_they_are_known() -> None:
    assert gold_replies([TOLD]) == ["It was Gorfen."]
    assert all_triples([TOLD]) == ["Wexdol has genre Drama. Wexdol written by Gorfen."]


SPOKEN = DialogueTurn(
    "1",
    "d",
    (("user", "Do you know Wexdol of Gorfen?"), ("assistant", "Yes."), ("user", "Who is in Wexdol, and what else?")),
    (("Narvost", "sequel", "Wexdol"), ("Wexdol", "starred actors", "Pellquin")),
    so_far=(("Wexdol", "written by", "Gorfen"),),
)
NAMES = ("Wexdol", "Gorfen", "Narvost", "Pellquin")


def test_the_reasoner_inside_is_shown_nothing_but_pseudonyms() -> None:
    words = pseudonyms(sorted(names_of(SPOKEN.knowledge)), SPOKEN.id)
    given = reply_input(SPOKEN, words)
    told = [f"{fact.start} {fact.path[0]} {fact.end}" for fact in (given.evidence[at] for at in given.ranked)]
    # What the history has told already comes last; a fact leads from what was spoken of.
    wanted = [
        ("Wexdol", "^sequel", "Narvost"),
        ("Wexdol", "starred actors", "Pellquin"),
        ("Wexdol", "written by", "Gorfen"),
    ]
    assert told == [f"{words[start]} {way} {words[end]}" for start, way, end in wanted]
    assert not [name for name in NAMES if name in given.model_dump_json()]
    assert {thing.concept for thing in given.things} == {"film", "person"}
    assert [turn.role for turn in given.dialogue] == ["user", "assistant"]
    assert given.question.startswith("Who is in E")


def test_names_come_back_into_what_the_reasoner_inside_writes() -> None:
    (reply,) = embedded_replies([SPOKEN])
    assert "Pellquin" in reply
    assert not [word for word in pseudonyms(sorted(NAMES), SPOKEN.id).values() if word in reply]


def test_a_turn_without_history_is_shown_as_such() -> None:
    given = reply_input(DialogueTurn("1", "d", (), (WROTE,)), pseudonyms(["Gorfen Bradol", "Wexdol"], "1"))
    assert (given.question, given.things) == ("", [])
