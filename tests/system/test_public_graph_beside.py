"""A public graph beside a private one changes no byte that leaves, though every private name is a public term."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.chat import reading
from app.privacy import pseudonyms
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.bench.bench import CALLER, TENANT, TO_THE_MODEL, Bench
from tests.system.test_public_terms import DEMO, PEOPLE, SAID, write_public

pytestmark = pytest.mark.model

STRATEGIES = ("sets", "arog", "dialogue")
KEY = KeyPair.generate()
QUESTIONS = [
    *(said.format(name) for said, name in zip(SAID, PEOPLE[::12], strict=False)),
    f"does field know {PEOPLE[0]}", f"which hunter lives with Mr Price and {PEOPLE[1]}?", "hello, how are you?",
    "tell me about rose and grace",
]  # fmt: skip
Left = list[tuple[list[bytes], dict[str, object]]]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with Bench("scripted", changes={**TO_THE_MODEL, "reply_words": "model"}) as opened:
        opened.load("clinic", [DEMO / "clinic.ttl"], (DEMO / "clinic.policy.toml").read_text())
        yield opened


async def left_for(bench: Bench, monkeypatch: pytest.MonkeyPatch, beside: list[str] | None = None) -> Left:
    """Returns what was sent for each question, with the same pseudonyms each time, and the answer as it came."""
    found: Left = []
    for strategy in STRATEGIES:
        for said in QUESTIONS:
            drawn, answer_id = random.Random(7), f"answer {len(found)}"
            fixed = SimpleNamespace(choice=drawn.choice, token_bytes=drawn.randbytes)
            monkeypatch.setattr(pseudonyms, "secrets", fixed)
            monkeypatch.setattr(reading, "secrets", SimpleNamespace(token_urlsafe=lambda _bytes, id=answer_id: id))
            before = bench.sent_so_far
            request = Dialogue("clinic", KEY, strategy, {"beside": beside}).request(said, None, {})
            answer = await bench.services.chat.answer(CALLER, request)
            told = answer.model_dump(exclude={"id", "conversation", "capsule", "usage"})
            found.append((bench.sent_from(before), told | {"withheld": answer.usage.withheld}))
    return found


def load_terms(bench: Bench, folder: Path, policy: str | None) -> None:
    load = bench.services.graphs.load(TENANT, "common", [write_public(folder)], policy)
    load.run(lambda _step, _done: None)


async def test_what_leaves_is_the_same_with_and_without_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = await left_for(bench, monkeypatch)
    assert sum(len(sent) for sent, _ in alone) > len(QUESTIONS)
    load_terms(bench, tmp_path, '[public]\nfiles = ["terms.ttl"]\n')
    assert await left_for(bench, monkeypatch) == alone
    assert await left_for(bench, monkeypatch, ["common"]) == alone
    bench.services.graphs.put_beside(TENANT, "clinic", "common")
    assert await left_for(bench, monkeypatch) == alone
    load_terms(bench, tmp_path, None)
    assert await left_for(bench, monkeypatch) != alone, "the same terms as a private graph withhold more words"
