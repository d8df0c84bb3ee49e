"""Sets of dialogues: one spelling of a fact, turns of one dialogue together and what they know, mentions, candidates,
made-up turns; and the words that SQuAD compares."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.anonymised import ExactNames
from evaluation.dialogue.dialogue_sets import (
    DialogueTurn,
    SpanQuestion,
    Triple,
    graph_of,
    grounded_turns,
    is_said,
    read_graph,
    read_metaqa,
    read_turns,
    split,
    squad_f1,
)
from evaluation.dialogue.retrieval import ExampleMaker, literal_examples
from tests.support.dialogues import FILMS, write_dialogues


def test_a_fact_is_one_however_it_is_spelled(tmp_path: Path) -> None:
    lines = ["Wexdol\twritten_by\tGorfen", "Gorfen\t~written by\tWexdol", "Wexdol\tWritten-By\tGorfen"]
    (tmp_path / "opendialkg").mkdir()
    (tmp_path / "opendialkg" / "triples.tsv").write_text("\n".join(lines), "utf-8")
    assert read_graph(tmp_path).facts_of["Gorfen"] == (("Wexdol", "written by", "Gorfen"),)


def test_gold_facts_are_spelled_like_all_others(tmp_path: Path) -> None:
    folder = write_dialogues(tmp_path)
    graph = read_graph(folder)
    for turn in read_turns(folder):
        for fact in turn.gold:
            assert fact in graph.facts_of[fact[0]]


def test_no_dialogue_is_in_both_parts(tmp_path: Path) -> None:
    turns = read_turns(write_dialogues(tmp_path))
    assert len({turn.dialogue for turn in turns}) == FILMS
    train, test = split(turns)
    assert {turn.dialogue for turn in train} & {turn.dialogue for turn in test} == set()
    said = [{text for turn in part for _, text in turn.history} for part in (train, test)]
    assert said[0] & said[1] == set()
    assert len({turn.dialogue for turn in test}) == round(0.2 * FILMS)
    assert split(turns) == (train, test)


def test_turns_are_joined_over_a_third_one_and_short_utterances_join_nothing(tmp_path: Path) -> None:
    first, second = "an utterance that is long enough", "another utterance that is as long"
    said = [[first, "yes"], [first, second], [second], ["yes"]]
    rows = [
        {"id": f"val-{at}", "history": [["user", text] for text in texts], "knowledge": [], "response": "a"}
        for at, texts in enumerate(said)
    ]
    (tmp_path / "opendialkg").mkdir()
    (tmp_path / "opendialkg" / "val.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert [turn.dialogue for turn in read_turns(tmp_path)] == ["val-0", "val-0", "val-0", "val-3"]


@pytest.mark.parametrize(("file", "read"), [("triples.tsv", read_graph), ("val.jsonl", read_turns)])
def test_a_broken_file_is_refused_without_quoting_it(
    tmp_path: Path, file: str, read: Callable[[Path], object]
) -> None:
    folder = write_dialogues(tmp_path)
    (folder / "opendialkg" / file).write_text("Gorfen Quinlum\n", "utf-8")
    with pytest.raises(QuestionsError) as raised:
        read(folder)
    assert "Gorfen" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I saw wexdol park yesterday", [("wexdol park", True)]),
        ("Wexdol's sequel", [("Wexdol", True)]),
        ("It was good. Love it!", [("It", False), ("Love", False), ("it", False)]),
        ("have you read It?", [("It", True)]),
        ("I love you", [("love", False)]),
        ("Wexdolian", []),
        ("", []),
    ],
)
def test_the_longest_name_is_found_and_common_words_are_told_from_names(
    text: str, found: list[tuple[str, bool]]
) -> None:
    names = ExactNames(["Wexdol", "Wexdol Park", "It", "Love", "..."])
    assert [(text[each.start : each.end], each.is_name) for each in names.find(text)] == found


def test_candidates_are_the_facts_at_either_end_of_what_is_named() -> None:
    graph = graph_of({("Wexdol", "written by", "Gorfen"), ("Lumkri", "sequel", "Wexdol"), ("Lumkri", "is a", "Film")})
    turn = DialogueTurn("1", "1", (("user", "Tell me about Wexdol"),), (("Wexdol", "written by", "Gorfen"),))
    (example,) = ExampleMaker(graph).examples([turn])
    assert example.triples == (("Lumkri", "sequel", "Wexdol"), ("Wexdol", "written by", "Gorfen"))
    assert example.gold.tolist() == [False, True]
    assert [example.query.entities[fact.head].incoming for fact in example.query.facts] == [(), ("sequel",)]


def test_a_turn_without_a_gold_fact_among_its_candidates_is_left_out() -> None:
    graph = graph_of({("Wexdol", "written by", "Gorfen"), ("Lumkri", "is a", "Film")})
    turn = DialogueTurn("1", "1", (("user", "Tell me about Wexdol"),), (("Lumkri", "is a", "Film"),))
    assert ExampleMaker(graph).examples([turn]) == []


def test_a_question_by_the_words_of_a_relation_has_its_facts_for_gold() -> None:
    graph = graph_of(
        {("Wexdol", "written by", "Gorfen"), ("Wexdol", "written by", "Quin"), ("Lumkri", "sequel", "Wexdol")}
    )
    turn = DialogueTurn("1", "1", (("user", "I like Wexdol"),), (("Wexdol", "written by", "Gorfen"),))
    examples = ExampleMaker(graph).examples([turn])
    asked = [literal_examples(examples, 1, seed)[0] for seed in range(20)]
    assert {tuple(triple for triple, gold in zip(each.triples, each.gold, strict=True) if gold) for each in asked} == {
        (("Lumkri", "sequel", "Wexdol"),),
        (("Wexdol", "written by", "Gorfen"), ("Wexdol", "written by", "Quin")),
    }
    for each in asked:
        said = each.query.history[-1]
        (mention,) = said.mentions
        assert said.text[mention.start : mention.end] == "Wexdol"
        assert ("sequel" if each.gold[0] else "written by") in said.text
        assert said.speaker == "assistant"
        assert each.query.history[:-1] == examples[0].query.history
    assert literal_examples(examples, 0, 0) == []


def test_metaqas_questions_go_on_about_what_was_answered(tmp_path: Path) -> None:
    graph, turns = read_metaqa(write_dialogues(tmp_path), 10, seed=0)
    assert len(turns) == 10
    for turn in turns:
        assert [speaker for speaker, _ in turn.history] == ["user", "assistant", "user"]
        told = turn.history[1][1].removesuffix(".")
        assert told in turn.history[2][1], "what was told is asked about"
        for head, relation, tail in turn.gold:
            assert relation == "written by"
            assert told in (head, tail)
            assert (head, relation, tail) in graph.facts_of[told]
    assert read_metaqa(tmp_path, 10, seed=0)[1] == turns != read_metaqa(tmp_path, 10, seed=1)[1]
    (tmp_path / "metaqa" / "kb.txt").write_text("Gorfen", "utf-8")
    with pytest.raises(QuestionsError):
        read_metaqa(tmp_path, 10, seed=0)


FIRST, SECOND, THIRD = "Who wrote the book Wexdol?", "It is a book by Gorfen Bradol.", "And what else did he write?"
LAST = "He wrote the novel Narvost as well."


def turn(name: str, history: tuple[str, ...], reply: str, *gold: Triple) -> DialogueTurn:
    return DialogueTurn(name, "d", tuple(("user", text) for text in history), tuple(sorted(gold)), reply)


WROTE, ALSO, LATER = ("Wexdol", "written by", "Gorfen"), ("Narvost", "written by", "Gorfen"), ("Narvost", "is a", "A")
DIALOGUE = [
    turn("3", (SECOND, THIRD, LAST), "That one is a novel, I believe.", LATER),
    turn("1", (FIRST,), SECOND, WROTE),
    turn("2", (SECOND, THIRD), LAST, ALSO),
]


def test_the_knowledge_is_that_of_the_replies_before_and_of_the_coming_one() -> None:
    found = {each.id: each for each in grounded_turns(DIALOGUE, DIALOGUE)}
    assert found["1"].knowledge == (WROTE,)
    assert (found["2"].so_far, found["2"].gold) == ((WROTE,), (ALSO,))
    assert found["3"].so_far == (ALSO, WROTE)


def test_a_short_utterance_joins_no_turns() -> None:
    other = turn("4", ("Yes",), "A reply that nobody else gives", LATER)
    asked = turn("5", ("A reply that nobody else gave", "Yes"), "Another long enough reply here", ALSO)
    assert [each.so_far for each in grounded_turns([other, asked], [other, asked])] == [(), ()]


def test_turns_without_a_gold_fact_are_left_out_but_for_what_they_tell_of_others() -> None:
    assert grounded_turns([turn("6", (FIRST,), SECOND)], DIALOGUE) == []
    assert [each.so_far for each in grounded_turns([DIALOGUE[2]], among=DIALOGUE)] == [(WROTE,)]


def test_a_name_is_said_where_its_words_stand_alone() -> None:
    assert is_said("William   Nicholson", "by william nicholson.")
    assert not is_said("Rose", "We walked in Rosewood.")
    assert not is_said("", "Anything")


@pytest.mark.parametrize(
    ("given", "acceptable", "f1"),
    [
        ("the U.S.", ["US"], 1.0),
        ("Anna at theatre", ["Ann a the atre"], 0.0),
        ("New New York", ["New York City"], 2 * 2 / 6),
        ("Tom Hanks", ["Julia Roberts", "Tom Hanks Junior", "Hanks"], 0.8),
        ("Tom Hanks", [], 0.0),
        ("the", ["A!"], 1.0),
        ("the", ["York"], 0.0),
    ],
)
def test_the_best_acceptable_answer_counts_without_articles_punctuation_and_capitals(
    given: str, acceptable: list[str], f1: float
) -> None:
    assert squad_f1(given, acceptable) == pytest.approx(f1)


def test_a_question_shows_its_known_end() -> None:
    assert SpanQuestion("Rose sings.", "singing", "does", True).triplet == "(X, does, singing)"
    assert SpanQuestion("Rose sings.", "Rose", "does", False).triplet == "(Rose, does, X)"
