"""Runs of endpoints that lie or err: what of it is shown to the person who asks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from app.chat.second_opinion import MODEL_ALONE, MODEL_ELSE, OWN_ELSE
from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import Question, read_questions
from evaluation.models.lying_endpoint import (
    ConfusedEndpoint,
    Lie,
    LyingEndpoint,
    WrongExpression,
    read_lies,
    read_wrong_expressions,
)
from evaluation.models.models_run import Progress

BESIDE: Final = {"endpoint_use": "always", "endpoint_fallbacks": ("embedded",)}
"""The service as it comes, for benches that ask an endpoint alone by default."""
_STRATEGY: Final = {
    "step": "sets", "structure": "arog", "choose_relations": "arog", "name_concepts": "arog", "answer": "arog",
    "reply": "dialogue",
}  # fmt: skip
_TELL: Final = Question(id="tell", question="Tell me about Rosalind Rose.", answers=())


@dataclass(frozen=True, slots=True)
class LieRun:
    """The number of lies that were told, and by kind those that were shown; `errors` ended a question."""

    told: int
    shown: Counter[str] = field(default_factory=Counter)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class WrongRun:
    """The number of wrong expressions that an endpoint was to write, of those that it could say, and those that were
    shown as the answer with neither a second reading nor a warning."""

    asked: int
    said: int
    plain: Sequence[WrongExpression] = ()
    warned: int = 0
    errors: int = 0


async def run_lies(show: Progress, changes: Mapping[str, object] | None = None) -> LieRun:
    """Each lie in its field of the reply to one of the demo's questions; openly, so that all are asked."""
    endpoint, lies = LyingEndpoint(), read_lies()
    endpoint.at_once = True
    shown, errors = Counter[str](), 0
    settings = {**TO_THE_MODEL, **BESIDE, "profile": "open", **(changes or {})}
    async with Bench("scripted", scripted=endpoint, changes=settings) as bench:
        loaded = _demo(bench)
        questions = [each for each in read_questions(QUESTIONS_FILE) if each.plan is not None and each.question]
        honest: dict[tuple[str, str], str] = {}
        for at, lie in enumerate(lies):
            question = _TELL if lie.task == "reply" else questions[at % len(questions)]
            key = question.id, _STRATEGY[lie.task]
            if key not in honest:
                endpoint.lie = None
                honest[key] = (await _seen(bench, loaded, question, key[1])) or ""
            endpoint.lie = lie
            seen = await _seen(bench, loaded, question, key[1])
            errors += seen is None
            if seen and _shows(lie, seen) and not _shows(lie, honest[key]):
                shown[lie.kind] += 1
            show("lies", at + 1, len(lies))
    return LieRun(len(lies), shown, errors)


async def run_wrong_expressions(show: Progress) -> WrongRun:
    """Each wrong expression for its question, by an endpoint that answered the puzzles of the probe."""
    endpoint, wrong = ConfusedEndpoint(), read_wrong_expressions()
    asked = list(dict.fromkeys(each.question for each in wrong))
    own = await _own_texts(asked)
    plain: list[WrongExpression] = []
    said = warned = errors = 0
    async with Bench("scripted", scripted=endpoint, changes={**TO_THE_MODEL, **BESIDE}) as bench:
        loaded = _demo(bench)
        for at, each in enumerate(wrong):
            endpoint.wrong = each
            answer = await _answer(bench, loaded, Question(id=str(at), question=each.question, answers=()))
            said += endpoint.said
            errors += answer is None
            if answer is not None and answer.answered:
                is_warned = any(words in answer.text for words in (MODEL_ALONE, MODEL_ELSE, OWN_ELSE))
                warned += is_warned
                if not is_warned and _words(answer.text) != _words(own[each.question]):
                    plain.append(each)
            show("wrong expressions", at + 1, len(wrong))
    return WrongRun(len(wrong), said, plain, warned, errors)


async def _own_texts(questions: Sequence[str]) -> dict[str, str]:
    """The answers of the service without a model."""
    async with Bench("embedded") as bench:
        loaded, found = _demo(bench), dict[str, str]()
        for at, text in enumerate(questions):
            answer = await _answer(bench, loaded, Question(id=str(at), question=text, answers=()))
            found[text] = answer.text if answer else ""
    return found


def _demo(bench: Bench) -> LoadedSet:
    return bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))


async def _answer(bench: Bench, loaded: LoadedSet, question: Question, strategy: str = "sets") -> Answer | None:
    for route in bench.endpoints:
        route.breaker.reset()  # What one reply did is no reason not to send the next question.
    found: list[Answer | None] = []
    label = RunLabel(set_name="demo", strategy=strategy, reasoner="scripted", seed=0)
    await bench.ask(loaded, label, [question], see=lambda _q, _outcome, answer, _steps: found.append(answer))
    return found[0]


async def _seen(bench: Bench, loaded: LoadedSet, question: Question, strategy: str) -> str | None:
    """All that the person who asked can read; None where an error ended the question."""
    answer = await _answer(bench, loaded, question, strategy)
    if answer is None:
        return None
    read = [each.name for each in fields(answer) if each.name not in ("usage", "rate_by")]
    return "\n".join(str(getattr(answer, name)) for name in read)


def _words(text: str) -> list[str]:
    """The words of a text in no order: sets have none."""
    return sorted(re.findall(r"\w+", text))


def _shows(lie: Lie, seen: str) -> bool:
    return lie.marker.casefold() in seen.casefold()
