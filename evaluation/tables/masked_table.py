"""The table of masked relations: what is still answered rightly when a share of a graph's relations is opaque."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.llm.embeddings.adapters import NO_HEAD
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import TO_THE_MODEL, Bench, ReasonerName, sample
from evaluation.bench.question_sets import METAQA, PQ_2H, PQ_3H, QuestionSets, Show
from evaluation.bench.report import RunLabel
from evaluation.checks.leak_scan import LeakScanner
from evaluation.datasets.masking import Masked, choices, words_of
from evaluation.datasets.questions import Question, QuestionsError
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.tables.measures import Measure, hits

SETS = {
    "PQ-2H": PQ_2H, "PQ-3H": PQ_3H, "MetaQA-1": METAQA[1], "MetaQA-2": METAQA[2], "MetaQA-3": METAQA[3],
}  # fmt: skip
RIGHT = 0.995  # 1.00 in two figures, as of the endpoint without masks


@dataclass(slots=True)
class _LeakCounts:
    """Leaks over all runs: names, and own words of relations that were masked."""

    questions: int = 0
    names: int = 0
    words: int = 0


async def run_masked_table(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """The embedded reasoner on every share, described and not; then the scripted endpoint, which reads descriptions
    as a model that understands them. `only`: a part of a set's name. Raises QuestionsError."""
    chosen = {name: source for name, source in SETS.items() if only.casefold() in name.casefold()}
    if not chosen:
        raise QuestionsError(f"no set's name holds what --only asks for; there are {', '.join(SETS)}")
    told = _LeakCounts()
    measures = []
    for reasoner in ("embedded", "scripted"):
        for name, source in chosen.items():
            measures += await _of_set(reasoner, name, source, data, limit, seed, show, told)
    return [
        *measures,
        _none("names that reached the reasoner, all runs", told.questions, told.names),
        _none("own words of masked relations that reached it", told.questions, told.words),
    ]


async def _of_set(
    reasoner: ReasonerName, name: str, source: str, data: Path, limit: int, seed: int, show: Show, told: _LeakCounts
) -> list[Measure]:
    endpoint = ScriptedEndpoint() if reasoner == "scripted" else None
    measures = []
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench(reasoner, scripted=endpoint, changes=TO_THE_MODEL) as bench:
            if endpoint is None:
                bench.embedded.head = NO_HEAD
            run = _Run(bench, QuestionSets(bench, data, Path(folder), show), source, f"{name}, {reasoner}", show, told)
            questions = run.questions(limit, seed, reasoner)
            for masked in choices(source.partition(":")[0], seed):
                if endpoint is None:
                    measures += await run.measured(masked, questions)
                elif masked.described:
                    endpoint.meanings = {text: words_of(each) for each, text in masked.means.items()}
                    measures += await run.measured(masked, questions, RIGHT)
    return measures


@dataclass(frozen=True, slots=True)
class _Run:
    bench: Bench
    sets: QuestionSets
    source: str
    name: str
    show: Show
    told: _LeakCounts

    def questions(self, limit: int, seed: int, reasoner: ReasonerName) -> list[Question]:
        """Of those for the scripted endpoint the graph agrees with the gold answers."""
        questions = self.sets.questions(self.source)
        planned = [each for each in questions if each.has_plan and each.reproduced]
        return sample(planned if reasoner == "scripted" else questions, limit, seed)

    async def measured(self, masked: Masked, questions: list[Question], bound: float | None = None) -> list[Measure]:
        title = f"{self.name}: {masked.title}"
        plain, _ = self.sets.of(self.source)
        loaded = self.bench.load("masked", [self.sets.graph_file(self.source)], masked.policy(plain.policy))
        label = RunLabel(set_name=title, strategy="sets", reasoner="embedded", seed=0)
        before = len(self.bench.sent)
        report, outcomes = await self.bench.ask(
            loaded, label, questions, progress=lambda done: self.show(title, done, len(questions))
        )
        findings = LeakScanner(masked.own_words(), ()).scan(self.bench.sent[before:])
        self.told.questions += len(questions)
        self.told.names += report.leaks.leaks
        self.told.words += findings.leaks.total()
        needing = [each for each, asked in zip(outcomes, questions, strict=True) if masked.is_needed(asked)]
        lines = [hits(title, outcomes, bound, report.leaks.leaks)]
        return lines + (_needing(title, needing, outcomes) if masked.means and bound is None else [])


def _needing(title: str, needing: list[QuestionOutcome], outcomes: list[QuestionOutcome]) -> list[Measure]:
    """The questions whose path is masked somewhere, apart: the others lose nothing but rivals."""
    refused = sum(not outcome.answered for outcome in needing)
    line = hits(f"{title}: those that need one ({refused} of them refused)", needing)
    return [line] if needing and len(needing) < len(outcomes) else []


def _none(name: str, questions: int, found: int) -> Measure:
    return Measure(name=name, questions=questions, bound="0", reached=str(found), passed=found == 0)
