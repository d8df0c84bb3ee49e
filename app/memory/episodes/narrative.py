"""Splits a story into episodes by the words of time and place that begin its scenes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.episode import Episode, Member, mean_vector
from app.memory.episodes.quotes import Sentence, names_in, paragraphs_of, sentences_of
from app.memory.episodes.story_times import days_on, moves_time, times_in
from kg_store.errors import StoreError

_PLACE: Final = re.compile(
    r"(?:(?:back|down|up|out|over|far|deep|just) )?"
    r"(?P<place>(?:in|at|on|inside|outside|aboard|behind|beneath|under|above|near|beside) "
    r"(?:(?:the|her|his|their|our|a|an|my) [a-z’' -]{3,40}?|(?:the )?[A-Z][\w’' -]{2,40}?))(?=,)",
    re.IGNORECASE,
)
_NOT_OF_PLACE: Final = (
    "behind|near|beside|under|above|of|and|with|in|to|where|while|when|for|by|on|at|as|before|after|until"
)
_ARRIVES: Final = re.compile(
    r"\b(?:arrived|came|returned|went|walked|drove|sailed|climbed|rode|moved|got|met|stood|sat|waited|gathered)\b"
    r"[^,.“]{0,30}? (?P<way>in|at|to|into|onto|outside|inside) (?P<where>(?:the|her|his|their) [a-z’'-]+"
    rf"(?: (?!(?:{_NOT_OF_PLACE})\b)[a-z’'-]+)?"
    r"(?: of (?:the )?[\w’'-]+)?|[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*)"
)
_BREAK: Final = re.compile(r"[\s*#~_–—-]+|(?:chapter|part) .{1,60}|[IVXLC]+\.?|\d+\.?", re.IGNORECASE)
_AT: Final = {"to": "at", "into": "in", "onto": "on"}
_MAX_OPENING: Final = 30
"""The greatest number of characters of a sentence before the words of time that begin a scene. Chosen by hand."""
_MAX_HEADING: Final = 60
"""The most characters of a heading, which ends without a mark. Chosen by hand."""
MAX_CHARS: Final = 400_000
"""The most characters of a story, about 200 pages: each sentence is embedded anew when its character is opened."""


@dataclass(slots=True)
class _Scene:
    when: str
    where: str
    day: int
    sentences: list[Sentence] = field(default_factory=list)


class StoryError(StoreError):
    """The text can't be split into episodes. Its message is fixed words of ours."""


def episodes_of(text: str, embedder: Embedder) -> list[Episode]:
    """Returns the episodes of a story, in its order. Raises StoryError."""
    if len(text) > MAX_CHARS:
        raise StoryError(f"the story has more than {MAX_CHARS:,} characters: give a part of it")
    paragraphs = paragraphs_of(text)
    breaks = {number for number, each in enumerate(paragraphs) if _BREAK.fullmatch(each) or _is_heading(each)}
    sentences = [each for each in sentences_of(paragraphs) if each.paragraph not in breaks]
    if not sentences:
        raise StoryError("the story has no sentence: give a text file")
    names = list(names_in(paragraphs))
    return [_episode(number, scene, names, embedder) for number, scene in enumerate(_scenes(sentences, breaks))]


def _is_heading(paragraph: str) -> bool:
    return len(paragraph) <= _MAX_HEADING and paragraph[-1] not in ".!?…”:,;—"


def _scenes(sentences: Sequence[Sentence], breaks: set[int]) -> Iterator[_Scene]:
    scene = _Scene("", "", 0)
    for number, group in groupby(sentences, key=lambda sentence: sentence.paragraph):
        for place, sentence in enumerate(group):
            is_first, when, where = place == 0, _when(sentence, place == 0), _where(sentence)
            is_break, moves = (
                is_first and number - 1 in breaks,
                is_first and where.casefold() != scene.where.casefold(),
            )
            if scene.sentences and (when or is_break or (moves and where and scene.where)):
                yield scene
                # Another time may be at another place; another place is at the time told last.
                scene = _Scene("" if is_break else scene.when, "", scene.day + days_on(when, scene.when))
                scene.when = when or scene.when
            is_beginning = not scene.sentences or scene.sentences[0].paragraph == number
            scene.when, scene.where = scene.when or when, scene.where or (where if is_beginning else "")
            scene.sentences.append(sentence)
    yield scene


def _when(sentence: Sentence, is_first: bool) -> str:
    """Returns the words of time with which a sentence begins a scene, or ends its first clause; empty if none."""
    text = sentence.narration if is_first or not sentence.text.startswith("“") else ""
    match = next(iter(times_in(text)), None)
    if match is None or match.start() > _MAX_OPENING or not (match.start() == 0 or moves_time(match[0])):
        return ""
    return match[0].strip()


def _where(sentence: Sentence) -> str:
    """Returns the words of place with which a sentence begins, or where somebody in it comes to; empty if none."""
    text = sentence.narration
    match = next(iter(times_in(text)), None)
    behind = text[match.end() :].lstrip(" ,") if match and match.start() == 0 else text
    if place := _PLACE.match(behind):
        where = place["place"]
    elif place := _ARRIVES.search(text):
        where = f"{_AT.get(place['way'], place['way'])} {place['where']}"
    return "" if not place or times_in(where) else where


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
