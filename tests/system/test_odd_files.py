"""Headed and odd files through the real service: each is a table or a clear error, and no cell leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import sleep

import pytest

from client_sdk.crypto.sealing import KeyPair
from client_sdk.protocol import GraphReport, JobStatus
from evaluation.checks.canaries import canaries_in
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from tests.support.odd_files import CANARIES, ODD_FILES, REFUSED, TABLE, TRIPLES, OddFile
from tests.support.processes.process import Process, serving
from tests.support.service import OPERATOR, OPERATOR_KEY

pytestmark = pytest.mark.process

QUESTIONS = {
    "What is the diagnosis of Ines Brackwede?": "Brackwede",
    "what city does otto murglewort live in?": "Murglewort",
    "Which patients have gastritis?": "gastritis",
    "how many people are there in Quillowmere?": "Quillowmere",
    "Who is the oldest patient?": "",
}
"""With the cell that each one names: only what a file holds is its cell."""


@dataclass(slots=True)
class Outcomes:
    """The outcome of every file, and all bytes that were seen on the way."""

    jobs: dict[str, JobStatus] = field(default_factory=dict)
    reports: dict[str, GraphReport] = field(default_factory=dict)
    told: list[tuple[str, bytes]] = field(default_factory=list)
    sent: dict[str, list[bytes]] = field(default_factory=dict)
    left: dict[str, bytes] = field(default_factory=dict)
    printed: bytes = b""


def _load(service: Process, graph: str, odd: OddFile) -> JobStatus:
    files = [("file", (odd.name, odd.content))]
    job = JobStatus.model_validate_json(
        service.http.post(f"/admin/graphs/{graph}", files=files, headers=OPERATOR).content
    )
    while job.state in ("queued", "running"):
        sleep(0.05)
        job = JobStatus.model_validate_json(service.http.get(f"/admin/jobs/{job.id}", headers=OPERATOR).content)
    return job


def _ask(service: Process, graph: str, odd: OddFile, number: int) -> Iterator[bytes]:
    """Asks two of the questions that name a cell of the file, other ones of the next file."""
    made = service.http.post("/admin/keys", json={"tenant": "default", "grants": [graph]}, headers=OPERATOR)
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    texts = [text for text, cell in QUESTIONS.items() if cell.encode() in odd.plain]
    for text in {texts[at % len(texts)] for at in (number, number + 1)}:
        messages = [{"role": "user", "content": text}]
        body = {"graph": graph, "public_key": KeyPair.generate().public_text, "messages": messages}
        yield service.http.post("/chat", json=body, headers=headers).content


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every file loaded into a graph of its own and asked about; the service has ended after it."""
    found = Outcomes()
    with ScriptedEndpoint() as endpoint:
        settings = {
            "ADMIN_KEY": OPERATOR_KEY, "REASONER": "endpoint", "ENDPOINT_URL": endpoint.url,
            "ENDPOINT_MODEL": "scripted", "DISCLOSURE": "tell", "REQUESTS_PER_MINUTE": "100000",
            "SUGGESTIONS": "1",
        }  # fmt: skip
        with serving(tmp_path_factory.mktemp("odd"), **settings) as service:
            for number, (what, odd) in enumerate(ODD_FILES.items()):
                graph, first = f"g{number}", len(endpoint.received)
                found.jobs[what] = job = _load(service, graph, odd)
                found.told.append((what, job.model_dump_json().encode()))
                if job.state == "done":
                    found.told += [(what, reply) for reply in _ask(service, graph, odd, number)]
                    report = service.http.get(f"/admin/graphs/{graph}/report", headers=OPERATOR)
                    found.reports[what] = GraphReport.model_validate_json(report.content)
                found.sent[what] = [each.head + each.body for each in endpoint.received[first:]]
            found.left = dict(service.written)
    found.left |= service.written
    found.printed = service.printed.read_bytes()
    return found


@pytest.mark.parametrize("what", ODD_FILES)
def test_a_file_is_a_table_or_is_refused_with_the_two_ways_to_say_which(outcomes: Outcomes, what: str) -> None:
    job, read_as = outcomes.jobs[what], ODD_FILES[what].read_as
    if read_as == REFUSED:
        assert job.state == "failed"
        assert job.error is not None
        assert job.error.code == "load_failed"
        assert job.error.message.startswith("a."), "its name is a common word, so it is told"
    else:
        assert job.state == "done", job.error
        assert read_as in (TABLE, TRIPLES)


@pytest.mark.parametrize("what", [what for what, odd in ODD_FILES.items() if odd.read_as != REFUSED])
def test_no_cell_is_in_any_byte_that_is_sent(outcomes: Outcomes, what: str) -> None:
    assert outcomes.sent[what]
    assert [found for request in outcomes.sent[what] if (found := canaries_in(request, CANARIES))] == []


def test_no_cell_is_in_a_reply_an_error_or_the_record_of_a_load(outcomes: Outcomes) -> None:
    assert [(what, found) for what, told in outcomes.told if (found := canaries_in(told, CANARIES))] == []


def test_no_cell_is_printed_or_logged_or_lies_on_the_disk(outcomes: Outcomes) -> None:
    assert canaries_in(outcomes.printed, CANARIES) == []
    assert {name: found for name, content in outcomes.left.items() if (found := canaries_in(content, CANARIES))} == {}


def test_what_is_masked_is_told_to_the_owner_with_the_reason(outcomes: Outcomes) -> None:
    masked = {each.word: each.reason for each in outcomes.reports["relations of names"].masked}
    assert masked == {
        "approved by dr jaskworthy": "holds a word that is not a common English one",
        "seen1961-07-23": "holds digits",
        "fenwhistle": "holds a name or a value of the graph",
        "patients of brackwede": "holds a word that is not a common English one",
    }
    assert {each.word for each in outcomes.reports["columns that are names"].masked} == {
        "born 1961 07 23",
    }  # fmt: skip
