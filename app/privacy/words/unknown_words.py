"""Finds the words of a turn that may not leave: those outside the lexicon, and those that are a name in their place.

What one of them was meant to say is read in words that every prompt shows anyway.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.privacy.words.common_readings import reads_as_common
from app.privacy.words.grammar import BULLETS, KIN, MEASURING, Stand, Token, TurnTokens
from app.privacy.words.lexicon import APOSTROPHES, CONTRACTIONS, Lexicon, base_of, language_of, words_in
from app.privacy.words.name_slots import opens_a_sentence, speaks_for_name, stands_as_a_name
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.names.name_words import COMMON_WORDS, may_name, one_slip_away
from kg_store.text.english import PublicWords, may_be_proper, stems
from kg_store.text.normalise import normalise

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
_SELF = frozenset(("i", "i'm", "i've", "i'll", "i'd"))
# Capitals inside a sentence on words that no name has show a title: "Which Patients Were Born By 1990".
_NEVER_IN_NAMES = frozenset(
    ["is", "are", "was", "were", "has", "have", "had", "does", "did", "be", "been", "by", "with", "from", "than"]
)
_LOOK_ALIKES = frozenset(("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"))
_MANY_CAPITALS = 0.6
_LOOK_BACK = 40
_MAX_PASSES: Final = 3
"""Rounds of the search: a name that is found may show that the word beside it is one too."""

MAX_PHRASE_WORDS: Final = 6

Taken = tuple[int, int, Stand]
"""Start, end and role of a part that is replaced already."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Facts about a word that do not depend on its place in the text."""

    permitted: bool
    public: bool
    is_part: bool
    has_capital: bool
    """True of a capital that means something; that of "I" does not."""


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str = field(repr=False)
    public: bool
    """True of a word so common, or so certainly of the schema, that a capital alone does not make it a name."""
    marked: bool
    """True of a word that may not leave, or that has a capital for another reason than beginning a sentence."""


def unknown_spans(text: str, taken: Sequence[Taken], lexicon: Lexicon) -> list[tuple[int, int]]:
    """Returns the spans outside of `taken` that may not leave, without overlaps; a possessive 's is not included.

    These are: words that the lexicon does not permit, in any case or script; permitted words with a capital inside a
    sentence, if they are rare or part of a name (a run of capitalised words counts as one name); whole names made of
    everyday words; and single everyday words where the sentence indicates a name (app/privacy/words/name_slots.py). If
    most words have capitals (titles, shouting), capitals are ignored.
    """
    matches = list(words_in(_masked(text, taken)))
    language = language_of(match[0].lower() for match in matches)
    plain = _tokens(matches, taken)
    turn = TurnTokens(text, plain, lexicon, language)
    known = {written: _known(written, lexicon, language) for written in {text[slice(*m.span())] for m in matches}}
    words = [_word(turn, at, known) for at, token in enumerate(plain) if token.stand is Stand.WORD]
    spans = _by_capitals(text, words, taken, lexicon)
    spans += [(at, end) for at, end in _phrases(turn) if not any(at < stop and start < end for start, stop in spans)]
    for _ in range(_MAX_PASSES):
        tokens = _tokens(matches, [*taken, *((*span, Stand.UNKNOWN) for span in spans)]) if spans else plain
        more = list(_by_place(replace(turn, tokens=tokens)))
        if not more:
            break
        spans += more
    return sorted(spans)


def turn_of(text: str, taken: Sequence[Taken], lexicon: Lexicon) -> TurnTokens:
    """Returns the words of `text` outside of `taken`, with a token for each part taken."""
    matches = list(words_in(_masked(text, taken)))
    return TurnTokens(text, _tokens(matches, taken), lexicon, language_of(match[0].lower() for match in matches))


def is_public_word(word: str, public: PublicWords) -> bool:
    """True if `word`, or a word that it is a form of, is public: `patients'`, `Who's`, `treated`, `citing`."""
    spelling = normalise(word).text
    base, _, ending = spelling.partition("'")
    if spelling in public:
        return True
    if ending in CONTRACTIONS and (base in public or (ending == "t" and base.removesuffix("n") in public)):
        return True
    return not ending and any(stem in public for stem in stems(base))


def is_disguised(word: str) -> bool:
    """True if a word mixes Latin with look-alike letters or consists of small capitals; no everyday
    word is typed so.
    """
    if word.isascii():
        return False
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    small_capitals = any("SMALL CAPITAL" in unicodedata.name(letter, "") for letter in word)
    return small_capitals or ("LATIN" in scripts and not scripts.isdisjoint(_LOOK_ALIKES))


def _tokens(matches: Sequence[re.Match[str]], taken: Sequence[Taken]) -> list[Token]:
    """Words and replaced parts, in order."""
    found = [Token(start, end, stand) for start, end, stand in taken]
    covered = sorted((start, end) for start, end, _ in taken)
    found += [
        Token(match.start(), match.end(), Stand.WORD, match[0].lower())
        for match in matches
        if not covered or not _overlaps(covered, match.start(), match.end())
    ]
    return sorted(found, key=lambda token: token.start)


def _overlaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_left(spans, (end, end))
    return at > 0 and spans[at - 1][1] > start


def _known(written: str, lexicon: Lexicon, language: str) -> _Known:
    word = written.lower()
    permitted = lexicon.permits(word, language) and not is_disguised(written)
    is_part = _is_part(word, lexicon)
    public = permitted and not is_part and (lexicon.is_own(word) or is_public_word(written, lexicon.public))
    has_capital = any(letter.isupper() or letter.istitle() for letter in written)
    return _Known(permitted, public, is_part, has_capital and normalise(written).text not in _SELF)


def _is_part(word: str, lexicon: Lexicon) -> bool:
    return lexicon.names_somebody(word) and may_name(base_of(word))


def _word(turn: TurnTokens, at: int, known: Mapping[str, _Known]) -> _Word:
    token = turn.tokens[at]
    written = turn.text[token.start : token.end]
    told = known[written]
    marked = not told.permitted or (told.has_capital and not _begins(turn, at, told.is_part))
    return _Word(token.start, token.end, written, told.public, marked)


def _begins(turn: TurnTokens, at: int, is_part: bool) -> bool:
    """True if the capital is there because a sentence begins; for a word that occurs in names the grammar must show
    it.
    """
    token = turn.tokens[at]
    if not _begins_sentence(turn.text, token.start):
        return False
    is_common = not is_part or turn.lexicon.is_own(token.word) or token.word in COMMON_WORDS
    return is_common or opens_a_sentence(turn, at)


def _by_capitals(text: str, words: Sequence[_Word], taken: Sequence[Taken], lexicon: Lexicon) -> list[tuple[int, int]]:
    if _is_title(words):
        return [_span([word]) for word in words if word.marked and not lexicon.permits(word.text.lower())]
    runs = _runs(text, words)
    return [_span(run) for run in runs if _is_unknown(text, run, lexicon.public) or _is_beside(text, run, taken)]


def _phrases(turn: TurnTokens) -> Iterator[tuple[int, int]]:
    """Whole names made of everyday words, the longest first, wherever they stand."""
    end = 0
    for at, token in enumerate(turn.tokens):
        if token.start >= end and (span := _phrase_at(turn, at)) is not None:
            yield span
            end = span[1]


def _phrase_at(turn: TurnTokens, at: int) -> tuple[int, int] | None:
    first = base_of(turn.tokens[at].word)
    if not first or first not in turn.lexicon.names.first_words:
        return None
    words = [base_of(token.word) for token in turn.tokens[at : at + MAX_PHRASE_WORDS]]
    for count in range(len(words), 1, -1):
        telling = [word for word in words[:count] if may_name(word)]
        phrase = " ".join(words[:count])
        if phrase not in turn.lexicon.names.phrases or len(telling) < 2:
            continue
        if not all(map(turn.lexicon.is_own, telling)):
            return turn.tokens[at].start, turn.tokens[at + count - 1].end
    return None


def _by_place(turn: TurnTokens) -> Iterator[tuple[int, int]]:
    """Words that occur in names, where the sentence shows that they are a name."""
    words = {token.word for token in turn.tokens if token.stand is Stand.WORD}
    parts = {word for word in words if _is_part(word, turn.lexicon) or turn.lexicon.may_be_short_name(word)}
    for at, token in enumerate(turn.tokens):
        if token.word in parts and (speaks_for_name(turn, at) or _is_unproved(turn, at)):
            yield token.start, token.start + len(base_of(token.word))


def _is_unproved(turn: TurnTokens, at: int) -> bool:
    """True of a word that itself stands in a name, where nothing shows that the common word is meant."""
    word = base_of(turn.tokens[at].word)
    return word in turn.lexicon.names.said_alone and may_name(word) and not reads_as_common(turn, at)


def _masked(text: str, taken: Sequence[Taken]) -> str:
    """`text` with a non-word character for each character taken, so that no word extends into these parts."""
    parts, at = [], 0
    for start, end, _ in sorted(taken, key=lambda each: each[:2]):
        parts += [text[at:start], "\0" * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def _begins_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start].rstrip(BULLETS)
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
    """Neighbouring marked words, with the particles of names between them: `Ludwig van Zorb`."""
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


def _is_beside(text: str, run: Sequence[_Word], taken: Sequence[Taken]) -> bool:
    """True of capitalised words directly after a replaced part (Thaddeus Field), and of words before one that may be
    names: "Will Quillmore", but not "President Quillmore".
    """
    start, end = _span(run)
    if any(_GAP.fullmatch(text[stop:start]) for _, stop, _ in taken if stop <= start):
        return True
    in_front = any(_GAP.fullmatch(text[end:begin]) for begin, _, _ in taken if end <= begin)
    return in_front and all(may_be_proper(word.text) for word in run)


def _span(run: Sequence[_Word]) -> tuple[int, int]:
    return run[0].start, _end_of_name(run[-1])


def _end_of_name(word: _Word) -> int:
    """The end of the word without a possessive 's."""
    possessive = len(word.text) > 2 and word.text[-2] in APOSTROPHES and word.text[-1] in "sS"
    return word.end - 2 if possessive else word.end


MIN_MISTYPED: Final = 5
MIN_SHORTENED: Final = 4
MIN_PIECE: Final = 4
"""The least length of a word that is recognised inside joined words. Chosen by hand."""

_KIN: Final = KIN | frozenset(("children", "spouse", "couple", "offspring", "partner"))
_TOLD_OF: Final = frozenset("dead died born birth death name date place".split())
_INSIDE: Final = "of"


@dataclass(frozen=True, slots=True)
class SchemaReading:
    """text[start:end] read as `instead`."""

    start: int
    end: int
    instead: str = field(repr=False)


def schema_readings(
    text: str, words: Collection[tuple[int, int]], taken: Sequence[Taken], lexicon: Lexicon
) -> list[SchemaReading]:
    """Returns readings of `words`, spans of `text` in lower case that may not leave; `taken` is what is replaced
    already.

    Promise: a reading holds only words of the shown schema and of a closed list. A word that is similar to one of a
    name of the tenant, or that stands where a name would, is not read. Limit: English only.
    """
    if not words:
        return []
    turn = turn_of(text, taken, lexicon)
    if not _is_english(turn):
        return []
    found = []
    for at, token in enumerate(turn.tokens):
        if token.stand is not Stand.WORD or (token.start, token.end) not in words:
            continue
        meant = _meant(token.word, lexicon)
        if meant and not stands_as_a_name(turn, at):
            found.append(SchemaReading(token.start, token.end, meant))
    return found


def _is_english(turn: TurnTokens) -> bool:
    """True if at least half of the words are English, because the language of a short text cannot be told reliably."""
    known = [in_lexicon(base_of(token.word)) for token in turn.tokens if token.stand is Stand.WORD]
    return sum(known) * 2 >= len(known)


def _meant(word: str, lexicon: Lexicon) -> str:
    """The meaning of a misspelt word; empty if nothing or several words are near, or it may be somebody's name."""
    if len(word) < MIN_SHORTENED or not (word.isascii() and word.isalpha()):
        return ""
    meant = _shortened(word, lexicon.schema)
    if not meant and len(word) >= MIN_MISTYPED:
        meant = _mistyped(word, lexicon.schema | MEASURING) or _run_together(word, lexicon)
    return "" if not meant or lexicon.names.has_near(word) else meant


def _shortened(word: str, schema: frozenset[str]) -> str:
    """The only word of the schema that `word` abbreviates, in the same number: profs, dept; else empty."""
    stem = word.removesuffix("s")
    longer = [own for own in schema if len(own) > len(stem) + 1 and own.isalpha() and _abbreviates(own, stem)]
    if len(longer) != 1 or len(stem) < MIN_SHORTENED:
        return ""
    return longer[0] if stem == word else _forms(longer[0])[-1]


def _abbreviates(own: str, stem: str) -> bool:
    """True if `stem` is the beginning of `own`, or its beginning and last letter: prof, dept."""
    return own.startswith(stem) or (own[-1] == stem[-1] and own.startswith(stem[:-1]))


def _mistyped(word: str, schema: frozenset[str]) -> str:
    """The only word of the schema that `word` misspells by one slip, with the same ending; else empty."""
    slips = set(one_slip_away(word))
    near = {own: [form for form in _forms(own) if form in slips] for own in schema}
    meant = [forms for forms in near.values() if forms]
    return max(meant[0], key=lambda form: form[-1] == word[-1]) if len(meant) == 1 else ""


def _forms(own: str) -> tuple[str, ...]:
    """A word of the schema and its plural; none if it is not a plain word."""
    if len(own) < MIN_PIECE or not (own.isascii() and own.isalpha()):
        return ()
    plural = (
        f"{own[:-1]}ies" if own.endswith("y") else f"{own}es" if own.endswith(("s", "x", "ch", "sh")) else f"{own}s"
    )
    return own, plural


def _run_together(word: str, lexicon: Lexicon) -> str:
    """`word` as separate words of the schema, of kinship and of facts about people: childrendead, placeofbirth.

    Two joined common words are often somebody's name (goodfriend, townsend), so they are not read.
    """
    own = {form for each in lexicon.schema for form in _forms(each)} | _KIN
    pieces = {piece for piece in own | _TOLD_OF if len(piece) >= MIN_PIECE and piece in word}
    told = {piece for piece in pieces if not lexicon.names_somebody(piece)}
    splits = [split for split in _splits(word, told) if not own.isdisjoint(split)]
    return " ".join(splits[0]) if len(splits) == 1 else ""


def _splits(word: str, pieces: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yields every way to split all of `word` into two or more pieces, with only "of" between them."""
    for piece in pieces:
        if not word.startswith(piece):
            continue
        rest = word[len(piece) :]
        for inside, left in (((), rest), ((_INSIDE,), rest.removeprefix(_INSIDE))):
            if inside and left == rest:
                continue
            if left in pieces:
                yield piece, *inside, left
            yield from ((piece, *inside, *more) for more in _splits(left, pieces))
