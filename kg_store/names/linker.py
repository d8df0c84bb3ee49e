"""EntityLinker: finds the spans of a user's text that name entities and values of the graph."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import numpy as np

from kg_store.lexicon.lexicon import in_lexicon
from kg_store.names.fuzzy_match import SCORE_OF_PART
from kg_store.names.fuzzy_search import Fits, InexactHit, IsName
from kg_store.names.index import NameHit, NameIndex
from kg_store.names.name_table import SMALL_WORDS
from kg_store.names.name_words import COMMON_WORDS, EmphasisMarks
from kg_store.names.other_forms import (
    MIN_SHARED,
    FactCounts,
    Mention,
    find_common_names,
    find_inflected,
    in_other_number_of,
    longest_mentions,
    merged,
    no_facts,
    nouns_before_kinds,
    nouns_behind_a,
    plural_names_of,
    well_known,
    with_adjectives,
    with_namesakes,
)
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords, is_ordinary, is_plural, is_rare, may_be_proper, stems
from kg_store.text.literals import LiteralSpan, find_literals
from kg_store.text.normalise import is_letters, normalise
from kg_store.text.number_expressions import NumberExpression, find_number_expressions
from kg_store.text.words import words_of

MIN_SCORE = 0.5
"""The least score of a mention; single words of a long title score less and are not linked. Chosen by hand."""

NOTHING_MISSING = 0.98
"""From this score on, all necessary words of the name are present, in order and without slips. Chosen by hand."""

_A_FEW = 3

Span = tuple[int, int]

IsKnownBetter = Callable[[InexactHit], bool]


def choose_inexact(
    text: str,
    exact: Sequence[Span],
    fixed: Collection[Span],
    hits: Iterable[InexactHit],
    is_name: IsName,
    is_known_better: IsKnownBetter = lambda _hit: False,
) -> list[InexactHit]:
    """Returns the hits that are mentions, in order, without overlaps.

    A hit that covers a whole exact name and more (Los Angeles Dogers over Los Angeles) replaces it, unless the exact
    name is in `fixed`. A hit that covers several exact names replaces them only if it is better known than all of them
    (`is_known_better`). A hit on a part of a name is dropped if an unknown name stands beside it: Jennifer Smith is
    not John Smith.
    """
    able = [hit for hit in hits if hit.score >= MIN_SCORE]
    if not able:
        return []
    normalised = normalise(text)
    typed = (word for word in words_of(normalised.text) if word.text not in SMALL_WORDS)
    words = _WordSpans([normalised.span(word.start, word.end) for word in typed])
    able = [hit for hit in able if not hit.public or _is_marked(hit, words, is_name)]
    chosen: list[InexactHit] = []
    taken = bytearray(len(text))
    for hit in sorted(able, key=lambda hit: (hit.start - hit.end, -hit.score, hit.start)):
        if not any(taken[hit.start : hit.end]) and _may_cover(
            text, hit, exact, fixed, words, is_name, is_known_better
        ):
            chosen.append(hit)
            _cover(taken, [(hit.start, hit.end)])
    known = bytearray(len(text))
    _cover(known, [*exact, *((hit.start, hit.end) for hit in chosen if hit.whole)])
    unknown = [span for span in words.spans if span[1] - span[0] > 1 and not any(known[slice(*span)])]
    strangers = _WordSpans([span for span in unknown if is_name(*span)])
    return sorted((hit for hit in chosen if not _is_doubtful(text, hit, strangers)), key=lambda hit: hit.start)


class _WordSpans:
    """The words of a text as spans, in order and without overlaps."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def inside(self, start: int, end: int) -> Sequence[Span]:
        return self.spans[bisect_left(self._starts, start) : bisect_right(self._ends, end)]

    def beside(self, start: int, end: int) -> Iterator[Span]:
        """Yields the gaps between [start, end) and the next word on either side."""
        before, after = bisect_right(self._ends, start), bisect_left(self._starts, end)
        if before:
            yield self._ends[before - 1], start
        if after < len(self.spans):
            yield end, self._starts[after]


def _cover(taken: bytearray, spans: Iterable[Span]) -> None:
    for start, end in spans:
        taken[start:end] = b"\x01" * (end - start)


def _is_marked(hit: InexactHit, words: _WordSpans, is_name: IsName) -> bool:
    """Returns True if the hit, or one word of a whole name, is marked as a name: "a Sparrow hawk"."""
    inside = words.inside(hit.start, hit.end)
    return is_name(hit.start, hit.end) or (hit.whole and any(is_name(*span) for span in inside))


def _is_doubtful(text: str, hit: InexactHit, strangers: _WordSpans) -> bool:
    """Returns True for a part of a name, or a single misspelt word, beside the name of a stranger."""
    if hit.whole and (hit.score >= 1 or not is_letters(text[hit.start : hit.end])):
        return False
    gaps = (text[first:last] for first, last in strangers.beside(hit.start, hit.end))
    return any(gap and not gap.strip(" \t-") for gap in gaps)


def _may_cover(
    text: str,
    hit: InexactHit,
    exact: Sequence[Span],
    fixed: Collection[Span],
    words: _WordSpans,
    is_name: IsName,
    is_known_better: IsKnownBetter,
) -> bool:
    """Returns True if the hit covers no exact name, or may replace those that it covers (see `choose_inexact`)."""
    over = [(start, end) for start, end in exact if start < hit.end and hit.start < end]
    if not over:
        return True
    if any(span in fixed or span[0] < hit.start or hit.end < span[1] for span in over):
        return False
    inside = words.inside(hit.start, hit.end)
    named = [span for span in inside if span[1] - span[0] == 1 or is_name(*span)]
    more = [span for span in inside if all(span[1] <= start or end <= span[0] for start, end in over)]
    if hit.whole and len(over) > 1 and not more and is_known_better(hit):
        return True
    if hit.score >= NOTHING_MISSING:
        return bool(more)
    if hit.whole and not more:
        return len(over) > 1 and all(may_be_proper(text[start:end]) for start, end in inside)
    is_long = hit.whole or len(inside) > _A_FEW
    return any(span in named for span in more) and (is_long or all(span in named for span in more))


MAX_SHARING: Final = 20
"""A word that is part of more names than this identifies none of them (a title, a kind). Chosen by hand."""

_ASKS_WHEN: Final = re.compile(r"\W*(?:when|where|why|how) (?:did|does|do|will|is going to)\b", re.IGNORECASE)
"""Questions whose last word is an action and not a name: "when did X open"."""
_WORD: Final = re.compile(r"\w")

_RARE: Final = re.compile(r"\b[a-zA-Z]{5,}\b")

_INDEFINITE: Final = [[word] for word in "a an any some no every each many several which what other more".split()]


@dataclass(frozen=True, slots=True)
class SearchCache:
    """Results that several searches of one text need; it lives no longer than the request."""

    fits: Fits = field(default_factory=Fits, repr=False)
    hits: dict[str, list[NameHit]] = field(default_factory=dict, repr=False)
    inflected: dict[str, list[NameHit]] = field(default_factory=dict, repr=False)
    literals: dict[str, list[LiteralSpan]] = field(default_factory=dict, repr=False)
    written_out: dict[str, list[NumberExpression]] = field(default_factory=dict, repr=False)

    def hits_in(self, text: str, index: NameIndex) -> list[NameHit]:
        """Returns the same as `index.find`, which is that of the request's graph."""
        return _once(self.hits, text, index.find)

    def literals_in(self, text: str) -> list[LiteralSpan]:
        return _once(self.literals, text, find_literals)

    def written_out_in(self, text: str) -> list[NumberExpression]:
        return _once(self.written_out, text, find_number_expressions)


_FoundT = TypeVar("_FoundT")


def _once(found: dict[str, _FoundT], text: str, find: Callable[[str], _FoundT]) -> _FoundT:
    if text not in found:
        found[text] = find(text)
    return found[text]


@dataclass(frozen=True, slots=True)
class EntityLinker:
    """Finds names in questions without a model: as the graph writes them, then as people type them
    (docs/linking.md).
    """

    index: NameIndex = field(repr=False)
    counts: FactCounts = field(default=no_facts, repr=False)

    def find_mentions(self, text: str, cache: SearchCache | None = None) -> list[Mention]:
        """Returns the names and values that the text mentions, in order, without overlaps.

        Of overlapping mentions the longest is taken, then the leftmost; but the whole content of quotes or [brackets]
        precedes any other. A public word counts only if the text marks it as a name. Numbers and dates are matched by
        meaning, in any notation, in words and in digits of any script. `cache` is that of the request.
        """
        cache = cache or SearchCache()
        marks = EmphasisMarks.of(text)
        literals = cache.literals_in(text)
        written_out = [each for each in cache.written_out_in(text) if not each.is_everyday]
        found = [*self._named(text, marks, literals, cache), *self._meant(text, [*literals, *written_out])]
        is_name = self._telling(text, marks)
        longest = merged(longest_mentions(found, marks.enclosed))
        exact = [self._with_alternatives(text, each, found, marks) for each in longest]
        read = with_adjectives(self.index, text, self._with_inexact(text, exact, marks, is_name, cache.fits), is_name)
        return with_namesakes(self.index, text, read, marks.enclosed, self.counts)

    def find_unmarked(self, text: str, public: PublicWords, cache: SearchCache | None = None) -> list[Mention]:
        """Returns public words that may name entities, for dialogues in which nothing else was found.

        In a text without capitals these are names like England in "what countries does england border". In any text
        they are plurals of everyday words that are names ("dogs", if something is called Dog). Words of the service's
        phrases and question words are left out. On WebQSP this raises the share of questions with all topics found
        from 65 % to 74 %.
        """
        cache = cache or SearchCache()
        if has_capitals(text):
            return self._plural_names(text, public, cache)
        marks = EmphasisMarks.of(text)
        able = (hit for hit in cache.hits_in(text, self.index) if hit.linkable and hit.public)
        hits = [hit for hit in able if hit.kind == "name"]
        named = [hit for hit in hits if _says_much(hit.text, public)]
        exact = merged(
            longest_mentions([Mention(hit.start, hit.end, hit.mids, None) for hit in named], marks.enclosed)
        )
        near = self.index.find_inexact(
            text, (), lambda start, end: _says_much(text[start:end], public), None, cache.fits
        )
        telling = [hit for hit in near if not _is_common_noun(text, hit)]
        chosen = choose_inexact(text, [], (), telling, lambda start, end: _is_telling(text[start:end]))
        read = [Mention(hit.start, hit.end, hit.mids, None, inexact=True) for hit in chosen]
        # Exact names precede inexact ones, unless the exact name is only a part of the inexact one.
        longer = [each for each in read if not any(_within(each, other) for other in exact)]
        kept = [each for each in exact if not any(_overlap(each, other) for other in longer)]
        found = sorted([*kept, *longer], key=lambda mention: mention.start) or self._plural_names(text, public, cache)
        return with_namesakes(self.index, text, found, marks.enclosed, self.counts)

    def _inflected(self, text: str, cache: SearchCache) -> list[NameHit]:
        return _once(cache.inflected, text, lambda text: list(find_inflected(self.index, text)))

    def _plural_names(self, text: str, public: PublicWords, cache: SearchCache) -> list[Mention]:
        """Returns mentions by plural: "dogs", if something is called Dog."""
        found = plural_names_of(self._inflected(text, cache), text)
        hits = [hit for hit in found if hit.linkable and all(map(is_ordinary, hit.text.split()))]
        named = [hit for hit in hits if _says_much(text[hit.start : hit.end], public)]
        return merged([Mention(hit.start, hit.end, hit.mids, None) for hit in named])

    def find_categories(self, text: str, public: PublicWords, cache: SearchCache | None = None) -> list[Mention]:
        """Returns everyday words that equal a text value, in singular or plural: "lost" in "lost shipments"."""
        cache = cache or SearchCache()
        found = [*cache.hits_in(text, self.index), *in_other_number_of(self._inflected(text, cache))]
        hits = [hit for hit in found if hit.linkable and hit.public and hit.kind == "value"]
        mentions = [
            Mention(hit.start, hit.end, hit.mids, ValueKind.TEXT)
            for hit in hits
            if hit.value_kind is ValueKind.TEXT and _says_much(hit.text, public) and not has_capitals(hit.text)
            if not (_ASKS_WHEN.match(text) and not _WORD.search(text, hit.end))
        ]
        return merged(longest_mentions(mentions, EmphasisMarks.of(text).enclosed)) if mentions else []

    def find_sorts(
        self, text: str, public: PublicWords, cache: SearchCache | None = None, kinds: Collection[str] = ()
    ) -> list[Mention]:
        """Returns plurals, nouns behind "a" and nouns before a word of `kinds` that are the name of a thing shared by
        others: "how many violins", "solo walks".
        """
        cache = cache or SearchCache()
        hits = cache.hits_in(text, self.index)
        placed = (*nouns_behind_a(hits, text), *nouns_before_kinds(hits, text, kinds))
        mentions = [
            Mention(hit.start, hit.end, hit.mids, None)
            for hit in (*plural_names_of(self._inflected(text, cache), text), *placed)
            if hit.linkable
            and all(map(is_ordinary, hit.text.split()))
            and _says_much(text[hit.start : hit.end], public)
            and int(self.counts(np.unique(np.array(hit.mids, dtype=np.int64))).max(initial=0)) >= MIN_SHARED
        ]
        return merged(longest_mentions(mentions, EmphasisMarks.of(text).enclosed)) if mentions else []

    def find_common(
        self, text: str, public: PublicWords, taken: Collection[tuple[int, int]], is_concept: Callable[[str], bool]
    ) -> list[Mention]:
        """Returns common nouns that name a well-known thing: guitarists for Guitarist.

        Spans in `taken` are left out.
        """
        return find_common_names(self.index, text, public, self.counts, taken, is_concept)

    def _with_alternatives(self, text: str, mention: Mention, found: list[Mention], marks: EmphasisMarks) -> Mention:
        """Returns the mention with further possible meanings: "governor of arizona" may also mean Arizona.

        These are the nodes of shorter names inside the mention. In a text with capitals there are none, because
        capitals show where the name begins.
        """
        if has_capitals(text):
            return mention
        named = text[mention.start : mention.end]
        # In scripts without capitals, a missing capital says nothing.
        has_case = named.lower() != named.upper()
        if not has_case or (mention.start, mention.end) in marks.enclosed or mention.value_kind is not None:
            return mention
        inside = [
            each for each in found
            if (each.start, each.end) != (mention.start, mention.end) and each.value_kind is None
            and mention.start <= each.start and each.end <= mention.end
            and not _is_narrowed(text, mention, each)
        ]  # fmt: skip
        rest = [text[mention.start : each.start] + " " + text[each.end : mention.end] for each in inside]
        meant = [each for each, other in zip(inside, rest, strict=True) if not self.index.looks_like_name(other)]
        mids = {*mention.mids, *(mid for each in meant for mid in each.mids)}
        return replace(mention, mids=tuple(sorted(mids)))

    def _with_inexact(
        self, text: str, exact: list[Mention], marks: EmphasisMarks, is_name: IsName, fits: Fits | None
    ) -> list[Mention]:
        # A text value does not block a name: it may be the last word of that name.
        spans = [(each.start, each.end) for each in exact if each.value_kind is not ValueKind.TEXT]

        def is_more(start: int, end: int) -> bool:
            """Returns False for everyday words inside an exact name, which lead to no better name."""
            return is_name(start, end) and all(end <= first or last <= start for first, last in spans)

        rare = {span for span in self._rare_words(text) if not is_name(*span)}

        def may_hold(start: int, end: int) -> bool:
            return marks.may_mark(start, end) or any(start <= first < end for first, _ in rare)

        def may_name(start: int, end: int) -> bool:
            return (start, end) in rare or is_name(start, end)

        hits = self.index.find_inexact(text, (), lambda *at: at in rare or is_more(*at), may_hold, fits)
        values = {(each.start, each.end) for each in exact if each.value_kind is ValueKind.TEXT}
        able = [
            hit
            for hit in hits
            if not _is_common_noun(text, hit)
            # A word that only its rarity marks must be unambiguous.
            and not (len(hit.mids) > 1 and (hit.start, hit.end) in rare)
            # A whole value precedes a word of a title; a person's last name has a higher score than that.
            and not (not hit.whole and hit.score < SCORE_OF_PART and (hit.start, hit.end) in values)
        ]

        def is_known_better(hit: InexactHit) -> bool:
            over = [mid for each in exact if each.start < hit.end and hit.start < each.end for mid in each.mids]
            return bool(well_known(hit.mids, over, self.counts))

        chosen = choose_inexact(text, spans, marks.enclosed, able, may_name, is_known_better)
        kept = [each for each in exact if all(each.end <= hit.start or hit.end <= each.start for hit in chosen)]
        read = (Mention(hit.start, hit.end, hit.mids, None, inexact=True) for hit in chosen)
        meant = (self._with_alternatives(text, each, exact, marks) for each in read)
        return sorted([*kept, *meant], key=lambda mention: mention.start)

    def _telling(self, text: str, marks: EmphasisMarks) -> IsName:
        """Returns a test that tells for a span of `text` if it is marked as a name, by capitals, quotes or brackets.

        In a text without any such marks, words that no dictionary has count as marked.
        """
        if marks.has_any:
            return marks.is_marked
        known: dict[str, bool] = {}

        def looks_like_name(start: int, end: int) -> bool:
            written = text[start:end]
            found = known.get(written)
            if found is None:
                found = known[written] = self.index.looks_like_name(written)
            return found

        return looks_like_name

    def _rare_words(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields the spans of dictionary words that questions rarely use ("palisander" in "palisander patients").

        They count as names if a name of the graph holds them. Words of the lexicon are left out.
        """
        rare = {word for word in set(_RARE.findall(text)) if self._is_rare(word.lower())}
        return (word.span() for word in _RARE.finditer(text) if word[0] in rare) if rare else iter(())

    def _is_rare(self, word: str) -> bool:
        # The cheapest test comes first: nearly all words of a question are in the lexicon.
        return not in_lexicon(word) and not self.index.is_own(word) and is_ordinary(word) and is_rare(word)

    def _named(
        self, text: str, marks: EmphasisMarks, literals: list[LiteralSpan], cache: SearchCache
    ) -> Iterator[Mention]:
        is_name = self._telling(text, marks)
        for hit in (*cache.hits_in(text, self.index), *in_other_number_of(self._inflected(text, cache))):
            if not hit.linkable or (hit.public and not is_name(hit.start, hit.end)) or _is_genitive(text, hit):
                continue
            # A number or date inside a longer one has another meaning: 120 is not -120.
            is_value = hit.value_kind in (ValueKind.NUMBER, ValueKind.DATE)
            if not is_value or not any(each.start <= hit.start and hit.end <= each.end for each in literals):
                yield Mention(hit.start, hit.end, hit.mids, hit.value_kind if hit.kind == "value" else None)

    def _meant(self, text: str, literals: list[LiteralSpan]) -> Iterator[Mention]:
        for literal in literals:
            if _is_small_number(text[literal.start : literal.end]) or _is_small_number(literal.lexical):
                continue
            for kind in _kinds_to_try(literal):
                mids = self.index.mids_of_value(kind, literal.lexical)
                if mids:
                    yield Mention(literal.start, literal.end, mids, kind)
                    break


def _is_narrowed(text: str, mention: Mention, inside: Mention) -> bool:
    """Returns True if `inside` is only the everyday noun that ends the mention, as "guitar" in "a bass guitar"."""
    before = text[mention.start : inside.start].split()
    is_joined = not before or before[-1] in COMMON_WORDS or not is_ordinary(before[-1])
    return inside.end == mention.end and not is_joined and is_ordinary(text[inside.start : inside.end])


def _says_much(word: str, public: PublicWords) -> bool:
    plain = normalise(word).text
    own = public.is_own(plain) or any(map(public.is_own, stems(plain)))
    return plain not in COMMON_WORDS and not own


def _is_telling(text: str) -> bool:
    """Returns True for two or more words together, and for a single word that questions rarely use."""
    return len(text.split()) > 1 or is_rare(text)


def _is_common_noun(text: str, hit: InexactHit) -> bool:
    """Returns True for a lower-case part of several names that is used as a common noun: "a grant", "grants"."""
    written = text[hit.start : hit.end]
    if hit.whole or " " in written or has_capitals(written) or len(hit.mids) == 1:
        return False
    before = text[: hit.start].split()[-1:]
    is_family = before == ["the"] and is_plural(written)
    return len(hit.mids) > MAX_SHARING or before in _INDEFINITE or (is_plural(written) and not is_family)


def _within(inner: Mention, outer: Mention) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end


def has_capitals(text: str) -> bool:
    return text != text.lower() if text.isascii() else any(map(str.isupper, text))


def _is_genitive(text: str, hit: NameHit) -> bool:
    """Returns True for the "s" after an apostrophe: "X's spouse" does not mention anything called S."""
    return hit.text == "s" and hit.start > 1 and text[hit.start - 1] in "'’" and text[hit.start - 2].isalnum()


def _is_small_number(written: str) -> bool:
    """Returns True for numbers up to 99. They are public, because prompts number their candidates with them."""
    plain = normalise(written).text
    return plain.isdecimal() and len(plain) <= 2


def _kinds_to_try(literal: LiteralSpan) -> tuple[ValueKind, ...]:
    if literal.kind is ValueKind.DATE and literal.lexical.isdecimal():
        return (ValueKind.DATE, ValueKind.NUMBER)  # 1990 may be a year or a number, depending on the graph.
    return (literal.kind,) if literal.kind in (ValueKind.NUMBER, ValueKind.DATE) else ()
