"""Public graphs beside others: of one tenant, public ones only, and gone with the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.catalog import Catalog
from kg_store.errors import NotPublicError, UnknownGraphError
from kg_store.proposals.public_files import only_public
from kg_store.sources.policy import Policy
from tests.support.stores import CLINIC, PREFIXES, catalog_in, concepts_of, load_text, written

COMMON = PREFIXES + ':t1 rdfs:label "grapefruit" ; :isA :t2 . :t2 rdfs:label "Zofia Quarrel" .'
PUBLIC = only_public(["common.ttl"])


def load_common(catalog: Catalog, folder: Path, tenant: str = "t1", policy: Policy | None = PUBLIC) -> None:
    catalog.load(tenant, "common", [written(folder, COMMON, "common.ttl")], policy, concepts_of)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    load_common(catalog, tmp_path)
    return catalog


def beside_each(catalog: Catalog, tenant: str = "t1") -> dict[str, tuple[str, ...]]:
    return catalog.ties.of_tenant(tenant, catalog.graphs(tenant))


def test_a_public_graph_stands_beside_another_until_it_is_taken_away(catalog: Catalog) -> None:
    assert {each.name: each.is_public for each in catalog.graphs("t1")} == {"clinic": False, "common": True}
    for _ in range(2):
        catalog.put_beside("t1", "clinic", "common")
    assert beside_each(catalog) == {"clinic": ("common",)}
    assert catalog.graphs_beside("t1", "clinic") == ("common",)
    assert catalog.graphs_beside("t1", "common") == ()
    for _ in range(2):
        catalog.take_from_beside("t1", "clinic", "common")
    assert beside_each(catalog) == {}


def test_only_a_public_graph_of_the_tenant_can_stand_beside(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(NotPublicError, match="--public"):
        catalog.put_beside("t1", "common", "clinic")
    load_common(catalog, tmp_path, "t2")
    for tenant, graph, beside in (("t1", "clinic", "other"), ("t1", "other", "common"), ("t2", "clinic", "common")):
        with pytest.raises(UnknownGraphError):
            catalog.put_beside(tenant, graph, beside)
    assert beside_each(catalog) == beside_each(catalog, "t2") == {}


def test_a_graph_that_is_no_longer_public_stands_beside_none(catalog: Catalog, tmp_path: Path) -> None:
    catalog.put_beside("t1", "clinic", "common")
    load_common(catalog, tmp_path, policy=None)
    assert (beside_each(catalog), catalog.graphs_beside("t1", "clinic")) == ({"clinic": ()}, ())


@pytest.mark.parametrize("gone", ["clinic", "common"])
def test_ties_go_with_either_graph(catalog: Catalog, tmp_path: Path, gone: str) -> None:
    catalog.put_beside("t1", "clinic", "common")
    catalog.delete("t1", gone)
    load_text(catalog, CLINIC, tmp_path)
    load_common(catalog, tmp_path)
    assert beside_each(catalog) == {}


def test_words_of_public_names_are_withheld_from_no_question(catalog: Catalog, tmp_path: Path) -> None:
    before = catalog.name_words("t1")
    assert "grapefruit" not in before.parts
    load_common(catalog, tmp_path, policy=None)
    assert "grapefruit" in catalog.name_words("t1").parts
    catalog.delete("t1", "common")
    assert catalog.name_words("t1") == before
