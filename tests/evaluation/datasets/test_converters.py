"""Converters: small files in the form of each public set, and the real ones where they are at hand."""

import json
import os
from pathlib import Path

import pytest

from evaluation.datasets.converters import Converted, convert
from evaluation.datasets.derived_sets import half_of_wording
from evaluation.datasets.questions import Question, QuestionsError, read_questions

pytestmark = pytest.mark.slow

DATA = Path(os.environ.get("AROG_DATA", Path(__file__).parents[4] / "shared" / "data"))


def only_question(converted: Converted) -> Question:
    (question,) = read_questions(converted.questions)
    return question


def test_path_question_is_typed_with_spaces_and_planned_by_its_gold_relations(tmp_path: Path) -> None:
    (tmp_path / "T.kb.tsv").write_text("ann_lee\tspouse\tbo\nbo\tplace_of_birth\tulm\n")
    record = {
        "id": "T-0", "question": "where was ann_lee 's couple born ?", "topic_entity": "ann_lee",
        "answers": ["ulm"], "gold_relations": ["spouse", "place_of_birth"],
    }  # fmt: skip
    (tmp_path / "T.jsonl").write_text(json.dumps(record))
    converted = convert("pathquestion", tmp_path / "T.jsonl", tmp_path / "out")
    question = only_question(converted)
    assert question.question == "where was ann lee 's couple born ?"
    assert question.plan is not None
    assert question.plan.sets["A"].path == ("spouse", "place of birth")
    assert question.reproduced
    assert converted.graph.read_text() == "ann_lee\tspouse\tbo\nbo\tplace_of_birth\tulm\n"


@pytest.mark.parametrize(
    ("text", "kind", "answers", "answer", "reproduced"),
    [
        ("what does [Ann] act in", "actor_to_movie", "M|N", "A", True),
        ("who acts with [Ann]", "actor_to_movie_to_actor", "Bo", "difference(A, topic:0)", True),
        ("genres of films sharing actors with [M]", "movie_to_actor_to_movie_to_genre", "Drama", "B", True),
        ("genres sharing actors with [M]", "movie_to_actor_to_movie_to_genre", "Drama|Comedy", "B", False),
    ],
)
def test_metaqa_takes_the_topic_out_after_the_second_hop(
    tmp_path: Path, text: str, kind: str, answers: str, answer: str, reproduced: bool
) -> None:
    actors = "M|starred_actors|Ann\nN|starred_actors|Ann\nM|starred_actors|Bo\n"
    (tmp_path / "kb.txt").write_text(actors + "M|has_genre|Comedy\nN|has_genre|Drama")
    (tmp_path / "qa.txt").write_text(f"{text}\t{answers}\n")
    (tmp_path / "qa_qtype.txt").write_text(kind + "\n")
    question = only_question(convert("metaqa", tmp_path / "qa.txt", tmp_path / "out"))
    assert question.plan is not None
    assert question.plan.answer == (answer,)
    assert question.reproduced is reproduced
    assert question.half == half_of_wording(text.replace("[Ann]", "X").replace("[M]", "X"))
    assert "[" not in str(question.question)


def test_webqsp_paths_run_through_mediators(tmp_path: Path) -> None:
    (tmp_path / "triples.tsv").write_text(
        "Ann\tp.marriage\tm.01\tok\nm.01\tp.spouse\tBo\tok\nm.01\tp.spouse\tAnn\tok\n"
    )
    record = {
        "id": "W-0", "question": "who is ann 's husband", "topic_entities": ["Ann"], "answers": ["Bo"],
        "gold_triples": [["Ann", "p.marriage", "m.01"], ["m.01", "p.spouse", "Bo"]], "llm_alone_right": False,
    }  # fmt: skip
    (tmp_path / "questions.jsonl").write_text(json.dumps(record))
    converted = convert("webqsp", tmp_path / "questions.jsonl", tmp_path / "out")
    question = only_question(converted)
    assert question.plan is not None
    assert question.plan.sets["A"].path == ("p.marriage|p.spouse",)
    assert question.filtered
    assert question.reproduced


def test_an_unknown_set_and_a_missing_file_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match="known: pathquestion, metaqa, webqsp"):
        convert("other", tmp_path, tmp_path)
    with pytest.raises(QuestionsError, match="can't be read"):
        convert("metaqa", tmp_path / "qa.txt", tmp_path / "out")


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is not here (AROG_DATA)")
@pytest.mark.parametrize(
    ("name", "file", "count", "reproduced"),
    [
        ("pathquestion", "pathquestion/PQ-2H.jsonl", 1908, 1908),
        ("pathquestion", "pathquestion/PQ-3H.jsonl", 5198, 5198),
        ("metaqa", "metaqa/qa_dev_1hop.txt", 9992, 9478),
        ("metaqa", "metaqa/qa_dev_3hop.txt", 14274, 14274),
    ],
)
def test_gold_plans_give_the_gold_answers(tmp_path: Path, name: str, file: str, count: int, reproduced: int) -> None:
    converted = convert(name, DATA / file, tmp_path)
    assert (converted.count, converted.reproduced) == (count, reproduced)
