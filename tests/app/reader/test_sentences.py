"""Questions that are read with the sentence model, scored a section at a time (`corpus.toml`).

A schema of the corpus has things by their pseudonyms (`named`), kinds (`whole`), relations that are walked both ways,
and values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import pytest

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep, StepInput, Turn
from app.reader.concept_namer import ConceptNamer
from app.reader.meaning.read_meaning import read_meaning
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import parse
from tests.support.corpus import Corpus
from tests.support.tasks import thing

CORPUS = Corpus.beside(__file__)


@cache
def steps_of(schema: str) -> tuple[SchemaStep, ...]:
    told = CORPUS.sections["schemas"][schema]
    relations = told.get("relations", [])
    both = [*relations, *([end, f"^{label}", kind] for kind, label, end in relations), *told.get("one_way", [])]
    ends: dict[tuple[str, str], list[str]] = {}
    for kind, label, end in both:
        ends.setdefault((kind, label), []).append(end)
    steps = [SchemaStep(kind, label, label, ", ".join(found)) for (kind, label), found in ends.items()]
    values = (SchemaStep(kind, label, label, value, value) for kind, label, value in told.get("values", []))
    return (*steps, *values)


def asked(schema: str, question: str, *earlier: str) -> StepInput:
    """A question over a schema, as the reasoner gets it; after earlier turns all things of the schema are known."""
    told, roles = CORPUS.sections["schemas"][schema], ("user", "assistant")
    named = {name: kind for name, kind in told["named"].items() if name in question or (earlier and name[0] != "V")}
    own = {name: tuple(step.label for step in steps_of(schema) if step.kind == kind) for name, kind in named.items()}
    return StepInput(
        question=question,
        dialogue=[Turn(role=roles[at % 2], text=text) for at, text in enumerate(earlier)],  # type: ignore[arg-type]
        things=[thing(name, kind, "more" if name[0] == "S" else "1") for name, kind in named.items()],
        evidence=[],
        candidates=[],
        steps=steps_of(schema),
        kinds=tuple(thing(name, kind, "more") for name, kind in told["whole"].items()),
        own=own | {name: (f"^{label}",) for name, label in told.get("value_of", {}).items() if name in question},
    )


def read(schema: str, scorer: PathScorer, question: str, *earlier: str) -> str:
    """The expression that a question is surely read as, which the algebra can execute; else nothing."""
    found = read_meaning(scorer, asked(schema, question, *earlier))
    if found is None or not found.is_sure:
        return ""
    assert parse(found.meaning.expression)
    return found.meaning.expression


def best_path(scorer: PathScorer, question: str, concept: str, paths: Sequence[tuple[list[str], list[str]]]) -> object:
    """The steps and kinds of the path that a question says best; `paths`: steps and kinds of each."""
    ways = [WordedPath(tuple(steps), tuple(kinds)) for steps, kinds in paths]
    best = ways[int(np.argmax(scorer.scores(question, "Eq7f2k", concept, ways)))]
    return best.steps, best.concepts


READS: dict[str, Callable[..., object]] = {
    **{
        f"read over {name}": partial(read, name)
        for name in ("practice", "repairs", "films", "cities", "yards", "families")
    },
    "read over library": partial(read, "library"),
    "read as nothing sure": partial(read, "library"),
    "read as a path": best_path,
}


def test_every_section_is_scored() -> None:
    assert {*READS, "read from relations"} == {each for each in CORPUS.sections if each.startswith("read ")}


@pytest.mark.parametrize("section", READS)
def test_questions_are_read(scorer: PathScorer, section: str) -> None:
    CORPUS.judge(section, partial(READS[section], scorer))


def test_relations_tell_the_kind(embedder: Embedder) -> None:
    CORPUS.judge("read from relations", lambda *labels: ConceptNamer(embedder).name_relations(labels))
