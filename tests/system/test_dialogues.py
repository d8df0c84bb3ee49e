"""Whole dialogues over the demo graph, with the real service and no model: turns that lean on the turns before."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from app.chat.reply import NO_REASON
from app.demo import GRAPH_FILE, POLICY_FILE
from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from app.wiring.store import ServiceContext, open_store
from kg_store.sources.policy import Policy
from tests.support.house import House, sets_house, visible
from tests.support.service import settings_in


@pytest.fixture(scope="module")
def store(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceContext]:
    opened = open_store(settings_in(tmp_path_factory.mktemp("dialogues")))
    policy = Policy.from_toml(POLICY_FILE.read_text("utf-8"))
    opened.catalog.load("default", "clinic", [GRAPH_FILE], policy, ConceptNamer(embedder).name)
    yield opened
    opened.close()


Begin = Callable[[], House]


@pytest.fixture
def begin(store: ServiceContext, embedder: Embedder) -> Begin:
    return lambda: sets_house(store, embedder)


async def names_after(house: House, *turns: str) -> list[str]:
    for turn in turns:
        answer = await house.ask(turn)
    return answer.names


async def test_the_same_is_asked_of_another(begin: Begin) -> None:
    house = begin()
    assert await names_after(house, "Where does Rosalind Rose live?") == ["Lower Gallenbach"]
    assert await names_after(house, "and Yusra Niederauer?") == ["Osterfurt"]
    assert await names_after(house, "What about Tove Uhlenbruck?") == ["Arnsbridge"]


async def test_what_an_answer_listed_is_pointed_at_in_the_order_that_was_shown(begin: Begin) -> None:
    house = begin()
    patients = await names_after(house, "Which patients are treated by Dr. Mbekani?")
    homes = {(await begin().ask(f"Where does {name} live?")).names[0]: name for name in patients}
    assert len(patients) == len(homes) == 4
    for word, name in zip(("first", "second", "third"), patients, strict=False):
        answer = await house.ask(f"Where does the {word} one live?")
        assert homes[answer.names[0]] == name
    answer = await house.ask("and the last one?")
    assert homes[answer.names[0]] == patients[3]


async def test_what_is_pointed_at_alone_is_named_and_can_be_asked_about(begin: Begin) -> None:
    house = begin()
    patients = await names_after(house, "Which patients are treated by Dr. Mbekani?")
    pointed = await house.ask("the second one")
    assert pointed.text == f"That is {patients[1]}."
    home = await names_after(begin(), f"Where does {patients[1]} live?")
    assert await names_after(house, "and where does she live?") == home


async def test_what_was_not_listed_is_told_and_nothing_is_asked(begin: Begin) -> None:
    house = begin()
    await house.ask("Which patients are treated by Dr. Mbekani?")
    answer = await house.ask("Where does the ninth one live?")
    assert not answer.answered
    assert answer.notes == ("there is no such thing in the last answer",)
    assert house.recorded == 0


@pytest.mark.parametrize("reply", ["the second one", "I mean the second one.", "and the second of them?"])
async def test_of_two_with_one_name_the_second_is_chosen(begin: Begin, reply: str) -> None:
    house = begin()
    both = await house.ask("What is Marta Lindqvist's date of birth?")
    assert sorted(both.names) == ["1954-11-25", "1991-12-02"]
    assert list(both.ambiguous) == ["Marta Lindqvist"]
    second = house.last.ambiguous[0].choices[1]
    chosen = await house.ask(reply)
    assert len(chosen.names) == 1
    assert chosen.ambiguous == {}
    assert second in [fact.head for fact in house.last.evidence]
    # From now on the name means whom it was settled for, and the other is the other one.
    again = await house.ask("What is Marta Lindqvist's date of birth?")
    assert again.names == chosen.names
    assert again.ambiguous == {}
    assert sorted([*again.names, *await names_after(house, "and the other one?")]) == ["1954-11-25", "1991-12-02"]


async def test_things_of_one_name_are_offered_with_what_tells_them_apart(begin: Begin) -> None:
    house = begin()
    answer = await house.ask("Where does Marta Lindqvist live?")
    offered = answer.ambiguous["Marta Lindqvist"]
    assert sorted(offered) == [
        "Marta Lindqvist (date of birth: 1954-11-25)", "Marta Lindqvist (date of birth: 1991-12-02)",
    ]  # fmt: skip
    assert "1954" not in visible(house.last).decode()
    born = await names_after(house, "the first one", "What is her date of birth?")
    assert offered[0] == f"Marta Lindqvist (date of birth: {born[0]})"


async def test_he_and_she_are_told_apart(begin: Begin) -> None:
    house = begin()
    doctor = await names_after(house, "Which doctor is Valeska Dornbusch treated by?")
    assert doctor == ["Emeka Osakwani"]
    assert await names_after(house, "And where does he work?") == ["Alder Clinic"]
    at_home = await names_after(begin(), "Where does Valeska Dornbusch live?")
    assert await names_after(house, "And where does she live?") == at_home


async def test_why_is_answered_from_what_was_found_and_nobody_is_asked(begin: Begin) -> None:
    house = begin()
    await house.ask("Who is Valeska Dornbusch treated by?")
    for question in ("why?", "How do you know?"):
        reason = await house.ask(question)
        # Other ways that were followed may lead to the same doctor.
        assert reason.text.startswith(
            "Valeska Dornbusch is treated by Emeka Osakwani. From Valeska Dornbusch (patient)"
        )
        assert reason.text.endswith('by "treated by" to Emeka Osakwani (doctor).')
        assert "Valeska Dornbusch -> treated by (doctor) -> Emeka Osakwani" in reason.why().splitlines()
        assert (reason.answered, reason.names, house.recorded) == (True, ["Emeka Osakwani"], 0)
        sent = visible(house.last).decode()
        assert not [name for name in ("Valeska", "Dornbusch", "Emeka", "Osakwani") if name in sent]
    assert await names_after(house, "and Tilda D'Amaro?") == ["Nils Uhlenbruck"]


async def test_a_yes_or_no_of_the_graph_is_explained_by_its_fact(begin: Begin) -> None:
    answer = await begin().ask("Is Rosalind Rose a smoker?")
    assert answer.text == "The answer is no."
    assert answer.explanation == "Rosalind Rose -> smoker (yes or no) -> false"


async def test_why_tells_what_was_worked_out(begin: Begin) -> None:
    house = begin()
    await house.ask("Which doctor has the highest monthly salary?")
    reason = await house.ask("why?")
    assert "argmax(" in reason.text
    assert '"monthly salary"' in reason.text
    assert "and 10 more" in reason.text  # of 15 doctors, five are named


async def test_without_an_answer_there_is_no_reason(begin: Begin) -> None:
    house = begin()
    assert (await house.ask("why?")).text == NO_REASON
    await house.ask("What is the blood group of Kaveh Khorvand?")
    reason = await house.ask("why?")
    assert (reason.text, reason.answered) == (NO_REASON, False)
