"""docs/reasoner_contract.md is what the models say."""

import json
import re
from pathlib import Path
from typing import get_args

from app.llm.tasks import TaskName
from evaluation.fakes.contract import TASKS, contract_text

PAGE = Path(__file__).parents[3] / "docs" / "reasoner_contract.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == contract_text(), "run `arog eval contract`"


def test_it_names_every_task_field_that_is_sent_and_every_function() -> None:
    page = contract_text()
    assert set(TASKS) == set(get_args(TaskName))
    for asked, reply, _ in TASKS.values():
        for name, field in (asked.model_fields | reply.model_fields).items():
            assert (f"`{name}` (" in page) or field.exclude
    assert "argmax(A" in page


def test_reply_schemas_are_strict_at_every_level() -> None:
    schemas = [json.loads(block) for block in re.findall(r"```json\n(\{.*?)\n```", contract_text())]
    assert len(schemas) == len(TASKS)
    pending: list[object] = list(schemas)
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending += node.values()
            if node.get("type") == "object":
                assert node["additionalProperties"] is False
                assert node["required"] == list(node["properties"])
        elif isinstance(node, list):
            pending += node
