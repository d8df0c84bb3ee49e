"""Anonymised: a dialogue as it may leave the service, its topics, and other readings of the same question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.privacy.safe_text import SafeDialogue, SafeText, Topic
from client_sdk.protocol import Ambiguity, Reading


@dataclass(frozen=True, slots=True)
class KindsReading:
    """The question with common nouns read as names; `instead_of` is the one in which they are plain words."""

    instead_of: SafeText
    question: SafeText
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Anonymised:
    """The dialogue as the model may see it, with its ambiguous names and notes.

    `ambiguous`: names of topics that several entities share. `inexact`: places where the question spells a name
    differently from the graph. `values`: for the pseudonym of a name, the text values of the graph with the same
    spelling. `by_kinds`: the question with common nouns read as names ("guitarists"). `typed`: the words as typed of
    pseudonyms that stand for no thing and no value, for the reader inside the service alone.
    """

    dialogue: SafeDialogue
    ambiguous: tuple[Ambiguity, ...]
    notes: tuple[str, ...] = ()
    inexact: tuple[Reading, ...] = ()
    values: Mapping[str, Topic] = field(default_factory=dict)
    by_kinds: KindsReading | None = None
    typed: Mapping[str, str] = field(default_factory=dict, repr=False)

    def readings(self) -> Iterator[Anonymised]:
        """Yields this dialogue, then the same without topics that may not be names, if there are any."""
        yield self
        doubtful = [topic.pseudonym for topic in self.dialogue.topics if topic.doubtful]
        if doubtful:
            note = f"{' and '.join(doubtful)} was read as everyday words: the graph has a thing that is called so."
            yield replace(self, dialogue=self.dialogue.without_doubtful(), notes=(*self.notes, note))

    def with_kinds(self) -> Anonymised | None:
        """Returns the dialogue with common nouns read as names: "guitarists" as people with the occupation Guitarist.

        None if there are none, or if the question has been completed since.
        """
        kinds = self.by_kinds
        if kinds is None or kinds.instead_of != self.dialogue.question:
            return None
        earlier = tuple(topic for topic in self.dialogue.topics if not topic.newest)
        turns = (*self.dialogue.turns[:-1], replace(self.dialogue.turns[-1], text=kinds.question))
        return replace(self, dialogue=replace(self.dialogue, turns=turns, topics=(*kinds.topics, *earlier)))

    def with_values(self) -> Anonymised | None:
        """Returns the dialogue with names read as text values of the same spelling: Ghent as a city of customers, not
        the Ghent Office. None if there are no such values.
        """
        if not self.values:
            return None
        ambiguous = tuple(each for each in self.ambiguous if each.pseudonym not in self.values)
        inexact = tuple(each for each in self.inexact if each.pseudonym not in self.values)
        return replace(self, dialogue=self.dialogue.with_topics(self.values), ambiguous=ambiguous, inexact=inexact)
