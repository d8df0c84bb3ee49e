"""Texts with their names restored, errors and chores of chat clients, row by row (`corpus.toml`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from client_sdk.crypto.sealing import BadPublicKeyError, parse_public_key
from client_sdk.errors import error_of
from client_sdk.protocol import ErrorBody, Names
from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.questions import find_task
from client_sdk.restore import Restorer, restore, shown
from tests.client_sdk.test_restore import TABLE
from tests.support.corpus import Corpus

CORPUS = Corpus.beside(__file__)
CANARY = "Quillowmere"


def named_once(name: str, text: str) -> str:
    """The text with that name for E1, streamed in two pieces wherever it is cut."""
    table = {"E1": Names(names=[name], total=1)}
    whole = restore(text, table)
    for at in range(len(text)):
        restorer = Restorer(table)
        assert restorer.push(text[:at]) + restorer.push(text[at:]) + restorer.finish() == whole
    return whole


def error_class(status: int, code: str) -> str:
    body = ErrorBody(code=code, message="A sentence.", hint="Do this.", id="id-1").model_dump_json().encode()
    error = error_of(status, body)
    assert (str(error), error.code, error.hint, error.id) == ("A sentence.", code, "Do this.", "id-1")
    return type(error).__name__


def chore(text: str, instructions: str = "") -> list[str]:
    """The kind of chore that a text is, and how its reply begins; nothing for a question; or that it is refused."""
    try:
        task = find_task(text, instructions, "clinic")
    except ProxyError as refusal:
        return [refusal.code or "", CANARY if CANARY in refusal.sentence else ""]
    if task is None:
        return []
    return [task.kind, task.reply[:8], CANARY if CANARY in task.reply + repr(task) else ""]


def is_public_key(text: str) -> bool:
    try:
        parse_public_key(text)
    except BadPublicKeyError as refusal:
        return len(text) > 4 and text in str(refusal)
    return True


READS: dict[str, Callable[..., object]] = {
    "restored words": lambda text: restore(text, TABLE),
    "keys that are no single word": lambda key: restore(
        f"a {key} b .* a.b [a-z]+", {key: Names(names=["Anna"], total=1)}
    ),
    "names that end with a stop": named_once,
    "sets of names": lambda names, total: shown(Names(names=names, total=total)),
    "errors": error_class,
    "chores": chore,
    "texts that are no public key": is_public_key,
}


def test_every_section_is_read() -> None:
    assert {*READS, "words that only look alike"} == set(CORPUS.sections)


@pytest.mark.parametrize("section", READS)
def test_rows_are_read(section: str) -> None:
    CORPUS.judge(section, READS[section])


def test_what_only_looks_alike_stays() -> None:
    CORPUS.judge("words that only look alike", lambda text: restore(text, TABLE))
    assert all(text == stays for text, stays in CORPUS.rows("words that only look alike"))
