"""The guard: reads every byte of a request before it leaves, and blocks it if it holds a name or value."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import Final
from unicodedata import category
from urllib.parse import unquote

from app.privacy.safe_text import Egress, PrivacyError, Segment
from app.privacy.visible_text import Visible
from app.privacy.words.lexicon import APOSTROPHE, CONTRACTIONS, SYMBOLS, Lexicon, words_in
from kg_store.names.index import NameIndex
from kg_store.text.normalise import normalise, skeleton_of
from kg_store.text.number_expressions import in_figures

MIN_STATIC_BYTES: Final = 16
"""Shorter segments are always read, because a name could be split around one. Chosen by hand."""

MAX_READINGS: Final = 64
_BORDER = "\n|\n"  # Nothing that a name could run across, as normalising would make one space of it.
_SHORT_ESCAPES: Final = (
    ('\\"', '"'), ("\\n", "\n"), ("\\t", "\t"), ("\\/", "/"),
    ("\\'", "'"), ("\\r", "\r"), ("\\b", "\b"), ("\\f", "\f"),
)  # fmt: skip
_LONG_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BlockedError(PrivacyError):
    """A request was not sent. `hits`: the number of distinct names in it; 0 if it could not be read at all."""

    def __init__(self, hits: int) -> None:
        self.hits = hits
        super().__init__(f"the guard blocked a request: {hits} names or values")


class StaticSegments:
    """Fixed text of the service, known by digest: besides pseudonyms the only text that the guard skips."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def register(self, data: bytes) -> Segment:
        """Registers fixed text; only text written before any graph was loaded may be registered."""
        self._digests.add(sha256(data).digest())
        return Segment(data, static=True)

    def __contains__(self, data: bytes) -> bool:
        return sha256(data).digest() in self._digests


class Guard:
    """Checks requests.

    Promise: what `clear` accepts holds no words but pseudonyms and those that `lexicon` permits; and among these no
    name, alias or protected value of `names` between word borders, and no name in a form by which the linker would
    recognise it (docs/linking.md), plain or escaped (JSON, percent, HTML, several times over), except public words.
    Condition: `names` is the index of the graph that the request is about, with its public words marked, and `lexicon`
    belongs to that graph. Not promised: everyday words alone that are part of a name.
    """

    def __init__(self, names: NameIndex, statics: StaticSegments, lexicon: Lexicon) -> None:
        self._names, self._statics, self._lexicon = names, statics, lexicon

    def clear(self, egress: Egress, issued: frozenset[str]) -> str:
        """Returns the SHA-256 of the body in hex.

        Raises BlockedError on a hit, and whenever the body cannot be read.
        """
        try:
            hits = self._hits(egress, issued)
            digest = digest_of(egress)
        except Exception:
            # Whatever went wrong in here, nobody has read the body to its end. The cause may quote it: dropped.
            raise BlockedError(0) from None
        if hits:
            raise BlockedError(len(hits))
        return digest

    def _hits(self, egress: Egress, issued: frozenset[str]) -> set[str]:
        found: set[str] = set()
        for reading in readings(self._dynamic_text(egress)):
            found.update(self._secret(reading, issued))
            if _undo_json(reading) != reading:
                continue  # Its escapes would form words of their own: `nIn` of a line end and "In".
            # Letters that look like others, and numbers in words: read where nothing was found as it stands.
            if not found:
                for plain in {skeleton_of(reading), in_figures(reading)} - {reading}:
                    found.update(self._secret(plain, issued))
            # Names in other forms.
            near = (hit for hit in self._names.find_inexact(reading, issued) if not hit.public)
            found.update({normalise(reading[hit.start : hit.end]).text for hit in near})
            if not found:
                found.update(self._without_permission(reading, issued))
        return found

    def _secret(self, reading: str, issued: frozenset[str]) -> Iterator[str]:
        hits = self._names.find_secret(reading)
        return (hit.text for hit in hits if reading[hit.start : hit.end] not in issued)

    def _without_permission(self, reading: str, issued: frozenset[str]) -> Iterator[str]:
        """Words that are neither issued pseudonyms nor in the lexicon."""
        # What nobody sees parts no word for a reader.
        for word in {word[0] for word in words_in(Visible.of(reading).text)} - issued:
            if not self._may_leave(word, issued):
                yield word
        if not reading.isascii():
            yield from SYMBOLS.findall(reading)

    def _may_leave(self, word: str, issued: frozenset[str]) -> bool:
        """True if the word may leave, also with an ending (`Eq7f2k's`), or beside letters of a script
        without spaces.
        """
        if self._lexicon.permits_in_any_language(word.lower()) or (word.isascii() and word.isdecimal()):
            return True
        pseudonym, *endings = APOSTROPHE.split(word)
        if endings:
            permits = self._lexicon.permits_in_any_language
            may_end = (each in issued or each.lower() in CONTRACTIONS or permits(each.lower()) for each in endings)
            return all(may_end) and (pseudonym in issued or permits(pseudonym.lower()))
        runs = ["".join(run) for _, run in groupby(word, key=lambda letter: category(letter) == "Lo")]
        return len(runs) > 1 and all(run in issued or self._may_leave(run, issued) for run in runs)

    def _dynamic_text(self, egress: Egress) -> str:
        """The variable text of a request; neighbouring segments are joined, so that no name hides by being split over
        two.
        """
        border = _BORDER.encode()
        parts = (border if self._is_static(segment) else segment.data for segment in egress.segments)
        return b"".join(parts).decode("utf-8", errors="strict")

    def _is_static(self, segment: Segment) -> bool:
        return segment.static and len(segment.data) >= MIN_STATIC_BYTES and segment.data in self._statics


def digest_of(egress: Egress) -> str:
    """Returns the SHA-256 of the whole body, in hex."""
    return sha256(egress.body).hexdigest()


def readings(text: str) -> Iterator[str]:
    """Yields `text` as it is and with every combination of escapes undone. Raises ValueError if there is no end of
    them.
    """
    seen = {text}
    queue = [text]
    while queue:
        reading = queue.pop(0)
        yield reading
        for undo in _UNDOERS:
            plain = undo(reading)
            if plain not in seen:
                seen.add(plain)
                queue.append(plain)
        if len(seen) > MAX_READINGS:
            raise ValueError("the request is escaped too many times")


def _undo_json(text: str) -> str:
    if "\\" not in text:
        return text
    # Backslashes pair from the left, so what stands between two pairs has single ones alone.
    plain = "\\".join(map(_without_escapes, text.split("\\\\")))
    if _SURROGATE.search(plain):
        plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return plain


def _without_escapes(text: str) -> str:
    for escape, letter in _SHORT_ESCAPES:
        text = text.replace(escape, letter)
    return _LONG_ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= 0x10FFFF else "\ufffd"


_UNDOERS: Final[tuple[Callable[[str], str], ...]] = (
    _undo_json,
    partial(unquote, errors="replace"),
    lambda text: text.replace("+", " "),
    html.unescape,
)
