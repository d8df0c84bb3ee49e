"""Holds an anonymised dialogue with the other ways to read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.privacy.safe_text import SafeDialogue, SafeText, Topic
from client_sdk.protocol import Ambiguity, Reading


@dataclass(frozen=True, slots=True)
class KindsReading:
    """A second reading of the question, in which a common noun is the name of a thing ("guitarists" for Guitarist).

    `instead_of`: the question's text in the first reading, where the noun stays a word. `question`: its text in this
    reading, where the noun is a pseudonym. `topics`: the things that this reading names.
    """

    instead_of: SafeText
    question: SafeText
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Anonymised:
    """The dialogue as the model may see it, with its ambiguous names and notes.

    `ambiguous`: names in the question that several entities share. `inexact`: places where the question spells a name
    differently from the graph. `values`: for the pseudonym of a name, the text values of the graph with the same
    spelling. `by_kinds`: the question with common nouns read as names ("guitarists"). `typed`: for the pseudonym of a
    word that may be no name, the word as the user typed it; only the service itself reads it, it never leaves.
    `words`: for such a pseudonym, the only thing that is called so.
    """

    dialogue: SafeDialogue
    ambiguous: tuple[Ambiguity, ...]
    notes: tuple[str, ...] = ()
    inexact: tuple[Reading, ...] = ()
    values: Mapping[str, Topic] = field(default_factory=dict)
    by_kinds: KindsReading | None = None
    typed: Mapping[str, str] = field(default_factory=dict, repr=False)
    words: Mapping[str, Topic] = field(default_factory=dict, repr=False)

    def with_words(self) -> Anonymised:
        """Returns the dialogue with everyday words that were replaced read as the things that are called so.

        For a model, which sees a pseudonym in either case: "paid by card" then names one of the ways to pay.
        """
        if not self.words:
            return self
        known = {topic.pseudonym for topic in self.dialogue.topics}
        more = tuple(topic for topic in self.words.values() if topic.pseudonym not in known)
        dialogue = self.dialogue.with_topics(self.words)
        return replace(self, dialogue=replace(dialogue, topics=(*more, *dialogue.topics)))

    def readings(self) -> Iterator[Anonymised]:
        """Yields this dialogue and, if it has doubtful topics, the same dialogue without them.

        A topic is doubtful if it may be an everyday word instead of a name.
        """
        yield self
        doubtful = [topic.pseudonym for topic in self.dialogue.topics if topic.doubtful]
        if doubtful:
            note = f"{' and '.join(doubtful)} was read as everyday words: the graph has a thing that is called so."
            yield replace(self, dialogue=self.dialogue.without_doubtful(), notes=(*self.notes, note))

    def with_kinds(self) -> Anonymised | None:
        """Returns the dialogue with common nouns read as names: "guitarists" as people with the occupation Guitarist.

        Returns None if the question has no such nouns, or if words from earlier turns have been added to it since.
        """
        kinds = self.by_kinds
        if kinds is None or kinds.instead_of != self.dialogue.question:
            return None
        earlier = tuple(topic for topic in self.dialogue.topics if not topic.newest)
        turns = (*self.dialogue.turns[:-1], replace(self.dialogue.turns[-1], text=kinds.question))
        return replace(self, dialogue=replace(self.dialogue, turns=turns, topics=(*kinds.topics, *earlier)))

    def with_values(self) -> Anonymised | None:
        """Returns the dialogue with names read as text values of the same spelling, or None if there are none.

        For example, "Ghent" becomes the city that customers have, instead of the entity "Ghent Office".
        """
        if not self.values:
            return None
        ambiguous = tuple(each for each in self.ambiguous if each.pseudonym not in self.values)
        inexact = tuple(each for each in self.inexact if each.pseudonym not in self.values)
        return replace(self, dialogue=self.dialogue.with_topics(self.values), ambiguous=ambiguous, inexact=inexact)
