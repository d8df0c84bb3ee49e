"""Questions: what a line may hold, and errors that say where without quoting."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.datasets.questions import (
    PlanSet,
    QueryPlan,
    Question,
    QuestionsError,
    compound_questions,
    read_questions,
    write_questions,
)

SECRET = "Zyndra Quillfeather"

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
plans = st.builds(
    QueryPlan,
    sets=st.dictionaries(st.sampled_from(["A", "B", "C1"]), st.builds(PlanSet, start=words, path=st.tuples(words))),
    answer=st.tuples(words),
    text=words,
)
questions = st.builds(
    Question, id=words, question=words, answers=st.tuples(words), plan=st.none() | plans, filtered=st.booleans()
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=st.lists(questions, min_size=1, max_size=5, unique_by=lambda question: question.id))
def test_what_is_written_is_read_again(tmp_path: Path, written: list[Question]) -> None:
    file = tmp_path / "questions.jsonl"
    assert write_questions(written, file) == len(written)
    read = read_questions(file)
    assert read == written
    assert [question.has_plan for question in read] == [True] * len(written)


def test_a_plan_of_null_differs_from_no_plan(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"id": "1", "question": "q", "answers": []}\n{"id": "2", "question": "q", "answers": [], "plan": null}'
    )
    first, second = read_questions(file)
    assert not first.has_plan
    assert second.has_plan
    assert not second.is_answerable


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 3: Invalid JSON"),
        ('{"id": "x", "answers": []}', "either `question` or `turns`"),
        (f'{{"id": "x", "question": "{SECRET}", "answers": 7}}', "line 3: answers"),
        ('{"id": "x", "turns": ["a", "b"], "answers": [], "turn_plans": []}', ""),
        ('{"id": "x", "turns": ["a"], "answers": [], "turn_plans": [null]}', "one plan for each turn"),
        ('{"id": "x", "question": "q", "answers": [], "plan": {"sets": {"a b": {}}, "answer": ["A"]}}', "plan"),
        ('{"id": "1", "question": "q", "answers": []}', "the id stands in an earlier line"),
    ],
)  # fmt: skip
def test_an_error_says_the_line_and_quotes_nothing(tmp_path: Path, line: str, says: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "1", "question": "q", "answers": []}\n\n' + line)
    if not says:
        assert len(read_questions(file)) == 2
        return
    with pytest.raises(QuestionsError) as problem:
        read_questions(file)
    assert says in str(problem.value)
    assert "line 3" in str(problem.value)
    assert SECRET not in str(problem.value)


def test_an_empty_a_missing_and_a_binary_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    for name, says in (("empty", "no question"), ("missing", "can't be read"), ("binary", "UTF-8")):
        with pytest.raises(QuestionsError, match=says):
            read_questions(tmp_path / f"{name}.jsonl")


def test_a_packed_file_is_read_like_any_other_and_a_broken_one_refused(tmp_path: Path) -> None:
    line = Question(id="1", question="who is she", answers=("Ada",)).model_dump_json()
    packed = gzip.compress(line.encode())
    (tmp_path / "whole.jsonl.gz").write_bytes(packed)
    assert [question.id for question in read_questions(tmp_path / "whole.jsonl.gz")] == ["1"]
    for broken in (packed[:20], b"no archive"):
        (tmp_path / "broken.jsonl.gz").write_bytes(broken)
        with pytest.raises(QuestionsError, match="can't be read"):
            read_questions(tmp_path / "broken.jsonl.gz")


@pytest.mark.parametrize("graph", ["metaqa", "opendialkg", "webqsp"])
def test_compound_questions_are_in_two_halves_and_have_answers(graph: str) -> None:
    asked = compound_questions(graph)
    assert {question.half for question in asked} == {"seen", "unseen"}
    assert all(question.is_answerable and question.kind for question in asked)
    assert len({question.id for question in asked}) == len(asked)
