"""Defines the guard: it reads every byte of a request before it leaves, and blocks it if it holds a name or value."""

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
from app.privacy.words.lexicon import APOSTROPHE, CONTRACTIONS, Lexicon, base_of, words_in
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.names.index import NameIndex
from kg_store.text.normalise import normalise, skeleton_of
from kg_store.text.number_expressions import in_figures
from kg_store.text.symbols import SYMBOLS
from kg_store.text.words import without_accents

MIN_STATIC_BYTES: Final = 16
"""Static segments shorter than this are read as well, because a name could be split around one. Chosen by hand."""

MAX_READINGS: Final = 64
BORDER: Final = "\n|\n"  # Stands for a static segment. White space alone would not do, because names may hold spaces.
_SHORT_ESCAPES: Final = (
    ('\\"', '"'), ("\\n", "\n"), ("\\t", "\t"), ("\\/", "/"),
    ("\\'", "'"), ("\\r", "\r"), ("\\b", "\b"), ("\\f", "\f"),
)  # fmt: skip
_LONG_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BlockedError(PrivacyError):
    """The guard blocked a request, so it was not sent.

    `hits`: the number of distinct names or forbidden words in it; 0 if it could not be read at all.
    """

    def __init__(self, hits: int) -> None:
        self.hits = hits
        super().__init__(f"the guard blocked a request: {hits} names or values")


class StaticSegments:
    """The fixed texts of the service, known by their SHA-256. Beside pseudonyms, the guard skips no other text."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def register(self, data: bytes) -> Segment:
        """Registers fixed text and returns it as a static segment.

        Only text that was written before any graph was loaded may be registered, as it can't hold a private name.
        """
        self._digests.add(sha256(data).digest())
        return Segment(data, static=True)

    def __contains__(self, data: bytes) -> bool:
        return sha256(data).digest() in self._digests


class Guard:
    """Checks each request before it leaves.

    Promise: a request that `clear` accepts holds, beside static segments, only pseudonyms and words that `lexicon`
    permits. Among these words is no name, alias or protected value of `private`, or else of `names`, and no form of a
    name that the linker would recognise (docs/linking.md), plain or escaped (JSON, percent, HTML, several times over),
    except public words.
    A public segment holds the name of a node that `private` lacks, as a whole, and no name of `private` in any form,
    no word of one that is not common, and some word that is of none.
    Condition: `names` is the index of the graph that the request is about, with its public words marked, `lexicon`
    belongs to that graph, and only files that its owner declared public tell of what `private` lacks; without
    `private` nothing is public. Not promised: to find an everyday word that is only a part of a name.
    """

    def __init__(
        self, names: NameIndex, statics: StaticSegments, lexicon: Lexicon, private: NameIndex | None = None
    ) -> None:
        self._all_names, self._statics, self._lexicon, self._private = names, statics, lexicon, private
        self._names = private or names

    def clear(self, egress: Egress, issued: frozenset[str]) -> str:
        """Checks a request and returns the SHA-256 of its body in hex; `issued`: the pseudonyms that it may hold.

        Raises BlockedError if it holds a name or forbidden word, and whenever the body cannot be read.
        """
        try:
            hits = self._hits(egress, issued)
            digest = digest_of(egress)
        except Exception:
            # After any error the body was not read to its end. The cause is dropped, because it may quote the body.
            raise BlockedError(0) from None
        if hits:
            raise BlockedError(len(hits))
        return digest

    def is_public_term(self, words: str) -> bool:
        """Returns True if `words` are the name of a public node, and no private name stands in them."""
        if self._private is None:
            return False
        forms = [form for form in readings(words) if _undo_json(form) == form]
        if not any(hit.start == 0 and hit.end == len(form) for form in forms for hit in self._all_names.find(form)):
            return False
        plain = {*forms, *map(skeleton_of, forms), *map(in_figures, forms)}
        return not any(self._holds_private(self._private, text) or self._is_of_names(text) for text in plain)

    def _is_of_names(self, text: str) -> bool:
        """Returns True if a word of a private name stands in `text` that is no common word, or no other word does."""
        words = [without_accents(base_of(match[0].lower())) for match in words_in(text)]
        held = [word for word in words if self._lexicon.names.has(word)]
        return bool(held) and (len(held) == len(words) or not all(map(in_lexicon, held)))

    @staticmethod
    def _holds_private(private: NameIndex, text: str) -> bool:
        # A private name that is a common word ("may") is no secret in a text, but it would be one as a term.
        exact = (hit.protected for hit in (*private.find(text), *private.find_adjectives(text)))
        return any(exact) or any(not hit.public for hit in private.find_inexact(text))

    def _hits(self, egress: Egress, issued: frozenset[str]) -> set[str]:
        public = {segment.data.decode() for segment in egress.segments if segment.public}
        found = {words for words in public if not self.is_public_term(words)}
        for reading in readings(self._dynamic_text(egress)):
            found.update(self._secret(reading, issued))
            if _undo_json(reading) != reading:
                continue  # With JSON escapes in it, a line end and "In" would be read as the word `nIn`.
            # If nothing was found, the text is read again with look-alike letters and number words replaced.
            if not found:
                for plain in {skeleton_of(reading), in_figures(reading)} - {reading}:
                    found.update(self._secret(plain, issued))
            # Names in other forms, such as other endings or spellings.
            near = (hit for hit in self._names.find_inexact(reading, issued) if not hit.public)
            found.update({normalise(reading[hit.start : hit.end]).text for hit in near})
            if not found:
                found.update(self._without_permission(reading, issued))
        return found

    def _secret(self, reading: str, issued: frozenset[str]) -> Iterator[str]:
        hits = self._names.find_secret(reading)
        return (hit.text for hit in hits if reading[hit.start : hit.end] not in issued)

    def _without_permission(self, reading: str, issued: frozenset[str]) -> Iterator[str]:
        """Yields the words that are neither issued pseudonyms nor permitted by the lexicon, and forbidden symbols."""
        # Invisible characters are removed first, because they do not divide a word for a reader.
        for word in {word[0] for word in words_in(Visible.of(reading).text)} - issued:
            if not self._may_leave(word, issued):
                yield word
        if not reading.isascii():
            yield from SYMBOLS.findall(reading)

    def _may_leave(self, word: str, issued: frozenset[str]) -> bool:
        """Returns True if the lexicon permits the word.

        A pseudonym may have an ending (`Eq7f2k's`) or touch letters of a script that writes no spaces.
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
        """Returns the text of a request with a border in place of each static or public segment.

        Neighbouring variable segments are joined, so that a name split over two is found.
        """
        border = BORDER.encode()
        parts = (border if segment.public or self._is_static(segment) else segment.data for segment in egress.segments)
        return b"".join(parts).decode("utf-8", errors="strict")

    def _is_static(self, segment: Segment) -> bool:
        return segment.static and len(segment.data) >= MIN_STATIC_BYTES and segment.data in self._statics


def digest_of(egress: Egress) -> str:
    """Returns the SHA-256 of the whole body, in hex."""
    return sha256(egress.body).hexdigest()


def readings(text: str) -> Iterator[str]:
    """Yields `text` as it is and with every combination of escapes undone.

    Raises ValueError if there are more than MAX_READINGS.
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
    # Two backslashes in a row, counted from the left, are one escaped backslash; other parts have only single ones.
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
