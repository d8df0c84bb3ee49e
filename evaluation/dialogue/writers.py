"""Writers of replies: the gold reply, all triples said, a model behind an endpoint, the reasoner inside the service.

The prompts have the content of LLM-KAT's (appendix A.1) in our words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from app.llm.tasks import Evidence, ReplyInput, Thing, Turn
from app.reader.sentences.dialogue_text import dialogue_text
from evaluation.dialogue.anonymised import UNKNOWN_TYPE, pseudonyms, replacing, types_of
from evaluation.dialogue.chat_client import CompletesPrompts, Tell
from evaluation.dialogue.dialogue_sets import DialogueTurn, Triple, is_said, names_of

SINGLE: Final = "1"
PromptStyle = Literal["default", "detailed"]
Writer = Callable[[Sequence[DialogueTurn], PromptStyle], list[str]]
"""Writes one reply to each turn, from all of its knowledge; an empty one where none came about."""

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


def gold_replies(turns: Sequence[DialogueTurn], _style: PromptStyle = "default") -> list[str]:
    """The replies of the set: what people said who knew the triples."""
    return [turn.reply for turn in turns]


def all_triples(turns: Sequence[DialogueTurn], _style: PromptStyle = "default") -> list[str]:
    """Every triple of the knowledge as a sentence of its own words: as attached, and as dull, as a reply can be."""
    return [" ".join(f"{' '.join(triple)}." for triple in turn.knowledge) for turn in turns]


def endpoint_writer(chat: CompletesPrompts, tell: Tell = lambda _done, _total: None) -> Writer:
    """Asks for one reply a call, as LLM-KAT does. For public data, or for pseudonyms alone."""

    def write(turns: Sequence[DialogueTurn], style: PromptStyle) -> list[str]:
        return [reply or "" for reply in chat.complete([reply_prompt(turn, style) for turn in turns], tell)]

    return write


def embedded_replies(turns: Sequence[DialogueTurn], _style: PromptStyle = "default") -> list[str]:
    """Those of the reasoner inside the service, from evidence in pseudonyms as strategies show it: names are hidden
    before it sees a turn, and come back into its sentences."""
    found = []
    for turn in turns:
        words = pseudonyms(sorted(names_of(turn.knowledge)), turn.id)
        said = " ".join(each.text for each in dialogue_text(reply_input(turn, words)))
        found.append(replacing({word: name for name, word in words.items()})(said))
    return found


def reply_prompt(turn: DialogueTurn, style: PromptStyle) -> str:
    return f"{_TASKS[style]}\n\n{conversation_text(turn)}\n\nTriplets:\n{triplets_text(turn)}\n\nReply:"


def conversation_text(turn: DialogueTurn) -> str:
    return "Conversation:\n" + "\n".join(f"{speaker.upper()}: {text}" for speaker, text in turn.history)


def triplets_text(turn: DialogueTurn) -> str:
    """One triple a line; a thing is shown with its concept where the set tells one."""

    def shown(name: str) -> str:
        return f"{name} ({turn.concepts[name]})" if name in turn.concepts else name

    return "\n".join(f"({shown(head)}, {relation}, {shown(tail)})" for head, relation, tail in turn.knowledge)


def reply_input(turn: DialogueTurn, words: Mapping[str, str]) -> ReplyInput:
    """The turn as a strategy gives it: facts lead from what was spoken of, those that were told already come last."""
    hidden = replacing(words)
    said = {name for name in words if is_said(name, turn.said)}
    kinds = {**{name: kind.lower() for name, kind in types_of(turn.knowledge).items()}, **turn.concepts}
    concepts = {words[name]: kinds.get(name, UNKNOWN_TYPE.lower()) for name in words}
    is_told = [head in said and tail in said for head, _, tail in turn.knowledge]
    return ReplyInput(
        question=hidden(turn.history[-1][1]) if turn.history else "",
        dialogue=[
            Turn(role="assistant" if speaker == "assistant" else "user", text=hidden(text))
            for speaker, text in turn.history[:-1]
        ],
        things=[Thing(name=words[name], concept=concepts[words[name]], size=SINGLE) for name in sorted(said)],
        evidence=[_evidence(triple, words, concepts, said) for triple in turn.knowledge],
        ranked=tuple(sorted(range(len(is_told)), key=lambda at: is_told[at])),
    )


def _evidence(triple: Triple, words: Mapping[str, str], concepts: Mapping[str, str], said: set[str]) -> Evidence:
    head, relation, tail = triple
    is_inverse = tail in said and head not in said
    start, end = (words[tail], words[head]) if is_inverse else (words[head], words[tail])
    return Evidence(
        start=start,
        start_concept=concepts[start],
        path=[f"^{relation}" if is_inverse else relation],
        end=end,
        end_concept=concepts[end],
        size=SINGLE,
    )
