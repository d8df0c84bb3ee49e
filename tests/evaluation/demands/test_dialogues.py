"""Dialogues and facts are read and split, on made-up files of a few lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.datasets.questions import QuestionsError
from evaluation.demands.dialogues import DIALOGUES, FACTS, Dialogue, draw, pairs_of, read_dialogues, read_facts

TURNS = ("The kettle is on .", "Then I fetch cups .", "Two of them .", "Gladly .")


def written(folder: Path, *rows: dict[str, object]) -> Path:
    file = folder / DIALOGUES
    file.parent.mkdir()
    lines = [{"id": at, "topic": "1", "labels_aligned": True, **row} for at, row in enumerate(rows)]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder


def made(count: int) -> list[Dialogue]:
    return [Dialogue(str(at), tuple(f"turn {turn} of {at}" for turn in range(2 + at % 5))) for at in range(count)]


def test_only_dialogues_with_fitting_labels_and_two_turns_are_read_and_each_once(tmp_path: Path) -> None:
    data = written(
        tmp_path,
        {"turns": TURNS},
        {"turns": TURNS[:2], "labels_aligned": False},
        {"turns": TURNS[:1]},
        {"turns": TURNS},
        {"turns": TURNS[1:]},
    )
    assert read_dialogues(data) == [Dialogue("0", TURNS), Dialogue("4", TURNS[1:])]


def test_facts_are_read_as_head_relation_tail(tmp_path: Path) -> None:
    (tmp_path / FACTS).parent.mkdir()
    (tmp_path / FACTS).write_text("UsedFor\tkettle\tboil water\nIsA\tcup\tvessel\n", "utf-8")
    assert read_facts(tmp_path) == [("kettle", "UsedFor", "boil water"), ("cup", "IsA", "vessel")]


def test_a_missing_file_is_named_with_its_folder(tmp_path: Path) -> None:
    for read, name in ((read_dialogues, "dailydialog/dialogues.jsonl"), (read_facts, "conceptnet/train.txt")):
        with pytest.raises(QuestionsError, match=f"{name} is not in the folder"):
            read(tmp_path)


def test_a_line_that_does_not_fit_is_told_by_its_place(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match=r"dialogues.jsonl, line 2: turns: Field required"):
        read_dialogues(written(tmp_path, {"turns": TURNS}, {}))
    (tmp_path / FACTS).parent.mkdir()
    (tmp_path / FACTS).write_text("UsedFor\tkettle\n", "utf-8")
    with pytest.raises(QuestionsError, match="relation, head and tail"):
        read_facts(tmp_path)


def test_each_drawn_dialogue_is_cut_once_and_the_others_are_for_development() -> None:
    dialogues = made(40)
    split = draw(dialogues, 15, seed=3)
    by_id = {dialogue.id: dialogue for dialogue in dialogues}
    drawn = [pair.id.partition("-")[0] for pair in split.test]
    assert len(set(drawn)) == 15
    assert {each.id for each in split.development} == by_id.keys() - drawn
    for pair, name in zip(split.test, drawn, strict=True):
        assert pair in list(pairs_of(by_id[name]))
    assert len({len(pair.history) for pair in split.test}) > 1


def test_a_larger_draw_keeps_the_pairs_of_a_smaller_one_and_the_seed_changes_them() -> None:
    dialogues = made(40)
    assert draw(dialogues, 20, seed=1).test[:10] == draw(dialogues, 10, seed=1).test
    assert draw(dialogues, 10, seed=2).test != draw(dialogues, 10, seed=1).test


def test_a_dialogue_that_shares_a_long_utterance_with_a_test_dialogue_is_in_neither_part() -> None:
    said = "Shall we meet at the lighthouse at nine ?"
    same = [Dialogue("a", (said, "Yes .")), Dialogue("b", ("Well .", said.upper())), Dialogue("c", ("Yes .", "No ."))]
    for seed in range(5):
        split = draw(same, 1, seed)
        left = {each.id for each in split.development}
        assert left == ({"a", "b"} if split.test[0].id.startswith("c") else {"c"})


def test_more_dialogues_than_there_are_is_an_error() -> None:
    with pytest.raises(QuestionsError, match="only 4"):
        draw(made(4), 5)


def test_every_cut_of_a_dialogue_is_a_pair() -> None:
    found = list(pairs_of(Dialogue("7", TURNS)))
    assert [(pair.id, len(pair.history), pair.reply) for pair in found] == [
        ("7-1", 1, TURNS[1]),
        ("7-2", 2, TURNS[2]),
        ("7-3", 3, TURNS[3]),
    ]
