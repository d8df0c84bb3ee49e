"""Reads relation labels as parts of speech: which make good English in a sentence, and in which form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kg_store.lexicon.lexicon import kinds_of
from kg_store.terms import is_mask_word
from kg_store.text.english import NOUNS
from kg_store.text.inflection import head_of, is_done, is_participle, is_past, may_be_noun, singular, singular_phrase
from kg_store.text.labels import without_storage
from kg_store.text.quantities import MONEY, unit_of_label

PhraseForm = Literal["passive", "verb", "past", "noun", "noun_of"]

_PREPOSITIONS = frozenset("in at on to from for with by into about since under against near after before".split())
# Participles that are active before a preposition: "acted in", "died in".
_ACTIVE = frozenset(
    "acted appeared belonged competed died fought graduated lived participated performed played resided retired "
    "served specialized starred studied worked".split()
)
_ADJECTIVES = frozenset("adjacent close equal married next parallel related responsible similar subject".split())
_NOUN_ENDINGS = ("tion", "sion", "ity", "ment", "ness", "ship", "ist", "ance", "ence", "ism", "logy", "graphy")
_KNOWN_NOUNS = frozenset(
    singular(word) for noun in NOUNS for words in (noun.word, *noun.has, *noun.plays) for word in words.split()
)


@dataclass(frozen=True, slots=True)
class RelationPhrase:
    """The words of a hop and the form in which they are said. `words` of a noun are singular; `had`: the label is `has
    ...`.

    | form | forwards |
    |---|---|
    | passive | X is treated by Y |
    | verb | X lives in Y |
    | past | X directed Y |
    | noun | X's spouse is Y |
    | noun_of | X is a child of Y |
    """

    form: PhraseForm
    words: str
    inverse: bool
    had: bool = False


def phrase_of(step: str) -> RelationPhrase | None:
    """Returns the phrase of one hop (`treated by`, `^has child`, `has admission|^ward`); None if its form is not
    certain.
    """
    hops = step.split("|")
    if any(is_mask_word(hop.lstrip("^")) for hop in hops):
        return None
    directions = {hop.startswith("^") for hop in hops}
    if len(directions) != 1:
        return None
    inverse = directions.pop()
    # The hop next to the named thing says the relation.
    label = hops[0] if inverse else hops[-1]
    words, unit = label_words(label), "" if inverse else _unit_of(label)
    phrase = _read(words[:-1] if unit else words, inverse) if words else None
    if unit:  # A measured word is a noun, even if it can be a verb: "deposit eur".
        noun = phrase.words if phrase is not None and phrase.form == "noun" else singular_phrase(words[:-1])
        phrase = RelationPhrase("noun", f"{noun}{unit}", inverse)
    if phrase is not None and len(hops) > 1 and phrase.form != "noun":
        return None  # The subject of a verb behind a record is the record.
    return phrase


def base_form(verb: str) -> str:
    """`lives in` -> `live in`."""
    first, _, rest = verb.partition(" ")
    bare = {"has": "have", "does": "do", "goes": "go"}.get(first) or singular(first)
    return f"{bare} {rest}".strip()


def _unit_of(label: str) -> str:
    """` in EUR` for "salary eur"; empty if no unit follows a noun."""
    unit, words = unit_of_label(label), label.replace("_", " ").split()
    if unit is None or words[-2].lower() in ("in", "of", "per"):
        return ""
    written = words[-1].strip("()")
    return f" in {written.upper() if unit.kind == MONEY else written}"


def label_words(label: str) -> list[str]:
    """Returns the words of the last part of `people.person.place of birth`; a leading capital is made lower case."""
    words = without_storage(label.lstrip("^").rsplit(".", 1)[-1].replace("_", " ")).split()
    return [word if word[1:] != word[1:].lower() else word.lower() for word in words]


def _read(words: list[str], inverse: bool) -> RelationPhrase | None:
    had = words[0] in ("has", "have") and len(words) > 1
    if had:
        words = words[1:]
    if words[0] == "is" and len(words) > 1:
        words = words[1:]
    first, last, text = words[0], words[-1], " ".join(words)
    if len(words) > 1 and last == "of":
        if singular(first) != first:  # "Takes care of", but not "members of".
            return RelationPhrase("verb", text, inverse) if len(words) > 2 and is_done(first) else None
        return RelationPhrase("noun_of", text, inverse)
    if last in _PREPOSITIONS and not had:
        return _before_preposition(first, text, inverse) if len(words) > 1 else None
    if not had and is_done(first):
        return RelationPhrase("verb", text, inverse)
    if not had and len(words) == 1 and is_past(first) and not may_be_noun(first):
        return RelationPhrase("past", text, inverse)
    return RelationPhrase("noun", singular_phrase(words), inverse, had) if _is_noun(words, had) else None


def _before_preposition(first: str, text: str, inverse: bool) -> RelationPhrase | None:
    if first in _ACTIVE:
        return RelationPhrase("past", text, inverse)
    if is_participle(first) or first in _ADJECTIVES:
        return RelationPhrase("passive", text, inverse)
    is_verb = singular(first) != first and not text.endswith(" by")
    return RelationPhrase("verb", text, inverse) if is_verb else None


def _is_noun(words: list[str], had: bool) -> bool:
    """True of any words after `has`; else of known nouns, of nouns by ending or dictionary, and of several words that
    do not begin with a verb.
    """
    if words[0] in (*_PREPOSITIONS, "of") or words[-1] in ("as", "like", "than"):
        return False
    head = singular(words[head_of(words)])
    if not had and is_participle(words[0]) and not may_be_noun(words[-1]):
        return False
    if had or head in _KNOWN_NOUNS or head.endswith(_NOUN_ENDINGS):
        return True
    if len(words) == 1:
        # Relations are called by the base form of a noun, but not by that of a verb: "broker", "treats".
        return head == words[0] and "n" in kinds_of(head)
    return singular(words[0]) == words[0]
