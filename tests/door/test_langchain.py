"""LangChain, as released: chat model and retriever against a real service, its own client against the proxy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from client_sdk import BadRequestError, Chat, KeyPair, NotConfiguredError, NotPermittedError, UnknownGraphError
from tests.support.fake_service import API_KEY, PRIVATE_WORDS, FakeService, problem
from tests.support.lazy_module import LazyModule
from tests.support.processes.proxy import ProxyProcess

core = LazyModule("langchain_core.messages")
prompts = LazyModule("langchain_core.prompts")
runnables = LazyModule("langchain_core.runnables")
langchain_openai = LazyModule("langchain_openai")
langchain = LazyModule("client_sdk.integrations.langchain")

pytestmark = pytest.mark.process

DOCTOR = "Which doctor is Valeska Dornbusch treated by?"
KEY = KeyPair.generate()


@pytest.fixture
def fake() -> Iterator[FakeService]:
    service = FakeService()
    service.numbers_conversations = True
    yield service
    service.stop()


@pytest.fixture
def faked(fake: FakeService) -> Iterator[langchain.ChatArog]:
    with Chat(fake.url, API_KEY, "clinic", key=KEY) as chat:
        yield langchain.ChatArog(chat=chat)


def test_a_model_answers_with_names(chat: Chat) -> None:
    message = langchain.ChatArog(chat=chat).invoke(DOCTOR)
    assert message.text == "Valeska Dornbusch is treated by Emeka Osakwani."
    assert message.response_metadata["grounded"] is True
    assert message.usage_metadata == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


def test_a_stream_is_the_same_in_pieces(chat: Chat) -> None:
    pieces = list(langchain.ChatArog(chat=chat).stream(DOCTOR))
    assert len([piece for piece in pieces if piece.text]) > 1
    whole = pieces[0]
    for piece in pieces[1:]:
        whole += piece
    assert whole.text == "Valeska Dornbusch is treated by Emeka Osakwani."
    assert whole.response_metadata["answered"] is True


async def test_it_does_the_same_for_asyncio(chat: Chat) -> None:
    model = langchain.ChatArog(chat=chat)
    assert (await model.ainvoke(DOCTOR)).text == "Valeska Dornbusch is treated by Emeka Osakwani."
    assert (
        "".join([piece.text async for piece in model.astream(DOCTOR)])
        == "Valeska Dornbusch is treated by Emeka Osakwani."
    )


def test_a_dialogue_leans_on_its_earlier_turns(chat: Chat) -> None:
    prompt = prompts.ChatPromptTemplate(
        [("system", "Be kind."), prompts.MessagesPlaceholder("history"), ("human", "{question}")]
    )
    chain = prompt | langchain.ChatArog(chat=chat, evidence=True)
    history: list[Any] = [core.HumanMessage(DOCTOR)]
    history.append(chain.invoke({"history": [], "question": DOCTOR}))
    then = chain.invoke({"history": history, "question": "And where does he work?"})
    assert then.text.startswith("Emeka Osakwani works at Alder Clinic.\n\nHow it was found:")


def test_questions_of_a_batch_are_not_mixed(chat: Chat) -> None:
    asked = [DOCTOR, "Where does Rosalind Rose live?"] * 4
    told = [message.text for message in langchain.ChatArog(chat=chat).batch(asked)]
    assert told == ["Valeska Dornbusch is treated by Emeka Osakwani.", "Rosalind Rose lives in Lower Gallenbach."] * 4


def test_a_follow_up_goes_on_in_its_conversation_and_restored_text_is_never_sent(
    fake: FakeService, faked: langchain.ChatArog
) -> None:
    first = faked.invoke("a")
    faked.invoke([core.SystemMessage("x"), core.HumanMessage("a"), first, core.HumanMessage("b")])
    faked.invoke(
        [core.HumanMessage("c"), core.AIMessage("Anna Keller"), core.HumanMessage("d"), core.HumanMessage("e")]
    )
    sent = [(seen.get("conversation"), [turn["content"] for turn in seen["messages"]]) for seen in fake.seen]
    assert sent[:3] == [(None, ["a"]), ("conversation-1", ["a", fake.text, "b"]), (None, ["c"])]
    assert sent[3:] == [("conversation-2", ["c", fake.text, "d", "e"])]
    assert not any(word in json.dumps(fake.seen, ensure_ascii=False) for word in PRIVATE_WORDS)


@pytest.mark.parametrize(
    "turns",
    [
        lambda: [core.HumanMessage("a"), core.AIMessage("b")],
        list,
        lambda: [core.HumanMessage("a"), core.ToolMessage("Anna", tool_call_id="1"), core.HumanMessage("b")],
        lambda: [core.AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]), core.HumanMessage("b")],
        lambda: [core.HumanMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}])],
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(
    fake: FakeService, faked: langchain.ChatArog, turns: Callable[[], list[Any]]
) -> None:
    with pytest.raises(BadRequestError) as raised:
        faked.invoke(turns())
    assert "Anna" not in str(raised.value)
    assert fake.seen == []


@pytest.mark.parametrize("options", [{"stop": ["x"]}, {"temperature": 0.5}])
def test_what_is_no_option_is_refused(fake: FakeService, faked: langchain.ChatArog, options: dict[str, Any]) -> None:
    with pytest.raises(BadRequestError):
        faked.invoke("a", **options)
    assert fake.seen == []


def test_errors_are_those_of_the_sdk(fake: FakeService, faked: langchain.ChatArog) -> None:
    fake.canned = [problem(403, "not_permitted"), problem(404, "unknown_graph")]
    with pytest.raises(NotPermittedError):
        faked.invoke("a")
    with pytest.raises(UnknownGraphError):
        langchain.ArogRetriever(chat=faked.chat).invoke("a")


def test_a_retriever_gives_the_facts_that_lead_to_the_answer(chat: Chat) -> None:
    first, *_ = cited = langchain.ArogRetriever(chat=chat).invoke(DOCTOR)
    assert first.page_content == "Valeska Dornbusch (patient), treated by, Emeka Osakwani (doctor)"
    assert first.metadata | {"answer": "?"} == {
        "answer": "?", "explanation": "Valeska Dornbusch -> treated by (doctor) -> Emeka Osakwani",
        "head": "Valeska Dornbusch", "head_concept": "patient", "path": "treated by",
        "tail": "Emeka Osakwani", "tail_concept": "doctor", "size": "1", "cited": True,
    }  # fmt: skip
    assert all(document.metadata["cited"] for document in cited)
    everything = langchain.ArogRetriever(chat=chat, all_facts=True).invoke(DOCTOR)
    assert len(everything) >= len(cited)
    assert len({document.id for document in everything}) == len(everything)


async def test_a_retriever_works_in_a_chain_and_for_asyncio(chat: Chat) -> None:
    chain = runnables.RunnablePassthrough.assign(facts=lambda given: given["question"]) | (
        lambda given: given["facts"]
    )
    documents = await (chain | langchain.ArogRetriever(chat=chat)).ainvoke({"question": DOCTOR})
    assert documents[0].metadata["tail"] == "Emeka Osakwani"


@pytest.mark.parametrize("name", ["LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"])
def test_where_names_would_be_traced_elsewhere_it_refuses(
    fake: FakeService, faked: langchain.ChatArog, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from langsmith.utils import get_env_var

    monkeypatch.setenv(name, "true")
    get_env_var.cache_clear()
    try:
        for make in (langchain.ChatArog, langchain.ArogRetriever):
            with pytest.raises(NotConfiguredError, match="real names"):
                make(chat=faked.chat)
        with pytest.raises(NotConfiguredError, match="real names"):
            faked._generate([core.HumanMessage("a")])
        assert langchain.ChatArog(chat=faked.chat, allow_tracing=True).chat is faked.chat
    finally:
        monkeypatch.delenv(name)
        get_env_var.cache_clear()
    assert fake.seen == []


@pytest.mark.parametrize("responses", [False, True])
def test_langchains_own_client_of_openai_works_with_the_proxy(proxy: ProxyProcess, responses: bool) -> None:
    model = langchain_openai.ChatOpenAI(
        model="demo", base_url=proxy.url, api_key="anything", max_retries=0, use_responses_api=responses
    )  # type: ignore[arg-type]
    first = model.invoke([core.SystemMessage("Be kind."), core.HumanMessage(DOCTOR)])
    text, how = first.text.split("\n\n")
    assert text == "Valeska Dornbusch is treated by Emeka Osakwani."
    assert how == "(Valeska Dornbusch -> treated by (doctor) -> Emeka Osakwani)"
    then = [core.HumanMessage(DOCTOR), first, core.HumanMessage("And where does he work?")]
    streamed = "".join(piece.text for piece in model.stream(then))
    assert streamed.partition("\n\n")[0] == "Emeka Osakwani works at Alder Clinic."


def test_nothing_is_written(chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    langchain.ChatArog(chat=chat).invoke(DOCTOR)
    langchain.ArogRetriever(chat=chat).invoke(DOCTOR)
    assert list(tmp_path.iterdir()) == []
    assert "Valeska" not in repr(langchain.ChatArog(chat=chat)) + repr(chat)
