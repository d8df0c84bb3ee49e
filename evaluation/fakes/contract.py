"""Write docs/reasoner_contract.md from the pydantic models of the tasks, so that page and code agree."""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from app.graphs.markdown_table import markdown_table
from app.llm import tasks
from app.llm.endpoint.closed_schemas import marked_schema
from app.llm.tasks import TaskModel, TaskName
from kg_store.algebra import expressions

TASKS: dict[TaskName, tuple[type[TaskModel], type[TaskModel], str]] = {
    "structure": (tasks.StructureInput, tasks.StructureReply, "`arog`: thought, concept path and guess"),
    "choose_relations": (tasks.ChooseInput, tasks.ChooseReply, "`arog`: which relations to follow"),
    "name_concepts": (tasks.NameInput, tasks.NameReply, "`arog`: one concept for each cluster"),
    "answer": (tasks.AnswerInput, tasks.AnswerReply, "`arog`: a draft, or not yet"),
    "step": (tasks.StepInput, tasks.StepReply, "`sets`: answer, follow, or not in the graph"),
    "reply": (tasks.ReplyInput, tasks.DialogueReply, "`dialogue`, `demands`: the facts of a reply, and its manner"),
    "worded_reply": (tasks.ReplyInput, tasks.WordedReply, "`dialogue`: a reply in the model's own words"),
    "demands": (tasks.DemandsInput, tasks.DemandsReply, "`demands`: the knowledge that a reply needs"),
}

_HEAD = Path(__file__).with_name("contract_head.md")


def contract_text() -> str:
    """Returns the whole page as Markdown."""
    parts = [_HEAD.read_text("utf-8").replace("TASK_NAMES", ", ".join(f"`{task}`" for task in get_args(TaskName)))]
    parts += ["## Tasks\n", markdown_table(("task", "asked by", "input", "reply"), _task_rows())]
    shown: set[type[TaskModel]] = set()
    for task in get_args(TaskName):
        parts += list(_of_task(task, shown))
    parts.append("## Shared parts\n")
    parts += [_of_model(model) for model in _shared_models()]
    parts += ["## Expressions\n", _expressions()]
    return "\n".join(parts).rstrip() + "\n"


def _task_rows() -> Iterator[tuple[str, ...]]:
    for task, (asked, reply, purpose) in TASKS.items():
        yield f"`{task}`", purpose, f"`{asked.__name__}`", f"`{reply.__name__}`"


def _of_task(task: TaskName, shown: set[type[TaskModel]]) -> Iterator[str]:
    """Yields the sections of a task: its input and reply, unless they are in `shown`, and the schema of the reply."""
    asked, reply, _ = TASKS[task]
    yield f"## Task `{task}`\n"
    yield from (_of_model(model) for model in (asked, reply) if model not in shown)
    shown |= {asked, reply}
    schema = json.dumps(marked_schema(task, "tree"), separators=(",", ":")).replace('"\\u0004', '"...')
    schema = re.sub(r'"none","more".*?"5",', '"...functions",', schema)
    yield f"Schema of the reply:\n\n```json\n{schema}\n```\n"


def _of_model(model: type[TaskModel]) -> str:
    """Describes a model's fields; those without a description share one line, and excluded ones are left out."""
    says = inspect.cleandoc(model.__doc__ or "") if model.__doc__ != TaskModel.__doc__ else ""
    fields = {name: field for name, field in model.model_fields.items() if not field.exclude}
    named = {name: f"`{name}` ({_type_words(field.annotation)})" for name, field in fields.items()}
    lines = [f"- {named[name]}: {_meaning(field)}" for name, field in fields.items() if _meaning(field)]
    plain = [named[name] for name, field in fields.items() if not _meaning(field)]
    lines += [f"- {', '.join(plain)}"] if plain else []
    return f"### {model.__name__}\n\n" + (says + "\n\n" if says else "") + "\n".join(lines) + "\n"


def _meaning(field: FieldInfo) -> str:
    """Returns a field's description and default, if any."""
    default = "" if field.is_required() else f"default: `{json.dumps(field.default)}`"
    return "; ".join(part for part in (field.description, default) if part)


def _shared_models() -> list[type[TaskModel]]:
    """Returns the models that inputs and replies are made of, in the order of their module."""
    own = {model for asked, reply, _ in TASKS.values() for model in (asked, reply)}
    found = vars(tasks).values()
    return [
        model
        for model in found
        if inspect.isclass(model) and issubclass(model, TaskModel) and model not in own and model is not TaskModel
    ]


def _expressions() -> str:
    grammar = inspect.cleandoc(expressions.__doc__ or "").partition("\n")[2].strip()
    grammar = re.sub(r" {2,}\||\|-[-|]+\|", lambda found: " |" if found[0][0] == " " else "|---|---|", grammar)
    head, bar, table = grammar.partition("\n|")
    lines = "\n".join("    " + line.strip() for line in head.strip().splitlines())
    return (
        "`answer` holds expressions of this closed grammar; the server works them out on the real data, at most "
        f"{expressions.MAX_NODES} parts each.\n\n{lines}\n{bar}{table}\n"
    )


def _type_words(annotation: object) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "one of " + ", ".join(f"`{value}`" for value in inner)
    if origin is list:
        return f"list of {_type_words(inner[0])}"
    if origin is dict:
        return f"for each {_type_words(inner[0])}, a {_type_words(inner[1])}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type_words(part) for part in inner)
    words: dict[object, str] = {str: "text", int: "whole number", bool: "true or false", float: "number"}
    return words.get(annotation) or f"`{getattr(annotation, '__name__', annotation)}`"
