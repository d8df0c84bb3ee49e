"""The result of a run: one record that is written as JSON, and as a row of a Markdown table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from app.graphs.markdown_table import markdown_table
from evaluation.bench.asker import QuestionOutcome
from evaluation.checks.leak_scan import Findings
from evaluation.checks.metrics import interval, mean, percentile


class Spread(BaseModel):
    """Median, 95th percentile and mean of one quantity over the questions that were answered or refused."""

    model_config = ConfigDict(frozen=True)
    p50: float
    p95: float
    mean: float


class Quality(BaseModel):
    """Measures of how well a group of questions was answered; means between 0 and 1."""

    model_config = ConfigDict(frozen=True)
    questions: int
    hits_at_1: float
    hits_at_1_interval: tuple[float, float]
    f1: float


class Leaks(BaseModel):
    """The scanner's findings in all bytes that reached the reasoner. Names stand here: for public data only."""

    model_config = ConfigDict(frozen=True)
    payloads: int
    bytes_read: int
    names_looked_for: int
    leaks: int
    leaked: dict[str, int]
    public_word_hits: int
    public_words: dict[str, int]


class RunLabel(BaseModel):
    """Which questions were asked, and of whom."""

    model_config = ConfigDict(frozen=True)
    set_name: str
    strategy: str
    reasoner: str
    seed: int = 0


_SPREADS = ("rounds", "calls", "prompt_tokens", "completion_tokens", "local_ms")


class Report(RunLabel):
    """One run of one set. `unanswerable_answered` counts questions without an answer that got one."""

    quality: Quality
    reproduced: Quality
    filtered: Quality
    by_kind: dict[str, Quality]
    linked: float | None
    answered: int
    refused: int
    unanswerable: int
    unanswerable_answered: int
    ungrounded: int
    problems: dict[str, int]
    rounds: Spread
    calls: Spread
    prompt_tokens: Spread
    completion_tokens: Spread
    tokens_counted_by: str
    milliseconds: dict[str, Spread]
    local_ms: Spread
    leaks: Leaks


def summarise(label: RunLabel, outcomes: Sequence[QuestionOutcome], findings: Findings, names: int) -> Report:
    """The report of a run. `names` is how many names the scanner looked for."""
    whole = [outcome for outcome in outcomes if not outcome.problem]
    linked = [float(outcome.linked) for outcome in outcomes if outcome.linked is not None]
    unanswerable = [outcome for outcome in outcomes if not outcome.expects_answer]
    counted = {"endpoint" if outcome.tokens_by_endpoint else "wordpiece" for outcome in whole if outcome.calls}
    kinds = sorted({outcome.kind for outcome in outcomes})
    return Report(
        **label.model_dump(),
        quality=_quality(outcomes),
        reproduced=_quality([outcome for outcome in outcomes if outcome.reproduced]),
        filtered=_quality([outcome for outcome in outcomes if outcome.filtered]),
        by_kind={kind: _quality([outcome for outcome in outcomes if outcome.kind == kind]) for kind in kinds},
        linked=mean(linked) if linked else None,
        answered=sum(outcome.answered for outcome in outcomes),
        refused=sum(not outcome.answered and not outcome.problem for outcome in outcomes),
        unanswerable=len(unanswerable),
        unanswerable_answered=sum(outcome.answered for outcome in unanswerable),
        ungrounded=sum(not outcome.grounded for outcome in whole),
        problems=dict(Counter(outcome.problem for outcome in outcomes if outcome.problem)),
        **{each: _spread(getattr(outcome, each) for outcome in whole) for each in _SPREADS},
        tokens_counted_by=" and ".join(sorted(counted)) or "none",
        milliseconds={
            stage: _spread(outcome.milliseconds.get(stage, 0.0) for outcome in whole)
            for stage in sorted({stage for outcome in whole for stage in outcome.milliseconds})
        },
        leaks=Leaks(
            payloads=findings.payloads,
            bytes_read=findings.bytes_read,
            names_looked_for=names,
            leaks=findings.leaks.total(),
            leaked=dict(findings.leaks.most_common()),
            public_word_hits=findings.public_words.total(),
            public_words=dict(findings.public_words.most_common()),
        ),
    )


def write_json(reports: Sequence[Report], outcomes: Sequence[Sequence[QuestionOutcome]], file: Path) -> None:
    """Each report, with its questions by id: hit, F1, calls and problem; no question's or answer's text."""
    told = ("id", "answered", "linked", "rounds", "calls", "problem")
    rows = []
    for report, asked in zip(reports, outcomes, strict=True):
        questions = [
            {each: getattr(outcome, each) for each in told}
            | {"hit": outcome.score.hit, "f1": outcome.score.f1, "local_ms": round(outcome.local_ms, 2)}
            | {"local_processor_ms": round(outcome.local_processor_ms, 2)}
            for outcome in asked
        ]
        rows.append({"report": report.model_dump(), "questions": questions})
    file.write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")


def markdown(reports: Sequence[Report]) -> str:
    """One table, one row a run."""
    head = (
        "set", "strategy", "reasoner", "n", "hits@1 (95 %)", "F1", "linked", "answered / refused", "rounds",
        "calls mean / p95", "tokens in + out", "local ms p50 / p95", "leaks", "public-word hits",
    )  # fmt: skip
    return markdown_table(head, map(_row, reports))


def stages_markdown(report: Report) -> str:
    """Milliseconds of each stage of one run."""
    rows = [(stage, f"{s.p50:.2f}", f"{s.p95:.2f}", f"{s.mean:.2f}") for stage, s in report.milliseconds.items()]
    return markdown_table(("stage", "p50 ms", "p95 ms", "mean ms"), rows)


def _row(report: Report) -> tuple[str, ...]:
    low, high = report.quality.hits_at_1_interval
    tokens = f"{report.prompt_tokens.mean:.0f} + {report.completion_tokens.mean:.0f}"
    words = ", ".join(list(report.leaks.public_words)[:5])
    return (
        report.set_name,
        report.strategy,
        report.reasoner,
        str(report.quality.questions),
        f"{report.quality.hits_at_1:.3f} ({low:.2f}-{high:.2f})",
        f"{report.quality.f1:.3f}",
        "" if report.linked is None else f"{report.linked:.3f}",
        f"{report.answered} / {report.refused}",
        f"{report.rounds.mean:.1f}",
        f"{report.calls.mean:.1f} / {report.calls.p95:.0f}",
        f"{tokens} ({report.tokens_counted_by})",
        f"{report.local_ms.p50:.1f} / {report.local_ms.p95:.1f}",
        str(report.leaks.leaks),
        f"{report.leaks.public_word_hits}" + (f" ({words} ...)" if words else ""),
    )


def _quality(outcomes: Sequence[QuestionOutcome]) -> Quality:
    hits = [outcome.score.hit for outcome in outcomes]
    f1 = mean([outcome.score.f1 for outcome in outcomes])
    return Quality(questions=len(hits), hits_at_1=mean(hits), hits_at_1_interval=interval(hits), f1=f1)


def _spread(values: Iterable[float]) -> Spread:
    known = list(values)
    return Spread(p50=percentile(known, 0.5), p95=percentile(known, 0.95), mean=mean(known))
