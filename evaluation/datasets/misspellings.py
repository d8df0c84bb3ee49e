"""Names as people mistype and shorten them, by rules of their own: nothing here is shared with what reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BARE = dict(zip("äöüåéèêëáàâãíìîïóòôõúùûýñçøłšžčř", "aouaeeeeaaaaiiiioooouuuyncolszcr", strict=True)) | {
    "ß": "ss", "æ": "ae", "œ": "oe",
}  # fmt: skip
_SPELT_OUT = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "ß": "ss", "æ": "ae"}
_MISTYPED_FROM = 5
_TWO_SLIPS_FROM = 9


@dataclass(frozen=True, slots=True)
class Slip:
    """One way to get a name wrong. `apply` gives the name back unchanged where it does not fit it."""

    kind: str
    apply: Callable[[str, Random], str] = field(repr=False)
    people_only: bool = False


def swapped(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _in_a_word(change: Callable[[str, Random], str], least: int = _MISTYPED_FROM) -> Callable[[str, Random], str]:
    """Applies `change` to one word that is long enough to be told all the same."""

    def apply(name: str, dice: Random) -> str:
        words = name.split(" ")
        long = [at for at, word in enumerate(words) if len(word) >= least and word.isalpha()]
        if not long:
            return name
        at = dice.choice(long)
        return " ".join([*words[:at], change(words[at], dice), *words[at + 1 :]])

    return apply


def _swap(word: str, dice: Random) -> str:
    return swapped(word, dice.randrange(1, len(word) - 1))


def _drop(word: str, dice: Random) -> str:
    at = dice.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def _double(word: str, dice: Random) -> str:
    at = dice.randrange(1, len(word))
    return word[: at + 1] + word[at:]


def _wrong_key(word: str, dice: Random) -> str:
    at = dice.randrange(1, len(word))
    rows = [row for row in _KEYBOARD if word[at].lower() in row]
    if not rows:
        return word
    place = rows[0].index(word[at].lower())
    beside = [rows[0][near] for near in (place - 1, place + 1) if 0 <= near < len(rows[0])]
    return word[:at] + dice.choice(beside) + word[at + 1 :]


def _mapped(letters: dict[str, str]) -> Callable[[str, Random], str]:
    large = {letter.upper(): bare.capitalize() for letter, bare in letters.items() if letter != "ß"}
    table = str.maketrans(letters | large)
    return lambda name, _dice: name.translate(table)


def _initials(point: str) -> Callable[[str, Random], str]:
    def apply(name: str, _dice: Random) -> str:
        *given, last = name.split(" ")
        return " ".join([*(word[0] + point for word in given), last])

    return apply


def _last_first(name: str, _dice: Random) -> str:
    *given, last = name.split(" ")
    return f"{last}, {' '.join(given)}"


def _apostrophe(instead: str) -> Callable[[str, Random], str]:
    return lambda name, _dice: name.replace("'", instead).replace("’", instead)


SLIPS: tuple[Slip, ...] = (
    Slip("letters swapped", _in_a_word(_swap)),
    Slip("letter dropped", _in_a_word(_drop)),
    Slip("letter doubled", _in_a_word(_double)),
    Slip("wrong key", _in_a_word(_wrong_key)),
    Slip("two slips", _in_a_word(lambda word, dice: _drop(_wrong_key(word, dice), dice), _TWO_SLIPS_FROM)),
    Slip("accents left out", _mapped(_BARE)),
    Slip("accents spelt out", _mapped(_SPELT_OUT)),
    Slip("initials", _initials("."), people_only=True),
    Slip("initials without points", _initials(""), people_only=True),
    Slip("surname alone", lambda name, _dice: name.split(" ")[-1], people_only=True),
    Slip("first name alone", lambda name, _dice: name.split(" ")[0], people_only=True),
    Slip("surname first", _last_first, people_only=True),
    Slip("hyphen as a space", lambda name, _dice: name.replace("-", " ")),
    Slip("hyphen left out", lambda name, _dice: name.replace("-", "")),
    Slip("apostrophe left out", _apostrophe("")),
    Slip("apostrophe as a space", _apostrophe(" ")),
    Slip("run together", lambda name, _dice: name.replace(" ", ""), people_only=True),
    Slip("small letters", lambda name, _dice: name.lower()),
    Slip("underscores", lambda name, _dice: name.replace(" ", "_")),
)

CARRIERS: Sequence[str] = (
    "Where does {} live?", "What do you know about {}?", "When was {} born?", "Who is related to {}?",
    "Tell me everything that is recorded for {}.", "Is {} in the list?", "how old is {}",
    "which things belong to {}", "Please show the phone number of {}, if there is one.", "and {}?",
    "Compare the two cities where {} has lived.", "who was the last one to speak with {}",
)  # fmt: skip
"""Sentences around a name."""

PLAIN: Sequence[str] = (
    "How many are there in total?", "Which city has the highest population?", "Who lives nearest to the river?",
    "what is the average of all monthly payments", "Show me the newest entries first, please.",
    "List everybody who was born before the war.", "which department has more staff than beds",
    "Are there any appointments left on Thursday afternoon?", "Thanks, that helps a lot!",
    "Could you summarise the previous answer in two sentences?", "whcih one of tehm is the oldst",
    "Who has been prescribed something against headaches?", "Give me the addresses without postcodes.",
    "what languages are spoken by at least ten customers", "Is the owner also the tenant?",
    "Do smokers visit the doctor more frequently?", "Sort the invoices by amount, descending.",
    "What happened between March and June?", "who inherited the throne after the abdication",
    "How is the insurance company of the eldest daughter called?", "I'd like a cup of coffee.",
    "Which idea influenced the greatest number of books?", "name all vegetarians under thirty",
    "Explain the difference between gross and net salary.", "Were any purchases refunded last week?",
    "what nationality do most violinists have", "Who supervises the nurses of the night shift?",
    "Please ignore what I wrote earlier.", "Which patients weigh more than the average?",
    "How long did the surgery take, and who assisted?", "does anybody speak portuguese and swahili",
    "What is the shortest route between the two warehouses?", "Who won, and by how much?",
    "Count the widows who remarried within five years.", "where were the parents of the bride buried",
)  # fmt: skip
"""Sentences that name nobody."""
