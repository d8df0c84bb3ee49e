"""The table of limits: what is still answered rightly where prompts may show less, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import Bench, ReasonerName, sample
from evaluation.bench.question_sets import METAQA, PQ_3H, QuestionSets, Show
from evaluation.bench.report import RunLabel
from evaluation.checks.metrics import mean
from evaluation.fakes.path_following_endpoint import PathReader
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.tables.measures import Measure

NAME = "limit"
SETS = {"PQ-3H": PQ_3H, "MetaQA-3": METAQA[3]}
MAX_LOST, MAX_REFUSED = 0.02, 0.03


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits on what prompts may show, in settings. `bounded`: it is the default, and may cost little."""

    words: str
    reasoner: ReasonerName
    profile: str
    disclosure: str
    bounded: bool = False


# The first of each reasoner is what the others are compared with.
LIMITS = (
    Limit("open, no limit", "scripted", "open", "tell"),
    Limit("kind, no limit", "scripted", "kind", "tell"),
    Limit("kind, generalise (default)", "scripted", "kind", "generalise", bounded=True),
    Limit("kind, refuse", "scripted", "kind", "refuse"),
    Limit("strict, no limit", "scripted", "strict", "tell"),
    Limit("strict, generalise", "scripted", "strict", "generalise"),
    Limit("open, no limit", "embedded", "open", "tell"),
    Limit("kind, no limit", "embedded", "kind", "tell"),
)


async def run_disclosure_table(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """A line for each limit on each set whose title (`PQ-3H, limit, ...`) holds `only`. Raises QuestionsError."""
    measures: list[Measure] = []
    for name, source in SETS.items():
        best: dict[str, float] = {}
        for each in LIMITS:
            title = f"{name}, {NAME}, {each.reasoner}: {each.words}"
            if only.casefold() in title.casefold():
                outcomes = await _asked(each, source, data, limit, seed, title, show)
                measures.append(_line(title, each, outcomes, best.get(each.reasoner)))
                best.setdefault(each.reasoner, mean([outcome.score.hit for outcome in outcomes]))
    return measures


async def _asked(
    limit: Limit, source: str, data: Path, count: int, seed: int, title: str, show: Show
) -> Sequence[QuestionOutcome]:
    endpoint = None
    if limit.reasoner == "scripted":
        # Without the question's text a plan's topics can't be told apart; whoever reads strict prompts has the path.
        endpoint = PathReader() if limit.profile == "strict" else ScriptedEndpoint()
    changes = {"profile": limit.profile, "disclosure": limit.disclosure}
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench(limit.reasoner, scripted=endpoint, changes=changes) as bench:
            loaded, questions = QuestionSets(bench, data, Path(folder), show).of(source)
            chosen = sample([each for each in questions if each.has_plan and each.reproduced], count, seed)
            label = RunLabel(set_name=title, strategy="sets", reasoner=limit.reasoner, seed=seed)
            _, outcomes = await bench.ask(loaded, label, chosen, progress=lambda done: show(title, done, len(chosen)))
    return outcomes


def _line(title: str, limit: Limit, outcomes: Sequence[QuestionOutcome], best: float | None) -> Measure:
    hits, refused = (mean([float(each) for each in told]) for told in
                     ([o.score.hit for o in outcomes], [not o.answered for o in outcomes]))  # fmt: skip
    kept = best is None or (hits >= best - MAX_LOST - 1e-9 and refused <= MAX_REFUSED)
    bound = f"at most {100 * MAX_LOST:g} points lost, {MAX_REFUSED:.0%} refused" if limit.bounded else ""
    calls = mean([float(outcome.calls) for outcome in outcomes])
    return Measure(
        name=title,
        questions=len(outcomes),
        bound=bound,
        reached=f"accuracy {hits:.3f}, {refused:.1%} refused, {calls:.2f} calls",
        passed=kept or not limit.bounded,
    )
