"""A conversation about the small clinic with a model that replies as a test says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.egress.disclosure import Profile
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.strategies.arog import ArogStrategy
from app.strategies.base import Limits, RetrievalResult
from app.strategies.sets.strategy import SetsStrategy
from tests.support.asking import Asked
from tests.support.processes.model_server import ModelServer, sent_to


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation whose guard knows the instructions of the model behind `server`."""

    asked: Asked
    server: ModelServer
    model: PromptedReasoner
    embedder: Embedder

    async def find(
        self,
        strategy: type[SetsStrategy | ArogStrategy],
        question: str = "Which wards was Zofia Quarrel admitted to?",
        limits: Limits = Limits(),  # noqa: B008
        profile: Profile = Profile.OPEN,
    ) -> RetrievalResult:
        inquiry = self.asked.inquiry(self.model, question, limits=limits, profile=profile)
        if strategy is SetsStrategy:
            # The clinic's schema is small, but the tests are about candidates.
            return await SetsStrategy(self.embedder, max_shown=0).find(inquiry)
        return await strategy(self.embedder).find(inquiry)

    def sent(self, task: str) -> Sequence[dict[str, Any]]:
        return sent_to(self.server, task)
