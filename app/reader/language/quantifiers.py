"""Reads the words that negate or restrict an answer: not, no, without, else, other, except.

A word that cannot be executed, such as "only", is reported, so that the question is refused and not answered without
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Turn = Literal["", "negated", "others", "except"]

_THING = r"((?-i:[ES](?=[a-z]*[0-9])[a-z0-9]{5}))"
_EXCEPT = re.compile(
    rf",?\s*\b(?:except(?: for)?|other than|apart from|aside from|besides|excluding|but not)\s+{_THING}\b",
    re.IGNORECASE,
)
# "not before" and "no later than" compare values and do not negate the answer.
_COMPARED = r"(?:more|less|fewer|later|earlier|older|younger|before|after|higher|lower)\b"
_NOT = re.compile(
    rf"\b(?:do|does|did)(?:\s+not|n['’]t)\b(?!\s+{_COMPARED})\s*|\s*\b(?:not|never)\b(?!\s+{_COMPARED}|\s+only)|n['’]t\b",
    re.IGNORECASE,
)
_NO = re.compile(rf"\b(?:no|zero)\b(?!\s+(?:one|{_COMPARED}))\s*|\bnot any\b\s*", re.IGNORECASE)
_WITHOUT = re.compile(r"\b(?:without|lacking|lacks?)\b(?:\s+(?:any|an?))?", re.IGNORECASE)
_OTHERS = re.compile(r"\s*\b(?:else|others?|another)\b(?!\s+half\b)", re.IGNORECASE)
_UNREAD = re.compile(
    r"\b(only|how (?:many|much) more|top \w+|neither|nor|nobody|no one|none|unless|always|exactly|almost|most of|"
    r"(?<!other )half of|either|(?<=\w )and (?:where|when|who|what|how)|"
    r"at least|at most|more than|fewer than|less than)\b",
    re.IGNORECASE,
)
_BEFORE_VALUE = re.compile(r"\s+(?:the\s+)?(?:year\s+)?(?-i:V(?=[a-z]*[0-9])[a-z0-9]{5})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantifier:
    """The negation or exclusion that a question states.

    `rest` is the question without those words; `thing` is the pseudonym of what is excluded by name. `unread` is a
    word that cannot be executed; if there is one, the question must not be answered.
    """

    turn: Turn
    rest: str
    thing: str = ""
    unread: str = ""

    @property
    def word(self) -> str:
        return {"negated": "not", "others": "other", "except": "except"}.get(self.turn, "")


def read_quantifier(question: str) -> Quantifier:
    """Reads an exclusion, else a negation, else "others"; a question with two of them has `unread` set."""
    found = [each for each in (_except(question), _negated(question), _others(question)) if each]
    rest = found[0].rest if found else question
    unread = next(
        (each[1].lower() for each in _UNREAD.finditer(rest) if not _BEFORE_VALUE.match(rest, each.end())), ""
    )
    if len(found) > 1 and not unread:
        unread = found[1].word
    turn, thing = (found[0].turn, found[0].thing) if found else ("", "")
    return Quantifier(turn, rest, thing, unread)


def _except(question: str) -> Quantifier | None:
    found = _EXCEPT.search(question)
    return found and Quantifier("except", question[: found.start()] + question[found.end() :], found[1])


def _negated(question: str) -> Quantifier | None:
    for pattern, instead in ((_WITHOUT, "with"), (_NO, ""), (_NOT, " ")):
        if pattern.search(question):
            return Quantifier("negated", " ".join(pattern.sub(instead, question, count=1).split()))
    return None


def _others(question: str) -> Quantifier | None:
    found = _OTHERS.search(question)
    return found and Quantifier("others", question[: found.start()] + question[found.end() :])
