"""Canaries: made-up names and values, a graph and a policy that hold them, and what finds them in any bytes."""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, unquote_to_bytes

IN_GRAPH = (
    "Vexquilda", "Thrombury", "Quillowmere", "Orvindel", "Jaskworthy", "Žofštenbrück", "Zimbrelkov", "Quandrovar",
    "Plumbrechtson", "Klabautrix", "Grizzlewick", "Fenwhistle", "536-22-8174", "1961-07-23", "4841739.25",
)  # fmt: skip
HIDDEN_RELATION = "Glimdossier"
MASKED_RELATION = ("Murglewort", "Snorkelwick ague")
"""A part of its local name, and its label."""

DESCRIPTION = "what illness somebody has"
IN_QUESTIONS = (
    "Vexqilda", "Thrombruy", "Wendolphine", "Brackwater", "4111 1111 1111 1111", "+49 30 901820", "squibbleford",
)  # fmt: skip
IN_REQUESTS = ("Hollowgrimm", "Tarnsworth")
IN_POLICY = ("Belmorvath", "Snickelby")
IN_BROKEN_FILE = ("Muddlethwaite",)
OF_ENDPOINT = ("Pettigrouse",)
ALL = (
    *IN_GRAPH, HIDDEN_RELATION, *MASKED_RELATION, *IN_QUESTIONS, *IN_REQUESTS, *IN_POLICY, *IN_BROKEN_FILE,
    *OF_ENDPOINT,
)  # fmt: skip

PREFIXES = """
@prefix : <http://house.invalid/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
GRAPH = (
    PREFIXES
    + """
:p1 rdfs:label "Vexquilda Thrombury" ; skos:altLabel "Quillowmere" ; :ssn "536-22-8174" ; :salary 4841739.25 ;
    skos:altLabel "Grizzlewick's Nook" ;
    :dateOfBirth "1961-07-23"^^xsd:date ; :treatedBy :Orvindel_Jaskworthy ; :livesIn :c1 ; :hasGlimdossier :p4 ;
    :ailsOfMurglewort :d1 ;
    :remark "Told in confidence to the neighbour Plumbrechtson, who keeps the spare key and waters the plants." .
:Orvindel_Jaskworthy :livesIn :c1 ; :employedBy :h1 .
:c1 rdfs:label "Žofštenbrück"@cs .
:h1 rdfs:label "Zimbrelkov & Quandrovar" .
:p4 rdfs:label "Klabautrix" .
:d1 rdfs:label "Fenwhistle" .
:ailsOfMurglewort rdfs:label "Snorkelwick ague" .
"""
)
POLICY = """
# Belmorvath asked for this.
[mediators]
pattern = "^snickelby:"

[relations."http://house.invalid/hasGlimdossier"]
hide = true

[relations."http://house.invalid/ailsOfMurglewort"]
mask = true
description = "what illness somebody has"
"""
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
"""Ways to write a word into bytes; `canaries_in` finds it in each."""

_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_UTF_16 = (("utf-16-le", 0), ("utf-16-le", 1), ("utf-16-be", 0), ("utf-16-be", 1))


def canaries_in(data: bytes, canaries: Iterable[str] = ALL) -> list[str]:
    """Those that stand in `data`: in any case, with or without accents, split by anything that is no letter or
    digit, JSON-, HTML- or percent-escaped, in UTF-8 or UTF-16, in base64 or hexadecimal."""
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
    """Letters and digits alone, without case and accents."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text.casefold())))


def _spellings(canary: str) -> set[str]:
    return {canary, canary.lower(), canary.upper(), _bare(canary)}


def _base64_runs(word: bytes) -> Iterator[bytes]:
    """The signs that every base64 text shows that holds `word`, wherever it begins in a group of three bytes: all that
    depend on nothing else. Fewer would stand in sealed bytes by chance."""
    for before, start in ((0, 0), (1, 2), (2, 3)):
        groups, rest = divmod(before + len(word), 3)
        run = base64.b64encode(b"\0" * before + word)[start : 4 * groups + rest]
        yield run
        yield run.translate(bytes.maketrans(b"+/", b"-_"))
