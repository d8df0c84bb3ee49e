"""Questions of three and four steps whose words all say something, and relations called like a superlative."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.api.problems import error_body
from app.wiring.services import Services, build
from tests.app.reader.test_directions import told
from tests.support.service import settings_in

HEAD = "@prefix : <http://w.invalid/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
GRAPH = """
:a a :Patient ; rdfs:label "Ada Quillmore" ; :marriedTo :b ; :takes :x .
:b a :Patient ; rdfs:label "Bo Frostvik" ; :marriedTo :a ; :takes :y .
:c a :Patient ; rdfs:label "Cy Mossberg" ; :takes :z .
:x a :Drug ; rdfs:label "Xylovan" ; :maxDailyDose 20 ; :interactsWith :z ; :drugClass :k .
:y a :Drug ; rdfs:label "Ypsilor" ; :maxDailyDose 40 ; :interactsWith :x ; :drugClass :l .
:z a :Drug ; rdfs:label "Zetanol" ; :maxDailyDose 90 ; :interactsWith :y ; :drugClass :l .
:k a :DrugClass ; rdfs:label "Korvids" . :l a :DrugClass ; rdfs:label "Lavids" .
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder: Path = tmp_path_factory.mktemp("long")
    services = build(settings_in(folder, suggestions=0), error_body)
    (folder / "ward.ttl").write_text(HEAD + GRAPH, "utf-8")
    services.graphs.load("default", "ward", [folder / "ward.ttl"], None).run(lambda _step, _done: None)
    yield services
    asyncio.run(services.close())


@pytest.mark.model
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the maximum daily dose of Xylovan?", ["20"]),
        ("Which drugs interact with what Ada Quillmore's husband takes?", ["Zetanol"]),
        ("What drug class does Ada Quillmore's husband take?", ["Lavids"]),
    ],
)
async def test_it_is_answered(service: Services, question: str, answer: list[str]) -> None:
    assert await told(service, "ward", question) == answer
