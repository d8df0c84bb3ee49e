"""Reads the reply of an endpoint and accepts only what the request offered, even if the endpoint
enforced no schema.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from app.llm.endpoint.answer_trees import MORE, NONE, WORDS, Tree, TreeError, flat, step_reply_of
from app.llm.endpoint.closed_schemas import choices_of, values_of, words_offered
from app.llm.endpoint.repair_messages import BLANK, CUT_OFF, EMPTY, MISFIT, NO_JSON, NOT_OFFERED
from app.llm.endpoint.request_body import Completion
from app.llm.endpoint.transport import MAX_WHITE_SPACE
from app.llm.tasks import (
    AnswerInput,
    AnswerReply,
    ChooseInput,
    ChooseReply,
    DialogueReply,
    NameReply,
    ReplyT,
    StepInput,
    StepReply,
    Task,
    TaskModel,
)


class MisfitError(Exception):
    """The reply cannot be used; `complaint` says why, in fixed words."""

    def __init__(self, complaint: str) -> None:
        super().__init__()
        self.complaint = complaint


class _Answer(BaseModel):
    """The wire format of an answer; additional fields are ignored."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    answer: Any
    thought: str = ""
    sufficient: bool = True


def read_reply(task: Task[ReplyT], completion: Completion) -> ReplyT:
    """Returns the reply to `task`. Raises MisfitError."""
    found = _object_in(completion)
    model = task.kind.reply_model
    try:
        if issubclass(model, StepReply | AnswerReply):
            return cast(ReplyT, _answer(task.input, _Answer.model_validate(found)))
        known = {name: value for name, value in found.items() if name in model.model_fields}
        return _of_offered(task.input, model.model_validate(known))
    except (ValidationError, TreeError, RecursionError):
        raise MisfitError(MISFIT) from None


def wire_words(reply: TaskModel, tree: Tree) -> str:
    """Returns the JSON that an endpoint sends for an answer; used by stand-ins of a model."""
    told = {"thought": reply.thought, "sufficient": reply.sufficient} if isinstance(reply, AnswerReply) else {}
    return json.dumps(told | {"answer": tree})


def _answer(given: TaskModel, said: _Answer) -> TaskModel:
    tree = flat(said.answer)
    if isinstance(given, StepInput):
        choices = choices_of(given)
        if len(tree) == 1 and tree[0] in choices:
            return StepReply(action="answer", answer=[choices[tree[0]]])
        _check_words(tree, words_offered(given))
        return step_reply_of(tree, given.hint)
    if not said.sufficient:
        return AnswerReply(thought=said.thought, sufficient=False, answer=[])
    _check_words(tree, words_offered(cast(AnswerInput, given)))
    found = step_reply_of(tree)
    return AnswerReply(thought=said.thought, sufficient=bool(found.answer), answer=found.answer)


def _check_words(tree: Tree, offered: Sequence[str]) -> None:
    """Raises MisfitError if a word of `tree` was not offered, or if it uses nothing that was offered."""
    if not {*WORDS, *offered}.issuperset(tree) or ({*tree}.isdisjoint(offered) and tree not in ([NONE], [MORE])):
        raise MisfitError(NOT_OFFERED)


def _of_offered(given: TaskModel, reply: ReplyT) -> ReplyT:
    """`reply` without numbers that were not offered. Raises MisfitError if none is left."""
    offered = values_of(given).get("numbers", [])
    if isinstance(reply, ChooseReply) and isinstance(given, ChooseInput):
        kept = [number for number in reply.choices if number in offered]
        if reply.choices and offered and not kept and 0 not in reply.choices:
            raise MisfitError(NOT_OFFERED)
        return cast(ReplyT, ChooseReply(choices=kept))
    if isinstance(reply, DialogueReply):
        return cast(ReplyT, reply.model_copy(update={"facts": [at for at in reply.facts if at in offered]}))
    if isinstance(reply, NameReply):
        return cast(ReplyT, NameReply(concepts=[each for each in reply.concepts if each.number in offered]))
    return reply


def _object_in(completion: Completion) -> dict[str, Any]:
    content = _bare(completion.content)
    if not content:
        raise MisfitError(EMPTY)
    if completion.finish_reason == "length":
        raise MisfitError(CUT_OFF)
    if _blank_run(content):
        raise MisfitError(BLANK)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise MisfitError(NO_JSON) from None
    if not isinstance(found, dict):
        raise MisfitError(NO_JSON)
    return found


def _blank_run(content: str) -> bool:
    plain = content.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    return " " * MAX_WHITE_SPACE in plain


def _bare(content: str) -> str:
    """The JSON alone, without the code fence or the thinking aloud that some models put around it."""
    text = content.strip()
    if text.startswith("<think>"):
        text = text.partition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    return text
