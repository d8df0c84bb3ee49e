"""Questions that lean on the turns before, in pseudonyms: whose place they take, what they point at, who is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import pytest

from app.chat.follow_ups import CompletedQuestion, FollowUps, asks_why
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeText, SafeTurn
from kg_store.terms import Mid, ValueKind


@dataclass
class FakeMeanings:
    """Implements Meanings over a few invented things: patients A, B and C, doctors D and E, a city F."""

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

    def read(self, *turns: str) -> CompletedQuestion:
        """The last turn in full; capital letters of `words` stand for pseudonyms."""
        roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
        texts = [" ".join(self._said(word) for word in turn.split()) for turn in turns]
        safe = tuple(SafeTurn(roles[at % 2], SafeText(text)) for at, text in enumerate(texts))
        return FollowUps(self.table, self).whole(SafeDialogue(safe, ()))

    def shown(self, *turns: str) -> str:
        text = str(self.read(*turns).question)
        for letter, word in self.words.items():
            text = text.replace(word, letter)
        return text

    def _said(self, word: str) -> str:
        bare = word.rstrip("?.,'s") if len(word) > 1 else word
        return word.replace(bare, self.words[bare], 1) if bare in self.words else word


LIST = ("Which patients does D treat?", "They are S.")


@pytest.fixture
def meanings() -> FakeMeanings:
    return FakeMeanings()


@pytest.mark.parametrize(
    ("turns", "whole"),
    [
        (("Where does A live?", "In F.", "and B?"), "Where does B live?"),
        (("Where does A live?", "In F.", "B"), "Where does B live?"),
        (("Where does A live?", "In F.", "I mean B."), "Where does B live?"),
        (("Where does A live?", "In F.", "and B?", "In F.", "and C?"), "Where does C live?"),
        (("Where does A live?", "In F.", "and B and C?"), "Where does B and C live?"),
        (("Is A treated by D?", "The answer is so.", "and by E?"), "Is A treated by E?"),
        (("Who treats A?", "D treats A.", "and where does he live?", "In F.", "and B?"), "and where does B live?"),
        (("Who was born in V?", "B.", "and in W?"), "Who was born in W?"),
        (("Where does A live?", "In F.", "why?", "From A to F.", "and B?"), "Where does B live?"),
        # These are whole as they are.
        (("Where does A live?", "In F.", "Where does B work?"), "Where does B work?"),
        (("and B?",), "and B?"),
    ],
)  # fmt: skip
def test_a_name_alone_asks_the_same_of_another(meanings: FakeMeanings, turns: Sequence[str], whole: str) -> None:
    assert meanings.shown(*turns) == whole


@pytest.mark.parametrize(
    ("turns", "whole"),
    [
        ((*LIST, "Where does the second one live?"), "Where does A live?"),
        ((*LIST, "Where does the last one live?"), "Where does C live?"),
        ((*LIST, "Where does the first one live?", "In F.", "and the second one?"), "Where does A live?"),
        (("Is A older than B?", "It is so.", "Where does the latter one live?"), "Where does B live?"),
        (("Where does G live?", "In F.", "the second one"), "Where does A live?"),
        (("Where does G live?", "In F.", "A"), "Where does A live?"),
        # "Who was the first?" asks for an extreme, "the first name" for a value.
        ((*LIST, "Who was the first?"), "Who was the first?"),
        ((*LIST, "What is the first name of A?"), "What is the first name of A?"),
    ],
)
def test_what_was_listed_can_be_pointed_at(meanings: FakeMeanings, turns: Sequence[str], whole: str) -> None:
    found = meanings.read(*turns)
    assert not found.lost
    assert meanings.shown(*turns) == whole


@pytest.mark.parametrize(
    ("turns", "whole"),
    [
        (("Who treats A?", "D treats A.", "Where does he live?"), "Where does A live?"),
        (("Who treats A?", "A is treated by D.", "Where does he live?"), "Where does D live?"),
        (("Where does A live?", "In F.", "and her doctor?"), "and A's doctor?"),
        (("Who treats A?", "A is treated by D.", "Where does he live?", "In F.", "and where does she live?"),
         "and where does A live?"),
        (("Who treats A?", "A is treated by D.", "Who treats her?", "It is so.", "Where does she live?"),
         "Where does D live?"),
        # Of things and sets the strategies know more (app/strategies/start.py).
        (("Where does A live?", "In F.", "How large is it?"), "How large is it?"),
        (("How large is F?", "It is V.", "Where does he live?"), "Where does he live?"),
        ((*LIST, "Where do they live?"), "Where do they live?"),
    ],
)  # fmt: skip
def test_he_and_she_are_whom_the_dialogue_spoke_of(meanings: FakeMeanings, turns: Sequence[str], whole: str) -> None:
    assert meanings.shown(*turns) == whole


@pytest.mark.parametrize(
    "text",
    ["why?", "Why", "but why is that so?", "How do you know?", "how did you find that out", "what is that based on?"],
)
def test_asking_for_the_reason(text: str) -> None:
    assert asks_why(text)


@pytest.mark.parametrize("text", ["Why was Eq7f2k admitted?", "How old is she?", "who?", "", "Show me the patients"])
def test_asking_for_something_else(text: str) -> None:
    assert not asks_why(text)
