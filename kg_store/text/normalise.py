"""Normalises text for comparing names, keeping positions; and maps characters to the Latin letters they look like."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import groupby
from typing import Final

from confusable_homoglyphs.confusables import confusables_data

_HARD = "\x00"  # Marks a character that is not folded to exactly one: it disappears, grows, or joins the one before.
MAX_CLUSTER: Final = 64
"""The most characters that are folded as one, because folding takes quadratic time; no writing needs as many marks."""
_APOSTROPHES = frozenset("'`´‘’‚‛′‵ʹʻʼʽˈ՚＇｀＇ꞌ")
_QUOTES = frozenset('"“”„‟″‶〝〞〟＂')
_HYPHENS = frozenset("⁃−˗﹣－")
_IGNORED = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800") | {
    chr(code)
    for start, end in (
        (0x334, 0x338),
        (0x20D2, 0x20DC),
        (0x20DD, 0x20F0),
        (0x180B, 0x180F),
        (0xFE00, 0xFE0F),
        (0xE0100, 0xE01EF),
    )
    for code in range(start, end + 1)
}
_SIGNS_OF_NUMBERS = range(0x0600, 0x0606)  # Arabic signs of Unicode category "format" that are visible nevertheless.
_RUN = re.compile(r"\x00[\x00 ]*| [\x00 ]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029"
    "\u3041-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\ua980-\ua9df\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U000323af]"
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the normalised text, with its place in the original.

    Without `spans` it is copied from position `origin` on. With `spans` it is changed, and `spans` has the original
    (start, end) of each character.
    """

    start: int
    origin: int
    spans: tuple[tuple[int, int], ...] | None = field(default=None, repr=False)

    def span_of(self, position: int) -> tuple[int, int]:
        if self.spans is None:
            begin = self.origin + position - self.start
            return begin, begin + 1
        return self.spans[position - self.start]


_UNCHANGED = (_Piece(0, 0),)  # Every character is at its original position.


@dataclass(frozen=True, slots=True)
class Normalised:
    """A normalised text. `seams`: the positions before which an invisible character was removed."""

    text: str = field(repr=False)
    seams: frozenset[int] = field(default=frozenset(), repr=False)
    _pieces: tuple[_Piece, ...] = field(default=_UNCHANGED, repr=False)
    _starts: tuple[int, ...] = field(default=(0,), repr=False)

    @property
    def is_one_to_one(self) -> bool:
        """True if every character is at its original position."""
        return self._pieces == _UNCHANGED

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns the place in the original text of the normalised characters from `start` to `end`."""
        if self.is_one_to_one:
            return start, end
        if end <= start:
            behind = self._span_of(len(self.text) - 1)[1] if self.text else 0
            where = self._span_of(start)[0] if start < len(self.text) else behind
            return where, where
        return self._span_of(start)[0], self._span_of(end - 1)[1]

    def is_border(self, position: int) -> bool:
        """Returns True if a word may begin or end at `position`; in scripts without spaces that is everywhere."""
        text = self.text
        if position <= 0 or position >= len(text):
            return True
        before, after = text[position - 1], text[position]
        if not (is_word_character(before) and is_word_character(after)) or position in self.seams:
            return True
        return is_unspaced(before) or is_unspaced(after)

    def _span_of(self, position: int) -> tuple[int, int]:
        return self._pieces[bisect_right(self._starts, position) - 1].span_of(position)


def normalise(text: str) -> Normalised:
    """Returns the text in NFKC and casefolded, with all apostrophes as ' and runs of hyphens, underscores and white
    space as one space. Zero-width and control characters are removed. Normalising twice changes nothing.
    """
    easy = text.translate(_FOLDED)
    if _HARD not in easy and "  " not in easy:
        return Normalised(easy)
    return _join(text, easy)


def is_word_character(character: str) -> bool:
    """Returns True for letters, digits and the marks that belong to them."""
    return character.isalnum() or (not character.isascii() and unicodedata.category(character)[0] == "M")


def is_unspaced(character: str) -> bool:
    """Returns True for scripts without spaces, or that attach particles to names: CJK, Thai, Hangul and others."""
    return not character.isascii() and _UNSPACED.match(character) is not None


def _join(text: str, easy: str) -> Normalised:
    parts: list[str] = []
    pieces: list[_Piece] = []
    seams: set[int] = set()
    length = done = 0
    for run in _RUN.finditer(easy):
        begin, end = run.span()
        if easy[begin] == _HARD and begin > done:
            begin -= 1  # A mark may merge with the character before it.
        if begin > done:
            pieces.append(_Piece(length, done))
            parts.append(easy[done:begin])
            length += begin - done
        folded, spans, dropped = _fold_run(text, begin, end)
        if folded:
            pieces.append(_Piece(length, begin, spans))
            parts.append(folded)
        seams.update(length + position for position in dropped)
        length, done = length + len(folded), end
    if done < len(text):
        pieces.append(_Piece(length, done))
        parts.append(easy[done:])
    pieces = pieces or [*_UNCHANGED]
    return Normalised("".join(parts), frozenset(seams), tuple(pieces), tuple(piece.start for piece in pieces))


def _fold_run(text: str, begin: int, end: int) -> tuple[str, tuple[tuple[int, int], ...], list[int]]:
    """Returns the folded characters of text[begin:end], their spans, and the positions of removed characters."""
    characters: list[str] = []
    spans: list[tuple[int, int]] = []
    seams: list[int] = []
    for cluster, first, last, after_drop in _clusters(text, begin, end):
        if after_drop:
            seams.append(len(characters))
        for character in _fold_cluster(cluster):
            if character == " " and characters and characters[-1] == " ":
                spans[-1] = (spans[-1][0], last)
                continue
            characters.append(character)
            spans.append((first, last))
    return "".join(characters), tuple(spans), seams


def _clusters(text: str, begin: int, end: int) -> list[tuple[str, int, int, bool]]:
    """Returns (characters, start, end, flag) for each character of text[begin:end] together with its marks.

    The flag is True if an invisible character was removed just before it.
    """
    found: list[tuple[str, int, int, bool]] = []
    dropped = False
    for position in range(begin, end):
        character = text[position]
        if _is_ignored(character):
            dropped = True
        elif found and _joins(character) and _swap(found[-1][0][-1]) != " " and position - found[-1][1] < MAX_CLUSTER:
            before = found[-1]
            found[-1] = (before[0] + character, before[1], position + 1, before[3])
            dropped = False
        else:
            found.append((character, position, position + 1, dropped))
            dropped = False
    if dropped:
        found.append(("", end, end, True))
    return found


@lru_cache(maxsize=16_384)
def _fold_cluster(cluster: str) -> str:
    folded = "".join(map(_swap, cluster))
    for _ in range(3):
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
    # A dotted capital I folds to i and a combining dot, which nobody types in lower case.
    return "".join(map(_swap, folded.replace("i\u0307", "i")))


@lru_cache(maxsize=16_384)
def _swap(character: str) -> str:
    """Returns a space for a separator, ' for an apostrophe, " for a quote; other characters are unchanged.

    A symbol with a case (a squared letter) becomes U+FFFD, so that it does not count as the start of a word.
    """
    if character in _APOSTROPHES:
        return "'"
    if character in _QUOTES:
        return '"'
    if character in _HYPHENS or character.isspace() or unicodedata.category(character) in ("Pd", "Pc"):
        return " "
    if not is_word_character(character) and (character.isupper() or character.islower()):
        return "\ufffd"  # Squared letters are symbols with a case, and would be mistaken for the start of a word.
    return character


@lru_cache(maxsize=16_384)
def _is_ignored(character: str) -> bool:
    if character in _IGNORED:
        return True
    category = unicodedata.category(character)
    if category == "Cf":
        return ord(character) not in _SIGNS_OF_NUMBERS
    return category == "Cs" or (category == "Cc" and not character.isspace())


@lru_cache(maxsize=16_384)
def _joins(character: str) -> bool:
    """Returns True if `character` may merge with the one before it: marks, and Hangul vowels and finals."""
    first = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff" or "\ud7b0" <= first <= "\ud7ff"


class _Folded(dict[int, str]):
    """A translation table that is computed at first use: for each code point the folded character.

    _HARD stands for a character that cannot be folded alone, such as one that becomes two.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = _HARD
        if _swap(character) != character:
            folded = _swap(character)
        elif not _is_ignored(character) and not _joins(character):
            alone = _fold_cluster(character)
            if len(alone) == 1 and not _joins(alone) and not _is_ignored(alone):
                folded = alone
        self[code] = folded
        return folded


_FOLDED = _Folded()


_LAST_WITH_MARKS = 0x1F000


def _mark_ranges() -> Iterator[str]:
    codes = [code for code in range(0x300, _LAST_WITH_MARKS) if unicodedata.category(chr(code))[0] == "M"]
    for _, group in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]):
        run = [code for _, code in group]
        yield f"{chr(run[0])}-{chr(run[-1])}"


MARKS: Final = "".join(_mark_ranges())
r"""Combining marks for a character class: `[\\w{MARKS}]` matches word characters, including Indic vowel signs."""
_MANY_MARKS: Final = re.compile(f"[{MARKS}]{{{MAX_CLUSTER},}}")
TOO_MANY_MARKS: Final = f"a text with more than {MAX_CLUSTER} accents on one letter: leave it out"


def has_too_many_marks(text: str) -> bool:
    """Returns True for a text whose marks can't be brought into order soon: that takes quadratic time."""
    return len(text) > MAX_CLUSTER and not text.isascii() and _MANY_MARKS.search(text) is not None


_LONG_RUN: Final = re.compile(rf"(\W{{{MAX_CLUSTER}}})\W+")


def without_long_runs(text: str) -> str:
    """Returns `text` with runs of signs, blanks and marks cut to MAX_CLUSTER characters.

    Patterns that begin or end with such a run take quadratic time: 7,900 blanks took 16 seconds.
    """
    return _LONG_RUN.sub(r"\1", text)


def is_letters(word: str) -> bool:
    """Returns True if `word` consists of letters and marks on them."""
    return word.isalpha() or (not word.isascii() and all(map(_is_letter_or_mark, word)) and word[:1].isalpha())


@cache
def _is_letter_or_mark(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character)[0] == "M"


_KEPT: Final = frozenset("™℠ªº")  # Signs after a word (such as ™) that contain letters which are not part of the word.
_DECORATED: Final = re.compile(
    r"(?:(?:CROSSED )?NEGATIVE )?(?:SQUARED|CIRCLED|PARENTHESIZED) LATIN (?:CAPITAL|SMALL) LETTER ([A-Z])"
    r"|REGIONAL INDICATOR SYMBOL LETTER ([A-Z])"
)
_SMALL_CAPITAL: Final = re.compile(r"LATIN LETTER SMALL CAPITAL (?:BARRED )?([A-Z])")
_WITH: Final = re.compile(
    r"LATIN (CAPITAL|SMALL) LETTER (?:(?:DOTLESS|LONG|SCRIPT|OPEN|INSULAR) )?([A-Z])(?: WITH .*| BAR| ROTUNDA)?"
)
_OUTLINED: Final = range(0x1CCD6, 0x1CCF0)
"""Outlined capitals of Unicode 16, which the installed Python may not know yet."""

_BRAILLE: Final = {
    f"BRAILLE PATTERN DOTS-{dots}": letter
    for letter, dots in zip(
        "abcdefghijklmnopqrstuvwxyz",
        "1 12 14 145 15 124 1245 125 24 245 13 123 134 1345 135 1234 12345 1235 234 2345 136 1236 2456 1346 13456 1356"
        .split(),
        strict=True,
    )
}  # fmt: skip
_DRAWN: Final = {
    character: (letter,)
    for characters, letters in (
        ("ЯИЙДШЩЦКПЛяийдшщцкмплΣΛΞΔΘ", "RNNAWWUKNNrnnawwukmnnEAEAO"),
        ("ᗩᗪᘿᖴᎶᕼᒍᗰᑎᑭᑫᔕᑌᐯᗯᎾᏆ", "ADEFGHJMNPQSUVWOI"),
    )
    for character, letter in zip(characters, letters, strict=True)
}
"""Characters that people use as Latin letters although Unicode's table of confusables does not list them."""

_SIGNS_ON_LETTERS: Final = tuple(
    range(start, end)
    for start, end in ((0x300, 0x370), (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xFE20, 0xFE30))
)
DISGUISES: Final = frozenset(
    chr(code)
    for start, end in (
        (0x305, 0x306), (0x332, 0x339), (0x33F, 0x340), (0x346, 0x350), (0x353, 0x358), (0x359, 0x370),
        (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xFE20, 0xFE30),
    )
    for code in range(start, end)
)  # fmt: skip
"""Marks that real spelling hardly ever uses: lines over, under and through letters, circles around them."""


def skeleton_of(text: str) -> str:
    """Returns `text` in the plain Latin letters that it looks like. Used only for comparing, never for showing.

    Letters of other scripts, decorated letters, strokes and accents are replaced; characters that look like no Latin
    letter stay. Real Russian becomes nonsense, so this reading is used beside the text, not instead of it. ASCII text
    is returned as it is.
    """
    return text if text.isascii() else text.translate(_SKELETONS)


def undecorated(character: str) -> str:
    """Returns the plain letter of a decorated one: circled, squared, mathematical, small capital or Braille.

    Any other character is returned unchanged. Decorated letters belong to no language, so this is right in any text.
    Digits stay: ① does not become 1 here.
    """
    return character if character.isascii() else _undecorated(character)


@lru_cache(maxsize=16_384)
def _undecorated(character: str) -> str:
    if ord(character) in _OUTLINED:
        return chr(ord("A") + ord(character) - _OUTLINED.start)
    if character in _KEPT or unicodedata.category(character)[0] in "NMZC":
        return character
    name = unicodedata.name(character, "")
    if found := _DECORATED.fullmatch(name):
        letter = str(found[1] or found[2])
        return letter.lower() if "SMALL LETTER" in name else letter
    if found := _SMALL_CAPITAL.fullmatch(name):
        return found[1].lower()
    plain = _BRAILLE.get(name) or unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() and plain.isalpha() else character


@lru_cache(maxsize=16_384)
def _look_alike(character: str) -> str:
    """Returns the ASCII letter that `character` looks like, in the same case if possible; empty if there is none."""
    letters = _latin_of().get(character, ())
    if letters[:1] == ("l",) and not character.islower():
        return "I"  # The table has a single entry for l and I.
    cased = [letter for letter in letters if letter.isupper() == character.isupper()]
    return (cased or [*letters, ""])[0]


class _Skeletons(dict[int, str]):
    """A translation table, computed at first use: for each code point the Latin letters that it looks like."""

    def __missing__(self, code: int) -> str:
        self[code] = _skeleton(chr(code))
        return self[code]


_SKELETONS: Final = _Skeletons()


def _skeleton(character: str) -> str:
    if character.isascii() or unicodedata.category(character)[0] in "NZ":
        return character
    if character == "\ufffd" or any(ord(character) in signs for signs in _SIGNS_ON_LETTERS):
        return ""
    plain = _undecorated(character)
    if plain != character:
        return plain
    base = unicodedata.normalize("NFD", character)[0]
    if base != character and (base.isascii() or _look_alike(base)):
        return _skeleton(base)
    return _look_alike(character) or _letter_with_signs(character) or character


def _letter_with_signs(character: str) -> str:
    """Returns the letter under a stroke, hook or tail: d for đ; empty if there is none."""
    found = _WITH.fullmatch(unicodedata.name(character, ""))
    if not found:
        return ""
    return found[2] if found[1] == "CAPITAL" else found[2].lower()


@cache
def _latin_of() -> dict[str, tuple[str, ...]]:
    """Returns for each character the ASCII letters in Unicode's table of confusables, the most alike first.

    If the table has no ASCII letter, it is found through a small capital or a letter with signs: н -> ʜ -> h.
    """
    found: dict[str, tuple[str, ...]] = dict(_DRAWN)
    for character, others in confusables_data.items():
        if len(character) == 1 and not character.isascii() and character not in found:
            alike = [each["c"] for each in others if len(each["c"]) == 1]
            plain = [letter for letter in alike if letter.isascii() and letter.isalpha()]
            found[character] = tuple(plain or [*filter(None, map(_latin_letter, alike))] or _pairs(others))
    return found


def _pairs(others: list[dict[str, str]]) -> list[str]:
    """Returns those entries of the confusables table that are two ASCII letters: ao for ꜵ."""
    return [each["c"] for each in others if len(each["c"]) == 2 and each["c"].isascii() and each["c"].isalpha()]


def _latin_letter(character: str) -> str:
    """Returns the ASCII letter of a decorated letter or of a letter with signs; empty for any other character."""
    if character.isascii():
        return ""
    plain = _undecorated(character)
    plain = plain if plain != character else _letter_with_signs(character)
    return plain if len(plain) == 1 else ""
