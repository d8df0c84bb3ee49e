"""QuestionRun: one question on its way through the stages of the service, with what each of them found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from app.chat.answers.execution import AnswerExecutor, Conclusion
from app.chat.conversations import Conversation
from app.egress.guarded_reasoner import UsageTotals
from app.privacy.anonymiser import Anonymised
from app.privacy.safe_text import SafeDialogue
from app.privacy.words.lexicon import Lexicon
from app.strategies.base import RetrievalResult
from client_sdk.protocol import ChatRequest
from kg_store.catalog import PrivateGraph

NOT_READ: Final = Anonymised(SafeDialogue((), ()), ())
NOT_FOUND: Final = RetrievalResult(None, (), (), 0)


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """The dialogue as the model may see it, read in one way. `needs_context`: it leans on the turns before."""

    read: Anonymised = NOT_READ
    needs_context: bool = False


@dataclass(frozen=True, slots=True)
class ConclusionResult:
    """The end of a question: a conclusion, or the sentence that says why there is none."""

    conclusion: Conclusion | None = None
    grounded: bool = True
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """Each stage takes it and gives it back with more in it.

    `readings` are tried in their order; `reading` is the one that `found` and `ended` belong to. `known` is what needs
    no search. `asks_why`: the question is after the reason of the last answer. `anonymity`: the least number of
    entities that a prompt fits; `withheld`: how many prompts were not sent since too few fit them.
    """

    answer_id: str
    tenant: str
    request: ChatRequest
    graph: PrivateGraph
    conversation: Conversation
    lexicon: Lexicon
    readings: tuple[QuestionReading, ...] = ()
    asks_why: bool = False
    known: RetrievalResult | None = None
    reading: QuestionReading = QuestionReading()
    found: RetrievalResult = NOT_FOUND
    ended: ConclusionResult = ConclusionResult()
    spent: UsageTotals = field(default_factory=UsageTotals)
    anonymity: int | None = None
    withheld: int = 0

    @property
    def read(self) -> Anonymised:
        return self.reading.read

    @property
    def executor(self) -> AnswerExecutor:
        """Executes expressions on the graph, in the pseudonyms of the conversation."""
        return AnswerExecutor(self.graph, self.conversation.table, self.request.options.names)

    @property
    def is_settled(self) -> bool:
        """True once no further reading need be tried."""
        return self.ended.conclusion is not None or self.found.over_budget or self.found.withheld
