"""The fixed words in the variable part of a request: field names and values of the tasks, and the service's own
sentences.

A name that equals one of them is a public word, because the guard could not tell it from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from app.chat.concluding import NAMELESS, NOT_GROUNDED, SENTENCES
from app.chat.turns import DID_YOU_MEAN
from app.llm.tasks import AnswerInput, ChooseInput, NameInput, StepInput, StructureInput, TaskModel
from app.strategies.sets.prompts import ASKED, FUNCTIONS, PATH

INPUTS: tuple[type[TaskModel], ...] = (StructureInput, ChooseInput, NameInput, AnswerInput, StepInput)


@cache
def request_words() -> tuple[str, ...]:
    """Returns phrases for the catalog; sentences of refusals are among them, because later prompts
    hold earlier turns.
    """
    words = {word for model in INPUTS for word in _schema_words(model.model_json_schema())}
    told = (PATH, *ASKED.values(), *FUNCTIONS.values())
    return (*sorted(words), "json", "true", "false", "null", NAMELESS, NOT_GROUNDED, DID_YOU_MEAN, *SENTENCES, *told)


def _schema_words(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for child in node:
            yield from _schema_words(child)
    elif isinstance(node, dict):
        yield from node.get("properties", {})
        yield from (value for value in (*node.get("enum", ()), node.get("const")) if isinstance(value, str))
        for child in node.values():
            yield from _schema_words(child)
