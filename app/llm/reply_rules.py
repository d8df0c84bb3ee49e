"""Rules of a reply that no schema says: numbers that were offered, stand-ins that were shown."""

from __future__ import annotations

import re

from app.llm.complaints import NO_ANSWER, NO_CHOICE_OFFERED, NOTHING_SHOWN
from app.llm.reasoner import AnswerReply, Candidate, ChooseInput, ChooseReply, StepInput, StepReply, TaskModel

_PSEUDONYM = re.compile(r"\b[EVS][a-z0-9]{5}\b")


def broken_rules(asked: TaskModel, reply: TaskModel) -> tuple[str, ...]:
    """Complaints about a reply that fits its schema; empty when it keeps to the rules.

    A choice that was not offered is let be where another one was: strategies ignore it.
    """
    if isinstance(reply, ChooseReply) and isinstance(asked, ChooseInput):
        return _of_choices(reply.choices, asked.candidates)
    if isinstance(reply, AnswerReply):
        return _of_answer(reply.answer, asked) if reply.sufficient else ()
    if isinstance(reply, StepReply) and isinstance(asked, StepInput):
        if reply.action == "answer":
            return _of_answer(reply.answer, asked)
        if reply.action == "follow":
            return _of_choices(reply.choices, asked.candidates)
    return ()


def _of_choices(choices: list[int], candidates: list[Candidate]) -> tuple[str, ...]:
    offered = {candidate.number for candidate in candidates}
    return (NO_CHOICE_OFFERED,) if choices and offered and offered.isdisjoint(choices) else ()


def _of_answer(answer: list[str], asked: TaskModel) -> tuple[str, ...]:
    if not answer:
        return (NO_ANSWER,)
    named = set(_PSEUDONYM.findall(" ".join(answer)))
    shown = set(_PSEUDONYM.findall(asked.model_dump_json()))
    return () if named and named <= shown else (NOTHING_SHOWN,)
