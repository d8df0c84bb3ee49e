"""Every family makes the cases that it says, and the judge finds each of them where it is sent as it was typed."""

from __future__ import annotations

from random import Random

import pytest

from evaluation.attacks.forms.corpus.words import sentences
from evaluation.attacks.forms.families import Case, family_cases, words_of
from evaluation.attacks.forms.judge import Judge, can_be_judged
from tests.evaluation.attacks.forms.made_cases import NAMES, payload

RELATIONS = ["approvedByDrBrackwede", "hasGlimdossier"]


def cases_of(language: str, count: int) -> dict[str, list[Case]]:
    by_family: dict[str, list[Case]] = {}
    for case in family_cases(NAMES, [NAMES], RELATIONS, language, Random(3), count):
        by_family.setdefault(case.family, []).append(case)
    return by_family


@pytest.mark.parametrize("language", sorted(sentences()))
def test_a_case_is_found_where_it_is_sent_as_it_was_typed(language: str) -> None:
    by_family = cases_of(language, 12)
    assert sorted(int(family.split(" ")[0]) for family in by_family) == list(range(1, 11))
    for family, cases in by_family.items():
        judged = [case for case in cases if can_be_judged(case)]
        assert len(cases) >= 8, family
        assert len(judged) >= len(cases) // 2, family
        for case in judged:
            earlier = f"{case.turns[0][1]} {case.turns[len(case.turns) // 2][1]}"
            sent = [payload(case.turns[-1][1], earlier=earlier)]
            assert Judge(()).judge(case, sent).leaked, (family, case.typed.form)


def test_forms_are_drawn_evenly() -> None:
    assert len({case.typed.form for case in cases_of("en", 40)["8 look-alike letters"]}) == 40


def test_the_same_seed_gives_the_same_cases() -> None:
    first, second = (cases_of("de", 20)["3 surnames alone"] for _ in range(2))
    assert [case.turns for case in first] == [case.turns for case in second]


def test_names_stand_in_earlier_turns_of_both_sides_too() -> None:
    roles = {tuple(role for role, _ in case.turns) for case in cases_of("en", 80)["3 surnames alone"]}
    assert {("user",), ("user", "assistant", "user")} == roles


def test_a_local_name_is_read_by_its_humps() -> None:
    assert words_of("approvedByDrBrackwede") == ["approved", "by", "dr", "brackwede"]
    assert words_of("hasHTTPCode7") == ["has", "http", "code", "7"]
