"""`arog graph roles` and `arog api-key create`: what a role sees is shown, and what is wrong with a grant is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.checks.canaries import canaries_in
from tests.app.graphs.erasure.test_eraser import HERS, POLICY, load
from tests.support.commands import arog, work_with_ring

pytestmark = pytest.mark.slow

ROLES = POLICY + '[roles.desk]\nshow_relations = ["treated by"]\nwithhold_concepts = ["address"]\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work_with_ring(tmp_path, monkeypatch)
    load(tmp_path)
    (tmp_path / "roles.toml").write_text(ROLES)
    assert arog("graph", "load", "house", "house.ttl", "--policy", "roles.toml").exit_code == 0


def test_each_role_is_shown_with_its_relations_and_counts_and_no_name() -> None:
    told = arog("graph", "roles", "house")
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    assert lines[0] == "desk: 4 of 5 things"
    assert lines[1] == "    relations shown: treated by"
    assert "salary" in lines[2]
    assert lines[3].endswith("api-key create --grant house#desk")
    assert canaries_in(told.output.encode(), HERS) == []
    arog("graph", "load", "plain", "house.ttl", "--policy", "policy.toml")
    assert "has no roles" in arog("graph", "roles", "plain").stdout


def test_a_key_is_made_for_a_role_and_an_unknown_one_is_told() -> None:
    made_key = arog("api-key", "create", "--grant", "house#desk")
    assert made_key.exit_code == 0
    assert made_key.stdout.startswith("arog_")
    assert "no such role" not in made_key.stderr
    assert "no such role yet" in arog("api-key", "create", "--grant", "house#surgeon").stderr
    assert "no graph 'hous' is loaded yet" in arog("api-key", "create", "--grant", "hous#desk").stderr
    assert "house#desk" in arog("api-key", "list").stdout
