"""A question as the words that lie on the way from its topic outwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_SPAN = 3
_WORD = re.compile(r"'s\b|[^\W\d_][^\W_]*(?:'[^\W\d_]+)?")
_PSEUDONYM = re.compile(r"[EVS][a-z0-9]{5}")

# Words that name no relation: grammar, question words, and the ways of asking to be told.
GRAMMAR = frozenset(
    "a an the of is are was were be been being do does did in on at to for from by with and or as that which who "
    "whom whose what when where how why s please tell me name names list give show it its their his her i you we "
    "they them there this those these any some all has have had can could would will shall should may might much "
    "many us my your our if than then so about into also".split()
)
_POINTERS = ("by", "in", "at")
IRREGULAR = {"people": "person", "men": "man", "women": "woman", "children": "child"}
_ARTICLES = frozenset({"the", "a", "an"})
# A word before the topic that hangs it on what stands to its left.
_LEADING = frozenset("of by in at to for with from on as than and or about".split())


@dataclass(frozen=True, slots=True)
class Span:
    """Neighbouring words of the question; `start` and `end` count in walking order.

    `points_back`: what follows in the question is what the words are said of ("treated by", "lives in").
    `beside`: it stands right before the topic, as what the topic is ("the film X"). `follows`: it stands behind
    the topic, as what the topic does ("did X direct").
    """

    start: int
    end: int
    text: str
    points_back: bool
    beside: bool
    follows: bool


@dataclass(frozen=True, slots=True)
class WalkedQuestion:
    """The question's words in walking order, and every span of them that could name a relation."""

    spans: tuple[Span, ...]
    is_content: tuple[bool, ...]

    @property
    def length(self) -> int:
        return len(self.is_content)

    def spans_at(self, start: int) -> Iterator[tuple[int, Span]]:
        return ((number, span) for number, span in enumerate(self.spans) if span.start == start)


def content_words(text: str) -> list[str]:
    """The words of `text` that may name a relation, a kind or a value."""
    return [word for word in _words(text) if word not in GRAMMAR and not is_pseudonym(word) and word != "'s"]


def is_pseudonym(word: str) -> bool:
    return _PSEUDONYM.fullmatch(word) is not None and any(letter.isdigit() for letter in word)


def walk_question(question: str, topic: str) -> WalkedQuestion:
    """Words to the left of the topic are walked from near to far ("nation of the wife of X"), those to its right
    as they stand. The right side comes first where its words are said of the topic alone: after a possessive
    ("X's wife") and after a topic that nothing leads to ("in which city does X live")."""
    words = _words(question)
    at = words.index(topic) if topic in words else len(words)
    left, right = words[:at], words[at + 1 :]
    sides = [(right, False), (left, True)] if _right_is_nearer(left, right) else [(left, True), (right, False)]
    spans: list[Span] = []
    is_content: list[bool] = []
    for words_of_side, backwards in sides:
        plain = [word for word in words_of_side if word != "'s"]
        spans += _spans(plain, backwards, len(is_content))
        flags = [word not in GRAMMAR and not is_pseudonym(word) for word in plain]
        is_content += flags[::-1] if backwards else flags
    return WalkedQuestion(tuple(spans), tuple(is_content))


def _right_is_nearer(left: list[str], right: list[str]) -> bool:
    """Whether what follows the topic is said of it before what stands in front: "X's wife", or when
    no preposition hangs the topic on the words in front, with at most an article and a noun between."""
    if right[:1] == ["'s"]:
        return True
    before = left[::-1]
    if before and before[0] not in GRAMMAR:
        before = before[1:]
    if before and before[0] in _ARTICLES:
        before = before[1:]
    return not (before and before[0] in _LEADING)


def _spans(words: list[str], backwards: bool, base: int) -> Iterator[Span]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_SPAN, len(words)) + 1):
            span = words[start:end]
            if _may_name(span):
                low, high = (len(words) - end, len(words) - start) if backwards else (start, end)
                points_back = backwards and (span[-1] in _POINTERS or words[end : end + 1] in (["by"], ["in"], ["at"]))
                beside = backwards and end == len(words)
                yield Span(base + low, base + high, " ".join(span), points_back, beside, not backwards)


def _may_name(span: list[str]) -> bool:
    if any(is_pseudonym(word) for word in span) or span[0] in GRAMMAR:
        return False
    # "directed by" and "lives in" name relations; "films the" does not.
    return span[-1] not in GRAMMAR or (len(span) > 1 and span[-1] in (*_POINTERS, "for", "to"))


def _words(text: str) -> list[str]:
    words = _WORD.findall(text.replace("’", "'"))
    split = [
        part for word in words for part in ([word[:-2], "'s"] if word.endswith("'s") and word != "'s" else [word])
    ]
    return [word if is_pseudonym(word) else word.lower() for word in split]


def singular(word: str) -> str:
    """An English noun without its plural ending; a rule of thumb, enough to match `patients` with `patient`."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
