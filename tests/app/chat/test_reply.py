"""The parts of a reply that stand outside of its capsule tell counts and steps, and no name: canaries of their own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import pytest

from app.chat.reply import rows_told
from app.strategies.base import Draft
from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import ChatAnswer, Item
from client_sdk.protocol.chat import ItemKind
from evaluation.checks.canaries import GRAPH, POLICY, canaries_in
from tests.support.service import OPERATOR, Running, running

pytestmark = pytest.mark.model

PAIR = KeyPair.generate()
QUESTIONS = (
    "Who is Vexquilda Thrombury treated by?",
    "Who lives in Žofštenbrück?",
    "How many people live in Žofštenbrück?",
    "What illness does Vexquilda Thrombury have?",
    "Who was told in confidence to the neighbour Plumbrechtson?",
)
VERBS = ("visits", "knows", "paints", "cleans", "likes", "sells", "mends", "rents", "loves", "guards")
MANNERS = ("often", "early", "late", "twice", "daily", "gladly", "rarely", "slowly")
# More relations than are offered at once, and more things than relations.
MANY = "".join(
    f':p1 :of{a}{b} :y{a}{b}, :z{a}{b} . :of{a}{b} rdfs:label "{a} {b}" .\n'
    f':y{a}{b} rdfs:label "Corner {a} {b}" . :z{a}{b} rdfs:label "Yard {a} {b}" .\n'
    for a, b in product(VERBS, MANNERS)
)
TOLD = re.compile(
    r"(Step \d+: )?\d+ (possible paths|groups), ranked last, were not (offered|kept as evidence)(: .* was short)?\.|"
    r"The question's budget of tokens was used up (in step \d+|before the first step)\."
)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True) as house:
        house.load(name="house", turtle=GRAPH + MANY, policy=POLICY)
        yield house


async def asked(house: Running, text: str, strategy: str) -> tuple[ChatAnswer, bytes]:
    body = {"graph": "house", "public_key": PAIR.public_text, "messages": [{"role": "user", "content": text}]}
    narrow = {"strategy": strategy, "options": {"relations_per_concept": 1, "width": 1}}
    reply = await house.http.post("/chat", json={**body, **narrow}, headers=OPERATOR)
    assert reply.status_code == 200, reply.text
    return ChatAnswer.model_validate_json(reply.content), reply.content


async def test_what_was_left_out_and_how_many_there_are_name_nothing(house: Running) -> None:
    left_out, counts = [], []
    for text in QUESTIONS:
        for strategy in ("sets", "arog"):
            answer, content = await asked(house, text, strategy)
            assert canaries_in(content) == []
            left_out += answer.usage.left_out
            counts += [fact.tail_count for fact in answer.evidence]
    print(left_out, counts)
    assert left_out
    assert [told for told in left_out if not TOLD.fullmatch(told)] == []
    assert all(count is None or count > 0 for count in counts)


def test_a_list_of_what_goes_with_which_counts_as_the_facts_that_it_tells() -> None:
    pairs = Draft(("Ea1b2c", 'reach(Ea1b2c, "sort")', "Ed3e4f", 'reach(Ed3e4f, "sort")'), "", ("Ea1b2c", "Ed3e4f"))
    words = ("Ea1b2c", "Vg5h6i", "Ed3e4f", "Vj7k8l")
    items = [Item(pseudonym=word, kind="entity", concept="tool", size=1, ordered=False) for word in words]
    assert rows_told(pairs, items) == [("Ea1b2c", ("sort",), "Vg5h6i"), ("Ed3e4f", ("sort",), "Vj7k8l")]
    assert rows_told(Draft(('reach(Ea1b2c, "sort")',), ""), items[:1]) == rows_told(None, items) == []


@pytest.mark.parametrize(("row", "names"), [("Er1s2t", ("Er1s2t",)), ('argmax(Sa1b2c, "fee")', ())])
def test_what_a_row_tells_counts_as_facts_of_the_first_thing_in_it(row: str, names: tuple[str, ...]) -> None:
    cells = Draft(tuple(f'reach({row}, "{label}")' for label in ("fee", "member", "kit")), "", names)
    kinds: list[tuple[str, ItemKind]] = [("Vf1e2e", "value"), ("Em1e2m", "entity"), ("Ek1i2t", "entity")]
    items = [Item(pseudonym=word, kind=kind, concept="", size=1, ordered=False) for word, kind in kinds]
    assert rows_told(cells, items) == [("Em1e2m", ("fee",), "Vf1e2e"), ("Em1e2m", ("kit",), "Ek1i2t")]
