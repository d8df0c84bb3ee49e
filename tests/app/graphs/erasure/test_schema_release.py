"""After an erasure nothing of the process holds the schema of the version before, nor what was worked out from it."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path

import pytest

from app.egress.disclosure import readings
from app.graphs.erasure import ErasureRequest
from app.privacy.words.lexicon import schema_words
from app.strategies.retrieval import Vocabulary
from client_sdk.crypto.sealing import KeyPair
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of
from kg_store.graph.matching_entities import EntityDescription, how_many_fit, wider_kinds
from kg_store.graph.schema import masks_of
from kg_store.graph.traversal import ConceptScope, ending_hops, everything_of, paths_of, steps_from, tail_concept, walk
from kg_store.terms import Schema
from tests.support.service import SECRET_NAMES, Running, question, running

PAIR = KeyPair.generate()


def work_out_everything(graph: BlindGraph) -> None:
    """Fills every cache that is kept by version."""
    schema = graph.schema
    concept = kinds_of(schema)[0]
    things = everything_of(graph, ConceptScope(concept))
    steps = steps_from(graph, things)
    walk(graph, things, (steps[0],))
    tail_concept(schema, steps[0])
    ending_hops(schema)
    masks_of(schema)
    wider_kinds(schema, 20)
    paths_of(graph, ConceptScope(concept), 2)
    how_many_fit(graph, EntityDescription(concept))
    schema_words(schema)
    Vocabulary.of(schema, ())
    readings(schema, (schema.label_step(steps[0]),))


def schema_of(service: Running) -> Schema:
    return service.services.store.catalog.open("default", "clinic").blind.schema


def erase(service: Running, name: str) -> None:
    job = service.services.forgetter.job("default", "clinic", ErasureRequest(name), wait_s=5)
    job.run(lambda _step, _percent: None)


@pytest.mark.model
async def test_nothing_holds_the_schema_of_a_version_that_an_erasure_replaced(tmp_path: Path) -> None:
    async with running(tmp_path, thinks=True) as service:
        service.load()
        headers = service.key("default", "clinic")
        asked = await service.http.post("/chat", json=question(public_key=PAIR.public_text), headers=headers)
        assert asked.is_success, asked.text
        assert asked.json()["answered"]
        work_out_everything(service.services.store.catalog.open("default", "clinic").blind)
        schema = schema_of(service)
        assert len(schema.derived) >= 8
        old = weakref.ref(schema)
        del schema
        await asyncio.to_thread(erase, service, SECRET_NAMES[0])
        # The service goes on with the new version, and has let the old one go by itself.
        again = await service.http.post("/chat", json=question(public_key=PAIR.public_text), headers=headers)
        assert not again.json()["answered"]
        gc.collect()
        held = old()
        assert held is None, [type(each) for each in gc.get_referrers(held)]
        assert schema_of(service).derived
