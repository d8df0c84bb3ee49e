"""Phrases that ask for something without naming it, said plainly: "what does she do" asks for an occupation."""

from __future__ import annotations

import re

_ELDER = "mother|father|parents?|mom|dad|ma|pa"
_YOUNGER = "son|daughter|child|children|kid|sons|daughters|kids"
_PARTNER = "wife|husband|spouse|partner|other half"
_PLAIN = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        # Ways of asking that say nothing of what is asked for.
        (
            r"^\s*(?:please|"
            r"(?:can|could|would|will|do) you (?:please )?(?:know|tell me|give me|name|list|show me|say|give)?|"
            r"(?:i (?:want|would like|need)|i['’]d like) to know|do you know|tell me|give me|show me)\b",
            " ",
        ),
        (r"\bin (?:a )?(?:few|one|short|brief)(?: words?)?\b", " "),
        (r"\babout\s*\?*\s*$", "topic"),
        (r"\bbest[- ]paid\b", "highest paid"),
        (r"\b(number of [a-z]+) by (?=[a-z]+\b\W*(?:please)?\W*$)", r"\1 per "),
        (r"\bused to\b", " "),
        (r"\bhow (?:do|does|would|could|can|should) (?:people|you|one|we|i) describe\b", "what words describe"),
        (
            r"\b(?:what|how) (?:do|did|does|would) people (?:think (?:of|about)|rate|like)\b",
            "what is the rating of",
        ),
        (
            r"(?<=\w )(?<!know )about\b|\b(?:deal|deals|dealing|dealt) with\b|\b(?:relate|relates|related) to\b",
            "with topic",
        ),
        (r"^\s*what (?:does|do|did) (.+?) do(?: for (?:a living|work))?\s*\?*\s*$", r"what is \1 's occupation"),
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


def normalise_idioms(question: str) -> str:
    """`question` with such phrases replaced, each once and in order; others stay as they are."""
    for pattern, said in _PLAIN:
        question = pattern.sub(said, question)
    return question.strip()
