"""Tells what a turn is and how it leans on the turns before: a choice, a correction, a comparison, a doubt.

Two linear models read a turn's words, its length and its sentence vector (`arog train turns` fits them); what they
can't tell, such as which choice a turn takes, is read by its wording.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from app.strategies.base import TurnKind
from kg_store.lexicon.lexicon import kinds_of

_EITHER: Final = r"yes ?(?:or|/) ?no"
_POLITE: Final = r"(?:just|only|simply|please|simple|plain|a|by|with|in|answer|reply|say|tell me)"
_ENOUGH: Final = r"(?:please|answer|will do|is enough|suffices|thanks)"
_YES_OR_NO_BEHIND: Final = re.compile(
    rf"[\s,;:.(–—-]*(?<![^\s,;:.(?!–—-])(?:{_POLITE} )*{_EITHER}(?: {_ENOUGH})*[\s?.!)]*$", re.IGNORECASE
)
_YES_OR_NO_BEFORE: Final = re.compile(rf"^\W*(?:{_POLITE} )*{_EITHER}(?: {_ENOUGH})*\s*[,;:.?–—-]+\s*", re.IGNORECASE)


def without_yes_or_no(text: str) -> str:
    """Returns a question without "yes or no?" before or behind it, which asks only for its form; else `text`."""
    for form in (_YES_OR_NO_BEHIND, _YES_OR_NO_BEFORE):
        found = form.search(text)
        rest = (text[: found.start()] + text[found.end() :]).strip() if found else ""
        if found and rest:
            return rest if rest.endswith(("?", ".", "!")) else f"{rest}?"
    return text


_BEGUN: Final = re.compile(
    r"^\W*(?:(?:(?:ok|okay|hm+|erm?|um+|uh|oh|ah)\b[^\w]*"
    r"|(?:right|well|so|anyway|never mind|good|great|fine|all right|alright|nice|perfect|lovely|thanks|cool)"
    r"\s*[,.;:!…–—-]+\s*))+(?=\w+\W+\w)",
    re.IGNORECASE,
)


def without_opening(text: str) -> str:
    """Returns a turn without the words that only open it ("ok, so ..."); a turn of nothing else is returned as it is.

    Words that may also tell something ("well", "great") count only before a comma or a stop.
    """
    return _BEGUN.sub("", text)


_CORRECTS: Final = re.compile(
    r"\W*(?:(?:oh|oops|ah|well|wait|but)\W+)*"
    r"(?:(?:no|nope|wrong|sorry|not (?:that one|that|this one|this|(?:him|her|it|them)))\b\W+)*"
    r"(?:i (?:actually |really )?(?:mean|meant|was asking (?:about|for)|wanted)\b\W*"
    r"|i (?:didn't|don't|did not|do not) mean (?:that|this|him|her|it|them|that one)\W+(?:but|i mean[t]?)\b\W*)?",
    re.IGNORECASE,
)


def corrected(text: str) -> str:
    """Returns the turn without the words by which it takes back what was understood ("no, I meant X" as "X").

    Returns `text` if nothing else is said.
    """
    found = _CORRECTS.match(text)
    rest = text[found.end() :] if found else text
    return rest if re.search(r"\w", rest) else text


_COUNTED: Final = (
    ("first", "1st", "one"), ("second", "2nd", "two"), ("third", "3rd", "three"), ("fourth", "4th", "four"),
    ("fifth", "5th", "five"), ("sixth", "6th", "six"), ("seventh", "7th", "seven"), ("eighth", "8th", "eight"),
    ("ninth", "9th", "nine"), ("tenth", "10th", "ten"),
)  # fmt: skip
ORDINALS: Final = tuple(each[0] for each in _COUNTED)
_PLACE: Final = {word: at for at, words in enumerate(_COUNTED) for word in words[:2]}
_NUMBER: Final = {word: at for at, words in enumerate(_COUNTED) for word in (words[2], str(at + 1))}
_NUMBERED: Final = re.compile(
    r"\W*(?:(?:i )?(?:mean|meant|choose|take|want)\s+)?(?:the\s+)?"
    r"(?:(?:number|no\.?|nr\.?|option|choice)\s*|#\s*)?(?P<at>\w+)(?:\s+(?:one|option|choice))?\W*(?:please\W*)?",
    re.IGNORECASE,
)


def place_chosen(text: str) -> int | None:
    """Returns the place, from 0, of the choice that a turn takes by its number: "2.", "number 2", "the second"."""
    found = _NUMBERED.fullmatch(text)
    word = found["at"].lower() if found else ""
    return _PLACE[word] if word in _PLACE else _NUMBER.get(word)


_THE_ONE: Final = re.compile(
    r"\W*(?:i (?:mean|meant) )?(?:the|that) (?:one )?(?:(?:who|that|which) )?(?P<rest>.+?)(?: one)?\W*", re.IGNORECASE
)
_WITH_ONE: Final = re.compile(r"\b(?:the|that) one\b|\bone\W*$", re.IGNORECASE)
_PARTICIPLE: Final = re.compile(r"\W*(?:[a-z]+(?:ed|en|ing)|born|built|held|made)\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"\b(?:one|that) (?:who|that|which)\b", re.IGNORECASE)
_LIVING: Final = re.compile(r"^(?:living|based|located|working)\b", re.IGNORECASE)


def chosen_by(text: str, group: str) -> str:
    """Returns the question which of `group` is meant by a description ("the one who lives in X", "the older one").

    Returns an empty string for a turn that describes no choice.
    """
    if _PARTICIPLE.match(text):
        return f"which of {group} was {text.strip()}"
    found = _THE_ONE.fullmatch(text)
    if found is None:
        return ""
    rest, ordered = found["rest"], as_superlative(found["rest"])
    if _is_ordered(rest) and len(rest.split()) < 3:
        return f"which of {group} is {ordered if ordered != rest else f'the {rest}'}"
    if _CLAUSE.search(text):
        return f"which of {group} {rest}"
    if not _WITH_ONE.search(text):
        return ""
    return f"which of {group} {'is' if _LIVING.match(rest) or not _PARTICIPLE.match(rest) else 'was'} {rest}"


_COMPARES: Final = re.compile(
    r"\W*(?:(?:and|so|but|ok|okay)\W+)*(?:which|who|what)(?: one)?"
    r"(?P<of> (?:of|between|among|out of) (?:(?:the|these|those|all)(?: of)? )?"
    r"(?:them|these|those|two|both|three|four|all|ones)(?: of them)?)?"
    r"(?P<rest> .+?)(?: (?:of|among) (?:them|these|those|the two|all))?\W*",
    re.IGNORECASE,
)


def compared(text: str, group: str) -> str:
    """Returns "who of these two earns more?" as "which of `group` earns the most?"; empty for any other turn."""
    found = _COMPARES.fullmatch(text)
    if found is None or " than " in f"{text} ":
        return ""
    rest = found["rest"].strip()
    return f"which of {group} {as_superlative(rest)}" if _is_ordered(rest) else ""


_IRREGULAR: Final = {"more": "most", "less": "least", "better": "best", "worse": "worst", "fewer": "fewest"}


def as_superlative(text: str) -> str:
    """Returns `text` with its comparative as a superlative: "is older" as "is the oldest", "earns more" as "... most".

    Returns `text` if it holds no comparative.
    """
    words = text.split()
    for at, word in enumerate(words):
        if most := _IRREGULAR.get(word.lower()) or _superlative_of(word.lower()):
            article = [] if words[at - 1 : at] == ["the"] else ["the"]
            return " ".join([*words[:at], *article, most, *words[at + 1 :]])
    return text


def _is_ordered(text: str) -> bool:
    return as_superlative(text) != text or any(map(_is_superlative, text.split()))


def _superlative_of(word: str) -> str:
    most = f"{word[:-2]}est"
    return most if word.endswith("er") and _is_superlative(most) else ""


def _is_superlative(word: str) -> bool:
    """Returns True for "most" and the like, and for an adjective with the ending -est ("oldest", but not "west")."""
    word = word.lower()
    kinds, stem = set(kinds_of(word)), word[:-3]
    bases = (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y") if len(stem) > 1 else ()
    is_one = "a" in kinds and (kinds <= {"a", "r"} or any("a" in kinds_of(base) for base in bases))
    return word in _IRREGULAR.values() or (word.endswith("est") and is_one)


_EMPTY: Final = frozenset(
    "and but or so then now ok okay well oh no yes sorry please too also just exactly about of for in at on by to "
    "from with since until till how much many what when where who whom whose which why is are was were do does did "
    "has have had it its he she him her his they them their that this these those there here the a an one ones".split()
)


def says_nothing(text: str) -> bool:
    """Returns True if a turn holds only function words, and leaves what it asks to earlier turns ("how much?")."""
    return all(word.lower() in _EMPTY for word in re.findall(r"[^\W_]+", text))


NAME: Final = "X"
"""Stands in a turn for each name of the graph."""
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[?!]")
LENGTHS: Final = 5


def word_groups(text: str) -> set[str]:
    """Returns the features of a text: its words in lower case and pairs of adjacent words.

    "<" and ">" stand for the beginning and end of the text.
    """
    words = [word if word == NAME else word.lower().replace("’", "'") for word in _TOKEN.findall(text)]
    words = ["<", *words, ">"]
    return {*words, *(f"{one} {next_one}" for one, next_one in pairwise(words))}


def lengths(text: str) -> list[float]:
    """Returns LENGTHS features of a text's length: the constant 1, the number of words divided by 20, and three that
    are 0 or 1: under 4 words, over 15 words, at most one word."""
    count = len(text.split())
    return [1.0, count / 20, float(count < 4), float(count > 15), float(count <= 1)]


def without_names(text: str, pseudonyms: Iterable[str]) -> str:
    """Returns a text with NAME in place of each of its pseudonyms."""
    for word in pseudonyms:
        text = text.replace(word, NAME)
    return text


TurnForm = Literal["other", "replace", "doubt", "rest", "which", "all", "states", "agrees"]
"""The way a turn leans on the answer before it.

It asks the same of another thing ("replace"), doubts the answer or asks for its reason ("doubt"), wants what a list
left out ("rest") or what a count stands for ("which"), takes every choice that was offered ("all") or says yes
("agrees"). One that "states" a fact leans on nothing. All else is "other".
"""
KINDS: Final[tuple[TurnKind, ...]] = get_args(TurnKind)
FORMS: Final[tuple[TurnForm, ...]] = get_args(TurnForm)
WEIGHTS: Final = Path(__file__).with_name("turn_weights.npz")
FORM_WEIGHTS: Final = Path(__file__).with_name("form_weights.npz")
MIN_FORM: Final = 0.5
"""The least chance at which a turn counts as of a form other than "other". Chosen by hand."""
MAX_FORM_WORDS: Final = 12
"""The greatest number of words in a turn that leans on another one by its form alone. Chosen by hand."""
MAX_REMEMBERED: Final = 4_096
"""The greatest number of turns whose form is remembered, by a digest. Chosen by hand."""
WORDS_SCALE: Final = 5.0
VECTOR_SCALE: Final = 6.0

Floats = npt.NDArray[np.float32]
VectorOf = Callable[[str], Floats]


@dataclass(frozen=True, slots=True)
class TurnModel:
    """The weights of the turn classifier, one row for each feature and one column for each of `KINDS` or `FORMS`.

    `groups`: the row of each word group. `words`, `lengths`, `vector`: the weights of word groups, of length features
    and of the sentence vector; `vector` is None if the service's sentence model is not the one used in training.
    """

    groups: dict[str, int] = field(repr=False)
    words: Floats = field(repr=False)
    lengths: Floats = field(repr=False)
    vector: Floats | None = field(default=None, repr=False)


class TurnClassifier:
    """Computes from a turn's text the chance of each kind of turn (`KINDS`), and its form. Thread-safe.

    `vector_of`: returns the unit vector of a text by the sentence model used in training; None if the service has
    another one. Texts have `NAME` in place of each name of the graph.
    """

    def __init__(self, model: TurnModel, forms: TurnModel, vector_of: VectorOf | None = None) -> None:
        self._model, self._forms, self._vector_of = model, forms, vector_of
        self._remembered: dict[bytes, TurnForm] = {}

    def chances(self, text: str) -> dict[TurnKind, float]:
        """Returns the chance of each kind; the chances add up to 1."""
        return dict(zip(KINDS, self._chances(self._model, text), strict=True))

    def form(self, text: str) -> TurnForm:
        """Returns the form of a turn; "other" for one that is of no form with a chance of MIN_FORM.

        A long turn leans on nothing: it states a fact or is "other".
        """
        # A dialogue is read anew with each turn, so forms are remembered: by a digest, which tells no word.
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        if digest not in self._remembered:
            chance, form = max(zip(self._chances(self._forms, text), FORMS, strict=True))
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            leans_at_length = form != "states" and len(text.split()) > MAX_FORM_WORDS
            self._remembered[digest] = "other" if leans_at_length or chance < MIN_FORM else form
        return self._remembered[digest]

    def _chances(self, model: TurnModel, text: str) -> list[float]:
        scores = words_row(model.groups, text) @ model.words + lengths(text) @ model.lengths
        if model.vector is not None and self._vector_of is not None:
            scores = scores + VECTOR_SCALE * self._vector_of(text) @ model.vector
        likely = np.exp(scores - scores.max())
        chances: list[float] = (likely / likely.sum()).tolist()
        return chances


def words_row(groups: dict[str, int], text: str) -> Floats:
    """Returns a row of features, shape (groups,): one positive number for each known word group of `text`, else 0.

    The row's norm is WORDS_SCALE.
    """
    row = np.zeros(len(groups), np.float32)
    known = [groups[each] for each in word_groups(text) if each in groups]
    row[known] = WORDS_SCALE / max(len(known) ** 0.5, 1.0)
    return row


def read_turn_model(file: Path = WEIGHTS, model_digest: str = "") -> TurnModel:
    """Returns the weights stored in `file`: those with a sentence vector if `model_digest` is the digest of the
    sentence model used in training, else those without."""
    with np.load(file, allow_pickle=False) as kept:
        groups = {str(each): at for at, each in enumerate(kept["groups"])}
        is_same = bool(model_digest) and str(kept["model"]) == model_digest
        name = "with_vector" if is_same else "alone"
        return TurnModel(
            groups,
            kept[f"{name}_words"].astype(np.float32),
            kept[f"{name}_lengths"].astype(np.float32),
            kept["with_vector_vector"].astype(np.float32) if is_same else None,
        )
