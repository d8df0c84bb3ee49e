"""Endpoints that lie beside a right answer or write a wrong expression, and how much of that is shown to people.

The lies and expressions are in files written by somebody who has not seen the code.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from app.chat.search import MODEL_ALONE, MODEL_ELSE, OWN_ELSE
from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from app.llm.endpoint.answer_words import tree_of
from app.llm.endpoint.request_body import read_step
from app.llm.tasks import StepInput, TaskModel, TaskName
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet
from evaluation.bench.question_sets import Show
from evaluation.bench.report import RunLabel
from evaluation.datasets.gold_plan import surfaces_of, topic_among
from evaluation.datasets.questions import Question, read_questions
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from kg_store.errors import ExpressionError

_SETS: Final = Path(__file__).with_name("sets")
_NOBODY: Final = "Exq9z8"
"""A word in the form of a pseudonym that stands for nothing."""
_STAND_IN: Final = re.compile(r"\b[EVS][a-z0-9]{5}\b")
_PART: Final = re.compile(r"([\w$]+)|\[(\d+)\]")
_NAMED: Final = re.compile(r"<<([^<>]+)>>|<([^<>]+)>")
BESIDE: Final = {"endpoint_use": "always", "endpoint_fallbacks": ("embedded",)}
"""Default settings of the service, which asks an endpoint beside the embedded reasoner; a bench asks it alone."""
_STRATEGY: Final = {
    "step": "sets", "structure": "arog", "choose_relations": "arog", "name_concepts": "arog", "answer": "arog",
    "reply": "dialogue",
}  # fmt: skip
_TELL: Final = Question(id="tell", question="Tell me about Rosalind Rose.", answers=())


@dataclass(frozen=True, slots=True)
class Lie:
    """A lie put into one field of a reply. Where it is shown, its `marker` can be seen."""

    kind: str
    task: TaskName
    field: str
    lie: Any
    marker: str


@dataclass(frozen=True, slots=True)
class WrongExpression:
    """An expression that does not answer its question; `<Name>` stands for a thing, `<<kind>>` for all of a kind."""

    question: str
    wrong_kind: str
    expression: str


def read_lies() -> list[Lie]:
    return [Lie(**json.loads(line)) for line in (_SETS / "lies.jsonl").read_text("utf-8").splitlines()]


def read_wrong_expressions() -> list[WrongExpression]:
    lines = map(json.loads, (_SETS / "wrong_expressions.jsonl").read_text("utf-8").splitlines())
    return [WrongExpression(each["question"], each["wrong_kind"], each["expression"]) for each in lines]


class LyingEndpoint(ScriptedEndpoint):
    """An endpoint that answers by the plan with `lie` put into its field; with None it is honest."""

    lie: Lie | None = None

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        honest = super().written(task, block, reply)
        if self.lie is None or self.lie.task != task:
            return honest
        told = _filled(self.lie.lie, block)
        if self.lie.field == "$raw":
            return told if isinstance(told, str) else json.dumps(told)
        place = [int(number) if number else name for name, number in _PART.findall(self.lie.field)]
        return json.dumps(_with(json.loads(honest), place, told))


class ConfusedEndpoint(ScriptedEndpoint):
    """An endpoint that answers every step with the expression `wrong`, regardless of the schema."""

    wrong: WrongExpression | None = None
    said = False
    """True if the last prompt showed all that the expression names, so that it could be written."""

    def written(self, task: TaskName, block: str, reply: TaskModel) -> str:
        if task != "step" or self.wrong is None or "choices" in json.loads(block):
            return super().written(task, block, reply)
        self.said = False
        words = _expression(self.wrong, read_step(block))
        if words is None:
            return json.dumps({"answer": ["none"]})
        self.said = True
        return json.dumps({"answer": words})


def _expression(wrong: WrongExpression, given: StepInput) -> list[str] | None:
    """Returns the tokens of the expression with the prompt's pseudonyms; None if the prompt lacks what it names."""
    things = {thing.name: thing.concept for thing in given.things}
    kinds = {name: concept for name, concept in things.items() if name[0] == "S"}
    surfaces = surfaces_of(wrong.question, given.question, set(things))

    def stand_in(found: re.Match[str]) -> str:
        if found[1]:
            return next((name for name, kind in kinds.items() if found[1] in kind.split(", ")), "?")
        return topic_among(surfaces, found[2]) or "?"

    text = _NAMED.sub(stand_in, wrong.expression)
    for way in sorted(given.candidates, key=lambda each: -len(each.path)):
        text = text.replace(_walked(way.start, way.path), f"way({way.number})")
    try:
        return None if "?" in text else tree_of(text)
    except ExpressionError:
        return None


def _walked(start: str, path: list[str]) -> str:
    for step in path:
        start = f'reach({start}, "{step}")'
    return start


def _filled(lie: Any, block: str) -> Any:
    """Returns `lie` with pseudonyms of the prompt for `{E}`, `{V}` and `{S}`, and a meaningless one for `{X}`."""
    if isinstance(lie, list):
        return [_filled(each, block) for each in lie]
    if isinstance(lie, dict):
        return {_filled(key, block): _filled(each, block) for key, each in lie.items()}
    if not isinstance(lie, str):
        return lie
    shown = _STAND_IN.findall(block)
    for letter in "EVS":
        lie = lie.replace(f"{{{letter}}}", next((word for word in shown if word[0] == letter), _NOBODY))
    return lie.replace("{X}", _NOBODY)


def _with(value: Any, place: list[str | int], told: Any) -> Any:
    """Returns a copy of `value` with `told` at `place`; missing parts are created."""
    if not place:
        return told
    first, *rest = place
    if isinstance(first, str):
        before = value if isinstance(value, dict) else {}
        return before | {first: _with(before.get(first), rest, told)}
    listed = list(value) if isinstance(value, list) else []
    listed += [listed[-1] if listed else None] * (first + 1 - len(listed))
    listed[first] = _with(listed[first], rest, told)
    return listed


@dataclass(frozen=True, slots=True)
class LieRun:
    """The number of lies told and, by kind, of lies shown; `errors` counts questions that ended with an error."""

    told: int
    shown: Counter[str] = field(default_factory=Counter)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class WrongRun:
    """Counts of an endpoint that writes wrong expressions.

    `asked`: the expressions to write. `said`: those that could be written, as the prompt held what they name. `plain`:
    those whose answer was shown without a warning, though it is not the service's own answer. `warned`: those whose
    answer was shown with one.
    """

    asked: int
    said: int
    plain: Sequence[WrongExpression] = ()
    warned: int = 0
    errors: int = 0


async def run_lies(show: Show) -> LieRun:
    """Tells each lie in its field of the reply to one of the demo's questions.

    The profile is open, so that every strategy asks the endpoint.
    """
    endpoint, lies = LyingEndpoint(), read_lies()
    endpoint.at_once = True
    shown, errors = Counter[str](), 0
    settings = {**TO_THE_MODEL, **BESIDE, "profile": "open"}
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


async def run_wrong_expressions(show: Show) -> WrongRun:
    """Makes an endpoint that passes the service's capability test write each wrong expression for its question."""
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
    """Returns the answers of the service without a model, by question."""
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
        route.breaker.reset()  # an earlier bad reply must not keep the next question from being sent
    found: list[Answer | None] = []
    label = RunLabel(set_name="demo", strategy=strategy, reasoner="scripted", seed=0)
    await bench.ask(loaded, label, [question], see=lambda _q, _outcome, answer, _steps: found.append(answer))
    return found[0]


async def _seen(bench: Bench, loaded: LoadedSet, question: Question, strategy: str) -> str | None:
    """Returns all text that the person who asked can read; None if an error ended the question."""
    answer = await _answer(bench, loaded, question, strategy)
    if answer is None:
        return None
    read = [each.name for each in fields(answer) if each.name not in ("usage", "rate_by")]
    return "\n".join(str(getattr(answer, name)) for name in read)


def _words(text: str) -> list[str]:
    """Returns the words of a text, sorted, so that answers with the same things in another order are equal."""
    return sorted(re.findall(r"\w+", text))


def _shows(lie: Lie, seen: str) -> bool:
    return lie.marker.casefold() in seen.casefold()
