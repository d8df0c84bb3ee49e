"""Public graphs beside the asked one: their facts reach the strategy that reads them, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.chat import beside
from app.chat.beside import UnknownBesideError, public_facts_of, require_beside
from app.chat.question_run import PUBLIC_STRATEGY
from app.chat.question_run import ChatOptions as ServiceOptions
from app.chat.reading import QuestionOpener
from app.chat.service import ChatService
from app.egress.guard import StaticSegments
from app.graphs.admin import GraphAdmin
from app.strategies.base import RetrievalResult, StrategyInput
from app.wiring.administration import graphs_of
from app.wiring.store import ServiceContext, open_store
from client_sdk.protocol import ChatOptions, ChatRequest, Message
from kg_store.errors import NotPublicError
from tests.support.languages import english
from tests.support.service import CLINIC, QUESTION, ScriptedReasoner, name_things, settings_in

POLICY = (
    '[public]\nfiles = ["common.tsv"]\nsource = "Two"\nlicence = "CC0"\n\n[[triples]]\nfile = "common.tsv"\n'
    "columns = [2, 1, 3]\n"
)
ROLE = '\n[roles.cook]\nshow_relations = ["UsedFor"]\n'
USED, KIND = ("pan", "used for", "cook"), ("pan", "is a", "pot")


@dataclass(slots=True)
class KeptInquiries:
    """Implements Strategy: keeps what it is given, and finds nothing."""

    given: list[StrategyInput] = field(default_factory=list)

    async def find(self, inquiry: StrategyInput) -> RetrievalResult:
        self.given.append(inquiry)
        return RetrievalResult(None, (), (), 0, said="Nothing.")


@dataclass(frozen=True, slots=True)
class House:
    store: ServiceContext
    graphs: GraphAdmin
    folder: Path

    def load(self, name: str, file: str, text: str, policy: str | None = None) -> None:
        (self.folder / file).write_text(text)
        self.graphs.load("default", name, [self.folder / file], policy).run(lambda _step, _done: None)

    def load_common(self, policy: str = POLICY, more: str = "") -> None:
        self.load("common", "common.tsv", "UsedFor\tpan\tcook\nIsA\tpan\tpot\n" + more, policy)

    def triples(self, *graphs: str) -> list[tuple[tuple[str, str, str], ...]]:
        return [tuple(map(tuple, each.facts)) for each in public_facts_of(self.store.catalog, "default", graphs)]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    store = open_store(settings_in(tmp_path))
    house = House(store, graphs_of(store, name_things), tmp_path)
    house.load("clinic", "clinic.ttl", CLINIC)
    house.load_common()
    yield house
    store.close()


def caller(*grants: str) -> Caller:
    return Caller("default", "k1", "user", frozenset(grants))


def asked(named: list[str] | None = None, strategy: str = PUBLIC_STRATEGY) -> ChatRequest:
    messages = [Message(role="user", content=QUESTION)]
    request = ChatRequest(graph="clinic", messages=messages, options=ChatOptions(beside=named))
    return request.model_copy(update={"strategy": strategy})


async def test_the_facts_reach_the_strategy_that_reads_them_and_no_other(house: House) -> None:
    house.graphs.put_beside("default", "clinic", "common")
    kept = {"sets": KeptInquiries(), PUBLIC_STRATEGY: KeptInquiries()}
    parts = house.store.catalog, house.store.conversations, house.store.ledger, ScriptedReasoner(), english()
    chat = ChatService(*parts, kept, StaticSegments())
    for strategy in kept:
        await chat.answer(caller("clinic"), asked(strategy=strategy))
    assert [each.beside for each in kept["sets"].given] == [()] * len(kept["sets"].given)
    (found,) = kept[PUBLIC_STRATEGY].given[0].beside
    assert (found.name, found.source, found.licence) == ("common", "Two", "CC0")
    assert set(map(tuple, found.facts)) == {USED, KIND}


def test_a_question_uses_the_graphs_that_it_names_or_else_those_of_the_owner(house: House) -> None:
    opener = QuestionOpener(house.store.catalog, house.store.conversations, english(), ServiceOptions())

    def beside_of(key: Caller, named: list[str] | None = None) -> tuple[str, ...]:
        return opener.open(key, asked(named)).beside

    assert beside_of(caller("clinic")) == ()
    house.graphs.put_beside("default", "clinic", "common")
    assert beside_of(caller("clinic")) == ("common",)
    assert beside_of(caller("clinic"), []) == ()
    assert beside_of(caller("clinic", "common"), ["common", "common"]) == ("common",)
    for key, named in ((caller("clinic"), "common"), (caller("*"), "nothing")):
        with pytest.raises(UnknownBesideError):
            beside_of(key, [named])
    with pytest.raises(NotPublicError):
        beside_of(caller("*"), ["clinic"])


def test_a_role_brings_its_part_of_a_public_graph_alone(house: House) -> None:
    house.load_common(POLICY + ROLE)
    named = require_beside(house.store.catalog, caller("clinic", "common#cook"), ["common"])
    assert named == ("common#cook",)
    assert house.triples(*named) == [(USED,)]
    assert set(house.triples("common")[0]) == {USED, KIND}


def test_facts_are_kept_for_each_version_and_bounded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "MAX_KEPT", 1)
    (first,), (again,) = (public_facts_of(house.store.catalog, "default", ["common"]) for _ in range(2))
    assert first.facts is again.facts
    house.load_common(more="IsA\tpot\tthing\n")
    assert ("pot", "is a", "thing") in house.triples("common")[0]
    assert len(beside._KEPT._kept) == 1


def test_masked_relations_give_no_facts_and_private_graphs_none_at_all(house: House) -> None:
    house.load_common(POLICY + '\n[relations."IsA"]\nmask = true\n')
    assert house.triples("common") == [(USED,)]
    with pytest.raises(NotPublicError):
        house.triples("clinic")
