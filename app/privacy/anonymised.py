"""Anonymised: a dialogue as it may leave, its topics, and other readings of the same question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from app.privacy.safe_text import SafeDialogue, SafeText, Topic
from client_sdk.protocol import Ambiguity, Reading


@dataclass(frozen=True, slots=True)
class KindsReading:
    """The question in which common nouns stand as names, `instead_of` the one in which they stand as words."""

    instead_of: SafeText
    question: SafeText
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Anonymised:
    """The dialogue as the model may see it, the names of its topics that several entities share, and notes.

    `inexact`: where the question spells a name otherwise than the graph. `values`: by the pseudonym of a name in the
    question, the text values of the graph that are spelt just as it is typed. `by_kinds`: the question
    with common nouns read as names of what things are sorted by.
    """

    dialogue: SafeDialogue
    ambiguous: tuple[Ambiguity, ...]
    notes: tuple[str, ...] = ()
    inexact: tuple[Reading, ...] = ()
    values: Mapping[str, Topic] = field(default_factory=dict)
    by_kinds: KindsReading | None = None

    def readings(self) -> Iterator[Anonymised]:
        """This one; then, where a topic may be no name, the same without it."""
        yield self
        doubtful = [topic.pseudonym for topic in self.dialogue.topics if topic.doubtful]
        if doubtful:
            note = f"{' and '.join(doubtful)} was read as everyday words: the graph has a thing that is called so."
            yield replace(self, dialogue=self.dialogue.without_doubtful(), notes=(*self.notes, note))

    def with_kinds(self) -> Anonymised | None:
        """The same with common nouns read as names: guitarists as those who are a Guitarist. None where there are
        none, or where the question was completed since."""
        kinds = self.by_kinds
        if kinds is None or kinds.instead_of != self.dialogue.question:
            return None
        earlier = tuple(topic for topic in self.dialogue.topics if not topic.newest)
        turns = (*self.dialogue.turns[:-1], replace(self.dialogue.turns[-1], text=kinds.question))
        return replace(self, dialogue=replace(self.dialogue, turns=turns, topics=(*kinds.topics, *earlier)))

    def with_values(self) -> Anonymised | None:
        """The same with names read as the text values that are spelt so: Ghent as a city of customers, and not as the
        Ghent Office. None where there are no such values."""
        if not self.values:
            return None
        ambiguous = tuple(each for each in self.ambiguous if each.pseudonym not in self.values)
        inexact = tuple(each for each in self.inexact if each.pseudonym not in self.values)
        return replace(self, dialogue=self.dialogue.with_topics(self.values), ambiguous=ambiguous, inexact=inexact)
