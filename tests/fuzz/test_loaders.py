"""Loading any bytes ends in a graph, or in a typed error that tells the file and quotes none of it."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.demo import POLICY_FILE
from kg_store.errors import LoadError, PolicyError, StoreError
from kg_store.loading.load import load_graph
from kg_store.proposals.propose import preview, read_and_propose
from kg_store.sources.policy import Policy
from tests.fuzz.corpus import files
from tests.fuzz.examples import drawing, mutated, mutated_file
from tests.support.stores import MID_KEY, catalog_in, concepts_of, mid_of

# One thing that is put in is longer than a cell of CSV may be.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

WHOLE = """@prefix : <http://x.test/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a rdfs:label "Wilhelmina Ostrander" ; :knows :b . :b rdfs:label "Barnaby Thrupp" .
"""
NAMES = sorted(files())
# Words of the demo graph that none of our own sentences holds: capitalised ones of its labels.
SECRETS = sorted(
    word
    for word in set(re.findall(r"[A-Z][a-z]{4,}", files()["a.tsv"].decode()))
    if word not in ("Doctor", "Birth", "Label", "Schema", "Turtle", "Value")
)


@pytest.fixture(autouse=True, scope="module")
def young_garbage() -> Iterator[None]:
    """Garbage is looked for among what these tests make alone: among all that is loaded it takes a second a time."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.process
def test_every_file_of_the_corpus_loads_as_it_is(tmp_path: Path) -> None:
    assert len(SECRETS) >= 10
    for name, data in files().items():
        assert load_bytes(tmp_path / name, data) > 10, name


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_any_bytes_are_a_graph_or_a_typed_error(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.mktemp("fuzz") / name

    # Workbooks take ten times as long to read as texts do.
    @drawing(12 if name.endswith((".xls", ".xlsx", ".ods")) else 40)
    @given(mutated_file(name, files()[name]))
    def load(data: bytes) -> None:
        try:
            assert load_bytes(path, data) > 0
        except (LoadError, PolicyError) as error:
            refuse_quotes(error, name)

    load()


@pytest.mark.slow
@drawing(12)
@given(st.sampled_from(NAMES).flatmap(lambda name: st.tuples(st.just(name), mutated_file(name, files()[name]))))
def test_a_load_of_any_bytes_is_whole_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[str, bytes]
) -> None:
    name, data = drawn
    folder = tmp_path_factory.mktemp("catalog")
    catalog = catalog_in(folder / "data")
    whole = folder / "whole.ttl"
    whole.write_text(WHOLE)
    before = catalog.load("t1", "g", [whole], None, concepts_of)
    path = folder / name
    path.write_bytes(data)
    try:
        after = catalog.load("t1", "g", [path], None, concepts_of)
    except StoreError as error:
        refuse_quotes(error, name)
        assert catalog.graphs("t1") == [before]
        assert mid_of(catalog.open("t1", "g"), "Barnaby Thrupp")
    else:
        assert catalog.graphs("t1") == [after]
        opened = catalog.open("t1", "g")
        assert opened.version == after.version
        assert sum(1 for _ in opened.vault.all_records()) >= after.entities
    del catalog
    gc.collect()
    assert len(list((folder / "data" / "graphs").glob("*"))) == 1


@drawing(50)
@given(mutated(POLICY_FILE.read_bytes()))
def test_any_policy_is_read_or_refused_without_a_word_of_it(data: bytes) -> None:
    try:
        policy = Policy.from_toml(data.decode("utf-8", "replace"))
    except PolicyError as error:
        refuse_quotes(error, "", ("clinic.example", "employs", "child of"))
    else:
        assert Policy.from_toml(policy.to_toml()) == policy


def load_bytes(path: Path, data: bytes) -> int:
    """The number of nodes in the file, read, proposed, previewed and loaded as `arog graph load` does."""
    path.write_bytes(data)
    raw, policy = read_and_propose([path])
    preview(raw, policy)
    assert Policy.from_toml(policy.to_toml()) == policy
    loaded = load_graph(raw, policy, MID_KEY)
    return sum(1 for node in loaded.nodes() for _ in (*node.entries(), node))


def refuse_quotes(error: StoreError, name: str, secrets: Iterable[str] = SECRETS) -> None:
    """A broken file's error tells its name, a line where there is one, and no word of it."""
    assert not [word for word in secrets if word in str(error)]
    if isinstance(error, LoadError):
        # A sheet is told after its file.
        assert error.file.partition("/")[0] in ("", name, name.removesuffix(".gz"))
        assert error.line is None or error.line >= 1
