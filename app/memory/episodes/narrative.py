"""Splits a story into episodes by the words of time and place that begin its scenes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.episode import Episode, Member, mean_vector
from app.memory.episodes.quotes import Sentence, names_in, paragraphs_of, sentences_of
from kg_store.text.number_expressions import value_of

_PART: Final = "dawn|sunrise|morning|noon|midday|afternoon|dusk|sunset|evening|night|midnight|breakfast|lunch|dinner|supper"
_WEEKDAY: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MONTH: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_LONG: Final = "days?|weekend|weeks?|fortnight|months?|years?|spring|summer|autumn|fall|winter|hours?|minutes?|moments?"
_COUNT: Final = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|some|many|a few|half an|\d+)"
_TIME: Final = re.compile(
    rf"\b(?:(?:{_COUNT}) (?:{_LONG}|{_PART}|{_WEEKDAY})s? (?:later|after(?:wards)?|before|earlier|ago)"
    rf"|(?:the |that |this |early |late |very )*(?:next|following|same|previous|last|first|second|third) (?:very )?(?:{_LONG}|{_PART}|{_WEEKDAY}|{_MONTH})(?: (?:{_PART}))?"
    rf"|the (?:day|morning|evening|night|week) (?:after|before)"
    rf"|(?:on |by |until |before |after |that |early |late |the |one )*(?:{_WEEKDAY})(?: (?:{_PART}))?(?:,? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?)?"
    rf"|(?:on |in |by |early |late |mid-)*(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:january|february|march|april|june|july|august|september|october|november|december)(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}})?"
    rf"|(?:that|this|one|in the|by|at|towards?|around|before|after|late in the|early in the|later that|early that|late that|all that) (?:same |early |late )*(?:{_PART}|day|week|month|spring|summer|autumn|winter)(?: \w+(?= ))??"
    rf"|(?:at|by|around|about|after|before|towards) (?:half past |(?:a )?quarter (?:past|to) )?(?:\d{{1,2}}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o['’]clock)?(?: (?:in the (?:morning|afternoon|evening)|at night|am|pm))?(?=[\s,.;])"
    rf"|in (?:\d{{4}})|yesterday|tomorrow|the day before yesterday)\b",
    re.IGNORECASE,
)
_MOVES: Final = re.compile(
    rf"\b(?:next|following|later|after|afterwards|before|earlier|ago|{_WEEKDAY}|that (?:{_PART})|same (?:{_PART}|day)"
    rf"|(?:january|february|march|april|june|july|august|september|october|november|december)|in \d{{4}}|by (?:{_PART}))\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"^(?:(?:back|down|up|out|over|far|deep|just) )?(?:in|at|on|inside|outside|aboard|behind|beneath|under|above|near|beside) "
    r"(?P<place>(?:the|her|his|their|our|a|an|my) [a-z’' -]{3,40}?|(?:the )?[A-Z][\w’' -]{2,40}?)(?=,)"
)
_ARRIVES: Final = re.compile(
    r"\b(?:arrived|came back|returned|went|walked|drove|sailed|climbed|rode|moved|got|came|met|stood|sat|waited|gathered)\b"
    r"[^,.“]{0,30}? (?:in|at|to|into|onto|outside|inside) (?P<place>(?:the|her|his|their) [a-z’'-]+(?: [a-z’'-]+)?(?: of (?:the )?[\w’'-]+)?|[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*)"
)
_BREAK: Final = re.compile(r"[\s*#~_–—-]+|(?:chapter|part) .{1,60}|[IVXLC]+\.?|\d+\.?", re.IGNORECASE)
WEEKDAYS: Final = _WEEKDAY.split("|")
_MAX_OPENING: Final = 30
"""The greatest number of characters of a sentence before the words of time that begin a scene. Chosen by hand."""
_MAX_SUMMARY_CHARS: Final = 240


@dataclass(slots=True)
class _Scene:
    when: str
    where: str
    day: int
    sentences: list[Sentence] = field(default_factory=list)


class TextEmptyError(ValueError):
    """The text has no sentence."""


def episodes_of(text: str, embedder: Embedder) -> list[Episode]:
    """Returns the episodes of a story, in its order. Raises TextEmptyError."""
    paragraphs = paragraphs_of(text)
    sentences = [each for each in sentences_of(paragraphs) if not _BREAK.fullmatch(paragraphs[each.paragraph])]
    breaks = {number for number, paragraph in enumerate(paragraphs) if _BREAK.fullmatch(paragraph)}
    if not sentences:
        raise TextEmptyError
    names = list(names_in(paragraphs))
    return [_episode(number, scene, names, embedder) for number, scene in enumerate(_scenes(sentences, breaks))]


def times_in(text: str) -> list[str]:
    """Returns the words of time in a text, in its order."""
    return [match[0].strip() for match in _TIME.finditer(text)]


def _scenes(sentences: Sequence[Sentence], breaks: set[int]) -> Iterator[_Scene]:
    scene = _Scene("", "", 0)
    for number, group in groupby(sentences, key=lambda sentence: sentence.paragraph):
        paragraph, is_break = list(group), number - 1 in breaks
        for place, sentence in enumerate(paragraph):
            when, where = _opening(sentence, place == 0)
            if scene.sentences and (when or (where and where != scene.where) or (is_break and place == 0)):
                yield scene
                day = scene.day + _days_on(when, scene.when)
                scene = _Scene(when or ("" if is_break else scene.when), where or ("" if is_break else scene.where), day)
            scene.when, scene.where = scene.when or when, scene.where or where
            scene.sentences.append(sentence)
    yield scene


def _opening(sentence: Sentence, is_first: bool) -> tuple[str, str]:
    """Returns the words of time and of place with which a sentence begins a scene; empty if there are none."""
    text = sentence.narration if not sentence.text.startswith("“") or is_first else ""
    match = _TIME.search(text)
    is_early = match is not None and (match.start() <= _MAX_OPENING and "“" not in sentence.text[: match.start()])
    when = match[0].strip() if match and _MOVES.search(match[0]) and is_early and _is_before_verb(text, match) else ""
    if not is_first:
        return when, ""
    behind = text[match.end() :].lstrip(" ,") if match and match.start() == 0 else text
    place = _PLACE.search(behind) or _ARRIVES.search(text)
    where = place["place"].strip() if place and not _TIME.fullmatch(place[0]) else ""
    return when, where if not _TIME.search(where) else ""


def _is_before_verb(text: str, match: re.Match[str]) -> bool:
    """Returns True if words of time stand at a sentence's beginning, or end its first clause ("came on Friday,")."""
    head = text[: match.start()].strip(" ,").lower()
    return not head or head in ("it was", "but", "and", "then", "so", "early", "late", "not until", "when", "only") or bool(
        re.match(r"[ ,.;]|$", text[match.end() : match.end() + 1])
    )


def _days_on(when: str, before: str) -> int:
    """Returns by how many days words of time lead on from the scene before."""
    said = when.lower()
    count = re.search(rf"({_COUNT}) (day|week|month|year)s? (later|after|before|earlier|ago)", said)
    if count:
        number = value_of(count[1])
        days = int(number if number is not None else 3) * {"day": 1, "week": 7, "month": 30, "year": 365}[count[2]]
        return days if count[3] in ("later", "after") else -days
    for word, days in {"day": 1, "week": 7, "month": 30, "year": 365}.items():
        if re.search(rf"(?:next|following) {word}\b|the {word} after", said):
            return days
    if re.search(rf"(?:next|following) (?:{_PART})|tomorrow|the (?:morning|evening|night) after", said):
        return 1
    if re.search(r"(?:the day|the night|the evening) before|previous|yesterday", said):
        return -1
    here, there = (next((n for n, day in enumerate(WEEKDAYS) if day in words), None) for words in (said, before.lower()))
    return (here - there) % 7 if here is not None and there is not None else int(here is not None)


def _episode(number: int, scene: _Scene, names: Sequence[str], embedder: Embedder) -> Episode:
    told = tuple(_member(sentence) for sentence in scene.sentences)
    text = " ".join(sentence.text for sentence in scene.sentences)
    grounded = tuple(name for name in names if re.search(rf"\b{re.escape(name)}\b", text))
    vectors = embedder.sentences([member.sentence for member in told])
    central = told[int(np.argmax(vectors @ mean_vector(vectors)))].sentence
    bounds = ", ".join(filter(None, (scene.when, scene.where)))
    summary = Member("summary", f"{bounds[:1].upper()}{bounds[1:]}: {central}" if bounds else central)
    return Episode(number, (*told, summary), scene.when, scene.where, scene.day, grounded)


def _member(sentence: Sentence) -> Member:
    if sentence.quotes:
        return Member("utterance", " ".join(sentence.quotes), sentence.speaker, sentence.text, sentence.paragraph)
    return Member("fact", sentence.text, paragraph=sentence.paragraph)
