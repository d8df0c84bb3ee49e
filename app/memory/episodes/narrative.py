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
_ARRIVES: Final = re.compile(
    r"\b(?:arrived|came|returned|went|walked|drove|sailed|climbed|rode|moved|got|met|stood|sat|waited|gathered)\b"
    r"[^,.“]{0,30}? (?P<way>in|at|to|into|onto|outside|inside) (?P<where>(?:the|her|his|their) [a-z’'-]+"
    r"(?: [a-z’'-]+)?(?: of (?:the )?[\w’'-]+)?|[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*)"
)
_BREAK: Final = re.compile(r"[\s*#~_–—-]+|(?:chapter|part) .{1,60}|[IVXLC]+\.?|\d+\.?", re.IGNORECASE)
_AT: Final = {"to": "at", "into": "in", "onto": "on"}
_MAX_OPENING: Final = 30
"""The greatest number of characters of a sentence before the words of time that begin a scene. Chosen by hand."""
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
    sentences = [each for each in sentences_of(paragraphs) if not _BREAK.fullmatch(paragraphs[each.paragraph])]
    breaks = {number for number, paragraph in enumerate(paragraphs) if _BREAK.fullmatch(paragraph)}
    if not sentences:
        raise StoryError("the story has no sentence: give a text file")
    names = list(names_in(paragraphs))
    return [_episode(number, scene, names, embedder) for number, scene in enumerate(_scenes(sentences, breaks))]


def _scenes(sentences: Sequence[Sentence], breaks: set[int]) -> Iterator[_Scene]:
    scene = _Scene("", "", 0)
    for number, group in groupby(sentences, key=lambda sentence: sentence.paragraph):
        paragraph, is_break = list(group), number - 1 in breaks
        for place, sentence in enumerate(paragraph):
            when, where = _opening(sentence, place == 0)
            if scene.sentences and (when or (where and where != scene.where) or (is_break and place == 0)):
                yield scene
                day = scene.day + days_on(when, scene.when)
                scene = _Scene(
                    when or ("" if is_break else scene.when), where or ("" if is_break else scene.where), day
                )
            scene.when, scene.where = scene.when or when, scene.where or where
            scene.sentences.append(sentence)
    yield scene


def _opening(sentence: Sentence, is_first: bool) -> tuple[str, str]:
    """Returns the words of time and of place with which a sentence begins a scene; empty if there are none."""
    text = sentence.narration if is_first or not sentence.text.startswith("“") else ""
    match = next(iter(times_in(text)), None)
    when = match[0].strip() if match and moves_time(match[0]) and match.start() <= _MAX_OPENING else ""
    if not is_first:
        return when, ""
    behind = text[match.end() :].lstrip(" ,") if match and match.start() == 0 else text
    if place := _PLACE.match(behind):
        where = place["place"]
    elif place := _ARRIVES.search(text):
        where = f"{_AT.get(place['way'], place['way'])} {place['where']}"
    return when, "" if not place or times_in(where) else where


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
