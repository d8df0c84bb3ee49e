"""`arog eval dialogue` on made-up dialogues: parts, the papers' rows, bounds, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from evaluation.cli import app
from evaluation.dialogue.anonymised import ALL_VARIANTS, Anonymiser, names_in
from evaluation.dialogue.attachment import AttachmentRun, kat_measures, string_judge
from evaluation.dialogue.dialogue_sets import read_graph, read_test_turns
from evaluation.dialogue.figures import Estimate, PricedF1, f1_by_price, mrr_by_ranking, published, published_rows
from evaluation.dialogue.writers import all_triples, gold_replies
from tests.support.chat_endpoint import ChatEndpoint
from tests.support.dialogues import write_dialogues


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["dialogue", *arguments])


def test_attachment_of_gold_replies_and_all_triples(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    done = run(f"--data={data}", "--only=attachment", f"--out={tmp_path / 'out'}", f"--plots={tmp_path / 'plots'}")
    assert done.exit_code == 1, "without an extractor the bounds are missed"
    text = (tmp_path / "out" / "dialogue.md").read_text("utf-8")
    assert "FAIL" in text
    assert (
        "| all triples said | default | plain | reply | string match (no judge) | 10 | 100.0 [100.0, 100.0] |" in text
    )
    assert "| published: Qwen-32B | default | anonymised | turn | DeepSeek-R1-32B |  | 90.1 |" in text
    assert "| published: KQA | 20000 | 0.0 | 100.0 |" in text
    assert "not measured" in text
    assert (
        "| embedded reasoner | default | anonymised, Eq7f2k (person) | reply | string match (no judge) | 10 |" in text
    )
    assert [file.name for file in (tmp_path / "plots").iterdir()] == ["attachment_by_price.svg"]


def test_an_endpoint_is_a_further_column_with_both_prompts(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    with ChatEndpoint(lambda _prompt: "I can't say.") as endpoint:
        done = run(
            f"--data={data}", "--only=attachment", "--limit=2", f"--endpoint={endpoint.url}", "--model=some-model"
        )
        assert len(endpoint.prompts) == 2 * 2 * len(ALL_VARIANTS)
    for style in ("default", "detailed"):
        assert f"| some-model | {style} | plain | turn | string match (no judge) | 2 |" in done.output


def test_a_reply_that_never_came_has_failed(tmp_path: Path) -> None:
    turns = read_test_turns(write_dialogues(tmp_path / "data"), limit=4)
    (row,) = AttachmentRun(turns, {"strings": string_judge}).rows(
        "m", lambda turns, _style: ["", *gold_replies(turns)[1:]], variants=ALL_VARIANTS[:1], contexts=("turn",)
    )
    assert row.figures.failed == 0.25


def test_whole_dialogues_stand_together_and_nothing_trained_on_is_measured(tmp_path: Path) -> None:
    turns = read_test_turns(write_dialogues(tmp_path / "data"))
    assert len(turns) == 10
    assert [turn.dialogue for turn in turns] == sorted(turn.dialogue for turn in turns)
    assert sum(bool(turn.so_far) for turn in turns) == 5, "the second turn of each dialogue knows the first"


def test_every_name_of_the_graph_is_replaced_in_the_anonymised_sets(tmp_path: Path) -> None:
    data = write_dialogues(tmp_path / "data")
    graph = read_graph(data)
    turns = read_test_turns(data)
    run_of_all = AttachmentRun(turns, {}, Anonymiser(names_in(graph)))
    for variant in ALL_VARIANTS[2::2]:
        for turn in run_of_all.turns_of(variant):
            told = " ".join([*(text for _, text in turn.history), turn.reply, *sum(turn.knowledge, ())])
            assert not [name for name in graph.facts_of if not name.isdigit() and name in told]


@pytest.mark.model
@pytest.mark.slow
def test_replies_are_measured_from_gold_and_from_ranked_facts(tmp_path: Path) -> None:
    done = run(f"--data={write_dialogues(tmp_path / 'data')}", "--only=replies")
    assert "| string match of any acceptable answer, 3 facts |" in done.output
    assert done.exit_code == int("FAIL" in done.output)
    lines = [line for line in done.output.splitlines() if line.startswith("| all triples said,")]
    assert [line.split("|")[1].strip() for line in lines] == [
        f"all triples said, {given}" for given in ("gold facts", "3 facts", "5 facts", "10 facts")
    ]
    assert "| published: SURGE |  | 51.0 | 57.6 | 55.8 |" in done.output


def test_what_is_not_measured_is_missed() -> None:
    assert [line.passed for line in kat_measures(None, (0, 0.0))] == [False, False, False]
    assert [line.passed for line in kat_measures(None, (10, 0.96))] == [False, False, True]


def test_published_rows_are_as_long_as_their_heads() -> None:
    for table in ("retrieval", "llm_kat", "impossible", "pairwise", "replies", "modified"):
        head, rows = published(table)
        assert rows
        assert all(len(row) == len(head) for row in rows)
    assert published_rows("impossible", "judge", "absent", "flagged")[0] == ["LLM-KAT", "", "78.9"]


def test_pictures_are_the_same_twice() -> None:
    points = [PricedF1("m", name, Estimate(0.9, 0.8, 0.95, 10), cost) for name, cost in (("a", 1.0), ("b", None))]
    assert f1_by_price(points) == f1_by_price(points)
    assert b"money for a thousand replies" in f1_by_price(points)
    rows = [("OpenDialKG", "no edges", 0.4)]
    assert mrr_by_ranking(rows) == mrr_by_ranking(rows)
    assert b"OpenDialKG: no edges" in mrr_by_ranking(rows)


def test_a_writer_sees_the_words_of_its_set(tmp_path: Path) -> None:
    turns = read_test_turns(write_dialogues(tmp_path / "data"), limit=1)
    (turn,) = AttachmentRun(turns, {}).turns_of(ALL_VARIANTS[-1])
    (reply,) = all_triples([turn])
    assert all(name in reply for triple in turn.gold for name in (triple[0], triple[2]))
    assert turn.gold != turns[0].gold
