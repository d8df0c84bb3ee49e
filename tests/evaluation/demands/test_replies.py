"""Both forms of demands are held against their bounds, and their replies are measured beside plain ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.strategies.demands.fact_sets import Demands
from evaluation.demands.dialogues import DialoguePair
from evaluation.demands.faithful import FaithfulCall, FaithfulRun
from evaluation.demands.measures import Figure, ReplyMeasures
from evaluation.demands.replies import BothForms, MeasuredReplies, ask_both, bounds, replies_table, run_replies
from evaluation.demands.retrieval import FactRetrieval
from evaluation.demands.service_form import ServiceReply
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint

TRIPLES = [("tennis", "IsA", "game"), ("racket", "UsedFor", "tennis"), ("tennis", "HasProperty", "fun")]
PAIRS = [
    DialoguePair("1", ("I love tennis.",), "A fine game."),
    DialoguePair("2", ("Hello!", "I love tennis."), "Have you a racket?"),
]
CALL = FaithfulCall("response", {}, "", 100, 0)
RUN = FaithfulRun("Yes.", Demands(), (), (CALL,) * 6)
FIGURE = Figure(50.0, 40.0, 60.0, 20)


@pytest.mark.model
async def test_both_forms_reply_and_no_name_of_the_private_graph_is_sent() -> None:
    with ScriptedEndpoint(counts_tokens=True) as scripted:
        endpoint = ModelEndpoint(scripted.url, "m")
        await endpoint.probe()
        settings = {"endpoint_url": scripted.url, "endpoint_model": "m", "reasoner": "endpoint"}
        both = await ask_both(endpoint, FactRetrieval(TRIPLES, Embedder()), PAIRS, settings, lambda *_: None)
        await endpoint.close()
    assert all(run is not None and run.is_complete for run in both.faithful)
    assert [(reply.problem, reply.calls) for reply in both.service] == [("", 2)] * 2
    assert all("tennis" in reply.text and reply.tokens for reply in both.service)
    assert (both.names > 100, both.names_sent) == (True, 0)


@pytest.mark.model
async def test_the_command_measures_the_replies_of_all_four_methods(tmp_path: Path) -> None:
    talks = [["Hello!", f"I love tennis number {at}.", "A fine game."] for at in range(4)]
    rows = [{"id": at, "turns": turns, "labels_aligned": True} for at, turns in enumerate(talks)]
    for folder in ("dailydialog", "conceptnet"):
        (tmp_path / folder).mkdir()
    (tmp_path / "dailydialog" / "dialogues.jsonl").write_text("\n".join(map(json.dumps, rows)))
    facts = (f"{relation}\t{head}\t{tail}\n" for head, relation, tail in TRIPLES)
    (tmp_path / "conceptnet" / "train.txt").write_text("".join(facts))
    with ScriptedEndpoint(counts_tokens=True) as scripted:
        measures, table = await run_replies(scripted.url, "m", tmp_path, 2, 0, Embedder(), lambda *_: None)
    assert [measure.questions for measure in measures[:2]] == [2, 2]
    assert [line.split(" | ")[0] for line in table.splitlines()[2:6]] == [
        "| DCRAG, faithful", "| demands, service", "| vanilla", "| T-RAG",
    ]  # fmt: skip
    assert "vanilla: 2" in table  # A rating of 0 is none.


def missed(both: BothForms) -> list[str]:
    return [measure.name for measure in bounds(both) if not measure.passed]


def test_each_missed_bound_is_told() -> None:
    good = ServiceReply("Yes.", 2, 300)
    both = BothForms([RUN], [good], 400, 0)
    assert not missed(both)
    assert missed(replace(both, names_sent=1)) == ["demands, service: names of the demo's graph in requests"]
    assert missed(replace(both, service=[replace(good, problem="OddError")])) == ["demands, service: errors"]
    assert missed(replace(both, service=[replace(good, calls=3)])) == ["demands, service: calls a reply"]
    for tokens in (0, 301):
        assert missed(replace(both, service=[replace(good, tokens=tokens)])) == [
            "demands, service: tokens a reply against DCRAG, faithful"
        ]
    assert "DCRAG, faithful: calls a reply" in missed(replace(both, faithful=[replace(RUN, calls=(CALL,) * 5)]))
    assert "DCRAG, faithful: errors" in missed(replace(both, faithful=[None]))


def test_the_mean_of_all_is_told_only_where_every_measure_is_there() -> None:
    whole = ReplyMeasures(50.0, FIGURE, FIGURE, FIGURE, FIGURE, FIGURE)
    table = replies_table(
        {
            "judged": MeasuredReplies(whole, FIGURE, 0, 0),
            "not judged": MeasuredReplies(ReplyMeasures(50.0, FIGURE, FIGURE), FIGURE, 1, 40),
        }
    )
    _, _, judged, lost, *_ = table.splitlines()
    assert judged.endswith("| 50.00 | 0 |")
    assert lost.endswith("|  |  |  |  | 1 |")
    assert "judged: 0, not judged: 40" in table
