"""Maps characters that look like Latin letters to these: letters of other scripts, circled and squared letters, small
capitals.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from confusable_homoglyphs.confusables import confusables_data

_KEPT: Final = frozenset("™℠ªº")
"""Signs after a word (such as ™) that contain letters which are not part of the word."""

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
"""Signs that people use as Latin letters although Unicode's table does not list them as alike."""

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
"""Marks that real spelling hardly ever has: lines over, under and through letters, circles and squares around them."""


def skeleton_of(text: str) -> str:
    """Returns `text` in the plain Latin letters that it looks like, for comparing only, never for showing.

    Letters of other scripts, decorated letters, strokes and accents are replaced; characters that look like no Latin
    letter stay. Real Russian becomes nonsense, so this reading is used beside the text, not instead of it. ASCII text
    is returned as it is.
    """
    return text if text.isascii() else text.translate(_SKELETONS)


def undecorated(character: str) -> str:
    """Returns the plain letter of a circled, squared, mathematical, small capital or Braille letter; else the
    character itself.

    Such letters belong to no language, so this is right in any text. Digits stay: ① does not become 1 here.
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
    """The ASCII letter that `character` looks like, in the same case if possible; empty if there is none."""
    letters = _latin_of().get(character, ())
    if letters[:1] == ("l",) and not character.islower():
        return "I"  # The table has a single entry for l and I.
    cased = [letter for letter in letters if letter.isupper() == character.isupper()]
    return (cased or [*letters, ""])[0]


class _Skeletons(dict[int, str]):
    """A translation table that computes the look of each character at its first use."""

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
    """The letter under a stroke, hook or tail: d for đ; empty if there is none."""
    found = _WITH.fullmatch(unicodedata.name(character, ""))
    if not found:
        return ""
    return found[2] if found[1] == "CAPITAL" else found[2].lower()


@cache
def _latin_of() -> dict[str, tuple[str, ...]]:
    """For each character the ASCII letters in Unicode's table of confusables, the most alike first.

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
    """The two letters that one character joins: ao for ꜵ."""
    return [each["c"] for each in others if len(each["c"]) == 2 and each["c"].isascii() and each["c"].isalpha()]


def _latin_letter(character: str) -> str:
    """The ASCII letter of a decorated letter or of a letter with signs; empty for any other character."""
    if character.isascii():
        return ""
    plain = _undecorated(character)
    plain = plain if plain != character else _letter_with_signs(character)
    return plain if len(plain) == 1 else ""
