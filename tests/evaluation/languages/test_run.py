"""The questions in other languages: their gold is in their tables, and each half has its shares."""

from __future__ import annotations

import csv
from itertools import chain

import pytest

from evaluation.bench.question_sets import Show
from evaluation.datasets.questions import QuestionsError
from evaluation.languages import run
from evaluation.languages.run import CODES, FILES, SETS, TABLES, AskedInLanguage, _questions, _shares, run_languages
from evaluation.natural.verdicts import Gold, NaturalQuestion


def test_each_gold_answer_of_the_seen_half_is_a_cell_of_its_tables() -> None:
    lines = {
        graph: [(SETS / name).read_text("utf-8").splitlines() for name in names] for graph, names in TABLES.items()
    }
    cells = {graph: {*chain(*(row for rows in of for row in csv.reader(rows)))} for graph, of in lines.items()}
    asked = _questions("seen")
    assert len(asked) == 30
    told = [each for each in asked if each.gold.type in ("entities", "values")]
    assert len(told) > 15
    assert all({*each.gold.texts} <= cells[each.graph] for each in told)


def test_both_halves_have_ten_questions_of_each_language_and_no_question_twice() -> None:
    every = [(half, each) for half in FILES for each in _questions(half)]
    assert {(half, graph): 10 for half in FILES for graph in TABLES} == {
        (half, graph): sum((half, graph) == (mine, each.graph) for mine, each in every)
        for half in FILES
        for graph in TABLES
    }
    assert len({each.question for _, each in every}) == len(every)


def test_names_of_relations_have_a_question_in_each_language() -> None:
    with (SETS / "relations.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="|"))
    assert len(rows) == 30
    assert all(row[f"{what}_{code}"] for row in rows for what in ("label", "question") for code in CODES)


def test_a_bound_is_missed_where_answers_are_wrong() -> None:
    question = NaturalQuestion(id="a", graph="german", kind="x", question="q", gold=Gold(type="number", items=(1,)))
    found = [AskedInLanguage("shut", question, verdict) for verdict in ("right", "wrong")]
    right, wrong, _ = _shares("shut half", found, is_bound=True)
    assert (right.passed, wrong.passed) == (False, False)


async def test_without_the_model_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "is_installed", lambda: False)
    show: Show = lambda *_said: None  # noqa: E731
    with pytest.raises(QuestionsError, match="multilingual"):
        await run_languages(show)
