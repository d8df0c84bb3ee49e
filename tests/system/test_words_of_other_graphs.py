"""A question about one graph says nothing of the names of another graph of the tenant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.service import OPERATOR, Running, question, running

PREFIXES = "@prefix : <http://ward.invalid/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
WARD = (
    PREFIXES
    + ':w1 rdfs:label "Inverarity Brackwede" ; :likes :w2 .\n:w2 rdfs:label "Hope Field" ; :likes :w3 .\n'
    + ':w3 rdfs:label "Jane Price" ; :likes :w1 ; :note "her brother Long Cross called at noon and asked for more" .\n'
)
POLICY = '[relations."http://ward.invalid/note"]\nhide = true\n'
WHOLE = (
    "inverarity brackwede", "Inverarity Brackwede", "brackwede", "Brackwede, I.", "hope field", "HOPE FIELD",
    "long cross",
)  # fmt: skip


async def sent_for(service: Running, text: str) -> str:
    before = len(service.reasoner.sent)
    reply = await service.http.post("/chat", json=question(text), headers=OPERATOR)
    assert reply.status_code == 200, reply.text
    return b"".join(service.reasoner.sent[before:]).decode().casefold()


def load_two_graphs(service: Running) -> None:
    service.load()
    service.load(name="ward", turtle=WARD, policy=POLICY)


@pytest.mark.parametrize("name", WHOLE)
async def test_no_name_of_another_graph_of_the_tenant_leaves(tmp_path: Path, name: str) -> None:
    async with running(tmp_path) as service:
        load_two_graphs(service)
        sent = await sent_for(service, f"Is Valdis Ozolkrasts treated by the same doctor as {name}?")
    for word in ("inverarity", "brackwede", "hope field", "long cross"):
        assert word not in sent


async def test_a_common_word_of_another_graphs_name_goes_in_its_place(tmp_path: Path) -> None:
    """`price` is a word of the lexicon and a part of Jane Price: where a common noun stands it is the word."""
    async with running(tmp_path) as service:
        load_two_graphs(service)
        assert "price" not in await sent_for(service, "does price know Valdis Ozolkrasts")
        assert "price" not in await sent_for(service, "who treats Mr Price and Valdis Ozolkrasts?")
        assert "the price" in await sent_for(service, "what is the price that Valdis Ozolkrasts paid")


async def test_what_a_graph_no_longer_holds_is_a_common_word_again(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        load_two_graphs(service)
        assert "field" not in await sent_for(service, "does field know Valdis Ozolkrasts")
        service.services.graphs.delete("default", "ward")
        assert "field" in await sent_for(service, "does field know Valdis Ozolkrasts")
