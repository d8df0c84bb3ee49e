"""Capitalised words that neither the graph nor the public words know: they may name somebody all the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kg_store.letters import MARKS
from kg_store.normalising import normalise
from kg_store.ordinary_words import may_be_proper, stems
from kg_store.public_words import PublicWords

_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*(?:['’ʼ＇][^\W_](?:[^\W_]|[{MARKS}])*)*")
_GAP = re.compile(r"[ \t\u00a0\u202f]|[-‐‑–]")
_GAP_AFTER_INITIAL = re.compile(r"\.[ \t\u00a0\u202f]?")
# Words whose point ends no sentence, beside initials.
_TITLES = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "st", "sr", "jr", "rev", "fr", "col", "gen", "lt", "sgt", "capt", "mme"]
)
_PARTICLES = frozenset(
    ["of", "the", "van", "von", "der", "den", "de", "del", "della", "da", "di", "du", "la", "le", "el", "al"]
)
_ENDS_SENTENCE = frozenset(".!?:;\n…¿¡。！？：；")
_BEFORE_WORDS = " \t\u00a0\"'“”„‘’«»‹›([{*_#>-–—•·"
_CONTRACTIONS = frozenset(("s", "t", "re", "ve", "ll", "d", "m"))
_SELF = frozenset(("i", "i'm", "i've", "i'll", "i'd"))
# Capitals inside a sentence on words that no name has show a title: "Which Patients Were Born By 1990".
_NEVER_IN_NAMES = frozenset(
    ["is", "are", "was", "were", "has", "have", "had", "does", "did", "be", "been", "by", "with", "from", "than"]
)
# Words that begin questions and are not among the frequent ones; only there are they taken for no name.
_OPENERS = frozenset(
    ["compare", "enumerate", "summarise", "summarize", "calculate", "compute", "rank", "retrieve", "excluding"]
)
_LOOK_ALIKES = frozenset(("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"))
_MANY_CAPITALS = 0.6
_LOOK_BACK = 40


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str = field(repr=False)
    public: bool
    marked: bool
    """Written with a capital, and not only because a sentence begins."""


def unknown_spans(text: str, taken: Sequence[tuple[int, int]], public: PublicWords) -> list[tuple[int, int]]:
    """Spans of unknown capitalised words and runs of them, outside of `taken`; a possessive 's stays outside.

    A run of capitalised words inside a sentence counts as one name, even when each of its words is public.
    Where most words have capitals (titles, shouting), capitals tell nothing and only unknown words count.
    """
    words = list(_words(text, taken, public))
    if _is_title(words):
        return [_span([word]) for word in words if not word.public and word.marked]
    return [_span(run) for run in _runs(text, words) if _is_unknown(text, run, public) or _goes_on(text, run, taken)]


def is_public_word(word: str, public: PublicWords) -> bool:
    """Whether `word`, or what it is a form of, is public: `patients'`, `Who's`, `treated`, `citing`."""
    spelling = normalise(word).text
    base, _, ending = spelling.partition("'")
    if spelling in public:
        return True
    if ending in _CONTRACTIONS and (base in public or (ending == "t" and base.removesuffix("n") in public)):
        return True
    return not ending and any(stem in public for stem in stems(base))


def is_disguised(word: str) -> bool:
    """Whether a word mixes Latin with letters that look like them, or is of small capitals: nobody types it so who
    means an everyday word."""
    if word.isascii():
        return False
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    small_capitals = any("SMALL CAPITAL" in unicodedata.name(letter, "") for letter in word)
    return small_capitals or ("LATIN" in scripts and not scripts.isdisjoint(_LOOK_ALIKES))


def _words(text: str, taken: Sequence[tuple[int, int]], public: PublicWords) -> Iterator[_Word]:
    for match in _WORD.finditer(_masked(text, taken)):
        start, end = match.span()
        word = match.group()
        is_public = is_public_word(word, public)
        capital = any(letter.isupper() or letter.istitle() for letter in word) or is_disguised(word)
        begins = (is_public or word.casefold() in _OPENERS) and _begins_sentence(text, start)
        marked = capital and not begins and normalise(word).text not in _SELF
        yield _Word(start, end, word, is_public, marked)


def _masked(text: str, taken: Sequence[tuple[int, int]]) -> str:
    """`text` with a character that is in no word in place of each one taken, so that no word reaches into them."""
    parts, at = [], 0
    for start, end in sorted(taken):
        parts += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start].rstrip(_BEFORE_WORDS)
    if not before:
        return True
    if before[-1] != ".":
        return before[-1] in _ENDS_SENTENCE
    last = re.search(r"([^\W\d_]+)\.\Z", before)
    return last is None or not _is_initial(last[1])


def _is_initial(word: str) -> bool:
    return word[0].isupper() and (len(word) == 1 or word.casefold() in _TITLES)


def _is_title(words: Sequence[_Word]) -> bool:
    capitals = sum(word.text[0].isupper() for word in words)
    telling = any(word.marked and word.text.casefold() in _NEVER_IN_NAMES for word in words)
    return telling and capitals >= _MANY_CAPITALS * len(words)


def _runs(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """Marked words that stand together, with the small words of names between them: `Ludwig van Zorb`."""
    run: list[_Word] = []
    particles: list[_Word] = []
    for word in words:
        joined = bool(run) and _joins(text, (particles or run)[-1], word)
        if run and not joined:
            yield run
            run, particles = [], []
        if word.marked:
            run, particles = [*run, *particles, word], []
        elif joined and word.text in _PARTICLES:
            particles.append(word)
        elif run:
            yield run
            run, particles = [], []
    if run:
        yield run


def _joins(text: str, before: _Word, word: _Word) -> bool:
    gap = text[before.end : word.start]
    if before.end != _end_of_name(before):
        return False
    if _GAP.fullmatch(gap):
        return True
    return _is_initial(before.text) and _GAP_AFTER_INITIAL.fullmatch(gap) is not None


def _is_unknown(text: str, run: Sequence[_Word], public: PublicWords) -> bool:
    if not all(word.public for word in run if word.marked):
        return True
    start, end = _span(run)
    return len(run) > 1 and normalise(text[start:end]).text not in public


def _goes_on(text: str, run: Sequence[_Word], taken: Sequence[tuple[int, int]]) -> bool:
    """Words with a capital right behind what is replaced (Thaddeus Field), or words that may be names in front of it:
    Will Quillmore, but President Quillmore."""
    start, end = _span(run)
    if any(_GAP.fullmatch(text[stop:start]) for _, stop in taken if stop <= start):
        return True
    in_front = any(_GAP.fullmatch(text[end:begin]) for begin, _ in taken if end <= begin)
    return in_front and all(may_be_proper(word.text) for word in run)


def _span(run: Sequence[_Word]) -> tuple[int, int]:
    return run[0].start, _end_of_name(run[-1])


def _end_of_name(word: _Word) -> int:
    """Where the word ends without a possessive 's."""
    possessive = len(word.text) > 2 and word.text[-2] in "'’ʼ＇" and word.text[-1] in "sS"
    return word.end - 2 if possessive else word.end
