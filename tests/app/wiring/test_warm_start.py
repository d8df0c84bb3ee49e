"""A service opens and warms its graphs before it says that it is ready, and says how far it is meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.api.problems import error_body
from app.chat.beside import public_facts_of
from app.strategies.demands.strategy import public_terms_of
from app.wiring import services as wiring
from kg_store.errors import MasterKeyError
from tests.support.service import CLINIC, settings_in

pytestmark = pytest.mark.model


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[wiring.Services]:
    services = wiring.build(settings_in(tmp_path), error_body)
    file = tmp_path / "clinic.ttl"
    file.write_text(CLINIC, "utf-8")
    for tenant, name in (("one", "first"), ("two", "second")):
        services.graphs.load(tenant, name, [file], None).run(lambda _step, _percent: None)
    yield services
    await services.close()


async def told_while_warming(services: wiring.Services) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    await wiring.warm_graphs(services, lambda done, graphs: told.append((done, graphs)))
    return told


@pytest.mark.parametrize("min_things", [0, 5_000])
async def test_graphs_are_open_and_questions_about_large_ones_tried_before_anybody_asks(
    services: wiring.Services, monkeypatch: pytest.MonkeyPatch, min_things: int
) -> None:
    monkeypatch.setattr(wiring, "MIN_THINGS", min_things)
    assert await told_while_warming(services) == [(0, 2), (1, 2)]
    assert services.store.catalog.newest(wiring.MAX_WARMED) == [("two", "second"), ("one", "first")]
    assert services.store.catalog.newest(1) == [("two", "second")]
    opened = services.store.catalog.open("one", "first")
    assert ("suggestions" in opened.blind.schema.derived) == (min_things == 0)


async def test_public_graphs_beside_them_are_read(services: wiring.Services, tmp_path: Path) -> None:
    file = tmp_path / "common.tsv"
    file.write_text("UsedFor\tpan\tcook\n", "utf-8")
    policy = '[public]\nfiles = ["common.tsv"]\n\n[[triples]]\nfile = "common.tsv"\ncolumns = [2, 1, 3]\n'
    services.graphs.load("one", "common", [file], policy).run(lambda _step, _percent: None)
    services.graphs.put_beside("one", "first", "common")
    await told_while_warming(services)
    (beside,) = public_facts_of(services.store.catalog, "one", ["common"])
    before = public_terms_of.cache_info().hits
    assert "phrases" in vars(public_terms_of(beside.facts))
    assert public_terms_of.cache_info().hits == before + 1


async def test_a_graph_that_can_not_be_opened_keeps_no_service_from_starting(
    services: wiring.Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> None:
        raise MasterKeyError("another key")

    monkeypatch.setattr(services.store.catalog, "open", fail)
    assert await told_while_warming(services) == [(0, 2), (1, 2)]
