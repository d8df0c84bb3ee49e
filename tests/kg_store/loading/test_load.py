"""Loading: which triples become names, classes, schema and facts, and how values are treated (`loads.toml`)."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kg_store.errors import LoadError
from kg_store.loading.load import LoadedGraph, LoadedNode, load_graph
from kg_store.loading.wordings import PartsOfNames
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import MediatorPolicy, Policy
from kg_store.sources.reader import read_sources
from kg_store.terms import NodeKind, ValueKind
from tests.support.stores import CLINIC, MID_KEY, PREFIXES, loaded_of, node_named, raw_of, written

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("loads.toml").read_text("utf-8"))["load"]
WIKIDATA: str = next(case["text"] for case in CASES if case["title"].startswith("wikidata"))


def facts_of(loaded: LoadedGraph) -> set[tuple[str, str, str]]:
    """Every fact in names, mediators as their kind: read from the arrays, so that both directions are tested."""
    arrays, shown = loaded.adjacency, {}
    for node in loaded.nodes():
        record = node.record
        shown[node.mid] = record.names[0] if record.names else record.lexical or record.kind.value
    found = set()
    for position, mid in enumerate(arrays.mids.tolist()):
        hops = loaded.signatures[arrays.signatures[position]].hops
        for rank, hop in enumerate(hops):
            group = int(arrays.group_starts[position]) + rank
            for target in arrays.targets[arrays.target_starts[group] : arrays.target_starts[group + 1]].tolist():
                pair = (shown[mid], shown[int(arrays.mids[target])])
                head, tail = pair[::-1] if hop.inverse else pair
                found.add((head, loaded.relations[hop.relation].label, tail))
    return found


def told_node(node: LoadedNode) -> str:
    """Its names or its value, what it is, and what may be done with it."""
    record = node.record
    said = " | ".join(record.names) or record.lexical or ""
    flags = [word for word in ("linkable", "protected") if record.lexical and getattr(node, word)]
    flags += ["hidden"] * record.hidden
    kind = record.value_kind.value if record.value_kind else record.kind.value
    return f"{said} [{kind}{''.join(f', {flag}' for flag in flags)}]"


def told_classes(loaded: LoadedGraph) -> list[str]:
    """Of each thing of the arrays that has some, the most specific first."""
    found = []
    for node in loaded.nodes():
        position = int(np.searchsorted(loaded.adjacency.mids, node.mid))
        if position < len(loaded.adjacency.mids) and loaded.adjacency.mids[position] == node.mid:
            classes = loaded.signatures[loaded.adjacency.signatures[position]].classes
            found += [f"{(node.record.names or ('',))[0]}: {', '.join(classes)}"] * bool(classes)
    return sorted(found)


def told(loaded: LoadedGraph) -> dict[str, list[str]]:
    """Returns the results of a load in words, as a case may state them."""
    return {
        "nodes": sorted(map(told_node, loaded.nodes())),
        "facts": [f"{loaded.facts}", *sorted(" - ".join(fact) for fact in facts_of(loaded))],
        "classes": told_classes(loaded),
        "relations": [
            f"{each.label} / {each.inverse_label}{f' ({each.value_kind.value})' if each.value_kind else ''}"
            for each in loaded.relations
        ],
        "notes": list(loaded.notes),
    }


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_a_load_comes_to_what_its_case_says(tmp_path: Path, case: dict[str, Any]) -> None:
    text = case["text"] if case.get("file", "").endswith("tsv") else PREFIXES + case["text"]
    loaded = loaded_of(tmp_path, text, Policy.from_toml(case.get("policy", "")), case.get("file", "clinic.ttl"))
    found = told(loaded)
    assert {key: case[key] for key in found if key in case} == {key: found[key] for key in found if key in case}


def test_a_pattern_that_backtracks_is_matched_without(tmp_path: Path) -> None:
    """Tried way by way, there are 2 to the power of 4,999."""
    policy = Policy(mediators=MediatorPolicy(pattern=r"^urn:(x+)+\.$"))
    text = PREFIXES + f'<urn:{"x" * 5_000}> :of [ rdfs:label "Zofia" ] .'
    assert loaded_of(tmp_path, text, policy).counts[NodeKind.MEDIATOR] == 0


def test_mids_are_the_same_whatever_the_order_and_the_format(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, CLINIC)
    lines = [
        " ".join((raw.terms[s], raw.terms[p], raw.terms[o], "."))
        for s, p, o in zip(raw.subjects, raw.predicates, raw.objects, strict=True)
    ]
    turned = "\n".join(reversed(lines)).replace("_:0.", "_:renamed")
    first, second = loaded_of(tmp_path, CLINIC), loaded_of(tmp_path, turned, name="turned.nt")
    assert (first.adjacency.mids == second.adjacency.mids).all()
    assert facts_of(first) == facts_of(second)


def test_a_blank_node_keeps_its_mid_when_others_come_and_go(tmp_path: Path) -> None:
    one = '[] rdfs:label "Zofia" ; :age 41 . '
    more = '[] rdfs:label "Aurelio" ; :age 42 . [] rdfs:label "Ptolemy" ; :in [ :ward :w ] . '
    first, second = loaded_of(tmp_path, PREFIXES + one), loaded_of(tmp_path, PREFIXES + more + one)
    assert node_named(first, "Zofia").mid == node_named(second, "Zofia").mid


def test_a_load_of_names_and_schema_alone_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no individual"):
        loaded_of(tmp_path, PREFIXES + ":Doctor rdfs:subClassOf :Person .")


def test_an_ontology_file_gives_labels_to_another_file(tmp_path: Path) -> None:
    data = written(tmp_path, PREFIXES + ":d1 :tco :p1 .", "data.ttl")
    ontology = written(tmp_path, PREFIXES + ':tco a owl:ObjectProperty ; rdfs:label "takes care of" .', "onto.ttl")
    loaded = load_graph(read_sources([data, ontology]), Policy(), MID_KEY)
    assert facts_of(loaded) == {("d1", "takes care of", "p1")}


def test_what_is_loaded_shows_no_name(tmp_path: Path) -> None:
    loaded = loaded_of(tmp_path, CLINIC)
    shown = repr(loaded) + "".join(map(repr, loaded.nodes()))
    for secret in ("Zofia", "Quarrel", "843-48", "Kestrel"):
        assert secret not in shown


def test_names_are_counted_once_for_both_searches_in_the_words_of_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added: Counter[int] = Counter()
    add = PartsOfNames.add

    def counted(self: PartsOfNames, node: int, *rest: Any) -> None:
        added[node] += 1
        add(self, node, *rest)

    monkeypatch.setattr(PartsOfNames, "add", counted)
    words = ':likes rdfs:label "likes"@en, "is fond of"@en . :a :likes "tea" ; rdfs:label "Brackwede" .'
    loaded = loaded_of(tmp_path, PREFIXES + words, Policy(local_part_names=False))
    assert [relation.words for relation in loaded.relations] == [("is fond of",)]
    assert set(added.values()) == {1}


def test_a_relation_is_of_dates_where_its_column_is_although_most_of_its_cells_are_texts(tmp_path: Path) -> None:
    dates = ["2019-01-04", "2019-05-02", "2020-03-01", *["2019-20"] * 9]
    lines = [f"G-{number},{date}" for number, date in enumerate(dates, start=101)]
    path = written(tmp_path, "\n".join(["Grant no,Awarded on", *lines]), "grants.csv")
    raw, policy = read_and_propose([path])
    assert [each.value_kind for each in load_graph(raw, policy, MID_KEY).relations] == [ValueKind.DATE]
