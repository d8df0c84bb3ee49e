"""Every family makes the cases that it says, and the judge finds each of them where it is sent as it was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import pytest

from evaluation.attacks.forms.corpus.graph_names import GraphNames
from evaluation.attacks.forms.corpus.sentences import languages
from evaluation.attacks.forms.families.case import Case
from evaluation.attacks.forms.families.labels import dirty_labels, middle_words
from evaluation.attacks.forms.families.look_alikes import look_alikes
from evaluation.attacks.forms.families.names import foreign_names, lone_surnames, names_at_a_start
from evaluation.attacks.forms.families.numbers import values_in_other_words
from evaluation.attacks.forms.families.relations import relation_words, words_of
from evaluation.attacks.forms.families.suffixes import suffixed_names
from evaluation.attacks.forms.families.texts import names_in_texts
from evaluation.attacks.forms.judge import Judge, can_be_judged
from tests.evaluation.attacks.forms.made_cases import NAMES, payload

Make = Callable[[str, Random, int], Iterator[Case]]


def _of(make: Callable[[GraphNames, str, Random, int], Iterator[Case]]) -> Make:
    return partial(make, NAMES)


MAKERS: dict[str, Make] = {
    "1": partial(foreign_names, [NAMES]),
    "2": _of(names_in_texts),
    "3": _of(lone_surnames),
    "4": _of(names_at_a_start),
    "5": _of(middle_words),
    "6": _of(dirty_labels),
    "7": _of(values_in_other_words),
    "8": _of(look_alikes),
    "9": _of(suffixed_names),
    "10": partial(relation_words, ["approvedByDrBrackwede", "hasGlimdossier"]),
}


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("family", MAKERS)
def test_a_case_is_found_where_it_is_sent_as_it_was_typed(family: str, language: str) -> None:
    cases = list(MAKERS[family](language, Random(3), 12))
    judged = [case for case in cases if can_be_judged(case)]
    assert len(cases) >= 8
    assert len(judged) >= len(cases) // 2
    for case in judged:
        sent = [payload(case.turns[-1][1], earlier=case.turns[0][1] + case.turns[len(case.turns) // 2][1])]
        assert Judge(()).judge(case, sent).leaked, case.typed.form
        assert case.family.split(" ")[0] == family


def test_forms_are_drawn_evenly() -> None:
    cases = list(look_alikes(NAMES, "en", Random(0), 40))
    assert len({case.typed.form for case in cases}) == 40


def test_the_same_seed_gives_the_same_cases() -> None:
    first, second = (list(lone_surnames(NAMES, "de", Random(5), 20)) for _ in range(2))
    assert [case.turns for case in first] == [case.turns for case in second]


def test_names_stand_in_earlier_turns_of_both_sides_too() -> None:
    roles = {tuple(role for role, _ in case.turns) for case in lone_surnames(NAMES, "en", Random(0), 80)}
    assert {("user",), ("user", "assistant", "user")} == roles


def test_a_local_name_is_read_by_its_humps() -> None:
    assert words_of("approvedByDrBrackwede") == ["approved", "by", "dr", "brackwede"]
    assert words_of("hasHTTPCode7") == ["has", "http", "code", "7"]
