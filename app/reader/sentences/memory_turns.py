"""Reads the turns that tell the service a fact, ask for what was told or have it erased, and words the replies."""

from __future__ import annotations

import datetime as dt
import re
from itertools import pairwise
from typing import Final

from app.language.readings import DatedStatement, MemoryReply, MemoryTurn
from app.reader.sentences.talk_turns import days_of, read_talk_turn, word_talk
from kg_store.text.inflection import is_done, is_past, may_be_verb

_OPENING: Final = r"\W*(?:(?:ok|okay|please|and|also|now|so|well|can you|could you|i want you to)[ ,:]+)*"
_PLEASE: Final = r"(?:[ ,]+please)?\W*"
_TELL: Final = re.compile(
    rf"{_OPENING}(?:remember(?:\s+(?:that|this))?|(?:keep|bear) in mind(?: that|:)"
    r"|(?:do not|don['’]t) forget(?: that|:))(?=[\s:,])[\s:,;–-]*(?P<statement>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_TOLD: Final = (
    r"(?:(?:i|i['’]ve|i have)(?: just| ever| already)? (?:tell|told|said|say|asked)(?: to)?(?: you)?(?: to remember)?)"
)
_ABOUT: Final = r"(?: (?:about|on|of) (?P<about>\S.*?))?"
_RECALL: Final = tuple(
    re.compile(f"{_OPENING}{way}{_ABOUT}{_PLEASE}", re.IGNORECASE)
    for way in (
        r"what (?:did|have) i (?:just |ever |already )?(?:tell|told|say to|said to|ask|asked) you(?: to remember)?",
        r"what do you (?:still )?remember",
        rf"(?:show|list|tell|give)(?: me)? (?:everything|all|what)(?: that)? {_TOLD}",
    )
)
_RECALL_LAST: Final = re.compile(
    rf"{_OPENING}when did i (?:tell you|say)(?: that| this| so| it)?{_PLEASE}", re.IGNORECASE
)
_FORGET_LAST: Final = re.compile(
    rf"{_OPENING}forget (?:that|this|the last (?:thing|fact)(?: that)? {_TOLD}|what {_TOLD} last){_PLEASE}",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    rf"{_OPENING}forget (?:everything|all|anything|whatever|what)(?: of what| that)? {_TOLD}{_ABOUT}{_PLEASE}",
    re.IGNORECASE,
)
_FORGET_STATEMENT: Final = re.compile(rf"{_OPENING}forget that (?P<statement>\S.*)", re.IGNORECASE | re.DOTALL)
_QUESTION: Final = re.compile(r"(?:who|whom|whose|what|when|where|which|why|how|if|whether)\b", re.IGNORECASE)
_REMINDER: Final = re.compile(r"(?:to|me|us)\b", re.IGNORECASE)
_UNSAID_BY_FACTS: Final = re.compile(
    r"\b(?:not|no|never|nobody|none|nor|neither|only|except|unless|if|or|but|maybe|perhaps|probably|possibly|almost"
    r"|may|might|can|could|should|would|will|wants?|hopes?|thinks?|i|me|my|we|our|us|longer|until|used|than|as|near)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
"""Words of statements that a fact of a graph does not say: they deny, doubt, compare, or speak of who tells."""
_AUXILIARY: Final = frozenset(
    "is are was were am be has have had does do did can could may might must shall should will would".split()
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BEFORE_VERB: Final = frozenset("i we you they longer also always never often still now just".split())
_RECALLED: Final = "You told me on "


class EnglishMemory:
    """Implements MemoryLanguage for English."""

    def read_turn(self, text: str) -> MemoryTurn | None:
        """Returns the memory turn that `text` is; None if it is none."""
        if _RECALL_LAST.fullmatch(text):
            return MemoryTurn("recall", is_last=True)
        if _FORGET_LAST.fullmatch(text):
            return MemoryTurn("forget", is_last=True)
        for way in _RECALL:
            if found := way.fullmatch(text):
                return MemoryTurn("recall", about=found["about"] or "")
        if found := _FORGET.fullmatch(text):
            return MemoryTurn("forget", about=found["about"] or "")
        if found := _FORGET_STATEMENT.fullmatch(text):
            return MemoryTurn("forget", statement=_sentence(found["statement"]))
        return _read_telling(text) or read_talk_turn(text)

    def read_statement(self, text: str, *, is_asked: bool = False) -> MemoryTurn | None:
        """Returns the turn that tells the fact that `text` states, or says it in passing; None if it states nothing.

        `is_asked`: its asker agreed that it is kept.
        """
        told = _ASKS_TO_KEEP.sub("", text).strip(_AROUND)
        if not told:
            return None
        return _telling(told) if is_asked or told != text.strip(_AROUND) else MemoryTurn("say", _sentence(told))

    def offered(self, reply: str) -> str:
        """Returns the statement that a reply offers to remember; empty if it offers none."""
        found = _OFFERED.search(reply)
        return found["statement"] if found else ""

    def is_reply(self, text: str) -> bool:
        """Returns True for a reply that says what was told, offers to keep a fact, or says that one is kept or not."""
        return text.startswith(_REPLIES)

    def declines(self, text: str) -> bool:
        """Returns True if a turn says no to such an offer."""
        return _DECLINES.fullmatch(text) is not None

    def days_of(self, when: str, today: dt.date) -> tuple[dt.date, dt.date] | None:
        return days_of(when, today)

    def word_reply(self, reply: MemoryReply) -> str:
        """Returns the sentences of a reply."""
        first = reply.statements[0].text if reply.statements else ""
        of_whom = f" about {reply.about}" if reply.about else ""
        if reply.outcome == "talked":
            return word_talk(reply)
        if reply.outcome == "offered":
            return _OFFER.format(first.rstrip("."))
        if reply.outcome == "recalled":
            return _recalled(reply) or f"You have told me nothing{of_whom}."
        if reply.outcome == "forgotten":
            if not reply.total:
                return f"I forgot nothing: there is nothing that you told me{of_whom}."
            things = "1 thing" if reply.total == 1 else f"{reply.total} things"
            return f"I have forgotten {things} that you told me{f': {first}' if first else '.'}"
        return _KEPT[reply.outcome].format(first)

    def without_recalled(self, answer: str) -> str:
        """Returns an answer of the graph without the sentence on what was told."""
        return answer.partition(f" {_RECALLED}")[0] if not answer.startswith(_RECALLED) else answer


_KEPT: Final = {
    "kept": "I will remember: {}",
    "kept as said": "I will remember it in your own words: {}",
    "states nothing": "That states nothing, so I kept nothing.",
    "declined": "All right, I keep nothing of it.",
    "unclear": "I can't tell what you mean by a part of that, so I kept nothing. Please say it with names.",
    "full": "My memory for this graph is full, so I kept nothing. Have me forget something first.",
}


_OFFER: Final = "Shall I remember: {}? Say yes or no."
_REPLIES: Final = (_RECALLED, _OFFER.partition("{")[0], *(said.partition("{")[0] for said in _KEPT.values()))
_OFFERED: Final = re.compile(r"Shall I remember: (?P<statement>.+)\? Say yes or no\.$", re.DOTALL)
_DECLINES: Final = re.compile(
    r"\W*(?:no|nope|nah|don['’]?t|do not|never mind|forget it)\b(?:\W+\w+){0,3}\W*", re.IGNORECASE
)
_ASKS_TO_KEEP: Final = re.compile(
    r"^\W*(?:\w+\W+){0,5}?(?:remember|(?:keep|bear) in mind|(?:make|take) a note|note|(?:do not|don['’]?t) forget)\b"
    r"(?:\W+(?:this|that|something|sth|for me|please|pls))*",
    re.IGNORECASE,
)
"""The words at the beginning of a statement that ask to remember it."""
_AROUND: Final = " \t\n:,;.!?–—-\"“”'"


def _read_telling(text: str) -> MemoryTurn | None:
    found = _TELL.fullmatch(text)
    if found is None:
        return None
    said = found["statement"].strip(" \"“”'")
    if _QUESTION.match(said):
        return None
    if said.endswith("?") or _REMINDER.match(said) or not _has_verb(said):
        return MemoryTurn("tell")
    return _telling(said)


def _telling(said: str) -> MemoryTurn:
    """Returns the turn that tells a statement, with the question that asks the graph if it is true."""
    statement = _sentence(said)
    is_plain = _UNSAID_BY_FACTS.search(statement) is None
    return MemoryTurn("tell", statement, f"Is it true that {statement[:-1]}?" if is_plain else "")


def _sentence(said: str) -> str:
    """Returns the words of a statement as a sentence."""
    said = said.strip().rstrip(" .!;,")
    return f"{said[:1].upper()}{said[1:]}."


def _has_verb(said: str) -> bool:
    """Returns True if a word behind the first one is a finite verb: "Rose lives in X", not "Rose's doctors"."""
    words = [word.lower() for word in _TOKEN.findall(said)]
    return any(
        word in _AUXILIARY or is_done(word) or is_past(word) or (may_be_verb(word) and _is_before_verb(before))
        for before, word in pairwise(words)
    )


def _is_before_verb(word: str) -> bool:
    """Returns True for what stands before a verb that may be a noun too ("lives"): a name, "they", an adverb."""
    is_name = any(map(str.isdigit, word)) and not word.endswith(("'s", "’s"))
    return is_name or word in _BEFORE_VERB or word.endswith("ly")


def _recalled(reply: MemoryReply) -> str:
    told = [f"{_RECALLED}{_day(each, reply.today)}: {each.text}" for each in reply.statements]
    more = [f"These are the latest {len(told)} of {reply.total}."] if reply.total > len(told) > 0 else []
    return " ".join([*told, *more])


def _day(told: DatedStatement, today: dt.date) -> str:
    """Returns the day in words: "1 December", with the year if it is another one than today's."""
    year = "" if told.day.year == today.year else f" {told.day.year}"
    return f"{told.day.day} {told.day:%B}{year}"
