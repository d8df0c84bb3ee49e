"""The positive control of structure: requests that show a whole neighbourhood of two hops, as those of ARoG's code do.

They are made of the true graph and go through the same reading and matching as what was recorded. An attack that does
not find an entity by these would prove nothing where it finds none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from app.llm.tasks import AnswerInput, Candidate, ChooseInput, Evidence, TaskModel, TaskName, Thing
from app.strategies.retrieval import bucket
from evaluation.attacks.structure.known_graph import KnownGraph
from evaluation.attacks.structure.revealed_graph import Trail

TOPIC = "Etopic"


def neighbourhood(known: KnownGraph, node: int) -> list[bytes]:
    """Two requests: all ways on of one and two steps, and where each of them leads, with the bucket of its size."""
    concept = known.words[int(known.concept[node])]
    paths = list(_paths(known, node))
    candidates = [
        Candidate(number=number, start=TOPIC, path=list(path), concept="")
        for number, path in enumerate(paths, start=1)
    ]
    evidence = []
    for number, path in enumerate(paths):
        ends = known.ends(path)
        if ends is not None:
            letter = "E" if int(ends.pairs[node]) == 1 else "S"
            size = bucket(int(ends.count[node]))
            end = f"{letter}end{number}"
            evidence.append(Evidence(start=TOPIC, path=list(path), end=end, end_concept="", size=size))
    choose = ChooseInput(question="", path=[], candidates=candidates, width=3)
    answer = AnswerInput(
        question="",
        dialogue=[],
        path=[],
        things=[Thing(name=TOPIC, concept=concept)],
        evidence=evidence,
        last_round=True,
    )
    return [_request("choose_relations", choose), _request("answer", answer)]


def sample_nodes(known: KnownGraph, count: int, seed: int) -> list[int]:
    """Nodes that a question could be about: those that something leads on from, two steps far."""
    able = np.zeros(known.size, dtype=np.bool_)
    for step in known.steps:
        if not step.startswith("^"):
            able |= known.has((step,))
    nodes = np.flatnonzero(able)
    chosen = np.random.default_rng(seed).permutation(len(nodes))[:count]
    return [int(node) for node in nodes[np.sort(chosen)]]


def _paths(known: KnownGraph, node: int) -> Iterator[Trail]:
    for first in known.steps:
        if known.has((first,))[node]:
            yield (first,)
            yield from ((first, second) for second in known.steps if known.has((first, second))[node])


def _request(task: TaskName, asked: TaskModel) -> bytes:
    block = f"```json\n{asked.model_dump_json(exclude_defaults=True)}\n```"
    shape = {"type": "json_schema", "json_schema": {"name": task}}
    return json.dumps({"messages": [{"role": "user", "content": block}], "response_format": shape}).encode()
