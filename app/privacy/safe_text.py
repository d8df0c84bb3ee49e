"""Types for text that may leave: SafeText, the dialogue made of it, and the bytes of a request.

Only app/privacy and the prompt modules may create them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NewType

from kg_store.terms import Mids, ValueKind


class PrivacyError(Exception):
    """The base of all privacy errors.

    `id` is random and written to the log too, so that an error a user reports can be found there.
    """

    def __init__(self, text: str) -> None:
        self.id = secrets.token_hex(8)
        super().__init__(f"{text} (error {self.id})")


SafeText = NewType("SafeText", str)
"""Text in which every linked name, value and pattern match has been replaced by a pseudonym."""


@dataclass(frozen=True, slots=True)
class SafeTurn:
    """One turn of the dialogue as the model may see it."""

    role: Literal["user", "assistant"]
    text: SafeText


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that the question names, at which retrieval may start.

    `mids`: one for an entity, several for a shared name or a set of an earlier answer, none for a value that the graph
    does not hold. `value_kind` is set for values. `newest`: the last user turn names it itself. `doubtful`: it may be
    no name, because it is an everyday word in lower case beside other names. `sorts`: it is a common noun that
    classifies other things. `is_date`: a thing whose name is a date.
    """

    pseudonym: str
    mids: Mids = field(repr=False)
    value_kind: ValueKind | None = None
    newest: bool = True
    doubtful: bool = False
    sorts: bool = False
    is_date: bool = False

    @property
    def says_time(self) -> bool:
        return self.is_date or self.value_kind is ValueKind.DATE


@dataclass(frozen=True, slots=True)
class SafeDialogue:
    """The anonymised turns; the last one is the question.

    `topics`: those of the question first, in its order, then those of earlier turns, the most recent turn first.
    `leans`: the question needs earlier turns and was completed from them, so their topics may matter to it.
    """

    turns: tuple[SafeTurn, ...]
    topics: tuple[Topic, ...]
    leans: bool = False

    @property
    def question(self) -> SafeText:
        return self.turns[-1].text

    def with_earlier(self, questions: int | None) -> SafeDialogue:
        """Returns the question with `questions` earlier questions and their answers, or with all of them if None."""
        asked = [at for at, turn in enumerate(self.turns) if turn.role == "user"]
        first = 0 if questions is None else asked[-1 - questions :][0]
        return replace(self, turns=self.turns[first:])

    def without_exchanges(self, is_left_out: Callable[[str], bool]) -> SafeDialogue:
        """Returns the dialogue without those earlier turns that `is_left_out` accepts, and the replies to them."""
        kept, leaves = list[SafeTurn](), False
        for turn in self.turns[:-1]:
            leaves = is_left_out(turn.text) if turn.role == "user" else leaves
            if not leaves:
                kept.append(turn)
        return replace(self, turns=(*kept, self.turns[-1]))

    def without_doubtful(self) -> SafeDialogue:
        """Returns the dialogue without its doubtful topics, which may be no names."""
        return replace(self, topics=tuple(topic for topic in self.topics if not topic.doubtful))

    def without_parts(self, parts: Iterable[tuple[int, int]], topics: Collection[str]) -> SafeDialogue:
        """Returns the question without the given parts (start, end) of its text and without the given topics."""
        text = self.question
        for start, end in sorted(parts, reverse=True):
            text = SafeText(f"{text[:start]} {text[end:]}")
        turn = replace(self.turns[-1], text=SafeText(" ".join(text.split())))
        kept = tuple(topic for topic in self.topics if topic.pseudonym not in topics)
        return replace(self, turns=(*self.turns[:-1], turn), topics=kept)

    def with_topics(self, instead: Mapping[str, Topic]) -> SafeDialogue:
        """Returns the question with the topics that `instead` lists by pseudonym replaced."""
        text = self.question
        for pseudonym, topic in instead.items():
            text = SafeText(text.replace(pseudonym, topic.pseudonym))
        topics = tuple(instead.get(topic.pseudonym, topic) for topic in self.topics)
        return replace(self, turns=(*self.turns[:-1], replace(self.turns[-1], text=text)), topics=topics)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a request's bytes. Static parts are fixed text of the service; the guard may skip only these.

    A part that is `public` holds the words of one public term, and the guard blocks it if it holds anything else.
    """

    data: bytes = field(repr=False)
    static: bool = False
    public: bool = False


@dataclass(frozen=True, slots=True)
class Egress:
    """Every byte of one request's body, in order.

    `endpoint` is the position, in the list of configured endpoints, of the one it is for.
    """

    segments: tuple[Segment, ...]
    endpoint: int = 0

    @property
    def body(self) -> bytes:
        return b"".join(segment.data for segment in self.segments)
