"""A load over a graph says what it replaces, and warns where most of the graph is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.graphs.admin import SMALLER
from app.wiring.administration import graphs_of
from app.wiring.store import open_store
from tests.support.service import CLINIC, settings_in

pytestmark = pytest.mark.model


def test_a_load_over_a_graph_says_what_it_replaces(tmp_path: Path) -> None:
    store = open_store(settings_in(tmp_path))
    graphs, file = graphs_of(store), tmp_path / "clinic.ttl"

    def notes_of(text: str) -> tuple[str, ...]:
        file.write_text(text, "utf-8")
        return graphs.load("default", "clinic", [file], None).run(lambda _step, _percent: None).notes

    assert not any("replaces" in note for note in notes_of(CLINIC))
    same = notes_of(CLINIC)
    assert any(note.startswith("This replaces the version of 20") for note in same)
    assert SMALLER not in same
    small = notes_of("@prefix : <http://x.example/> . :a :age 4 .")
    assert SMALLER in small
    assert not any("Quarrel" in note for note in small)
