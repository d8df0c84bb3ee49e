"""Recognises turns by their form that lean on the turns before: a choice, a correction, a comparison, a doubt."""

from __future__ import annotations

import re
from typing import Final

from kg_store.lexicon.lexicon import kinds_of

_OPENING: Final = r"(?:(?:and|but|so|then|well|oh|ok|okay|hm+|wait)[ ,]+)*"
_IT: Final = r"(?:that|this|it)"
_VERY: Final = r"(?:really|very|quite|so|absolutely|totally|completely|entirely|100 ?%)"
_WHY: Final = re.compile(
    rf"{_OPENING}(?:"
    rf"why|why so|why(?: is|'s) {_IT}(?: so)?|how so|how come|really|"
    rf"how (?:do|did|can|could) you (?:know|tell|find|get|work|figure)(?: {_IT})?(?: out)?|"
    rf"what makes you (?:say|think|so sure|so certain)(?: (?:of|about) {_IT}| {_IT}| so)?|"
    rf"(?:please )?(?:explain|prove|justify)(?: {_IT}| yourself)?(?: please)?|"
    rf"can you (?:prove|explain|show)(?: {_IT})?|"
    rf"where (?:do|did) you (?:get|have|find) {_IT}(?: from)?|what is {_IT} based on|"
    rf"(?:show|tell|give) me (?:the|your) (?:evidence|path|reasons?|facts|proof)|"
    rf"(?:how can you be |are you |you |r u )?(?:{_VERY} )*(?:sure|certain|positive|confident)"
    rf"(?: (?:about|of) {_IT}| {_IT})?|"
    rf"(?:is|was) {_IT} (?:{_VERY} )*(?:right|correct|true|so|accurate|certain|the case)"
    r")[ ?.!]*",
    re.IGNORECASE,
)  # fmt: skip


def asks_why(question: str) -> bool:
    """Returns True if `question` only asks how the last answer was found, or doubts it ("why?", "are you sure?")."""
    return _WHY.fullmatch(question.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None


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


_ALL: Final = re.compile(
    r"\W*(?:i (?:mean|meant|want) )?(?:both|all|each|either)(?: (?:of (?:them|these|those|the two)|two|one))?"
    r"(?: please)?\W*",
    re.IGNORECASE,
)


def chooses_all(text: str) -> bool:
    """Returns True if the turn takes every choice that was offered ("both", "all of them")."""
    return _ALL.fullmatch(text) is not None


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


_REST: Final = re.compile(
    r"\W*(?:(?:and|ok|okay|now|so)\W+)*(?:(?:please )?(?:show|give|tell|list)(?: me| us)?|what about|what are|who are"
    r"|which are|are there|is there|can (?:i|you) (?:see|show me|show))?\W*"
    r"(?:(?:some|any) )?(?:the )?(?:rest|others|other ones|remaining(?: ones| \w+)?|more|next ones)"
    r"(?: of (?:them|these|those))?(?: please)?\W*(?:please\W*)?",
    re.IGNORECASE,
)  # fmt: skip


def asks_rest(text: str) -> bool:
    """Returns True if the turn asks to go on with a list that was cut ("the rest", "more", "any others?")."""
    return _REST.fullmatch(text) is not None


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
