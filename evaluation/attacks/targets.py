"""The targets of attacks (the service as deployed, with a graph and a victim), and the lines of an attack's table."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from app.accounts.api_keys import EVERY_GRAPH, Caller
from app.egress.guard import BlockedError
from app.graphs.markdown_table import markdown_table
from app.llm.reasoner import ReasonerError
from app.llm.tasks import StepInput, Task
from app.llm.tasks import Turn as PromptTurn
from app.privacy.safe_text import PrivacyError
from app.strategies.sets.prompts import STEP
from client_sdk.answers.answer import Answer, open_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, ChatOptions, ChatRequest, Message, Names, StrategyName
from evaluation.bench.bench import TENANT, Bench, LoadedSet, ReasonerName
from evaluation.bench.question_sets import DEMO, METAQA, PQ_3H, QuestionSets, Show
from evaluation.bench.report import ChatEndpoint
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint

Turn = tuple[Literal["user", "assistant"], str]
# Attacker and victim share tenant and grants: an attacker with a key of its own can't be nearer to the victim.
VICTIM = Caller(TENANT, "victim", "user", frozenset({EVERY_GRAPH}))
ATTACKER = Caller(TENANT, "attacker", "user", frozenset({EVERY_GRAPH}))
OPENLY = {"profile": "open"}
"""Settings that let the model see which relations an entity has; the strategy `dialogue` sends nothing without."""

AML, HOSPITAL = "rdf/aml.ttl", "rdf/hospital.ttl"
# Short names of the graphs for the table.
TITLES = {
    DEMO: "demo",
    PQ_3H: "PathQuestion 3H",
    **{METAQA[hops]: f"MetaQA {hops}-hop" for hops in METAQA},
    AML: "aml",
    HOSPITAL: "hospital",
}


def dice_of(seed: int | str) -> Random:
    """Returns a random generator with a fixed seed for samples and orders; no secret depends on it."""
    return Random(seed)  # noqa: S311  # nosec B311


def load_text(bench: Bench, file_name: str, text: str, policy: str | None = None, as_owner: bool = False) -> LoadedSet:
    """Loads a graph from `text` by way of a file; the graph is named after the file. Raises StoreError.

    `as_owner`: load it like an owner who decides nothing about the schema. Otherwise the bench shows all of the
    schema, because it loads public data.
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
    """One reply as it was sent. `table` is not sent: the victim's key opens it, so that the attack can be judged."""

    reply: ChatAnswer
    table: Mapping[str, Names] = field(repr=False)

    def names_of(self, pseudonym: str) -> frozenset[str]:
        return frozenset(self.table[pseudonym].names)


def each_pseudonym(recorded: Sequence[Recorded]) -> Iterator[tuple[Recorded, str]]:
    """Yields every pair of a reply and one of the pseudonyms in it whose names are sealed in its capsule."""
    return ((one, pseudonym) for one in recorded for pseudonym in sorted(one.table))


@dataclass(frozen=True, slots=True)
class AttackTarget:
    """The service with one graph loaded.

    `questions` is empty if the graph comes without; `endpoint` is the scripted model, or None if another one is used;
    `victim` is the key of the attacked user, for controls only.
    """

    bench: Bench
    loaded: LoadedSet
    questions: Sequence[Question] = field(repr=False)
    victim: KeyPair
    endpoint: ScriptedEndpoint | None
    _recorded: list[Recorded] = field(default_factory=list, repr=False)

    async def recorded(self) -> Sequence[Recorded]:
        """Returns the replies to the victim's single-turn questions, each asked in a conversation of its own.

        The questions are asked at the first call.
        """
        for question in () if self._recorded else self.questions:
            if len(question.texts) == 1:
                asked = Dialogue(self.loaded.graph, self.victim, "sets", {}).request(question.texts[0], None, {})
                reply = await self.bench.services.chat.answer(VICTIM, asked)
                self._recorded.append(Recorded(reply, open_names(reply, self.victim)))
        return self._recorded


class AttackTargets:
    """Opens targets and keeps them, so that attacks on the same graph share one. Enter and leave it in one event loop.

    `data` is the folder of the public sets; without it only the demo can be opened. `limit` bounds how many questions,
    conversations or users an attack takes.
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
        """Returns those of `sources` that can be opened here."""
        return [source for source in sources if self.data is not None or source == DEMO]

    def at_most(self, count: int) -> int:
        return count if self.limit is None else min(count, self.limit)

    def counter(self, title: str, total: int) -> Callable[[int], None]:
        """Returns a function that shows how much of `total` is done."""
        return lambda done: self.show(title, done, total)

    async def open(
        self, source: str, reasoner: ReasonerName = "embedded", changes: Mapping[str, object] | None = None
    ) -> AttackTarget:
        """Returns the service that uses `reasoner`, with the graph of `source` (a key of `TITLES`).

        `changes` are settings. Raises QuestionsError, StoreError.
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
    """Asks one question in a conversation of its own; returns the reply, and the answer that the asker reads from it.

    Raises ReasonerError, PrivacyError.
    """
    dialogue = Dialogue(graph, KeyPair.generate(), strategy, options or {})
    reply = await chat.answer(caller, dialogue.request(text, None, {}))
    return reply, dialogue.accept(text, reply)


async def sent_by(
    bench: Bench, graph: str, turns: Sequence[Turn], strategy: StrategyName, key: KeyPair
) -> tuple[list[bytes], bool]:
    """Returns all bytes that the model got for a dialogue, and whether the guard refused one of its prompts."""
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
    """Returns the request that strategy `sets` would send if no word were replaced; for controls, it is never sent."""
    dialogue = [PromptTurn(role=role, text=text) for role, text in turns[:-1]]
    step = StepInput(question=turns[-1][1], dialogue=dialogue, things=[], evidence=[], candidates=[])
    return bench.services.thinking.reasoner.egress_of(Task(STEP, step)).body


Figures = Sequence[float] | npt.NDArray[np.float64]


class Attempted(BaseModel):
    """One line of the table of attacks.

    `blind`: the success rate of guessing without information. `most`: the highest success rate allowed; 1 means no
    bound. `control`: set for a line that attacks without protection, to show that the attack works; its rate must be
    at least this. `least`: with fewer tries the line fails. `successes` may be a fraction: an undecided guess between
    n things counts 1/n. `note` follows the name in the table.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    tries: int
    successes: float
    blind: float = 0.0
    most: float = 0.0
    control: float | None = None
    least: int = 1
    note: str = ""

    @classmethod
    def of(cls, name: str, found: Iterable[float], **bounds: Any) -> Attempted:
        """Returns the line of tries, each given as a success (a truth value or a share); `bounds` are other fields."""
        told = list(found)
        return cls(name=name, tries=len(told), successes=sum(told), **bounds)

    def unbound(self) -> Attempted:
        """Returns the same line without a bound."""
        return self.model_copy(update={"most": 1.0})

    @property
    def rate(self) -> float:
        return self.successes / self.tries if self.tries else 0.0

    @property
    def passed(self) -> bool:
        kept = self.rate <= self.most if self.control is None else self.rate >= self.control
        return kept and self.tries >= self.least


def markdown(lines: Sequence[Attempted]) -> str:
    """Returns the table as Markdown, followed by one line that names the missed bounds."""
    head = ("attack", "tries", "successes", "blind guess", "bound", "")
    missed = [line.name for line in lines if not line.passed]
    told = f"Missed: {'; '.join(missed)}." if missed else "Every bound is kept."
    return f"{markdown_table(head, map(_row, lines))}\n{told}\n"


def write(lines: Sequence[Attempted], folder: Path) -> None:
    """Writes `privacy.md` and `privacy.json` into `folder`."""
    (folder / "privacy.md").write_text(markdown(lines), encoding="utf-8")
    text = json.dumps({"attempts": [line.model_dump() for line in lines]}, indent=1, ensure_ascii=False)
    (folder / "privacy.json").write_text(text, encoding="utf-8")


def _row(line: Attempted) -> tuple[str, ...]:
    verdict = "pass" if line.passed else "FAIL"
    successes = f"{line.successes:.1f}".removesuffix(".0")
    name = f"{line.name} ({line.note})" if line.note else line.name
    bound = f"at most {line.most:.1%}" if line.most < 1 else "none"
    if line.control is not None:
        bound = f"control: {line.control:.0%} or more"
    return name, str(line.tries), f"{successes} ({line.rate:.1%})", f"{line.blind:.2%}", bound, verdict


def area(inside: Figures, outside: Figures) -> float:
    """Returns the share of pairs in which the one from `inside` has the greater figure (AUC); a tie counts half."""
    # The library refuses a single class; with an empty group there is nothing to tell apart.
    if len(inside) == 0 or len(outside) == 0:
        return 0.5
    # The import takes seconds, so that only attacks that compare figures should wait for it.
    from sklearn.metrics import roc_auc_score

    is_inside = np.arange(len(inside) + len(outside)) < len(inside)
    return float(roc_auc_score(is_inside, np.concatenate([inside, outside])))


def either_way(inside: Sequence[float], outside: Sequence[float]) -> float:
    """Returns the AUC of the better direction: the attacker need not know which group has the greater figures."""
    found = area(inside, outside)
    return max(found, 1 - found)


def learnt(inside: Sequence[str], outside: Sequence[str]) -> float:
    """Returns the AUC of an attacker who learns from the first half of each group which texts occur in which group.

    The second halves are told apart by that. A text that did not occur in the first halves counts for neither group.
    """
    middles = len(inside) // 2, len(outside) // 2
    ins, outs = Counter(inside[: middles[0]]), Counter(outside[: middles[1]])

    def score(text: str) -> float:
        return (ins[text] + 1) / (ins[text] + outs[text] + 2)

    return area([score(text) for text in inside[middles[0] :]], [score(text) for text in outside[middles[1] :]])
