"""Turns, follow-ups, drafts and phrases of a chat, row by row (`corpus.toml`); capitals stand for pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pytest

from app.chat.concluding import adds_nothing
from app.chat.follow_ups import CompletedQuestion, FollowUps
from app.chat.grounding import NotGroundedError, ground, is_prose, parted
from app.chat.reading import language_typed
from app.chat.turn_forms import TurnClassifier
from app.chat.turns import (
    described_thing,
    did_you_mean,
    sorted_thing,
    talk_of,
    thing_to_sort,
    was_offered,
)
from app.chat.understanding import in_words
from app.llm.embeddings.embedder import Embedder
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from app.strategies.base import FoundFact
from kg_store.algebra.expressions import parse
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NO_MIDS, Mid, Mids, NodeKind, ValueKind
from kg_store.text.english import names_one_of
from tests.support.corpus import Corpus
from tests.support.house import turn_classifier

CORPUS = Corpus.beside(__file__)


def dialogue_of(*turns: str) -> SafeDialogue:
    roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
    return SafeDialogue(tuple(SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate(turns)), ())


@dataclass
class FakeMeanings:
    """Implements Meanings over a few invented things: patients A, B and C, doctors D and E, a city F."""

    forms: TurnClassifier
    table: PseudonymTable = field(default_factory=PseudonymTable.new)
    words: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.words = {letter: self.table.of_entity(Mid(at)) for at, letter in enumerate("ABCDEF", start=1)}
        self.words["W"] = self.table.of_literal("1995", ValueKind.NUMBER)
        self.words["V"] = self.table.of_literal("1990", ValueKind.NUMBER)
        self.words["S"] = self.table.of_outcome("listed", [1, 2, 3])
        self.words["G"] = self.table.of_group([1, 2])

    def _letter(self, word: str) -> str:
        return next(letter for letter, each in self.words.items() if each == word)

    def listed(self, word: str) -> Sequence[str]:
        return [self.words[letter] for letter in "BAC"] if self._letter(word) == "S" else []

    def choices(self, word: str) -> Sequence[str]:
        return [self.words["B"], self.words["A"]] if self._letter(word) == "G" else []

    def namesakes(self, word: str) -> Sequence[str]:
        return ()

    def concept(self, word: str) -> str:
        return {"D": "doctor", "E": "doctor", "F": "city"}.get(self._letter(word), "patient")

    def is_person(self, word: str) -> bool:
        return self._letter(word) in "ABCDE"

    def mids(self, word: str) -> Mids:
        meaning = self.table.meaning(word)
        return NO_MIDS if meaning is None else meaning.mids

    def one(self, word: str) -> str:
        return word if self._letter(word) in "ABCDEF" else ""

    def has_rest(self, word: str) -> bool:
        return False

    def is_of_group(self, word: str) -> bool:
        return False

    def set_behind(self, word: str) -> str:
        return ""

    def joined_with(self, words: Sequence[str], choices: Sequence[str]) -> Sequence[str]:
        return [each for each in choices if self.words["F"] in words and self._letter(each) == "A"]

    def all_of(self, words: Sequence[str]) -> str:
        return self.table.of_outcome("compared", [self.table.entity(word) or 0 for word in words])

    def read(self, *turns: str) -> CompletedQuestion:
        texts = [" ".join(self._said(word) for word in turn.split()) for turn in turns]
        return FollowUps(self.table, self, form_of=self.forms.form).whole(dialogue_of(*texts))

    def _said(self, word: str) -> str:
        bare = word.rstrip("?.,'s") if len(word) > 1 else word
        return word.replace(bare, self.words[bare], 1) if bare in self.words else word


def whole(forms: TurnClassifier, *turns: str) -> str:
    """The last turn in full."""
    meanings = FakeMeanings(forms)
    found = meanings.read(*turns)
    assert not found.lost
    text = str(found.question)
    for letter, word in meanings.words.items():
        text = text.replace(word, letter)
    return text


def grounded(text: str, *expressions: str) -> str:
    """The text of a draft whose evidence is A and B, or why it is refused; C is of the conversation, X of another."""
    table = PseudonymTable.new()
    words = {letter: table.of_entity(Mid(at)) for at, letter in enumerate("ABC", start=1)}
    words["X"] = PseudonymTable.new().of_entity(Mid(1))
    meant = re.compile(r"(?<![A-Za-z])[ABCX](?![A-Za-z])")
    text, *asked = (meant.sub(lambda letter: words[letter.group()], each) for each in (text, *expressions))
    try:
        made = ground(text, asked, {words["A"], words["B"]}, table).text
    except NotGroundedError as refused:
        return refused.reason if not any(word in str(refused) for word in words.values()) else str(refused)
    for letter, word in words.items():
        made = made.replace(word, letter)
    return made


FACT = FoundFact("Eq7f2k", "film", ("directed by",), "Ex81zp", "person", "1")
PHRASES = {
    "Sa": "4 patients",
    "Sb": "19 patients",
    "K": "all 90 patients",
    "V": "Vx81zp",
    "E": "Eq7f2k",
    "Sm": "19 things",
}
OF_TOWN = ("building", "district", "veterinary practice", "pet insurer")
OFFERED = ("Which doctors treat Eq7f2k?", "Which patients does Eq7f2k treat?")
CITY = VaultRecord(NodeKind.ENTITY, ("Zarnsbridge", "Zarnsbr\u00fcck"), labels=(("de", "Zarnsbr\u00fcck"),))
PORT = VaultRecord(NodeKind.ENTITY, ("Zelmhaven", "Zelmhafen"), labels=(("de", "Zelmhafen"), ("en", "Zelmhaven")))


def is_word(word: str) -> bool:
    return re.fullmatch(r"[EVSR][a-z0-9]{5}", word) is not None


def about_one(turn: str) -> tuple[str, str, str]:
    """Returns the subject of a turn: a thing to describe, one whose kind is asked, or one to be sorted."""
    told = thing_to_sort(turn, lambda noun: names_one_of(noun, OF_TOWN))
    return described_thing(turn), sorted_thing(turn), told


def phrase(expression: str) -> str:
    return in_words(parse(expression), lambda word: PHRASES[word], lambda word: word in ("V", "opened on"))


READS: dict[str, Callable[..., object]] = {
    "turns about one thing": about_one,
    "questions that were offered": lambda *turns: was_offered(
        dialogue_of(*(did_you_mean(OFFERED) if turn == "OFFERED" else turn for turn in turns))
    ),
    "words of the facts": lambda text: adds_nothing(text, [FACT]),
    "expressions as phrases": phrase,
    "prose": lambda text: is_prose(text, is_word),
    "names that touch": lambda text: parted(text, is_word),
    "languages of names": lambda *turns: language_typed(turns, [CITY, PORT]),
}


OF_FORMS: dict[str, Callable[..., object]] = {
    "follow-ups": whole,
    "asking for the reason": lambda forms, turn: forms.form(turn) == "doubt",
}


def test_every_section_is_read() -> None:
    assert {*READS, *OF_FORMS, "drafts", "small talk", "kinds of turns"} == set(CORPUS.sections)


@pytest.mark.parametrize("section", READS)
def test_rows_are_read(section: str) -> None:
    CORPUS.judge(section, READS[section])


@pytest.mark.parametrize("section", OF_FORMS)
def test_rows_are_read_by_their_form(section: str, embedder: Embedder) -> None:
    forms = turn_classifier(embedder)
    CORPUS.judge(section, lambda *turns: OF_FORMS[section](forms, *turns))


def test_a_draft_passes_or_is_refused_for_what_is_wrong_with_it() -> None:
    CORPUS.judge("drafts", grounded)


def test_small_talk_is_told_from_questions(embedder: Embedder) -> None:
    CORPUS.judge("small talk", lambda turn: talk_of(turn, embedder.similarity))
    assert not [row for row in CORPUS.rows("small talk") if not row[-1] and talk_of(row[0]) is not None]


def test_plain_turns_are_of_their_kinds(embedder: Embedder) -> None:
    classifier = turn_classifier(embedder)

    def kind(text: str) -> str:
        chances = classifier.chances(text)
        assert sum(chances.values()) == pytest.approx(1)
        return max(chances, key=lambda each: chances[each])

    CORPUS.judge("kinds of turns", kind)
