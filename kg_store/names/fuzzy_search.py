"""InexactNames: finds names as people type them: misspelt, abbreviated, reordered, joined, split or incomplete."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from kg_store.names.fuzzy_match import MAX_REACH, RowMatch, Standing, fit_row, group_rows
from kg_store.names.name_table import NameTable, NameVocabulary, Numbers, RowPlaces, may_be_ordinary
from kg_store.names.name_words import COMMON_WORDS
from kg_store.text.english import PublicWords
from kg_store.text.normalise import Normalised, is_letters, normalise
from kg_store.text.words import WordForms, behind_prefixes, nominatives, stretches, words_of

MAX_ROWS = 128
"""The most names tried around one word, those that share most words with the text. Chosen by hand."""

_NEAREST = 4  # The number of words on each side by which rows are chosen if there are too many. Chosen by hand.
MAX_HELD = 64  # The most sets of rows cached while one request is read. Chosen by hand.
_SCORE_OF_JOINED, _SCORE_OF_REORDERED, _SCORE_OF_ABBREVIATED, _SCORE_OF_ADJECTIVE = 0.97, 0.95, 0.75, 0.7
_AS_GOOD = (_SCORE_OF_ABBREVIATED, _SCORE_OF_ADJECTIVE)
_MAX_ABBREVIATED = 3
_SHORTEST_ALONE, _SHORTEST_MISSPELT_ALONE, _SHORTEST_MISSPELT_PART = 3, 5, 6
_MAX_JOINED_LENGTH = 4
_CALENDAR = frozenset(
    """january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday""".split()
)
"""Words that are always written with a capital, so that the capital does not mark a name."""

_VOWELS = frozenset("aeiouy")
NOT_INITIALS = frozenset(("a", "i"))
_NEVER_INITIALS = frozenset(("a", "i", "s", "t", "d", "m"))
"""Single letters that are words or endings (it's, don't); they count as initials only with a point or a capital."""

IsName = Callable[[int, int], bool]
"""Returns True if the text marks the span [start, end) as a name, so that even everyday words there may be one."""

MayHold = Callable[[int, int], bool]
"""Returns True if an `IsName` may be True for some everyday words in the span [start, end) of the text."""


_Sign = tuple[tuple[str, ...], bool, bool, bool]
"""For a word: its forms, and flags: it is an initial, it joins the word before, it is skipped."""

_Fits = list[tuple[int, int, float, bool, Sequence[int]]]
"""Names that fit around a word: first and last word relative to it, score, whole, rows."""


@dataclass(frozen=True, slots=True)
class Fits:
    """Keeps what a request found around its words, which it reads several times. It holds typed text and ends with it.

    `around`: the names that fit around a word, by the number of words around it, its position, and these words.
    `made_of`: the rows that consist of some words joined, and in any order. `unmarked`: the hits of a stretch in which
    nothing is marked as a name, by its place and text, and its words. `telling`: words that are not everyday.
    `held`: the rows that hold some words. `standing`: for a word, the name words that it may be short for.
    """

    around: dict[tuple[int, int, tuple[_Sign, ...]], _Fits] = field(default_factory=dict, repr=False)
    made_of: dict[tuple[str, ...], tuple[list[int], list[int]]] = field(default_factory=dict, repr=False)
    unmarked: dict[tuple[int, str], tuple[list[InexactHit], list[str]]] = field(default_factory=dict, repr=False)
    telling: set[str] = field(default_factory=set, repr=False)
    held: dict[bytes, tuple[Numbers, RowPlaces]] = field(default_factory=dict, repr=False)
    standing: dict[tuple[str, bool], Standing] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class InexactHit:
    """A span of the original text that may mean any of `mids`.

    `score`: how well it fits, up to 1 for an exact name; it compares readings of the same span. `whole`: it stands for
    a whole name, not only for a part. `public`: all its words are public words.
    """

    start: int
    end: int
    mids: tuple[int, ...] = field(repr=False)
    score: float
    whole: bool
    public: bool


@dataclass(slots=True)
class FuzzyWindow:
    """One stretch of text that is searched for names; it implements `TypedWords` for `fit_row`."""

    names: NameVocabulary
    text: str = field(repr=False)
    normalised: Normalised = field(repr=False)
    words: list[WordForms] = field(repr=False)
    skip: Collection[str] = field(repr=False)
    is_name: IsName | None
    fits: Fits = field(default_factory=Fits, repr=False)
    spellings: list[str] = field(default_factory=list, repr=False)
    _near: dict[int, dict[int, int]] = field(default_factory=dict, repr=False)
    _numbers: dict[int, Numbers] = field(default_factory=dict, repr=False)
    _signs: list[_Sign] = field(default_factory=list, repr=False)
    _joined: set[tuple[int, int]] = field(default_factory=set, repr=False)
    _found: dict[tuple[int, int], list[tuple[float, bool, Sequence[int]]]] = field(default_factory=dict, repr=False)

    def hits(self) -> list[InexactHit]:
        self.spellings = [forms[0] for _, _, forms, _ in self.words]
        for at, (_, _, forms, joins) in enumerate(self.words):
            is_skipped = bool(self.skip) and self.text[slice(*self._span(at, at))] in self.skip
            is_initial = len(forms[0]) == 1 and self._reads_as_initial(at)
            self._signs.append((forms, is_initial, joins, is_skipped))
        for at in self._to_try():
            self._read_around(at)
        return [self._hit(first, last, found) for (first, last), found in self._found.items()]

    def joins(self, at: int) -> bool:
        return self.words[at].joins

    def near(self, at: int) -> dict[int, int]:
        """Returns the name words that the typed word may be, with the number of slips, most slips first."""
        found = self._near.get(at)
        if found is None:
            forms = () if self.is_skipped(at) else self.words[at].forms
            more = [behind for form in forms for behind in (*behind_prefixes(form), *nominatives(form))]
            near = [pair for form in (*forms, *more) for pair in self.names.near(form).items()]
            found = self._near[at] = dict(sorted(near, key=lambda pair: -pair[1]))
        return found

    def numbers_near(self, at: int) -> Numbers:
        """Returns the keys of `near`, the numbers of name words, ascending."""
        found = self._numbers.get(at)
        if found is None:
            found = self._numbers[at] = np.array(sorted(self.near(at)), dtype=np.int32)
        return found

    def standing(self, at: int) -> Standing:
        """Returns the cache of `stands_for` for the typed word `at`.

        It has the name words of which the typed word is an initial or short form.
        """
        key = self.spellings[at], self._signs[at][1]
        found = self.fits.standing.get(key)
        if found is None:
            found = self.fits.standing[key] = Standing()
        return found

    def is_initial(self, at: int) -> bool:
        return self._signs[at][1]

    def _reads_as_initial(self, at: int) -> bool:
        word = self.words[at]
        if not word.text.isalpha():
            return False
        if word.text not in _NEVER_INITIALS or self.normalised.text[word.end : word.end + 1] == ".":
            return True
        start, end = self._span(at, at)
        return word.text not in NOT_INITIALS and self.text[start:end].isupper()

    def is_everyday(self, at: int) -> bool:
        return self.names.is_everyday(self.spellings[at])

    def _to_try(self) -> Iterator[int]:
        """Yields the positions of the words around which a name has to be searched (`_may_be_name`)."""
        before = True
        for at, word in enumerate(self.spellings):
            is_dull = self.names.is_dull(word)
            # Most words are like this: everyday ones behind another, that nothing marks.
            if not (is_dull and before and self.is_name is None) and self._may_be_name(at):
                yield at
            before = is_dull and len(word) > 1

    def _may_be_name(self, at: int) -> bool:
        """Returns False if no name has to be searched around this word.

        That is so for everyday words that nothing marks as a name, single letters, numbers, months and weekdays.
        """
        word = self.spellings[at]
        if len(word) == 1 or word in _CALENDAR or any(map(str.isdigit, word)) or self.is_skipped(at):
            return False
        if not self.names.is_everyday(word):
            return True
        if self._follows_initial(at) or self._follows_stranger(at):
            return True
        return self.is_name is not None and self.is_name(*self._span(at, at))

    def _follows_initial(self, at: int) -> bool:
        """Returns True for the last word of "J. Smith" and "J Smith", with only a space and a point in between."""
        if not at or not self.is_initial(at - 1) or self.is_skipped(at - 1):
            return False
        if self.spellings[at] in COMMON_WORDS or self.names.public.is_own(self.spellings[at]):
            return False
        return self.normalised.text[self.words[at - 1].end : self.words[at].start] in (" ", ". ", ".")

    def _follows_stranger(self, at: int) -> bool:
        """Returns True if the word before is in no dictionary: `thad field` may be Thaddeus Field."""
        if not at or not self.joins(at) or self.is_skipped(at - 1) or self.spellings[at] in COMMON_WORDS:
            return False
        return len(self.spellings[at - 1]) >= _SHORTEST_ALONE and self.names.looks_like_name(self.spellings[at - 1])

    def is_skipped(self, at: int) -> bool:
        return self._signs[at][3]

    def _span(self, first: int, last: int) -> tuple[int, int]:
        return self.normalised.span(self.words[first].start, self.words[last].end)

    def _read_around(self, at: int) -> None:
        fits = self.fits.around.get(self._around(at, _NEAREST))
        if fits is None:
            fits = self.fits.around.get(self._around(at, MAX_REACH))
        if fits is None:
            fits, reach = self._fits_around(at)
            self.fits.around[self._around(at, _NEAREST if reach <= _NEAREST else MAX_REACH)] = fits
        for first, last, score, whole, rows in fits:
            self._add(at + first, at + last, score, whole, rows)
        self._read_joined(at)
        self._read_alone(at)

    def _around(self, at: int, reach: int) -> tuple[int, int, tuple[_Sign, ...]]:
        begin = max(0, at - reach)
        return reach, at - begin, tuple(self._signs[begin : at + reach + 1])

    def _fits_around(self, at: int) -> tuple[_Fits, int]:
        """Returns (fits, reach): the names that fit the words around `at`.

        This result depends only on the `reach` words before `at` and the `reach` words after it.
        """
        rows, candidates = self.names.rows, self._candidates(at)
        groups, reach = group_rows(rows, candidates, self, at) if len(candidates) else ([], 0)
        fits: _Fits = []
        for group in groups:
            fit = fit_row(rows.row(group[0]), self, at)
            if fit is not None and self._is_good(fit):
                fits.append((fit.first - at, fit.last - at, fit.score, fit.whole, group))
        return fits, reach

    def _candidates(self, at: int) -> Numbers:
        """Returns the rows (names) that hold the typed word `at`.

        If there are too many, returns those that share most words with the words around it.
        """
        near = self.numbers_near(at)
        if not len(near):
            return near
        found, places = self._rows_with(near)
        if len(found) > MAX_ROWS:
            beside = range(max(0, at - _NEAREST), min(len(self.words), at + _NEAREST + 1))
            shares = self.names.rows.shares(places, np.concatenate([self.numbers_near(each) for each in beside]))
            found = found[np.argsort(-shares, kind="stable")[:MAX_ROWS]]
        return found

    def _rows_with(self, words: Numbers) -> tuple[Numbers, RowPlaces]:
        """Returns (rows, places): the rows that hold one of `words`, ascending, and all words of these rows.

        The result is cached.
        """
        key = words.tobytes()
        found = self.fits.held.get(key)
        if found is None:
            rows = self.names.rows
            if len(self.fits.held) >= MAX_HELD:
                self.fits.held.clear()
            held = [rows.with_word(word) for word in words.tolist()]
            # Made distinct even for one word, because a row may hold it twice.
            held_by_any = np.unique(np.concatenate(held))
            found = self.fits.held[key] = held_by_any, rows.places(held_by_any)
        return found

    def _is_good(self, fit: RowMatch) -> bool:
        """Returns True if the match is good enough to count.

        Two or more words always are. A single word needs some letters, and more of them if it is misspelt.
        """
        if fit.first < fit.last:
            return True
        word = self.spellings[fit.first]
        if not fit.slips:
            return len(word) >= _SHORTEST_ALONE
        if self.names.rows.number_of(word) is not None:
            return False
        shortest = _SHORTEST_MISSPELT_ALONE if fit.whole else _SHORTEST_MISSPELT_PART
        return len(word) >= shortest and not may_be_ordinary(word)

    def _read_joined(self, at: int) -> None:
        """Finds joined, differently split or reordered words: `johnsmith`, `O Brien`, `Smith, John`."""
        begin, end = at, at + 1
        while begin > max(0, at - _MAX_JOINED_LENGTH + 1) and self.joins(begin):
            begin -= 1
        while end < min(len(self.words), at + _MAX_JOINED_LENGTH) and self.joins(end):
            end += 1
        for first in range(begin, at + 1):
            for last in range(at, min(end, first + _MAX_JOINED_LENGTH)):
                # This window was read with an earlier word.
                if (first, last) in self._joined:
                    continue
                self._joined.add((first, last))
                joined, reordered = self._made_of(tuple(self.spellings[first : last + 1]))
                self._add(first, last, _SCORE_OF_JOINED, True, joined)
                self._add(first, last, _SCORE_OF_REORDERED, True, reordered)

    def _made_of(self, words: tuple[str, ...]) -> tuple[list[int], list[int]]:
        found = self.fits.made_of.get(words)
        if found is None:
            rows = self.names.rows
            found = self.fits.made_of[words] = rows.joined(words), rows.reordered(words)
        return found

    def _read_alone(self, at: int) -> None:
        """Finds the initials of a long name (NATO), and adjectives of places (Jamaican)."""
        word, rows = self.spellings[at], self.names.rows
        if self.is_everyday(at):
            return
        spells_out = rows.number_of(word) is not None and set(word[1:]) & _VOWELS
        # A frequent word (usa) counts as initials only if it is written in capitals (USA).
        start, end = self._span(at, at)
        may_be_initials = not self.names.is_public(word) or self.text[start:end].isupper()
        short = rows.abbreviated(word) if may_be_initials and not spells_out else []
        if short and len(rows.mids_of(short)) <= _MAX_ABBREVIATED:
            self._add(at, at, _SCORE_OF_ABBREVIATED, True, short)
        self._add(at, at, _SCORE_OF_ADJECTIVE, True, rows.of_adjective(word))

    def _add(self, first: int, last: int, score: float, whole: bool, rows: Sequence[int]) -> None:
        if rows:
            self._found.setdefault((first, last), []).append((score, whole, rows))

    def _hit(self, first: int, last: int, found: list[tuple[float, bool, Sequence[int]]]) -> InexactHit:
        """Returns a hit with the best readings of one span: all that are equally good."""
        best = max(score for score, _, _ in found)
        # Readings by initials or adjectives stay beside better ones: Jamaicans may be a people or the place.
        good = [(whole, rows) for score, whole, rows in found if score > best - 1e-6 or score in _AS_GOOD]
        mids = self.names.rows.mids_of([row for _, rows in good for row in rows])
        initial = any(map(self.is_initial, range(first, last + 1)))
        public = not initial and all(map(self.names.is_public, self.spellings[first : last + 1]))
        return InexactHit(*self._span(first, last), mids, best, any(whole for whole, _ in good), public)


MAX_CACHED = 20_000
"""The most stretches without a name in the cache before it is emptied. Chosen by hand."""

_MAX_CACHED_LENGTH = 64
"""The greatest length of a cached stretch in characters: labels fit, sentences hardly do. Chosen by hand."""

_KnownT = TypeVar("_KnownT")


class InexactNames:
    """Finds inexact names in texts.

    Promise: `find` gives the same hits for the same words to every caller; the linker and the guard both use it.
    Limit: only the forms in docs/linking.md are found, and everyday words alone only if something marks them as a
    name.
    """

    def __init__(self, rows: NameTable, public: PublicWords) -> None:
        self.words = NameVocabulary(rows, public)
        # Caches, because requests repeat labels of the schema and numbers of candidates. A stretch is kept normalised
        # and as written, because capitals may mark initials.
        self._nameless: set[tuple[str, str]] = set()
        self._nameless_pieces: set[str] = set()
        self._dull: set[str] = set()

    def find(
        self,
        text: str,
        skip: Collection[str] = (),
        is_name: IsName | None = None,
        may_hold: MayHold | None = None,
        fits: Fits | None = None,
    ) -> list[InexactHit]:
        """Returns hits by start, then the longest first; they may overlap. Words in `skip` are never part of a name.

        `may_hold` returns False for a stretch that may be skipped if it has only everyday words. `fits` caches the
        results of one request.
        """
        normalised = normalise(text)
        fits = fits or Fits()
        found: list[InexactHit] = []
        is_one_to_one, whole = normalised.is_one_to_one, [(0, len(normalised.text))]
        for begin, stop in self._unread(text, skip) if is_name is None and is_one_to_one else whole:
            is_nameless = is_name is None
            for start, end in stretches(normalised.text, begin, stop):
                stretch = normalised.text[start:end]
                # Beyond ASCII, digits may be letters of words.
                is_plain = may_hold and is_one_to_one and stretch.isascii() and not may_hold(start, end)
                if is_plain and not self._may_hold_name(stretch, fits):
                    continue
                if is_plain or (is_name is None and is_one_to_one and (start, text[start:end]) in fits.unmarked):
                    hits, tells_nothing = self._read_unmarked(text, normalised, start, end, skip, fits), False
                else:
                    hits, tells_nothing = self._read(text, normalised, start, end, skip, is_name, fits)
                found += hits
                is_nameless = is_nameless and tells_nothing
            if is_nameless and is_one_to_one:
                _remember(self._nameless_pieces, text[begin:stop], stop - begin)
        return sorted(found, key=lambda hit: (hit.start, -hit.end))

    def _read_unmarked(
        self, text: str, normalised: Normalised, start: int, end: int, skip: Collection[str], fits: Fits
    ) -> list[InexactHit]:
        """Returns the hits of a stretch in which nothing is marked as a name; they are the same in each reading of it.

        Condition: each character of the text is normalised by itself.
        """
        key = start, text[start:end]
        found = fits.unmarked.get(key)
        if found is None or any(map(skip.__contains__, found[1])):
            words = words_of(normalised.text, start, end)
            hits = FuzzyWindow(self.words, text, normalised, words, skip, None, fits).hits()
            written = [text[word.start : word.end] for word in words]
            if any(map(skip.__contains__, written)):
                return hits
            found = fits.unmarked[key] = hits, written
        return found[0]

    def _unread(self, text: str, skip: Collection[str]) -> Iterator[tuple[int, int]]:
        """Yields (start, end) of the pieces of `text` between double quotes that must be searched.

        No name crosses a quote. Pieces in `skip`, and pieces that are known to hold no name, are left out. Condition:
        each character of `text` is normalised by itself, so that a piece is normalised alike alone and within the
        text.
        """
        pieces = text.split('"')
        unread = {
            piece
            for piece in set(pieces).difference(self._nameless_pieces, skip)
            if piece[_after_skipped(piece, skip) :] not in self._nameless_pieces
        }
        start = done = 0
        for at in [place for place, piece in enumerate(pieces) if piece in unread] if unread else ():
            start += sum(map(len, pieces[done:at])) + at - done
            done = at
            yield start + _after_skipped(pieces[at], skip), start + len(pieces[at])

    def _read(
        self,
        text: str,
        normalised: Normalised,
        start: int,
        end: int,
        skip: Collection[str],
        is_name: IsName | None,
        fits: Fits,
    ) -> tuple[list[InexactHit], bool]:
        """Returns (hits, is_nameless) of the stretch from `start` to `end`.

        `is_nameless`: it has no hit, whatever `skip` and `is_name` say, so that it need not be read again.
        """
        first, last = normalised.span(start, end)
        stretch = normalised.text[start:end], text[first:last]
        if is_name is None and (stretch in self._nameless or stretch[1] in skip):
            return [], stretch[1] not in skip
        if is_name is None and not self._may_hold_name(stretch[0], fits):
            _remember(self._nameless, stretch, end - start)
            return [], True
        reading = FuzzyWindow(self.words, text, normalised, words_of(normalised.text, start, end), skip, is_name, fits)
        hits = reading.hits()
        is_nameless = is_name is None and not hits and not any(map(reading.is_skipped, range(len(reading.words))))
        if is_nameless:
            _remember(self._nameless, stretch, end - start)
        return hits, is_nameless

    def _may_hold_name(self, stretch: str, fits: Fits) -> bool:
        """Returns False if the stretch has only everyday words.

        It is a cheap first test, since most of a request is like that.
        """
        for word in stretch.split():
            if word in self._dull:
                continue
            if word in fits.telling:
                return True
            forms = [each.text for each in words_of(word)]
            has_initial = any(len(form) == 1 and (form not in NOT_INITIALS or "." in word) for form in forms)
            if has_initial or not all(self.words.is_everyday(form) or not is_letters(form) for form in forms):
                fits.telling.add(word)
                return True
            # Only everyday words are cached beyond the request, because digits may be somebody's number.
            if len(forms) == 1 and forms[0].isalpha() and self.words.is_everyday(forms[0]):
                _remember(self._dull, word, len(word))
        return False


def _after_skipped(piece: str, skip: Collection[str]) -> int:
    """Returns the position in `piece` from which names are searched: behind a word of `skip` with a bracket, else 0.

    In `Eq7f2k (person)` that is the bracket; no name crosses it.
    """
    bracket = piece.find(" (")
    return bracket + 1 if bracket > 0 and piece[:bracket] in skip and piece[:bracket].isalnum() else 0


def _remember(nameless: set[_KnownT], known: _KnownT, length: int) -> None:
    if length > _MAX_CACHED_LENGTH:
        return
    if len(nameless) >= MAX_CACHED:
        nameless.clear()
    nameless.add(known)
