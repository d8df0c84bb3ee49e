"""Reads what a question asks of a story: who says or does something, what, when, where, or what comes next."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from app.memory.episodes.passages import content_weights
from app.memory.episodes.story_times import times_in
from kg_store.text.inflection import lemmas_of

StoryAspect = Literal["speaker", "speech", "time", "place", "next", "previous", "episode", "other"]

_SAYING: Final = frozenset(
    "say tell ask answer reply suggest warn promise mention claim explain admit propose whisper shout announce "
    "call remark speak talk".split()
)
_AUXILIARY: Final = r"(?:did|does|do|was|were|is|are|had|has|have|would|could|can|will)"
_EVENTS: Final = r"(?:and )?what (?:happened|came|did .+? do|happens|took place)\b.*\b"
_PATTERNS: Final[tuple[tuple[StoryAspect, str], ...]] = (
    ("time", r"when\b|(?:on |at |in )?(?:what|which) (?:day|time|month|year|date|weekday|season|hour)\b"),
    ("time", r"how long (?:after|before)\b"),
    ("place", r"where\b|(?:in |at |to |from )?(?:what|which) (?:place|room|town|city|house|building|village)\b"),
    ("next", _EVENTS + r"(?:after|next|following|then|later|afterwards)\b"),
    ("previous", _EVENTS + r"before\b"),
)
_ASKED: Final = tuple((aspect, re.compile(pattern, re.IGNORECASE)) for aspect, pattern in _PATTERNS)
_SPEECH: Final = re.compile(
    rf"(?:and )?(?:what|how|why|which \w+) {_AUXILIARY} (?P<speaker>.+?) (?P<verb>\w+)\b(?P<rest>.*)", re.IGNORECASE
)
_WHO_SAYS: Final = re.compile(
    r"(?:and )?(?:who|whom) (?:was it (?:that|who) )?(?:first )?(?P<verb>\w+)\b", re.IGNORECASE
)
_QUESTION_WORDS: Final = re.compile(
    r"^(?:(?:and|so|then)\b\s*)?(?:(?:who|whom|whose|what|when|where|why|how|which)\b\s*)?"
    r"(?:(?:many|much|long|often)\b\s*)?"
    rf"(?:{_AUXILIARY}\b\s*)?",
    re.IGNORECASE,
)
_TURN: Final = re.compile(r"\b(?:after(?:wards)?|before|following|when|while|once)\b\s*(?P<anchor>.*)", re.IGNORECASE)
_HAPPENED: Final = re.compile(r"(?:and )?what (?:else )?(?:happened|took place|went on)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """A question about a story.

    `statement`: the question said as a statement with what is asked left out; it is the preliminary reply, whose
    episode is looked for; for what comes next or before, it is the event that is told of. `times`: its words of time.
    `speaker`: of whom it asks what they said.
    """

    aspect: StoryAspect
    statement: str = field(repr=False)
    times: tuple[str, ...] = ()
    speaker: str = field(default="", repr=False)


def read_story_question(text: str) -> StoryQuestion:
    """Returns what a question asks."""
    text = " ".join(text.strip().rstrip("?.! ").split())
    times = tuple(match[0] for match in times_in(text))
    statement = _QUESTION_WORDS.sub("", text).strip() or text
    aspect: StoryAspect = next((aspect for aspect, pattern in _ASKED if pattern.match(text)), "other")
    rest = statement
    for time in times:
        rest = rest.replace(time, " ")
    if _HAPPENED.match(text) and times and not content_weights(rest):
        return StoryQuestion("episode", statement, times=times)
    if aspect in ("next", "previous"):
        anchor = turn["anchor"] if (turn := _TURN.search(rest)) else ""
        return StoryQuestion(aspect, anchor or rest, times)
    if aspect == "other" and (who := _WHO_SAYS.match(text)) and _is_saying(who["verb"]):
        return StoryQuestion("speaker", statement, times=times)
    if aspect == "other" and (said := _SPEECH.match(text)) and _is_saying(said["verb"]):
        return StoryQuestion("speech", statement, times=times, speaker=said["speaker"])
    return StoryQuestion(aspect, statement, times=times)


def _is_saying(word: str) -> bool:
    return not lemmas_of(word.lower()).isdisjoint(_SAYING)
