"""The target of an attack: the service as it is deployed, with the graph that an attack asks for, and its victim."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

from app.accounts.api_keys import EVERY_GRAPH, Caller
from app.egress.guard import BlockedError
from app.llm.reasoner import ReasonerError
from app.llm.tasks import StepInput, Task
from app.llm.tasks import Turn as PromptTurn
from app.privacy.errors import PrivacyError
from app.strategies.sets.prompts import STEP
from client_sdk.answers.answer import Answer, open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatOptions, ChatRequest, Message, Names, StrategyName
from evaluation.bench.asker import ChatEndpoint
from evaluation.bench.bench import TENANT, Bench, LoadedSet, ReasonerName
from evaluation.bench.question_sets import DEMO, METAQA, PQ_3H, QuestionSets, Show
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint

Turn = tuple[Literal["user", "assistant"], str]
# Of one tenant and with the same grants: as near to the victim as an attacker with a key of its own can be.
VICTIM = Caller(TENANT, "victim", "user", frozenset({EVERY_GRAPH}))
ATTACKER = Caller(TENANT, "attacker", "user", frozenset({EVERY_GRAPH}))
OPENLY = {"profile": "open"}
"""Settings under which an endpoint is shown what a thing has, as `dialogue` needs it."""

AML, HOSPITAL = "rdf/aml.ttl", "rdf/hospital.ttl"
# Short names of the graphs, as lines of the table tell them.
TITLES = {
    DEMO: "demo",
    PQ_3H: "PathQuestion 3H",
    **{METAQA[hops]: f"MetaQA {hops}-hop" for hops in METAQA},
    AML: "aml",
    HOSPITAL: "hospital",
}


def dice_of(seed: int | str) -> Random:
    """A generator of samples and orders, the same in every run; no secret depends on it."""
    return Random(seed)  # noqa: S311  # nosec B311


def load_text(bench: Bench, file_name: str, text: str, policy: str | None = None, as_owner: bool = False) -> LoadedSet:
    """Loads a graph that was made up, by the name of its file without the ending. Raises StoreError.

    `as_owner`: as somebody does who decides nothing about its schema; a bench shows all of it, since what it loads is
    public.
    """
    with tempfile.TemporaryDirectory(prefix="arog-made-up-") as folder:
        file = Path(folder) / file_name
        file.write_text(text, encoding="utf-8")
        if not as_owner:
            return bench.load(file.stem, [file], policy)
        bench.services.graphs.load(TENANT, file.stem, [file], policy).run(lambda _step, _percent: None)
        return LoadedSet(file.stem, frozenset(), policy or "")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One reply as it went over the wire. `table` is not on it: the victim's key opens it, to judge what was found."""

    reply: ChatAnswer
    table: Mapping[str, Names] = field(repr=False)

    def names_of(self, pseudonym: str) -> frozenset[str]:
        return frozenset(self.table[pseudonym].names)


def each_pseudonym(recorded: Sequence[Recorded]) -> Iterator[tuple[Recorded, str]]:
    """Those whose names the replies carry, sealed; they can be read off the replies themselves."""
    return ((one, pseudonym) for one in recorded for pseudonym in sorted(one.table))


@dataclass(frozen=True, slots=True)
class AttackTarget:
    """The service with one graph. `questions` are none for a graph that comes without; `endpoint` is the scripted
    one that the bench asks, if it does. `victim` is the key of whoever is attacked, for controls alone."""

    bench: Bench
    loaded: LoadedSet
    questions: Sequence[Question] = field(repr=False)
    victim: KeyPair
    endpoint: ScriptedEndpoint | None
    _recorded: list[Recorded] = field(default_factory=list, repr=False)

    async def recorded(self) -> Sequence[Recorded]:
        """The victim's single questions as they went over the wire, each in a conversation of its own; asked when
        this is first called."""
        for question in () if self._recorded else self.questions:
            if len(question.texts) == 1:
                asked = Dialogue(self.loaded.graph, self.victim, "sets", {}).request(question.texts[0], None, {})
                reply = await self.bench.services.chat.answer(VICTIM, asked)
                self._recorded.append(Recorded(reply, open_names(reply, self.victim)))
        return self._recorded


class AttackTargets:
    """Opens targets and keeps them, so that attacks on the same graph share one; entered and left in one event loop.

    Without `data`, the folder of the public sets, there is the demo alone. `limit` is how much of its own measure
    (questions, conversations, users) an attack takes at most.
    """

    def __init__(
        self, data: Path | None = None, limit: int | None = None, show: Show = lambda _title, _done, _total: None
    ) -> None:
        self.data, self.limit, self.show = data, limit, show
        self._stack = AsyncExitStack()
        self._benches: dict[object, tuple[Bench, ScriptedEndpoint | None, QuestionSets]] = {}
        self._targets: dict[object, AttackTarget] = {}

    async def __aenter__(self) -> AttackTargets:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self._stack.aclose()

    def among(self, *sources: str) -> list[str]:
        """Those of `sources` that can be opened here."""
        return [source for source in sources if self.data is not None or source == DEMO]

    def at_most(self, count: int) -> int:
        return count if self.limit is None else min(count, self.limit)

    def counter(self, title: str, total: int) -> Callable[[int], None]:
        """Shows how much of `total` is done each time it is called."""
        return lambda done: self.show(title, done, total)

    async def open(
        self, source: str, reasoner: ReasonerName = "embedded", changes: Mapping[str, object] | None = None
    ) -> AttackTarget:
        """The service that thinks with `reasoner`, with the graph of `source` (`TITLES`); `changes` are settings.

        Raises QuestionsError, StoreError.
        """
        settings = (reasoner, *sorted((changes or {}).items()))
        if settings not in self._benches:
            endpoint = ScriptedEndpoint() if reasoner == "scripted" else None
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="arog-attacks-")))
            bench = await self._stack.enter_async_context(Bench(reasoner, scripted=endpoint, changes=changes))
            self._benches[settings] = bench, endpoint, QuestionSets(bench, self.data or folder, folder, self.show)
        key = (source, settings)
        if key not in self._targets:
            bench, endpoint, sets = self._benches[settings]
            loaded, questions = (sets.graph(source), []) if source in (AML, HOSPITAL) else sets.of(source)
            self._targets[key] = AttackTarget(bench, loaded, questions, KeyPair.generate(), endpoint)
        return self._targets[key]


async def ask(
    chat: ChatEndpoint,
    graph: str,
    text: str,
    strategy: str = "sets",
    caller: Caller = VICTIM,
    options: Mapping[str, object] | None = None,
) -> tuple[ChatAnswer, Answer]:
    """One question in a conversation of its own, with a key of its own: the reply, and what the asker reads off it.

    Raises ReasonerError, PrivacyError.
    """
    dialogue = Dialogue(graph, KeyPair.generate(), strategy, options or {})
    reply = await chat.answer(caller, dialogue.request(text, None, {}))
    return reply, dialogue.accept(text, reply)


async def sent_by(
    bench: Bench, graph: str, turns: Sequence[Turn], strategy: StrategyName, key: KeyPair
) -> tuple[list[bytes], bool]:
    """All bytes that a model got for a dialogue, and whether the guard refused one of its prompts."""
    first, blocked = bench.sent_so_far, False
    request = ChatRequest(
        graph=graph,
        messages=[Message(role=role, content=text) for role, text in turns],
        strategy=strategy,
        options=ChatOptions(suggestions=0),
        public_key=key.public_text,
    )
    try:
        await bench.services.chat.answer(VICTIM, request)
    except BlockedError:
        blocked = True
    except (ReasonerError, PrivacyError):
        pass
    return bench.sent_from(first), blocked


def as_typed(bench: Bench, turns: Sequence[Turn]) -> bytes:
    """The first request of `sets` as it would be with the rule off: what was typed, as it was typed. Goes nowhere."""
    dialogue = [PromptTurn(role=role, text=text) for role, text in turns[:-1]]
    step = StepInput(question=turns[-1][1], dialogue=dialogue, things=[], evidence=[], candidates=[])
    return bench.services.thinking.reasoner.egress_of(Task(STEP, step)).body
