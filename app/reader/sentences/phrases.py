"""Builds phrases of a sentence for relations, things and kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from kg_store.algebra.expressions import MINUS, THEN, TIMES
from kg_store.lexicon.lexicon import kinds_of
from kg_store.terms import is_mask_word
from kg_store.text.english import NOUNS
from kg_store.text.inflection import (
    head_of,
    is_agent,
    is_done,
    is_participle,
    is_past,
    lemminflect,
    may_be_noun,
    plural,
    singular,
    singular_phrase,
    with_article,
)
from kg_store.text.labels import without_storage
from kg_store.text.quantities import MONEY, unit_of_label

PhraseForm = Literal["passive", "verb", "past", "noun", "noun_of"]

_PREPOSITIONS = frozenset("in at on to from for with by into about since under against near after before".split())
# Participles that are active before a preposition: "acted in", "died in".
_ACTIVE = frozenset(
    "acted appeared belonged competed died fought graduated lived participated performed played resided retired "
    "served specialized starred studied worked".split()
)
# "Should not be mixed with" is the same in every person; "not to be taken with" needs a verb in front.
_UNCHANGING = frozenset("can could may might must shall should will would not".split())
_ADJECTIVES = frozenset("adjacent close equal married next parallel related responsible similar subject".split())
_NOUN_ENDINGS = ("tion", "sion", "ity", "ment", "ness", "ship", "ist", "ance", "ence", "ism", "logy", "graphy")
_KNOWN_NOUNS = frozenset(
    singular(word) for noun in NOUNS for words in (noun.word, *noun.has, *noun.plays) for word in words.split()
)


@dataclass(frozen=True, slots=True)
class RelationPhrase:
    """The words of a hop, and the grammatical form in which they are used.

    `words` of a noun are singular. `inverse`: the hop is walked backwards. `had`: the label is `has ...`.

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
    """Returns the phrase of one hop (`treated by`, `^has child`), or None if its form is uncertain.

    In a path through a record (`has admission|ward`), all hops must have the same direction.
    """
    hops = step.split("|")
    if any(f" {word} " in step for word in (THEN, MINUS, TIMES)):
        return None
    if any(is_mask_word(hop.lstrip("^")) for hop in hops):
        return None
    directions = {hop.startswith("^") for hop in hops}
    if len(directions) != 1:
        return None
    inverse = directions.pop()
    # A path through a record is called by the relation that comes last when it is walked forwards.
    label = hops[0] if inverse else hops[-1]
    words, unit = label_words(label), "" if inverse else _unit_of(label)
    phrase = _read(words[:-1] if unit else words, inverse) if words else None
    if unit:  # A measured word is a noun, even if it can be a verb: "deposit eur".
        noun = phrase.words if phrase is not None and phrase.form == "noun" else singular_phrase(words[:-1])
        phrase = RelationPhrase("noun", f"{noun}{unit}", inverse)
    if phrase is not None and len(hops) > 1 and phrase.form != "noun":
        return None  # The subject of a verb would be the record in between, not the thing before it.
    return phrase


def base_form(verb: str) -> str:
    """Returns the base form of a verb phrase: `lives in` -> `live in`."""
    first, _, rest = verb.partition(" ")
    bare = {"has": "have", "does": "do", "goes": "go"}.get(first) or singular(first)
    return f"{bare} {rest}".strip()


def _unit_of(label: str) -> str:
    """Returns the unit after a noun in the form ` in EUR` ("salary eur"); empty if there is none."""
    unit, words = unit_of_label(label), label.replace("_", " ").split()
    if unit is None or words[-2].lower() in ("in", "of", "per"):
        return ""
    written = words[-1].strip("()")
    return f" in {written.upper() if unit.kind == MONEY else written}"


def label_words(label: str) -> list[str]:
    """Returns the words of the last part of a label (`people.person.place of birth` -> place, of, birth).

    A leading capital is made lower case.
    """
    words = without_storage(label.lstrip("^").rsplit(".", 1)[-1].replace("_", " ")).split()
    return [word if word[1:] != word[1:].lower() else word.lower() for word in words]


def _read(words: list[str], inverse: bool) -> RelationPhrase | None:
    had = words[0] in ("has", "have") and len(words) > 1
    if had:
        words = words[1:]
    if words[0] == "is" and len(words) > 1:
        words = words[1:]
    first, last, text = words[0], words[-1], " ".join(words)
    if len(words) > 1 and first in _UNCHANGING:
        return RelationPhrase("passive" if first == "not" else "past", text, inverse)
    if len(words) > 1 and last == "of":
        if singular(first) != first:  # A verb phrase such as "takes care of"; a plural ("members of") has no phrase.
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
    """Returns True for any words after `has`, and for words that are a noun.

    Nouns are recognised by a list, by their ending or by a dictionary; several words count as a noun unless they begin
    with a verb.
    """
    if words[0] in (*_PREPOSITIONS, "of") or words[-1] in ("as", "like", "than"):
        return False
    head = singular(words[head_of(words)])
    if not had and is_participle(words[0]) and not may_be_noun(words[-1]):
        return False
    if had or head in _KNOWN_NOUNS or head.endswith(_NOUN_ENDINGS):
        return True
    if len(words) == 1:
        # A label that is a noun has its base form ("broker"); one that is a verb does not ("treats").
        return head == words[0] and "n" in kinds_of(head)
    return singular(words[0]) == words[0]


Agreement = Callable[[str, str], str]
"""A function that takes a singular and a plural form and returns the one that agrees in number, `is` or `are`."""

Clause = Callable[[Agreement], str]


def one(single: str, _many: str) -> str:
    return single


def many(_single: str, several: str) -> str:
    return several


def agree_with_count(single: str, several: str) -> str:
    """Returns both forms as `{1:is|are}`; app/chat/execution.py picks one when the size of the answer is known."""
    return f"{{1:{single}|{several}}}"


@dataclass(frozen=True, slots=True)
class Speaker:
    """The subject of a sentence: a pseudonym, `they`, or a longer phrase; `agree` picks its singular or plural."""

    subject: str
    agree: Agreement
    object: str
    possessive: str | None

    @classmethod
    def named(cls, pseudonym: str) -> Speaker:
        return cls(pseudonym, one, pseudonym, f"{pseudonym}'s")

    @classmethod
    def several(cls) -> Speaker:
        return cls("they", many, "them", "their")

    def has(self, noun: str, agree: Agreement) -> str:
        """Returns a thing that the subject has: `X's doctor`, `the doctor of the patients that ...`."""
        words = agree(noun, plural(noun))
        return f"{self.possessive} {words}" if self.possessive else f"the {words} of {self.object}"

    def predicate(self, phrase: RelationPhrase, be: tuple[str, str]) -> str:
        """Returns the predicate for a phrase: `is treated by`, `lives in`; `be` is (is, are) or (was, were)."""
        return _predicate(phrase, self.agree, be)


@dataclass(frozen=True, slots=True)
class Things:
    """A description of things: "patients treated by X" or "X's children".

    The first has a `kind` (empty if unknown) and `clauses`. The second has an `owner`, with the noun for what X has.
    """

    kind: str
    clauses: tuple[Clause, ...] = ()
    owner: tuple[Speaker, str] | None = None

    def said(self, agree: Agreement) -> str:
        """Returns the description without an article: `patients treated by X`, `X's children`."""
        if self.owner is not None:
            speaker, noun = self.owner
            return " ".join([speaker.has(noun, agree), *self._clauses(agree)])
        head = agree(self.kind, plural(self.kind)) if self.kind else agree("one", "those")
        return " ".join([head, *self._clauses(agree)])

    def definite(self, agree: Agreement) -> str:
        """Returns the description with an article where it needs one: `the patients treated by X`, `X's children`."""
        if self.owner is not None or self.kind:
            return self.said(agree) if self.owner is not None else f"the {self.said(agree)}"
        return " ".join([agree("the one", "those"), *self._clauses(agree)])

    def also(self, *clauses: Clause) -> Things:
        return replace(self, clauses=(*self.clauses, *clauses))

    def as_speaker(self, agree: Agreement) -> Speaker:
        text = self.definite(agree)
        return Speaker(text, agree, text, None if self.clauses else f"{text}'s" if agree is one else None)

    def _clauses(self, agree: Agreement) -> list[str]:
        said = [clause(agree) for clause in self.clauses]
        plain = [each for each in said if not each.startswith("with ")]
        ornate = [each for each in said if each.startswith("with ")]
        return [" and ".join(each) for each in (plain, ornate) if each]


def things_of(speaker: Speaker, phrase: RelationPhrase, kind: str, be: tuple[str, str]) -> Things:
    """Returns the things to which the hop of `phrase` leads from `speaker`."""
    if phrase.form == "noun" and not phrase.inverse:
        return Things(kind, owner=(speaker, phrase.words))
    if not phrase.inverse:
        return Things(kind, (lambda _agree: f"that {speaker.subject} {speaker.predicate(phrase, be)}",))
    return Things(kind, (lambda agree: _clause_backwards(speaker, phrase, agree, be),))


def _clause_backwards(speaker: Speaker, phrase: RelationPhrase, agree: Agreement, be: tuple[str, str]) -> str:
    if phrase.form == "passive":
        return f"{phrase.words} {speaker.object}"
    if phrase.form != "noun":
        return f"that {_predicate(phrase, agree, be)} {speaker.object}"
    if phrase.had:
        return f"that {agree('has', 'have')} {phrase.words} {speaker.object}"
    return f"whose {phrase.words} {be[0]} {speaker.object}"


def _predicate(phrase: RelationPhrase, agree: Agreement, be: tuple[str, str]) -> str:
    # An event on a certain day is told in the past: "was hired on".
    is_dated = phrase.form == "passive" and phrase.words.endswith(" on") and not phrase.words.startswith("based ")
    verb = agree(*(("was", "were") if is_dated else be))
    match phrase.form:
        case "passive":
            return f"{verb} {phrase.words}"
        case "verb":
            return agree(phrase.words, base_form(phrase.words))
        case "noun_of" if phrase.words == "part of":
            return f"{verb} part of"
        case "noun_of":
            return f"{verb} {agree(with_article(phrase.words), plural(phrase.words))}"
        case _:
            return phrase.words


_OF_PLACE: Final = frozenset("in at on under from with near behind within".split())
_ORDINALS: Final = frozenset("first last originally initially previously".split())
_KIND_OF: Final = (["is", "a"], ["is-a"], ["is", "an"], ["isa"])


@dataclass(frozen=True, slots=True)
class WordedLabel:
    """The words of a label in a sentence: "X's `noun` `verb` Y", or "X `verb` Y" if there is no noun."""

    verb: str
    noun: str = ""


def worded(label: str, end_concept: str) -> WordedLabel | None:
    words = label_words(label)
    if words in _KIND_OF:
        return WordedLabel("is of the kind")
    if len(words) < 2:
        return None
    if words[0] in _OF_PLACE and len(words) == 2 and words[1] not in _OF_PLACE:
        return WordedLabel(f"is {words[0]} the {words[1]}")
    if words[-1] == "by" and len(words) == 2 and not is_participle(words[0]):
        return WordedLabel("is by", noun=words[0])
    if end_concept == "date" and words[-1] == "due":
        return WordedLabel("is due on", noun=" ".join(words[:-1]))
    if end_concept == "date" and words[0] in _ORDINALS and is_participle(words[-1]):
        return WordedLabel(f"was {' '.join(words)} on")
    return None


def _is_verb(word: str) -> bool:
    """Returns True for a verb in the third person, such as "smokes"."""
    return word.endswith("s") and word not in lemminflect.getAllLemmas(word).get("VERB", (word,))


def state(label: str) -> str:
    """Returns the state in a yes/no label as a clause: "is fragile", "has cold storage", "is a smoker", "smokes"."""
    words: Sequence[str] = label_words(label)
    if words[0] in ("is", "has", "was", "can") and len(words) > 1:
        return " ".join(words)
    if is_done(words[0]) or _is_verb(words[0]):
        return " ".join(words)
    if len(words) == 1 and is_agent(words[0]):
        return f"is {with_article(words[0])}"
    return f"is {' '.join(words)}"


def joined(parts: Sequence[str], comma: bool = False) -> str:
    """Joins parts as in "a, b and c"; with `comma`, as in "a, b, and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])}{',' if comma else ''} and {parts[-1]}"
