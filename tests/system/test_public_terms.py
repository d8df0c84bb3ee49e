"""Names of a public graph never become words that may leave: every name of the private graph is planted as one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.service import OPERATOR, Running, question, running

DEMO = Path(__file__).parents[2] / "app" / "demo"
LABELS = sorted(set(re.findall(r'(?:label|altLabel) "([^"]+)"', (DEMO / "clinic.ttl").read_text())))
PEOPLE = [label for label in LABELS if re.fullmatch(r"[A-Z]\w+ (?!Ward)[A-Z]\w+", label)]
COMMON = ["rose", "may", "grace", "hunter", "will", "paris", "price", "field"]
TERMS = sorted({*LABELS, *(word for label in LABELS for word in label.split()), *COMMON})
SAID = (
    "does {} take anything that goes with rose", "{0}, and which may is it", "which doctor treats {}?", "{} ward",
    "Which terms are related to {}?",
)  # fmt: skip


def write_public(folder: Path) -> Path:
    """Writes a public graph of the terms, each related to the next, and an own relation of common words."""
    lines = [
        f':t{at} a :Term ; rdfs:label "{term}" ; :relatedTo :t{(at + 1) % len(TERMS)} .'
        for at, term in enumerate(TERMS)
    ]
    head = "@prefix : <http://terms.invalid/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    (folder / "terms.ttl").write_text(head + "\n".join(lines))
    return folder / "terms.ttl"


def load_beside(service: Running, folder: Path) -> None:
    policy = (DEMO / "clinic.policy.toml").read_text() + '\n[public]\nfiles = ["terms.ttl"]\n'
    files = [DEMO / "clinic.ttl", write_public(folder)]
    service.services.graphs.load("default", "clinic", files, policy).run(lambda _step, _done: None)


@pytest.mark.parametrize("said", SAID)
async def test_no_name_leaves_though_it_is_a_public_term_too(tmp_path: Path, said: str) -> None:
    assert len(TERMS) >= 500
    async with running(tmp_path) as service:
        load_beside(service, tmp_path)
        for person in PEOPLE[::12]:
            before = len(service.reasoner.sent)
            for typed in (person, person.lower()):
                reply = await service.http.post("/chat", json=question(said.format(typed)), headers=OPERATOR)
                assert reply.status_code == 200, reply.text
            sent = re.findall(r"\w+", b"".join(service.reasoner.sent[before:]).decode().casefold())
            assert not {word.casefold() for word in person.split()} & set(sent), person
            assert "rose" not in sent
