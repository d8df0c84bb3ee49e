"""Turns that talk about things are answered in dialogue: from facts alone, checked sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.chat.concluding import IN_MODELS_WORDS
from app.chat.question_run import ChatOptions
from app.egress.disclosure import Disclosure, Profile
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.wiring.store import ServiceContext
from client_sdk.answers.answer import Answer
from tests.support.asking import SECRETS
from tests.support.house import House, dialogue_house, visible
from tests.support.processes.model_server import Canned, ModelServer, Request, reply, sent_to

pytestmark = pytest.mark.usefixtures("no_waiting")
ABOUT = "Tell me about Aurelio Vantongeren"


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder) -> House:
    return dialogue_house(store, embedder)


Modelled = Callable[..., House]


@pytest.fixture
def modelled(store: ServiceContext, embedder: Embedder, model: PromptedReasoner) -> Modelled:
    return partial(dialogue_house, store, embedder, reasoner=model)


def choosing(*labels: str, manner: str = "answer", **beside: object) -> Callable[[Request], Canned]:
    """Replies with the numbers of the facts of these relations."""

    def replies(request: Request) -> Canned:
        numbers = {fact["path"][0]: at for at, fact in enumerate(request.input["evidence"], start=1)}
        return reply({"facts": [numbers[label] for label in labels], "manner": manner, **beside})

    return replies


def saying(*sentences: str) -> Callable[[Request], Canned]:
    """Replies with these sentences, each of which cites the facts that it names in braces; `{X}` is told of."""

    def replies(request: Request) -> Canned:
        facts: list[dict[str, Any]] = request.input["evidence"]
        ends = {fact["path"][0]: fact["end"] for fact in facts} | {"X": facts[0]["start"]}

        def told(text: str) -> dict[str, object]:
            cited = [at for at, fact in enumerate(facts, start=1) if "{" + fact["path"][0] + "}" in text]
            for label, end in ends.items():
                text = text.replace("{" + label + "}", end)
            return {"text": text, "facts": cited}

        return reply({"sentences": [told(each) for each in sentences]})

    return replies


def reads_positive_sentences(text: str, known: str, _relation: str) -> tuple[str, ...]:
    """Stands in for the learned extractor: it finds nothing in a sentence that denies."""
    return () if "never" in text else (text.replace(known, ""),)


def told_of(answer: Answer, number: int) -> set[str]:
    """The relations of the facts behind a sentence."""
    return {fact.path[0] for fact in answer.sentences[number].facts}


async def test_a_thing_is_described_in_whole_sentences_each_with_its_facts(house: House) -> None:
    answer = await house.ask(ABOUT)
    assert (house.last.turn, answer.strategy, answer.answered, answer.removed) == ("tell", "dialogue", True, 0)
    assert 1 <= len(answer.sentences) <= 5
    assert answer.text == " ".join(sentence.text for sentence in answer.sentences)
    assert {"Zemgalburg", "Zofia Quarrel", "1958-09-30"} <= house.named
    held = {label for number in range(len(answer.sentences)) for label in told_of(answer, number)}
    assert {"treated by", "lives in", "date of birth"} <= held
    assert house.last.usage.attachment == 1


async def test_talk_is_answered_with_facts_about_what_it_speaks_of(house: House) -> None:
    answer = await house.ask("Ottoline Brackwater has been so kind to my mother")
    assert (house.last.turn, answer.strategy, answer.answered) == ("talk", "dialogue", True)
    assert all("Ottoline Brackwater" in sentence.text for sentence in answer.sentences[:1])
    assert len(answer.sentences) <= 3


async def test_what_has_nothing_to_do_with_the_graph_is_told_what_can_be_asked(house: House) -> None:
    answer = await house.ask("write me a poem about the sea please")
    assert (house.last.turn, answer.sentences) == ("neither", ())
    assert answer.text.startswith("I can only talk about what this graph holds.")


async def test_a_model_chooses_the_facts_and_their_order_and_the_service_writes(
    modelled: Modelled, server: ModelServer
) -> None:
    server.replies = choosing("married to", "lives in", text="He is an arsonist.", explanation="arsonist")
    house = modelled()
    answer = await house.ask(ABOUT)
    assert {"married to", "lives in"} == {
        label for at in range(len(answer.sentences)) for label in told_of(answer, at)
    }
    assert answer.text.index("Zofia Quarrel") < answer.text.index("Zemgalburg")
    assert (answer.grounded, answer.removed) == (True, 0)
    assert "arsonist" not in f"{answer} {house.last!r}"


@pytest.mark.parametrize(
    ("manner", "begins"), [("recommend", "You may want to look at"), ("ask_on", "Shall I tell you about")]
)
async def test_a_manner_adds_a_sentence_of_ours(
    modelled: Modelled, server: ModelServer, manner: str, begins: str
) -> None:
    server.replies = choosing("married to", manner=manner)
    answer = await modelled().ask(ABOUT)
    assert answer.sentences[-1].text.startswith(f"{begins} Zofia Quarrel")


async def test_a_model_that_chooses_nothing_leaves_it_to_the_house(
    house: House, modelled: Modelled, server: ModelServer
) -> None:
    server.replies = choosing()
    answer = await modelled().ask(ABOUT)
    own = await house.ask(ABOUT)
    assert (answer.answered, answer.text) == (True, own.text)


async def test_an_owner_may_allow_a_models_words_where_they_read_back(modelled: Modelled, server: ModelServer) -> None:
    server.replies = saying(
        "It is {lives in} that {X} lives in.", "{X} was never married to {married to}.", "{X} won an award in 1999."
    )
    answer = await modelled(ChatOptions(read_back=reads_positive_sentences)).ask(ABOUT)
    assert [(sentence.text, sentence.restated) for sentence in answer.sentences] == [
        ("It is Zemgalburg that Aurelio Vantongeren lives in.", False),
        ("Aurelio Vantongeren is married to Zofia Quarrel.", True),
    ]
    assert (answer.removed, answer.grounded) == (1, False)
    assert answer.text.endswith(IN_MODELS_WORDS)
    assert told_of(answer, 0) == {"lives in"}


async def test_a_sentence_that_names_more_than_it_cites_is_told_by_the_service(
    modelled: Modelled, server: ModelServer
) -> None:
    def replies(request: Request) -> Canned:
        facts: list[dict[str, Any]] = request.input["evidence"]
        ends = {fact["path"][0]: (at, fact["end"]) for at, fact in enumerate(facts, start=1)}
        text = f"{facts[0]['start']} lives in {ends['lives in'][1]} with {ends['married to'][1]}."
        return reply({"sentences": [{"text": text, "facts": [ends["lives in"][0]]}]})

    server.replies = replies
    answer = await modelled(ChatOptions(read_back=reads_positive_sentences)).ask(ABOUT)
    assert [(each.text, each.restated) for each in answer.sentences] == [
        ("Aurelio Vantongeren lives in Zemgalburg.", True)
    ]
    assert answer.grounded


async def test_a_reply_of_which_nothing_holds_is_refused(modelled: Modelled, server: ModelServer) -> None:
    server.replies = saying("{X} won an award in 1999.")
    answer = await modelled(ChatOptions(read_back=reads_positive_sentences)).ask(ABOUT)
    assert (answer.answered, answer.grounded, answer.sentences) == (False, False, ())
    assert "not shown" in answer.text


async def test_a_model_reads_pseudonyms_relations_and_concepts_alone(modelled: Modelled, server: ModelServer) -> None:
    server.replies = choosing("lives in")
    house = modelled()
    server.replies = lambda request: reply({"facts": [1], "manner": "answer"})
    for turn in (ABOUT, "I like Aurelio Vantongeren", "he is a kind man, is he not"):
        await house.ask(turn)
        assert not [secret for secret in SECRETS if secret.encode() in visible(house.last)]
    assert sent_to(server, "reply")
    assert not [secret for secret in SECRETS if secret.encode() in server.everything]


async def test_where_prompts_may_not_show_what_a_thing_has_the_service_writes_the_reply(
    modelled: Modelled, server: ModelServer
) -> None:
    server.replies = choosing("lives in")
    options = ChatOptions(profile=Profile.STRICT, disclosure=Disclosure())
    answer = await modelled(options).ask(ABOUT)
    assert answer.answered
    assert "Aurelio Vantongeren is a patient" in answer.text
    assert not sent_to(server, "reply")


async def test_the_same_facts_are_the_same_bytes_in_a_thread(modelled: Modelled, server: ModelServer) -> None:
    """SURGE, definition of invariance to order: however facts were found, a thread shows them in one order."""
    server.replies = choosing("lives in")
    house = modelled()
    await house.ask(ABOUT)
    await house.ask("Tell me about him")
    first, second = (given["evidence"] for given in sent_to(server, "reply"))
    kept = [fact for fact in first if fact in second]
    assert kept == [fact for fact in second if fact in first]
    assert kept
