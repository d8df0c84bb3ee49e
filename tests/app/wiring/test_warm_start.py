"""A service opens and warms its graphs before it says that it is ready, and says how far it is meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.api.layers import error_body
from app.wiring import services as wiring
from app.wiring.services import MOST_WARMED, build, warm_graphs
from kg_store.errors import MasterKeyError
from tests.support.service import CLINIC, settings_in

pytestmark = pytest.mark.model


@pytest.mark.parametrize("min_things", [0, 5_000])
async def test_graphs_are_open_and_questions_about_large_ones_tried_before_anybody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, min_things: int
) -> None:
    monkeypatch.setattr(wiring, "MIN_THINGS", min_things)
    services = build(settings_in(tmp_path), error_body)
    try:
        file = tmp_path / "clinic.ttl"
        file.write_text(CLINIC, "utf-8")
        for tenant, name in (("one", "first"), ("two", "second")):
            services.graphs.load(tenant, name, [file], None).run(lambda _step, _percent: None)
        told: list[tuple[int, int]] = []
        await warm_graphs(services, lambda done, graphs: told.append((done, graphs)))
        assert told == [(0, 2), (1, 2)]
        assert services.store.catalog.newest(MOST_WARMED) == [("two", "second"), ("one", "first")]
        assert services.store.catalog.newest(1) == [("two", "second")]
        opened = services.store.catalog.open("one", "first")
        assert ("suggestions" in opened.blind.schema.derived) == (min_things == 0)
    finally:
        await services.close()


async def test_a_graph_that_can_not_be_opened_keeps_no_service_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = build(settings_in(tmp_path), error_body)
    try:
        file = tmp_path / "clinic.ttl"
        file.write_text(CLINIC, "utf-8")
        services.graphs.load("one", "first", [file], None).run(lambda _step, _percent: None)

        def fail(*_given: object) -> None:
            raise MasterKeyError("another key")

        monkeypatch.setattr(services.store.catalog, "open", fail)
        told: list[tuple[int, int]] = []
        await warm_graphs(services, lambda done, graphs: told.append((done, graphs)))
        assert told == [(0, 1)]
    finally:
        await services.close()
