"""Finds the words of a turn that may not leave: those outside the lexicon, and those that are names by their place.

Also corrects unknown words to words of the schema, which every prompt shows anyway.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from operator import itemgetter
from typing import Final

from app.privacy.words.common_readings import is_in_any_question, may_be_somebodys, reads_as_common
from app.privacy.words.grammar import BULLETS, KIN, MEASURING, Stand, Token, TurnTokens
from app.privacy.words.lexicon import APOSTROPHES, CONTRACTIONS, Lexicon, base_of, language_of, words_in
from app.privacy.words.name_slots import opens_a_sentence, speaks_for_name, stands_as_a_name
from kg_store.lexicon.lexicon import in_lexicon, in_lexicon_of
from kg_store.names.name_words import COMMON_WORDS, MAX_TYPED_CHARS, may_name, one_slip_away
from kg_store.text.english import PublicWords, may_be_proper, stems
from kg_store.text.inflection import singular
from kg_store.text.normalise import normalise

_GAP = re.compile(r"[ \t\u00a0\u202f]|[-‐‑–]")
_GAP_AFTER_INITIAL = re.compile(r"\.[ \t\u00a0\u202f]?")
# Abbreviations whose full stop does not end a sentence.
_TITLES = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "st", "sr", "jr", "rev", "fr", "col", "gen", "lt", "sgt", "capt", "mme"]
)
_PARTICLES = frozenset(
    ["of", "the", "van", "von", "der", "den", "de", "del", "della", "da", "di", "du", "la", "le", "el", "al"]
)
_ENDS_SENTENCE = frozenset(".!?:;\n…¿¡。！？：；")
_SELF = frozenset(("i", "i'm", "i've", "i'll", "i'd"))
# If one of these has a capital inside a sentence, the text is a title: "Which Patients Were Born By 1990".
_NEVER_IN_NAMES = frozenset(
    ["is", "are", "was", "were", "has", "have", "had", "does", "did", "be", "been", "by", "with", "from", "than"]
)
_LOOK_ALIKES = frozenset(("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"))
_MANY_CAPITALS = 0.6
_LOOK_BACK = 40
_MAX_PASSES: Final = 3
"""The most rounds of the search.

Each may show that a word beside a name found before is a name too. Chosen by hand.
"""

MAX_PHRASE_WORDS: Final = 6

Taken = tuple[int, int, Stand]
"""Start, end and role of a part that is already replaced."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Facts about a word that do not depend on its place in the text."""

    permitted: bool
    is_part: bool
    has_capital: bool
    """True if the word has a capital that could mark a name; false for "I", which always has one."""


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str = field(repr=False)
    public: bool
    """True if a marked word is so common, or so certainly of the schema, that a capital alone makes it no name."""
    marked: bool
    """True if the word may not leave, or has a capital although it begins no sentence."""


def unknown_spans(text: str, taken: Sequence[Taken], lexicon: Lexicon) -> list[tuple[int, int]]:
    """Returns the spans outside of `taken` that may not leave, without overlaps and without a possessive 's.

    These are: words that the lexicon does not permit, in any case or script; permitted words with a capital inside a
    sentence, if they are rare or part of a name (a run of capitalised words counts as one name); whole names made of
    everyday words; and single everyday words where the sentence indicates a name (app/privacy/words/name_slots.py). If
    most words have capitals (titles, shouting), capitals are ignored.
    """
    matches = list(words_in(_masked(text, taken)))
    turn = _turn(text, matches, taken, lexicon)
    plain, language = turn.tokens, turn.language
    known = {written: _known(written, lexicon, language) for written in {match[0] for match in matches}}
    spans = _by_capitals(turn, known, taken)
    spans += [(at, end) for at, end in _phrases(turn) if not any(at < stop and start < end for start, stop in spans)]
    words = {word.lower(): told for word, told in known.items()}
    parts = {word for word, told in words.items() if told.is_part or lexicon.may_be_short_name(word)}
    parts |= {word for word in words if lexicon.names.tells_of_a_text(base_of(word))}
    tokens, more = plain, spans
    for _ in range(_MAX_PASSES if parts else 0):
        tokens = _with_parts(tokens, [Token(*span, Stand.UNKNOWN) for span in more])
        more = list(_by_place(replace(turn, tokens=tokens), parts))
        if not more:
            break
        spans += more
    return sorted(spans)


def turn_of(text: str, taken: Sequence[Taken], lexicon: Lexicon) -> TurnTokens:
    """Returns the tokens of `text`: its words outside of `taken`, and one token for each part taken."""
    return _turn(text, list(words_in(_masked(text, taken))), taken, lexicon)


def _turn(text: str, matches: Sequence[re.Match[str]], taken: Sequence[Taken], lexicon: Lexicon) -> TurnTokens:
    words = [match[0].lower() for match in matches]
    places = map(re.Match.start, matches), map(re.Match.end, matches)
    # Made by `map` alone, since a long text has many words.
    tokens = list(map(tuple.__new__, repeat(Token), zip(*places, repeat(Stand.WORD), words, strict=False)))
    return TurnTokens(text, _with_parts(tokens, [Token(*each) for each in taken]), lexicon, language_of(words))


def is_public_word(word: str, public: PublicWords) -> bool:
    """True if `word`, or its base form, is public. Knows forms such as `patients'`, `Who's`, `treated`, `citing`."""
    spelling = normalise(word).text
    base, _, ending = spelling.partition("'")
    if spelling in public:
        return True
    if ending in CONTRACTIONS and (base in public or (ending == "t" and base.removesuffix("n") in public)):
        return True
    return not ending and any(stem in public for stem in stems(base))


def is_disguised(word: str) -> bool:
    """True if a word mixes Latin with look-alike letters of other scripts, or contains small capitals.

    No everyday word is typed so.
    """
    if word.isascii():
        return False
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word if letter.isalpha()}
    small_capitals = any("SMALL CAPITAL" in unicodedata.name(letter, "") for letter in word)
    return small_capitals or ("LATIN" in scripts and not scripts.isdisjoint(_LOOK_ALIKES))


def _with_parts(tokens: Sequence[Token], parts: Sequence[Token]) -> Sequence[Token]:
    """Returns `tokens` with the replaced `parts`, which take the place of the words that they meet."""
    if not parts:
        return tokens
    covered = sorted((part.start, part.end) for part in parts)
    left = [token for token in tokens if token.stand is not Stand.WORD or not _overlaps(covered, *token[:2])]
    return sorted([*parts, *left], key=itemgetter(0))


def _overlaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_left(spans, (end, end))
    return at > 0 and spans[at - 1][1] > start


def _known(written: str, lexicon: Lexicon, language: str) -> _Known:
    word = written.lower()
    permitted = lexicon.permits(word, language) and not is_disguised(written)
    is_part = _is_part(word, lexicon)
    # German writes every noun with a capital; a word of its lexicon names nobody.
    is_noun = language == "de" and not is_part and not written.isupper() and in_lexicon_of(language, word)
    has_capital = not is_noun and any(letter.isupper() or letter.istitle() for letter in written)
    return _Known(permitted, is_part, has_capital and normalise(written).text not in _SELF)


def _is_public(written: str, known: _Known, lexicon: Lexicon) -> bool:
    is_word = known.permitted and not known.is_part
    return is_word and (lexicon.is_own(written.lower()) or is_public_word(written, lexicon.public))


def _is_part(word: str, lexicon: Lexicon) -> bool:
    return lexicon.names_somebody(word) and may_name(base_of(word))


def _is_marked(turn: TurnTokens, at: int, known: _Known) -> bool:
    """True if the word may not leave, or has a capital although it begins no sentence."""
    return not known.permitted or (known.has_capital and not _begins(turn, at, known.is_part))


def _begins(turn: TurnTokens, at: int, is_part: bool) -> bool:
    """True if the word has its capital because a sentence begins with it.

    A word that occurs in names also needs a grammatical reason to open a sentence.
    """
    token = turn.tokens[at]
    if not _begins_sentence(turn.text, token.start):
        return False
    is_common = not is_part or turn.lexicon.is_own(token.word) or token.word in COMMON_WORDS
    return is_common or opens_a_sentence(turn, at)


def _by_capitals(turn: TurnTokens, known: Mapping[str, _Known], taken: Sequence[Taken]) -> list[tuple[int, int]]:
    text, tokens = turn.text, turn.tokens
    may_be = {word for word, told in known.items() if told.has_capital or not told.permitted}
    if not may_be:
        return []
    # Other words can't be part of a name.
    read = _PARTICLES.union(map(str.lower, may_be))
    written = [(at, text[token.start : token.end]) for at, token in enumerate(tokens) if token.word in read]
    marked = {at for at, word in written if word in may_be and _is_marked(turn, at, known[word])}
    words = [
        _Word(*tokens[at][:2], word, at in marked and _is_public(word, known[word], turn.lexicon), at in marked)
        for at, word in written
        if at in marked or word in _PARTICLES
    ]
    if _is_title(turn, words):
        return [_span([word]) for word in words if word.marked and not turn.lexicon.permits(word.text.lower())]
    runs = _runs(text, words)
    return [_span(run) for run in runs if _is_unknown(text, run, turn.lexicon.public) or _is_beside(text, run, taken)]


def _phrases(turn: TurnTokens) -> Iterator[tuple[int, int]]:
    """Yields the spans of whole names that are made of everyday words, the longest first."""
    end = 0
    first_words = turn.lexicon.names.first_words
    opening = {word for word in {token.word for token in turn.tokens} if word and base_of(word) in first_words}
    for at, token in enumerate(turn.tokens) if opening else ():
        if token.word in opening and token.start >= end and (span := _phrase_at(turn, at)) is not None:
            yield span
            end = span[1]


def _phrase_at(turn: TurnTokens, at: int) -> tuple[int, int] | None:
    words = [base_of(token.word) for token in turn.tokens[at : at + MAX_PHRASE_WORDS]]
    for count in range(len(words), 1, -1):
        telling = [word for word in words[:count] if may_name(word)]
        phrase = " ".join(words[:count])
        if phrase not in turn.lexicon.names.phrases or len(telling) < 2:
            continue
        if not all(map(turn.lexicon.is_own, telling)):
            return turn.tokens[at].start, turn.tokens[at + count - 1].end
    return None


def _by_place(turn: TurnTokens, parts: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yields the spans of the words `parts`, which occur in names, where the sentence shows that they are a name."""
    for at, token in enumerate(turn.tokens):
        if token.word in parts and (speaks_for_name(turn, at) or _is_unproved(turn, at)):
            yield token.start, token.start + len(base_of(token.word))


def _is_unproved(turn: TurnTokens, at: int) -> bool:
    """True if the word may name something by itself, and its place does not show that the common word is meant."""
    word, names = base_of(turn.tokens[at].word), turn.lexicon.names
    is_of_schema = is_in_any_question(turn, at) or turn.lexicon.is_own(singular(word))
    if names.tells_of_a_text(word) and not is_of_schema:
        return True  # An article before it proves nothing: "the one with the cello".
    may_be_meant = word in names.said_alone or may_be_somebodys(turn, at)
    return may_be_meant and may_name(word) and not reads_as_common(turn, at)


def _masked(text: str, taken: Sequence[Taken]) -> str:
    """Returns `text` with a non-word character for each character taken, so that no word extends into these parts."""
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


def _is_title(turn: TurnTokens, words: Sequence[_Word]) -> bool:
    """True if most words of the text have capitals, and among `words` are marked ones that names never have."""
    if not any(word.marked and word.text.casefold() in _NEVER_IN_NAMES for word in words):
        return False
    capitals = [turn.text[token.start].isupper() for token in turn.tokens if token.stand is Stand.WORD]
    return sum(capitals) >= _MANY_CAPITALS * len(capitals)


def _runs(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """Yields runs of neighbouring marked words, with the particles of names between them: `Ludwig van Zorb`."""
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
    """True if a run of capitalised words touches a replaced part and may belong to the same name.

    Before a replaced part all its words must be possible names: "Will Quillmore", but not "President Quillmore".
    """
    start, end = _span(run)
    if any(_GAP.fullmatch(text[stop:start]) for _, stop, _ in taken if stop <= start):
        return True
    in_front = any(_GAP.fullmatch(text[end:begin]) for begin, _, _ in taken if end <= begin)
    return in_front and all(may_be_proper(word.text) for word in run)


def _span(run: Sequence[_Word]) -> tuple[int, int]:
    return run[0].start, _end_of_name(run[-1])


def _end_of_name(word: _Word) -> int:
    """Returns the end of the word without a possessive 's."""
    possessive = len(word.text) > 2 and word.text[-2] in APOSTROPHES and word.text[-1] in "sS"
    return word.end - 2 if possessive else word.end


MIN_MISTYPED: Final = 5
MIN_SHORTENED: Final = 4
MIN_PIECE: Final = 4
"""The fewest letters of a word that is recognised inside joined words. Chosen by hand."""

_KIN: Final = KIN | frozenset(("children", "spouse", "couple", "offspring", "partner"))
_TOLD_OF: Final = frozenset("dead died born birth death name date place".split())
_INSIDE: Final = "of"


@dataclass(frozen=True, slots=True)
class SchemaReading:
    """A correction of an unknown word, text[start:end], to words of the schema: `instead`."""

    start: int
    end: int
    instead: str = field(repr=False)


def schema_readings(
    text: str, words: Collection[tuple[int, int]], taken: Sequence[Taken], lexicon: Lexicon
) -> list[SchemaReading]:
    """Returns corrections of `words` (spans of `text` in lower case that may not leave) to words of the schema.

    `taken` are the parts replaced already. Promise: a correction holds only words of the shown schema and of a closed
    list. A word that is similar to a word of a name of the tenant, or that stands where a name would, is not
    corrected. Limit: English only.
    """
    meant = {word: _meant(word, lexicon) for word in {text[start:end].lower() for start, end in words}}
    if not any(meant.values()):
        return []
    turn = turn_of(text, taken, lexicon)
    if not _is_english(turn):
        return []
    return [
        SchemaReading(token.start, token.end, meant[token.word])
        for at, token in enumerate(turn.tokens)
        if (token.start, token.end) in words and meant.get(token.word) and not stands_as_a_name(turn, at)
    ]


def _is_english(turn: TurnTokens) -> bool:
    """True if at least half of the words are English; short texts give no more reliable sign of their language."""
    known = [in_lexicon(base_of(token.word)) for token in turn.tokens if token.stand is Stand.WORD]
    return sum(known) * 2 >= len(known)


def _meant(word: str, lexicon: Lexicon) -> str:
    """Returns the schema words that a misspelt `word` means.

    Empty if no word or several are near, or if `word` is similar to a name.
    """
    if len(word) < MIN_SHORTENED or not (word.isascii() and word.isalpha()):
        return ""
    meant = _shortened(word, lexicon.schema)
    if not meant and len(word) >= MIN_MISTYPED:
        meant = _mistyped(word, lexicon.schema | MEASURING) or _run_together(word, lexicon)
    return "" if not meant or lexicon.names.has_near(word) else meant


def _shortened(word: str, schema: frozenset[str]) -> str:
    """Returns the only word of the schema that `word` abbreviates, in the same number ("profs", "dept"), else ""."""
    stem = word.removesuffix("s")
    longer = [own for own in schema if len(own) > len(stem) + 1 and own.isalpha() and _abbreviates(own, stem)]
    if len(longer) != 1 or len(stem) < MIN_SHORTENED:
        return ""
    return longer[0] if stem == word else _forms(longer[0])[-1]


def _abbreviates(own: str, stem: str) -> bool:
    """True if `stem` is the beginning of `own` ("prof"), or its beginning and last letter ("dept")."""
    return own.startswith(stem) or (own[-1] == stem[-1] and own.startswith(stem[:-1]))


def _mistyped(word: str, schema: frozenset[str]) -> str:
    """Returns the only word of the schema that differs from `word` by one typing error, else "".

    Where the singular and the plural are both one error away, the one that ends like `word` is taken.
    """
    slips = set(one_slip_away(word))
    # A plural is at most two letters longer, and a slip changes the length by one at most.
    able = (own for own in schema if -3 <= len(own) - len(word) <= 1)
    meant = [forms for own in able if (forms := [form for form in _forms(own) if form in slips])]
    return max(meant[0], key=lambda form: form[-1] == word[-1]) if len(meant) == 1 else ""


def _forms(own: str) -> tuple[str, ...]:
    """Returns a word of the schema and its plural; empty if the word is short or not made of ASCII letters."""
    if len(own) < MIN_PIECE or not (own.isascii() and own.isalpha()):
        return ()
    plural = (
        f"{own[:-1]}ies" if own.endswith("y") else f"{own}es" if own.endswith(("s", "x", "ch", "sh")) else f"{own}s"
    )
    return own, plural


def _run_together(word: str, lexicon: Lexicon) -> str:
    """Returns `word` split into words of the schema, of kinship and of facts about people: childrendead, placeofbirth.

    Empty if there is no split or several, or if the word is longer than MAX_TYPED_CHARS. At least one part must be of
    the schema or kinship: two other common words joined are often somebody's name (goodfriend, townsend).
    """
    if len(word) > MAX_TYPED_CHARS:
        return ""
    own = {form for each in lexicon.schema for form in _forms(each)} | _KIN
    pieces = {piece for piece in own | _TOLD_OF if len(piece) >= MIN_PIECE and piece in word}
    told = {piece for piece in pieces if not lexicon.names_somebody(piece)}
    splits = [split for split in _splits(word, told) if not own.isdisjoint(split)]
    return " ".join(splits[0]) if len(splits) == 1 else ""


def _splits(word: str, pieces: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yields every way to split all of `word` into two or more pieces, with at most an "of" between two."""
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
