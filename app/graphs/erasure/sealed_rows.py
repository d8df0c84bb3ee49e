"""Everything that the master key has sealed: seals it again with a newer key, and searches it after an erasure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, Row, select

from app.accounts.persons import CONTEXT as PERSONS
from app.accounts.persons import PURPOSE as PERSON_SECRET
from app.chat.conversations import PURPOSE as CONVERSATION
from app.database.tables import cases, characters, conversations, person_secret, stated_facts
from app.egress.ledger.chain import (
    HEAD_PURPOSE,
    access_context,
    ledger_access,
    ledger_entries,
    ledger_heads,
    ledger_replies,
    ledger_signers,
    reply_context,
    request_context,
)
from app.egress.ledger.chain import PURPOSE as LEDGER
from app.egress.ledger.checkpoints import SIGNER_PURPOSE, signer_context
from app.memory.cases import PURPOSE as CASE
from app.memory.episodes.character_store import PURPOSE as CHARACTER
from app.memory.episodes.character_store import character_context
from app.memory.stated_facts import PURPOSE as STATED_FACT
from kg_store.errors import MasterKeyError
from kg_store.names.index import NameEntry, NameIndex
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey, bind
from kg_store.storage.reencryption import (
    SealedColumn,
    reseal,
    reseal_files,
    store_columns,
    versions_of,
    versions_of_files,
)
from kg_store.storage.tables import erasures, vault_entries
from kg_store.storage.vault import parts_in
from kg_store.text.english import PublicWords
from kg_store.text.normalise import normalise

_OF_REQUEST: Final = ("id", "tenant", "caller", "answer", "conversation", "step")


def _context_of_key(row: Row[Any]) -> bytes:
    return bind(row.tenant, row.key_id, row.graph, row.id)


def sealed_columns() -> list[SealedColumn]:
    """Returns every column of the database that contains sealed bytes."""
    said = select(
        ledger_replies.c.entry, ledger_replies.c.sealed, *(ledger_entries.c[name] for name in _OF_REQUEST)
    ).join(ledger_entries, ledger_entries.c.id == ledger_replies.c.entry)
    return [
        *store_columns(),
        *(
            SealedColumn(table, table.c.sealed, select(table), purpose, _context_of_key)
            for table, purpose in ((conversations, CONVERSATION), (cases, CASE), (stated_facts, STATED_FACT))
        ),
        SealedColumn(characters, characters.c.sealed, select(characters), CHARACTER, character_context),
        SealedColumn(
            person_secret, person_secret.c.sealed, select(person_secret), PERSON_SECRET, lambda _row: PERSONS
        ),
        SealedColumn(ledger_entries, ledger_entries.c.sealed, select(ledger_entries), LEDGER, request_context),
        SealedColumn(ledger_replies, ledger_replies.c.sealed, said, LEDGER, reply_context),
        SealedColumn(ledger_access, ledger_access.c.sealed, select(ledger_access), LEDGER, access_context),
        SealedColumn(
            ledger_heads,
            ledger_heads.c.sealed,
            select(ledger_heads),
            HEAD_PURPOSE,
            lambda row: bind(row.tenant, str(row.number), row.link),
            held=("number", "link"),
        ),
        SealedColumn(
            ledger_signers,
            ledger_signers.c.sealed,
            select(ledger_signers),
            SIGNER_PURPOSE,
            lambda _row: signer_context(),
        ),
    ]


def reseal_all(engine: Engine, master: MasterKey, folder: DataFolder) -> Iterator[tuple[str, int]]:
    """Seals again everything that an older key has sealed; yields (table or "files", number so far).

    It may be killed and started again at any time. Raises MasterKeyError if something cannot be opened.
    """
    for where in sealed_columns():
        for done in reseal(engine, master, where):
            yield where.table.name, done
    yield "files", reseal_files(engine, master, folder)


def sealed_by(engine: Engine, folder: DataFolder) -> Counter[int]:
    """Returns how many rows and files of this data folder each version of the master key has sealed."""
    return sum((versions_of(engine, where) for where in sealed_columns()), versions_of_files(folder))


_MIN_BYTES: Final = 6
"""The fewest bytes of a name that is searched for in files: shorter ones occur in random bytes by chance.

Chosen by hand.
"""

_CHUNK: Final = 1 << 22
_BATCH_SIZE: Final = 2_000
_ESCAPE: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class ResidueQuery:
    """The names and texts of erased things to search for; public words are left out, because they occur everywhere.

    `texts`: those that are searched. `passed_over`: the number of those left out. `index`: finds the texts in
    decrypted rows, None if there are none. `bytes`: the texts as they may be encoded in files.
    """

    texts: tuple[str, ...] = field(repr=False)
    passed_over: int
    index: NameIndex | None = field(repr=False)
    bytes: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def of(cls, texts: Collection[str], public: PublicWords) -> ResidueQuery:
        distinct = list(dict.fromkeys(texts))
        telling = [text for text in distinct if (word := normalise(text).text) not in public and len(word) > 1]
        index = NameIndex.build(NameEntry(0, text, "name", None, True, True) for text in telling) if telling else None
        spelt = {form.encode(coding) for text in telling for form in (text, normalise(text).text)
                 for coding in ("utf-8", "utf-16-le")}  # fmt: skip
        long = tuple(each.lower() for each in spelt if len(each) >= _MIN_BYTES)
        return cls(tuple(telling), len(distinct) - len(telling), index, long)

    def is_in(self, text: str) -> bool:
        """True if one of the texts occurs in `text` as separate words; JSON escapes are also read as their letters."""
        if self.index is None:
            return False
        readings = {text, _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)}
        return any(self.index.find(each) for each in readings)


@dataclass(slots=True)
class ResidueReport:
    """The counts of a search for traces.

    `opened`: rows that were opened. `holding`: those that contain what was sought. `shut`: rows whose key is not
    available, so that nothing is known of them. `others`: names and values of other things of the graph that contain a
    name. `elsewhere`: rows of other graphs of the tenant that do. `files`, `bytes`: what was read below the folder.
    `raw`: files that contain what was sought.
    """

    opened: int = 0
    holding: int = 0
    shut: int = 0
    others: int = 0
    elsewhere: int = 0
    files: int = 0
    bytes: int = 0
    raw: int = 0

    @property
    def is_clean(self) -> bool:
        return not (self.holding or self.shut or self.raw)


def look_for(
    engine: Engine,
    master: MasterKey,
    folder: Path,
    tenant: str,
    graph: str,
    mids: Collection[int],
    stay: Mapping[str, Collection[int]],
    sought: ResidueQuery,
    progress: Callable[[int], None],
) -> ResidueReport:
    """Searches every sealed row of the tenant and every file below `folder`, and returns the counts.

    `stay`: those of `mids` that a version, given by its id, rightly has, because they belong to others there.
    `progress` gets the number of rows opened so far.
    """
    traces, gone = ResidueReport(), frozenset(mids)
    left = {version_id: gone.difference(rightly) for version_id, rightly in stay.items()}
    for where in sealed_columns():
        # Unfinished erasures contain what is searched for, until they are done.
        if where.table is not erasures:
            for row in _rows(engine, where):
                if getattr(row, "tenant", tenant) == tenant:
                    of_version = left.get(getattr(row, "version_id", ""), gone)
                    _look_into(row, where, master, graph, of_version, sought, traces)
                    progress(traces.opened)
    for path in folder.rglob("*"):
        if path.is_file():
            _read(path, sought, traces)
    return traces


def _look_into(
    row: Row[Any],
    where: SealedColumn,
    master: MasterKey,
    graph: str,
    gone: frozenset[int],
    sought: ResidueQuery,
    traces: ResidueReport,
) -> None:
    traces.opened += 1
    try:
        plain = master.open(where.purpose, where.context(row), row.sealed)
    except MasterKeyError:
        traces.shut += 1
        return
    of = getattr(row, "name", None) or getattr(row, "graph", None) or graph
    texts: list[tuple[int | None, str]] = [(None, plain.decode("utf-8", "replace"))]
    if where.table is vault_entries:
        texts = [(mid, json.dumps(parts, ensure_ascii=False)) for mid, parts in parts_in(row.mid, plain)]
    for mid, text in texts:
        found = sought.is_in(text)
        if of != graph:
            traces.elsewhere += found
        elif mid is not None and mid not in gone:
            traces.others += found
        else:
            traces.holding += found or mid is not None


def _rows(engine: Engine, where: SealedColumn) -> Iterator[Row[Any]]:
    with engine.connect().execution_options(stream_results=True) as connection:
        rows = connection.execute(where.rows.where(where.column.is_not(None)))
        while some := rows.fetchmany(_BATCH_SIZE):
            yield from some


def _read(path: Path, sought: ResidueQuery, traces: ResidueReport) -> None:
    """Searches a file in pieces that overlap, so that a match across a border is found."""
    traces.files += 1
    found, overlap = False, max(map(len, sought.bytes), default=1) - 1
    try:
        with path.open("rb") as file:
            tail = b""
            while chunk := file.read(_CHUNK):
                traces.bytes += len(chunk)
                data = tail + chunk.lower()
                found = found or any(each in data for each in sought.bytes)
                tail = data[-overlap:] if overlap else b""
    except FileNotFoundError:
        return  # The file of an old version, which was deleted meanwhile.
    traces.raw += found
