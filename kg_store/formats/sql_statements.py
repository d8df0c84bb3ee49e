"""Opens a dump of a database and splits it into its statements, and their text into tokens; no statement is run."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final

from kg_store.errors import LoadError
from kg_store.formats.files import MAX_LINE_CHARS, TOO_LONG_LINE, encoding_of, open_bytes

HEAD_BYTES: Final = 1 << 16
MAX_STATEMENT_CHARS: Final = 1 << 24
NOT_CLOSED: Final = (
    "the statement that begins here opens a text, name or comment with {} and does not close it: the file may be "
    "cut off"
)
END_OF_COPY: Final = "\\."
ESCAPED: Final = r"(?:[^'\\]|''|\\.)*+"
"""The inside of a string in which a backslash escapes: in MySQL any, in PostgreSQL those with an E in front."""
DOUBLED: Final = r"(?:[^']|'')*+"
"""The inside of any other string: only a quote is escaped, by another one."""
_COPY: Final = re.compile(r"\s*COPY\s.*\sFROM\s+stdin\b", re.IGNORECASE | re.DOTALL)
_OF_SQL_PLUS: Final = re.compile(
    r"\s*(?:(?:REM|REMARK|PROMPT|@\S*)(?:\s|\Z)|(?:SET|SPOOL|WHENEVER|EXIT|QUIT|DEFINE|ACCEPT|PAUSE|CONNECT|/)(?=\s|\Z)[^;]*\Z)",
    re.IGNORECASE,
)
"""Commands and remarks of Oracle's SQL*Plus, each a line of its own."""
_END: Final = re.compile(r"\s*END\b", re.IGNORECASE)
_MARK_OF_MYSQL: Final = re.compile(rb"/\*!\d|\bENGINE ?=|-- (?:MySQL|MariaDB) |\bINSERT INTO `")
_TAG: Final = re.compile(r"\$\w*\$")


def is_of_mysql(head: bytes) -> bool:
    """Returns True if the beginning of a dump is of MySQL or MariaDB, where a backslash escapes in every string."""
    return _MARK_OF_MYSQL.search(head) is not None


@contextmanager
def open_dump(path: Path) -> Iterator[tuple[IO[bytes], str]]:
    """Opens a dump, and yields it with its encoding; UTF-16, which PowerShell writes, is read as UTF-8."""
    encoding = encoding_of(path)
    with open_bytes(path) as stream:
        if encoding == "utf-16":
            yield io.BufferedReader(_AsUtf8(stream, path.name)), "utf-8"
        else:
            yield stream, encoding


class _AsUtf8(io.RawIOBase):
    """Reads a stream of UTF-16 as UTF-8. A jump back begins anew, and one ahead reads up to there."""

    def __init__(self, stream: IO[bytes], file: str) -> None:
        self._stream, self._file = stream, file
        self._begin()

    def _begin(self) -> None:
        self._stream.seek(0)
        self._decoder = codecs.getincrementaldecoder("utf-16")()
        self._ready, self._at = b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and (data := self._stream.read(HEAD_BYTES)):
            try:
                self._ready = self._decoder.decode(data).encode()
            except UnicodeError:
                raise LoadError("the file is not UTF-16 text: save it anew as UTF-8", self._file) from None
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a byte from the beginning; only the present place is known otherwise."""
        offset = self._at + offset if whence == io.SEEK_CUR else offset
        if offset < self._at:
            self._begin()
        while self._at < offset and self.readinto(bytearray(min(offset - self._at, HEAD_BYTES))):
            pass
        return self._at


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, without its semicolon. `rows` are the lines of data below a COPY of PostgreSQL.

    `line`: the number of the line in which it begins. `place`: the position of the first byte of a line from which it
    can be read anew, and that line's number; the statements of one line share it.
    """

    text: str = field(repr=False)
    line: int
    place: tuple[int, int]
    rows: Iterator[tuple[int, str]] | None = None


def statements(
    stream: IO[bytes], file: str, encoding: str, is_mysql: bool, place: tuple[int, int] = (0, 1)
) -> Iterator[Statement]:
    """Yields the statements of a dump from `place`, a byte and the line that it begins. Raises LoadError.

    What stands between `DELIMITER` lines of MySQL, such as a procedure, the inner statements of triggers and commands
    of psql and SQL*Plus are passed over.
    """
    lines, splitter, is_passed = _lines(stream, file, encoding, *place), _Splitter(file, is_mysql), False
    is_inside = False
    for number, at, text in lines:
        if splitter.is_blank:
            first = text.split(None, 1)[:1]
            if first and first[0].upper() == "DELIMITER":
                is_passed = text.split()[1:] != [";"]
                continue
            if is_passed or text.startswith("\\") or _OF_SQL_PLUS.match(text):
                continue
        for statement in splitter.feed(text, number, at):
            is_inside = _END.match(statement.text) is None if is_inside else _opens_a_body(statement.text)
            if _COPY.match(statement.text):
                rows = _until_end(lines)
                yield replace(statement, rows=rows)
                for _ in rows:
                    pass
            elif not is_inside:
                yield statement
    yield from splitter.last()


_BODY: Final = re.compile(r"\sBEGIN\s", re.IGNORECASE)
_ATOMIC_BODY: Final = re.compile(r"\sBEGIN\s{1,9}ATOMIC\s", re.IGNORECASE)


def _opens_a_body(text: str) -> bool:
    """Returns True for the beginning of a trigger or function whose body is statements, up to an END."""
    first = text[:200].upper().split()[:5]
    if first[:1] != ["CREATE"]:
        return False
    body = _BODY if "TRIGGER" in first else _ATOMIC_BODY
    return "$" not in text and body.search(text) is not None


def _lines(stream: IO[bytes], file: str, encoding: str, start: int, line: int) -> Iterator[tuple[int, int, str]]:
    stream.seek(start)
    while read := stream.readline(MAX_LINE_CHARS + 1):
        if len(read) > MAX_LINE_CHARS:
            raise LoadError(TOO_LONG_LINE, file, line)
        try:
            yield (
                line,
                start,
                read.decode(encoding if start else f"{encoding}-sig" if encoding == "utf-8" else encoding),
            )
        except UnicodeDecodeError:
            raise LoadError(f"the file is not {encoding.upper()} text: save it anew as UTF-8", file, line) from None
        start, line = start + len(read), line + 1


def _until_end(lines: Iterator[tuple[int, int, str]]) -> Iterator[tuple[int, str]]:
    for number, _, text in lines:
        row = text.rstrip("\r\n")
        if row == END_OF_COPY:
            return
        yield number, row


class _Splitter:
    """Gathers lines until a statement ends: at a semicolon outside of strings, names and comments."""

    def __init__(self, file: str, is_mysql: bool) -> None:
        self._file, self._is_mysql = file, is_mysql
        inside, hash_sign = (ESCAPED, "#") if is_mysql else (DOUBLED, "")
        self._plain = re.compile(
            rf"(?:[^'\"`;/$\-eE{hash_sign}]++|[eE](?!')|'{inside}'|[eE]'{ESCAPED}'|\"[^\"]*+\"|`[^`]*+`"
            r"|-(?!-)|/(?!\*)|/\*(?:(?!\*/).)*+\*/|\$(?!\w*\$))*+",
            re.DOTALL,
        )
        self._held: list[str] = []
        self._size, self._open = 0, ""
        self._line, self._place = 1, (0, 1)

    @property
    def is_blank(self) -> bool:
        """True between two statements."""
        return not self._held and not self._open

    def feed(self, text: str, line: int, start: int) -> Iterator[Statement]:
        """Takes the next line, and yields the statements that end in it. Raises LoadError at one that is too long."""
        at = 0
        self._place = (start, line) if self.is_blank else self._place
        while at < len(text):
            end, after, is_end = self._cut(text, at)
            piece = text[at:end]
            if piece.strip() or self._held:
                self._line = self._line if self._held else line
                self._held.append(piece)
                self._size += len(piece)
            if self._size > MAX_STATEMENT_CHARS:
                reason = f"one statement of more than {MAX_STATEMENT_CHARS >> 20} million characters"
                raise LoadError(reason, self._file, line)
            if is_end:
                yield from self.rest()
            at = after

    def rest(self) -> Iterator[Statement]:
        """Yields what was gathered, if it is a statement."""
        if self._held:
            yield Statement("".join(self._held), self._line, self._place)
        self._held, self._size = [], 0

    def last(self) -> Iterator[Statement]:
        """Yields the last statement of a file. Raises LoadError if what it opened is not closed."""
        if self._open:
            raise LoadError(NOT_CLOSED.format(self._open[-1]), self._file, self._line)
        yield from self.rest()

    def _cut(self, text: str, at: int) -> tuple[int, int, bool]:
        """Returns where a piece of a line ends, where the next one begins, and True if a statement ends there."""
        if self._open:
            return self._to_the_end_of_what_is_open(text, at)
        found = self._plain.match(text, at)
        end = found.end() if found else at
        two = text[end : end + 2]
        if not two or two[0] == ";":
            return end, end + 1, bool(two)
        if two == "--" or two[0] == "#":
            return end, len(text), False
        tag = _TAG.match(text, end)
        opened = tag.group() if tag else two.lower() if two.lower() in ("e'", "/*") else two[0]
        self._open = "e'" if opened == "'" and self._is_mysql else opened
        return end + len(opened), end + len(opened), False

    def _to_the_end_of_what_is_open(self, text: str, at: int) -> tuple[int, int, bool]:
        inside = {"'": DOUBLED, "e'": ESCAPED}.get(self._open)
        if inside is not None:
            found = re.compile(inside, re.DOTALL).match(text, at)
            end = (found.end() if found else at) + 1
        else:
            closing = "*/" if self._open == "/*" else self._open
            place = text.find(closing, at)
            end = place + len(closing) if place >= 0 else len(text) + 1
        if end <= len(text):
            self._open = ""
        return min(end, len(text)), min(end, len(text)), False


_SKIPPED: Final = r"(?:\s|--[^\n]*+|/\*(?:(?!\*/).)*+\*/)*+"
_TOKENS: Final = {
    is_mysql: re.compile(
        _SKIPPED
        + rf"(?P<token>(?:[nNxXbB]|_\w++\s*+)?'{inside}'|[eE]'{ESCAPED}'|\"(?:[^\"]|\"\")*+\"|`(?:[^`]|``)*+`"
        + r"|\[[^\]]++\]|[^\W\d][\w$]*+|\d[\w.]*+(?:[+-]\d++)?|.)",
        re.DOTALL,
    )
    for is_mysql, inside in ((True, ESCAPED), (False, DOUBLED))
}


def tokens_of(text: str, is_mysql: bool, at: int = 0) -> Iterator[tuple[str, int]]:
    """Yields the tokens of a statement from `at`, each with the position behind it; comments are left out."""
    pattern = _TOKENS[is_mysql]
    while (found := pattern.match(text, at)) is not None:
        at = found.end()
        yield found["token"], at


def name_in(token: str) -> str:
    """Returns the name that a token writes, without its quotes."""
    if token[:1] in '"`' and len(token) > 1:
        return token[1:-1].replace(token[0] * 2, token[0])
    return token[1:-1] if token[:1] == "[" else token
