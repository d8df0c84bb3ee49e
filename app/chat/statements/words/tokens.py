"""A sentence as words, marks and pseudonyms, each with its place; and the little words of English by what they do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.privacy.pseudonym_format import is_shaped
from kg_store.terms import PSEUDONYM_FORM
from kg_store.text.inflection import lemminflect
from kg_store.text.plurals import singular

_TOKEN: Final = re.compile(
    rf"(?<![^\W_]){PSEUDONYM_FORM}(?![^\W_])|"
    r"n['’]t\b|['’](?:s|re|ve|d|ll|m)\b|[^\W_]+?(?=n['’]t\b)|[^\W_]+(?:-[^\W_]+)*|[^\w\s]|_"
)

BE: Final = frozenset("am is are was were be been being 's 're 'm".split())
HAVE: Final = frozenset("have has had having 've".split())
DO: Final = frozenset("do does did".split())
MODAL: Final = frozenset("can could may might must will would shall should ca wo 'd 'll".split())
NEGATIONS: Final = frozenset({"not", "never", "n't"})
ARTICLES: Final = frozenset({"a", "an", "the"})
POINTING: Final = frozenset("this that these those".split())
POSSESSIVES: Final = frozenset("its his her their".split())
PERSONAL: Final = frozenset("he she it they him them himself herself itself themselves".split())
SPEAKERS: Final = frozenset("i you we me us".split())
RELATIVES: Final = frozenset("who which that whom".split())
JOINS: Final = frozenset("and or but nor".split())
SUBORDINATE: Final = frozenset(
    "while whereas although though because since as so when if then where yet plus whilst".split()
)
PREPOSITIONS: Final = frozenset(
    "of in on at to from for with by into about as under against near after before since during within alongside "
    "through throughout among between over above below toward towards via inside outside upon like until across "
    "around behind beside besides including per except".split()
)
SHADES: Final = frozenset(
    "also too both indeed actually really just simply certainly definitely surely clearly truly probably possibly "
    "perhaps maybe likely apparently reportedly supposedly seemingly presumably allegedly well even still then later "
    "currently now already additionally furthermore moreover however meanwhile therefore instead though anyway "
    "evidently arguably subsequently eventually interestingly conveniently similarly likewise there here "
    "again together fact far".split()
)
"""Words that a statement is as true with as without, hedges among them."""
NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"zero": 0, "single": 1, "couple": 2, "dozen": 12, "neither": 0}

_GRAMMAR: Final = (
    BE | HAVE | DO | MODAL | NEGATIONS | ARTICLES | POINTING | POSSESSIVES | PERSONAL | SPEAKERS | RELATIVES | JOINS
    | SUBORDINATE | PREPOSITIONS | SHADES | {"whose", "than", "there", "my", "your", "our", "'s", "how", "what", "why"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """`word` in small letters, a pseudonym as it is; `start` and `end` are places in the sentence."""

    word: str
    start: int
    end: int
    is_name: bool = False
    is_capital: bool = False
    """Of a word behind the first of the sentence: a name that is none of the house."""

    @property
    def is_word(self) -> bool:
        return not self.is_name and (self.word[0].isalnum() or self.word[0] == "'" or self.word == "n't")

    @property
    def is_number(self) -> bool:
        return not self.is_name and self.word[0].isdigit()


def tokenize(sentence: str) -> list[Token]:
    found = []
    for each in _TOKEN.finditer(sentence):
        word = each.group().replace("’", "'")
        if is_shaped(word):
            found.append(Token(word, each.start(), each.end(), is_name=True))
        else:
            is_capital = word[0].isupper() and bool(found) and word not in ("I",) and not word.startswith("I'")
            found.append(Token(word.lower(), each.start(), each.end(), is_capital=is_capital))
    return found


def is_grammar(word: str) -> bool:
    return word in _GRAMMAR


@lru_cache(maxsize=50_000)
def lemmas(word: str, part: str) -> tuple[str, ...]:
    """The base forms of `word` as a VERB, NOUN, ADJ or ADV; empty where it can't be one."""
    return tuple(map(str, lemminflect.getAllLemmas(word).get(part, ())))


@lru_cache(maxsize=50_000)
def noun_base(word: str) -> str:
    """The singular of what may be a noun."""
    known = lemmas(word, "NOUN")
    return known[0] if known else singular(word)


@lru_cache(maxsize=50_000)
def is_form(word: str, form: str) -> bool:
    """True where `word` is that form (VBD, VBN, VBG, VBZ, VB) of some verb."""
    verbs = lemmas(word, "VERB")
    return word in verbs if form == "VB" else any(word in lemminflect.getInflection(verb, form) for verb in verbs)


def is_finite(word: str) -> bool:
    return is_form(word, "VBD") or is_form(word, "VBZ") or is_form(word, "VB")


def text_between(sentence: str, tokens: Sequence[Token], start: int, end: int) -> str:
    return sentence[tokens[start].start : tokens[end - 1].end] if end > start else ""
