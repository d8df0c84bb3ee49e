"""The released Open WebUI, unchanged and with its default settings, against `arog proxy` and `arog serve`.

It takes gigabytes and minutes to install: `make test-openwebui` does, and runs these; other runs leave them out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import httpx2
import pytest

from tests.support.processes.demo_service import DemoService
from tests.support.processes.open_webui import COMMAND, Person, WebChat, open_webui_process
from tests.support.processes.proxy import ProxyProcess

pytestmark = [
    pytest.mark.openwebui,
    pytest.mark.process,
    pytest.mark.skipif(COMMAND not in os.environ, reason=f"{COMMAND} says where Open WebUI is"),
]

# Three chats, ten questions: what is asked, and what the answer must hold.
CHATS = (
    (
        ("Which doctor is Valeska Dornbusch treated by?", "Emeka Osakwani"),
        ("And where does he work?", "Alder Clinic"),
        ("Which other patients has he?", "Kaveh Khorvand"),
        ("Where does Rosalind Rose live?", "Lower Gallenbach"),
    ),
    (
        ("Which diagnoses does Jörg Fährmann have?", "Migraine"),
        ("How many patients are insured by Palisander Insurance?", "6"),
        ("Which patients are treated by Dr. Mbekani?", "Edda Thornbury-Vale"),
    ),
    (
        ("Where does Marta Lindqvist live?", "Which one do you mean?"),
        ("The second one.", "lives in"),
        ("Does Zita Niederauer have the diagnosis Asthma?", "The answer is no"),
    ),
)
NAMES = ("Valeska", "Osakwani", "Rosalind", "Gallenbach", "Fährmann", "Lindqvist", "Niederauer", "Mbekani")


@pytest.fixture(scope="module")
def person(proxy: ProxyProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    folder = tmp_path_factory.mktemp("open_webui")
    with open_webui_process(folder, proxy.url) as url, httpx2.Client(base_url=url, timeout=60) as http:
        yield Person(http)


def test_its_models_are_the_graphs(person: Person) -> None:
    assert {"demo", "demo:arog"} <= set(person.models())


@pytest.mark.parametrize("asked", CHATS, ids=["follow-ups", "counts and names", "a choice"])
def test_ten_questions_are_answered_and_titles_and_tags_hold_no_name(
    person: Person, asked: tuple[tuple[str, str], ...]
) -> None:
    chat = WebChat(person)
    for question, expected in asked:
        answer = chat.ask(question)
        assert answer.get("error") is None, answer["error"]
        assert expected in answer["content"]
        assert answer["followUps"] == []
    title, tags = chat.title_and_tags()
    assert title.startswith("demo, ")
    assert tags == ["demo"]
    assert not [name for name in NAMES if name in json.dumps([title, tags], ensure_ascii=False)]


def test_an_image_is_refused_in_words_and_the_chat_goes_on(person: Person) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    question = [{"role": "user", "content": [{"type": "text", "text": "Who is this?"}, image]}]
    told = person.http.post("/api/chat/completions", json={"model": "demo", "messages": question, "stream": False})
    assert "images, sound and files are not read" in told.text
    then = [*question, {"role": "user", "content": "Where does Rosalind Rose live?"}]
    told = person.http.post("/api/chat/completions", json={"model": "demo", "messages": then, "stream": False})
    assert "Lower Gallenbach" in told.text


def test_neither_service_nor_proxy_wrote_a_name(person: Person, demo: DemoService, proxy: ProxyProcess) -> None:
    WebChat(person).ask("Which doctor is Valeska Dornbusch treated by?")
    left = [proxy.printed.read_bytes(), (demo.folder / "printed.txt").read_bytes(), *proxy.written.values()]
    assert [name for name in NAMES for content in left if name.encode() in content] == []
