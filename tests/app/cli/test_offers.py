"""`arog offers`: saves, takes and refuses what people offer to a graph's owner."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.memory.stated_facts import FactOwner, Mention, StatedFact
from app.settings import load_settings
from app.wiring.store import open_store
from tests.support.commands import arog, work_with_ring, write_ring
from tests.support.service import CLINIC

NAME = "Valdis Ozolkrasts"


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the only offer to a loaded graph."""
    work_with_ring(tmp_path, monkeypatch)
    write_ring(tmp_path)
    (tmp_path / "clinic.ttl").write_text(CLINIC)
    assert arog("graph", "load", "clinic", "clinic.ttl").exit_code == 0
    store = open_store(load_settings())
    mids = tuple(store.catalog.open("default", "clinic").names.named(NAME))
    store.facts.keep(FactOwner("default", "clinic", "k1"), StatedFact(("", " prefers mornings."), (Mention(mids),)))
    (kept,) = store.facts.of_owner(FactOwner("default", "clinic", "k1"))
    store.facts.set_offer("default", "clinic", [kept.id], "offered")
    store.close()
    return kept.id


@pytest.mark.parametrize("word", ["take", "refuse"])
def test_offers_are_saved_then_settled(offer: str, word: str) -> None:
    head, row = arog("offers", "export", "clinic").stdout.splitlines()
    assert head == "id,day,subject,relation,object,sentence"
    assert row.startswith(f"{offer},20")
    assert row.endswith(f",,,,{NAME} prefers mornings.")
    done = {"take": "taken: ", "refuse": "refused: "}[word]
    assert arog("offers", word, "clinic", offer).stdout == f"{done}1\n"
    assert arog("offers", word, "clinic", offer).stdout == f"{done}0\n"
    assert arog("offers", "export", "clinic").stdout.splitlines() == [head]
