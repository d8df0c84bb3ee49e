"""Receives uploads of graphs: multipart parts are streamed into files that only this process's user can read.

Promise: no byte of an upload passes through the system's temporary folder, and no file's name leads out of its folder.
Limit: while the job runs the files lie in the data folder as they came, unencrypted, mode 0600, under the names that
they were sent with; names of tables also appear in the policy. They are deleted when the job ends, or at the next
start if the process died before; a file lock shows that the process lives.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import IO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool

from app.api.problems import BadRequestError
from app.wiring.store import UPLOAD_LOCK

MAX_FILES = 100

UPLOAD_SCHEMA = {
    "schema": {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "ontology": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "policy": {"type": "string", "description": "TOML; the proposed policy by default"},
            "changes": {"type": "string", "description": "PolicyChanges as JSON, for a preview alone"},
        },
    }
}
"""The schema of a multipart/form-data body, for the API's description."""
MAX_POLICY_BYTES = 1_000_000
MAX_NAME_CHARS = 120
_HINT = (
    "Send multipart/form-data with parts named `file` (one or more), `ontology` (any number), `policy` "
    "(at most one, TOML) and, for a preview, `changes` (at most one, JSON)."
)
_UNUSUAL = re.compile(r"[^\w .()&+-]")
_TEXTS = (b"policy", b"changes")


@dataclass(slots=True)
class Upload:
    """One upload. `files` and `ontologies` lie in `folder`, in the order in which they came, with different names."""

    folder: Path
    files: list[Path] = field(default_factory=list)
    ontologies: list[Path] = field(default_factory=list)
    policy: str | None = field(default=None, repr=False)
    changes: str | None = field(default=None, repr=False)
    lock: IO[bytes] | None = field(default=None, repr=False)

    def delete(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.lock is not None:
            self.lock.close()


async def receive_upload(
    stream: AsyncIterator[bytes], content_type: str, incoming: Path, endings: tuple[str, ...]
) -> Upload:
    """Reads a multipart body into a new folder within `incoming`.

    `endings`: the endings of files that can be loaded. Raises BadRequestError, and deletes the folder then.
    """
    _, options = parse_options_header(content_type)
    if b"boundary" not in options:
        raise BadRequestError("The upload has no multipart boundary.", _HINT)
    incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
    upload = Upload(incoming / secrets.token_hex(8))
    upload.folder.mkdir(mode=0o700)
    upload.lock = (upload.folder / UPLOAD_LOCK).open("ab")
    fcntl.flock(upload.lock, fcntl.LOCK_SH)
    parts = _Parts(upload, endings)
    try:
        parser = MultipartParser(options[b"boundary"], parts.callbacks())  # type: ignore[arg-type]
        async for chunk in stream:
            await run_in_threadpool(parser.write, chunk)
        parts.finish()
    except BaseException as error:
        parts.close()
        upload.delete()
        if isinstance(error, FormParserError):
            raise BadRequestError("The upload is not valid multipart/form-data.", _HINT) from None
        raise
    return upload


class _Parts:
    """The multipart parser's callbacks: they write files to disk, and keep the policy and its changes in memory."""

    def __init__(self, upload: Upload, endings: tuple[str, ...]) -> None:
        self._upload, self._endings = upload, endings
        self._header, self._value, self._disposition = b"", b"", b""
        self._file: IO[bytes] | None = None
        self._texts: dict[bytes, bytearray] = {}
        self._text: bytearray | None = None
        self._ended = False

    def callbacks(self) -> dict[str, object]:
        names = ("part_begin", "part_data", "part_end", "header_field", "header_value", "header_end")
        return {f"on_{name}": getattr(self, name) for name in (*names, "headers_finished", "end")}

    def part_begin(self) -> None:
        self._disposition = b""

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header, self._value = b"", b""

    def headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        name, given = options.get(b"name", b""), options.get(b"filename", b"")
        if name in _TEXTS and name not in self._texts:
            self._text = self._texts[name] = bytearray()
        elif name == b"file":
            self._file = self._open(given, "file", self._upload.files)
        elif name == b"ontology":
            self._file = self._open(given, "ontology", self._upload.ontologies)
        else:
            raise BadRequestError("A part of the upload has an unknown name, or comes twice.", _HINT)

    def part_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(memoryview(data)[start:end])
        elif self._text is not None:
            self._text += data[start:end]
            if len(self._text) > MAX_POLICY_BYTES:
                raise BadRequestError(f"The policy or its changes have more than {MAX_POLICY_BYTES} bytes.", _HINT)

    def part_end(self) -> None:
        self.close()
        self._text = None

    def end(self) -> None:
        self._ended = True

    def finish(self) -> None:
        """Ends the reception: stores the policy and its changes, which were sent as parts, in the upload.

        Raises BadRequestError if the body was cut off or has no file, or if one of these two is no UTF-8.
        """
        if not self._ended:
            raise BadRequestError("The upload is cut off.", _HINT)
        if not self._upload.files:
            raise BadRequestError("The upload holds no part named `file`.", _HINT)
        try:
            texts = {name: bytes(text).decode("utf-8-sig") for name, text in self._texts.items()}
        except UnicodeDecodeError:
            raise BadRequestError("The policy or its changes are not UTF-8.", _HINT) from None
        self._upload.policy, self._upload.changes = texts.get(b"policy"), texts.get(b"changes")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, given: bytes, kind: str, files: list[Path]) -> IO[bytes]:
        if len(files) == MAX_FILES:
            raise BadRequestError(f"The upload holds more than {MAX_FILES} files.", _HINT)
        name = given.decode("utf-8", "replace")
        ending = _ending(name.lower(), self._endings)
        if ending is None:
            allowed = ", ".join(self._endings)
            raise BadRequestError(
                f"{kind} {len(files) + 1} has no file name with an ending that can be loaded.",
                f"Allowed: {allowed}; each also with .gz.",
            )
        stem = _stem(name, ending) or f"{kind}-{len(files) + 1}"
        taken = {path.name for path in (*self._upload.files, *self._upload.ontologies)}
        numbered = (f"{stem}-{number}{ending}" for number in count(2))
        path = self._upload.folder / next(
            each for each in (f"{stem}{ending}", *islice(numbered, len(taken) + 1)) if each not in taken
        )
        files.append(path)
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _ending(name: str, endings: tuple[str, ...]) -> str | None:
    """Returns the ending of a file's name that tells its format, with `.gz` if present; None if it can't be loaded."""
    packed = ".gz" if name.endswith(".gz") else ""
    plain = name.removesuffix(".gz")
    return next((ending + packed for ending in endings if plain.endswith(ending)), None)


def _stem(name: str, ending: str) -> str:
    """Returns a file's name without folders and ending, with unusual characters replaced by underscores."""
    last = re.split(r"[\\/]", name)[-1][: -len(ending)]
    return _UNUSUAL.sub("_", unicodedata.normalize("NFC", last)).strip(" .")[:MAX_NAME_CHARS].strip(" .")
