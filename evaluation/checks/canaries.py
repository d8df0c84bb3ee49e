"""Canaries: made-up names and values, a graph and a policy that hold them, and a search for them in any bytes."""

from __future__ import annotations

import base64
import html
import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

_TOLD = tomllib.loads(Path(__file__).with_name("canaries.toml").read_text("utf-8"))
HIDDEN_RELATION: str = _TOLD["hidden_relation"]
MASKED_RELATION: tuple[str, ...] = tuple(_TOLD["masked_relation"])
DESCRIPTION = "what illness somebody has"
_LISTS = ("in_graph", "in_questions", "in_requests", "in_policy", "in_broken_file", "of_endpoint")
ALL: tuple[str, ...] = (HIDDEN_RELATION, *MASKED_RELATION, *(word for each in _LISTS for word in _TOLD[each]))
PREFIXES: str = _TOLD["prefixes"]
GRAPH: str = PREFIXES + _TOLD["graph"]
POLICY: str = _TOLD["policy"]
ANSWERED, ASKED, TALKED_OF = _TOLD["answered"], _TOLD["asked"], _TOLD["talked_of"]
"""Questions that hold canaries; the first and the last are answered with a name."""
BAD_POLICY = 'names = ["Belmorvath"]\nsnickelby = true\n'
BROKEN_GRAPH = GRAPH + ':p7 rdfs:label "Muddlethwaite .\n'

FORMS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "upper case": lambda word: word.upper().encode(),
    "split": lambda word: "\x00".join(word).encode(),
    "JSON": lambda word: json.dumps(json.dumps(word)).encode(),
    "UTF-16": lambda word: word.encode("utf-16-le"),
    "hexadecimal": lambda word: word.encode().hex().encode(),
    "base64": lambda word: base64.b64encode(b"%" + word.encode() + b"%"),
    "percent": lambda word: quote(word).encode(),
}
"""Ways to write a word as bytes; `canaries_in` finds it in each."""

_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_UTF_16 = (("utf-16-le", 0), ("utf-16-le", 1), ("utf-16-be", 0), ("utf-16-be", 1))


def canaries_in(data: bytes, canaries: Iterable[str] = ALL) -> list[str]:
    """Returns the canaries that stand in `data`, however they are written.

    They are found in any case, with or without accents, with other signs between their letters, escaped as in JSON,
    HTML or URLs, in UTF-8 or UTF-16, and in base64 or hexadecimal.
    """
    readings = [_bare(text) for text in _texts(data)]
    hexadecimal = data.lower()
    return [
        canary
        for canary in canaries
        if any(_bare(canary) in reading for reading in readings)
        or any(spelt.encode().hex().encode() in hexadecimal for spelt in _spellings(canary))
        or any(run in data for spelt in _spellings(canary) for run in _base64_runs(spelt.encode()))
    ]


def _texts(data: bytes) -> Iterator[str]:
    plain = data.decode("utf-8", "replace")
    yield plain
    yield _ESCAPE.sub(lambda match: chr(int(match[1], 16)), plain)
    yield html.unescape(plain)
    yield unquote_to_bytes(data).decode("utf-8", "replace")
    yield from (data[start:].decode(encoding, "replace") for encoding, start in _UTF_16)


def _bare(text: str) -> str:
    """Returns the letters and digits of `text`, without case and accents."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text.casefold())))


def _spellings(canary: str) -> set[str]:
    return {canary, canary.lower(), canary.upper(), _bare(canary)}


def _base64_runs(word: bytes) -> Iterator[bytes]:
    """Yields the characters that any base64 text holding `word` contains, for each position in a group of three bytes.

    Only characters that depend on nothing but `word` are used, and all of them: shorter runs would occur in encrypted
    bytes by chance.
    """
    for before, start in ((0, 0), (1, 2), (2, 3)):
        groups, rest = divmod(before + len(word), 3)
        run = base64.b64encode(b"\0" * before + word)[start : 4 * groups + rest]
        yield run
        yield run.translate(bytes.maketrans(b"+/", b"-_"))
