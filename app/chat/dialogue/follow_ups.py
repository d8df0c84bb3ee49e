"""Completes questions that depend on the turns before: "and Rose?", "the second one", "the other one"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from app.chat.dialogue.pronouns import PronounResolver, pronoun_replaced
from app.privacy.pseudonym_format import Standing, replaced, words_in
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.safe_text import SafeDialogue, SafeText
from client_sdk.protocol import Fact
from client_sdk.protocol.chat import chains

NOT_LISTED: Final = "there is no such thing in the last answer"

_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WHICH: Final = rf"\b(?:the )?(?P<which>{'|'.join(_ORDINALS)}|last|other|former|latter)"
_POINTING = re.compile(rf"{_WHICH} (?:one|of (?:them|these|those|the two))\b", re.IGNORECASE)
# "Who was the first?" asks for an extreme: without "one" it points only where nothing else is said.
_POINTING_ALONE = re.compile(rf"{_WHICH}(?=\s*[?.!]*\s*$)", re.IGNORECASE)
# Words that may surround a name in a question that says nothing else.
_AROUND = frozenset(
    "and but or so then now ok okay no yes sorry i mean meant what how about of the same question for by in at with "
    "to from on please too also is it that".split()
)


@dataclass(frozen=True, slots=True)
class CompletedQuestion:
    """The question in full.

    `pointed`: set if it only points at one thing of an answer; `lost`: it points at a thing that is not there.
    `leans`: part of it was taken from earlier turns, which may therefore still matter.
    """

    question: SafeText
    leans: bool = False
    pointed: str | None = None
    lost: bool = False

    def note(self, typed: str) -> str:
        if self.lost:
            return NOT_LISTED
        return f"read as: {self.question}" if self.question != typed and self.pointed is None else ""


@dataclass(slots=True)
class DialogueState:
    """The turns so far: the last question in full, the things listed last, and those of them that were meant."""

    question: str = ""
    listed: tuple[str, ...] = ()
    meant: tuple[str, ...] = ()


class Meanings(Protocol):
    """The meanings of pseudonyms, as far as a dialogue needs them."""

    def listed(self, word: str) -> Sequence[str]:
        """The members of a set, one pseudonym each, in the order in which the asker saw their names."""
        ...

    def choices(self, word: str) -> Sequence[str]:
        """The things that a shared name may mean."""
        ...

    def namesakes(self, word: str) -> Sequence[str]:
        """All things that share the name by which a single thing was asked for, including itself."""
        ...

    def concept(self, word: str) -> str: ...

    def is_person(self, word: str) -> bool: ...


class FollowUps:
    """Reads a dialogue turn by turn, in pseudonyms only; its output holds no word that was not in a safe turn."""

    def __init__(self, table: PseudonymTable, meanings: Meanings) -> None:
        self._table, self._meanings = table, meanings
        self._persons = PronounResolver(meanings.is_person)

    def whole(self, dialogue: SafeDialogue) -> CompletedQuestion:
        """Returns the last question, with everything that it leaves to earlier turns filled in."""
        before, passed_over = DialogueState(), False
        for turn in dialogue.turns[:-1]:
            if turn.role == "user":
                passed_over = asks_why(turn.text)
            if passed_over:
                continue  # A question for the reason, and its answer, name nothing new.
            if turn.role == "user":
                before = self._after_question(before, self._read(turn.text, before))
            else:
                before.listed = self._listed_in(turn.text, before) or before.listed
                self._persons.hear(self._table.known(turn.text))
        return self._read(dialogue.question, before)

    def _after_question(self, before: DialogueState, whole: CompletedQuestion) -> DialogueState:
        said = self._table.known(whole.question)
        asked_back = [choice for word in said for choice in self._meanings.choices(word)]
        self._persons.hear(said)
        if asked_back:
            return DialogueState(whole.question, tuple(asked_back))
        if whole.lost:
            return before
        if whole.pointed is not None:
            return replace(before, meant=(*before.meant, whole.pointed))
        listed = before.listed
        if not set(said) & set(listed):
            # A later turn may point at two compared things, or at others of the same name: "and the other one?".
            named = tuple(word for word in said if word[0] == "E")
            others = [tuple(self._meanings.namesakes(word)) for word in named]
            listed = named if len(named) > 1 else next(filter(None, others), listed)
        return DialogueState(whole.question, listed, tuple(word for word in said if word in listed))

    def _listed_in(self, text: str, before: DialogueState) -> tuple[str, ...]:
        """The things that an answer listed: the members of the last set that it names."""
        if any(self._meanings.choices(word) for word in self._table.known(before.question)):
            return ()  # The service had asked which of several things was meant: that list is the one pointed at.
        sets = [tuple(self._meanings.listed(word)) for word in self._table.known(text)]
        return next((each for each in reversed(sets) if len(each) > 1), ())

    def _read(self, text: str, before: DialogueState) -> CompletedQuestion:
        if not before.question:
            return CompletedQuestion(SafeText(text))
        found = _POINTING.search(text) or self._pointing_alone(text)
        if found is None:
            if self._says_nothing_else(text) and self._table.known(text):
                return self._same_question(text, before, strictly=False)
            return self._with_persons(text, leans=False)
        word = _picked(found["which"].lower(), before)
        if word is None:
            return CompletedQuestion(SafeText(text), lost=True)
        pointed = replaced(text, [Standing(found.start(), found.end(), word)])
        if self._says_nothing_else(pointed):
            return self._same_question(pointed, before, strictly=True)
        return self._with_persons(pointed, leans=True)

    def _with_persons(self, text: str, *, leans: bool) -> CompletedQuestion:
        # The person behind a pronoun is a guess, so earlier turns are kept as context.
        replaced_too = self._persons.replaced_in(text)
        return CompletedQuestion(SafeText(replaced_too), leans=leans or replaced_too != text)

    def _pointing_alone(self, text: str) -> re.Match[str] | None:
        found = _POINTING_ALONE.search(text)
        return found if found and self._says_nothing_else(text[: found.start()]) else None

    def _says_nothing_else(self, text: str) -> bool:
        """True if `text` holds only pseudonyms and function words around them."""
        words = (standing.word for standing in words_in(text))
        return all(self._table.meaning(word) is not None or word.lower() in _AROUND for word in words)

    def _same_question(self, fragment: str, before: DialogueState, *, strictly: bool) -> CompletedQuestion:
        """The last question, asked about what `fragment` names."""
        new = self._table.known(fragment)
        old = self._old_topic(new[0], before, strictly=strictly)
        if old is None and strictly:
            return CompletedQuestion(SafeText(new[0]), pointed=new[0])
        if old is None:
            stripped = before.question.rstrip(" ?.!")
            by_pronoun = pronoun_replaced(before.question, " and ".join(new))
            question = by_pronoun or f"{stripped} {_without_opening(fragment)}"
        else:
            named = " and ".join(new)
            places = [place for place in words_in(before.question) if place.word == old]
            question = replaced(before.question, [Standing(place.start, place.end, named) for place in places])
        return CompletedQuestion(SafeText(question))

    def _old_topic(self, new: str, before: DialogueState, *, strictly: bool) -> str | None:
        """The pseudonym of the last question that `new` replaces; None if none fits."""
        old = [word for word in self._table.known(before.question) if word != new]
        for fits in (
            lambda word: new in self._meanings.choices(word),
            lambda word: new in before.listed and word in before.listed,
            lambda word: word[0] != "V" and new[0] != "V" and self._same_kind(word, new),
        ):
            if found := next(filter(fits, old), None):
                return found
        alike = [word for word in old if (word[0] == "V") == (new[0] == "V")]
        return alike[-1] if alike and not strictly else None

    def _same_kind(self, word: str, other: str) -> bool:
        return self._meanings.concept(word) == self._meanings.concept(other)


def _picked(which: str, before: DialogueState) -> str | None:
    listed = before.listed
    if which == "other":
        left = [word for word in listed if word not in before.meant]
        return left[0] if len(left) == 1 and before.meant else None
    at = {"last": -1, "former": 0, "latter": 1}.get(which)
    at = _ORDINALS.index(which) if at is None else at
    return listed[at] if listed and at < len(listed) else None


def _without_opening(fragment: str) -> str:
    """`and what about in X?` -> `in X?`."""
    words = fragment.split()
    while len(words) > 1 and words[0].strip(",").lower() in _AROUND - {"by", "in", "at", "with", "to", "from", "on"}:
        words = words[1:]
    return " ".join(words)


_WORD = re.compile(r"[^\W\d_]+")
_REFERRING = frozenset(
    "he she it they them him his her hers its their theirs those these that this one ones there same".split()
)
# "the films that share": it joins a clause to a kind of thing, and means nothing earlier.
_JOINING = re.compile(r"\b(?:the|a|an|which|what|any|every|all|some|many|other) \w+ that\b", re.IGNORECASE)


def needs_context(dialogue: SafeDialogue) -> bool:
    """True of a question that needs earlier turns: it was completed from them, holds a word that refers to them, or
    names nothing.
    """
    words = {word.casefold() for word in _WORD.findall(_JOINING.sub("", dialogue.question))}
    names_something = any(topic.newest for topic in dialogue.topics)
    return dialogue.leans or not names_something or not _REFERRING.isdisjoint(words)


NO_REASON: Final = "There is no answer just before this to give the reason of."

_WHY = re.compile(
    r"(?:(?:and|but|so|ok|okay|hm+)[ ,]+)*(?:"
    r"why|why so|why(?: is|'s) (?:that|this|it)(?: so)?|how so|how come|"
    r"how (?:do|did|can|could) you (?:know|tell|find|get|work|figure)(?: (?:that|this|it))?(?: out)?|"
    r"what makes you (?:say|think) (?:that|so|this)|(?:please )?explain(?: (?:that|this|it|yourself))?(?: please)?|"
    r"where (?:do|did) you (?:get|have|find) (?:that|this|it)(?: from)?|what is (?:that|this|it) based on|"
    r"(?:show|tell|give) me (?:the|your) (?:evidence|path|reasons?|facts)"
    r")[ ?.!]*",
    re.IGNORECASE,
)


def asks_why(question: str) -> bool:
    """True if `question` asks for nothing but how the last answer was found."""
    return _WHY.fullmatch(question.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None


def reason_of(facts: Sequence[Fact], expressions: Sequence[str]) -> str:
    """Returns the path from what was named to the answer, in pseudonyms; NO_REASON if nothing was kept."""
    if not facts and not expressions:
        return NO_REASON
    sentences = [f"{_chain(chain)}." for chain in chains(facts)]
    worked_out = [each for each in expressions if "(" in each]
    sentences += [f"From that the answer was worked out: {each}." for each in worked_out]
    return " ".join(sentences) or f"{', '.join(expressions)} was named in the question."


def _chain(run: Sequence[Fact]) -> str:
    steps = [f"by {_walked(fact.path)} to {fact.tail} ({fact.tail_concept})" for fact in run]
    return f"From {run[0].head} ({run[0].head_concept}) " + ", and from there ".join(steps)


def _walked(path: Sequence[str]) -> str:
    """A path in words, with labels in quotes: `"treated by" backwards`."""
    return " and then ".join(
        f'"{step.replace("^", "").replace("|", " / ")}"' + (" backwards" if step.startswith("^") else "")
        for step in path
    )
