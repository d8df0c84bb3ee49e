"""Prompts for replies, the default and the detailed one: the content of LLM-KAT's (appendix A.1), in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evaluation.dialogue.grounded_turns import GroundedTurn
from evaluation.dialogue.opendialkg import Triple
from evaluation.dialogue.writers.reply_writer import PromptStyle

_TASKS: Final[Mapping[PromptStyle, str]] = {
    "default": (
        "You are skilled at conversation. Write the next reply of the assistant in this conversation. It is exact,"
        " rests on the facts that are given as triplets, and has two or three sentences at most. Keep to the facts."
    ),
    "detailed": (
        "You write short replies in a conversation. Write the next reply of the assistant: brief, exact, and resting"
        " on nothing but the facts that are given as triplets. Read the conversation to see what is talked about, but"
        " state only what the triplets themselves say. Draw no conclusion that they do not state.\n\n"
        "Rules:\n"
        "- Two or three sentences at most.\n"
        "- Plain and factual language.\n"
        "- No guess, and nothing made up.\n"
        "- Triplets may be put into other words or joined into one sentence, but no fact may be added."
    ),
}


FRAMES: Final = (*_TASKS.values(), "Conversation:", "Triplets:", "Reply:", "USER:", "ASSISTANT:")
"""Our own words around what a prompt tells."""


def reply_prompt(turn: GroundedTurn, style: PromptStyle) -> str:
    said = "\n".join(f"{speaker.upper()}: {text}" for speaker, text in turn.history)
    return f"{_TASKS[style]}\n\nConversation:\n{said}\n\nTriplets:\n{triplets_text(turn)}\n\nReply:"


def triplets_text(turn: GroundedTurn) -> str:
    """One triple a line; a thing is shown with its concept where the set tells one."""
    return "\n".join(_shown(triple, turn.concepts) for triple in turn.knowledge)


def _shown(triple: Triple, concepts: Mapping[str, str]) -> str:
    head, relation, tail = triple
    return f"({_with_concept(head, concepts)}, {relation}, {_with_concept(tail, concepts)})"


def _with_concept(name: str, concepts: Mapping[str, str]) -> str:
    return f"{name} ({concepts[name]})" if name in concepts else name
