"""The format of pseudonyms: draws new ones, finds those in a text, and writes their meanings as JSON.

Everything that prompts of one conversation reveal about a pseudonym can be combined. Therefore a question that does
not need earlier turns begins a new thread: its prompts hold none of these turns, and use other pseudonyms in another
order.
"""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Literal

import numpy as np

from kg_store.graph.schema import mask_word
from kg_store.terms import (
    ALPHABET,
    NO_MIDS,
    PSEUDONYM_FORM,
    TAIL_LENGTH,
    Hop,
    Mids,
    Path,
    RelationId,
    Schema,
    ValueKind,
    as_mids,
    keyed_word,
)

Letter = Literal["E", "V", "S"]
"""E: an entity. V: a value, a typed literal, or a computed number. S: a set."""

_RUN = re.compile(r"[0-9A-Za-z]+")
_SHAPE = re.compile(PSEUDONYM_FORM)
_SHAPED_RUN = re.compile(rf"(?<![0-9A-Za-z]){PSEUDONYM_FORM}(?![0-9A-Za-z])")


@dataclass(frozen=True, slots=True)
class Standing:
    """A word of a text that is a pseudonym or looks like one."""

    start: int
    end: int
    word: str = field(repr=False)


def draw_word(letter: Letter, taken: Container[str]) -> str:
    """Draws a word that is not in `taken`."""
    while True:
        tail = "".join(secrets.choice(ALPHABET) for _ in range(TAIL_LENGTH))
        if is_shaped(letter + tail) and letter + tail not in taken:
            return letter + tail


def word_by_key(word: str, told: str, key: bytes, taken: Container[str]) -> str:
    """Returns the word that replaces the pseudonym `word` in the context `told`; it has the same first letter."""
    return keyed_word(word[0], f"{told}\n{word}", key, is_shaped, taken)


def is_shaped(word: str) -> bool:
    """True if `word` has the form of a pseudonym."""
    return _SHAPE.fullmatch(word) is not None


def words_in(text: str) -> Iterator[Standing]:
    """Yields every run of ASCII letters and digits that is a separate word.

    The borders are those of `client_sdk.restore`: underscores and letters of scripts without capitals are borders too.
    """
    return _standing(text, _RUN)


def shaped_in(text: str) -> Iterator[Standing]:
    """Yields every word of `text` that looks like a pseudonym, issued or not."""
    return _standing(text, _SHAPED_RUN)


def _standing(text: str, runs: re.Pattern[str]) -> Iterator[Standing]:
    for run in runs.finditer(text):
        if not _is_word_letter(text[run.start() - 1 : run.start()]) and not _is_word_letter(
            text[run.end() : run.end() + 1]
        ):
            yield Standing(run.start(), run.end(), run.group())


def replaced(text: str, words: Iterable[Standing]) -> str:
    """Returns `text` with each span of `words` (in order, without overlaps) replaced by its word.

    A space is added where a word would otherwise join its neighbour and not be found again, or be read as an escape
    (`%Ee`).
    """
    done, at = "", 0
    for word in words:
        done = _beside(_beside(done, text[at : word.start]), word.word)
        at = word.end
    return _beside(done, text[at:]) if at else text


def _beside(before: str, after: str) -> str:
    joined = (_is_word_letter(before[-1:]) or before[-1:] == "%") and _is_word_letter(after[:1])
    return f"{before} {after}" if joined else before + after


def _is_word_letter(letter: str) -> bool:
    category = unicodedata.category(letter) if letter else "Cn"
    return category != "Lo" and category[0] in "LNM"


RANKED: Final = "ranked("
"""The beginning of an outcome's expression that has an order of its own; no expression of the algebra begins so."""

WHOLE: Final = ""
"""The thread of a conversation that has only one; its pseudonyms are sent as they are."""


def extend_thread(words: dict[str, str], order_key: bytes, thread: str, pseudonyms: Collection[str]) -> None:
    """Adds to `words` what is sent for those `pseudonyms` (in order of issue) that have no word yet."""
    taken = set(words.values())
    for pseudonym in islice(pseudonyms, len(words), None):
        words[pseudonym] = word_by_key(pseudonym, thread, order_key, taken)
        taken.add(words[pseudonym])


def masked_in_thread(order_key: bytes, thread: str, masks: Iterable[str]) -> dict[str, str]:
    """Returns the word that is sent for the opaque word of each masked relation."""
    found: dict[str, str] = {}
    for mask in masks:
        found[mask] = mask_word(order_key, f"{thread}\n{mask}", found.values())
    return found


FORM = 1

MeaningKind = Literal["entity", "value", "set", "group", "kind", "literal", "outcome"]

RawPath = list[list[list[object]]]
"""Steps as hops of [relation IRI, inverse]; ids may change with the next version of the graph, IRIs do not."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """The meaning of one pseudonym.

    | kind | fields |
    |---|---|
    | entity, value | `mids`: one |
    | group | `mids`: the entities that share a name |
    | set | `start` (a pseudonym) and `path`; `mids` are set while the request that made it lasts |
    | kind | `concept`; `mids` as for a set |
    | literal | `literal`: the text as typed, once it stood in a turn of this request; `mids` that equal it |
    | outcome | `expression`; `mids` where the outcome is a set, in their own order where it `is_ranked` |

    `path` is None too where this version of the graph lacks one of its relations.
    """

    kind: MeaningKind
    mids: Mids = field(default_factory=lambda: NO_MIDS, repr=False)
    start: str | None = None
    path: Path | None = None
    concept: str | None = None
    value_kind: ValueKind | None = None
    literal: str | None = field(default=None, repr=False)
    expression: str | None = None

    @property
    def is_ranked(self) -> bool:
        """True of an outcome whose `mids` have an order that its expression does not produce."""
        return self.expression is not None and self.expression.startswith(RANKED)


@dataclass(slots=True)
class TableState:
    """The part of a table that is kept between requests; it holds no typed text. `threads`: of each answer, oldest
    first.
    """

    order_key: bytes = field(repr=False)
    meanings: dict[str, Meaning] = field(default_factory=dict, repr=False)
    digests: dict[str, str] = field(default_factory=dict, repr=False)
    settled: dict[int, bool] = field(default_factory=dict, repr=False)
    lost_paths: dict[str, RawPath] = field(default_factory=dict, repr=False)
    threads: dict[str, str] = field(default_factory=dict)


def write_state(state: TableState, schema: Schema) -> bytes:
    """Writes the state without members of sets, which are found again, and without the text of literals, which each
    request brings.
    """
    rows = [_row(word, meaning, state, schema) for word, meaning in state.meanings.items()]
    settled = list(state.settled.items())
    content = {"form": FORM, "key": state.order_key.hex(), "settled": settled, "threads": state.threads, "rows": rows}
    return json.dumps(content, separators=(",", ":")).encode()


def read_state(data: bytes, schema: Schema) -> TableState:
    """Reads what `write_state` wrote. Raises ValueError on anything else."""
    try:
        content = json.loads(data)
        if content["form"] != FORM:
            raise ValueError("the conversation was kept in another form")
        state = TableState(bytes.fromhex(content["key"]), settled=dict(content["settled"]))
        state.threads = dict(content.get("threads", {}))
        relations = {relation.iri: relation.id for relation in schema.relations}
        for word, row in content["rows"]:
            _read_row(word, row, state, relations)
        return state
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("the kept conversation can't be read") from None


def _row(word: str, meaning: Meaning, state: TableState, schema: Schema) -> tuple[str, dict[str, Any]]:
    row: dict[str, Any] = {"kind": meaning.kind}
    if meaning.kind not in ("set", "kind") and len(meaning.mids):
        row["mids"] = meaning.mids.tolist()
    if meaning.kind == "set":
        row["path"] = state.lost_paths.get(word) or _raw_path(meaning.path or (), schema)
    texts = {"start": meaning.start, "concept": meaning.concept, "expression": meaning.expression}
    texts |= {"value_kind": meaning.value_kind, "digest": state.digests.get(word)}
    return word, row | {name: text for name, text in texts.items() if text is not None}


def _raw_path(path: Path, schema: Schema) -> RawPath:
    return [[[schema.relations[hop.relation].iri, hop.inverse] for hop in step] for step in path]


def _read_row(word: str, row: dict[str, Any], state: TableState, relations: dict[str, RelationId]) -> None:
    path: Path | None = None
    if row["kind"] == "set":
        try:
            path = tuple(tuple(Hop(relations[iri], inverse) for iri, inverse in step) for step in row["path"])
        except KeyError:
            state.lost_paths[word] = row["path"]
    if "digest" in row:
        state.digests[word] = row["digest"]
    value_kind = ValueKind(row["value_kind"]) if "value_kind" in row else None
    is_ranked = row.get("expression", "").startswith(RANKED)
    mids = np.asarray(row.get("mids", []), dtype=np.int64)
    state.meanings[word] = Meaning(
        row["kind"], mids if is_ranked else as_mids(mids), row.get("start"), path, row.get("concept"), value_kind,
        expression=row.get("expression"),
    )  # fmt: skip
