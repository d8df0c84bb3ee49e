"""Finds names in forms that the graph does not hold.

These are plurals of singular names and the reverse (accountants for accountant), adjectives of places ("French" for
France), better-known namesakes (the president Kennedy beside a book of that title), and spans that only come near a
name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_store.lexicon.lexicon import in_lexicon, is_short_place, places_called
from kg_store.names.fuzzy_search import Fits, IsName
from kg_store.names.index import NameHit, NameIndex
from kg_store.names.name_words import COMMON_WORDS
from kg_store.terms import Mids, ValueKind
from kg_store.text.english import PublicWords, is_ordinary, is_plural
from kg_store.text.inflection import in_other_number, lemmas, singular
from kg_store.text.normalise import normalise
from kg_store.text.words import longest_spans


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the original text and every node that it may mean, ascending. `value_kind` is set for values.

    `inexact`: the text is only similar to their names.
    """

    start: int
    end: int
    mids: tuple[int, ...] = field(repr=False)
    value_kind: ValueKind | None
    inexact: bool = False


def longest_mentions(found: Sequence[Mention], enclosed: Collection[tuple[int, int]]) -> list[Mention]:
    """Returns the longest of overlapping mentions, in order.

    The whole content of quotes or brackets (`enclosed`) precedes longer ones. Of several mentions with the same span,
    the names are returned; only without any name, the values of one kind.
    """

    def rank(mention: Mention) -> tuple[bool, int, int, str]:
        is_whole = (mention.start, mention.end) in enclosed
        return not is_whole, mention.start - mention.end, mention.start, mention.value_kind or ""

    taken: dict[tuple[int, int], list[Mention]] = {}
    covered = bytearray(max((mention.end for mention in found), default=0))
    for mention in sorted(found, key=rank):
        span = (mention.start, mention.end)
        if span in taken and taken[span][0].value_kind == mention.value_kind:
            taken[span].append(mention)
        elif not any(covered[mention.start : mention.end]):
            covered[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            taken[span] = [mention]
    return [mention for span in sorted(taken) for mention in taken[span]]


def merged(mentions: Sequence[Mention]) -> list[Mention]:
    """Returns one mention for each span, with the nodes of all mentions of that span."""
    found: dict[tuple[int, int], Mention] = {}
    for mention in mentions:
        span = (mention.start, mention.end)
        mids = {*mention.mids, *(found[span].mids if span in found else ())}
        found[span] = Mention(*span, tuple(sorted(mids)), mention.value_kind)
    return list(found.values())


MAX_WORDS: Final = 4  # The most words of a value that classifies a thing. Chosen by hand.
MIN_LETTERS: Final = 3
_WORD: Final = re.compile(r"\w+")
_ASCII_SIGNS: Final = str.maketrans({code: " " for code in range(128) if not _WORD.match(chr(code))})
_BEFORE: Final = re.compile(r"(?:([^\W\d_]+(?:['’]t)?)\s+)?\Z")
_BEHIND: Final = re.compile(r"\s+([^\W\d_]+)")
_MAX_LOOK_BACK: Final = 24
_OF_A_NOUN: Final = frozenset(
    "a an the which what all any some no every each many several most few more other another these those only both "
    "two three four five six seven eight nine ten".split()
)
_BEING: Final = frozenset("is are was were be been not isn't aren't wasn't weren't".split())


def in_other_number_of(inflected: Iterable[NameHit]) -> Iterator[NameHit]:
    """Yields the whole text values among hits of `find_inflected`: "accountants" for accountant."""
    yield from (hit for hit in inflected if hit.kind == "value" and hit.value_kind is ValueKind.TEXT)


def plural_names_of(inflected: Iterable[NameHit], text: str) -> Iterator[NameHit]:
    """Yields names among hits of `find_inflected` that are lower-case plurals: "dogs", if something is called Dog."""
    for hit in inflected:
        typed = text[hit.start : hit.end]
        if hit.kind == "name" and typed.islower() and is_plural(typed.split()[-1]):
            yield hit


def nouns_behind_a(hits: Iterable[NameHit], text: str) -> Iterator[NameHit]:
    """Yields names among `hits` in small letters behind "a" in `text`: "a swing", if something is called Swing."""
    for hit in hits:
        before = _WORD_BEFORE.search(text, 0, hit.start)
        is_one = before is not None and before[1].lower() in ("a", "an")
        if hit.kind == "name" and is_one and text[hit.start : hit.end].islower():
            yield hit


def nouns_before_kinds(hits: Iterable[NameHit], text: str, kinds: Collection[str]) -> Iterator[NameHit]:
    """Yields names among `hits` in small letters before a word of `kinds`: "solo walks", if a type is called Solo."""
    for hit in hits:
        after = _WORD.match(text, hit.end + 1) if text[hit.end : hit.end + 1] == " " else None
        is_before = after is not None and singular(after[0].lower()) in kinds
        if hit.kind == "name" and is_before and text[hit.start : hit.end].islower():
            yield hit


def find_inflected(index: NameIndex, text: str) -> Iterator[NameHit]:
    """Yields names and values whose last word stands in `text` in the other number, singular or plural."""
    forms = _forms_to_try(index, text)
    said: list[str] = []
    places: list[tuple[int, int]] = []
    written = [word.lower() for word in _WORD.findall(text)] if forms else []
    words = list(_WORD.finditer(text)) if forms else []
    for at in [at for at, word in enumerate(written) if word in forms]:
        word, start = words[at], words[max(0, at - MAX_WORDS + 1)].start()
        for form in forms[written[at]]:
            said.append(text[start : word.start()] + form)
            places.append((start, word.end()))
    for number, hit in index.find_at_ends(said):
        start, end = places[number]
        typed = text[start + hit.start : end].lower()
        if not index.is_own(typed) and typed not in COMMON_WORDS:
            yield replace(hit, start=start + hit.start, end=end)


def _forms_to_try(index: NameIndex, text: str) -> dict[str, list[str]]:
    """Returns the nouns of `text` in lower case, each with its forms in the other number that may end a name."""
    # In ASCII text without the regular expression, in a third of the time.
    nouns = {
        *(text.lower().translate(_ASCII_SIGNS).split() if text.isascii() else map(str.lower, _WORD.findall(text)))
    }
    # Where characters were removed, or beyond ASCII, the last word of a name may be longer than the form.
    is_plain = text.isascii() and not normalise(text).seams
    tried = (
        (noun, [form for form in _in_other_number(noun) if not is_plain or index.may_end_with(form)])
        for noun in nouns
        if len(noun) >= MIN_LETTERS and noun.isascii() and noun.isalpha()
    )
    return {noun: forms for noun, forms in tried if forms}


def _in_other_number(noun: str) -> Iterable[str]:
    """Returns the same as `in_other_number`, which caches no function words; those of the lexicon name nobody."""
    return _of_lexicon_in_other_number(noun) if in_lexicon(noun) else in_other_number(noun)


@cache
def _of_lexicon_in_other_number(noun: str) -> tuple[str, ...]:
    return tuple(in_other_number(noun))


def with_adjectives(index: NameIndex, text: str, mentions: Sequence[Mention], is_name: IsName) -> list[Mention]:
    """Returns `mentions` with the places added whose adjectives occur in `text`.

    If the word is used as an adjective, the place replaces a name of which the word is only a part: "French actors"
    does not ask for people called French. The place also replaces a name that several nodes share, in any use of the
    word.
    """
    found: dict[tuple[int, int], list[NameHit]] = {}
    for hit in index.find_adjectives(text):
        if hit.linkable:
            found.setdefault((hit.start, hit.end), []).append(hit)
    kept = list(mentions)
    for (start, end), hits in found.items():
        over = [each for each in kept if each.start < end and start < each.end]
        stands_so = is_adjective(index, text, start, end)
        is_meant = stands_so or is_short_place(text[start:end]) or all(len(each.mids) > 1 for each in over)
        are_parts = all(each.inexact and start <= each.start and each.end <= end for each in over)
        is_free = not over or (is_meant and are_parts)
        named = [hit for hit in hits if not hit.public or stands_so or is_name(start, end)]
        if is_free and named:
            # Nodes with that name; if there are none, values.
            things = [hit for hit in named if hit.kind == "name"]
            mids = sorted({mid for hit in things or named for mid in hit.mids})
            kind = None if things else named[0].value_kind
            kept = [*(each for each in kept if each not in over), Mention(start, end, tuple(mids), kind)]
    return sorted(kept, key=lambda mention: mention.start)


def is_adjective(index: NameIndex, text: str, start: int, end: int) -> bool:
    """Returns True before a lower-case noun ("a French actor") and at the end of a clause ("is French")."""
    before = _BEFORE.search(text, max(0, start - _MAX_LOOK_BACK), start)
    behind = _BEHIND.match(text, end)
    word = (before[1] or "").lower() if before else ""
    if behind is None:
        return word in _BEING
    noun = behind[1]
    return noun.islower() and (word in _OF_A_NOUN or is_plural(noun) or index.is_own(f"{noun}s"))


FactCounts = Callable[[Mids], npt.NDArray[np.int64]]
"""Returns the number of facts that the graph holds about each node; 0 for unknown nodes."""

MIN_SHARED: Final = 3
"""A thing needs this many facts, its name among them, to count as one that classifies others. Chosen by hand."""
MIN_FACTS: Final = 20  # A thing needs this many facts to count as well known. Chosen by hand.
MIN_RATIO: Final = 10
"""A namesake must have this many times as many facts as the node with exactly that name. Chosen by hand."""

MIN_LEAD: Final = 2  # A namesake must have this many times as many facts as the next one. Chosen by hand.
_OF_LANGUAGES: Final = re.compile(r"\b(?:in|into|speaks?|spoke|speaking)\s\Z", re.IGNORECASE)
"""Words after which an adjective means a language: "in Norwegian"."""

_ARTICLE: Final = re.compile(r"\A(?:the|an?)\s+")

Span = tuple[int, int]


def no_facts(mids: Mids) -> npt.NDArray[np.int64]:
    """Returns 0 for each node; used for names without a graph."""
    return np.zeros(len(mids), dtype=np.int64)


def well_known(mids: Sequence[int], others: Sequence[int], counts: FactCounts) -> list[int]:
    """Returns the node in `mids` that has far more facts than the second best and than any of `others`.

    The list has one MID, or is empty if no node stands out.
    """
    return _best_known(np.array(mids, dtype=np.int64), counts, MIN_RATIO * _most(others, counts))


def with_namesakes(
    index: NameIndex, text: str, mentions: Sequence[Mention], fixed: Collection[Span], counts: FactCounts
) -> list[Mention]:
    """Returns `mentions` with well-known namesakes added to their possible meanings.

    Candidates for a mention are the nodes whose longer name begins or ends with its text, and the places that its text
    is a short name or adjective of. The one with by far the most facts is added. Nothing is added to a mention in
    `fixed`, or to one beside another name, since the two may be parts of a longer name.
    """
    names = [each for each in mentions if each.value_kind is None]
    return [
        _with_namesake(index, text, each, counts)
        if each in names and (each.start, each.end) not in fixed and not _is_beside_name(index, text, each, names)
        else each
        for each in mentions
    ]


def _with_namesake(index: NameIndex, text: str, mention: Mention, counts: FactCounts) -> Mention:
    typed = text[mention.start : mention.end]
    if not any(map(str.isalpha, typed)):
        return mention
    known = _most(mention.mids, counts)
    places = index.places_called(typed)
    others, languages = [places], list[int]()
    if not len(places):
        # For "the guitar", also something called Guitar.
        rest = _ARTICLE.sub("", typed) if typed.islower() else typed
        others = [index.longer_names(typed), np.array(index.named(rest) if rest != typed else (), dtype=np.int64)]
    elif not is_short_place(typed):
        languages = [*index.named(f"{typed} language")]
        others = [] if _OF_LANGUAGES.search(text[: mention.start]) else others
    better = [_best_known(np.setdiff1d(each, mention.mids), counts, MIN_RATIO * known) for each in others]
    more = {mid for each in better for mid in each}.union(languages if _most(languages, counts) > known else ())
    return replace(mention, mids=tuple(sorted(more.union(mention.mids)))) if more else mention


def _most(mids: Sequence[int], counts: FactCounts) -> int:
    return int(counts(np.array(mids, dtype=np.int64)).max(initial=0))


def _best_known(mids: Mids, counts: FactCounts, least: int) -> list[int]:
    """Returns the node in `mids` with most facts, if it has at least `least` facts and far more than the second.

    The list has one MID, or is empty if no node stands out.
    """
    if not len(mids):
        return []
    facts = counts(mids)
    best = int(facts.argmax())
    least = max(MIN_FACTS, least, MIN_LEAD * int(np.delete(facts, best).max(initial=0)))
    return [int(mids[best])] if facts[best] >= least else []


def _is_beside_name(index: NameIndex, text: str, mention: Mention, names: Sequence[Mention]) -> bool:
    before, behind = text[: mention.start], text[mention.end :]
    gaps = [gap for each in names for gap in (text[each.end : mention.start], text[mention.end : each.start])]
    if any(gap and not gap.strip(" -") for gap in gaps):
        return True
    words = (*before.split(" ")[-2:-1], *behind.split(" ")[1:2])
    return any(word.isalpha() and index.looks_like_name(word) for word in words)


MIN_BEARERS: Final = 10
"""The fewest facts about a node that classifies others (a trade, a sport), unlike a film. Chosen by hand."""

_WORD_BEFORE: Final = re.compile(r"(\w+)\s+\Z")
_OF: Final = re.compile(r"\s+of\b")
_BEFORE_PLURALS: Final = frozenset("which what many of by".split())
_BEFORE_SINGULARS: Final = frozenset("a an play plays played playing".split())


def find_common_names(
    index: NameIndex,
    text: str,
    public: PublicWords,
    counts: FactCounts,
    taken: Collection[Span],
    is_concept: Callable[[str], bool],
) -> list[Mention]:
    """Returns everyday nouns that are the complete name of a well-known thing: guitarists for Guitarist.

    The nouns are in lower case, singular or plural, outside of `taken`, and no concepts of the schema. Of several
    nodes with one name, those with most facts are taken.
    """
    hits = [hit for hit in (*index.find(text), *find_inflected(index, text)) if hit.linkable and hit.kind == "name"]
    free = (hit for hit in hits if not any(start < hit.end and hit.start < end for start, end in taken))
    found: list[Mention] = []
    for hit in free:
        if _is_noun(text, hit, public, is_concept):
            found += _well_known(hit, hit.mids, counts)
        elif (
            places_called(hit.text) and not is_short_place(hit.text) and is_adjective(index, text, hit.start, hit.end)
        ):
            # For "were french" and "french people", also a language or a people of that name.
            found += _well_known(hit, (*hit.mids, *index.places_called(hit.text)), counts)
    return longest_mentions(found, ())


def _is_noun(text: str, hit: NameHit, public: PublicWords, is_concept: Callable[[str], bool]) -> bool:
    typed = text[hit.start : hit.end]
    words = typed.split()
    if not typed.islower() or not all(map(str.isalpha, words)) or _OF.match(text, hit.end):
        return False  # A noun with "of" behind it is restricted: "senators of a state" are not all senators.
    is_own = public.is_own(hit.text) or words[0] in COMMON_WORDS if len(words) > 1 else is_concept(typed)
    if is_own or not _is_kind(text, hit.start, hit.end):
        return False
    return all(word in COMMON_WORDS or is_ordinary(word) for word in words) and typed not in COMMON_WORDS


def _is_kind(text: str, start: int, end: int) -> bool:
    """Returns True for "models" in "which models" and for "a play"; False for "who models" and "the author"."""
    typed = text[start:end]
    before = _WORD_BEFORE.search(text, 0, start)
    word = before[1].lower() if before else ""
    if is_plural(typed):
        return not word or word in _BEFORE_PLURALS or "VERB" not in lemmas(typed)
    return word in _BEFORE_SINGULARS


def _well_known(hit: NameHit, mids: Collection[int], counts: FactCounts) -> Iterator[Mention]:
    named = np.unique(np.array([*mids], dtype=np.int64))
    facts = counts(named)
    most = int(facts.max(initial=0))
    if most >= MIN_BEARERS:
        yield Mention(hit.start, hit.end, tuple(named[facts * MIN_RATIO >= most].tolist()), None)


MAX_PASSES: Final = 3
"""In the last of this many passes, overlapping spans are joined, so as to take too much rather than too little."""

_MASK: Final = "|"  # A character that never occurs inside a name.


def find_near_spans(
    names: NameIndex, text: str, taken: Iterable[Span], skip: Collection[str] = (), fits: Fits | None = None
) -> list[Span]:
    """Returns the spans of `text` outside of `taken` that come near a name, in order, without overlaps.

    Words in `skip` are never part of a name; `fits` caches the results of one request. The text is searched
    repeatedly, each time without the spans found before. Promise: every hit of `names.find_inexact` on `text` without
    `taken`, except public ones, lies in or overlaps a returned span. Limit: after MAX_PASSES searches there is no
    further one.
    """
    found: list[Span] = []
    fresh: Sequence[Span] = ()
    fits = fits or Fits()
    left = masked(text, taken)
    for number in range(1, MAX_PASSES + 1):
        read = left if number == 1 else _changed(left, fresh)
        spans = [(hit.start, hit.end) for hit in names.find_inexact(read, skip, fits=fits) if not hit.public]
        fresh = longest_spans(spans, len(text)) if number < MAX_PASSES else _joined(spans)
        if not fresh:
            break
        found += fresh
        left = masked(left, fresh)
    return sorted(found)


def masked(text: str, spans: Iterable[Span]) -> str:
    """Returns `text` of the same length, with each span replaced by a character that is part of no name."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = _MASK * (end - start)
    return "".join(letters)


def _changed(text: str, fresh: Iterable[Span]) -> str:
    """Returns `text` with everything masked except the pieces that touch a span of `fresh`.

    Only these pieces are new; the search has read all others before, with the same result.
    """
    letters = [_MASK] * len(text)
    for start, end in fresh:
        first, last = text.rfind(_MASK, 0, start) + 1, text.find(_MASK, end)
        last = len(text) if last < 0 else last
        letters[first:start], letters[end:last] = text[first:start], text[end:last]
    return "".join(letters)


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Returns the spans with overlapping ones joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
