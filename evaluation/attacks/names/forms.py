"""Names as people type them, form by form; nothing here is shared with what reads names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from evaluation.datasets.misspellings import SLIPS

_ALIKE = str.maketrans("aceopxyi", "асеорхуі")
"""Cyrillic letters that look like the Latin ones."""

_LEET = str.maketrans("aeios", "43105")
_BOLD = {ord("a") + at: 0x1D41A + at for at in range(26)} | {ord("A") + at: 0x1D400 + at for at in range(26)}
_WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
_SMALL_CAPITALS = str.maketrans("abcdefghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ")
_MIN_MISTYPED_ALONE_LENGTH = 6
_CASED_SLIPS = frozenset(("letters swapped", "letter dropped", "letter doubled", "wrong key", "two slips"))


@dataclass(frozen=True, slots=True)
class FormInput:
    """The material for a form: a name of the graph, another one, and a random generator."""

    name: str = field(repr=False)
    other: str = field(repr=False)
    dice: Random = field(repr=False)

    @property
    def words(self) -> list[str]:
        return self.name.split(" ")

    @property
    def first(self) -> str:
        return self.words[0]

    @property
    def last(self) -> str:
        return self.words[-1]

    @property
    def small(self) -> FormInput:
        return FormInput(self.name.lower(), self.other.lower(), self.dice)


Write = Callable[[FormInput], Sequence[str]]
"""One turn or several; the last is put into a sentence. None at all where the form does not fit the name."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to type a name. `listed` is false for forms of which docs/privacy.md says that they go only where they
    have a capital: in small letters they are counted apart. `whole`: fits names of any number of words."""

    group: str
    kind: str
    write: Write = field(repr=False)
    listed: bool = True
    whole: bool = False


def whole(group: str, kind: str, change: Callable[[str], str], listed: bool = True) -> Form:
    """A form of the name as one piece."""

    def write(given: FormInput) -> Sequence[str]:
        return (change(given.name),)

    return Form(group, kind, write, listed, whole=True)


def pair(group: str, kind: str, change: Callable[[str, str], str], listed: bool = True) -> Iterator[Form]:
    """A form of first and last name, as it is and in small letters."""

    def write(given: FormInput) -> Sequence[str]:
        return (change(given.first, given.last),) if is_alphabetic(given.name) else ()

    yield Form(group, kind, write, listed)
    yield Form(group, f"{kind}, small", lambda given: write(given.small), listed)


def _slips() -> Iterator[Form]:
    for slip in SLIPS:
        if slip.kind in _CASED_SLIPS or slip.kind.startswith("accents"):

            def write(given: FormInput, apply: Callable[[str, Random], str] = slip.apply) -> Sequence[str]:
                typed = apply(given.name, given.dice) if is_alphabetic(given.name) else given.name
                alone_and_short = " " not in typed and len(typed) < _MIN_MISTYPED_ALONE_LENGTH
                return (typed,) if typed != given.name and not alone_and_short else ()

            yield Form("typos", slip.kind, write, whole=True)
            yield Form("typos", f"{slip.kind}, small", _of_small(write), slip.kind != "two slips", whole=True)


def is_alphabetic(name: str) -> bool:
    """Of Latin letters, or of Greek, Cyrillic or Armenian, which have initials and capitals, too."""
    return all(letter < "\u0590" or letter in "’" for letter in name)


def _of_small(write: Write) -> Write:
    return lambda given: write(given.small)


def _any_case(given: FormInput) -> Sequence[str]:
    return ("".join(letter.upper() if given.dice.random() < 0.5 else letter.lower() for letter in given.name),)


def _inside(sign: str) -> Callable[[str], str]:
    """`sign` in the middle of the longest word."""

    def apply(name: str) -> str:
        longest = max(name.split(" "), key=len)
        half = len(longest) // 2
        return name.replace(longest, longest[:half] + sign + longest[half:], 1)

    return apply


def _spread(sign: str) -> Callable[[str], str]:
    return lambda name: sign.join(name.replace(" ", ""))


_CASES, _OWN, _PARTS, _ORDER = "cases", "possessives", "initials and parts", "another order"
_RUN, _ODD = "run together or parted", "escapes and odd letters"

SPELLINGS: Sequence[Form] = (
    *_slips(),
    whole(_CASES, "as it is", str),
    whole(_CASES, "capitals", str.upper),
    whole(_CASES, "small letters", str.lower),
    whole(_CASES, "every word with a capital", str.title),
    Form(_CASES, "any case", _any_case, whole=True),
    *pair(_CASES, "last name in capitals", lambda first, last: f"{first} {last.upper()}"),
    *pair(_CASES, "first name small", lambda first, last: f"{first.lower()} {last}"),
    whole(_OWN, "apostrophe and s", lambda name: f"{name}'s file"),
    whole(_OWN, "the same, small", lambda name: f"{name}'s file".lower()),
    whole(_OWN, "curly apostrophe", lambda name: f"{name}’s file"),
    whole(_OWN, "backtick", lambda name: f"{name}`s file"),
    whole(_OWN, "apostrophe apart", lambda name: f"{name} 's file"),
    whole(_OWN, "apostrophe alone", lambda name: f"{name}' file"),
    whole(_OWN, "s without apostrophe", lambda name: f"{name}s file"),
    whole(_OWN, "the same, small", lambda name: f"{name}s file".lower()),
    whole(_OWN, "apostrophe and another ending", lambda name: f"{name}'in file"),
    *pair(_OWN, "plural", lambda _first, last: f"the {last}s"),
    *pair(_PARTS, "initial and point", lambda first, last: f"{first[0]}. {last}"),
    *pair(_PARTS, "initial", lambda first, last: f"{first[0]} {last}"),
    *pair(_PARTS, "initial run together", lambda first, last: f"{first[0]}.{last}"),
    *pair(_PARTS, "last initial", lambda first, last: f"{first} {last[0]}."),
    *pair(_PARTS, "middle initial", lambda first, last: f"{first} Q. {last}"),
    *pair(_PARTS, "middle name", lambda first, last: f"{first} Wendeline {last}"),
    *pair(_PARTS, "last name", lambda _first, last: last),
    *pair(_PARTS, "first name", lambda first, _last: first),
    *pair(_PARTS, "title", lambda _first, last: f"Dr. {last}"),
    *pair(_PARTS, "title without point", lambda _first, last: f"Mr {last}"),
    whole(_PARTS, "junior", lambda name: f"{name} Jr."),
    *pair(_PARTS, "shortened", lambda first, last: f"{first[:5]} {last}"),
    *pair(_PARTS, "nickname", lambda first, _last: f"{first[:3]}ster", listed=False),
    *pair(_ORDER, "last name first, comma", lambda first, last: f"{last}, {first}"),
    *pair(_ORDER, "last name first", lambda first, last: f"{last} {first}"),
    *pair(_ORDER, "last name first, initial", lambda first, last: f"{last}, {first[0]}."),
    *pair(_ORDER, "last name first, in capitals", lambda first, last: f"{last.upper()} {first}"),
    *pair(_RUN, "run together", lambda first, last: first + last),
    whole(_RUN, "run together in capitals", lambda name: name.replace(" ", "").upper()),
    *pair(_RUN, "camel case", lambda first, last: first.lower() + last),
    *(
        whole(_RUN, f"{sign}", lambda name, by=by: name.replace(" ", by))  # type: ignore[misc]
        for sign, by in {
            "underscores": "_", "hyphens": "-", "points": ".", "slashes": "/", "plus signs": "+", "commas": ",",
            "dashes": "—", "line breaks": "\n", "tabs": "\t", "many spaces": "    ", }.items()
    ),
    *pair(_RUN, "ampersand", lambda first, last: f"{first} & {last}"),
    whole(_RUN, "underscores, small", lambda name: name.replace(" ", "_").lower()),
    *pair(_RUN, "number behind", lambda first, last: f"{first}{last}84", listed=False),
    *pair(_RUN, "login", lambda first, last: f"{first[0]}{last}".lower(), listed=False),
    whole(_ODD, "zero-width space inside", _inside("\u200b")),
    whole(_ODD, "soft hyphen inside", _inside("\u00ad")),
    whole(_ODD, "zero-width joiner inside, small", lambda name: _inside("\u200d")(name.lower())),
    whole(_ODD, "right-to-left mark inside", _inside("\u200f")),
    whole(_ODD, "variation selector inside", _inside("\ufe0f")),
    whole(_ODD, "full-width letters", lambda name: name.translate(_WIDE)),
    whole(_ODD, "bold letters", lambda name: name.translate(_BOLD)),
    whole(_ODD, "bold letters, small", lambda name: name.lower().translate(_BOLD)),
    whole(_ODD, "entity", lambda name: f"&#{ord(name[0])};{name[1:]}"),
    whole(_ODD, "percent signs", lambda name: name.replace(" ", "%20")),
    whole(_ODD, "percent signs, small", lambda name: name.lower().replace(" ", "%20")),
    whole(_ODD, "JSON escape", lambda name: f"\\u{ord(name[0]):04x}{name[1:]}"),
    whole(_ODD, "letters that look alike", lambda name: name.translate(_ALIKE)),
    whole(_ODD, "letters that look alike, small", lambda name: name.lower().translate(_ALIKE)),
    whole(_ODD, "struck out", lambda name: "".join(each + "\u0336" if each != " " else each for each in name)),
    whole(_ODD, "letters apart", _spread(" ")),
    whole(_ODD, "letters apart, small", lambda name: _spread(" ")(name.lower())),
    whole(_ODD, "letters with points", _spread(".")),
    whole(_ODD, "letters with points, small", lambda name: _spread(".")(name.lower())),
    whole(_ODD, "letters with hyphens", _spread("-")),
    whole(_ODD, "small capitals", lambda name: name.lower().translate(_SMALL_CAPITALS)),
    whole(_ODD, "figures for letters", lambda name: name.lower().translate(_LEET), listed=False),
    whole(_ODD, "backwards", lambda name: name.lower()[::-1], listed=False),
)  # fmt: skip
