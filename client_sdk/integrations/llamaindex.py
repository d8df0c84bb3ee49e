"""LlamaIndex: a graph as a query engine (the extra `llamaindex`).

Its output contains real names. A program that passes it to another model sends the names there.
"""

from __future__ import annotations

import asyncio

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import facts_of, remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser
from client_sdk.client import Chat


class ArogQueryEngine(BaseQueryEngine):
    """A graph as a query engine: `ArogQueryEngine(Chat.from_env()).query("Who treats Anna Keller?")`.

    The response's source nodes are the facts that lead to the answer; with `all_facts`, the others that were looked at
    follow. Its metadata are the answer's id and confidence, and whether it is answered and grounded. Each query is a
    dialogue of its own. Raises ArogError.
    """

    def __init__(
        self, chat: Chat, *, all_facts: bool = False, callback_manager: CallbackManager | None = None
    ) -> None:
        super().__init__(callback_manager)
        self._chat, self._all_facts = chat, all_facts

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._response(self._chat.anew().ask(query_bundle.query_str))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await asyncio.to_thread(self._query, query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _response(self, answer: Answer) -> Response:
        nodes = [
            NodeWithScore(node=TextNode(id_=id, text=text, metadata=metadata))
            for id, text, metadata in facts_of(answer, all_facts=self._all_facts)
        ]
        about = {"answer": answer.id, "answered": answer.answered, "grounded": answer.grounded}
        about |= {"confidence": answer.confidence}
        return Response(MarkdownNeutraliser().push(answer.text + remarks(answer)), source_nodes=nodes, metadata=about)
