"""Asks the cases of one graph of the real service, over the recording endpoint, and has each judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.egress.guard import BlockedError
from app.llm.endpoint.closed_schemas import marked_schema
from app.llm.reasoner import ReasonerError
from app.llm.tasks import StepInput, Task
from app.llm.tasks import Turn as PromptTurn
from app.privacy.errors import PrivacyError
from app.strategies.dialogue.prompts import REPLY
from app.strategies.sets.prompts import STEP
from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import ChatOptions, ChatRequest, Message, StrategyName
from evaluation.attacks.forms.families.case import Case, Turn
from evaluation.attacks.forms.judge import Judge, Verdict, read_sent, shown_tokens
from evaluation.attacks.setup.targets import VICTIM
from evaluation.bench.bench import Bench, LoadedSet

_NEUTRAL = ("who is there", "which of them are married", "how many are there", "what is it about")


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The result of one case. `found_as_typed`: the judge sees it where nothing is replaced."""

    case: Case
    graph: str
    verdict: Verdict
    blocked: bool
    requests: int
    found_as_typed: bool


@dataclass(frozen=True, slots=True)
class CaseAsker:
    """Asks one graph of a bench whose reasoner is the scripted endpoint; each case is a conversation of its own.

    `private` are words that the schema must not show, whether it does or not. Of a case that names nothing of the
    graph, and where the profile is not open, the strategy `dialogue` sends nothing.
    """

    bench: Bench
    loaded: LoadedSet
    private: frozenset[str] = field(default=frozenset(), repr=False)
    strategy: StrategyName = "sets"
    key: KeyPair = field(default_factory=KeyPair.generate)

    async def judge_all(self, cases: Sequence[Case], progress: Callable[[int], None]) -> list[JudgedCase]:
        judge = Judge(await self._shown())
        found = []
        for done, case in enumerate(cases, start=1):
            found.append(await self._judge(case, judge))
            progress(done)
        return found

    async def _judge(self, case: Case, judge: Judge) -> JudgedCase:
        sent, blocked = await self.sent_by(case.turns)
        as_typed = judge.judge(case, [self._as_typed(case.turns)])
        verdict = judge.judge(case, sent)
        return JudgedCase(case, self.loaded.graph, verdict, blocked, len(sent), bool(as_typed.leaked))

    async def sent_by(self, turns: Sequence[Turn]) -> tuple[list[bytes], bool]:
        """All bytes that the endpoint got for a dialogue, and whether the guard refused one of its prompts."""
        first = self.bench.sent_so_far
        messages = [Message(role=role, content=text) for role, text in turns]
        request = ChatRequest(
            graph=self.loaded.graph,
            messages=messages,
            strategy=self.strategy,
            options=ChatOptions(suggestions=0),
            public_key=self.key.public_text,
        )
        blocked = False
        try:
            await self.bench.services.chat.answer(VICTIM, request)
        except BlockedError:
            blocked = True
        except (ReasonerError, PrivacyError):
            pass
        return self.bench.sent_from(first), blocked

    async def _shown(self) -> frozenset[str]:
        """Words of the schema that prompts show, and of what they hold whatever is asked."""
        schema = self.bench.graph(self.loaded).blind.schema
        texts = {text for r in schema.relations for text in (r.label, r.inverse_label, r.description, *r.words)}
        texts |= {str(concept) for concept in schema.concepts}
        texts |= {text for words in schema.kind_words.values() for text in words}
        if self.strategy == "dialogue":  # Neutral questions get no prompt of it.
            texts |= {str(REPLY.instructions), str(marked_schema("reply", "tree"))}
        for question in _NEUTRAL:
            sent, _ = await self.sent_by([("user", question)])
            texts |= set(read_sent(sent).rest)
        return shown_tokens(texts) - self.private

    def _as_typed(self, turns: Sequence[Turn]) -> bytes:
        """The first request as it would be with the rule off: what was typed, as it was typed. Goes nowhere."""
        dialogue = [PromptTurn(role=role, text=text) for role, text in turns[:-1]]
        step = StepInput(question=turns[-1][1], dialogue=dialogue, things=[], evidence=[], candidates=[])
        return self.bench.services.thinking.reasoner.egress_of(Task(STEP, step)).body
