"""Questions that are read with the sentence model, scored a section at a time (`corpus.toml`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from app.language.readings import WordedPath
from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import SchemaStep, StepInput, Turn
from app.reader.concept_namer import ConceptNamer
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.scoring.path_scoring import PathScorer
from app.reader.step import plan_step
from kg_store.algebra.expressions import parse
from tests.support.corpus import Corpus
from tests.support.library import asked, read
from tests.support.tasks import thing

CORPUS = Corpus.beside(__file__)


def surely(found: ReadMeaning | None) -> str:
    """The expression that a question is surely read as, which the algebra can execute; else nothing."""
    if found is None or not found.is_sure:
        return ""
    assert parse(found.meaning.expression)
    return found.meaning.expression


def of_library(scorer: PathScorer, question: str, *earlier: str) -> str:
    roles = ("user", "assistant")
    turns = [Turn(role=roles[at % 2], text=text) for at, text in enumerate(earlier)]  # type: ignore[arg-type]
    return surely(read(scorer, question, *turns))


def offered(scorer: PathScorer, question: str) -> Sequence[str]:
    plan = plan_step(scorer, asked(question))
    assert plan is None or plan.expressions == ()
    return plan.asks_back[:1] if plan else ()


PRACTICE = [
    ("animal", "species", "species"),
    ("animal", "owned by", "owner"),
    ("breed", "of species", "species"),
    ("ward", "part of", "clinic"),
    ("ward", "led by", "owner"),
    ("prescription", "prescribed by", "doctor"),
    ("prescription", "prescribed to", "owner"),
    ("prescription", "drug", "drug"),
    ("visit", "animal", "animal"),
    ("vaccination", "animal", "animal"),
]
PRACTICE_VALUES = [("ward", "number of beds", "number"), ("animal", "neutered", "truth"), ("ward", "price", "number")]
PRACTICE_NAMED = {"Es1d11": "species", "Eo2x22": "owner", "Ec3c33": "clinic", "Ed4d44": "doctor", "Eg5g55": "drug"}
PRACTICE_WHOLE = {"Sa0001": "animal", "Sw0001": "ward", "Sv0001": "visit", "Sx0001": "vaccination"} | {
    "Sp0001": "prescription"
}
REPAIRS = (
    SchemaStep("repair", "defect", "defect", "text", "text"),
    SchemaStep("repair", "reported on", "reported on", "date", "date"),
    SchemaStep("repair", "completed on", "completed on", "date", "date"),
    SchemaStep("repair", "carried out by", "carried out by", "contractor"),
    SchemaStep("contractor", "^carried out by", "^carried out by", "repair"),
    SchemaStep("contractor", "contract since", "contract since", "date", "date"),
    SchemaStep("contractor", "works weekends", "works weekends", "truth", "truth"),
    SchemaStep("contractor", "works in", "works in", "district"),
    SchemaStep("district", "^works in", "^works in", "contractor"),
)
REPAIRS_OWN = {"Vt5t55": ("^defect",), "Ec3c33": ("contract since", "^carried out by")}
FILMS = tuple(SchemaStep("film", label, label, "person") for label in ("director", "cast member", "composer"))
Named = dict[str, str]


def over(
    scorer: PathScorer,
    question: str,
    steps: Sequence[SchemaStep],
    named: Named,
    whole: Named,
    own: dict[str, tuple[str, ...]],
) -> str:
    """The reading over a schema of its own; `named` and `whole`: things and kinds by their pseudonyms."""
    given = StepInput(
        question=question,
        things=[thing(name, kind) for name, kind in named.items() if name in question],
        evidence=[],
        candidates=[],
        steps=tuple(steps),
        kinds=tuple(thing(name, kind, "more") for name, kind in whole.items()),
        own={name: labels for name, labels in own.items() if name in question},
    )
    return surely(read_meaning(scorer, given))


def of_practice(scorer: PathScorer, question: str) -> str:
    both = [*PRACTICE, *((end, f"^{label}", kind) for kind, label, end in PRACTICE)]
    ends: dict[tuple[str, str], list[str]] = {}
    for kind, label, end in both:
        ends.setdefault((kind, label), []).append(end)
    steps = [SchemaStep(kind, label, label, ", ".join(found)) for (kind, label), found in ends.items()]
    steps += [SchemaStep(kind, label, label, value, value) for kind, label, value in PRACTICE_VALUES]
    own = {name: tuple(step.label for step in steps if step.kind == kind) for name, kind in PRACTICE_NAMED.items()}
    return over(scorer, question, steps, PRACTICE_NAMED, PRACTICE_WHOLE, own)


def of_repairs(scorer: PathScorer, question: str) -> str:
    named = {"Vt5t55": "text", "Vd4t33": "date", "Ec3c33": "contractor"}
    whole = {"Sr2r22": "repair", "Sc2c22": "contractor", "Sd2d22": "district"}
    return over(scorer, question, REPAIRS, named, whole, REPAIRS_OWN)


def of_films(scorer: PathScorer, question: str) -> str:
    own = {"Ef1m11": tuple(step.label for step in FILMS)}
    return over(scorer, question, FILMS, {"Ef1m11": "film"}, {"Sf0001": "film", "Sp0001": "person"}, own)


def of_cities(scorer: PathScorer, question: str) -> str:
    """ "Which home cities" asks for cities, not for the people who have one."""
    ways = [("person", "home city", "city"), ("city", "^home city", "person")]
    steps = [SchemaStep(kind, label, label, end) for kind, label, end in ways]
    return over(scorer, question, steps, {}, {"Sp0001": "person", "Sc0001": "city"}, {})


def best_path(scorer: PathScorer, question: str, concept: str, paths: Sequence[tuple[list[str], list[str]]]) -> object:
    """The steps and kinds of the path that a question says best; `paths`: steps and kinds of each."""
    ways = [WordedPath(tuple(steps), tuple(kinds)) for steps, kinds in paths]
    best = ways[int(np.argmax(scorer.scores(question, "Eq7f2k", concept, ways)))]
    return best.steps, best.concepts


READS: dict[str, Callable[..., object]] = {
    "read over a library": of_library,
    "read as nothing sure": of_library,
    "read and offered": offered,
    "read over a practice": of_practice,
    "read over repairs": of_repairs,
    "read over films": of_films,
    "read over cities": of_cities,
    "read as a path": best_path,
}


def test_every_section_is_scored() -> None:
    assert {*READS, "read from relations"} == {each for each in CORPUS.sections if each.startswith("read ")}


@pytest.mark.parametrize("section", READS)
def test_questions_are_read(scorer: PathScorer, section: str) -> None:
    CORPUS.judge(section, partial(READS[section], scorer))


def test_relations_tell_the_kind(embedder: Embedder) -> None:
    CORPUS.judge("read from relations", lambda *labels: ConceptNamer(embedder).name_relations(labels))
