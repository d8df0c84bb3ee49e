"""One caller's dialogue with the service around one reasoner, and fake models that draft as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.accounts.api_keys import Caller
from app.chat.question_run import ChatOptions
from app.chat.service import ChatService
from app.chat.turn_forms import FORM_WEIGHTS, KINDS, WEIGHTS, TurnClassifier, TurnModel, VectorOf, read_turn_model
from app.egress.guard import StaticSegments
from app.egress.ledger.ledger import Ledger
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.llm.reasoner import Reasoner
from app.reader.concept_namer import ConceptNamer
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.base import TurnKind
from app.strategies.dialogue import DialogueStrategy
from app.strategies.dialogue_facts import LikenessRanker
from app.strategies.prompts import REPLY, WORDED
from app.strategies.sets.prompts import STEP, STEP_IN_GRAPH
from app.strategies.sets.strategy import SetsStrategy
from app.wiring.store import ServiceContext, open_store
from client_sdk.answers.answer import Answer
from client_sdk.crypto.sealing import KeyPair, capsule_context, open_capsule
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer, Names
from evaluation.checks.canaries import canaries_in
from tests.support.asking import PEOPLE
from tests.support.languages import english
from tests.support.processes.model_server import Canned, Request, reply
from tests.support.sentence_model import digest_of
from tests.support.service import settings_in

CALLER = Caller("default", "k1", "user", frozenset({"*"}))
KEY = KeyPair.generate()
DOCTOR_OF = "Who is Zofia Quarrel treated by?"


@dataclass(slots=True)
class House:
    """The service around one reasoner, and one caller's dialogue with it."""

    chat: ChatService
    ledger: Ledger
    strategy: str = "sets"
    options: dict[str, int] = field(default_factory=dict)
    dialogue: Dialogue = field(init=False)
    last: ChatAnswer = field(init=False)

    def __post_init__(self) -> None:
        self.dialogue = Dialogue("clinic", KEY, self.strategy, self.options)

    async def ask(self, text: str) -> Answer:
        self.last = await self.chat.answer(CALLER, self.dialogue.request(text, None, {}))
        return self.dialogue.accept(text, self.last)

    @property
    def capsule(self) -> dict[str, Names]:
        """Returns the table of the last answer's capsule."""
        assert self.last.capsule is not None
        return open_capsule(self.last.capsule, KEY, capsule_context(self.last)).table

    @property
    def named(self) -> set[str]:
        return {name for names in self.capsule.values() for name in names.names}

    @property
    def sent(self) -> bytes:
        """Returns everything that was sent to the model for the last answer."""
        return b"".join(each.payload or b"" for each in self.ledger.entries("default", answer_id=self.last.id))

    def leaked(self, words: Iterable[str]) -> list[str]:
        """Returns those of `words` that were sent for the last answer; fails if nothing was sent."""
        assert self.sent
        return canaries_in(self.sent, words)

    @property
    def recorded(self) -> int:
        return len(self.ledger.entries("default", answer_id=self.last.id))


def sets_chat(
    store: ServiceContext,
    embedder: Embedder,
    options: ChatOptions = ChatOptions(),  # noqa: B008  # frozen
    reasoner: Reasoner | None = None,
) -> ChatService:
    """Returns the service over a store with the strategy `sets`; the reasoner is the embedded one by default."""
    reasoner, statics = reasoner or EmbeddedReasoner(embedder), StaticSegments()
    for data in (*reasoner.statics_of(STEP), *reasoner.statics_of(STEP_IN_GRAPH)):
        statics.register(data)
    strategies = {"sets": SetsStrategy(embedder, max_shown=0)}
    options = replace(options, turns=options.turns or FormClassifier(*_models(), _vector_of(embedder)))
    given = reasoner, english(embedder), strategies, statics, options
    return ChatService(store.catalog, store.conversations, store.ledger, *given)


def sets_house(
    store: ServiceContext,
    embedder: Embedder,
    options: ChatOptions = ChatOptions(),  # noqa: B008  # frozen
    reasoner: Reasoner | None = None,
) -> House:
    """Returns a dialogue with the service of `sets_chat`."""
    return House(sets_chat(store, embedder, options, reasoner), store.ledger)


def dialogue_house(
    store: ServiceContext,
    embedder: Embedder,
    options: ChatOptions = ChatOptions(),  # noqa: B008  # frozen
    reasoner: Reasoner | None = None,
) -> House:
    """Returns a dialogue in which each turn is answered by `sets` or `dialogue`, as its kind requires."""
    own = EmbeddedReasoner(embedder)
    reasoner, statics = reasoner or own, StaticSegments()
    for kind in (STEP, STEP_IN_GRAPH, REPLY, WORDED):
        for data in reasoner.statics_of(kind):
            statics.register(data)
    strategies = {
        "sets": SetsStrategy(embedder),
        "dialogue": DialogueStrategy(LikenessRanker(embedder), own, model_words=options.read_back is not None),
    }
    options = replace(options, turns=turn_classifier(embedder))
    given = reasoner, english(embedder), strategies, statics, options
    chat = ChatService(store.catalog, store.conversations, store.ledger, *given)
    return House(chat, store.ledger, "auto")


class FormClassifier(TurnClassifier):
    """Tells the forms of turns as the service does; every turn is a question."""

    def chances(self, text: str) -> dict[TurnKind, float]:
        return {kind: float(kind == "question") for kind in KINDS}


def turn_classifier(embedder: Embedder, kinds: Path = WEIGHTS) -> TurnClassifier:
    """Returns the classifier that the service has; `kinds`: the weights for kinds of turns."""
    return TurnClassifier(*_models(kinds), _vector_of(embedder))


def _models(kinds: Path = WEIGHTS) -> tuple[TurnModel, TurnModel]:
    digest = digest_of(BOXED_MODEL)
    return read_turn_model(kinds, digest), read_turn_model(FORM_WEIGHTS, digest)


def _vector_of(embedder: Embedder) -> VectorOf:
    return lambda text: embedder.sentences([text])[0]


def step(action: str, **more: object) -> Canned:
    return reply({"action": action, **more})


def drafting(*draft: str, follow: tuple[str, ...] = ("treated by",)) -> Callable[[Request], Canned]:
    """Returns a model that follows single steps in the first round, then answers with `draft`.

    `{treated by}` in a draft stands for what that step found.
    """

    def replies(request: Request) -> Canned:
        given = request.input
        if "choices" in given:  # asked to repair the answer, the model repeats it
            return step("answer", answer=list(draft))
        if not given["evidence"]:
            chosen = [each["number"] for each in given["candidates"] if each["path"] in [[step] for step in follow]]
            return step("follow", choices=chosen)
        found = {each["path"][0]: each["end"] for each in given["evidence"]}

        def filled(words: str) -> str:
            for label, end in found.items():
                words = words.replace("{" + label + "}", end)
            return words

        return step("answer", answer=[filled(each) for each in draft])

    return replies


def visible(answer: ChatAnswer) -> bytes:
    """Returns everything of an answer that is not sealed."""
    return answer.model_copy(update={"capsule": None}).model_dump_json().encode()


@contextmanager
def clinic_store(folder: Path, embedder: Embedder, graph: str = PEOPLE) -> Iterator[ServiceContext]:
    """Open a data folder with the graph `clinic`, its concepts named as the service names them."""
    opened = open_store(settings_in(folder))
    file = folder / "clinic.ttl"
    file.write_text(graph, "utf-8")
    opened.catalog.load("default", "clinic", [file], None, ConceptNamer(embedder).name)
    yield opened
    opened.close()
