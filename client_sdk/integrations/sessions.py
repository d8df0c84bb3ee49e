"""Dialogues for libraries that send their whole history each time, without asyncio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser
from client_sdk.client import Chat
from client_sdk.dialogue import Turn
from client_sdk.dialogue_cache import CachedDialogue, DialogueCache, earlier
from client_sdk.errors import UnknownConversationError
from client_sdk.streaming import TextPiece


class SyncSession:
    """Asks each question in the dialogue that its history belongs to (see Histories). Threads may share it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._histories: DialogueCache[Chat] = DialogueCache()

    def talk(self, turns: Sequence[Turn], question: str, *, evidence: bool = False) -> Iterator[str | Answer]:
        """The answer's text in pieces, inert, and the answer last. Raises ArogError.

        Closing the iterator ends the question at the service.
        """
        known = self._histories.find("", turns)
        try:
            yield from self._talk(turns, question, known, evidence)
        except UnknownConversationError:
            if known is None:
                raise
            self._histories.forget(known.conversation)
            yield from self._talk(turns, question, None, evidence)

    def _talk(
        self, turns: Sequence[Turn], question: str, known: CachedDialogue[Chat] | None, evidence: bool
    ) -> Iterator[str | Answer]:
        chat = known.chat.fork() if known else self._chat.anew()
        for before in earlier(turns[known.turns if known else 0 :]):
            if before.ask:
                chat.ask(before.text)
            else:
                chat = chat.fork(before.text)
        inert, said = MarkdownNeutraliser(), []
        with chat.stream(question) as stream:
            for piece in stream:
                if isinstance(piece, TextPiece) and (text := inert.push(piece.text)):
                    said.append(text)
                    yield text
        answer = stream.answer()
        if after := inert.push(remarks(answer, evidence=evidence)):
            said.append(after)
            yield after
        told = (*turns, Turn("user", question), Turn("assistant", "".join(said)))
        self._histories.keep("", told, chat, answer.conversation)
        yield answer
