"""The events of one streamed answer, read without I/O: names are restored as far as they are certain."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from client_sdk.answer import open_names
from client_sdk.errors import BadAnswer, StreamCut, error_of
from client_sdk.protocol import CapsuleEvent, ChatAnswer, ErrorEvent, StageEvent, TextEvent
from client_sdk.restore import Restorer
from client_sdk.sealing import KeyPair
from client_sdk.streaming import Stage, TextPiece

ModelT = TypeVar("ModelT", bound=BaseModel)


class AnswerReader:
    """Takes events in their order. What it gives, joined, is the answer's text with its names restored; it holds
    back only what can still become a pseudonym. Events that it does not know are a newer service's.

    Names come once, before the text, for the graph that was asked and the conversation that is going on (None: a
    new one): what is shown can't be taken back, so no other answer's names may stand in it.
    """

    def __init__(self, key: KeyPair, graph: str, conversation: str | None) -> None:
        self._key, self._graph, self._conversation = key, graph, conversation
        self._names: CapsuleEvent | None = None
        self._restorer = Restorer({})
        self._text = ""
        self._answer: ChatAnswer | None = None

    @property
    def is_done(self) -> bool:
        """Whether the last event has come; whatever follows is not read."""
        return self._answer is not None

    def read(self, name: str, data: str) -> Stage | TextPiece | None:
        """What the event shows, if anything. Raises what the service told, BadAnswer and CannotOpenCapsule."""
        match name:
            case "stage":
                stage = _content(StageEvent, data)
                return Stage(stage.name, stage.number)
            case "capsule":
                self._names = self._expected(_content(CapsuleEvent, data))
                self._restorer = Restorer(open_names(self._names, self._key))
            case "text":
                return _shown(self._restored(_content(TextEvent, data).text))
            case "answer":
                self._answer = self._checked(_content(ChatAnswer, data))
                return _shown(self._restorer.finish())
            case "error":
                raise error_of(_content(ErrorEvent, data).status, data.encode())
        return None

    def whole(self) -> ChatAnswer:
        """The answer as an unstreamed reply would have held it. Raises StreamCut where it has not come."""
        if self._answer is None:
            hint = "the question may have been answered all the same; ask again"
            raise StreamCut("the stream ended before the answer was whole", code="stream_cut", hint=hint)
        return self._answer

    def _expected(self, names: CapsuleEvent) -> CapsuleEvent:
        if self._names is not None:
            raise _bad("names came twice", names.id)
        if names.graph != self._graph or self._conversation not in (None, names.conversation):
            raise _bad("its names are another answer's", names.id)
        return names

    def _restored(self, text: str) -> str:
        if self._names is None:
            raise _bad("text came before its names")
        self._text += text
        return self._restorer.push(text)

    def _checked(self, answer: ChatAnswer) -> ChatAnswer:
        """What was shown has to be this answer's: the same text, restored with the same names."""
        if self._text != answer.message.content:
            raise _bad("its pieces are not the answer's text", answer.id)
        told = self._names
        if told is None or (told.id, told.conversation, told.graph, told.capsule) != (
            answer.id, answer.conversation, answer.graph, answer.capsule,
        ):  # fmt: skip
            raise _bad("its names are another answer's", answer.id)
        return answer


def _content(expect: type[ModelT], data: str) -> ModelT:
    try:
        # A newer service may say more than this version knows.
        return expect.model_validate_json(data, extra="ignore")
    except ValidationError:
        raise _bad("an event can't be read") from None


def _shown(text: str) -> TextPiece | None:
    return TextPiece(text) if text else None


def _bad(what: str, answer_id: str = "") -> BadAnswer:
    hint = "ask again; if it happens again, is something between you and the service changing replies?"
    return BadAnswer(f"the stream is not right: {what}", code="bad_answer", hint=hint, id=answer_id)
