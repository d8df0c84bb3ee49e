"""Rewords a question before it is read.

Short forms ("whos") are written in full, amounts given in the schema's units, relative dates as calendar dates, and
nouns for people ("dermatologists") by their field.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from app.privacy.visible_text import Visible
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.short_forms import in_full
from kg_store.names.index import NameIndex
from kg_store.names.linker import has_capitals
from kg_store.names.name_words import COMMON_WORDS, EmphasisMarks
from kg_store.terms import ValueKind
from kg_store.text.inflection import fields_of, in_other_number
from kg_store.text.notation import UNKNOWN, Notation, in_plain_notation
from kg_store.text.quantities import Rewording, counts_in_figures, in_schema_units
from kg_store.text.relative_dates import by_calendar

Today = Callable[[], dt.date]
"""A function that returns the current date, on which "last week" and the like depend."""

Leading = Callable[[Sequence[int]], Collection[tuple[str, str]]]
"""A function that returns (relation label, concept of its subject) for each relation that leads to the given MIDs."""

_WORD: Final = re.compile(r"(?<![\w'’-])[A-Za-z]{3,}(?![\w'’-])")
_RUN: Final = re.compile(r"[\w'’-]+")
_SIGNS: Final = str.maketrans({code: " " for code in range(128) if not _RUN.match(chr(code))})
_IN_TWO: Final = re.compile(r"\be-mails?\b", re.IGNORECASE)
_OF_PEOPLE: Final = re.compile(
    r"\b(?:speciali\w+|specialt(?:y|ies)|profession\w*|occupation\w*|discipline|expertise|field|vocation|craft|trade"
    r"|practi[cs]es?|religio\w+|faith|denomination)\b",
    re.IGNORECASE,
)
"""Matches relation labels that state somebody's field, such as "specializes in"."""

_OF_KINDS: Final = re.compile(r"\b(?:genre|type|kind|category|style)s?\b", re.IGNORECASE)
MAX_KIND_WORDS: Final = 200
"""The largest schema, in words, for which a kind is also tried with each schema word behind it ("comedy film").

The time grows with the number of words. Chosen by hand.
"""


def leads_nowhere(_mids: Sequence[int]) -> Collection[tuple[str, str]]:
    """Returns no relations: takes the place of a `Leading` function where texts are read without a graph."""
    return ()


def utc_today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


class PlainWording:
    """Rewords questions. Names and text values of the graph stay as they are typed, and words of names ("ive")."""

    def __init__(
        self, names: NameIndex, lexicon: Lexicon, today: Today, leading: Leading, notation: Notation = UNKNOWN
    ) -> None:
        self._names, self._lexicon, self._today, self._leading = names, lexicon, today, leading
        self._notation = notation

    def visible(self, typed: str) -> Visible:
        """Returns the typed text with dates, amounts, occupations and kinds in plain words."""
        visible = Visible.of_typed(typed)
        text = visible.text
        words = words_of(text)
        nouns = {word for word in words if len(word) > 2 and word.isascii() and word.isalpha()}
        said = [
            *(
                Rewording(*found.span(), found[0].replace("-", ""))
                for found in (_IN_TWO.finditer(text) if "-" in text else ())
            ),
            *(each for each in in_full(text, words) if not self._is_name_word(text[each.start : each.end])),
            *in_plain_notation(text, self._notation),
            *self._dates(text),
            *in_schema_units(text, self._lexicon.units),
            *self._counts(text),
            *self._agents(text, nouns),
            *self._kinds(text, nouns),
        ]
        hits = self._names.find(text) if said else ()
        taken = [(hit.start, hit.end) for hit in hits if hit.kind == "name" or hit.value_kind is ValueKind.TEXT]
        kept: list[Rewording] = []
        for each in said:
            if not _is_over(each, taken):
                kept.append(each)
                taken.append((each.start, each.end))
        kept.sort(key=lambda each: each.start)
        return visible.reworded((each.start, each.end, each.instead) for each in kept) if kept else visible

    def _dates(self, text: str) -> list[Rewording]:
        """Returns rewordings of relative dates, except those marked as names and those that are schema words."""
        said = by_calendar(text, self._today())
        if not said:
            return []
        marks = EmphasisMarks.of(text)
        own = [place for words in self._lexicon.periods for place in _places_of(words, text)]
        return [each for each in said if not (marks.may_mark(each.start, each.end) or _is_over(each, own))]

    def _counts(self, text: str) -> list[Rewording]:
        """Returns rewordings of numbers in words, except those that names have or that are marked as part of one."""
        said = counts_in_figures(text)
        if not said:
            return []
        marks = EmphasisMarks.of(text)
        unnamed = (each for each in said if not any(map(self._is_name_word, text[each.start : each.end].split())))
        return [each for each in unnamed if not marks.may_mark(each.start, each.end)]

    def _agents(self, text: str, nouns: Collection[str]) -> Iterator[Rewording]:
        """Yields rewordings of nouns for people by their field: "dermatologists" -> "Dermatology people"."""
        able = ((noun, list(fields_of(noun))) for noun in nouns)
        fields_by_noun = {noun: fields for noun, fields in able if fields and not self._is_known(noun)}
        words = list(_WORD.finditer(text)) if fields_by_noun else []
        for at, word in enumerate(words):
            fields = fields_by_noun.get(word[0].lower(), [])
            if not fields or _may_be_title(text, word):
                continue
            starts = [words[at - 1].start(), word.start()] if at else [word.start()]
            called = ((start, (text[start : word.start()] + field).lower()) for start in starts for field in fields)
            for start, name in called:
                if not any(_OF_PEOPLE.search(label) for label, _ in self._leading(self._whole(name))):
                    continue
                said = name.title() if has_capitals(text) else name
                yield Rewording(start, word.end(), f"{said} {'people' if word[0].lower().endswith('s') else 'person'}")
                break

    def _kinds(self, text: str, nouns: Collection[str]) -> Iterator[Rewording]:
        """Yields rewordings of the plural of a kind that the graph names: "documentaries" -> "Documentary films"."""
        kinds = {noun: kind for noun in nouns if (kind := self._kind_called(noun))}
        for word in _WORD.finditer(text) if kinds else ():
            if found := kinds.get(word[0].lower()):
                name, of = found
                said = name.title() if has_capitals(text) else name
                yield Rewording(*word.span(), f"{said} {next(in_other_number(of), of)}")

    def _kind_called(self, noun: str) -> tuple[str, str] | None:
        """Returns (name, concept) of the kind that the graph names of which `noun` is the plural; None without one."""
        if not noun.endswith("s") or noun in COMMON_WORDS or self._lexicon.is_own(noun) or self._whole(noun):
            return None
        singles = (single for single in in_other_number(noun) if not self._lexicon.is_own(single))
        return next((found for single in singles for found in self._named_kinds(single)), None)

    def _named_kinds(self, single: str) -> Iterator[tuple[str, str]]:
        """Yields (name, concept) for each thing of the graph that is a kind of other things and is called `single`.

        Its name may have a word of the schema behind `single`; the concept is that of the things it classifies. For
        example, "documentary" gives ("documentary film", "film") if films have the genre "documentary film".
        """
        nouns = sorted(self._lexicon.schema) if len(self._lexicon.schema) <= MAX_KIND_WORDS else ()
        for name, mids in self._all_whole([*(f"{single} {noun}" for noun in nouns), single]):
            leading = ((label.lower(), of.lower()) for label, of in self._leading(mids))
            # "Statement genre" starts at a statement node, which is a record about the film and no film.
            kinds = {of for label, of in leading if _OF_KINDS.search(label) and not label.startswith(of)}
            if len(kinds) == 1 and min(kinds).isalpha():
                yield name, min(kinds)

    def _is_name_word(self, word: str) -> bool:
        return self._lexicon.names.has(word.lower())

    def _is_known(self, noun: str) -> bool:
        """True if `noun`, in singular or plural, is a word of the schema or a name or value of the graph."""
        return any(self._lexicon.is_own(one) or self._whole(one) for one in {noun, noun.removesuffix("s")})

    def _whole(self, name: str) -> list[int]:
        """Returns the linkable things and text values that have exactly this name."""
        return next((mids for _, mids in self._all_whole([name])), [])

    def _all_whole(self, names: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
        """Yields (name, MIDs) for each of `names` that linkable things or text values have.

        One search finds them all.
        """
        found: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for hit in self._names.find("\n".join(names)):
            if hit.linkable and hit.value_kind in (None, ValueKind.TEXT):
                found[hit.start, hit.end].update(hit.mids)
        start = 0
        for name in names:
            if mids := found.get((start, start + len(name))):
                yield name, sorted(mids)
            start += len(name) + 1


def words_of(text: str) -> frozenset[str]:
    """Returns the words of `text` in lower case, with their apostrophes and hyphens."""
    small = text.lower()
    return frozenset(small.translate(_SIGNS).split() if text.isascii() else _RUN.findall(small))


def _may_be_title(text: str, noun: re.Match[str]) -> bool:
    """True if a capital suggests that the noun is a title ("the nurse Ann") or a name ("Christian")."""
    begins = noun.start() == 0
    is_name = noun[0][0].isupper() and not begins and not noun[0].lower().endswith("s")
    return is_name or re.match(r" [A-Z]", text[noun.end() : noun.end() + 2]) is not None


def _is_over(said: Rewording, spans: list[tuple[int, int]]) -> bool:
    return any(said.start < end and start < said.end for start, end in spans)


def _places_of(words: str, text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in re.finditer(rf"\b{re.escape(words)}\b", text, re.IGNORECASE))
