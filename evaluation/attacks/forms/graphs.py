"""The graphs that are attacked, all loaded for one tenant, each with what its source file says is secret."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.demo import GRAPH_FILE
from evaluation.attacks.forms.corpus import population
from evaluation.attacks.forms.corpus.graph_names import GraphNames, names_in_triples, names_in_turtle
from evaluation.attacks.setup.targets import AML, HOSPITAL, TITLES, AttackTargets
from evaluation.bench.bench import TENANT, TO_THE_MODEL, Bench, LoadedSet
from evaluation.bench.question_sets import DEMO, PQ_3H

_PQ_FILE = "pathquestion/PQ-3H.kb.tsv"


@dataclass(frozen=True, slots=True)
class Attacked:
    """One graph. `private_relations` are local names of masked and hidden relations, and of those that hold a name."""

    title: str
    loaded: LoadedSet
    names: GraphNames
    private_relations: tuple[str, ...] = field(default=(), repr=False)


async def open_graphs(
    targets: AttackTargets, changes: Mapping[str, object] = TO_THE_MODEL
) -> tuple[Bench, list[Attacked]]:
    """The demo, a made-up population and, with data, `hospital.ttl`, `aml.ttl` and PathQuestion; every prompt goes to
    the endpoint, however few fit it."""
    sources = targets.among(DEMO, HOSPITAL, AML, PQ_3H)
    opened = [(source, await targets.open(source, "scripted", changes)) for source in sources]
    bench = opened[0][1].bench
    found = [Attacked(TITLES[source], target.loaded, _names(source, targets.data)) for source, target in opened]
    return bench, [*found, _population(bench)]


def _names(source: str, data: Path | None) -> GraphNames:
    if source == DEMO or data is None:
        return names_in_turtle(DEMO, GRAPH_FILE)
    if source == PQ_3H:
        return names_in_triples(TITLES[source], data / _PQ_FILE)
    return names_in_turtle(TITLES[source], data / source)


def _population(bench: Bench) -> Attacked:
    with tempfile.TemporaryDirectory(prefix="arog-population-") as folder:
        file = Path(folder) / "population.ttl"
        file.write_text(population.turtle(), encoding="utf-8")
        loaded = load_as_owner(bench, population.GRAPH, file, population.POLICY)
        names = names_in_turtle(population.GRAPH, file)
    private = (population.HIDDEN, population.MASKED, population.NAMED, population.NAMED_CLASS)
    return Attacked(population.GRAPH, loaded, names, private)


def load_as_owner(bench: Bench, name: str, file: Path, policy: str | None = None) -> LoadedSet:
    """Loads a file as somebody does who decides nothing about its schema; a bench would show all of it, since what it
    loads is public. Raises StoreError."""
    bench.services.graphs.load(TENANT, name, [file], policy).run(lambda _step, _percent: None)
    return LoadedSet(name, frozenset(), policy or "")


def private_relations(attacked: Sequence[Attacked]) -> list[str]:
    """Those of all graphs: whoever knows one may type it wherever it fits."""
    return [name for each in attacked for name in each.private_relations]


def others(attacked: Sequence[Attacked], one: Attacked) -> list[GraphNames]:
    """The names of all graphs but one."""
    return [each.names for each in attacked if each is not one and each.names.names]
