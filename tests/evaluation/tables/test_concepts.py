"""Concepts against labels: how each is judged, what is loaded, and that nothing of the shut labels is printed."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.datasets.questions import QuestionsError, read_lines
from evaluation.tables.concepts import (
    LABELS,
    SETS,
    ConceptLabel,
    by_graph,
    load_untyped,
    measures,
    not_right,
    read_graph_files,
    run_concepts,
)
from kg_store.terms import Schema

LABEL = ConceptLabel(graph="g", node="x", accept=frozenset({"club", "team"}), reject=frozenset({"person"}))


@pytest.mark.parametrize(
    ("concept", "verdict"),
    [("club", "right"), ("Team", "right"), ("club, person", "right"), ("person", "wrong"), ("thing, person", "wrong"),
     ("thing", "not judged"), ("", "no concept"), (None, "no concept")],
)  # fmt: skip
def test_the_first_concept_decides(concept: str | None, verdict: str) -> None:
    assert LABEL.judge(concept) == verdict


def test_labels_are_whole_and_name_only_graphs_that_are_listed() -> None:
    read = [label for file in LABELS for _, label in read_lines(file, ConceptLabel)]
    assert len(read) == 120
    assert {label.graph for label in read} == set(json.loads((SETS / "graphs.json").read_text()))
    assert all(label.accept and not label.accept & label.reject for label in read)


def test_types_are_taken_away_before_a_graph_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "g.ttl"
    file.write_text("@prefix : <urn:x:> . :a a :Zorblat ; :knows :b . :b a :Zorblat .")
    graph = load_untyped([file], {"urn:x:a", "urn:x:c"}, _concepts_by_hops)
    assert graph.concept_of("urn:x:a") == "1"
    assert graph.concept_of("urn:x:c") is None
    assert not any(signature.classes for signature in graph.schema.signatures)


def test_tables_are_read_as_triples_and_left_out_beside_another_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Club,Based in,Rank\nTarn United,Wexbury,\n")
    (tmp_path / "g.tsv").write_text("a\tknows\tb\n")
    (tmp_path / "graphs.json").write_text('{"t": ["t.csv"], "both": ["g.tsv", "t.csv"]}')
    files = read_graph_files(tmp_path / "graphs.json", tmp_path / "none", {"t", "both"})
    assert [file.name for file in files["both"]] == ["g.tsv"]
    graph = load_untyped(files["t"], {"Tarn United"}, _concepts_by_hops)
    assert [relation.label for relation in graph.schema.relations] == ["based in"]
    assert graph.concept_of("Tarn United") == "1"


def test_a_run_prints_no_concept_of_a_shut_label(tmp_path: Path) -> None:
    (tmp_path / "g.ttl").write_text("@prefix : <urn:x:> . :ann :knows :bob .")
    (tmp_path / "graphs.json").write_text('{"g": ["g.ttl"]}')
    line = json.dumps({"graph": "g", "node": "NODE", "accept": ["person"], "reject": ["0"]})
    (tmp_path / "seen.jsonl").write_text(line.replace("NODE", "urn:x:ann"))
    (tmp_path / "shut.jsonl.gz").write_bytes(gzip.compress(line.replace("NODE", "urn:x:bob").encode()))
    files = [tmp_path / "seen.jsonl", tmp_path / "shut.jsonl.gz"]
    judged = asyncio.run(run_concepts(files, tmp_path / "graphs.json", tmp_path, _concepts_by_hops, _ignore))
    assert [each.verdict for each in judged] == ["not judged", "wrong"]
    assert "ann" in not_right(judged)
    assert "bob" not in not_right(judged)
    assert [line.reached for line in measures(judged)] == ["0.000", "0.000"]
    assert "| g | 2 | 0 | 1 | 1 | 0 | 0.000 |" in by_graph(judged)


def test_errors_quote_nothing_of_the_labels(tmp_path: Path) -> None:
    (tmp_path / "seen.jsonl").write_text('{"graph": "zorblat"}')
    with pytest.raises(QuestionsError) as raised:
        list(read_lines(tmp_path / "seen.jsonl", ConceptLabel))
    assert "zorblat" not in str(raised.value)
    with pytest.raises(QuestionsError):
        read_graph_files(tmp_path / "seen.jsonl", tmp_path, {"g"})


def _concepts_by_hops(schema: Schema) -> Sequence[str]:
    return [str(sum(not hop.inverse for hop in signature.hops)) for signature in schema.signatures]


def _ignore(_title: str, _done: int, _of: int) -> None:
    """For runs that nobody watches."""
