"""Reads the requests that a model endpoint gets: the task, and the one JSON block of its input, from their bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.llm.endpoint.input_lines import read_step
from app.llm.tasks import Candidate, Evidence, TaskModel, TaskName, Thing, Turn
from evaluation.fakes.contract import TASKS

_FENCE = "```json"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as docs/reasoner_contract.md describes it; what a task does not have is empty."""

    task: TaskName
    question: str = field(default="", repr=False)
    dialogue: tuple[Turn, ...] = field(default=(), repr=False)
    things: tuple[Thing, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    further: int = 0
    round: int = 1

    @property
    def names_concepts_by_model(self) -> bool:
        """True where the concepts of the evidence are a model's words and no kinds of the graph (`arog`)."""
        return self.task == "answer"


def prompt_of(body: bytes) -> Prompt | None:
    """None for a request that is no task, as probes are."""
    request = json.loads(body)
    shape = request.get("response_format", {}).get("json_schema", {})
    task, messages = shape.get("name"), request.get("messages", [])
    if task not in TASKS:
        return None
    content = next(message["content"] for message in reversed(messages) if message["role"] == "user")
    lines = content.rstrip().split("\n")
    block = "\n".join(lines[lines.index(_FENCE) + 1 : lines.index("```")])
    if task == "step" and "choices" in (listed := json.loads(block)):
        return Prompt(task, listed["question"])
    asked: TaskModel = read_step(block) if task == "step" else TASKS[task][0].model_validate_json(block)
    return Prompt(
        task=task,
        question=getattr(asked, "question", ""),
        dialogue=tuple(getattr(asked, "dialogue", ())),
        things=tuple(getattr(asked, "things", ())),
        candidates=tuple(getattr(asked, "candidates", ())),
        evidence=tuple(getattr(asked, "evidence", ())),
        further=getattr(asked, "further", 0),
        round=getattr(asked, "round", 1),
    )


def prompts_of(bodies: Sequence[bytes]) -> list[Prompt]:
    """In the order in which they were sent; requests that are no task are left out."""
    return [prompt for body in bodies if (prompt := prompt_of(body)) is not None]
