"""LangChain: a graph as a chat model and as a retriever (the extra `langchain`).

Their outputs contain real names. A chain that passes them to another model sends the names there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever
from langsmith.utils import tracing_is_enabled
from pydantic import ConfigDict, PrivateAttr

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import facts_of, remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser
from client_sdk.client import Chat
from client_sdk.dialogue import CachedDialogue, DialogueCache, Turn, earlier
from client_sdk.errors import BadRequestError, NotConfiguredError, UnknownConversationError
from client_sdk.streaming import TextPiece


class ChatArog(BaseChatModel):
    """A graph as a chat model: `ChatArog(chat=Chat.from_env()).invoke("Who treats Anna Keller?")`.

    The messages are the dialogue, and each history continues in the conversation that it belongs to. System messages
    are ignored. `evidence`: answers end with the path that led to them. Answers are not cached. Raises ArogError;
    tools, stops, images and parameters of models raise BadRequestError. `allow_tracing`: see ArogRetriever.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    chat: Chat
    evidence: bool = False
    allow_tracing: bool = False
    cache: bool | None = False
    _talker: SyncSession = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        _refuse_tracing(self.allow_tracing)
        self._talker = SyncSession(self.chat)

    @property
    def _llm_type(self) -> str:
        return "arog"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"graph": self.chat.graph}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002  # LangChain's interface
        **kwargs: Any,
    ) -> ChatResult:
        *pieces, answer = self._talk(messages, stop, kwargs)
        assert isinstance(answer, Answer)
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        message = AIMessage(text, response_metadata=_about(answer, self.chat), usage_metadata=_usage(answer))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in self._talk(messages, stop, kwargs):
            if isinstance(piece, str):
                chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
                if run_manager:
                    run_manager.on_llm_new_token(piece, chunk=chunk)
                yield chunk
            else:
                last = AIMessageChunk(
                    content="",
                    response_metadata=_about(piece, self.chat),
                    usage_metadata=_usage(piece),
                    chunk_position="last",
                )
                yield ChatGenerationChunk(message=last)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Runs the whole answer in one thread before yielding it.

        Nothing is lost by that, because the service sends no text before the whole answer is grounded.
        """
        for chunk in await asyncio.to_thread(lambda: list(self._stream(messages, stop, **kwargs))):
            if run_manager and chunk.text:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _talk(
        self, messages: Sequence[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> Iterator[str | Answer]:
        _refuse_tracing(self.allow_tracing)
        given = sorted(name for name, value in {"stop": stop, **options}.items() if value)
        if given:
            raise _not_here(", ".join(given))
        *turns, last = _turns(messages) or [Turn("assistant", "")]
        if last.role != "user":
            raise BadRequestError(
                "the last message is not the user's", code="no_question", hint="put the question last"
            )
        return self._talker.talk(turns, last.text, evidence=self.evidence)


class ArogRetriever(BaseRetriever):
    """A graph as a retriever: the facts that lead to the answer of a question, one document each, in their order.

    A document's text is a fact, `Anna Keller (patient), treated by, Dr X (doctor)`; its metadata are the fact's parts
    and the answer's id. `all_facts` adds the other facts that were looked at. Each query is a dialogue of its own.

    Traces of LangSmith contain what a chain was asked and returned, with real names. If tracing is on, this class
    refuses to work (NotConfiguredError) unless `allow_tracing` is set, which lets the names go there. Raises
    ArogError.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    chat: Chat
    all_facts: bool = False
    allow_tracing: bool = False

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        _refuse_tracing(self.allow_tracing)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # LangChain's interface
    ) -> list[Document]:
        _refuse_tracing(self.allow_tracing)
        answer = self.chat.anew().ask(query)
        told = facts_of(answer, all_facts=self.all_facts)
        return [Document(text, id=id, metadata=metadata) for id, text, metadata in told]


def _turns(messages: Sequence[BaseMessage]) -> list[Turn]:
    turns = []
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        if not isinstance(message, HumanMessage | AIMessage) or getattr(message, "tool_calls", None):
            raise _not_here(f"a message of the type {message.type}")
        if any(block["type"] != "text" for block in message.content_blocks):
            raise _not_here("anything but text")
        if text := str(message.text).strip():
            turns.append(Turn("user" if isinstance(message, HumanMessage) else "assistant", text))
    return turns


def _about(answer: Answer, chat: Chat) -> dict[str, Any]:
    return {
        "model_name": chat.graph, "answer": answer.id, "answered": answer.answered, "grounded": answer.grounded,
        "confidence": answer.confidence, "finish_reason": "stop",
    }  # fmt: skip


def _usage(answer: Answer) -> UsageMetadata:
    sent, got = answer.usage.prompt_tokens, answer.usage.completion_tokens
    return UsageMetadata(input_tokens=sent, output_tokens=got, total_tokens=sent + got)


def _not_here(what: str) -> BadRequestError:
    return BadRequestError(
        f"{what} is nothing that a graph can be asked with", code="not_supported", hint="leave it out"
    )


def _refuse_tracing(allowed: bool) -> None:
    if not allowed and tracing_is_enabled():
        hint = "unset LANGSMITH_TRACING and LANGCHAIN_TRACING_V2, or say allow_tracing=True"
        raise NotConfiguredError("LangSmith's tracing is on, and would get real names", code="tracing", hint=hint)


class SyncSession:
    """Asks each question in the dialogue that its history belongs to (see DialogueCache). Threads may share it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._histories: DialogueCache[Chat] = DialogueCache()

    def talk(self, turns: Sequence[Turn], question: str, *, evidence: bool = False) -> Iterator[str | Answer]:
        """Yields the answer's text in pieces, without active Markdown, and the answer last. Raises ArogError.

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
        for before, ask_again in earlier(turns[known.turns if known else 0 :]):
            if ask_again:
                chat.ask(before)
            else:
                chat = chat.fork(before)
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
