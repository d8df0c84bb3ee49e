"""Character: replies to questions from the episodes of its story alone, in the story's own sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from app.llm.embeddings.embedder import Embedder
from app.memory.episodes.episode import Episode, Member
from app.memory.episodes.passages import FoundPassages, Passage, Passages, Scores, tells_time
from app.memory.episodes.ranking import words_of
from app.memory.episodes.story_questions import StoryQuestion, read_story_question
from app.memory.episodes.story_times import times_in, weekday_in
from kg_store.text.dates import WEEKDAYS
from kg_store.text.inflection import lemmas_of

MIN_SHARE: Final = 0.6
"""The least share of a question's words that must stand in or near the passage that answers it. Chosen by hand."""
REFUSAL: Final = "I do not remember anything of that."
_NAME: Final = re.compile(r"(?<=[^.?!] )[A-Z][\w’'-]+")
_SHOWN: Final = 2
"""The most passages of an episode that are shown for what they say. Chosen by hand."""
_BESIDE: Final = 2
"""The most sentences before and behind the best one that are shown of its paragraph. Chosen by hand."""


def own_episodes(name: str, episodes: Sequence[Episode]) -> list[Episode]:
    """Returns the episodes in which a character is named; all of them if it is named in none, as who tells a story."""
    words = set(words_of(name))
    own = [each for each in episodes if any(words & set(words_of(named)) for named in each.grounded_by)]
    return own or list(episodes)


@dataclass(frozen=True, slots=True)
class CharacterReply:
    """A reply. `preliminary`: the statement whose episode was looked for, which the reply replaces."""

    text: str = field(repr=False)
    preliminary: str = field(default="", repr=False)
    is_refused: bool = False


class Character:
    """Answers in a character, from its episodes only; the same question always has the same reply.

    Promise: no sentence is shown that is not in the story, but for the cue that it is remembered, its time and place.
    """

    def __init__(self, name: str, episodes: Sequence[Episode], embedder: Embedder) -> None:
        """Takes the episodes that the character takes part in; `name` is empty for whoever tells the story."""
        self._name, self._passages = name, Passages(episodes, embedder)

    def reply(self, question: str) -> CharacterReply:
        """Returns the reply to a question: the statement that it makes is replaced by what its episode tells."""
        asked = read_story_question(question)
        if self._names_unknown(question, asked.times):
            return CharacterReply(REFUSAL, asked.statement, True)
        found = self._passages.find(asked.statement, asked.times)
        if asked.aspect == "episode":
            return self._of_time(asked)
        if asked.aspect in ("next", "previous"):
            return self._beside(asked, found)
        scores = np.where(found.shares >= MIN_SHARE, found.scores + self._fitting(asked), -np.inf)
        best = int(np.argmax(scores))
        if scores[best] == -np.inf:
            return CharacterReply(REFUSAL, asked.statement, True)
        return CharacterReply(self._told(best, scores), asked.statement)

    def _names_unknown(self, question: str, times: Sequence[str]) -> bool:
        """Returns True if the question names somebody or something that the story does not."""
        for time in times:
            question = question.replace(time, time.lower())
        named = (word.lower().removesuffix("'s").removesuffix("’s") for word in _NAME.findall(question))
        return any(lemmas_of(word).isdisjoint(self._passages.words) for word in named)

    def _fitting(self, asked: StoryQuestion) -> Scores:
        """Returns how well the kind of each passage fits what is asked, shape (passages,)."""
        members = [each.member for each in self._passages.all]
        if asked.aspect == "speaker":
            return np.array([0.5 if each.kind == "utterance" else 0.0 for each in members])
        if asked.aspect == "speech":
            who = set(words_of(asked.speaker))
            return np.array([1.0 if who & set(words_of(each.speaker)) else 0.0 for each in members])
        if asked.aspect == "time":
            return np.array([0.2 if times_in(each.sentence) else 0.0 for each in members])
        return np.zeros(len(members))

    def _told(self, best: int, scores: Scores) -> str:
        """Returns the best passage with its paragraph's next ones, and the second best of its episode."""
        chosen = self._passages.all[best]
        own = [each for each in self._passages.all if each.episode is chosen.episode]
        ranked = sorted(own, key=lambda each: -scores[each.number])
        shown = {each.number for each in ranked[:_SHOWN] if scores[each.number] > -np.inf} | {best}
        for each in own:
            is_beside = each.member.paragraph == chosen.member.paragraph and abs(each.number - best) <= _BESIDE
            answers = each.number == best + 1 and chosen.member.text.endswith("?")
            shown |= {each.number} if is_beside or answers else set()
        return self._cued(chosen.episode, [self._passages.all[number] for number in sorted(shown)])

    def _cued(self, episode: Episode, passages: Sequence[Passage]) -> str:
        sentences = " ".join(self._sentence(each.member) for each in passages)
        bounds = ", ".join(filter(None, (self._when(episode), episode.where)))
        return f"I remember: {sentences}{f' That was {bounds}.' if bounds else ''}"

    def _when(self, episode: Episode) -> str:
        """Returns when an episode was: in the story's words, with the day of the week if an earlier one tells it."""
        when = f"{episode.when[:1].lower()}{episode.when[1:]}"
        before = self._passages.episodes[: self._passages.episodes.index(episode)]
        dated = ((weekday_in(each.when), each.day) for each in reversed(before))
        weekday, day = next(((weekday, day) for weekday, day in dated if weekday is not None), (0, None))
        if not when or day is None or weekday_in(when) is not None:
            return when
        return f"{when}, on a {WEEKDAYS[(weekday + episode.day - day) % 7].capitalize()}"

    def _sentence(self, member: Member) -> str:
        if member.kind != "utterance":
            return member.text
        if self._name and set(words_of(member.speaker)) & set(words_of(self._name)):
            return f"I said: “{member.text}”"
        is_named = member.speaker and any(word in member.sentence for word in member.speaker.split())
        return member.sentence if is_named else f"{member.speaker or 'Somebody'} said: “{member.text}”"

    def _of_time(self, asked: StoryQuestion) -> CharacterReply:
        """Returns the reply to what happened at a time: how the episode begins that it bounds, and its summary."""
        fits = {each.number: tells_time(self._when(each), asked.times) for each in self._passages.episodes}
        best = max(self._passages.episodes, key=lambda each: fits[each.number])
        if not fits[best.number]:
            return CharacterReply(REFUSAL, asked.statement, True)
        own = [each for each in self._passages.all if each.episode is best]
        return CharacterReply(self._cued(best, own[: _SHOWN + 1]), asked.statement)

    def _beside(self, asked: StoryQuestion, found: FoundPassages) -> CharacterReply:
        """Returns the reply to what comes after or before an event: on the next day, if that is asked."""
        fitting = np.where(found.shares >= MIN_SHARE, found.scores, -np.inf)
        best, all_passages = int(np.argmax(fitting)), self._passages.all
        step, here = 1 if asked.aspect == "next" else -1, all_passages[best].episode
        if fitting[best] == -np.inf:
            return CharacterReply(REFUSAL, asked.statement, True)
        others = all_passages[best + 1 :] if step > 0 else all_passages[:best][::-1]
        if asked.times:
            others = [each for each in others if (each.episode.day - here.day) * step > 0]
        if not others:
            return CharacterReply(REFUSAL, asked.statement, True)
        shown = [each for each in others[:_SHOWN] if each.episode is others[0].episode][::step]
        return CharacterReply(self._cued(shown[0].episode, shown), asked.statement)
