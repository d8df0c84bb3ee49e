"""Shares of words between replies and what they should say, and how varied and long replies are."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from evaluation.dialogue.measures.reply_questions import ReplyQuestion
from evaluation.dialogue.opendialkg import Triple
from evaluation.dialogue.spans import squad_f1, squad_words


def unigram_f1(reply: str, gold: str) -> float:
    return squad_f1(reply, [gold])


def knowledge_f1(reply: str, question: ReplyQuestion) -> float:
    """With the question and all acceptable answers together as the gold reply (Kang et al., section 5.4)."""
    return squad_f1(reply, [" ".join((question.known, question.relation, *question.acceptable))])


def given_knowledge_f1(reply: str, given: Sequence[Triple]) -> float:
    """With the triples that the reply was written from (Kang et al., table 3)."""
    return squad_f1(reply, [" ".join(" ".join(triple) for triple in given)])


def entity_f1(reply: str, question: ReplyQuestion) -> float:
    """The best over the acceptable answers, each taken as the gold reply."""
    return squad_f1(reply, question.acceptable)


def distinct(replies: Sequence[str], length: int) -> float:
    """Different runs of `length` words, of all there are in all replies."""
    runs = [
        tuple(words[at : at + length])
        for words in map(str.split, map(str.lower, replies))
        for at in range(len(words) - length + 1)
    ]
    return len(set(runs)) / len(runs) if runs else 0.0


def mean_length(replies: Sequence[str]) -> float:
    """Words without articles and punctuation."""
    return fmean(len(squad_words(reply)) for reply in replies) if replies else 0.0
