"""Questions in the words that an owner gave relations and kinds: they are found, and are told to nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.accounts.api_keys import Caller
from app.chat.question_run import ChatOptions
from app.chat.service import ChatService
from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.wiring.store import ServiceContext, open_store
from client_sdk.answers.answer import Answer
from client_sdk.dialogue import Dialogue
from kg_store.sources.policy import Policy
from tests.support.asking import PEOPLE
from tests.support.house import KEY, sets_chat
from tests.support.service import settings_in

POLICY = """
show_relations = "all"
[relations."http://clinic.test/sa"]
words = ["zorbs", "frumps"]
[relations."http://clinic.test/tb"]
words = ["quacked by"]
[relations."http://clinic.test/li"]
mask = true
words = ["snorkelwick"]
[classes.doctor]
words = ["sawbones"]
[roles.desk]
withhold_relations = ["monthly salary"]
[roles.visitor]
withhold_concepts = ["doctor"]
"""
COMMENT = """
<http://clinic.test/sa> <http://www.w3.org/2000/01/rdf-schema#comment>
    "Coins, handed over in a brown envelope at the end of each month." .
"""
BY_WORDS = "What are the zorbs of Ottoline Brackwater?"


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    folder = tmp_path_factory.mktemp("words")
    file = folder / "clinic.ttl"
    file.write_text(PEOPLE, "utf-8")
    opened = open_store(settings_in(folder))
    plain = "\n".join(line for line in POLICY.splitlines() if not line.startswith("words"))
    commented = folder / "commented.ttl"
    commented.write_text(PEOPLE + COMMENT, "utf-8")
    for name, source, policy in (("worded", file, POLICY), ("plain", file, plain), ("commented", commented, plain)):
        opened.catalog.load("default", name, [source], Policy.from_toml(policy), ConceptNamer(embedder).name)
    yield opened
    opened.close()


@pytest.fixture
def chat(store: ServiceContext, embedder: Embedder) -> ChatService:
    return sets_chat(store, embedder, ChatOptions(likeness=embedder.similarity))


async def ask(chat: ChatService, question: str, graph: str = "worded", role: str | None = None) -> Answer:
    caller = Caller("default", "k1", "user", frozenset({f"{graph}#{role}" if role else graph}))
    dialogue = Dialogue(graph, KEY, "sets", {})
    return dialogue.accept(question, await chat.answer(caller, dialogue.request(question, None, {})))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (BY_WORDS, ["5200"]),
        ("Who was Bertil Oxenhame quacked by?", ["Ptolemy Ashgrove"]),
        ("Which sawbones works in Kestrel Wing?", ["Ottoline Brackwater"]),
        ("How many sawbones are there?", ["2"]),
    ],
)
async def test_a_question_is_answered_by_the_owners_words(chat: ChatService, question: str, names: list[str]) -> None:
    assert (await ask(chat, question)).names == names
    assert not (await ask(chat, question, "plain")).answered


async def test_a_question_is_answered_by_a_word_of_a_long_comment(chat: ChatService) -> None:
    question = "What is the envelope of Ottoline Brackwater?"
    assert (await ask(chat, question, "commented")).names == ["5200"]
    assert not (await ask(chat, question, "plain")).answered


async def test_the_words_of_a_masked_relation_ask_for_it_and_are_sent_to_nobody(
    chat: ChatService, store: ServiceContext
) -> None:
    answer = await ask(chat, "What is the snorkelwick of Zofia Quarrel?")
    assert answer.names == ["Zemgalburg"]
    sent = b"".join(entry.payload or b"" for entry in store.ledger.entries("default", answer_id=answer.id))
    assert sent
    assert b"snorkelwick" not in sent


async def test_only_words_that_were_typed_leave(chat: ChatService, store: ServiceContext) -> None:
    answer = await ask(chat, BY_WORDS)
    sent = b"".join(entry.payload or b"" for entry in store.ledger.entries("default", answer_id=answer.id))
    assert b"zorbs" in sent
    assert b"frumps" not in sent


async def test_words_for_a_relation_that_a_role_is_not_shown_are_unknown_to_it(chat: ChatService) -> None:
    told = [(await ask(chat, BY_WORDS, graph, "desk")) for graph in ("worded", "plain")]
    assert [each.answered for each in told] == [False, False]
    assert told[0].text == told[1].text
    assert "zorbs" not in told[0].text


async def test_a_refusal_knows_nothing_that_a_role_is_not_shown(chat: ChatService) -> None:
    """Neither a name, which reads like one that nobody has, nor a relation; nor what is masked."""
    question = "What is the umbrella of {}?"
    whole = (await ask(chat, question.format("Ottoline Brackwater"))).text
    assert "I do know Ottoline Brackwater, a doctor. Of a doctor I can tell: " in whole
    assert "monthly salary" in whole
    assert all(word not in whole for word in ("lives in", "snorkelwick", "zorbs"))
    desk = (await ask(chat, question.format("Ottoline Brackwater"), role="desk")).text
    assert "I do know Ottoline Brackwater, a doctor. " in desk
    assert "monthly salary" not in desk
    hidden, unknown = [
        (await ask(chat, question.format(name), role="visitor")).text
        for name in ("Ottoline Brackwater", "Grolmaxia Tressop")
    ]
    assert hidden == unknown
    assert "I do know" not in hidden
