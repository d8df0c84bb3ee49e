"""Questions of three and four steps whose words all say something, and relations called like a superlative or with a
"not" of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.api.problems import error_body
from app.language.readings import schema_steps
from app.wiring.services import Services, build
from tests.app.reader.test_directions import told
from tests.support.service import settings_in

HEAD = "@prefix : <http://w.invalid/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
GRAPH = """
:notWith rdfs:label "should not be mixed with" .  :halfLife rdfs:label "half-life in hours" .
:keptAt rdfs:label "kept down to °C" .
:a a :Patient ; rdfs:label "Ada Quillmore" ; :marriedTo :b ; :takes :x .
:b a :Patient ; rdfs:label "Bo Frostvik" ; :marriedTo :a ; :takes :y .
:c a :Patient ; rdfs:label "Cy Mossberg" ; :takes :z , :y .
:x a :Drug ; rdfs:label "Xylovan" ; :maximumDailyDose 20 ; :interactsWith :z ; :drugClass :k .
:x :notWith :y ; :halfLife 4 ; :keptAt 5 .
:y a :Drug ; rdfs:label "Ypsilor" ; :maximumDailyDose 40 ; :interactsWith :x ; :drugClass :l .
:y :halfLife 9 ; :keptAt 8 .
:z a :Drug ; rdfs:label "Zetanol" ; :maximumDailyDose 90 ; :interactsWith :y ; :drugClass :l ; :halfLife 2 .
:x :madeBy :m ; :marketedBy :m .  :y :madeBy :n ; :marketedBy :n .  :z :madeBy :o ; :marketedBy :o .
:u a :Drug ; rdfs:label "Uxalin" ; :marketedBy :m .
:m a :Firm ; rdfs:label "Mavek" .  :n a :Firm ; rdfs:label "Norvak" .  :o a :Firm ; rdfs:label "Orvek" .
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
        ("Which drug has the maximum daily dose?", ["Zetanol"]),
        ("Which drugs interact with what Ada Quillmore's husband takes?", ["Zetanol"]),
        ("What drug class does Ada Quillmore's husband take?", ["Lavids"]),
        ("Which drugs interact with what Bo Frostvik's wife takes because of what she has?", ["Ypsilor"]),
        ("Which drugs should not be mixed with Ypsilor?", ["Xylovan"]),
        ("Which drugs shouldn't be mixed with what Ada Quillmore takes?", ["Ypsilor"]),
        ("How many drugs must not be mixed with what Ada Quillmore takes?", ["1"]),
        ("Which drug of Mavek has the longest half-life?", ["Xylovan"]),
        ("Of the two drugs Cy Mossberg takes, which has the longer half-life?", ["Ypsilor"]),
    ],
)
async def test_it_is_answered(service: Services, question: str, answer: list[str]) -> None:
    assert sorted(await told(service, "ward", question) or ()) == answer


@pytest.mark.model
def test_a_relation_that_another_one_repeats_has_a_twin(service: Services) -> None:
    steps = schema_steps(service.store.catalog.open("default", "ward").blind)
    assert {each.label: each.twin for each in steps if each.twin} == {"made by": "marketed by"}


@pytest.mark.model
async def test_what_a_relation_denies_is_not_what_it_affirms(service: Services) -> None:
    assert await told(service, "ward", "Which drugs can be mixed with Xylovan?") is None


ROWS = """
:a a :Member ; rdfs:label "Ada Quillmore" ; :smoker true .  :b a :Member ; rdfs:label "Bo Frostvik" ; :smoker false .
:c a :Member ; rdfs:label "Cy Mossberg" ; :smoker true .
:x a :Plant ; rdfs:label "Xylowort" .  :y a :Plant ; rdfs:label "Ypsiroot" .
[] a :Watering ; :helper :a ; :watersFor :b ; :weekday "Tuesday" .
[] a :Watering ; :helper :c ; :watersFor :a ; :weekday "Sunday" .
[] a :Planting ; :plantedBy :a ; :plant :x .  [] a :Planting ; :plantedBy :b ; :plant :x .
[] a :Planting ; :plantedBy :c ; :plant :y .
"""


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder: Path = tmp_path_factory.mktemp("rows")
    services = build(settings_in(folder, suggestions=0), error_body)
    (folder / "garden.ttl").write_text(HEAD + ROWS, "utf-8")
    policy = "[mediators]\nblank_nodes = true\n"
    services.graphs.load("default", "garden", [folder / "garden.ttl"], policy).run(lambda _step, _done: None)
    yield services
    asyncio.run(services.close())


@pytest.mark.model
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("On which weekday does Ada Quillmore water?", None),
        ("Who waters for Ada Quillmore?", ["Cy Mossberg"]),
        ("Which plant do most members have?", ["Xylowort"]),
        ("Which smokers have planted Xylowort?", ["Ada Quillmore"]),
        ("Which plants do both of the smokers have?", None),
    ],
)
async def test_rows_are_read_the_right_way_round(garden: Services, question: str, answer: list[str] | None) -> None:
    assert await told(garden, "garden", question) == answer
