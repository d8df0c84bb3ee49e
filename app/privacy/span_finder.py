"""Finds the spans of one turn that must not leave as they are, as positions in the original text, without overlaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

from app.privacy.name_recogniser import Recogniser
from app.privacy.patterns import find_patterns
from app.privacy.pseudonyms import PseudonymTable, shaped_in, words_in
from app.privacy.visible_text import Visible
from app.privacy.words.grammar import Stand
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.name_slots import start_with_titles
from app.privacy.words.unknown_words import SchemaReading, Taken, schema_readings, unknown_spans
from kg_store.names.fuzzy_search import Fits
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker, SearchCache, has_capitals
from kg_store.names.other_forms import Mention, find_near_spans, masked
from kg_store.terms import ValueKind
from kg_store.text.relative_dates import find_shortened_dates
from kg_store.text.symbols import SYMBOLS


class SpanSource(IntEnum):
    """The finder of a span. If two find the same span, the one with the smaller number is taken."""

    PSEUDONYM = 0
    MENTION = 1
    PROTECTED = 2
    PATTERN = 3
    LITERAL = 4
    FORGED = 5
    UNKNOWN = 6
    WORD = 7
    """An unknown word in lower case: it may be part of what the question asks, or a name."""

    RELATION = 8


NAMES: Final = (SpanSource.MENTION, SpanSource.PROTECTED, SpanSource.UNKNOWN, SpanSource.WORD)
"""The sources of spans that may be somebody's name."""


@dataclass(frozen=True, slots=True)
class Span:
    """text[start:end] of a turn.

    `mids` are set for a mention, `value_kind` if it names a value; `inexact`: the graph spells the name differently.
    """

    start: int
    end: int
    source: SpanSource
    mids: tuple[int, ...] = field(default=(), repr=False)
    value_kind: ValueKind | None = None
    inexact: bool = False
    lexical: str = field(default="", repr=False)
    """The value of a number or date that was written in words or other digits, in ASCII digits."""


def places(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Returns the start and end of each span."""
    return [(span.start, span.end) for span in spans]


def choose(text: str, spans: Iterable[Span]) -> list[Span]:
    """Returns the spans to keep where several overlap: the longer one, of equally long ones that of smaller source.

    Of a span that overlaps a kept one, the part outside of it becomes a literal, so that it stays hidden too.
    """
    covered = bytearray(len(text))
    chosen: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.source, span.start)):
        chosen += uncovered(text, span, covered)
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    return chosen


def uncovered(text: str, span: Span, covered: bytearray) -> Iterator[Span]:
    """Yields `span` if nothing covers it, else its uncovered parts as literals without the punctuation around them."""
    if not any(covered[span.start : span.end]):
        yield span
        return
    start = span.start
    for end in range(span.start, span.end + 1):
        if end == span.end or covered[end]:
            piece = text[start:end]
            inner = piece.strip("".join(letter for letter in piece if not letter.isalnum()))
            if inner:
                begin = start + piece.index(inner)
                yield Span(begin, begin + len(inner), SpanSource.LITERAL)
            start = end + 1


def cover(text: str, spans: Iterable[Span]) -> bytearray:
    """Returns one byte for each character of `text`: 1 if a span covers it."""
    covered = bytearray(len(text))
    for span in spans:
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    return covered


_INITIAL = re.compile(r"(?<=\|)\.?[ ]([^\W\d_aeioy])\.?[ ](?=\|)", re.IGNORECASE)
"""Matches a single letter between two masked parts, except vowels and y, most of which may be words ("a", "y")."""

_PARTING = re.compile(r"[+/;|\\*`~<>&]|(?<=\w)[.,](?=\w)")
"""Signs that separate words in addresses, paths, tables, logins and markup: rosalind.rose, **rosalind** rose."""

_MAY_PART = re.compile(r"[+/;|\\*`~<>&]|[.,]\w")
"""Matches wherever `_PARTING` does, in a third of the time."""

# A number word joined to digits, which are masked (`|`) by then: twelve.1.1949.
_TOUCHING, _TOUCHED = re.compile(r"[./:-]\|"), re.compile(r"\|[./:-]\Z")

_SCHEMES = frozenset({"http", "https", "ftp", "www", "mailto"})
"""Parts of an address that stay when the rest is replaced, because they reveal nothing."""


_CLITIC: Final = re.compile(r"[^\W\d_]['\u2019]s\Z")
"""Matches the end of "what's": a size S is not meant by it."""


def _is_clitic(text: str, span: Span | Mention) -> bool:
    return _CLITIC.match(text, max(0, span.start - 2), span.end) is not None


@dataclass(frozen=True, slots=True)
class Found:
    """The spans of a text from every finder but the lexicon, before the other words are judged.

    `issued`: the pseudonyms of the conversation. `cache`: results of the name search, kept for later searches.
    """

    text: str = field(repr=False)
    issued: Collection[str] = field(repr=False)
    spans: Sequence[Span] = field(repr=False)
    cache: SearchCache = field(repr=False)


class SpanFinder:
    """Combines all finders of what must not leave: linker, name index, patterns, literals and lexicon."""

    def __init__(
        self,
        linker: EntityLinker,
        names: NameIndex,
        lexicon: Lexicon,
        regions: Sequence[str],
        masks: Collection[str] = (),
        recogniser: Recogniser | None = None,
    ) -> None:
        """`names`: those that the guard blocks. `masks`: the opaque words of the graph's masked relations; they occur
        in answers and may stay.
        """
        self._linker, self._names, self._lexicon, self._regions = linker, names, lexicon, regions
        self._masks, self._recogniser = frozenset(masks), recogniser

    def read(self, visible: Visible, original: str, table: PseudonymTable, fits: Fits) -> Found:
        """Finds all spans of `visible.text` except words that the lexicon does not permit.

        The spans include this conversation's pseudonyms; a word that only has their form becomes a FORGED span. `fits`
        keeps what the request found around its words.
        """
        text, issued = visible.text, table.issued
        words = list(shaped_in(text))
        kept = [Span(word.start, word.end, SpanSource.PSEUDONYM) for word in words if word.word in issued]
        if self._masks:
            kept += [Span(w.start, w.end, SpanSource.RELATION) for w in words_in(text) if w.word in self._masks]
        forged = [Span(word.start, word.end, SpanSource.FORGED) for word in words if word.word not in issued]
        # A literal or pattern may overlap a pseudonym: `Eq7f2k/Ex81zp`, `Vx81zp://Eq7f2k`.
        covered = cover(text, kept)
        cache = SearchCache(fits)
        literals = [piece for literal in _literals(text, cache) for piece in uncovered(text, literal, covered)]
        found = [Span(span.start, span.end, SpanSource.PATTERN) for span in find_patterns(text, self._regions)]
        pieces = [piece for pattern in found for piece in uncovered(text, pattern, covered)]
        patterns = [piece for piece in pieces if text[piece.start : piece.end].casefold() not in _SCHEMES]
        named = [
            *self._mentions(visible, original, cache),
            *self._protected(text, cache),
            *self._protected_in_disguise(visible, cache),
        ]
        named = [span for span in named if not _is_clitic(text, span)]
        return Found(text, issued, (*kept, *named, *patterns, *literals, *forged), cache)

    def unmarked(self, found: Found) -> list[Span]:
        """Returns everyday words that may name things; meant for a text without capitals that names nothing else."""
        named = self._linker.find_unmarked(found.text, self._lexicon.public, found.cache)
        return [_span_of(each) for each in named if not _is_clitic(found.text, each)]

    def settle(self, found: Found, more: Sequence[Span] = ()) -> list[Span]:
        """Returns the spans to replace, in order and without overlaps.

        They are chosen from `found` and `more`, and from the words that the lexicon does not permit.
        """
        text = found.text
        chosen = choose(text, [*found.spans, *more])
        chosen += self._recognised(text, chosen)
        unknown = [unknown_span(text, *span) for span in unknown_spans(text, _taken(text, chosen), self._lexicon)]
        chosen += [span for span in unknown if span.source is SpanSource.UNKNOWN]
        chosen += self._near_names(found, chosen)
        chosen += _left_of([span for span in unknown if span.source is SpanSource.WORD], text, chosen)
        chosen += _symbols(text, chosen)
        chosen += _initials(text, chosen)
        return self._with_titles(text, sorted(chosen, key=lambda span: span.start))

    def _with_titles(self, text: str, spans: Sequence[Span]) -> list[Span]:
        """Returns the spans, with each name, known or not, extended over the titles in front of it."""
        found: list[Span] = []
        for span in spans:
            is_name = span.source in NAMES and span.value_kind in (None, ValueKind.TEXT)
            start = start_with_titles(text, span.start, self._lexicon) if is_name else span.start
            if start == span.start:
                found.append(span)  # The spans do not overlap.
            else:
                found = [*(each for each in found if each.end <= start), replace(span, start=start)]
        return found

    def categories(self, read: Found, spans: Sequence[Span], kinds: Collection[str], *, sorts: bool) -> list[Span]:
        """Returns everyday words outside of `spans` that are values of the graph; with `sorts` also names of things
        that others share, `kinds` being the words of the graph's kinds.
        """
        text, cache = read.text, read.cache
        covered = cover(text, spans)
        found = self._linker.find_categories(text, self._lexicon.public, cache)
        found += self._linker.find_sorts(text, self._lexicon.public, cache, kinds) if sorts else []
        return [
            Span(each.start, each.end, SpanSource.MENTION, each.mids, each.value_kind)
            for each in found
            if not any(covered[each.start : each.end]) and not _is_clitic(text, each)
        ]

    def kinds(self, found: Found, spans: Sequence[Span], is_concept: Callable[[str], bool]) -> list[Span]:
        """Returns common nouns that name a well-known thing (one with many facts): "guitarists" for Guitarist.

        Nouns inside of names and pseudonyms in `spans`, and nouns for which `is_concept` is true, are left out.
        """
        taken = [(each.start, each.end) for each in spans if each.mids or each.source is SpanSource.PSEUDONYM]
        named = self._linker.find_common(found.text, self._lexicon.public, taken, is_concept)
        return [Span(each.start, each.end, SpanSource.MENTION, each.mids) for each in named]

    def readings(self, found: Found, spans: Sequence[Span]) -> list[SchemaReading]:
        """Returns corrections of the unknown lower-case words among `spans` to words of the shown schema."""
        words = {(span.start, span.end) for span in spans if span.source is SpanSource.WORD}
        others = (span for span in spans if span.source is not SpanSource.WORD)
        return schema_readings(found.text, words, _taken(found.text, others), self._lexicon)

    def _mentions(self, visible: Visible, original: str, cache: SearchCache) -> Iterator[Span]:
        """Yields mentions in the visible text, in the original and in its look-alike Latin letters.

        The original matters because an invisible character may separate two words or hide inside one.
        """
        for each in self._linker.find_mentions(visible.text, cache):
            yield _span_of(each)
        if visible.origins is not None:
            for each in self._linker.find_mentions(original, cache):
                start, end = visible.span(each.start, each.end)
                # A match inside the characters of an escape (&#116;) is no part of the visible text.
                if visible.text[start:end] == Visible.of(original[each.start : each.end]).text:
                    yield replace(_span_of(each), start=start, end=end)
        if (plain := visible.skeleton()) is not None:
            for each in self._linker.find_mentions(plain.text, cache):
                start, end = plain.original_span(each.start, each.end)
                yield replace(_span_of(each), start=start, end=end)

    def _recognised(self, text: str, chosen: Sequence[Span]) -> list[Span]:
        """Returns the names that only the owner's recogniser finds."""
        if self._recogniser is None:
            return []
        found = choose(text, (Span(*span, SpanSource.UNKNOWN) for span in self._recogniser.names_in(text)))
        covered = cover(text, chosen)
        return [piece for span in found for piece in uncovered(text, span, covered)]

    def _near_names(self, text: Found, chosen: Sequence[Span]) -> list[Span]:
        """Returns spans that the guard would still block as another form of a name, such as part of a title."""
        found = find_near_spans(self._names, text.text, places(chosen), text.issued, text.cache.fits)
        return [Span(*span, SpanSource.UNKNOWN) for span in found]

    def _protected(self, text: str, cache: SearchCache) -> Iterator[Span]:
        """Yields names and values that the guard would block although the policy does not link them.

        The text is searched twice: as it is, and with the signs between its words replaced by spaces.
        """
        parted = _PARTING.sub(" ", text) if _MAY_PART.search(text) else text
        is_shared = self._names is self._linker.index
        found = cache.hits_in(text, self._names) if is_shared else self._names.find(text)
        hits = self._names.secret_among(found, text)
        for hit in [*hits, *(self._names.find_secret(parted) if parted != text else ())]:
            kind = None if hit.kind == "name" else hit.value_kind or ValueKind.TEXT
            yield Span(hit.start, hit.end, SpanSource.PROTECTED, hit.mids, kind)

    def _protected_in_disguise(self, visible: Visible, cache: SearchCache) -> Iterator[Span]:
        """Yields the spans of `_protected` that appear when look-alike letters are read as Latin ones."""
        if (plain := visible.skeleton()) is not None:
            for span in self._protected(plain.text, cache):
                start, end = plain.original_span(span.start, span.end)
                yield replace(span, start=start, end=end)


def _span_of(named: Mention) -> Span:
    return Span(named.start, named.end, SpanSource.MENTION, named.mids, named.value_kind, named.inexact)


def _stand(text: str, span: Span) -> Stand:
    """Returns the grammatical role of a replaced span."""
    if span.source in (SpanSource.UNKNOWN, SpanSource.WORD, SpanSource.FORGED) or span.inexact:
        return Stand.UNKNOWN
    if span.source is SpanSource.PSEUDONYM:
        return Stand.VALUE if text[span.start] == "V" else Stand.NAME
    is_name = span.source in (SpanSource.MENTION, SpanSource.PROTECTED) and span.value_kind in (None, ValueKind.TEXT)
    return Stand.NAME if is_name else Stand.VALUE


def _taken(text: str, spans: Iterable[Span]) -> list[Taken]:
    return [(span.start, span.end, _stand(text, span)) for span in spans]


def unknown_span(text: str, start: int, end: int) -> Span:
    """Returns the span of words that are neither in the graph nor permitted to leave."""
    return Span(start, end, SpanSource.UNKNOWN if has_capitals(text[start:end]) else SpanSource.WORD)


def _left_of(words: Sequence[Span], text: str, chosen: Sequence[Span]) -> list[Span]:
    covered = cover(text, chosen)
    return [replace(piece, source=SpanSource.WORD) for word in words for piece in uncovered(text, word, covered)]


def _symbols(text: str, chosen: Sequence[Span]) -> list[Span]:
    """Returns characters that are neither letters nor punctuation, such as pictures, which may spell a name."""
    if text.isascii():
        return []
    covered = cover(text, chosen)
    found = (Span(*match.span(), SpanSource.UNKNOWN) for match in SYMBOLS.finditer(text))
    return [piece for span in found for piece in uncovered(text, span, covered)]


def _initials(text: str, chosen: Sequence[Span]) -> list[Span]:
    """Returns single letters between two replaced parts: the "f" of "john f fitzgerald", if the rest is replaced."""
    return [Span(*match.span(1), SpanSource.UNKNOWN) for match in _INITIAL.finditer(masked(text, places(chosen)))]


def _literals(text: str, cache: SearchCache) -> list[Span]:
    """Returns numbers and dates in every notation, except everyday number words ("two films", "the second one")."""
    written_out, literals = cache.written_out_in(text), cache.literals_in(text)
    found = [
        Span(each.start, each.end, SpanSource.LITERAL, value_kind=each.kind, lexical=each.lexical)
        for each in find_shortened_dates(text, [*written_out, *literals])
    ]
    found += [Span(span.start, span.end, SpanSource.LITERAL) for span in literals]
    plain = masked(text, places(found))
    for each in written_out:
        # An everyday number word is replaced only if it touches a number in digits, which may be part of a date.
        touches = not each.is_everyday or _TOUCHING.match(plain, each.end) or _TOUCHED.search(plain, 0, each.start)
        if touches and any(map(str.isalnum, plain[each.start : each.end])):
            found.append(Span(each.start, each.end, SpanSource.LITERAL, value_kind=each.kind, lexical=each.lexical))
    return found
