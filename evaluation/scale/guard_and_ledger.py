"""Measure the guard with a million names, and the check of a ledger against that of a ledger with a tenth of its rows.

The guard is measured by time and memory in a process of its own, like a worker that opens a graph loaded by another.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import random
import statistics
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from app.database.engine import make_engine, migrate
from app.egress.guard import BlockedError, Guard, StaticSegments
from app.egress.ledger.ledger import Ledger, LedgerEntry, LedgerReply
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.verification import check
from app.privacy.anonymiser import Anonymiser
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import Egress, Segment
from app.privacy.words.lexicon import Lexicon
from client_sdk.protocol import Message
from evaluation.scale.made_up import entries_of, made_names
from evaluation.tables.measures import Measure, at_most, none
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_table import may_be_ordinary
from kg_store.names.name_words import NameWords
from kg_store.storage.master_key import MasterKey
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NO_MIDS, Mid, NodeKind
from kg_store.text.english import PublicWords

MAX_MS, MAX_TYPED_MS, MAX_MB = 0.5, 5.0, 300.0
PROMPT_BYTES = 4_096
REQUESTS, PLANTED, TYPED = 400, 300, 40

_TOLD = tomllib.loads(Path(__file__).with_name("made_up.toml").read_text("utf-8"))["requests"]


@dataclass(frozen=True, slots=True)
class Scale:
    """The figures of the guard.

    Milliseconds are processor time of the thread, for requests that were not seen before. `planted` requests have a
    name planted in them; `missed` of them were not blocked.
    """

    names: int
    prompt_bytes: float
    median_ms: float
    p95_ms: float
    grown_mb: float
    opening_s: float
    index_mb: float
    planted: int
    missed: int
    typed_ms: float
    """The time to anonymise a question with as many characters as a request has bytes."""


def measure_scale(count: int) -> Scale:
    """Builds the index of `count` made-up names in one process; opens it and guards with it in another."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="arog-guard-") as folder:
        for step in (_build, _measure):
            process = context.Process(target=step, args=(count, Path(folder)))
            process.start()
            process.join()
            if process.exitcode:
                raise RuntimeError("a process of the measurement ended too early")
        return Scale(**json.loads((Path(folder) / "scale.json").read_text("utf-8")))


def scale_measures(scale: Scale) -> list[Measure]:
    size = f"{scale.prompt_bytes:,.0f}"
    return [
        at_most(f"a request of {size} bytes, median", REQUESTS, scale.median_ms, MAX_MS, "{:.3f} ms"),
        at_most("the same, 95th percentile", REQUESTS, scale.p95_ms, None, "{:.3f} ms"),
        at_most(f"anonymising {size} typed characters, median", TYPED, scale.typed_ms, MAX_TYPED_MS, "{:.3g} ms"),
        at_most("growth of the process", scale.names, scale.grown_mb, MAX_MB, "{:.0f} MB"),
        at_most("opening the graph, processor time", scale.names, scale.opening_s, None, "{:.1f} s"),
        at_most("the file of names", scale.names, scale.index_mb, None, "{:.0f} MB"),
        none("names planted in requests, not blocked", scale.planted, scale.missed),
    ]


def _build(count: int, folder: Path) -> None:
    index = NameIndex.build(entries_of(made_names(count))).with_public(_public())
    (folder / "names").write_bytes(index.to_bytes())


def _measure(count: int, folder: Path) -> None:
    public = _public()
    may_be_ordinary("")  # load the dictionary first: all graphs share it
    file = folder / "names"
    index_mb, before, began = file.stat().st_size / 1e6, _resident_mb(), time.process_time()
    index = NameIndex.from_bytes(file.read_bytes()).with_public(public)
    opening_s = time.process_time() - began
    # All entities are people. Of their names, words outside the lexicon are kept as hashes only.
    words = NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in made_names(count))
    lexicon = Lexicon(public, words)
    guard = Guard(index, StaticSegments(), lexicon)
    requests = [_request(random.Random(seed)) for seed in range(REQUESTS)]  # nosec B311  # noqa: S311 - made-up requests
    spent = sorted(_timed(guard, *request) for request in requests)
    gc.collect()
    grown = _resident_mb() - before
    planted = list(_planted(made_names(count)))
    missed = sum(not _is_blocked(guard, *request) for request in planted)
    size = statistics.mean(len(body) for body, _ in requests)
    scale = Scale(
        count, size, statistics.median(spent), spent[int(len(spent) * 0.95)], grown, opening_s, index_mb,
        len(planted), missed, _typed_ms(Anonymiser(EntityLinker(index), index, lexicon)),
    )  # fmt: skip
    (folder / "scale.json").write_text(json.dumps(asdict(scale)), encoding="utf-8")


def _public() -> PublicWords:
    return PublicWords.of((*_TOLD["relations"], *_TOLD["concepts"]))


def _request(dice: random.Random) -> tuple[bytes, frozenset[str]]:
    """Returns a request like those of the default strategy, and the pseudonyms issued for it."""
    table = PseudonymTable.new()
    issued = [table.of_entity(Mid(mid)) for mid in range(1, 25)]

    def shown() -> str:
        return f"{dice.choice(issued)} ({dice.choice(_TOLD['concepts'])})"

    evidence: list[dict[str, str]] = []
    body: dict[str, object] = {
        "question": dice.choice(_TOLD["questions"]).format(*dice.sample(issued, 2)),
        "candidates": [{"number": at, "path": dice.sample(_TOLD["relations"], 2)} for at in range(1, 16)],
        "evidence": evidence,
    }
    while len(json.dumps(body)) < PROMPT_BYTES - 90:
        evidence.append({"head": shown(), "relation": dice.choice(_TOLD["relations"]), "end": shown()})
    return json.dumps(body).encode(), frozenset(issued)


def _timed(guard: Guard, body: bytes, issued: frozenset[str]) -> float:
    egress = Egress((Segment(body),))
    began = time.thread_time()
    guard.clear(egress, issued)
    return (time.thread_time() - began) * 1e3


def _typed_ms(anonymiser: Anonymiser) -> float:
    """Returns the median processor time to anonymise new texts that hold no name of the graph."""
    spent = []
    for seed in range(TYPED):
        dice = random.Random(seed)  # nosec B311  # noqa: S311 - made-up questions
        text = ""
        while len(text) < PROMPT_BYTES:
            text += (
                dice.choice(_TOLD["questions"]).format(dice.choice(_TOLD["people"]), dice.choice(_TOLD["people"]))
                + " "
            )
        messages = [Message(role="user", content=text)]
        began = time.thread_time()
        anonymiser.anonymise(messages, PseudonymTable.new(), lambda _word: NO_MIDS)
        spent.append((time.thread_time() - began) * 1e3)
    return statistics.median(spent)


def _planted(names: list[str]) -> Iterator[tuple[bytes, frozenset[str]]]:
    """Yields requests with a name planted as it stands, in small letters, or with two letters swapped."""
    dice = random.Random(11)  # nosec B311  # noqa: S311 - made-up requests
    shapes: tuple[Callable[[str], str], ...] = (str, str.lower, _swapped)
    for at, name in enumerate(dice.sample(names, PLANTED)):
        body, issued = _request(dice)
        typed = shapes[at % len(shapes)](name)
        yield body.replace(b'"question": "', f'"question": "Is {typed} '.encode()), issued


def _swapped(name: str) -> str:
    """Returns the name with its last two letters swapped, if its last word has seven letters or more."""
    return name if len(name.split()[-1]) < 7 or name[-1] == name[-2] else name[:-2] + name[-1] + name[-2]


def _is_blocked(guard: Guard, body: bytes, issued: frozenset[str]) -> bool:
    try:
        guard.clear(Egress((Segment(body),)), issued)
    except BlockedError as blocked:
        return blocked.hits > 0
    return False


def _resident_mb() -> float:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024 / 1e6


MAX_MS_A_ROW: Final = 0.5
MAX_GROWTH: Final = 2.0
"""The largest factor by which the time per row may grow when there are ten times as many rows."""

ENTRY_BYTES: Final = 3_800
_TENANT: Final = "scale"


def measure_ledger(rows: int) -> list[Measure]:
    """Checks a whole ledger of `rows` rows and one of a tenth of them, and compares their times."""
    return ledger_measures(rows, _seconds(rows), _seconds(rows // 10))


def ledger_measures(rows: int, seconds: float, tenth_seconds: float) -> list[Measure]:
    """Returns the lines for the processor times of both checks."""
    a_row, before = seconds / rows, tenth_seconds / (rows // 10)
    return [
        at_most("a row of a ledger checked, processor time", rows, 1e3 * a_row, MAX_MS_A_ROW, "{:.3f} ms"),
        at_most("times that of a row of a tenth of the ledger", rows, a_row / before, MAX_GROWTH, "{:.2f}"),
    ]


def _seconds(rows: int) -> float:
    with tempfile.TemporaryDirectory(prefix="arog-ledger-") as folder:
        engine = make_engine(f"sqlite:///{Path(folder) / 'arog.db'}")
        try:
            migrate(engine)
            master = MasterKey.from_text(MasterKey.generate())
            _fill(Ledger(engine, master), rows)
            upkeep = LedgerUpkeep(engine, master)
            upkeep.checkpoint(_TENANT)
            began = time.process_time()
            checked = check(engine, master, upkeep.signer, _TENANT)
            seconds = time.process_time() - began
        finally:
            engine.dispose()
    if not checked.is_whole or checked.rows != rows:
        raise RuntimeError("the ledger of the measurement is not whole")
    return seconds


def _fill(ledger: Ledger, rows: int) -> None:
    body = b"x" * ENTRY_BYTES
    digest = sha256(body).hexdigest()
    for number in range(rows - rows // 2):
        asked = LedgerEntry(
            _TENANT, "key", f"answer{number}", "conversation", "step", len(body), digest, "clear", payload=body
        )
        ledger.record(asked)
        if number < rows // 2:
            ledger.record_replies([LedgerReply(asked, "used", "Vx81zp")])
