"""Rules of a reply that no schema says: numbers that were offered, stand-ins that were shown."""

from __future__ import annotations

import re

from app.llm.endpoint.repair_messages import NO_ANSWER, NO_CHOICE_OFFERED, NOTHING_SHOWN, TEXT_UNBOUND
from app.llm.tasks import AnswerReply, Candidate, ChooseInput, ChooseReply, StepInput, StepReply, TaskModel

_PSEUDONYM = re.compile(r"\b[EVS][a-z0-9]{5}\b")
_WAY = re.compile(r"\bway\(\s*(\d+)\s*\)")
_PLACE = re.compile(r"\{\s*(\d+)\s*[:}]")


def broken_rules(asked: TaskModel, reply: TaskModel) -> tuple[str, ...]:
    """Complaints about a reply that fits its schema; empty when it keeps to the rules.

    A choice that was not offered is let be where another one was: strategies ignore it.
    """
    if isinstance(reply, ChooseReply) and isinstance(asked, ChooseInput):
        return _of_choices(reply.choices, asked.candidates)
    if isinstance(reply, AnswerReply):
        return _of_answer(reply.answer, reply.text, asked) if reply.sufficient else ()
    if isinstance(reply, StepReply) and isinstance(asked, StepInput):
        if reply.action == "answer":
            return _of_answer(reply.answer, reply.text, asked)
        if reply.action == "follow":
            return _of_choices(reply.choices, asked.candidates)
    return ()


def _offered(asked: TaskModel) -> set[int]:
    return {candidate.number for candidate in asked.candidates} if isinstance(asked, StepInput) else set()


def _of_choices(choices: list[int], candidates: list[Candidate]) -> tuple[str, ...]:
    offered = {candidate.number for candidate in candidates}
    return (NO_CHOICE_OFFERED,) if choices and offered and offered.isdisjoint(choices) else ()


def _of_answer(answer: list[str], text: str, asked: TaskModel) -> tuple[str, ...]:
    if not answer:
        return (NO_ANSWER,)
    shown = set(_PSEUDONYM.findall(asked.model_dump_json()))
    named = set(_PSEUDONYM.findall(" ".join(answer)))
    ways = {int(number) for number in _WAY.findall(" ".join(answer))}
    if not (named or ways) or not named <= shown or not ways <= _offered(asked):
        return (NOTHING_SHOWN,)
    is_bound = set(_PSEUDONYM.findall(text)) <= shown and all(
        1 <= int(number) <= len(answer) for number in _PLACE.findall(text)
    )
    return () if is_bound else (TEXT_UNBOUND,)
