"""A clinic with a few names, and a fake BlindGraph with two kinds of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.privacy.pseudonyms import PseudonymTable
from client_sdk.protocol import Message
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.name_words import NameWords
from kg_store.storage.vault import VaultRecord
from kg_store.terms import (
    NO_MIDS,
    Concept,
    Edges,
    Hop,
    Mids,
    NodeKind,
    Relation,
    RelationId,
    Schema,
    Signature,
    SignatureId,
    ValueKind,
    as_mids,
)
from kg_store.text.english import PublicWords

NAMES: dict[int, tuple[str, ...]] = {
    1: ("Anna Berg", "Annie the Great"),
    2: ("Anna Berg",),
    3: ("Karl Östermann",),
    4: ("New York",),
    5: ("New York Times",),
    6: ("Hope",),
    7: ("山田太郎",),
    8: ("Zorbinol",),
    9: ("Shane O'Malley",),
    10: ("Mary-Jane Holt",),
    11: ("Élodie",),
}
VALUES: dict[int, tuple[str, ValueKind]] = {
    101: ("1990-05-12", ValueKind.DATE),
    102: ("72.5", ValueKind.NUMBER),
    103: ("ward code QX77", ValueKind.TEXT),
    104: ("k.ost@mail.example", ValueKind.TEXT),
}
PHRASES = ("date of birth", "treated by", "patient", "ward", "prescribed drug", "spouse")


def all_names() -> list[str]:
    return [name for names in NAMES.values() for name in names] + [text for text, _ in VALUES.values()]


def name_index(public: PublicWords) -> NameIndex:
    """Return an index of names and values, all linkable and protected, except 105 (neither) and 106 (not linkable)."""
    entries = [NameEntry(mid, name, "name", None, True, True) for mid, all_ in NAMES.items() for name in all_]
    entries += [NameEntry(mid, text, "value", kind, True, True) for mid, (text, kind) in VALUES.items()]
    entries.append(NameEntry(105, "blood group zero", "value", ValueKind.TEXT, False, False))
    entries.append(NameEntry(106, "came in by helicopter", "value", ValueKind.TEXT, False, True))
    return NameIndex.build(entries).with_public(public)


def name_words() -> NameWords:
    records = [VaultRecord(NodeKind.ENTITY, names) for names in NAMES.values()]
    records += [VaultRecord(NodeKind.VALUE, (), kind, text) for text, kind in VALUES.values()]
    return NameWords.of(records)


def dialogue(*turns: str) -> list[Message]:
    roles = ("user", "assistant")
    return [Message(role=roles[at % 2], content=text) for at, text in enumerate(turns)]


def members(table: PseudonymTable, word: str) -> Mids:
    meaning = table.meaning(word)
    return NO_MIDS if meaning is None else meaning.mids


# --- a graph ------------------------------------------------------------------------------------------------

TREATS, BORN, PARTNER = 0, 1, 2
DOCTOR, PATIENT, VALUE, MARRIAGE = 0, 1, 2, 3


@dataclass
class FakeGraph:
    """A graph of two kinds of people.

    Doctor 1 treats patients 2, 3 and 4, born on 21, 21 and 22; marriage 31 joins 2 and 3, marriage 32 joins 4 and 1.
    """

    relations: tuple[str, ...] = ("urn:treats", "urn:born", "urn:partner")
    kinds: dict[int, int] = field(
        default_factory=lambda: {
            1: DOCTOR,
            2: PATIENT,
            3: PATIENT,
            4: PATIENT,
            21: VALUE,
            22: VALUE,
            31: MARRIAGE,
            32: MARRIAGE,
        }
    )
    triples: tuple[tuple[int, str, int], ...] = (
        (1, "urn:treats", 2), (1, "urn:treats", 3), (1, "urn:treats", 4), (1, "urn:treats", 31),
        (2, "urn:born", 21), (3, "urn:born", 21), (4, "urn:born", 22),
        (31, "urn:partner", 2), (31, "urn:partner", 3), (32, "urn:partner", 4), (32, "urn:partner", 1),
    )  # fmt: skip

    @property
    def schema(self) -> Schema:
        relations = [Relation(RelationId(at), iri, iri, iri) for at, iri in enumerate(self.relations)]
        kinds = (NodeKind.ENTITY, NodeKind.ENTITY, NodeKind.VALUE, NodeKind.MEDIATOR)
        signatures = [Signature(SignatureId(at), kind, (), ()) for at, kind in enumerate(kinds)]
        concepts = tuple(Concept(word) for word in ("doctor", "patient", "date", "marriage"))
        return Schema(tuple(relations), tuple(signatures), concepts)

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        hops = [Hop(RelationId(at), inverse) for at in range(len(self.relations)) for inverse in (False, True)]
        return tuple(sorted(hop for hop in hops if len(self.neighbours(mids, hop).heads)))

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        iri, wanted = self.relations[hop.relation], set(mids.tolist())
        pairs = [(s, o) for s, p, o in self.triples if p == iri]
        pairs = sorted({(o, s) if hop.inverse else (s, o) for s, o in pairs})
        found = np.array([pair for pair in pairs if pair[0] in wanted], dtype=np.int64).reshape(-1, 2)
        return Edges(found[:, 0], found[:, 1])

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        return np.array([self.kinds.get(mid, -1) for mid in mids.tolist()], dtype=np.int32)

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        return as_mids([mid for mid, kind in self.kinds.items() if kind in signatures])
