"""Requests as an endpoint gets them, made for tests."""

from __future__ import annotations

import json

from app.llm.endpoint.request_body import input_text
from app.llm.tasks import Candidate, Evidence, StepInput, TaskModel, Thing


def request(asked: TaskModel, task: str = "step") -> bytes:
    content = f"```json\n{input_text(asked, 'tree')}\n```"
    shape = {"type": "json_schema", "json_schema": {"name": task, "strict": True, "schema": {}}}
    return json.dumps({"messages": [{"role": "user", "content": content}], "response_format": shape}).encode()


def step(
    evidence: list[Evidence] | None = None,
    candidates: list[Candidate] | None = None,
    name: str = "Eaaaa1",
    question: str = "",
) -> bytes:
    """A request of the strategy `sets` about one person."""
    return request(
        StepInput(
            question=question,
            things=[Thing(name=name, concept="person")],
            evidence=evidence or [],
            candidates=candidates or [],
        )
    )
