"""The first stage: the graph as the caller's role sees it, and the caller's conversation about it."""

from __future__ import annotations

import secrets

from app.accounts.api_keys import Caller
from app.chat.conversations import ConversationStore
from app.chat.options import ChatOptions
from app.chat.question_run import QuestionRun
from app.egress.profile import StrategyNotOfferedError
from app.privacy.words.lexicon import Lexicon, schema_words
from client_sdk.crypto.sealing import parse_public_key
from client_sdk.protocol import ChatRequest
from kg_store.catalog import Catalog


class QuestionOpener:
    """Opens what a question is asked of. What a role sees is made when it is first asked for."""

    def __init__(self, catalog: Catalog, conversations: ConversationStore, options: ChatOptions) -> None:
        self._catalog, self._conversations, self._options = catalog, conversations, options

    def open(self, caller: Caller, request: ChatRequest) -> QuestionRun:
        """Raises StrategyNotOfferedError, BadPublicKeyError, UnknownGraphError, UnknownConversationError."""
        if not self._options.offers(request.strategy):
            raise StrategyNotOfferedError
        if request.public_key is not None:
            parse_public_key(request.public_key)  # Before any work: a bad key must cost no model call.
        graph = self._catalog.open_as(caller.tenant, request.graph, caller.role_in(request.graph))
        conversation = self._conversations.open(
            caller.tenant, caller.key_id, request.graph, request.conversation, graph.blind.schema
        )
        lexicon = Lexicon(graph.public, self._catalog.name_words(caller.tenant), schema_words(graph.blind.schema))
        return QuestionRun(secrets.token_urlsafe(12), caller.tenant, request, graph, conversation, lexicon)
