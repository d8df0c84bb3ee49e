"""The events of one streamed answer, read without I/O: names are restored once the whole answer is there."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from client_sdk.answers.answer import open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.errors import BadAnswerError, StreamCutError, error_of
from client_sdk.protocol import ChatAnswer, ErrorEvent, StageEvent, TextEvent
from client_sdk.restore import Restorer
from client_sdk.streaming import Stage, TextPiece

ModelT = TypeVar("ModelT", bound=BaseModel)


class AnswerReader:
    """Takes events in their order. The text pieces that it gives, joined, are the answer's text with its names
    restored. Events that it does not know are a newer service's.

    Promise: no piece is shown before the whole answer is there, is the one of the graph that was asked and the
    conversation that is going on (None: a new one), and has opened its names: they open for its own text alone.
    Without a `key` the text stays in pseudonyms.
    """

    def __init__(self, key: KeyPair | None, graph: str, conversation: str | None) -> None:
        self._key, self._graph, self._conversation = key, graph, conversation
        self._pieces: list[str] = []
        self._answer: ChatAnswer | None = None

    @property
    def is_done(self) -> bool:
        """True where the last event has come; whatever follows is not read."""
        return self._answer is not None

    def read(self, name: str, data: str) -> list[Stage | TextPiece]:
        """The parts that the event shows. Raises the service's error, BadAnswerError and CannotOpenCapsuleError."""
        match name:
            case "stage":
                stage = _content(StageEvent, data)
                return [Stage(stage.name, stage.number)]
            case "text":
                self._pieces.append(_content(TextEvent, data).text)
            case "answer":
                answer = self._checked(_content(ChatAnswer, data))
                shown = self._restored(answer)
                self._answer = answer
                return shown
            case "error":
                raise error_of(_content(ErrorEvent, data).status, data.encode())
        return []

    def whole(self) -> ChatAnswer:
        """The answer as an unstreamed reply would have held it. Raises StreamCutError where it has not come."""
        if self._answer is None:
            hint = "the question may have been answered all the same; ask again"
            raise StreamCutError("the stream ended before the answer was whole", code="stream_cut", hint=hint)
        return self._answer

    def _checked(self, answer: ChatAnswer) -> ChatAnswer:
        if answer.graph != self._graph or self._conversation not in (None, answer.conversation):
            raise _bad("it answers something else", answer.id)
        if "".join(self._pieces) != answer.message.content:
            raise _bad("its pieces are not the answer's text", answer.id)
        return answer

    def _restored(self, answer: ChatAnswer) -> list[Stage | TextPiece]:
        restorer = Restorer(open_names(answer, self._key))
        texts = [*map(restorer.push, self._pieces), restorer.finish()]
        return [TextPiece(text) for text in texts if text]


def _content(expect: type[ModelT], data: str) -> ModelT:
    try:
        # A newer service may say more than this version knows.
        return expect.model_validate_json(data, extra="ignore")
    except ValidationError:
        raise _bad("an event can't be read") from None


def _bad(what: str, answer_id: str = "") -> BadAnswerError:
    hint = "ask again; if it happens again, is something between you and the service changing replies?"
    return BadAnswerError(f"the stream is not right: {what}", code="bad_answer", hint=hint, id=answer_id)
