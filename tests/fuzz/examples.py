"""Drawing for fuzz tests: the number of examples, and bytes changed as by a broken transfer or malice."""

from __future__ import annotations

import functools
import gzip
import os
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# What parsers, tables and numbers trip over.
TOKENS: Sequence[bytes] = (
    b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\r\n", b"\x0b",
    b"\xe2\x80\xa8", b"\t", b",", b"|", b";", b'"', b"'", b"\\", b"\\u0000", b"\\uD800", b"\\U00110000", b"<", b">",
    b"<>", b"<urn:x>", b"{", b"}", b"[", b"]", b"(", b")", b".", b"_:", b"_:b0",
    b"@", b"@en", b"@prefix : <> .", b"@base <x> .",
    b"^^", b"^^<urn:x>", b"<<", b">>", b"<< <urn:a> <urn:b> <urn:c> >>", b"=>", b"?x",
    b"&lt;", b"&xsd;", b"<!--", b"<![CDATA[",
    b"<!ENTITY a 'b'>", b"<?xml version='1.0' encoding='utf-16'?>", b"null", b"true", b"NaN", b"1e999", b"-0",
    b"9" * 5000, b'"' + b"a" * 140_000 + b'"', b"[" * 20_000, b"{\"a\":" * 2_000, b'"@context": "http://x.test/c",',
    b'"@id": 1', b'"@type": {}', b'"@graph": "x"', b'"@value": []', b'"@list": [[]]', b'"@set": {}', b'"@vocab": 3,',
    b"rdf:parseType='Literal'", b"rdf:ID='1'", b"xml:base='::'", b"0000-00-00", b"99999999999-01-01", b"1961-13-45",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, whole: bytes) -> bytes:
    """`whole` after one to four changes: cut, doubled, moved, overwritten, or with something put in."""
    data = whole
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        match draw(st.sampled_from(["insert", "replace", "delete", "double", "cut", "move", "bytes", "flip"])):
            case "insert":
                data = data[:start] + draw(st.sampled_from(TOKENS)) + data[start:]
            case "replace":
                data = data[:start] + draw(st.sampled_from(TOKENS)) + data[end:]
            case "delete":
                data = data[:start] + data[end:]
            case "double":
                data = data[:end] + data[start:end] * draw(st.integers(1, 3)) + data[end:]
            case "cut":
                data = data[:start]
            case "move":
                to = draw(st.integers(0, len(data)))
                data = data[:to] + data[start:end] + data[to:]
            case "bytes":
                data = data[:start] + draw(st.binary(max_size=8)) + data[end:]
            case "flip" if data:
                at = min(start, len(data) - 1)
                data = data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :]
    return data


def mutated_file(name: str, whole: bytes) -> st.SearchStrategy[bytes]:
    """Of a gzipped file, the bytes or what they hold."""
    if not name.endswith(".gz"):
        return mutated(whole)
    packed = mutated(gzip.decompress(whole)).map(lambda data: gzip.compress(data, mtime=0))
    return st.one_of(mutated(whole), packed)


MANY = "AROG_FUZZ_EXAMPLES"
"""Environment: examples of each test instead of its own number."""

tried = {"examples": 0}
"""Examples of all tests that this process has run."""


def drawing(examples: int) -> Callable[[Any], Any]:
    """For a test under `@given`: `examples` of it, unless the environment says otherwise, and no limit of time."""

    def prepared(test: Any) -> Any:
        inner = test.hypothesis.inner_test

        @functools.wraps(inner)
        def counted(*args: object, **drawn: object) -> object:
            tried["examples"] += 1
            return inner(*args, **drawn)

        test.hypothesis.inner_test = counted
        return settings(
            max_examples=int(os.environ.get(MANY, examples)),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        )(test)

    return prepared
