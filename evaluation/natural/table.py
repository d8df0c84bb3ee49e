"""The figures of natural questions, against their bounds and by kind and graph; and the list of what was not right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.checks.metrics import calibration_error, mean
from evaluation.natural.questions import Half
from evaluation.natural.run import NaturalOutcome, NaturalRun
from evaluation.natural.verdicts import VERDICTS, Verdict
from evaluation.tables import measures as measure
from evaluation.tables.measures import Measure

_Outcomes = Sequence[NaturalOutcome]

TITLES: Final[dict[Half, str]] = {"seen": "seen half", "shut": "half never looked at"}
_QUANTIFIED: Final = ("negation", "quantifier")
_P50_MS, _P95_MS = 20, 60


def measures(run: NaturalRun) -> list[Measure]:
    """The lines of each half that was asked; bounds are those of the half that nobody looks at."""
    lines = [line for half in TITLES for line in _of_half(half, [each for each in run.outcomes if each.half == half])]
    asked_ms = [each.reasoning_ms for each in run.outcomes if each.answer is not None]
    return [
        *lines,
        measure.times("the reasoner's own time, p50 / p95", asked_ms, _P50_MS, _P95_MS),
        _at_most("names that reached the reasoner", len(run.outcomes), run.leaks, 0),
    ]


def by_kind(run: NaturalRun) -> str:
    """A Markdown table: of each half all questions, then each kind, then each graph."""
    rows: list[tuple[str, ...]] = []
    for half, title in TITLES.items():
        outcomes = [each for each in run.outcomes if each.half == half]
        groups: dict[str, list[NaturalOutcome]] = {"all": list(outcomes)}
        for each in sorted(outcomes, key=lambda outcome: outcome.question.kind):
            groups.setdefault(each.question.kind.replace("_", " "), []).append(each)
        for each in outcomes:
            groups.setdefault(f"graph {each.question.graph}", []).append(each)
        rows += [(f"{title}: {name}", *_counts(group)) for name, group in groups.items() if group]
    return markdown_table(("questions", "n", *VERDICTS, "share right"), rows)


def wrong_markdown(run: NaturalRun) -> str:
    """The questions of the seen half that were not right, the wrong ones first; none of the other half."""
    parts = ["# Natural questions that were not rightly answered", "", "The seen half alone. Wrong ones come first."]
    for verdict in reversed(VERDICTS[1:]):
        found = [each for each in run.outcomes if each.half == "seen" and each.verdict == verdict]
        parts += ["", f"## {verdict} ({len(found)})", "", *(line for each in found for line in _told(each))]
    return "\n".join(parts) + "\n"


def _of_half(half: Half, outcomes: _Outcomes) -> Iterator[Measure]:
    if not outcomes:
        return

    def bound(figure: float) -> float | None:
        return figure if half == "shut" else None

    title = TITLES[half]
    given = [each for each in outcomes if each.is_given]
    unanswerable = [each for each in outcomes if each.question.gold.type == "unanswerable"]
    yes_no = [each for each in outcomes if each.question.kind == "yes_no"]
    quantified = [each for each in outcomes if each.question.kind in _QUANTIFIED]
    yield _share(f"{title}: right", outcomes, "right", bound(0.85))
    yield _at_most(f"{title}: wrong among the answers given", len(given), _part(given, "wrong"), bound(0.03))
    yield _at_most(f"{title}: partly right among them", len(given), _part(given, "partly"), None)
    yield _share(f"{title}: rightly refused of the unanswerable", unanswerable, "right", bound(0.95))
    yield _share(f"{title}: yes or no", yes_no, "right", bound(0.95))
    yield _share(f"{title}: negation and quantifiers", quantified, "right", bound(0.80))
    yield _at_most(f"{title}: of these wrong", len(quantified), _part(quantified, "wrong"), bound(0.0))
    sure = [(each.confidence, each.verdict == "right") for each in given if each.confidence is not None]
    if sure:
        error = calibration_error([(confidence, is_right) for confidence, is_right in sure])
        yield _at_most(f"{title}: calibration error of the confidence, ten bins", len(sure), error, bound(0.05))
    asked_back = sum(each.answer is not None and bool(each.answer.did_you_mean) for each in outcomes)
    yield _at_most(f"{title}: asked back", len(outcomes), asked_back, None)
    if chosen := [each for each in outcomes if each.choices]:
        meant = mean([float("right" in each.choices) for each in chosen])
        yield measure.share(f"{title}: of these the right question was offered", meant, len(chosen))
    if failed := sum(each.answer is None for each in outcomes):
        yield _at_most(f"{title}: ended with an error", len(outcomes), failed, bound(0))


def _share(name: str, outcomes: _Outcomes, verdict: Verdict, bound: float | None) -> Measure:
    return measure.share(name, _part(outcomes, verdict), len(outcomes), bound)


def _part(outcomes: _Outcomes, verdict: Verdict) -> float:
    return mean([float(each.verdict == verdict) for each in outcomes])


def _at_most(name: str, questions: int, reached: float, bound: float | None) -> Measure:
    """Shares to three places, counts as they are."""
    return Measure(
        name=name,
        questions=questions,
        bound="" if bound is None else f"at most {bound:g}",
        reached=str(reached) if isinstance(reached, int) else f"{reached:.3f}",
        passed=bound is None or (questions > 0 and reached <= bound + 1e-9),
    )


def _counts(outcomes: _Outcomes) -> tuple[str, ...]:
    counts = Counter(each.verdict for each in outcomes)
    right = counts["right"] / len(outcomes)
    return (str(len(outcomes)), *(str(counts[verdict]) for verdict in VERDICTS), f"{right:.2f}")


def _told(outcome: NaturalOutcome) -> Iterator[str]:
    question, answer = outcome.question, outcome.answer
    yield f"- {question.id}: {' / '.join(question.texts)}"
    yield f"    - answered: {answer.text if answer else 'with an error'}"
    for line in answer.path if answer else ():
        yield f"    - path: {line}"
    yield f"    - gold ({question.gold.type}): {'; '.join(map(str, question.gold.items)) or 'none'}"
