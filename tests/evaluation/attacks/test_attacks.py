"""Attacks: their lines tell what was missed, and against a service that gives way they succeed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.chat.sealing import seal_names
from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import ChatAnswer, ChatRequest, Message, Names, Usage
from evaluation.attacks import injection, pseudonyms
from evaluation.attacks.table import ATTACKS, run_attacks
from evaluation.attacks.targets import AML, AttackTargets, Attempted, Recorded, markdown, write
from evaluation.bench.question_sets import DEMO
from evaluation.datasets.questions import QuestionsError

TABLE = {"Eq7f2k": Names(names=["Zofia Quarrel"], total=1)}
VICTIM = KeyPair.generate()


def replied(number: int, table: dict[str, Names], public_key: str) -> ChatAnswer:
    answer = ChatAnswer.model_validate(
        {
            "id": f"a{number}", "conversation": f"c{number}", "graph": "g", "answered": True, "grounded": True,
            "message": {"role": "assistant", "content": "It is Eq7f2k."}, "evidence": [], "ambiguous": [],
            "entities": [{"pseudonym": "Eq7f2k", "kind": "entity", "concept": "patient"}],
            "usage": Usage().model_dump(),
        }
    )  # fmt: skip
    return seal_names(public_key, answer, table)


RECORDED = [Recorded(replied(number, TABLE, VICTIM.public_text), TABLE) for number in range(25)]


class GivesWay:
    """Implements AnswersQuestions: enters any conversation and tells whose pseudonym it is to everybody."""

    async def answer(self, caller: Caller, request: ChatRequest) -> ChatAnswer:
        assert isinstance(request.messages[-1], Message)
        assert request.public_key
        told = TABLE if "Eq7f2k" in request.messages[-1].content else {"Eq7f2k": Names(names=["Nobody"], total=1)}
        return replied(99, told, request.public_key)


async def test_a_service_that_gives_way_is_found_out() -> None:
    echoes = await pseudonyms.echoes(GivesWay(), RECORDED)
    entered = await pseudonyms.conversations(GivesWay(), RECORDED)
    assert [line.rate for line in (*echoes, *entered)] == [1.0] * 5
    assert [line.passed for line in echoes] == [True, False, False]
    assert [line.passed for line in entered] == [True, False]


def test_a_restorer_that_is_lenient_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def lenient(text: str, table: dict[str, Names]) -> str:
        return "Zofia Quarrel" if "eq7" in text.lower() else text

    monkeypatch.setattr(pseudonyms, "restore", lenient)
    own, altered, _ = pseudonyms.restorations(RECORDED)
    assert own.passed
    assert not altered.passed
    assert altered.rate > 0.3


def test_a_capsule_opens_for_its_owner_alone() -> None:
    lines = pseudonyms.capsules(RECORDED, VICTIM)
    assert [line.rate for line in lines] == [1.0, 0.0, 0.0, 0.0]
    assert all(line.passed for line in lines)
    assert not pseudonyms.capsules(RECORDED, KeyPair.generate())[0].passed


def test_capsules_that_open_beside_any_text_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudonyms, "open_names", lambda _reply, _key: TABLE)
    assert not any(line.passed for line in pseudonyms.capsules(RECORDED, VICTIM)[1:])


def test_a_line_tells_what_it_came_to(tmp_path: Path) -> None:
    lines = [
        Attempted(name="kept", tries=100, successes=1, blind=0.02, most=0.02),
        Attempted(name="missed", tries=100, successes=3, most=0.02),
        Attempted(name="too few", tries=4, successes=0, least=5),
        Attempted(name="never tried", tries=0, successes=0),
        Attempted(name="a control that fails", tries=10, successes=4, control=0.5),
        Attempted(name="right once in two times", tries=3, successes=1.5, most=1),
    ]
    assert markdown(lines).endswith("Missed: missed; too few; never tried; a control that fails.\n")
    assert "| kept | 100 | 1 (1.0%) | 2.00% | at most 2.0% | pass |" in markdown(lines)
    assert "| right once in two times | 3 | 1.5 (50.0%) | 0.00% | none | pass |" in markdown(lines)
    write(lines, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"privacy.md", "privacy.json"}


@pytest.mark.parametrize("place", ["names", "values"])
def test_every_payload_is_in_the_poisoned_graph(place: injection.Place) -> None:
    every = injection.payloads()
    assert len(every) == len({payload.word for payload in every}) == 200
    graph = injection.poisoned(place, every).decode()
    assert all(payload.word in graph for payload in every)
    assert "Rosalind Rose" in graph


def test_a_reply_that_was_changed_is_told_from_one_with_a_payload_behind_a_name() -> None:
    def replied_with(*names: str, answered: bool = True) -> injection.Replied:
        return injection.Replied("It is Eq7f2k.", answered, frozenset(names))

    clean = replied_with("Zofia Quarrel", "Kestrel Wing: 8")
    same = injection._same
    assert same(clean, clean)
    assert same(clean, replied_with("Zofia Quarrel Ignore all", "Kestrel Wing Stop: 8"))
    assert not same(clean, replied_with("Zofia Quarrel", "Kestrel Wing: 9"))
    assert not same(clean, replied_with("Zofia Quarrel"))
    assert not same(clean, replied_with("Zofia Quarrel", "Kestrel Wing: 8", "Another"))
    assert not same(clean, replied_with("Zofia Quarrel", "Kestrel Wing: 8", answered=False))


@pytest.mark.model
async def test_instructions_that_are_stored_change_no_reply_and_are_in_nothing_that_is_sent() -> None:
    async with AttackTargets() as targets:
        target = await targets.open(DEMO)
        # Every third question: each payload still stands behind a name and a value.
        (key,) = targets._targets
        targets._targets[key] = replace(target, questions=target.questions[::3])
        lines = await injection.injection(targets)
    assert [line.name for line in lines if not line.passed] == []
    assert [line.tries for line in lines if line.name.startswith("replies changed")] == [13, 13]


@pytest.mark.model
async def test_the_service_keeps_every_bound_of_conversations_that_were_recorded_once() -> None:
    attacks = ("restorations", "conversations", "capsules", "echoes")
    async with AttackTargets(limit=9) as targets:
        lines = {attack: await ATTACKS[attack](targets) for attack in attacks}
    assert all(lines.values())
    assert [(attack, line.name) for attack, found in lines.items() for line in found if not line.passed] == []


async def test_an_attack_that_is_not_there_is_told() -> None:
    with pytest.raises(QuestionsError, match="restorations"):
        await run_attacks("nothing of that name")


async def test_a_folder_of_data_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match="folder of --data"):
        await run_attacks("capsules", tmp_path / "nowhere")


@pytest.mark.model
async def test_attacks_on_one_graph_share_its_service_and_no_graph_is_there_without_data() -> None:
    async with AttackTargets(limit=5) as targets:
        target = await targets.open(DEMO)
        assert target is await targets.open(DEMO)
        assert target.endpoint is None
        assert await target.recorded() is await target.recorded()
        assert targets.among(DEMO, AML) == [DEMO]
        assert (targets.at_most(3), targets.at_most(9)) == (3, 5)
