"""Names of other scripts as their languages write them: with articles and prepositions in front, endings behind,
vowel signs in or out, in the middle of a text without spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.attacks.names.forms import Form, FormInput
from evaluation.attacks.names.graph import SCRIPTS

_GROUP = "other scripts"


def script_of(name: str) -> str:
    """The key of SCRIPTS whose letters the name is written in; empty for Latin."""
    return next((script for script, known in SCRIPTS.items() if name in known), "")


def _in(kind: str, change: Callable[[str], str], *scripts: str, listed: bool = True) -> Form:
    def write(given: FormInput) -> Sequence[str]:
        return (change(given.name),) if script_of(given.name) in scripts else ()

    return Form(_GROUP, kind, write, listed, whole=True)


def _every_word(front: str) -> Callable[[str], str]:
    return lambda name: " ".join(front + word for word in name.split(" "))


def _in_a_long_word(change: Callable[[str], str]) -> Callable[[str], str]:
    def apply(name: str) -> str:
        longest = max(name.split(" "), key=len)
        return name.replace(longest, change(longest)) if len(longest) >= _LONG else name

    return apply


_LONG = 6
_SPACED = ("Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Georgian", "Armenian", "Thai")
_UNSPACED = ("Chinese", "Japanese", "Korean", "Thai")
_CASED = ("Cyrillic", "Greek", "Armenian")
_FATHA, _TATWEEL, _PATAH = "\u064e", "\u0640", "\u05b7"

OTHER_SCRIPTS: Sequence[Form] = (
    _in("as it is", str, *SCRIPTS),
    _in("first name", lambda name: name.split(" ")[0], *_SPACED),
    _in("last name", lambda name: name.split(" ")[-1], *_SPACED),
    _in("last name first", lambda name: " ".join(reversed(name.split(" "))), *_SPACED),
    _in("run together", lambda name: name.replace(" ", ""), *_SPACED),
    _in("underscores", lambda name: name.replace(" ", "_"), *_SPACED),
    _in("small letters", str.lower, *_CASED),
    _in("capitals", str.upper, *_CASED),
    _in("ending in capitals", lambda name: name[:-1] + "ой", "Cyrillic"),
    _in("ending in small letters", lambda name: (name[:-1] + "ой").lower(), "Cyrillic"),
    _in("letter dropped", _in_a_long_word(lambda word: word[:2] + word[3:]), *_SPACED[:-1]),
    _in("letter doubled, no spaces", lambda name: name[:2] + name[1:], *_UNSPACED, listed=False),
    _in("and in front", lambda name: "و" + name, "Arabic"),
    _in("to in front", lambda name: "ل" + name, "Arabic"),
    _in("with in front of each", _every_word("ب"), "Arabic"),
    _in("stretched", lambda name: name[:2] + _TATWEEL + name[2:], "Arabic"),
    _in("vowel signs", lambda name: name[:2] + _FATHA + name[2:], "Arabic"),
    _in("and in front, Hebrew", lambda name: "ו" + name, "Hebrew"),
    _in("to in front, Hebrew", lambda name: "ל" + name, "Hebrew"),
    _in("from in front of each", _every_word("מ"), "Hebrew"),
    _in("points", lambda name: name[:1] + _PATAH + name[1:], "Hebrew"),
    _in("middle point", lambda name: f"{name[:2]}·{name[2:]}", "Chinese", "Japanese", listed=False),
    _in("given name alone", lambda name: name[-2:], "Chinese", "Korean", listed=False),
    _in("spaces inside", " ".join, *_UNSPACED[:3]),
    _in("case ending", lambda name: f"{name}ს", "Georgian"),
    _in("in an e-mail", lambda name: f"{name.replace(' ', '.')}@clinic.example", *SCRIPTS),
    _in("in a URL", lambda name: f"https://clinic.example/{name.replace(' ', '-')}", *SCRIPTS),
    _in("in quotes", lambda name: f"«{name}»", *SCRIPTS),
)
