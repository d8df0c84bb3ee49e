"""The control of impossible questions: the right name stands in a sentence that does not tell the relation."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

from evaluation.dialogue.attachment.kat import Judged
from evaluation.dialogue.attachment.questions import AttachmentQuestion

CarrierPart = Literal["train", "held_out"]


@cache
def carriers(part: CarrierPart) -> tuple[str, ...]:
    """Sentences in which `{}` stands for a name."""
    return tuple(tomllib.loads(Path(__file__).with_name("carriers.toml").read_text("utf-8"))[part])


def impossible_questions(
    questions: Sequence[AttachmentQuestion], part: CarrierPart = "held_out"
) -> list[AttachmentQuestion]:
    """The same questions, each about one of the sentences in turn; a judge should find every one impossible."""
    sentences = carriers(part)
    return [
        replace(
            question,
            span=replace(question.span, context=sentences[at % len(sentences)].replace("{}", question.acceptable[0])),
        )
        for at, question in enumerate(questions)
    ]


def flagged(judged: Sequence[Judged]) -> float:
    """The share that was found impossible, of all that were judged; the rest are false positives."""
    told = [spans for spans in judged if spans is not None]
    return sum(not spans for spans in told) / len(told) if told else 0.0
