"""EmbeddedWriter: replies of the reasoner inside the service, from evidence in pseudonyms as strategies show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from app.llm.tasks import Evidence, ReplyInput, Thing, Turn
from evaluation.dialogue.attachment.identifiers import UNKNOWN_TYPE, pseudonyms, types_of
from evaluation.dialogue.attachment.name_replacement import NameReplacement
from evaluation.dialogue.grounded_turns import GroundedTurn, is_said, names_of
from evaluation.dialogue.opendialkg import Triple
from evaluation.dialogue.writers.reply_writer import ReplyRequest

SINGLE: Final = "1"
WriteSentences = Callable[[ReplyInput], Sequence[str]]


class EmbeddedWriter:
    """Names are hidden before `write` sees the turn, and come back into its sentences."""

    def __init__(self, write: WriteSentences) -> None:
        self._write = write

    def replies_to(self, batch: Sequence[ReplyRequest]) -> list[str]:
        """The style of the prompt says nothing to it."""
        return [self._reply(request.turn) for request in batch]

    def _reply(self, turn: GroundedTurn) -> str:
        words = pseudonyms(sorted(names_of(turn.knowledge)), turn.id)
        reply = " ".join(self._write(reply_input(turn, words)))
        return NameReplacement({word: name for name, word in words.items()}).apply(reply)


def embedded_writer() -> EmbeddedWriter:
    """The writer of the reasoner inside the service."""
    from app.reader.sentences.dialogue_text import dialogue_text

    return EmbeddedWriter(lambda given: [each.text for each in dialogue_text(given)])


def reply_input(turn: GroundedTurn, words: dict[str, str]) -> ReplyInput:
    """The turn as a strategy gives it: facts lead from what was spoken of, those that were told already come last."""
    hidden = NameReplacement(words)
    history = " ".join(text for _, text in turn.history)
    said = {name for name in words if is_said(name, history)}
    kinds = {**{name: kind.lower() for name, kind in types_of(turn.knowledge).items()}, **turn.concepts}
    concepts = {words[name]: kinds.get(name, UNKNOWN_TYPE.lower()) for name in words}
    evidence = [_evidence(triple, words, concepts, said) for triple in turn.knowledge]
    is_told = [triple[0] in said and triple[2] in said for triple in turn.knowledge]
    return ReplyInput(
        question=hidden.apply(turn.history[-1][1]) if turn.history else "",
        dialogue=[
            Turn(role="assistant" if speaker == "assistant" else "user", text=hidden.apply(text))
            for speaker, text in turn.history[:-1]
        ],
        things=[Thing(name=words[name], concept=concepts[words[name]], size=SINGLE) for name in sorted(said)],
        evidence=evidence,
        ranked=tuple(sorted(range(len(evidence)), key=lambda at: is_told[at])),
    )


def _evidence(triple: Triple, words: dict[str, str], concepts: dict[str, str], said: set[str]) -> Evidence:
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
