"""The table of bounds: every row that the project has promised, run in one go, with what was missed."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import TO_THE_MODEL, Bench, ReasonerName, sample
from evaluation.bench.question_sets import DEMO, METAQA, PQ_2H, PQ_3H, QuestionSets, Show
from evaluation.bench.report import Report, RunLabel, markdown, write_json


@dataclass(frozen=True, slots=True)
class BoundedRun:
    """One run and what it must reach. `local_ms` bounds the p50 and p95 of everything outside the reasoner."""

    name: str
    source: str
    reasoner: ReasonerName
    strategy: str = "sets"
    hits: float = 0.0
    f1: float = 0.0
    right: int = 0
    local_ms: tuple[float, float] | None = None
    reproduced_only: bool = False


_MS = (15.0, 40.0)

# What the reference code reaches with an endpoint that answers rightly: PQ-2H 0.75, PQ-3H 0.40.
ROWS = (
    BoundedRun("PQ-2H", PQ_2H, "scripted", hits=1.0, f1=1.0),
    BoundedRun("PQ-3H", PQ_3H, "scripted", hits=1.0, f1=1.0),
    BoundedRun("PQ-2H", PQ_2H, "scripted", "arog", hits=0.95),
    BoundedRun("PQ-3H", PQ_3H, "scripted", "arog", hits=0.95),
    # Of one-hop questions 5 % have gold answers that the graph contradicts (films of one title are one node).
    BoundedRun("MetaQA-1", METAQA[1], "scripted", hits=0.99, f1=0.99, local_ms=_MS, reproduced_only=True),
    BoundedRun("MetaQA-2", METAQA[2], "scripted", hits=0.99, f1=0.99, local_ms=_MS),
    BoundedRun("MetaQA-3", METAQA[3], "scripted", hits=0.99, f1=0.99, local_ms=_MS),
    BoundedRun("PQ-2H", PQ_2H, "embedded", hits=0.90),
    BoundedRun("PQ-3H", PQ_3H, "embedded", hits=0.70),
    BoundedRun("demo", DEMO, "scripted", right=40),
    BoundedRun("demo", DEMO, "embedded", right=20),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One row with its report; `missed` says in words which bounds it did not reach."""

    row: BoundedRun
    report: Report
    outcomes: list[QuestionOutcome] = field(repr=False)

    @property
    def missed(self) -> list[str]:
        row, report = self.row, self.report
        right = sum(outcome.score.f1 == 1.0 for outcome in self.outcomes)
        bounds = [
            (report.quality.hits_at_1 >= row.hits - 1e-9, f"hits@1 {report.quality.hits_at_1:.3f} < {row.hits}"),
            (report.quality.f1 >= row.f1 - 1e-9, f"F1 {report.quality.f1:.3f} < {row.f1}"),
            (right >= row.right, f"{right} right < {row.right}"),
            (report.unanswerable_answered == 0, f"{report.unanswerable_answered} unanswerable answered"),
            (report.leaks.leaks == 0, f"{report.leaks.leaks} leaks"),
        ]
        if row.local_ms:
            p50, p95 = report.local_ms.p50, report.local_ms.p95
            bounds.append((p50 <= row.local_ms[0] and p95 <= row.local_ms[1], f"{p50:.1f} / {p95:.1f} ms"))
        return [words for reached, words in bounds if not reached]


@dataclass(frozen=True, slots=True)
class Results:
    """All rows that were run, in order."""

    results: tuple[Result, ...]

    @property
    def missed(self) -> bool:
        return any(result.missed for result in self.results)

    def markdown(self) -> str:
        lines = [
            f"- {r.row.name}, {r.row.strategy}, {r.row.reasoner}: {'; '.join(r.missed) or 'all bounds reached'}"
            for r in self.results
        ]
        return markdown([result.report for result in self.results]) + "\n" + "\n".join(lines) + "\n"

    def write(self, folder: Path) -> None:
        """`table.md` and `table.json`."""
        (folder / "table.md").write_text(self.markdown(), encoding="utf-8")
        write_json(
            [result.report for result in self.results],
            [result.outcomes for result in self.results],
            folder / "table.json",
        )


async def run_table(data: Path, limit: int, seed: int, only: str, show: Show) -> Results:
    """Runs the rows whose `name strategy reasoner` holds `only`; one service for each kind of reasoner."""
    rows = [row for row in ROWS if only in f"{row.name} {row.strategy} {row.reasoner}"]
    found: dict[BoundedRun, Result] = {}
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        for reasoner in dict.fromkeys(row.reasoner for row in rows):
            async with Bench(reasoner, changes=TO_THE_MODEL) as bench:
                sets = QuestionSets(bench, data, Path(folder), show)
                for row in (row for row in rows if row.reasoner == reasoner):
                    found[row] = await _run(row, sets, limit, seed, show)
    return Results(tuple(found[row] for row in rows))


async def _run(row: BoundedRun, sets: QuestionSets, limit: int, seed: int, show: Show) -> Result:
    loaded, questions = sets.of(row.source)
    if row.reasoner == "scripted":
        questions = [question for question in questions if question.has_plan]
    if row.reproduced_only:
        questions = [question for question in questions if question.reproduced]
    chosen = sample(questions, limit, seed)
    label = RunLabel(set_name=row.name, strategy=row.strategy, reasoner=row.reasoner, seed=seed)
    title = f"{row.name}, {row.strategy}, {row.reasoner}"
    report, outcomes = await sets.bench.ask(
        loaded, label, chosen, progress=lambda done: show(title, done, len(chosen))
    )
    return Result(row, report, outcomes)
