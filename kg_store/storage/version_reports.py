"""The report of a graph version for its owner, as it is stored: counts, notes, and the words that are masked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

INFO_PURPOSE: Final = "version info"


class MaskReason(StrEnum):
    """The reason why a relation or class is masked, in words for the graph's owner.

    A word of the schema is masked if it may be a cell of a table, and so private.
    """

    NAME = "holds a name or a value of the graph"
    DIGITS = "holds digits"
    WORDS = "holds a word that is not a common English one"
    RARE = "occurs once or twice, where others occur often"
    PIVOT = "is one of several columns that hold the same few words, so its name may be a value"
    MANY = "is one of so many that they grow with the rows"
    OWNER = "is masked by the policy"


@dataclass(frozen=True, slots=True)
class MaskedTerm:
    """A relation or class that is masked: prompts show an opaque word instead of its own words.

    `term` is its IRI or cell, `word` the text that would have been shown.
    """

    kind: Literal["relation", "class"]
    term: str = field(repr=False)
    word: str = field(repr=False)
    reason: MaskReason


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """The report of a graph version for its owner.

    `public_words` are names that equal common words, `masked` are words of the schema that may be table cells; neither
    may be logged. `is_public`: the owner declared all files of the version public.
    """

    tenant: str
    name: str
    version: str
    triples: int
    entities: int
    values: int
    mediators: int
    relations: int
    loaded_at: datetime
    public_words: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    masked: tuple[MaskedTerm, ...] = field(default=(), repr=False)
    is_public: bool = False


def info_bytes(info: GraphInfo) -> bytes:
    """Returns the report as JSON; its tenant, name and version are columns of the row. The caller encrypts it."""
    kept = ("triples", "entities", "values", "mediators", "relations", "public_words", "notes")
    content = {field_name: getattr(info, field_name) for field_name in kept}
    content["masked"] = [[each.kind, each.term, each.word, each.reason.name] for each in info.masked]
    if info.is_public:  # Left out of all others, so that an older program can still read them.
        content["is_public"] = True
    return json.dumps({**content, "loaded_at": info.loaded_at.isoformat()}).encode()


def read_info(tenant: str, name: str, version: str, data: bytes) -> GraphInfo:
    """Returns the report that `info_bytes` wrote."""
    content = json.loads(data)
    masked = (MaskedTerm(kind, term, word, MaskReason[reason]) for kind, term, word, reason in content["masked"])
    content |= {"loaded_at": datetime.fromisoformat(content["loaded_at"]), "masked": tuple(masked)}
    content |= {"public_words": tuple(content["public_words"]), "notes": tuple(content["notes"])}
    return GraphInfo(tenant, name, version, **content)
