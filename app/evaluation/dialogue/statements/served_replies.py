"""Asks the real service over HTTP for each labelled reply, which the scripted endpoint gives as a model would."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2

from app.accounts.api_keys import EVERY_GRAPH
from app.chat.statements.replies import CheckedReply, CheckedSentence
from app.evaluation.attacks.setup.http_client import served
from app.evaluation.bench.bench import TENANT, TO_THE_MODEL, Bench, LoadedSet
from app.evaluation.bench.question_sets import Show
from app.evaluation.dialogue.statements.labelled_replies import LabelledReply
from app.evaluation.dialogue.statements.reply_graph import reply_graph, reply_policy
from app.evaluation.dialogue.statements.statement_run import StatementFigures, count_clauses
from app.evaluation.dialogue.statements.told_replies import GivenFacts, ReplyEndpoint, ToldReply, fact_shown
from app.strategies.base import Strategy
from app.strategies.dialogue.fact_ranking import LikenessRanker
from app.wiring.services import ReasonerBundle
from client_sdk.answers.answer import Answer, open_answer
from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import ChatAnswer, ChatOptions, ChatRequest, Message
from kg_store.terms import Mid

_OPEN: Final = {**TO_THE_MODEL, "profile": "open"}


@dataclass(slots=True)
class ServedFigures:
    """`clauses` are counted as in process. `incomplete`: replies for which no prompt showed all facts of the line;
    they are counted all the same."""

    clauses: StatementFigures = field(default_factory=StatementFigures)
    attachments: list[float] = field(default_factory=list)
    incomplete: int = 0
    leaks: int = 0
    requests: int = 0


async def measure_served(replies: Sequence[LabelledReply], show: Show) -> ServedFigures:
    """Loads a graph for each line, asks its last turn with the turns before it, and counts what is left of the reply
    in the answer as the SDK restores it. Raises LoadError."""
    endpoint, figures = ReplyEndpoint(), ServedFigures()

    def strategies(thinking: ReasonerBundle) -> dict[str, Strategy]:
        assert thinking.embedder is not None
        assert thinking.in_house is not None
        return {"dialogue": GivenFacts(LikenessRanker(thinking.embedder), thinking.in_house, endpoint)}

    async with (
        Bench("scripted", scripted=endpoint, changes=_OPEN, strategies=strategies) as bench,
        served(bench) as http,
    ):
        key = bench.services.store.access.create(TENANT, "user", [EVERY_GRAPH]).key
        http.headers["Authorization"] = f"Bearer {key}"
        with tempfile.TemporaryDirectory(prefix="arog-replies-") as folder:
            asker = _Asker(bench, endpoint, http, Path(folder))
            for at, reply in enumerate(replies):
                show("labelled replies", at, len(replies))
                await asker.count(f"reply-{at}", reply, figures)
    return figures


@dataclass(frozen=True, slots=True)
class _Asker:
    bench: Bench
    endpoint: ReplyEndpoint
    http: httpx2.AsyncClient
    folder: Path
    key: KeyPair = field(default_factory=KeyPair.generate)

    async def count(self, name: str, reply: LabelledReply, figures: ServedFigures) -> None:
        """Adds one reply to `figures`."""
        file = self.folder / f"{name}.nt"
        file.write_bytes(reply_graph(reply))
        loaded = self.bench.load(name, [file], reply_policy())
        told = self._told(loaded, reply)
        self.endpoint.tell(told)
        first, begun = self.bench.sent_so_far, time.perf_counter()
        sealed = await self._asked(loaded, reply)
        answer = open_answer(sealed, self.key)
        figures.clauses.times.append(time.perf_counter() - begun)
        figures.requests += self.bench.sent_so_far - first
        figures.leaks += self.bench.scanner(loaded).scan(self.bench.sent_from(first)).leaks.total()
        figures.incomplete += not _was_shown(reply, told)
        if answer.usage.attachment is not None:
            figures.attachments.append(answer.usage.attachment)
        count_clauses(
            figures.clauses, reply, CheckedReply(tuple(_kept(reply, told, sealed, answer)), 0, 0, sealed.removed)
        )

    def _told(self, loaded: LoadedSet, reply: LabelledReply) -> ToldReply:
        records = self.bench.graph(loaded).vault.all_records()
        texts = ((mid, record.names[0] if record.names else record.lexical or "") for mid, record in records)
        things = {Mid(int(mid)): reply.words[text] for mid, text in texts if text in reply.words}
        about = {fact.start for fact in reply.facts}
        heads = frozenset(mid for mid, word in things.items() if word in about)
        return ToldReply(reply.sentences, reply.names, things, heads)

    async def _asked(self, loaded: LoadedSet, reply: LabelledReply) -> ChatAnswer:
        request = ChatRequest(
            graph=loaded.graph,
            messages=[Message(role=role, content=text) for role, text in reply.history],
            strategy="dialogue",
            options=ChatOptions(suggestions=0),
            public_key=self.key.public_text,
        )
        sent = await self.http.post("/chat", json=request.model_dump())
        sent.raise_for_status()
        return ChatAnswer.model_validate_json(sent.content)


def _kept(reply: LabelledReply, told: ToldReply, sealed: ChatAnswer, answer: Answer) -> Iterator[CheckedSentence]:
    """The sentences as the SDK restores them, in the line's pseudonyms, with the facts of the line that carry each."""
    words = told.words
    places = {
        fact_shown(words.get(fact.start, ""), fact.path, words.get(fact.end, "")): at
        for at, fact in enumerate(reply.facts)
    }
    cited = [places.get(fact_shown(fact.head, fact.path, fact.tail)) for fact in sealed.evidence]
    for sent, restored in zip(sealed.sentences, answer.sentences, strict=True):
        facts = (cited[at] for at in sent.facts)
        yield CheckedSentence(
            reply.mask(restored.text), tuple(at for at in facts if at is not None), is_restated=sent.restated
        )


def _was_shown(reply: LabelledReply, told: ToldReply) -> bool:
    words = told.words
    facts = {fact_shown(words.get(fact.start, ""), fact.path, words.get(fact.end, "")) for fact in reply.facts}
    return any(facts <= shown for shown in told.shown)
