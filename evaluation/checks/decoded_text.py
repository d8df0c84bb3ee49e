"""Bytes that left, taken apart into every text that can be read in them, however it was escaped."""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
import unicodedata
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_BLOCK = re.compile(r"```json(.*?)```", re.DOTALL)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\(.)", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(r"\b(?:[0-9a-fA-F]{2}){6,}\b")
# Scripts without spaces, or with particles that hang on names: every character is a word of its own, so that a name is
# found inside a longer run. The second line: Thai, Lao, Burmese, Khmer.
_UNSPACED = "぀-ヿ㐀-䶿一-鿿豈-﫿ｦ-ﾟ가-힣\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"[{_UNSPACED}]|\d+(?:\.\d+)+(?![^\W_])|(?:(?![{_UNSPACED}])[^\W_])+")
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it stands, and as names are compared: without case, accents and width."""

    plain: str = field(repr=False)
    folded: str = field(repr=False)
    opens_sentence: bool = False


def texts_in(payload: bytes) -> Iterator[str]:
    """Every string, key and number of a JSON payload, at any depth and under any of the usual escapings.

    Fields are kept apart, so that the end of one and the start of the next make no name. What is not JSON is
    one text.
    """
    for text in _json_texts(payload.decode("utf-8", errors="replace")):
        yield from _readings(text)


def words_of(text: str) -> list[Word]:
    """The words of `text`, in order."""
    words: list[Word] = []
    end = 0
    for match in _WORD.finditer(text):
        opens = not words or any(mark in ".!?:\n" for mark in text[end : match.start()])
        words.append(Word(match[0], folded(match[0]), opens))
        end = match.end()
    return words


@lru_cache(maxsize=200_000)
def folded(word: str) -> str:
    """`word` as names are compared. "Fröbe", "FROBE" and "frobe" are one."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark)).casefold()


def _json_texts(text: str) -> Iterator[str]:
    """The texts of `text` if it is JSON; else itself, its fenced JSON blocks taken apart in the same way."""
    try:
        tree = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        rest = _BLOCK.sub("\n", text)
        yield rest
        for block in _BLOCK.findall(text):
            # A block that is not JSON either has no fence left, so that this ends.
            yield from _json_texts(block)
        return
    yield from _leaves(tree)


def _leaves(tree: object) -> Iterator[str]:
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending += [*node.keys(), *node.values()]
        elif isinstance(node, list):
            pending += node
        elif isinstance(node, str):
            yield from _json_texts(node) if _BLOCK.search(node) or node[:1] in ("{", "[") else (node,)
        elif node is not None:
            yield str(node)


def _readings(text: str) -> Iterator[str]:
    """`text` and what it says once escapes, percent signs, entities, base64 and hexadecimal are undone."""
    seen = {text}
    pending = [text]
    for _ in range(_ROUNDS):
        undone = {reading for known in pending for reading in _undone(known)} - seen
        seen |= undone
        pending = list(undone)
    yield from seen


def _undone(text: str) -> Iterator[str]:
    if "\\" in text:
        yield _ESCAPE.sub(_character, text)
    if "%" in text:
        yield urllib.parse.unquote(text)
    if "&" in text:
        yield html.unescape(text)
    for run in _BASE64.findall(text):
        yield from _decoded(run)
    for run in _HEX.findall(text):
        yield from _readable(bytes.fromhex(run))


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[3], match[3])


def _decoded(run: str) -> Iterator[str]:
    padded = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        yield from _readable(base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True))
    except (binascii.Error, ValueError):
        return


def _readable(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if text.isprintable():
        yield text
