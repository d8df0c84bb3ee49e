"""Suggests questions about a graph, made of its relation words and kept only if they were answered."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from typing import Final

from app.accounts.api_keys import Caller
from app.chat.browsing.question_candidates import QuestionCandidate, QuestionMaker
from app.chat.service import ChatService
from app.egress.budgets import BudgetUsedUpError
from app.language.protocol import Language
from app.llm.reasoner import ReasonerError
from app.privacy.safe_text import PrivacyError
from client_sdk.protocol import ChatRequest, GraphSuggestions, Message
from kg_store.catalog import Catalog, PrivateGraph

MAX_SUGGESTIONS: Final = 3
MAX_TRIED: Final = 16
_KEY_ID: Final = "suggestions"  # no key is called so: the ledger tells these rows from a person's


class QuestionSuggester:
    """Suggests questions that a graph answers.

    Promise: a suggestion holds no name and no value, only words of the schema that the role sees, and each was
    answered. `chat` asks a reasoner inside the service, so nothing leaves the machine. Results are kept for each role
    as long as the version of the graph is open.
    """

    def __init__(self, catalog: Catalog, chat: ChatService, language: Language) -> None:
        self._catalog, self._chat, self._language = catalog, chat, language
        self._asking = asyncio.Lock()

    async def suggest(self, caller: Caller, graph: str) -> GraphSuggestions:
        """Returns at most MAX_SUGGESTIONS questions that can be answered, or none. Raises UnknownGraphError."""
        role = caller.role_in(graph)
        opened = await asyncio.to_thread(self._catalog.open_as, caller.tenant, graph, role)
        kept = opened.blind.schema.derived
        if _KEY_ID not in kept:
            async with self._asking:  # Several requests at once wait for one search.
                if _KEY_ID not in kept:
                    kept[_KEY_ID] = await self._answered(replace(caller, key_id=_KEY_ID), graph, opened)
        return GraphSuggestions(questions=kept[_KEY_ID])

    async def _answered(self, caller: Caller, graph: str, opened: PrivateGraph) -> list[str]:
        found: list[str] = []
        candidates = QuestionMaker(opened.blind, opened.algebra, self._language).candidates()
        for candidate in await asyncio.to_thread(lambda: list(islice(candidates, MAX_TRIED))):
            if question := await self._answered_wording(caller, graph, candidate):
                found.append(question)
            if len(found) == MAX_SUGGESTIONS:
                break
        return found

    async def _answered_wording(self, caller: Caller, graph: str, candidate: QuestionCandidate) -> str:
        """The first wording that gets the expected answer; empty if none does."""
        for question in candidate.wordings:
            request = ChatRequest(graph=graph, messages=[Message(role="user", content=question)])
            try:
                reply = await self._chat.answer(caller, request)
            except (BudgetUsedUpError, PrivacyError, ReasonerError):
                continue  # The user did not ask this question, so its failure is not reported.
            if candidate.is_answered_by(reply):
                return question
        return ""
