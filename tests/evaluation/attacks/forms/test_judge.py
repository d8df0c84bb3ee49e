"""The judge finds a name in whatever letters it left, and blames nobody for what is no name."""

from __future__ import annotations

import pytest

from evaluation.attacks.forms.corpus.words import plain, tokens, undone
from evaluation.attacks.forms.corpus.writing import Piece
from evaluation.attacks.forms.families import LOOK_ALIKES
from evaluation.attacks.forms.judge import Judge, can_be_judged, read_sent
from tests.evaluation.attacks.forms.made_cases import case, payload

JUDGE = Judge({"lives", "in", "choose", "way", "model", "m"})


@pytest.mark.parametrize(
    "said",
    [
        "who treats quillmore now",
        "who treats QUILLMORE now",
        "who treats quillmores now",
        "who treats xquillmorex now",
        "who treats Vx81zp illmore now",
        "who treats q%75illmore now",
        "who treats &#113;uillmore now",
        "who treats qu\u200billmore now",
        "who treats ⓠⓤⓘⓛⓛⓜⓞⓡⓔ now",
        "who treats 𝐪𝐮𝐢𝐥𝐥𝐦𝐨𝐫𝐞 now",
    ],
)
def test_a_name_is_found_however_it_left(said: str) -> None:
    assert JUDGE.judge(case("quillmore"), [payload(said)]).leaked


@pytest.mark.parametrize("kind", sorted(LOOK_ALIKES))
def test_look_alike_letters_that_left_as_they_were_typed_are_found(kind: str) -> None:
    typed = LOOK_ALIKES[kind].format(Piece("quillmore"))
    assert JUDGE.judge(case(typed, "quillmore"), [payload(f"who treats {typed} now")]).leaked


def test_a_pseudonym_in_the_place_of_the_name_is_no_leak() -> None:
    for text in ("quillmore", "dr. quillmore", "öztürk'ün", "rosalind quillmore", "8 September 1960"):
        assert not JUDGE.judge(case(text), [payload("who treats Vx81zp now")]).leaked


def test_a_name_in_an_earlier_turn_or_outside_the_question_is_found() -> None:
    asked = case("quillmore")
    assert JUDGE.judge(asked, [payload("who", earlier="tell me about quillmore")]).leaked == {"quillmore"}
    assert JUDGE.judge(asked, [payload("who", path="approved by quillmore")]).leaked == {"quillmore"}
    assert JUDGE.judge(asked, [b"x-name: quillmore"]).leaked == {"quillmore"}


def test_words_of_the_shown_schema_are_no_leak_where_the_schema_stands() -> None:
    assert not JUDGE.judge(case("lives"), [payload("who", path="lives in")]).leaked


def test_an_everyday_word_is_told_apart_only_in_small_letters_and_where_nothing_speaks_for_a_name() -> None:
    sent = [payload("who treats rose now")]
    assert JUDGE.judge(case("rose"), sent).is_everyday
    assert not JUDGE.judge(case("Rose"), sent).is_everyday
    assert not JUDGE.judge(case("rose", marked=True), sent).is_everyday
    assert not JUDGE.judge(case("smith"), [payload("who treats smith now")]).is_everyday


def test_titles_particles_and_initials_that_are_left_say_nothing() -> None:
    assert not JUDGE.judge(case("dr. j. quillmore", "quillmore"), [payload("who treats dr. j. Vx81zp now")]).leaked
    spaced = " ".join("quillmore")
    assert JUDGE.judge(case(spaced, "quillmore"), [payload(f"who treats {spaced} now")]).leaked


def test_every_figure_of_a_value_counts() -> None:
    assert JUDGE.judge(case("8 September 1960", "1960-09-08"), [payload("who treats 8 Vx81zp Vx81zq now")]).leaked == {
        "8"
    }


def test_a_sentence_that_holds_a_word_of_the_name_is_not_judged() -> None:
    assert not can_be_judged(case("may", carrier="who may treat {}"))
    assert not can_be_judged(case("dr."))
    assert can_be_judged(case("quillmore"))


def test_what_is_said_is_told_from_the_rest() -> None:
    sent = read_sent([payload("who is it", path="lives in"), b"not json"])
    assert "who is it" in sent.said
    assert {"lives in", "not json"} <= set(sent.rest)


def test_text_is_read_as_a_person_reads_it() -> None:
    assert plain("Đặng ÖZTÜRK Łukasz ß") == "dang ozturk lukasz ss"
    assert tokens("🇲🇺🇱 ꓟꓴꓡ ｍｕ") == ["mul", "mul", "mu"]
    assert undone("m&amp;uuml;ller br%C3%B6 \\u00fc") == "müller brö ü"
