"""The file of wrong answers: each with its linking, paths and scores, grouped by cause. It holds names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.graphs.markdown_table import markdown_table
from app.graphs.report_files import write_private
from app.reader.plans.candidate_paths import ScoredPath
from app.reader.scoring.path_scoring import PathScorer
from client_sdk.answers.answer import Answer
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.error_causes import Cause, cause_of
from evaluation.bench.path_trail import GoldPath, PathTrail, trail_of
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import Question
from evaluation.fakes.recording_reasoner import Step

MAX_NAMES_SHOWN = 8
MAX_KINDS_SHOWN = 5
MIN_SHOWN = -1000.0  # the scorer's own mark of the impossible lies far below
_WORD = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One entry of the file."""

    question: Question = field(repr=False)
    outcome: QuestionOutcome
    trail: PathTrail | None = field(repr=False)
    cause: Cause


class ErrorLog:
    """Gathers the wrong answers of a run: those whose set of names is not exactly the gold set.

    Questions of wordings that nobody is to look at are counted and left out.
    """

    def __init__(self, scorer: PathScorer) -> None:
        self._scorer = scorer
        self._asked = 0
        self._hidden = 0
        self.wrong: list[WrongAnswer] = []

    def see(self, question: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        """Called after every question, with what its last turn asked of the reasoner."""
        if question.half == "unseen":
            self._hidden += 1
            return
        self._asked += 1
        if outcome.score.f1 == 1.0:
            return
        trail = trail_of(question, steps, self._scorer)
        cause = cause_of(question, outcome, answer, trail)
        self.wrong.append(WrongAnswer(question, outcome, trail, cause))

    def write(self, label: RunLabel, file: Path, leaked: Mapping[str, int]) -> None:
        """Markdown, readable by its owner alone (mode 600), whoever could read the file before.

        `leaked` counts the names that the scanner found in what reached the reasoner.
        """
        write_private(file, self.markdown(label, leaked).encode())

    def markdown(self, label: RunLabel, leaked: Mapping[str, int]) -> str:
        groups: dict[Cause, list[WrongAnswer]] = {}
        for wrong in self.wrong:
            groups.setdefault(wrong.cause, []).append(wrong)
        ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
        hidden = f" {self._hidden} more are of wordings that nobody looks at." if self._hidden else ""
        parts = [
            f"# Wrong answers: {label.set_name}, {label.strategy}, {label.reasoner}, seed {label.seed}",
            "This file holds names of the graph and what was asked. It is for the graph's owner alone.",
            f"{len(self.wrong)} of {self._asked} answers are not exactly the gold answers.{hidden}",
            "Names that reached the reasoner: "
            + (", ".join(f"{name} ({count})" for name, count in leaked.items()) or "none")
            + ".",
            markdown_table(("cause", "answers", "kinds"), [_counted(c, g) for c, g in ranked]).rstrip(),
        ]
        for cause, group in ranked:
            parts.append(f"## {cause} ({len(group)})")
            parts += [_entry(wrong) for wrong in group]
        return "\n\n".join(parts) + "\n"


def _counted(cause: Cause, group: Sequence[WrongAnswer]) -> tuple[str, int, str]:
    """A row of the summary, with the commonest kinds of question."""
    kinds = Counter(wrong.question.kind for wrong in group if wrong.question.kind).most_common(MAX_KINDS_SHOWN)
    return cause, len(group), ", ".join(f"{kind} {count}" for kind, count in kinds)


def _entry(wrong: WrongAnswer) -> str:
    question, outcome, trail = wrong.question, wrong.outcome, wrong.trail
    score = f"hit {outcome.score.hit:.2f}, F1 {outcome.score.f1:.2f}"
    lines = [f"### {question.id}" + (f" ({question.kind})" if question.kind else "") + f": {score}"]
    lines += [f"- turn: {text}" for text in question.texts[:-1]]
    lines += [f"- question: {question.texts[-1]}", f"- linking: {_linking(question, outcome, trail)}"]
    if trail is not None:
        lines += _paths(trail)
    lines.append(f"- answered: {outcome.problem or _listed(outcome.names, 'nothing')}")
    lines.append(f"- gold: {_listed(question.answers, 'the graph has no answer')}")
    return "\n".join(lines)


def _paths(trail: PathTrail) -> list[str]:
    lines = [f"- followed: {_scored(each, trail)}" for each in trail.followed] or ["- followed: none"]
    if trail.runner_up:
        lines.append(f"- runner-up: {_scored(trail.runner_up, trail)}")
    lines += [f"- gold path: {_gold(each, trail)}" for each in trail.gold] or ["- gold path: none is known"]
    said = [expression for expression in trail.expressions if "(" in expression]
    if said:
        lines.append("- expression: " + "; ".join(_in_words(expression, trail) for expression in said))
    return lines


def _linking(question: Question, outcome: QuestionOutcome, trail: PathTrail | None) -> str:
    """Reports the linking: how many gold topics were found, which were missed, and every word that was replaced."""
    gold = len(question.topic_entities)
    told = f"{gold - len(outcome.missed_topics)} of {gold} topics found" if gold else "no topic is known"
    if outcome.missed_topics:
        told += f", missed: {_listed(outcome.missed_topics, '')}"
    words = [words for words in (trail.words.values() if trail else ()) if not words.startswith("(")]
    return told + (f"; read as names and values: {', '.join(words)}" if words else "; nothing was read as a name")


def _scored(scored: ScoredPath, trail: PathTrail) -> str:
    """`[ann quill] > spouse > ^parents (person), score 0.310`."""
    path = scored.path
    hops = [
        step + (f" ({concept})" if concept else "") for step, concept in zip(path.steps, path.concepts, strict=True)
    ]
    state = "" if path.end is not None else ", not walked"
    score = f"score {scored.score:.3f}" if scored.score > MIN_SHOWN else "no reading of the question gives it"
    return " > ".join([f"[{trail.words.get(path.root, '?')}]", *hops]) + f", {score}{state}"


def _gold(gold: GoldPath, trail: PathTrail) -> str:
    if gold.scored is not None:
        return _scored(gold.scored, trail)
    root = trail.words.get(gold.root, "?")
    return " > ".join([f"[{root}]", *gold.steps]) + ", never shown in whole"


def _in_words(expression: str, trail: PathTrail) -> str:
    """An expression with the path in place of each pseudonym."""
    paths = {
        each.path.end: " > ".join((trail.words.get(each.path.root, "?"), *each.path.steps)) for each in trail.followed
    }

    def replace(match: re.Match[str]) -> str:
        words = paths.get(match[0]) or trail.words.get(match[0])
        return f"[{words}]" if words else match[0]

    return _WORD.sub(replace, expression)


def _listed(names: Iterable[str], none: str) -> str:
    known = list(names)
    more = f" and {len(known) - MAX_NAMES_SHOWN} more" if len(known) > MAX_NAMES_SHOWN else ""
    return ", ".join(known[:MAX_NAMES_SHOWN]) + more if known else none
